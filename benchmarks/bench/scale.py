"""What a sweep of a million tasks would take on many workers, from a task and a scheduler measured here."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from settings import fig1a

from subridge.simulation.run import Job
from subridge.simulation.simulate import GAUSSIAN

TASKS = 10**6
WORKERS = (10, 100, 1000)


def seconds_of_task(quick):
    """One trial of Fig. 1a at a quarter of its size, all sizes and ridges."""
    job = Job(GAUSSIAN, fig1a(3, shrink=10 if quick else 4))
    best = float("inf")
    for trial in range(3):
        start = time.perf_counter()
        job([trial])
        best = min(best, time.perf_counter() - start)
    return best


def overhead_of_scheduler(quick):
    """Seconds a task costs the scheduler and the client when tasks do nothing: the most tasks a second it can give."""
    from distributed import Client, as_completed

    n = 200 if quick else 4000
    with tempfile.TemporaryDirectory() as folder:
        place = ["--scheduler-file", f"{folder}/scheduler.json", "--no-dashboard"]
        dask = [sys.executable, "-m", "dask"]
        commands = [
            [*dask, "scheduler", *place, "--host", "127.0.0.1", "--port", "0"],
            *[[*dask, "worker", *place, "--nthreads", "1", "--no-nanny"] for _ in range(2)],
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        started = [subprocess.Popen(command, **quiet) for command in commands]
        try:
            while not Path(place[1]).exists():
                time.sleep(0.05)
            with Client(scheduler_file=place[1]) as client:
                client.wait_for_workers(2, timeout=60)
                start = time.perf_counter()
                for _ in as_completed(client.map(abs, range(n), pure=False), with_results=True):
                    pass
                return (time.perf_counter() - start) / n
        finally:
            for process in started:
                process.kill()
                process.wait()


def cluster(quick):
    task, overhead = seconds_of_task(quick), overhead_of_scheduler(quick)
    table = []
    for workers in WORKERS:
        working, handing_out = TASKS * task / workers, TASKS * overhead
        table.append(
            {
                "workers": workers,
                "work_s": working,
                "scheduler_s": handing_out,
                "total_s": max(working, handing_out),
                "first_to_run_out": "workers" if working > handing_out else "the scheduler",
            }
        )
        print(f"{workers} workers: {working:.0f} s of work, {handing_out:.0f} s of scheduling", flush=True)
    # Where a task lasts as long as the scheduler needs for as many tasks as there are workers.
    return {"tasks": TASKS, "task_s": task, "overhead_s": overhead, "table": table, "most_workers": task / overhead}

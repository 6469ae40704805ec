"""Overhead of scheduling: 1000 tasks of 50 ms on two local processes, and on a Dask cluster of two workers beside it.

    python benchmarks/scheduling.py --out results
    python benchmarks/scheduling.py --tasks 40        # a quick try

Overhead is the wall time beyond tasks × 50 ms / 2, start of the processes included; a task waits, so that a busy
machine does not count as overhead.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from subridge.simulation.executors import perform


def work(seconds, task):
    time.sleep(seconds)
    return {"trial": task.start}


def tasks_of(n_tasks):
    return (range(number, number + 1) for number in range(n_tasks))


def clock(tasks):
    """Seconds until the first and the last result."""
    start = time.perf_counter()
    first = None
    for _ in tasks:
        first = first or time.perf_counter() - start
    return first, time.perf_counter() - start


def on_dask(n_tasks, seconds):
    """The same on a scheduler and two workers, each its own process, started beforehand."""
    from distributed import Client
    from scheduling import work as importable  # by a name that workers know, which a script's own functions lack

    with tempfile.TemporaryDirectory() as folder:
        place = ["--scheduler-file", f"{folder}/scheduler.json"]
        dask = [sys.executable, "-m", "dask"]
        commands = [
            [*dask, "scheduler", *place, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            *[[*dask, "worker", *place, "--nthreads", "1", "--no-nanny", "--no-dashboard"] for _ in range(2)],
        ]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        }
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, "env": environment}
        started = [subprocess.Popen(command, **quiet) for command in commands]
        try:
            while not Path(place[1]).exists():
                time.sleep(0.05)
            with Client(scheduler_file=place[1]) as client:
                client.wait_for_workers(2, timeout=60)
                return clock(perform(partial(importable, seconds), tasks_of(n_tasks), client, None))
        finally:
            for process in started:
                process.kill()
                process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    ideal = arguments.tasks * arguments.seconds / 2
    task, results = partial(work, arguments.seconds), {}
    for name, run in (
        ("two processes", lambda: clock(perform(task, tasks_of(arguments.tasks), 2, None))),
        ("Dask, two workers", lambda: on_dask(arguments.tasks, arguments.seconds)),
    ):
        first, total = run()
        results[name] = {"first_result_s": first, "total_s": total, "overhead": total / ideal - 1}
        print(f"{name}: {total:.2f} s for {ideal:.2f} s of work, overhead {total / ideal - 1:.1%}, first result after "
              f"{first:.2f} s", flush=True)  # fmt: skip
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"tasks": arguments.tasks, "seconds": arguments.seconds, "results": results}, indent=1)
        (arguments.out / "scheduling.json").write_text(text)


if __name__ == "__main__":
    main()

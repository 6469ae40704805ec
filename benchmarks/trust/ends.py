"""Parents, schedulers and rivals: how runs end when others do (Linux and macOS).

python benchmarks/trust/ends.py parents [--rounds 50]      parents ended by SIGTERM and SIGKILL in turn
python benchmarks/trust/ends.py schedulers [--rounds 10]   Dask schedulers killed in the middle of a run
python benchmarks/trust/ends.py races [--rounds 50]        two runs that create and fill one store at once
python benchmarks/trust/ends.py late [--rounds 3]          a second run that joins a first one of 400 tasks

`--jobs` rounds are under way at a time, each with processes and a store of its own; what is checked stays the same.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np
import psutil

import subridge as sr


def work(store=None, n_trials=400, **options):
    problem = sr.Problem(sr.covariance.isotropic(200), np.ones(200), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 200, seed=0), ridge=0.1)
    run = sr.Run(store=store, block=1, threads=1, **options)
    return sr.simulate(problem, ensemble, [50, 150], n_trials, run=run, progress=False)


@cache
def truth(n_trials):
    """What an undisturbed run gives."""
    return work(n_trials=n_trials)


@contextmanager
def started(command, **options):
    """A process in a session of its own; at the end whatever lives in it is killed, and the pipes are closed."""
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError, PermissionError):  # all have ended
                os.killpg(process.pid, signal.SIGKILL)


def working(*arguments):
    command = [sys.executable, __file__, "work", *map(str, arguments)]
    return started(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def tasks_done(store):
    return len(list(Path(store).glob("*-*.npz")))


def wait_for(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("what was waited for did not happen")
        time.sleep(0.002)


def parents(folder, number):
    """Whether a child of two outlives its parent by five seconds."""
    store = folder / f"{number}"
    with working(store, 2000, 2) as parent:
        wait_for(lambda: tasks_done(store) >= 1 + number % 5)
        children = psutil.Process(parent.pid).children(recursive=True)
        parent.send_signal(signal.SIGTERM if number % 2 else signal.SIGKILL)
        parent.wait()
        alive = psutil.wait_procs(children, timeout=5)[1]
        for process in alive:
            process.kill()
    return f"{len(children)} children, {len(alive)} alive", len(children) >= 2 and not alive


def schedulers(folder, number):
    """Whether a killed scheduler is named with the store, and the run goes on to the same bits."""
    store, place = folder / f"{number}", folder / f"{number}.json"
    options = ["--scheduler-file", str(place), "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    with ExitStack() as stack:
        command = [*dask, "scheduler", *options, "--host", "127.0.0.1", "--port", "0"]
        scheduler = stack.enter_context(started(command, **quiet))
        wait_for(lambda: place.exists() and place.read_text().rstrip().endswith("}"))  # and is written whole
        stack.enter_context(started([*dask, "worker", *options, "--nthreads", "1", "--no-nanny"], **quiet))
        address = json.loads(place.read_text())["address"]
        child = stack.enter_context(working(store, 400, address))
        wait_for(lambda: tasks_done(store) >= random.Random(number).randrange(1, 100))
        scheduler.kill()
        said = child.communicate(timeout=600)[0]
    kept = tasks_done(store)
    named = f"ClusterError: the Dask scheduler at {address} is gone" in said and str(store) in said
    same = work(store).identical(truth(400))
    return f"named {named}, {kept} of 400 tasks kept, resumed to the same bits {same}", named and same and kept < 400


def races(folder, number):
    """Whether two runs that begin at once both end well, and how many tasks they ran in all."""
    store = folder / f"{number}"
    return shared(store, 40, 0.0)


def late(folder, number):
    """The same for a second run that joins when the first has done a quarter."""
    return shared(folder / f"{number}", 400, 0.25)


def shared(store, n_tasks, share):
    # Both have loaded all they need, and wait for a sign: a race is not decided by who loads faster.
    signs = [store.with_suffix(f".{number}") for number in range(2)]
    with ExitStack() as stack:
        runs = [stack.enter_context(working(store, n_tasks, "count", sign)) for sign in signs]
        for run in runs:
            assert run.stdout.readline() == "ready\n"
        signs[0].touch()
        wait_for(lambda: tasks_done(store) >= share * n_tasks)
        signs[1].touch()
        told = [run.communicate(timeout=600)[0].strip().splitlines()[-1] for run in runs]
    well = all(line.startswith("ran ") for line in told)
    ran = sum(int(line.split()[1]) for line in told) if well else 0
    well = well and work(store, n_tasks).identical(truth(n_tasks))
    return f"{' and '.join(told)} of {n_tasks}, {ran - n_tasks} repeated", well


def child(store, n_trials, how="1", sign=None):
    """The run that is ended, or counted."""
    if how == "count":
        from subridge.simulation import simulate as driver

        run_trials, ran = driver.GAUSSIAN.run_trials, []

        def counted(experiment, trials, plan):
            ran.append(trials)
            return run_trials(experiment, trials, plan)

        driver.GAUSSIAN = driver.GAUSSIAN._replace(run_trials=counted)
        work(n_trials=1)
        ran.clear()
        print("ready", flush=True)
        wait_for(Path(sign).exists)
        work(store, int(n_trials))
        print("ran", len(ran))
    elif how.isdigit():
        work(store, int(n_trials), executor=int(how))
    else:
        work(store, int(n_trials), scheduler=how)


def tried(kind, folder, number):
    """A round; one that breaks has not ended well, and the others go on."""
    try:
        return kind(folder, number)
    except Exception as error:
        return f"{type(error).__name__}: {error}", False


def main():
    kinds = {function.__name__: function for function in (parents, schedulers, races, late)}
    defaults = {"parents": 50, "schedulers": 10, "races": 50, "late": 3}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    rounds, well = options.rounds or defaults[options.kind], 0
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda number: tried(kinds[options.kind], Path(folder), number), range(rounds))
        for number, (said, is_well) in enumerate(outcomes):
            well += is_well
            print(f"{number:4} {said}{'' if is_well else '  NOT WELL'}", flush=True)
    print(f"{options.kind}: {well} of {rounds} ended well")
    return well < rounds


if __name__ == "__main__":
    sys.exit(child(*sys.argv[2:]) if sys.argv[1] == "work" else main())

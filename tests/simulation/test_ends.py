"""Runs that are ended from outside: parents killed, Ctrl-C, schedulers that die."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest

import subridge as sr
from subridge.simulation import interruption

pytest.importorskip("zarr")
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# A script in another process cannot import a test, so that both know the experiment by its text.
EXPERIMENT = """
import os, sys, time
import numpy as np
import subridge as sr

def experiment(store=None, n_trials=400, **options):
    problem = sr.EquicorrelatedProblem(label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.Equal(3), ridge=0.1)
    run = sr.Run(store=store, block=1, threads=1, **options)
    return sr.simulate(problem, ensemble, [50, 150], n_trials, n_features=200, run=run, progress=False)
"""
exec(EXPERIMENT)


def started(tmp_path, body, functions="", **options):
    path = tmp_path / "script.py"
    path.write_text(
        EXPERIMENT + functions + "\nif __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(body), "    ")
    )
    return subprocess.Popen(
        [sys.executable, str(path)], env=os.environ | {"OMP_NUM_THREADS": "1"}, text=True, **options
    )


def tasks_done(store):
    flags = Path(store) / "done" / "c"
    return len(list(flags.iterdir())) if flags.is_dir() else 0


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("what a test waited for did not happen")
        time.sleep(0.01)


@posix
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
def test_no_child_outlives_its_parent(tmp_path, ended_by):
    store = tmp_path / "a.zarr"
    parent = started(tmp_path, f"experiment({str(store)!r}, 1000, executor=2)", stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: tasks_done(store) >= 3)
        children = psutil.Process(parent.pid).children(recursive=True)
        assert len(children) >= 2
    finally:
        parent.send_signal(ended_by)
        parent.wait()
    _, alive = psutil.wait_procs(children, timeout=5)
    assert not alive


@posix
def test_a_child_deep_in_a_library_call_ends_with_its_parent(tmp_path):
    # The call keeps every other thread of its process waiting, as LAPACK does.
    task = """
def hold(number):
    import ctypes
    print("here", flush=True)
    ctypes.PyDLL(None).sleep(60)
"""
    body = """
    from subridge.simulation.executors.processes import Processes
    list(Processes(1).perform(hold, [0]))
    """
    parent = started(tmp_path, body, task, stdout=subprocess.PIPE)
    assert parent.stdout.readline() == "here\n"
    children = psutil.Process(parent.pid).children(recursive=True)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _, alive = psutil.wait_procs(children, timeout=5)
    for process in alive:
        process.kill()
    assert not alive or sys.platform != "linux"


@posix
@pytest.mark.parametrize("executor", [None, 2])
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path, executor):
    store = tmp_path / "a.zarr"
    body = f"experiment({str(store)!r}, 1000, executor={executor})"
    child = started(tmp_path, body, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(lambda: tasks_done(store) >= 3)
    os.killpg(child.pid, signal.SIGINT)  # to all, as a terminal does
    said = child.communicate(timeout=60)[1]
    assert "InterruptedRun: interrupted:" in said
    assert f"of 1000 tasks are kept in {store}; the same call goes on with the others" in said
    assert "Process SpawnProcess" not in said  # nothing from children


@posix
def test_ctrl_c_during_long_tasks_in_processes_ends_at_once(tmp_path):
    body = """
    from subridge.simulation.executors.processes import Processes
    for number, _ in Processes(2).perform(time.sleep, [0.01, 600, 600, 600]):
        print(number, flush=True)
    """
    child = started(tmp_path, body, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout.readline() == "0.01\n"
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=30)
    assert time.monotonic() - begun < 2
    child.stdout.close()


@posix
def test_ctrl_c_inside_a_library_call_ends_the_run_and_says_what_is_kept(tmp_path):
    body = """
    from subridge.simulation.interruption import ended_by_interruption
    from scipy.linalg import blas
    left, right = np.ones((2000, 20000), order="F"), np.ones((20000, 2000), order="F")
    with ended_by_interruption("kept in here"):
        print("here", flush=True)
        blas.dgemm(1.0, left, right)  # seconds, in which no other thread of Python runs
    """
    child = started(tmp_path, body, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == "here\n"
    time.sleep(0.3)  # the product has begun
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert time.monotonic() - begun < 2
    assert "kept in here" in said
    assert child.returncode == -signal.SIGKILL


@posix
def test_an_interruption_that_python_hears_is_left_to_python():
    def interrupted():
        with interruption.ended_by_interruption("never said"):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    time.sleep(1.2)  # the watcher would have ended this process


def test_without_a_store_an_interruption_says_that_nothing_is_kept(monkeypatch):
    from dataclasses import replace

    from subridge.simulation.gaussian import simulate as driver

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=interrupted))
    with pytest.raises(sr.errors.InterruptedRun, match=r"nothing is kept; with Run\(store=\)"):
        experiment()  # noqa: F821


class Dask:
    """A scheduler of its own process, and workers."""

    def __init__(self, place, n_workers=1):
        self.file, self._place = place / "scheduler.json", place
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait_for(self.file.exists)
        self.workers = [self.worker() for _ in range(n_workers)]

    def worker(self):
        return self._start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def _start(self, kind, *options):
        command = [sys.executable, "-W", "ignore", "-m", "dask", kind, "--scheduler-file", str(self.file), *options]
        return subprocess.Popen(
            command,
            cwd=self._place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    def end(self):
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path):
    pytest.importorskip("distributed")
    cluster = Dask(tmp_path)
    yield cluster
    cluster.end()


def when(condition, action):
    def act():
        wait_for(condition)
        action()

    thread = threading.Thread(target=act)
    thread.start()
    return thread


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dead_scheduler_and_a_restarted_one_are_named_and_the_run_goes_on(dask, tmp_path):
    import json

    from distributed import Client

    store = tmp_path / "a.zarr"
    address = json.loads(dask.file.read_text())["address"]
    with Client(address) as client:
        client.wait_for_workers(1, timeout=120)
        restart = when(lambda: tasks_done(store) >= 3, lambda: client.restart(wait_for_workers=False))
        with pytest.raises(sr.errors.ClusterError, match=f"restarted, or dropped .* tasks are kept in {store}"):
            experiment(store, executor=client)  # noqa: F821
        restart.join()
    done = tasks_done(store)
    dask.workers.append(dask.worker())
    killer = when(lambda: tasks_done(store) >= done + 3, dask.scheduler.kill)
    with pytest.raises(sr.errors.ClusterError, match=f"scheduler at {address} is gone.* tasks are kept in {store}"):
        experiment(store, scheduler=address)  # noqa: F821
    killer.join()
    assert 3 < tasks_done(store) < 400
    assert experiment(store).identical(experiment())  # noqa: F821


def test_a_cluster_without_workers_says_what_it_waits_for(dask, tmp_path, monkeypatch):
    from distributed import Client

    monkeypatch.setattr("subridge.simulation.executors.dask._SILENT", 1)
    dask.workers[0].kill()
    dask.workers[0].wait()
    with Client(scheduler_file=str(dask.file)) as client:
        wait_for(lambda: not client.scheduler_info(n_workers=-1)["workers"])
        threading.Timer(2.5, lambda: dask.workers.append(dask.worker())).start()
        with pytest.warns(sr.errors.WaitingWarning, match=r"has no workers, and \d+ tasks wait for one; start it"):
            found = experiment(n_trials=4, executor=client)  # noqa: F821
    assert found.sizes["trial"] == 4


def test_errors_of_tasks_on_a_cluster_are_raised_as_they_are(dask):
    from distributed import Client

    from subridge.simulation.executors.dask import Cluster

    with Client(scheduler_file=str(dask.file)) as client:
        assert dict(Cluster(client).perform(abs, range(-30, 0))) == {n: -n for n in range(-30, 0)}
        with pytest.raises(TypeError, match="object of type 'int'"):
            list(Cluster(client).perform(len, [1]))


def test_the_advice_to_start_a_scheduler_opens_no_door(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("subridge.simulation.executors.dask._PATIENCE", "0.2s")
    with pytest.raises(sr.errors.ClusterError) as told:
        experiment(scheduler="tcp://127.0.0.1:9")  # noqa: F821
    assert "dask scheduler --host 127.0.0.1" in str(told.value)
    assert "--tls-cert" in str(told.value)

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

def experiment(store=None, n_trials=100, **options):
    problem = sr.EquicorrelatedProblem(label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.Equal(3), ridge=0.1)
    run = sr.Run(store=store, block=1, threads=1, **options)
    return sr.simulate(problem, ensemble, [50, 150], n_trials, n_features=200, run=run, progress=False)
"""
exec(EXPERIMENT)


# The same for what needs no experiment, and loads no library.
PROCESSES = """
import os, sys, time
from subridge.simulation.executors.processes import Processes

def hold(number):
    # The call never returns and keeps every other thread of its process waiting, as LAPACK does for a while.
    import ctypes
    library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_init(lock, None)
    library.pthread_mutex_lock(lock)
    print("here", flush=True)
    library.pthread_mutex_lock(lock)
"""


def started(tmp_path, body, head=EXPERIMENT, **options):
    path = tmp_path / "script.py"
    path.write_text(head + "\nif __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(body), "    "))
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


def children_after(parent, ended_by):
    """End a parent, and give those of its children that are alive five seconds later."""
    children = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(ended_by)
    parent.wait()
    _, alive = psutil.wait_procs(children, timeout=5)
    for process in alive:
        process.kill()
    parent.stdout.close()
    return len(children), alive


@posix
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
def test_no_child_outlives_its_parent(tmp_path, ended_by):
    body = "for number, _ in Processes(2).perform(time.sleep, [0.01, 0.02, *[60] * 9]): print(number, flush=True)"
    parent = started(tmp_path, body, PROCESSES, stdout=subprocess.PIPE)
    assert {parent.stdout.readline() for _ in range(2)} == {"0.01\n", "0.02\n"}
    count, alive = children_after(parent, ended_by)
    assert count >= 2
    assert not alive


@posix
def test_a_child_deep_in_a_library_call_ends_with_its_parent(tmp_path):
    parent = started(tmp_path, "list(Processes(1).perform(hold, [0]))", PROCESSES, stdout=subprocess.PIPE)
    assert parent.stdout.readline() == "here\n"
    assert not children_after(parent, signal.SIGKILL)[1]


@posix
def test_a_child_that_is_still_loading_its_modules_ends_with_its_parent(tmp_path):
    loading = (
        PROCESSES
        + """
if __name__ != "__main__":
    print("loading", flush=True)
    time.sleep(60)
"""
    )
    parent = started(tmp_path, "list(Processes(2).perform(abs, [0, 1]))", loading, stdout=subprocess.PIPE)
    assert [parent.stdout.readline() for _ in range(2)] == ["loading\n"] * 2
    assert not children_after(parent, signal.SIGKILL)[1]


@posix
def test_children_end_also_when_their_guard_was_killed(tmp_path):
    body = "for number, _ in Processes(1).perform(time.sleep, [0.01, *[60] * 9]): print(number, flush=True)"
    parent = started(tmp_path, body, PROCESSES, stdout=subprocess.PIPE)
    assert parent.stdout.readline() == "0.01\n"
    (guard,) = [child for child in psutil.Process(parent.pid).children() if "-S" in child.cmdline()]
    guard.kill()
    assert not children_after(parent, signal.SIGKILL)[1]


@posix
def test_a_run_that_ends_leaves_no_process_and_kills_none(tmp_path):
    body = """
    import psutil
    for _ in range(2):
        print(sorted(Processes(2).perform(abs, range(-5, 0))))
    print([child.cmdline() for child in psutil.Process().children() if "resource_tracker" not in str(child.cmdline())])
    """
    parent = started(tmp_path, body, PROCESSES, stdout=subprocess.PIPE)
    first, second, left = parent.communicate(timeout=60)[0].splitlines()
    assert first == second == "[(-5, 5), (-4, 4), (-3, 3), (-2, 2), (-1, 1)]"
    assert left == "[]"
    assert parent.returncode == 0


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
    for number, _ in Processes(2).perform(time.sleep, [0.01, 600, 600, 600]):
        print(number, flush=True)
    """
    child = started(tmp_path, body, PROCESSES, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
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
    with ended_by_interruption("kept in here"):
        hold(0)
    """
    child = started(tmp_path, body, PROCESSES, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == "here\n"
    time.sleep(0.1)  # the call has begun
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
        wait_for(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))  # and is written whole
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
        dask.workers.append(dask.worker())
        client.wait_for_workers(1, timeout=120)
    done = tasks_done(store)
    killer = when(lambda: tasks_done(store) >= done + 3, dask.scheduler.kill)
    with pytest.raises(sr.errors.ClusterError, match=f"scheduler at {address} is gone.* tasks are kept in {store}"):
        experiment(store, scheduler=address)  # noqa: F821
    killer.join()
    assert 3 < tasks_done(store) < 100
    assert experiment(store).identical(experiment())  # noqa: F821


def test_the_advice_to_start_a_scheduler_opens_no_door(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("subridge.simulation.executors.dask._PATIENCE", "0.2s")
    with pytest.raises(sr.errors.ClusterError) as told:
        experiment(scheduler="tcp://127.0.0.1:9")  # noqa: F821
    assert "dask scheduler --host 127.0.0.1" in str(told.value)
    assert "--tls-cert" in str(told.value)

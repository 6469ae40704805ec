"""Runs that are ended from outside: parents killed, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from scripts import script, started, tasks_done, wait_for

pytestmark = pytest.mark.slow
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
from subridge.simulation.executors import ChildPool, perform

def say(what):
    # In one piece: children write to the same pipe, and print may write a text and the end of its line apart.
    os.write(1, f"{what}\\n".encode())

def sleep(task):
    time.sleep(len(task) / 100)
    return len(task)

def hold(task):
    # The call never returns and keeps every other thread of its process waiting, as LAPACK does for a while.
    import ctypes
    library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_init(lock, None)
    library.pthread_mutex_lock(lock)
    say("here")
    library.pthread_mutex_lock(lock)
"""


# Text from a pipe, line by line.
PIPE = {"stdout": subprocess.PIPE, "text": True}


def children_after(parent, ended_by):
    """End a parent, and give those of its children that are alive five seconds later."""
    children = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(ended_by)
    parent.wait()
    _, alive = psutil.wait_procs(children, timeout=5)
    for process in alive:
        process.kill()
    return len(children), alive


@posix
@pytest.mark.parametrize("ended_by", ["SIGTERM", "SIGKILL"])
def test_no_child_outlives_its_parent(tmp_path, ended_by):
    body = "for _, n in perform(sleep, [range(1), range(2), *[range(6000)] * 9], 2, None): say(n)"
    with started(script(tmp_path, PROCESSES, body), **PIPE) as parent:
        assert {parent.stdout.readline() for _ in range(2)} == {"1\n", "2\n"}
        count, alive = children_after(parent, signal.Signals[ended_by])
    assert count >= 2
    assert not alive


@posix
def test_a_child_deep_in_a_library_call_ends_with_its_parent(tmp_path):
    body = "list(perform(hold, [range(1)], 1, None))"
    with started(script(tmp_path, PROCESSES, body), **PIPE) as parent:
        assert parent.stdout.readline() == "here\n"
        assert not children_after(parent, signal.SIGKILL)[1]


LOADING = """
if __name__ != "__main__":
    say("loading")
    time.sleep(60)
"""


@posix
def test_a_child_that_is_still_loading_its_modules_ends_with_its_parent(tmp_path):
    # Only a guard that knows both children can end them.
    body = """
    submit = ChildPool.submit
    def told(self, *arguments):
        future = submit(self, *arguments)
        say(f"{len(self._children())} known")
        return future
    ChildPool.submit = told
    list(perform(len, [range(1), range(2)], 2, None))
    """
    with started(script(tmp_path, PROCESSES + LOADING, body), **PIPE) as parent:
        said = []
        while said.count("loading\n") < 2 or "2 known\n" not in said:
            said.append(parent.stdout.readline())
            assert said[-1] in ("loading\n", "1 known\n", "2 known\n")
        assert not children_after(parent, signal.SIGKILL)[1]


@posix
def test_children_end_also_when_their_guard_was_killed(tmp_path):
    body = "for _, n in perform(sleep, [range(1), *[range(6000)] * 9], 1, None): say(n)"
    with started(script(tmp_path, PROCESSES, body), **PIPE) as parent:
        assert parent.stdout.readline() == "1\n"
        (guard,) = [child for child in psutil.Process(parent.pid).children() if "-S" in child.cmdline()]
        guard.kill()
        assert not children_after(parent, signal.SIGKILL)[1]


@posix
def test_a_run_that_ends_leaves_no_process_and_kills_none(tmp_path):
    body = """
    import psutil
    for _ in range(2):
        say(sorted(n for _, n in perform(len, map(range, range(5)), 2, None)))
    say([child.cmdline() for child in psutil.Process().children() if "resource_tracker" not in str(child.cmdline())])
    """
    with started(script(tmp_path, PROCESSES, body), **PIPE) as parent:
        first, second, left = parent.communicate(timeout=240)[0].splitlines()
        assert first == second == "[0, 1, 2, 3, 4]"
        assert left == "[]"
        assert parent.returncode == 0


@posix
@pytest.mark.parametrize("executor", [None, 2])
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path, executor):
    store = tmp_path / "a"
    body = f"experiment({str(store)!r}, 1000, executor={executor})"
    with started(script(tmp_path, EXPERIMENT, body), stderr=subprocess.PIPE, text=True) as child:
        wait_for(lambda: tasks_done(store) >= 3)
        os.killpg(child.pid, signal.SIGINT)  # to all, as a terminal does
        said = child.communicate(timeout=240)[1]
    assert "InterruptedRun: interrupted:" in said
    assert (
        f"of 1000 tasks are finished; finished tasks are kept in {store}; the same call goes on with the others" in said
    )
    assert "Process SpawnProcess" not in said  # nothing from children


@posix
def test_ctrl_c_while_children_load_their_modules_is_left_to_their_parent(tmp_path):
    body = "list(perform(len, [range(1), range(2)], 2, None))"
    with started(script(tmp_path, PROCESSES + LOADING, body), stderr=subprocess.PIPE, **PIPE) as parent:
        assert [parent.stdout.readline() for _ in range(2)] == ["loading\n"] * 2
        for child in psutil.Process(parent.pid).children():
            if "spawn_main" in str(child.cmdline()):
                child.send_signal(signal.SIGINT)  # a terminal sends it to all, in any order
        time.sleep(0.5)
        parent.send_signal(signal.SIGINT)
        said = parent.communicate(timeout=240)[1]
    assert said.count("Traceback") == 1
    assert said.endswith("KeyboardInterrupt\n")


@posix
def test_ctrl_c_during_long_tasks_in_processes_ends_at_once(tmp_path):
    body = "for _, n in perform(sleep, [range(1), *[range(60000)] * 3], 2, None): say(n)"
    with started(script(tmp_path, PROCESSES, body), stderr=subprocess.DEVNULL, **PIPE) as child:
        assert child.stdout.readline() == "1\n"
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        child.wait(timeout=30)
        assert time.monotonic() - begun < 2


def in_a_call(process):
    """Whether a process that never pauses of itself waits in the system; where that cannot be asked, after a while."""
    if sys.platform == "linux":
        return psutil.Process(process.pid).status() == psutil.STATUS_SLEEPING
    time.sleep(1)
    return True


@posix
def test_ctrl_c_inside_a_library_call_ends_the_run_and_says_what_is_kept(tmp_path):
    body = """
    from subridge.simulation.executors import ended_by_interruption
    with ended_by_interruption("kept in here"):
        hold(range(1))
    """
    with started(script(tmp_path, PROCESSES, body), stderr=subprocess.PIPE, **PIPE) as child:
        assert child.stdout.readline() == "here\n"
        wait_for(lambda: in_a_call(child))
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1]
        assert time.monotonic() - begun < 2
        assert "kept in here" in said
        assert child.returncode == -signal.SIGKILL


@posix
def test_an_interruption_that_python_hears_is_left_to_python(tmp_path):
    # In another process, because a watcher that did not leave it to Python would end this one.
    body = """
    import signal
    from subridge.simulation.executors import ended_by_interruption
    try:
        with ended_by_interruption("never said"):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
    except KeyboardInterrupt:
        time.sleep(1.2)  # the watcher would have ended this process
        say("heard")
    """
    with started(script(tmp_path, PROCESSES, body), stderr=subprocess.PIPE, **PIPE) as child:
        assert child.communicate(timeout=240) == ("heard\n", "")
        assert child.returncode == 0


@posix
def test_ctrl_c_on_the_command_line_exits_with_130_and_leaves_no_process(tmp_path):
    store, sizes = tmp_path / "a", ["--n-features", "200", "--n-samples", "50,150", "--n-trials", "1000"]
    command = [sys.executable, "-m", "subridge", "simulate", *sizes, "--processes", "2", "--store", str(store)]
    with started(command, stderr=subprocess.PIPE, **PIPE) as child:
        wait_for(lambda: tasks_done(store) >= 3)
        children = psutil.Process(child.pid).children(recursive=True)
        os.killpg(child.pid, signal.SIGINT)  # to all, as a terminal does
        said = child.communicate(timeout=240)[1]
        assert child.returncode == 130
        assert not psutil.wait_procs(children, timeout=5)[1]
    assert f"tasks are kept in {store}; the same call goes on" in " ".join(said.split())
    assert "Traceback" not in said

"""Schedulers of Dask that die or are restarted in the middle of a run, or were never there."""

import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

import subridge as sr
from scripts import started, tasks_done, wait_for, when
from subridge.store.tasks import TaskStore

pytestmark = pytest.mark.slow


def experiment(store=None, **options):
    problem = sr.EquicorrelatedProblem(label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.Equal(3), ridge=0.1)
    run = sr.Run(store=store, block=1, threads=1, **options)
    return sr.simulate(problem, ensemble, [50, 150], 100, n_features=200, run=run, progress=False)


class Dask:
    """A scheduler of its own process, and workers, which end with the stack."""

    def __init__(self, place, stack):
        self.file, self._place, self._stack = place / "scheduler.json", place, stack
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait_for(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))  # and is written whole
        self.address = json.loads(self.file.read_text())["address"]
        self.worker = self.add_worker()

    def add_worker(self):
        return self._start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def _start(self, kind, *options):
        command = [sys.executable, "-W", "ignore", "-m", "dask", kind, "--scheduler-file", str(self.file), *options]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return self._stack.enter_context(started(command, cwd=self._place, **quiet))


@pytest.fixture
def dask(tmp_path):
    pytest.importorskip("distributed")
    with ExitStack() as stack:
        yield Dask(tmp_path, stack)


@contextmanager
def in_the_middle(store, n_tasks, action, monkeypatch):
    """Do something after three more tasks, and before so many are written, however late that is."""
    enough, write = tasks_done(store) + 3, TaskStore.write
    with when(lambda: tasks_done(store) >= enough, action) as done, monkeypatch.context() as patched:

        def write_in_time(self, trials, arrays):
            if tasks_done(store) >= n_tasks:
                assert done.wait(240)
            write(self, trials, arrays)

        patched.setattr(TaskStore, "write", write_in_time)
        yield


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:the Dask scheduler at .* does not answer")
def test_a_dead_scheduler_and_a_restarted_one_are_named_and_the_run_goes_on(dask, tmp_path, monkeypatch):
    from distributed import Client

    store = tmp_path / "a"
    with Client(dask.address) as client:
        client.wait_for_workers(1, timeout=240)
        restart = partial(client.restart, wait_for_workers=False)
        with (
            pytest.raises(sr.errors.ClusterError, match=f"restarted, or dropped .* tasks are kept in {store}"),
            in_the_middle(store, 50, restart, monkeypatch),
        ):
            experiment(store, executor=client)
        dask.add_worker()
        client.wait_for_workers(1, timeout=240)
    with (
        pytest.raises(sr.errors.ClusterError, match=f"scheduler at {dask.address} is gone.* tasks are kept in {store}"),
        in_the_middle(store, 90, dask.scheduler.kill, monkeypatch),
    ):
        experiment(store, scheduler=dask.address)
    assert 3 < tasks_done(store) < 100
    assert experiment(store).identical(experiment())


def test_the_advice_to_start_a_scheduler_opens_no_door(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("subridge.simulation.dask._PATIENCE", "0.2s")
    with pytest.raises(sr.errors.ClusterError) as told:
        experiment(scheduler="tcp://127.0.0.1:9")
    assert "dask scheduler --host 127.0.0.1" in str(told.value)
    assert "--tls-cert" in str(told.value)


@pytest.mark.parametrize(("victim", "words"), [("worker", "has no workers"), ("scheduler", "does not answer")])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_killed_workers_and_a_stopped_scheduler_are_told_within_five_seconds(
    dask, tmp_path, monkeypatch, victim, words
):
    begun, waited = [], []
    process = getattr(dask, victim)

    def strike():
        process.send_signal(signal.SIGKILL if victim == "worker" else signal.SIGSTOP)
        begun.append(time.monotonic())

    def go_on():
        waited.append(time.monotonic() - begun[0])
        if victim == "worker":
            dask.add_worker()
        else:
            process.send_signal(signal.SIGCONT)

    def told():
        return any(words in str(each.message) for each in said)

    with (
        pytest.warns(sr.errors.WaitingWarning, match=words) as said,
        in_the_middle(tmp_path / "a", 20, strike, monkeypatch),
        when(told, go_on),
    ):
        found = experiment(tmp_path / "a", scheduler=dask.address)
    assert waited[0] < 5.5  # a second for this test to hear of it
    assert found.identical(experiment())

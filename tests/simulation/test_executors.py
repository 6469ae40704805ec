"""Executors as such: who is chosen, how far ahead tasks are taken, and what a run hands to them."""

import os
import signal
import sys
import threading
import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import psutil
import pytest

import subridge as sr
from scripts import when
from subridge.arrays.machine import cores
from subridge.simulation import conduct, interruption
from subridge.simulation.executors import Executor, executor_for
from subridge.simulation.executors.dask import Cluster
from subridge.simulation.executors.processes import Processes
from subridge.simulation.executors.serial import Serial
from subridge.simulation.gaussian.experiment import GaussianExperiment
from subridge.simulation.gaussian.simulate import ENGINE
from subridge.simulation.job import Job

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


class Watching(Serial):
    """Runs tasks here, and keeps what it was given."""

    def __init__(self):
        self.jobs, self.numbers = [], []

    def perform(self, task, numbers):
        self.jobs.append(task)
        for number in numbers:
            self.numbers.append(number)
            yield number, task(number)


def simulate(n_trials=7, store=None, **run):
    problem, ensemble = sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble(sr.subsets.Equal(2), ridge=0.1)
    options = {"n_features": 12, "run": sr.Run(store=store, **run), "progress": False}
    return sr.simulate(problem, ensemble, [4, 9], n_trials, **options)


def test_executors_are_chosen_by_plain_values():
    assert isinstance(executor_for(None, None), Serial)
    assert isinstance(executor_for(3, None), Processes)
    assert executor_for(1, None).n_processes == 1
    assert executor_for(3, None).n_processes == 3
    assert isinstance(executor_for(None, "tcp://there:1"), Cluster)
    own = Watching()
    assert executor_for(own, None) is own
    for wrong in (0, -1, "two", 1.5):
        with pytest.raises(sr.errors.ParameterError, match="executor must be None, a number of processes"):
            executor_for(wrong, None)
    with pytest.raises(sr.errors.ParameterError, match="not both"):
        executor_for(own, "tcp://there:1")
    with pytest.raises(sr.errors.ParameterError, match="not both"):
        executor_for(1, "tcp://there:1")


def test_a_client_is_known_by_what_it_can_do():
    class Client:
        def scheduler_info(self): ...

    assert isinstance(executor_for(Client(), None), Cluster)
    assert not executor_for(Client(), None).is_here
    with pytest.raises(TypeError, match="abstract"):
        Executor()


def test_processes_share_the_cores():
    assert (Serial().n_processes, Serial().threads, Serial().is_here) == (1, None, True)
    assert Processes(1).threads == cores()
    assert Processes(10**4).threads == 1
    assert Processes(2).threads == max(1, cores() // 2)
    assert Cluster("tcp://there:1").threads == 1
    assert Cluster("tcp://there:1").n_processes == 1


@pytest.mark.parametrize(
    ("n_trials", "block", "tasks"), [(7, None, 7), (50, None, 50), (51, None, 26), (7, 3, 3), (7, 9, 1)]
)
def test_a_run_has_about_fifty_tasks_unless_it_is_told_otherwise(n_trials, block, tasks):
    watching = Watching()
    found = simulate(n_trials, executor=watching, block=block)
    assert sorted(watching.numbers) == list(range(tasks))
    assert found.identical(simulate(n_trials))


def test_tasks_on_a_card_are_large():
    def card(n_trials):
        problem, ensemble = sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
        return GaussianExperiment(problem, ensemble, (4,), n_trials, 12, device="cuda:1")

    assert conduct._block(card(1000), sr.Run()) == 128
    assert conduct._block(card(100), sr.Run()) == 100
    assert conduct._block(card(1000), sr.Run(block=3)) == 3


def test_threads_are_those_of_the_run_then_of_the_kind_then_of_the_executor():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), np.arange(30) % 2
    votes = sr.Ensemble(sr.subsets.Equal(2), aggregation="majority")

    def classified(**run):
        watching = Watching()
        watching.threads = 2
        options = {"n_samples": [10], "n_trials": 2, "ridges": [0.1], "progress": False}
        sr.simulate_classification(
            X[:20], y[:20], X[20:], y[20:], votes, **options, run=sr.Run(executor=watching, **run)
        )
        return watching.jobs[0].threads

    assert classified() == 1
    assert classified(threads=3) == 3
    watching = Watching()
    watching.threads = 2
    simulate(executor=watching)
    simulate(executor=watching, threads=4)
    assert [job.threads for job in watching.jobs] == [2, 4]


def test_a_task_keeps_to_its_threads(monkeypatch):
    from threadpoolctl import threadpool_info

    seen = []

    def watched(experiment, trials, plan):
        seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
        return {}

    experiment = GaussianExperiment(
        sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.equal(2, 12, seed=0)), (4,), 2, 12
    )
    Job(replace(ENGINE, run_trials=watched), experiment, 1, threads=1)(0)
    assert seen == [{1}]


def test_processes_take_three_tasks_each_ahead_and_lose_none():
    taken = []

    def numbers():
        for number in range(-40, 0):
            taken.append(number)
            yield number

    found, ahead = {}, []
    for number, value in Processes(2).perform(abs, numbers()):
        ahead.append(len(taken) - len(found))
        found[number] = value
    assert found == {n: -n for n in range(-40, 0)}
    assert ahead[0] == 6
    assert max(ahead) <= 6
    assert list(Processes(1).perform(abs, [])) == []


def test_an_error_of_a_task_in_a_process_is_raised_as_it_is():
    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        list(Processes(1).perform(len, [1]))


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "n_workers": 1, "dashboard_address": ":0", "protocol": "tcp"}
    with distributed.Client(threads_per_worker=4, **options) as client:
        yield client


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_takes_three_tasks_per_thread_ahead(client):
    taken, ahead, found = [], [], {}

    def numbers():
        for number in range(-60, 0):
            taken.append(number)
            yield number

    for number, value in Cluster(client).perform(abs, numbers()):
        ahead.append(len(taken) - len(found))
        found[number] = value
    assert found == {n: -n for n in range(-60, 0)}
    assert ahead[0] == 12
    assert max(ahead) <= 12


@pytest.mark.filterwarnings("ignore")
def test_a_run_on_a_cluster_by_address_is_the_run(client):
    assert simulate(scheduler=client.scheduler.address).identical(simulate())


@pytest.mark.filterwarnings("ignore")
def test_errors_of_tasks_that_are_also_errors_of_systems_are_raised_as_they_are(client):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(Cluster(client).perform(os.listdir, ["nowhere"]))


@pytest.mark.filterwarnings("ignore")
def test_a_mistake_beside_a_cluster_that_lives_is_not_blamed_on_it(client):
    def numbers():
        yield -1
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        list(Cluster(client).perform(abs, numbers()))


@pytest.mark.filterwarnings("ignore:.*:ResourceWarning")
def test_a_cluster_without_workers_says_once_what_it_waits_for(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("subridge.simulation.executors.dask._LOOK", 0.05)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0", "protocol": "tcp"}

    def told():
        return [str(each.message) for each in said if each.category is sr.errors.WaitingWarning]

    def give_a_worker():
        time.sleep(1)  # for many more looks
        cluster.scale(1)

    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        with pytest.warns(sr.errors.WaitingWarning) as said, when(told, give_a_worker):
            found = simulate(4, executor=client, block=1)
        address = client.scheduler.address
    assert len(told()) == 1
    assert f"scheduler at {address} has no workers, and 4 tasks wait for one; start it" in told()[0]
    assert found.identical(simulate(4))


def children():
    """Watchers of this process; other children may end at any moment."""
    found = (child for child in psutil.process_iter(["ppid", "cmdline"]) if child.info["ppid"] == os.getpid())
    return [child for child in found if "select.select" in " ".join(child.info["cmdline"] or ())]


@posix
def test_a_watcher_lives_as_long_as_the_work_and_leaves_signals_as_they_were():
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    with interruption.ended_by_interruption("never said"):
        assert len(children()) == 1
    assert not children()
    assert signal.set_wakeup_fd(before) == before


@posix
def test_no_process_is_ended_that_holds_more_or_cannot_be_told(monkeypatch):
    def watched():
        with interruption.ended_by_interruption("never said"):
            return len(children())

    with monkeypatch.context() as patched:
        patched.setattr(sys, "ps1", ">>> ", raising=False)
        assert watched() == 0
    for name in ("ipykernel", "IPython"):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, name, sys)
            assert watched() == 0
    found = []
    thread = threading.Thread(target=lambda: found.append(watched()))
    thread.start()
    thread.join()
    assert found == [0]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert watched() == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert watched() == 1


def test_only_large_serial_work_is_watched():
    experiment = GaussianExperiment(
        sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.equal(2, 12, seed=0)), (4,), 2, 12
    )

    def job(needed):
        return Job(replace(ENGINE, bytes_needed=lambda _: needed), experiment, 1)

    assert isinstance(conduct._ended(Serial(), job(2**27 - 1)), nullcontext)
    assert not isinstance(conduct._ended(Serial(), job(2**27)), nullcontext)
    assert isinstance(conduct._ended(Processes(2), job(2**30)), nullcontext)


def test_an_interruption_says_how_many_tasks_are_kept(tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    from subridge.simulation.gaussian import simulate as driver

    run_trials = driver.ENGINE.run_trials

    def interrupted(experiment, trials, plan):
        if 3 in trials:
            raise KeyboardInterrupt
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=interrupted))
    with pytest.raises(
        sr.errors.InterruptedRun, match=r"interrupted: 1 of 3 tasks are kept in .*a\.zarr; the same call"
    ):
        simulate(7, tmp_path / "a.zarr", block=3)
    monkeypatch.undo()
    watching = Watching()
    assert simulate(7, tmp_path / "a.zarr", executor=watching).identical(simulate(7))
    assert watching.numbers == [1, 2]

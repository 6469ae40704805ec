"""Who runs tasks: what is chosen, how far ahead tasks are taken, what is sent to workers, and what they may use."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import psutil
import pytest
from joblib import cpu_count
from threadpoolctl import threadpool_info, threadpool_limits

import subridge as sr
from scripts import wait_for, when
from subridge.simulation import executors
from subridge.simulation import run as run_module
from subridge.simulation import simulate as driver
from subridge.simulation.executors import ended_by_interruption, perform
from subridge.simulation.gaussian import GaussianExperiment
from subridge.simulation.run import Job

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


class Watching(Executor):
    """Runs tasks here, and keeps what it was given; every worker is another one that has to be told."""

    def __init__(self):
        self.tasks, self.jobs, self.n_shut_down = [], [], 0

    def submit(self, work, key, task, job=None):
        known = executors._works.pop(key, None)
        self.jobs.append(known)
        self.tasks.append(task)
        executors._works[key] = known
        future = Future()
        try:
            future.set_result(work(key, task, job))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, *_args, **_options):
        self.n_shut_down += 1


def simulate(n_trials=7, store=None, **run):
    problem, ensemble = sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble(sr.subsets.Equal(2), ridge=0.1)
    options = {"n_features": 12, "run": sr.Run(store=store, **run), "progress": False}
    return sr.simulate(problem, ensemble, [4, 9], n_trials, **options)


def experiment(n_trials=2, **options):
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    return GaussianExperiment(sr.EquicorrelatedProblem(), ensemble, (4,), n_trials, 12, **options)


@pytest.mark.parametrize(
    ("n_trials", "block", "tasks"), [(7, None, 7), (50, None, 50), (51, None, 26), (7, 3, 3), (7, 9, 1)]
)
def test_a_run_has_about_fifty_tasks_unless_it_is_told_otherwise(n_trials, block, tasks):
    watching = Watching()
    found = simulate(n_trials, executor=watching, block=block)
    assert len(watching.tasks) == tasks
    assert sorted(trial for task in watching.tasks for trial in task) == list(range(n_trials))
    assert found.identical(simulate(n_trials))


def test_an_executor_that_is_handed_over_stays_open():
    watching = Watching()
    simulate(executor=watching)
    assert watching.n_shut_down == 0
    with ThreadPoolExecutor(2) as pool:
        assert simulate(executor=pool).identical(simulate())
        assert pool.submit(abs, -1).result() == 1


class Counting(Job):
    """Counts how often it is pickled."""

    n_sent = 0

    def __getstate__(self):
        Counting.n_sent += 1
        return self.__dict__


@pytest.mark.slow
def test_the_description_is_sent_once_per_worker_not_per_task():
    tasks = [range(i, i + 1) for i in range(40)]
    job = Counting(driver.GAUSSIAN, experiment(40))
    for n_workers in (1, 2):
        Counting.n_sent = 0
        with ProcessPoolExecutor(n_workers, multiprocessing.get_context("spawn")) as pool:
            found = dict(perform(job, tasks, pool, None))
            assert len(found) == 40
            assert n_workers <= Counting.n_sent <= 2 * n_workers
    assert not executors._works


def test_a_worker_without_the_description_asks_for_it():
    job = Job(driver.GAUSSIAN, experiment())
    name, values = executors.run_task("k", range(0, 1))
    assert values is None
    assert str(os.getpid()) in name
    executors.run_task("k", range(0, 1), job)
    np.testing.assert_array_equal(executors.run_task("k", range(0, 1))[1]["risk"], job(range(0, 1))["risk"])
    for number in range(4):
        executors.run_task(str(number), range(0, 1), job)
    assert executors.run_task("k", range(0, 1))[1] is None  # forgotten: a worker does not keep the work of every run
    executors._works.clear()


def test_a_worker_that_has_forgotten_the_description_gets_it_again():
    class Forgetting(Watching):
        _max_workers = 1

        def submit(self, *arguments):
            assert len(self.tasks) < 30, "the worker asks again and again"
            if len(self.tasks) == 4:  # other runs have shared the worker meanwhile
                executors._works.clear()
            return super().submit(*arguments)

    forgetful = Forgetting()
    assert simulate(executor=forgetful, block=1).identical(simulate())
    assert 7 < len(forgetful.tasks) < 14


def test_an_executor_that_breaks_or_is_closed_is_named():
    class Broken(Executor):
        def submit(self, *_):
            raise BrokenExecutor("it died")

    with pytest.raises(
        sr.errors.ClusterError,
        match=r"lost tasks \(BrokenExecutor: it died\).*0 of 7 tasks are finished; nothing is kept; with",
    ):
        simulate(executor=Broken())
    with ThreadPoolExecutor(1) as pool:
        pass
    with pytest.raises(sr.errors.ClusterError, match=r"takes no tasks .*hand over one that is open"):
        simulate(executor=pool)


def test_errors_of_tasks_are_raised_as_they_are(monkeypatch):
    def broken(*_):
        raise FileNotFoundError("nowhere")

    monkeypatch.setattr(driver, "GAUSSIAN", driver.GAUSSIAN._replace(run_trials=broken))
    with ThreadPoolExecutor(2) as pool, pytest.raises(FileNotFoundError, match="nowhere"):
        simulate(executor=pool)


def test_processes_share_the_cores_and_foreign_executors_take_one_thread(monkeypatch):
    threads = []

    def performed(job, tasks, schema, run):
        threads.append(job.threads)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "_performed", performed)
    foreign = [{"executor": Watching()}, {"executor": Watching(), "threads": 3}, {"scheduler": "tcp://there:1"}]
    for options in ({}, {"executor": 1}, {"executor": 10**4, "memory": 10**14}, *foreign):
        with pytest.raises(KeyboardInterrupt):
            simulate(**options)
    assert threads == [None, cpu_count(), 1, 1, 3, 1]


def test_a_task_keeps_to_its_threads_in_any_executor(monkeypatch):
    seen = []

    def watched(experiment, trials, plan):
        seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
        return run_trials(experiment, trials, plan)

    run_trials = driver.GAUSSIAN.run_trials
    monkeypatch.setattr(driver, "GAUSSIAN", driver.GAUSSIAN._replace(run_trials=watched))
    with threadpool_limits(2):
        simulate(2, executor=Watching())
        simulate(2)
    assert seen == [{1}, {1}, {2}, {2}]


def threads_of_blas():
    return {each["filepath"]: each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture
def two_threads_of_blas():
    """Set by a thread that has ended: one that lives would keep the runs from setting anything."""
    before = threads_of_blas()
    for limits in (2, before):
        setter = threading.Thread(target=threadpool_limits, args=(limits,))
        setter.start()
        setter.join()
        if limits == 2:
            yield
    assert threads_of_blas() == before


def test_concurrent_runs_leave_blas_as_it_was(two_threads_of_blas):
    before, seen = threads_of_blas(), set()

    def run(seed):
        simulate(4, threads=1)
        seen.update(threads_of_blas().values())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(24)))
    assert 1 in seen
    assert threads_of_blas() == before


@pytest.mark.slow
def test_concurrent_forecasts_leave_blas_as_it_was(two_threads_of_blas):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y, before = X[:, 0] + rng.standard_normal(60), threads_of_blas()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda seed: sr.forecast(X, y, [80], seed=seed), range(24)))
    assert threads_of_blas() == before


def test_tasks_on_a_card_are_large(monkeypatch):
    tasks = []

    def performed(job, numbers, schema, run):
        tasks.extend(numbers)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "_performed", performed)
    monkeypatch.setattr(run_module, "device_problem", lambda device, **_: None)
    monkeypatch.setattr(run_module, "free_memory", lambda device: 2**40)
    for n_trials, block in ((1000, None), (100, None), (1000, 3)):
        with pytest.raises(KeyboardInterrupt):
            run_module.conduct(
                driver.GAUSSIAN, experiment(n_trials, device="cuda:1"), sr.Run(block=block), progress=False
            )
    assert [len(task) for task in tasks if task.start == 0] == [128, 100, 3]


@pytest.mark.slow
def test_processes_take_three_tasks_each_ahead_lose_none_and_leave_the_start_method():
    taken, found, ahead = [], {}, []
    method = multiprocessing.get_start_method(allow_none=True)

    def tasks():
        for number in range(40):
            taken.append(number)
            yield range(number)

    for task, value in perform(len, tasks(), 2, None):
        ahead.append(len(taken) - len(found))
        found[task] = value
    assert found == {range(n): n for n in range(40)}
    assert ahead[0] == 6
    assert max(ahead) <= 6
    assert list(perform(len, [], 1, None)) == []
    assert multiprocessing.get_start_method(allow_none=True) == method
    with pytest.raises(ZeroDivisionError):
        list(perform(one_over_length, [range(0)], 1, None))


def one_over_length(task):
    return 1 / len(task)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "n_workers": 1, "dashboard_address": ":0", "protocol": "tcp"}
    with distributed.Client(threads_per_worker=4, **options) as client:
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_by_client_executor_or_address_gives_the_run(client):
    whole = simulate()
    assert simulate(executor=client).identical(whole)
    assert simulate(executor=client.get_executor()).identical(whole)
    assert simulate(scheduler=client.scheduler.address).identical(whole)
    assert client.status == "running"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_takes_three_tasks_per_thread_ahead_and_is_not_blamed_for_mistakes_beside_it(client):
    taken, ahead, found = [], [], {}

    def tasks(n):
        for number in range(n):
            taken.append(number)
            yield range(number)
        if n < 60:
            raise ZeroDivisionError("mine")

    for task, value in perform(len, tasks(60), client, None):
        ahead.append(len(taken) - len(found))
        found[task] = value
    assert found == {range(n): n for n in range(60)}
    assert ahead[0] == 12
    assert max(ahead) <= 12
    with pytest.raises(ZeroDivisionError, match="mine"):
        list(perform(len, tasks(1), client, None))
    with pytest.raises(ZeroDivisionError):
        list(perform(one_over_length, [range(0)], client, None))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_while_a_result_is_fetched_from_it_changes_nothing(client, monkeypatch):
    fetch = client._gather
    lost = []

    async def fetch_and_lose(futures, *options, **others):
        found = await fetch(futures, *options, **others)
        if len(lost) < 3:
            futures[0]._state.lose()  # as a client does when the scheduler says that the worker is gone
            lost.append(futures[0].status)
        return found

    monkeypatch.setattr(client, "_gather", fetch_and_lose)
    assert simulate(executor=client).identical(simulate())
    assert lost == ["lost"] * 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_dies_while_a_result_is_fetched_is_named(client, monkeypatch):
    from distributed.comm import CommClosedError

    async def fetch(*_, **__):  # what it raises for a moment, before the client knows
        raise CommClosedError("in <TCP (closed) ConnectionPool.gather>: Stream is closed")

    monkeypatch.setattr(client, "_gather", fetch)
    with pytest.raises(sr.errors.ClusterError, match=r"the Dask scheduler at tcp://.* is gone; start it again"):
        simulate(executor=client)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_run_that_ends_early_leaves_no_tasks_on_a_cluster(client):
    def tasks():
        yield from map(range, range(1, 9))
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError) as held:  # whose traceback holds the run
        list(perform(len, tasks(), client, None))
    wait_for(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)), 20)
    assert "mine" in str(held.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:ResourceWarning")
def test_a_cluster_without_workers_says_so_within_five_seconds_and_once():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0", "protocol": "tcp"}

    def told():
        return [str(each.message) for each in said if each.category is sr.errors.WaitingWarning]

    def give_a_worker():
        waited.append(time.monotonic() - begun)
        time.sleep(3)  # for more looks
        cluster.scale(1)

    waited = []
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        begun = time.monotonic()
        with pytest.warns(sr.errors.WaitingWarning) as said, when(told, give_a_worker):
            found = simulate(4, executor=client, block=1)
        address = client.scheduler.address
    assert len(told()) == 1
    assert waited[0] < 5
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
    with ended_by_interruption("never said"):
        assert len(children()) == 1
    assert not children()
    assert signal.set_wakeup_fd(before) == before


@posix
def test_no_process_is_ended_that_holds_more_or_cannot_be_told(monkeypatch):
    def watched():
        with ended_by_interruption("never said"):
            return len(children())

    with monkeypatch.context() as patched:
        patched.setattr(sys, "ps1", ">>> ", raising=False)
        assert watched() == 0
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "IPython", sys)
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


@pytest.mark.parametrize(("needed", "executor", "is_watched"), [(2**27, None, True), (2**27 - 1, None, False)])
def test_only_large_serial_work_is_watched(monkeypatch, needed, executor, is_watched):
    watched = []

    def watching(message):
        watched.append(message)
        return nullcontext()

    monkeypatch.setattr(run_module, "ended_by_interruption", watching)
    monkeypatch.setattr(driver, "GAUSSIAN", driver.GAUSSIAN._replace(bytes_needed=lambda _: needed))
    simulate(2, executor=executor)
    assert bool(watched) == is_watched


def test_an_interruption_says_how_many_tasks_are_kept(tmp_path, monkeypatch):
    calls, run_trials = [], driver.GAUSSIAN.run_trials

    def interrupted(experiment, trials, plan):
        calls.append(trials)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "GAUSSIAN", driver.GAUSSIAN._replace(run_trials=interrupted))
    with pytest.raises(
        sr.errors.InterruptedRun, match=r"1 of 3 tasks are finished; finished tasks are kept in .*a; the same call"
    ):
        simulate(7, tmp_path / "a", block=3)
    watching = Watching()
    assert simulate(7, tmp_path / "a", executor=watching).identical(simulate(7))
    assert len(watching.tasks) == 2
    calls.clear()
    with pytest.raises(
        sr.errors.InterruptedRun, match=r"interrupted: 1 of 7 tasks are finished; nothing is kept; with Run\(store=\)"
    ):
        simulate()

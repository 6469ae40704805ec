"""Memory is planned before anything is drawn."""

from dataclasses import replace

import numpy as np
import pytest

import subridge as sr
from subridge.simulation import job as job_module
from subridge.simulation.classification.experiment import make_classification
from subridge.simulation.classification.simulate import ENGINE as CLASSIFICATION
from subridge.simulation.executors.serial import Serial
from subridge.simulation.gaussian.experiment import GaussianExperiment
from subridge.simulation.gaussian.memory import bytes_per_trial
from subridge.simulation.gaussian.simulate import ENGINE
from subridge.simulation.job import Job, bytes_of_arrays


def experiment(device="cpu", M=200, n_trials=20, sizes=(100, 400)):
    problem, ensemble = sr.Problem(sr.covariance.isotropic(M), np.ones(M)), sr.Ensemble(sr.subsets.equal(2, M, seed=0))
    return GaussianExperiment(problem, ensemble, sizes, n_trials, M, np.array([0.1, 1.0]), device=device)


def test_a_problem_that_cannot_fit_says_so_before_it_starts():
    with pytest.raises(sr.errors.BudgetError, match=r"one trial needs about .* MiB .* raise Run\(memory=\)"):
        sr.simulate(
            sr.Problem(sr.covariance.isotropic(200), np.ones(200)),
            sr.Ensemble(sr.subsets.equal(2, 200, seed=0)),
            [400],
            10**7,  # would take for ever if it started
            run=sr.Run(memory=10_000),
            progress=False,
        )


def test_processes_share_the_budget():
    needed = bytes_per_trial(experiment()) + bytes_of_arrays(experiment())  # each has its own copy of the description
    assert Job(ENGINE, experiment(), 1, 2 * needed, n_processes=2).plan() == 1
    with pytest.raises(sr.errors.BudgetError, match="2 processes"):
        Job(ENGINE, experiment(), 1, 2 * needed - 2, n_processes=2).plan()


class Elsewhere(Serial):
    """Pretends that this process is another machine."""

    is_here = False


def test_memory_is_counted_where_the_tasks_run(monkeypatch):
    counted = []

    def free_memory(device):
        counted.append(device)
        return 10**9

    monkeypatch.setattr(job_module, "free_memory", free_memory)
    problem, ensemble = sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.equal(2, 20, seed=0))
    arguments = {"n_samples": [10], "n_trials": 4, "progress": False}
    here = sr.simulate(problem, ensemble, **arguments, run=sr.Run(block=1))
    assert counted == ["cpu"]  # once for all tasks of this machine
    there = sr.simulate(problem, ensemble, **arguments, run=sr.Run(block=1, executor=Elsewhere()))
    assert counted == ["cpu"] * 5  # and again in every task that ran elsewhere
    assert there.identical(here)


@pytest.mark.torch
def test_the_batch_grows_with_the_budget_up_to_all_trials():
    pytest.importorskip("torch")
    needed = bytes_per_trial(experiment("torch"))
    assert Job(ENGINE, experiment("torch"), 1, 7 * needed).plan() == 7
    assert Job(ENGINE, experiment("torch"), 1, 70 * needed).plan() == 20


def peak_of(work):
    import tracemalloc

    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def gaussian(M=400, sizes=(200, 800), k=2, subsets=None, covariance=None, noises=0.0, **options):
    problem = sr.Problem(covariance or sr.covariance.isotropic(M), np.ones(M), options.pop("noise", None))
    ensemble = sr.Ensemble(subsets or sr.subsets.equal(k, M, seed=0), readout_noise=noises)
    return GaussianExperiment(problem, ensemble, sizes, 1, M, np.array([0.1, 1.0]), **options)


many = tuple(range(20, 420, 20))
SETTINGS = {
    "plain": lambda: gaussian(800),
    "low rank": lambda: gaussian(600, covariance=sr.covariance.low_rank(np.ones((600, 2)), np.ones(600))),
    "dense": lambda: gaussian(900, covariance=sr.covariance.dense(np.eye(900))),
    "feature noise": lambda: gaussian(600, noise=np.eye(600)),
    "single precision": lambda: gaussian(900, dtype="float32"),
    "pairs": lambda: gaussian(800, many, 8, pairs=True),
    "noise sweep": lambda: gaussian(900, many, 3, noises=np.linspace(0, 1, 9)[:, None]),
    "noise sweep by member": lambda: gaussian(900, many, 4, noises=np.random.default_rng(0).random((9, 4))),
    "projections": lambda: gaussian(600, subsets=sr.subsets.Projection((500,) * 6)),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_estimate_covers_what_a_trial_really_takes(setting):
    make = SETTINGS[setting]

    def work():
        Job(ENGINE, make(), 1)(0)

    assert 0.3 * bytes_per_trial(make()) < peak_of(work) <= bytes_per_trial(make())


def test_the_estimate_covers_what_votes_really_take():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1500, 700)), np.arange(1500) % 5
    several = [sr.Ensemble(sr.subsets.Equal(k), readout_noise=[[0.0], [0.5]], aggregation="majority") for k in (1, 3)]
    data = (X[:1000], y[:1000], X[1000:], y[1000:])

    def made():
        return make_classification(data, several, [200, 800], 1, ridges=[0.1])

    whole = made()
    peak = peak_of(lambda: Job(CLASSIFICATION, whole, 1)(0))
    assert 0.3 * CLASSIFICATION.bytes_needed(whole) < peak <= CLASSIFICATION.bytes_needed(whole)


def test_memory_that_runs_out_is_a_budget_error(monkeypatch):
    def greedy(*_):
        raise MemoryError

    job = Job(replace(ENGINE, run_trials=greedy), experiment(), 1, n_processes=2)
    with pytest.raises(sr.errors.BudgetError, match="memory ran out during a trial; use fewer processes"):
        job(0)


def test_half_of_what_is_free_is_used(monkeypatch):
    needed = bytes_per_trial(experiment())
    for free, fits in ((2 * needed, True), (2 * needed - 2, False)):
        monkeypatch.setattr(job_module, "free_memory", lambda _, free=free: free)
        job = Job(ENGINE, experiment(), 1)
        if fits:
            assert job.judged_here().memory == needed
        else:
            with pytest.raises(sr.errors.BudgetError):
                job.judged_here()

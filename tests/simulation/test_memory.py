"""Memory is planned before anything is drawn."""

import numpy as np
import pytest

import subridge as sr
from subridge.simulation import job as job_module
from subridge.simulation.executors.serial import Serial
from subridge.simulation.gaussian.experiment import GaussianExperiment
from subridge.simulation.gaussian.memory import bytes_per_trial
from subridge.simulation.gaussian.simulate import ENGINE
from subridge.simulation.job import Job


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
    needed = bytes_per_trial(experiment())
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


def test_the_estimate_covers_what_a_trial_really_takes():
    import tracemalloc

    large = experiment(M=400, n_trials=1, sizes=(200, 800))
    task = Job(ENGINE, large, 1)
    task(0)
    tracemalloc.start()
    try:
        task(0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * bytes_per_trial(large) < peak <= bytes_per_trial(large)

"""Memory is planned before anything is drawn."""

import numpy as np
import pytest

import subridge as sr
from subridge.simulation.experiment import make_experiment
from subridge.simulation.memory import bytes_per_trial, plan_batch


def experiment(device="cpu", M=200, n_trials=20, sizes=(100, 400)):
    return make_experiment(
        sr.Problem(sr.covariance.isotropic(M), np.ones(M)),
        sr.Ensemble(sr.subsets.equal(2, M, seed=0)),
        list(sizes),
        n_trials,
        ridges=[0.1, 1.0],
        n_features=None,
        redraw=("data",),
        nested=True,
        seed=0,
        device=device,
        dtype="float64",
        pairs=False,
    )


def test_a_problem_that_cannot_fit_says_so_before_it_starts():
    with pytest.raises(sr.errors.BudgetError, match=r"one trial needs about .* MiB .* raise Run\(memory=\)"):
        sr.simulate(
            sr.Problem(sr.covariance.isotropic(200), np.ones(200)),
            sr.Ensemble(sr.subsets.equal(2, 200, seed=0)),
            [400],
            10**9,  # would take for ever if it started
            run=sr.Run(memory=10_000),
            progress=False,
        )


def test_processes_share_the_budget():
    needed = bytes_per_trial(experiment())
    assert plan_batch(experiment(), 2 * needed, share=2) == 1
    with pytest.raises(sr.errors.BudgetError, match="2 processes"):
        plan_batch(experiment(), 2 * needed - 2, share=2)


@pytest.mark.torch
def test_the_batch_grows_with_the_budget_up_to_all_trials():
    pytest.importorskip("torch")
    needed = bytes_per_trial(experiment("torch"))
    assert plan_batch(experiment("torch"), 7 * needed) == 7
    assert plan_batch(experiment("torch"), 70 * needed) == 20


def test_the_estimate_covers_what_a_trial_really_takes():
    import tracemalloc

    from subridge.simulation.task import Job, run_task

    large = experiment(M=400, n_trials=1, sizes=(200, 800))
    run_task(Job(large, 1, 1), 0)
    tracemalloc.start()
    try:
        run_task(Job(large, 1, 1), 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * bytes_per_trial(large) < peak <= bytes_per_trial(large)

"""Proposition 1 and 2 against trained ensembles, judged with error bars and the finite-size allowance."""

import numpy as np
import pytest

import subridge as sr

pytestmark = pytest.mark.slow


def test_proposition_1_predicts_overlapping_members_on_correlated_data():
    M, ridges = 200, np.array([1e-3, 1.0])
    teacher = np.random.default_rng(0).standard_normal(M)
    problem = sr.Problem(
        sr.covariance.autoregressive(M, 0.8), teacher, sr.covariance.autoregressive(M, 0.3, 0.1), label_noise=0.1
    )
    plan = sr.subsets.overlapping([40, 80, 120], M, seed=0)
    P = np.array([20, 60, 100, 160, 200, 300])
    curves = sr.simulate(problem, sr.Ensemble(plan, readout_noise=0.2), P, 100, ridges=ridges, progress=False)
    theory = sr.risk(problem, sr.Ensemble(plan, ridges[:, None, None], 0.2), P / M)
    report = sr.compare(theory, curves)
    assert report.attrs["verdict"] == "agree", report.attrs
    # The same judgement finds a theory that is 20 % off.
    assert sr.compare(1.2 * theory.total, curves).attrs["verdict"] == "disagree"


def test_proposition_2_at_finite_size_predicts_a_ridgeless_ensemble_with_swept_noise():
    M, noises, P = 300, np.array([0.0, 0.5]), np.array([30, 60, 140, 300, 600])
    problem = sr.EquicorrelatedProblem(correlation=0.3, alignment=0.4, label_noise=0.2)
    ensemble = sr.Ensemble(sr.subsets.equal(3, M, seed=0), readout_noise=noises[:, None])
    curves = sr.simulate(problem, ensemble, P, 100, redraw=("data", "teacher"), progress=False)
    theory = sr.risk(problem, sr.Ensemble(ensemble.subsets, 0.0, noises[:, None, None]), P / M, n_features=M)
    report = sr.compare(theory, curves)
    assert report.attrs["verdict"] == "agree", report.attrs

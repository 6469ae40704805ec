"""A program outside the package that uses every public name; `test_public_types.py` has it checked strictly."""

from typing import assert_type

import numpy as np
import numpy.typing as npt
import xarray as xr

import subridge as sr

Floats = npt.NDArray[np.float64]


def main() -> None:
    problem = sr.Problem(sr.covariance.autoregressive(20, 0.5), np.ones(20), label_noise=0.1)
    assert_type(sr.EquicorrelatedProblem(correlation=0.4).realise(20, seed=0), sr.Problem)
    plan = sr.subsets.equal(2, 20, seed=0)
    assert_type(plan, sr.SubsetPlan)
    strategy: sr.Strategy = sr.subsets.Dirichlet(2, 0.75)
    assert_type(strategy.draw(20, 0), sr.SubsetPlan)
    aggregation: sr.Aggregation = sr.aggregation.read_aggregation("mean")
    ensemble = sr.Ensemble(plan, ridge=0.1, readout_noise=0.1, aggregation=aggregation)

    found = sr.risk(problem, ensemble, 0.5)
    assert_type(found, sr.Risk)
    assert_type(found.total, Floats)
    assert_type(sr.precise_risk(problem, ensemble, 0.5, digits=30), float)
    assert_type(sr.order_parameters(problem, ensemble, 0.5), sr.OrderParameters)
    assert_type(sr.optimal_ridge(problem, ensemble, 0.5, scope="ensemble"), Floats)
    assert_type(sr.reduced_risk(2, 0.7, 0.3, 0.0, 0.1, 0.0, 0.0), Floats)
    assert_type(sr.reduced_optimal_ridge(2, 0.3, 0.1, 0.0, 0.0), Floats)
    assert_type(sr.large_k_coefficient(0.5, 0.3, 0.1, 0.0, 0.0), Floats)
    assert_type(sr.optimal_n_members(0.5, 0.3), Floats)
    assert_type(sr.phase_boundary(0.3, 0.5), Floats)
    assert_type(sr.phase_diagram(np.linspace(0, 3, 4), readout_nsr=np.array([0.0, 1.0])), xr.Dataset)
    assert_type(sr.member_weights(found.pairs), Floats)
    limit, halves = sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble([0.5, 0.5], ridge=0.1)
    assert_type(sr.error_sources(limit, halves, [0.5, 1.0]), xr.Dataset)
    assert_type(sr.risk_gradient(limit, halves, 0.5), sr.RiskGradient)
    assert_type(sr.best_split(limit, 2, (0.2, 1.0)), sr.Split)
    assert_type(sr.Problem.from_moments(np.eye(2), np.ones(2), 3.0), sr.Problem | tuple[sr.Problem, ...])

    run = sr.Run(device="cpu")
    curves = sr.simulate(problem, ensemble, [10, 20], 2, run=run, progress=False)
    assert_type(curves, xr.Dataset)
    assert_type(sr.compare(sr.risk(problem, ensemble, np.array([0.5, 1.0])), curves), xr.Dataset)
    X, y = np.random.default_rng(0).standard_normal((20, 20)), np.arange(20.0)
    members = sr.fit_members(X, y, ensemble)
    assert_type(members, list[Floats])
    assert_type(sr.risk_of_weights(problem, ensemble, members), sr.Risk)
    votes = sr.Ensemble(sr.subsets.Equal(2), aggregation="majority")
    labels = np.arange(20) % 2
    assert_type(
        sr.simulate_classification(X, labels, X, labels, votes, n_samples=[10], n_trials=2, progress=False), xr.Dataset
    )

    model = sr.RidgeEnsembleRegressor(2, random_state=0).fit(X, y)
    assert_type(model, sr.RidgeEnsembleRegressor)
    assert_type(model.predict(X), Floats)
    classifier = sr.RidgeEnsembleClassifier(2, random_state=0).fit(X, labels)
    assert_type(classifier, sr.RidgeEnsembleClassifier)
    assert_type(classifier.predict_proba(X), Floats)

    banded = sr.BandedRidge({"a": slice(0, 10), "b": slice(10, 20)}).fit(X, y)
    assert_type(banded, sr.BandedRidge)
    assert_type(sr.gather_moments([(X, y)]), sr.MomentBatches)
    assert_type(sr.DeadFeatures(0.1), sr.DeadFeatures)
    assert_type(sr.MeanShift(np.zeros(20)), sr.MeanShift)

    assert_type(sr.forecast(X, y, [40], {"two": ensemble}), xr.Dataset)
    assert_type(sr.risk_matrix(X, y, ensemble), Floats)
    assert callable(sr.samples_needed)
    advice = sr.advise(X, y, n_members=[2])
    assert_type(advice, sr.Advice)
    assert_type(advice.table, xr.Dataset)
    assert_type(sr.__version__, str)

    for room in (sr.datasets, sr.derivations, sr.errors, sr.figures, sr.theory):
        assert_type(room.__name__, str)
    assert_type(sr.errors.ParameterError("remedy"), sr.errors.ParameterError)

"""Mistakes that random calls found, each with the error that names it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import subridge as sr
from reference.calls import CLASSES, FITTED, PROBLEM, SPACES, X, Y
from subridge.model.errors import CovarianceError, DataError, ParameterError, StoreError

HIDDEN = np.ma.masked_array(X, np.eye(*X.shape, dtype=bool))
MISTAKES = {
    "text for a truth value": (lambda: sr.aggregation.Free(per_target="no"), ParameterError),
    "text for a switch of weights": (lambda: sr.member_weights(np.eye(2), simplex="no"), ParameterError),
    "an infinite pair of finite members": (lambda: sr.member_weights([[1, np.inf], [np.inf, 1]]), ParameterError),
    "an object for options": (lambda: sr.subsets.read_strategy("equal", 3), ParameterError),
    "text for a number of draws": (lambda: sr.subsets.Dirichlet(2, 0.5).fractions(size="3"), ParameterError),
    "a density without spread": (lambda: sr.subsets.fraction_density(0.1, 10, 0.0), ParameterError),
    "moments of different rows": (lambda: sr.Problem.from_moments(np.eye(2), [9.0, 0.0], 1.0), DataError),
    "a covariance beyond floats": (lambda: sr.Problem.from_moments(1e300 * np.eye(2), [1, 0], 1.0), ParameterError),
    "rows in place of blocks": (lambda: sr.Problem.from_data([1.0, 2.0]), DataError),
    "more features than memory": (lambda: PROBLEM.realise(10**12), ParameterError),
    "a frame as a problem": (lambda: sr.MeanShift(np.ones(3), problem=pd.DataFrame()), ParameterError),
    "groups that are lists": (lambda: sr.DeadFeatures(0.1, groups=[[1], [2, 3]]), ParameterError),
    "a ratio whose square overflows": (lambda: sr.risk_gradient(PROBLEM, sr.Ensemble([0.5]), 1e300), ParameterError),
    "a best ridge at a huge ratio": (
        lambda: sr.optimal_ridge(PROBLEM, sr.Ensemble([0.5]), 1e50, scope="ensemble"),
        ParameterError,
    ),
    "noises of different shapes": (
        lambda: sr.large_k_coefficient(0.5, 0.0, np.ones(2), np.ones(3), 0.0),
        ParameterError,
    ),
    "shapes of densities that do not broadcast": (
        lambda: sr.subsets.fraction_density(np.full(2, 0.1), np.full(3, 10.0), 1.0),
        ParameterError,
    ),
    "no name of a figure": (lambda: sr.figures.reproduce(["fig1a"]), ParameterError),
    "data that a figure does not use": (lambda: sr.figures.reproduce("fig3b", data="fashion"), ParameterError),
    "text for quick": (lambda: sr.figures.reproduce("fig3b", quick="no"), ParameterError),
    "a picture of nothing": (lambda: sr.figures.plot_demo(3), ParameterError),
    "a picture of no sources": (lambda: sr.figures.plot_sources([]), ParameterError),
    "a number as a folder": (lambda: sr.datasets.extract_folder(3, "out"), ParameterError),
    "no name of a store": (lambda: sr.datasets.extract_folder("images", ""), StoreError),
    "a sparse y": (lambda: sr.RidgeEnsembleRegressor().fit(X, sp.csr_array(Y[:, None])), DataError),
    "records for y": (lambda: sr.RidgeEnsembleRegressor().fit(X, np.zeros(30, [("a", float)])), DataError),
    "minus infinity members of given subsets": (
        lambda: sr.RidgeEnsembleRegressor(-np.inf, subsets=SPACES).fit(X, Y),
        ParameterError,
    ),
    "huge new rows": (lambda: FITTED.predict(X * 1e300), DataError),
    "a level whose bounds may cross": (lambda: FITTED.predict_interval(X, level=0.1), ParameterError),
    "hidden classes": (
        lambda: sr.RidgeEnsembleClassifier().partial_fit(X, CLASSES, np.ma.masked_array([0, 1], [0, 1])),
        DataError,
    ),
    "no classes": (lambda: sr.RidgeEnsembleClassifier().partial_fit(X, CLASSES, []), DataError),
    "huge labels of spaces": (lambda: sr.BandedRidge(SPACES, progress=False).fit(X, Y * 1e200), DataError),
    "text for memory": (lambda: sr.BandedRidge(SPACES, memory="2", progress=False).fit(X, Y), ParameterError),
    "hidden cells of a long table": (lambda: sr.gather_moments(HIDDEN, Y), DataError),
    "a frame as a long table": (lambda: sr.gather_moments(pd.DataFrame(X), Y), DataError),
    "None for a missing value": (lambda: sr.datasets.read_table((X, Y), missing_values=[1.0, None]), ParameterError),
    "a covariance of text": (lambda: sr.covariance.dense("abc"), (ParameterError, CovarianceError)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake):
    call, kind = MISTAKES[mistake]
    with pytest.raises(kind):
        call()


def test_spaces_without_variance_get_equal_shares():
    model = sr.BandedRidge(SPACES, progress=False, random_state=0).fit(0 * X, Y)
    assert np.allclose(model.predict(X), Y.mean())


def test_constant_labels_have_nothing_to_explain():
    model = sr.BandedRidge(SPACES, progress=False, random_state=0).fit(X, Y)
    assert (model.r2_by_space(X, np.ones(len(X))) == 0).all()


def test_agreement_at_a_threshold_allows_anything():
    curves = sr.simulate(PROBLEM, sr.Ensemble(sr.subsets.equal(2, 6, 0)), [3, 8], 3, n_features=6, progress=False)
    found = sr.compare(np.zeros(2), curves)
    assert not found.allowance.isnull().any()


def test_the_least_sample_ratio_fits_nothing():
    found = sr.order_parameters(sr.EquicorrelatedProblem(correlation=0.3), sr.Ensemble([0.3, 0.5], ridge=0.1), 5e-324)
    assert (found.S == 0).all()


def test_the_least_sample_ratio_has_a_phase():
    found = sr.phase_diagram([5e-324, 0.5], readout_nsr=[0.1])
    assert not found.optimal_n_members.isnull().any()

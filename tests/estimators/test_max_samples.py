"""Members that see some of the rows: left-out errors are those of refits with the same rows less the left-out one."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import subridge as sr
from subridge.ridge.member import member_paths
from subridge.ridge.row_subsets import draw_rows
from subridge.ridge.rows import training_rows

RIDGES = (0.0, 1e-3, 0.1, 1.0, 30.0)


def refit(F, y, w, penalty, fit_intercept):
    """Weighted ridge regression with an unpenalised intercept, by least squares on stacked rows."""
    centre, mean = (np.average(each, axis=0, weights=w) if fit_intercept else 0.0 for each in (F, y))
    roots = np.sqrt(w)[:, None]
    stacked = np.vstack([roots * (F - centre), np.sqrt(penalty) * np.eye(F.shape[1])])
    labels = np.vstack([roots * (y - mean), np.zeros((F.shape[1], y.shape[1]))])
    coef = np.linalg.lstsq(stacked, labels, rcond=1e-13)[0]
    return coef, mean - centre @ coef if fit_intercept else np.zeros(y.shape[1])


def drawn_case(seed):
    """Data, weights, subsets, ridge and rows of one random case."""
    rng = np.random.default_rng(seed)
    n, M, k = int(rng.integers(8, 40)), int(rng.integers(2, 30)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, M)) * 10 ** rng.uniform(-1, 1, M) + rng.standard_normal(M)
    y = X @ rng.standard_normal((M, 2)) / M + rng.standard_normal((n, 2))
    weights = rng.uniform(0.2, 2.0, n) if rng.integers(2) else None
    plan = sr.subsets.overlapping(rng.integers(1, M + 1, k), M, seed)
    return X, y, weights, plan, float(rng.choice(RIDGES)), float(rng.choice([0.35, 0.6, 0.9])), bool(rng.integers(2))


def largest_difference(seed):
    """Of a fit's left-out errors from those of refits, relative to the largest error."""
    X, y, weights, plan, ridge, share, fit_intercept = drawn_case(seed)
    model = sr.RidgeEnsembleRegressor(
        subsets=plan, ridge=ridge, max_samples=share, fit_intercept=fit_intercept, aggregation="mean", random_state=seed
    ).fit(X, y, weights)
    w = np.ones(len(X)) if weights is None else weights
    left_out = np.zeros(y.shape)
    for A, seen in zip(plan.measurements, model.estimators_samples_, strict=True):
        for i in range(len(X)):
            rows = seen[seen != i]
            coef, intercept = refit(X[np.ix_(rows, A)], y[rows], w[rows], ridge * len(A), fit_intercept)
            left_out[i] += (X[i, A] @ coef + intercept) / plan.n_members
    errors = y - left_out
    assert model.loo_error_ == pytest.approx(np.sum(w[:, None] * errors**2) / w.sum(), rel=1e-7)
    return np.abs(model.loo_predictions_ - left_out).max() / np.abs(errors).max()


@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")  # of random tables
def test_left_out_errors_are_those_of_refits():
    assert max(largest_difference(seed) for seed in range(10)) < 1e-8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
def test_left_out_errors_are_those_of_refits_in_500_cases():
    assert max(largest_difference(seed) for seed in range(1000, 1500)) < 1e-8


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_with_two_rows_left_out_are_those_of_refits(fit_intercept):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((14, 6)) + 1.0, rng.standard_normal((14, 2))
    rows = training_rows(X, y.T, None, fit_intercept)
    plan, sets, w = sr.subsets.overlapping([3, 5], 6, 0), draw_rows(14, 9, 2, 0), np.ones(14)
    paths = member_paths(rows, plan, np.array([0.3]), None, sets)
    for path, A, seen in zip(paths, plan.measurements, sets, strict=True):
        found = path.pair_errors(np.array([0]), np.arange(14))[0]
        for i, j in np.ndindex(14, 14):
            kept = np.setdiff1d(seen, [i, j])
            coef, intercept = refit(X[np.ix_(kept, A)], y[kept], w[kept], 0.3 * len(A), fit_intercept)
            np.testing.assert_allclose(found[i, :, j], y[j] - X[j, A] @ coef - intercept, atol=1e-9)


def test_intervals_come_from_refits():
    rng = np.random.default_rng(5)
    X, y, new = rng.standard_normal((30, 12)), rng.standard_normal(30), rng.standard_normal((4, 12))
    for sizes in ([5, 8], [12, 11]):  # fewer and more features than rows of a member
        plan = sr.subsets.overlapping(sizes, 12, 0)
        given = {"subsets": plan, "ridge": 0.2, "max_samples": 10, "aggregation": "scaled", "random_state": 0}
        model = sr.RidgeEnsembleRegressor(**given).fit(X, y)
        ((outputs, _),) = model._left_out.outputs(new)
        for i in range(30):
            total = 0.0
            for A, seen in zip(plan.measurements, model.estimators_samples_, strict=True):
                rows = seen[seen != i]
                coef, intercept = refit(X[np.ix_(rows, A)], y[rows, None], np.ones(len(rows)), 0.2 * len(A), True)
                total = total + model.weights_[0] * (new[:, A] @ coef[:, 0] + intercept[0])
            baseline = (1 - model.weights_.sum()) * np.delete(y, i).mean()
            np.testing.assert_allclose(outputs[0, :, i], total + baseline, atol=1e-9)
        lower, upper = model.predict_interval(new, level=0.8)
        assert (lower < model.predict(new)).all()
        assert (model.predict(new) < upper).all()


def test_the_error_of_what_was_chosen_is_close_to_that_on_new_rows():
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((4000, 40)), rng.standard_normal(40)
    y = X @ w / 6 + rng.standard_normal(4000)
    model = sr.RidgeEnsembleRegressor(6, subsets="overlapping", subset_sizes=0.5, max_samples=0.5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.errors.WorseThanOneRidgeWarning)
        model.fit(X[:300], y[:300])
    fresh = np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert model.loo_error_ == pytest.approx(fresh, rel=0.2)  # 300 rows tell an error to about 8 %
    assert model.ensemble_.row_fractions[0, 0] == 0.5


def test_all_rows_are_the_same_as_no_restriction():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 10)), rng.standard_normal(40)
    fits = [sr.RidgeEnsembleRegressor(random_state=0, max_samples=each).fit(X, y) for each in (1.0, 40)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].ensemble_.row_fractions is None
    assert not hasattr(fits[0], "estimators_samples_")


def test_one_ridge_that_is_compared_sees_all_rows():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 20))
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    whole, partial = (sr.RidgeEnsembleRegressor(random_state=0, max_samples=each).fit(X, y) for each in (1.0, 0.5))
    assert whole.choice_.trials[0].error == partial.choice_.trials[0].error
    assert whole.choice_.trials[-1].error != partial.choice_.trials[-1].error


def test_sparse_rows_dropped_rows_and_readout_noise():
    rng = np.random.default_rng(7)
    X, y = scipy.sparse.random_array((50, 8), density=0.4, rng=rng), rng.standard_normal(50)
    weights = (np.arange(50) % 5 > 0).astype(float)
    given = {"subsets": sr.subsets.equal(2, 8, 0), "ridge": 0.5, "max_samples": 0.5, "random_state": 0}
    given |= {"readout_noise": 0.1, "aggregation": "mean"}
    sparse, dense = (sr.RidgeEnsembleRegressor(**given).fit(each, y, weights) for each in (X.tocsr(), X.toarray()))
    np.testing.assert_allclose(sparse.loo_predictions_, dense.loo_predictions_, atol=1e-10)
    np.testing.assert_allclose(sparse.predict(X.tocsr()), dense.predict(X.toarray()), atol=1e-10)
    assert all((seen % 5 > 0).all() for seen in dense.estimators_samples_)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
def test_classes_are_decided_from_left_out_scores():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 10))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(80) > 0, "a", "b")
    for voting in ("majority", "sum"):
        model = sr.RidgeEnsembleClassifier(4, max_samples=0.4, voting=voting, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.6
        assert model.predict_set(X[:5], level=0.8).shape == (5, 2)


@pytest.mark.torch
def test_tensors_give_the_same_members():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((40, 9)), rng.standard_normal(40)
    given = {"subsets": sr.subsets.equal(3, 9, 0), "max_samples": 0.6, "aggregation": "free", "random_state": 0}
    plain = sr.RidgeEnsembleRegressor(**given).fit(X, y)
    tensor = sr.RidgeEnsembleRegressor(**given).fit(torch.asarray(X), torch.asarray(y))
    np.testing.assert_allclose(np.asarray(tensor.coef_), plain.coef_, atol=1e-9)
    np.testing.assert_allclose(np.asarray(tensor.loo_predictions_), plain.loo_predictions_, atol=1e-9)
    lower = tensor.predict_interval(torch.asarray(X[:3]), level=0.8)[0]
    np.testing.assert_allclose(np.asarray(lower), plain.predict_interval(X[:3], level=0.8)[0], atol=1e-9)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"max_samples": 0.0}, "leaves a member 0 of 30 rows"),
        ({"max_samples": 1}, "leaves a member 1 of 30 rows"),
        ({"max_samples": 1.2}, r"max_samples must lie in \[0, 1\]"),
        ({"max_samples": 31}, "exceeds the 30 rows"),
        ({"max_samples": "half"}, "max_samples must be a number"),
        ({"max_samples": True}, "max_samples must be a positive integer"),
        ({"max_samples": 0.5, "gap": 2}, "cannot be used with groups or a gap"),
    ],
)
def test_a_wrong_max_samples_is_named(given, fault):
    X, y = np.random.default_rng(0).standard_normal((2, 30, 30))
    with pytest.raises(sr.errors.SubridgeError, match=fault):
        sr.RidgeEnsembleRegressor(2, subsets="equal", random_state=0, **given).fit(X, y[0])


def test_streams_and_forecasts_refuse_members_that_see_some_rows():
    X, y = np.random.default_rng(0).standard_normal((2, 30, 30))
    with pytest.raises(sr.errors.ParameterError, match=r"max_samples=0\.5 needs the rows"):
        sr.RidgeEnsembleRegressor(1, aggregation="mean", max_samples=0.5).partial_fit(X, y[0])
    ensemble = sr.Ensemble(sr.subsets.equal(2, 30, 0), 1.0, row_fractions=[0.5, 0.5])
    for call in (
        lambda: sr.forecast(X, y[0], [60], {"a": ensemble}),
        lambda: sr.risk_matrix(X, y[0], ensemble),
        lambda: sr.fit_members(X, y[0], ensemble),
        lambda: sr.precise_risk(sr.EquicorrelatedProblem(), ensemble, 1.0),
    ):
        with pytest.raises(sr.errors.ParameterError, match="without row_fractions"):
            call()

"""Errors after choosing, held against refitting everything, choices included, without each row or group."""

import numpy as np
import pytest

import subridge as sr
from subridge.model.aggregation import read_aggregation
from subridge.model.subsets import equal
from subridge.ridge.choose import Losses
from subridge.ridge.judge import Offer, Units, judge, tuned
from subridge.ridge.member import member_paths, pair_deviations
from subridge.ridge.rows import left_out_groups, left_out_windows, training_rows

N, M, K = 14, 12, 4


@pytest.fixture(params=[(True, False), (True, True), (False, True)], ids=["plain", "weighted", "no intercept"])
def sample(request):
    intercept, weighted = request.param
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, M)) + 0.3
    Y = np.stack([X[:, 0] + X[:, 5] + rng.standard_normal(N), 2 + X[:, 1] - rng.standard_normal(N)])
    weights = rng.uniform(0.5, 2.0, N) if weighted else None
    return X, Y, weights, intercept


def errors_at(paths):
    return np.stack([path.errors(0) for path in paths])


def rows_without(sample, left_out):
    X, Y, weights, intercept = sample
    kept = np.setdiff1d(np.arange(N), left_out)
    return kept, training_rows(X[kept], Y[:, kept], None if weights is None else weights[kept], intercept)


@pytest.mark.parametrize("ridge", [0.0, 0.1, 30.0])
@pytest.mark.parametrize("n_members", [1, 4])  # members that interpolate when one or two samples are left out, or not
def test_errors_without_pairs_are_those_of_members_refitted_without_them(sample, ridge, n_members):
    plan = equal(n_members, M, seed=0)
    _, rows = rows_without(sample, [])
    paths = member_paths(rows, plan, np.array([ridge]))
    for i in (0, 5):
        kept, fewer = rows_without(sample, [i])
        refitted = errors_at(member_paths(fewer, plan, np.array([ridge])))
        found = np.stack([path.pair_errors(np.array([0]), np.array([i]))[0, 0] for path in paths])
        # Without a ridge a tiny one is taken, which the interpolation threshold of the single member magnifies.
        np.testing.assert_allclose(found[:, :, kept], refitted, rtol=1e-6 if ridge else 1e-2, atol=1e-9)
        np.testing.assert_allclose(found[:, :, i], errors_at(paths)[:, :, i], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
@pytest.mark.parametrize("per_target", [False, True])
def test_the_honest_error_is_leave_one_out_of_the_whole_ensemble(sample, name, per_target):
    plan, ridge = equal(K, M, seed=0), np.array([0.3])
    aggregation = type(read_aggregation(name))(per_target=per_target)
    X, Y, weights, intercept = sample
    _, rows = rows_without(sample, [])
    paths = member_paths(rows, plan, ridge)
    offer = Offer("four", "given", plan)
    found = judge([tuned(offer, "four", ridge, Losses(paths, rows, aggregation), "ensemble", aggregation)])[1]
    independent = np.array([path.independent[0] for path in paths])  # known from the features
    independent *= 1 if per_target else rows.effective_targets
    squares = np.empty(N)
    for i in range(N):
        kept, fewer = rows_without(sample, [i])
        members = member_paths(fewer, plan, ridge)
        moments = aggregation.moments(errors_at(members), fewer.deviations, fewer.weights, independent)
        w = aggregation.weights(moments)
        mean = np.average(Y[:, kept], axis=1, weights=fewer.weights) if intercept else np.zeros(2)
        outputs = np.stack(
            [
                m.coefficients(0) @ (X[i] - fewer.feature_means)[f]
                for m, f in zip(members, plan.measurements, strict=True)
            ]
        )
        predicted = mean + np.einsum("ck,kc->c", np.broadcast_to(w, (2, K)), outputs)
        squares[i] = ((Y[:, i] - predicted) ** 2).sum()
    assert found == pytest.approx(np.average(squares, weights=weights), rel=1e-6)


@pytest.mark.parametrize("kind", ["groups", "windows"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_features", [3, 40])
def test_errors_without_pairs_of_sets_are_those_of_a_member_refitted_without_them(kind, intercept, n_features):
    rng, n, ridge = np.random.default_rng(n_features), 20, 0.4
    X, y, w = rng.standard_normal((n, n_features)) + 1, rng.standard_normal(n), rng.uniform(0.5, 2.0, n)
    sets = left_out_groups(rng.integers(0, 5, n), n) if kind == "groups" else left_out_windows(1, np.arange(n))
    rows = training_rows(X, y[None], w, intercept, sets)
    (path,) = member_paths(rows, equal(1, n_features), np.array([ridge]))
    units = np.arange(sets.n_sets)
    errors, deviations = path.pair_errors(np.array([0]), units)[0, :, 0], pair_deviations(rows, units)[:, 0]
    for unit, own in enumerate(sets.rows_of_sets):
        for j, owner in enumerate(sets.owners):
            together = np.union1d(own, sets.rows_of_sets[owner])
            if len(together) < len(own) + len(sets.rows_of_sets[owner]):
                assert errors[unit, j] == 0
                continue
            kept = np.setdiff1d(np.arange(n), together)
            means = [np.average(part[kept], axis=0, weights=w[kept]) * intercept for part in (X, y)]
            F, g = ((part[kept] - mean) for part, mean in zip((X, y), means, strict=True))
            gram = (F.T * w[kept]) @ F + ridge * n_features * np.eye(n_features)
            coef = np.linalg.solve(gram, (F.T * w[kept]) @ g)
            np.testing.assert_allclose(deviations[unit, j], y[j] - means[1], atol=1e-10)
            np.testing.assert_allclose(errors[unit, j], y[j] - means[1] - (X[j] - means[0]) @ coef, atol=1e-9)


@pytest.mark.parametrize("n_features", [5, 17, 60])
def test_degrees_of_freedom_without_a_group_are_those_of_a_member_that_never_saw_it(n_features):
    rng, n, ridges = np.random.default_rng(n_features), 24, np.array([1e-3, 0.1, 10.0])
    labels = np.sort(rng.integers(0, 8, n))
    X, y, w = rng.standard_normal((n, n_features)) + labels[:, None], rng.standard_normal(n), rng.uniform(0.5, 2.0, n)

    def path(kept):
        sets = left_out_groups(labels[kept], int(kept.sum()))
        (found,) = member_paths(
            training_rows(X[kept], y[None, kept], w[kept], True, sets), equal(1, n_features), ridges
        )
        return found

    whole, units = path(np.ones(n, dtype=bool)), np.unique(labels)
    numbers = [int(whole.rows.owners[labels == unit][0]) for unit in units]
    found = whole.degrees_without(np.arange(len(units)))[:, numbers]
    np.testing.assert_allclose(found, np.transpose([path(labels != unit).degrees for unit in units]), rtol=1e-7)


@pytest.mark.parametrize("n_features", [4, 30])
def test_rows_that_are_left_out_together_and_are_alike_count_as_one(n_features):
    """Five copies of each row, left out together, and one row of weight five: the same squared errors vary as much."""
    rng, ridges = np.random.default_rng(1), np.array([1e-3, 0.1, 10.0])
    X, y, copies = rng.standard_normal((12, n_features)), rng.standard_normal((1, 12)), np.repeat(np.arange(12), 5)
    alone, together = (
        training_rows(X, y, np.full(12, 5.0)),
        training_rows(X[copies], y[:, copies], left_out=left_out_groups(copies, 60)),
    )
    (one,), (five,) = (member_paths(rows, equal(1, n_features), ridges) for rows in (alone, together))
    np.testing.assert_allclose(five.degrees, one.degrees, rtol=1e-8)
    np.testing.assert_allclose(five.independent, one.independent, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RidgePathWarning")
@pytest.mark.parametrize("grouped", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"n_estimators": 1, "aggregation": "mean"}, 0.9),
        ({"aggregation": "mean"}, 0.9),
        ({"aggregation": "median"}, 0.9),
        ({"aggregation": "mean", "ridge_scope": "member"}, 0.9),
        ({"aggregation": "scaled"}, 0.0),  # how many rows errors are worth follows from all rows
        ({"aggregation": "free"}, 0.0),
        ({}, 0.0),
    ],
)
def test_left_out_predictions_are_those_of_fits_that_choose_without_the_row(options, same, grouped):
    """Ridge, weights and aggregation are chosen again without each row, or group; nothing else is held fixed."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((24, 12))
    y = X[:, 0] + X[:, 5] + 2 * rng.standard_normal(24)
    groups = np.arange(24) // 3 if grouped else np.arange(24)
    subsets = "auto" if "n_estimators" in options else equal(4, 12, seed=0)
    make = sr.RidgeEnsembleRegressor(subsets=subsets, ridges=10.0 ** np.arange(-3, 4), random_state=0, **options)
    wanted = np.empty(24)
    for group in np.unique(groups):
        out = groups == group
        refitted = make.fit(X[~out], y[~out], groups=groups[~out] if grouped else None)
        wanted[out] = refitted.predict(X[out])
    model = make.fit(X, y, groups=groups if grouped else None)
    assert np.isclose(model.loo_predictions_, wanted, rtol=1e-7, atol=1e-9).mean() >= same
    np.testing.assert_allclose(model.loo_error_, np.mean((y - model.loo_predictions_) ** 2))
    assert model.loo_error_ == pytest.approx(np.mean((y - wanted) ** 2), rel=0.03 if same else 0.05)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subridge.model.errors.RidgePathWarning")
def test_the_error_after_choosing_is_that_of_new_rows():
    """Fifty rows of noise: the least left-out error of a path is too small, the error that is reported is not."""
    plain, reported, fresh = [], [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((50, 50)), rng.standard_normal(50)
        model = sr.RidgeEnsembleRegressor(1, aggregation="mean", ridges=10.0 ** np.arange(-3, 4)).fit(X, y)
        plain.append(model.loo_path_.min())
        reported.append(model.loo_error_)
        fresh.append(1 + (model.coef_**2).sum() + model.intercept_**2)
    assert np.mean(reported) / np.mean(fresh) == pytest.approx(1.0, abs=0.05)  # their standard error is .02
    assert np.mean(plain) / np.mean(fresh) < 0.95


@pytest.mark.parametrize("unit", [1e-100, 1e70])
def test_the_error_scales_with_the_square_of_the_unit_of_the_labels(unit):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    plain, scaled = (sr.RidgeEnsembleRegressor(random_state=0).fit(X, y * scale).loo_error_ for scale in (1.0, unit))
    assert scaled / unit**2 == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("kind", ["rows", "groups", "windows"])
def test_rows_that_are_left_out_with_a_unit_count_nothing_whatever_noise_their_labels_have(kind):
    rng, n = np.random.default_rng(0), 12
    sets = {"rows": None, "groups": left_out_groups(np.arange(n) // 3, n), "windows": left_out_windows(1, np.arange(n))}
    rows = training_rows(rng.standard_normal((n, 4)), rng.standard_normal((1, n)), None, True, sets[kind])
    (path,) = member_paths(rows, equal(1, 4), np.array([0.1, 1.0]), rng.standard_normal((1, 1, n)))
    units = Units(rows, np.arange(rows.n_units))
    units.see(path, np.array([1]))
    errors = units.errors(path, np.full(rows.n_units, 1), units.numbers)[:, 0]
    for unit, row in np.ndindex(errors.shape):
        own = {unit} if kind == "rows" else set(sets[kind].rows_of_sets[unit])
        others = {row} if kind == "rows" else set(sets[kind].rows_of_sets[rows.owners[row]])
        assert (errors[unit, row] == 0) == bool(own & others)

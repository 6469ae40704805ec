"""Errors of fitted weights, held against refitting everything without each sample."""

import numpy as np
import pytest

from subridge.model.aggregation import read_aggregation
from subridge.model.subsets import equal
from subridge.ridge.choose import Losses, choose_ridges
from subridge.ridge.member import member_paths
from subridge.ridge.rows import training_rows
from subridge.ridge.weights import judge

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
        found = np.stack([path.pair_errors(0, np.array([i]))[0] for path in paths])
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
    found = judge(Losses(paths, rows, aggregation), np.zeros(K, dtype=int), is_common=False).error
    independent = np.array([path.independent[0] for path in paths])  # known from the features
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


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
def test_a_choice_that_knows_its_path_is_judged_as_one_that_does_not(sample, name):
    plan, (_, rows) = equal(K, M, seed=0), rows_without(sample, [])
    aggregation = read_aggregation(name)
    paths = member_paths(rows, plan, np.array([0.03, 0.3, 3.0]))
    fresh, used = Losses(paths, rows, aggregation), Losses(paths, rows, aggregation)
    places = choose_ridges(used, "ensemble")
    known, unknown = (judge(each, places, is_common=True) for each in (used, fresh))
    assert known.error == pytest.approx(unknown.error, rel=1e-13)
    np.testing.assert_allclose(known.path_losses, unknown.path_losses, rtol=1e-13)
    np.testing.assert_allclose(known.moments.pairs, unknown.moments.pairs, rtol=1e-13)

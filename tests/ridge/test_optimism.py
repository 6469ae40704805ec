"""Errors of fitted weights, held against refitting everything without each sample."""

from dataclasses import replace

import numpy as np
import pytest
from subridge.model.aggregation import read_aggregation
from subridge.model.subsets import equal

from subridge.ridge.optimism import judge
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import training_rows
from subridge.ridge.selection import RidgeChoice, choose_ridges, errors_at, left_out_at

N, M, K = 14, 12, 4


@pytest.fixture(params=[(True, False), (True, True), (False, True)], ids=["plain", "weighted", "no intercept"])
def sample(request):
    intercept, weighted = request.param
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, M)) + 0.3
    Y = np.stack([X[:, 0] + X[:, 5] + rng.standard_normal(N), 2 + X[:, 1] - rng.standard_normal(N)])
    weights = rng.uniform(0.5, 2.0, N) if weighted else None
    return X, Y, weights, intercept


def rows_without(sample, left_out):
    X, Y, weights, intercept = sample
    kept = np.setdiff1d(np.arange(N), left_out)
    return kept, training_rows(X[kept], Y[:, kept], None if weights is None else weights[kept], intercept)


@pytest.mark.parametrize("ridge", [0.0, 0.1, 30.0])
@pytest.mark.parametrize("n_members", [1, 4])  # members that interpolate when one or two samples are left out, or not
def test_errors_without_pairs_are_those_of_members_refitted_without_them(sample, ridge, n_members):
    plan = equal(n_members, M, seed=0)
    _, rows = rows_without(sample, [])
    paths = member_paths(rows, plan, np.array([ridge]), pairs=True)
    for i in (0, 5):
        kept, fewer = rows_without(sample, [i])
        refitted = errors_at(member_paths(fewer, plan, np.array([ridge])), [0] * n_members)
        found = np.stack([path.pair_errors(0, np.array([i]))[0] for path in paths])
        # Without a ridge a tiny one is taken, which the interpolation threshold of the single member magnifies.
        np.testing.assert_allclose(found[:, :, kept], refitted, rtol=1e-6 if ridge else 1e-2, atol=1e-9)
        np.testing.assert_allclose(found[:, :, i], errors_at(paths, [0] * n_members)[:, :, i], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
@pytest.mark.parametrize("per_target", [False, True])
def test_the_honest_error_is_leave_one_out_of_the_whole_ensemble(sample, name, per_target):
    plan, ridge = equal(K, M, seed=0), np.array([0.3])
    aggregation = type(read_aggregation(name))(per_target=per_target)
    X, Y, weights, intercept = sample
    _, rows = rows_without(sample, [])
    paths = member_paths(rows, plan, ridge, pairs=True)
    found = judge(paths, rows, aggregation, RidgeChoice(np.zeros(K, dtype=int), None)).error
    independent = left_out_at(paths, [0] * K)[1]  # known from the features
    squares = np.empty(N)
    for i in range(N):
        kept, fewer = rows_without(sample, [i])
        members = member_paths(fewer, plan, ridge)
        moments = aggregation.moments(errors_at(members, [0] * K), fewer.deviations, fewer.weights, independent)
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


@pytest.mark.parametrize("index", [1, 2])
def test_pairs_need_no_kept_rows_of_a_decomposition(sample, index):
    # A path that begins at ridge 0 keeps the whole decomposition, one that does not only its small side.
    plan, (_, rows) = equal(K, M, seed=0), rows_without(sample, [])
    whole, slim = (member_paths(rows, plan, np.array([least, 0.1, 30.0]), pairs=True) for least in (0.0, 0.01))
    left_out = np.array([0, 5, 6])
    for one, other in zip(whole, slim, strict=True):
        assert type(one._decomposition) is not type(other._decomposition)
        np.testing.assert_allclose(
            other.pair_errors(index, left_out), one.pair_errors(index, left_out), rtol=1e-11, atol=1e-12
        )


@pytest.mark.parametrize("name", ["scaled", "simplex", "free"])
def test_a_choice_that_knows_its_path_is_judged_as_one_that_does_not(sample, name):
    plan, (_, rows) = equal(K, M, seed=0), rows_without(sample, [])
    aggregation = read_aggregation(name)
    paths = member_paths(rows, plan, np.array([0.03, 0.3, 3.0]), pairs=True)
    choice = choose_ridges(paths, rows, aggregation, "ensemble")
    known, unknown = (judge(paths, rows, aggregation, each) for each in (choice, replace(choice, shared=None)))
    assert known.error == pytest.approx(unknown.error, rel=1e-13)
    np.testing.assert_allclose(known.losses, unknown.losses, rtol=1e-13)
    np.testing.assert_allclose(known.moments.pairs, unknown.moments.pairs, rtol=1e-13)

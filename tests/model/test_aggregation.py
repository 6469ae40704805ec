"""Aggregations by name, their weights and their losses."""

import numpy as np
import pytest

import subridge as sr
from subridge.model.aggregation import (
    AGGREGATIONS,
    LinearAggregation,
    MemberMoments,
    WeightedMajority,
    read_aggregation,
)


@pytest.fixture
def left_out():
    """Left-out errors (k, C, n), targets and sample weights."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((3, 2, 40)), rng.standard_normal((2, 40)), rng.uniform(0.5, 2.0, 40)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_an_ensemble_takes_every_aggregation_by_name_or_as_an_object(name):
    by_name, as_object = (
        sr.Ensemble([0.5, 0.5], aggregation=name),
        sr.Ensemble([0.5, 0.5], aggregation=AGGREGATIONS[name]),
    )
    assert by_name.aggregation.name == as_object.aggregation.name == name
    assert by_name.fingerprint() == as_object.fingerprint()


def test_ensembles_with_other_aggregations_have_other_fingerprints():
    assert len({sr.Ensemble([0.5, 0.5], aggregation=name).fingerprint() for name in AGGREGATIONS}) == len(AGGREGATIONS)


def test_an_unknown_name_is_refused_and_the_known_are_listed():
    with pytest.raises(sr.errors.ParameterError, match="mean, scaled, simplex, free, median, majority, sum"):
        sr.Ensemble([1.0], aggregation="optimal")


@pytest.mark.parametrize("name", [name for name, each in AGGREGATIONS.items() if each.is_linear])
def test_the_loss_of_a_linear_aggregation_is_the_squared_error_of_its_weighted_errors(name, left_out):
    errors, targets, sample_weights = left_out
    aggregation = read_aggregation(name)
    assert isinstance(aggregation, LinearAggregation)
    weights = aggregation.weights(MemberMoments.of_errors(errors, targets, sample_weights))
    combined = targets - aggregation.combine(targets - errors, weights)
    expected = ((combined**2).sum(axis=0) * sample_weights).sum() / sample_weights.sum()
    assert aggregation.loss(errors, targets, sample_weights)[0] == pytest.approx(expected, rel=1e-12)


def test_simplex_weights_beat_every_other_point_of_the_simplex(left_out):
    errors, targets, sample_weights = left_out
    moments = MemberMoments.of_errors(errors, targets, sample_weights)
    best = moments.risk_of(read_aggregation("simplex").weights(moments))
    others = np.random.default_rng(1).dirichlet(np.ones(3), 2000)
    assert (moments.risk_of(others) >= best - 1e-12).all()


def test_the_median_combines_as_numpy_does(left_out):
    errors, _, _ = left_out
    np.testing.assert_allclose(read_aggregation("median").combine(errors), np.median(errors, axis=0))


def test_error_products_are_the_weighted_means_of_products(left_out):
    errors, _, sample_weights = left_out
    expected = np.einsum("rcn,scn,n->rs", errors, errors, sample_weights) / sample_weights.sum()
    np.testing.assert_allclose(MemberMoments.of_errors(errors, errors[0], sample_weights).pairs, expected)


def test_theory_takes_weights_on_the_simplex_and_refuses_a_median_by_name():
    problem = sr.EquicorrelatedProblem(label_noise=0.2)
    subsets = [0.1, 0.6]
    pairs = sr.risk(problem, sr.Ensemble(subsets, 0.1), 0.5).pairs
    weights = sr.member_weights(pairs)
    total = sr.risk(problem, sr.Ensemble(subsets, 0.1, aggregation="simplex"), 0.5).total
    assert float(total) == pytest.approx(weights @ pairs @ weights)
    with pytest.raises(sr.errors.ParameterError, match="median"):
        sr.risk(problem, sr.Ensemble(subsets, 0.1, aggregation="median"), 0.5)


@pytest.mark.parametrize(
    ("attribute", "names"),
    {
        "is_linear": {"mean", "scaled", "simplex", "free"},
        "fits_weights": {"scaled", "simplex", "free"},
        "sums_to_one": {"mean", "simplex"},
        "equal_weights": {"mean", "scaled"},
        "is_mean": {"mean"},
        "decides_classes": {"majority", "sum"},
        "counts_votes": {"majority"},
        "adds_scores": {"sum"},
        "per_target": set(),
    }.items(),
)
def test_behaviour_is_asked_of_the_aggregation(attribute, names):
    assert {name for name, each in AGGREGATIONS.items() if getattr(each, attribute)} == names


def test_weights_per_target_and_weighted_votes_say_so():
    assert sr.aggregation.Free(per_target=True).per_target
    assert WeightedMajority((1.0,)).counts_votes


@pytest.mark.parametrize("name", ["median", "majority", "sum"])
def test_what_is_no_weighted_sum_has_no_weights(name):
    with pytest.raises(sr.errors.ParameterError, match=f"aggregation='{name}' has neither weights"):
        AGGREGATIONS[name].weights(MemberMoments(np.eye(2)))


@pytest.mark.parametrize(
    "aggregation", [*(AGGREGATIONS[name] for name in ("majority", "sum")), WeightedMajority((1, 2, 1))]
)
def test_the_loss_of_classes_is_the_share_of_wrong_ones(aggregation):
    rng = np.random.default_rng(0)
    classes, weights = rng.integers(0, 4, 50), rng.random(50)
    targets = np.eye(4)[classes].T
    errors = rng.standard_normal((3, 4, 50))
    decided = aggregation.combine(targets - errors).argmax(axis=0)
    loss = aggregation.loss(errors, targets, weights)
    mean = (errors.mean(axis=0) ** 2).sum(axis=0)
    assert loss == pytest.approx((np.average(decided != classes, weights=weights), np.average(mean, weights=weights)))


@pytest.mark.parametrize("odd", ["votes", None, (), ((1.0, 2.0),), (1.0, -1.0), (1.0, np.nan), 2.0])
def test_vote_weights_must_be_numbers_of_members(odd):
    with pytest.raises((sr.errors.ParameterError, sr.errors.DataError), match="vote_weights"):
        WeightedMajority(odd)

"""One tie rule, in every library and at every size of the scores."""

import numpy as np
import pytest
from subridge.model.aggregation import Majority, Summed, first_largest, misclassified_share, most_votes, vote_counts


def scores(*members):
    """Scores of one sample, shape (k, n_classes, 1)."""
    return np.array(members, dtype=float)[:, :, None]


def decided(outputs):
    return int(most_votes(vote_counts(outputs), outputs.sum(axis=0))[0])


def test_most_votes_win_over_larger_scores():
    assert decided(scores([0.0, 0.1, 0.0], [0.0, 0.1, 0.0], [9.0, 0.0, 0.0])) == 1


def test_among_equally_many_votes_the_sum_of_scores_decides_and_only_among_the_tied():
    assert decided(scores([1.0, 0.2, 0.9], [0.1, 1.0, 0.9])) == 1


def test_a_tie_of_votes_and_sums_goes_to_the_lowest_class():
    assert decided(scores([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])) == 1


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, 1e17, -1e17])
def test_the_combined_votes_of_any_size_have_their_largest_entry_where_the_rule_says(offset):
    """A fraction of a vote saturates where sums are huge; the rule must not."""
    outputs = scores([2.0, 0.0], [0.0, 3.0]) + offset
    outputs[1, 1] += max(1.0, abs(offset) * 1e-3)
    assert first_largest(Majority().combine(outputs))[0] == decided(outputs) == 1


def test_random_votes_are_decided_as_by_a_sorted_list():
    rng = np.random.default_rng(0)
    outputs = rng.integers(0, 3, (4, 3, 500)).astype(float)  # many ties
    expected = []
    for sample in np.moveaxis(outputs, 2, 0):
        votes = [int(np.flatnonzero(member == member.max())[0]) for member in sample]
        ranking = sorted(range(3), key=lambda c: (-votes.count(c), -sample[:, c].sum(), c))
        expected.append(ranking[0])
    np.testing.assert_array_equal(most_votes(vote_counts(outputs), outputs.sum(axis=0)), expected)
    np.testing.assert_array_equal(first_largest(Majority().combine(outputs)), expected)


def test_array_libraries_agree_on_ties():
    strict = pytest.importorskip("array_api_strict")
    outputs = np.random.default_rng(1).integers(0, 2, (3, 4, 200)).astype(float)
    other = strict.asarray(outputs)
    ours = most_votes(vote_counts(outputs), outputs.sum(axis=0))
    theirs = most_votes(vote_counts(other), strict.sum(other, axis=0))
    np.testing.assert_array_equal(ours, np.asarray(theirs))


def test_the_sum_takes_the_largest_summed_score_and_the_lowest_class_among_equals():
    assert first_largest(Summed().combine(scores([0.0, 0.1, 0.0], [0.0, 0.1, 0.0], [9.0, 0.0, 0.0])))[0] == 0
    assert first_largest(Summed().combine(scores([0.5, 0.5])))[0] == 0


def test_the_share_of_wrong_classes_is_weighted():
    targets = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert misclassified_share(np.array([0, 0]), targets, np.array([3.0, 1.0])) == 0.25

import numpy as np

from subridge.model.aggregation import read_aggregation
from subridge.ridge.classes import Tally


def decided(scores, voting="majority", noises=(0.0,), noisy=None):
    """Class taken by one ensemble from scores of shape (members, classes), at one size and one test sample."""
    members = np.asarray(scores, dtype=float)[:, None, :, None]
    tally = Tally(noises, (1, 1, members.shape[2], 1), members, read_aggregation(voting))
    extra = None if noisy is None else np.asarray(noisy, dtype=float)[:, None, :, None]
    tally.add(np.zeros(len(members), dtype=int), members, extra)
    return [int(tally.decide(case)[0, 0, 0]) for case in range(len(noises))]


def test_most_votes_win_over_larger_scores():
    assert decided([[0.0, 0.1, 0.0], [0.0, 0.1, 0.0], [9.0, 0.0, 0.0]]) == [1]
    assert decided([[0.0, 0.1, 0.0], [0.0, 0.1, 0.0], [9.0, 0.0, 0.0]], voting="sum") == [0]


def test_among_equally_many_votes_the_sum_of_scores_decides_and_only_among_the_tied():
    # Class 2 has the largest sum but no vote; classes 0 and 1 have one vote each, class 1 the larger sum.
    assert decided([[1.0, 0.2, 0.9], [0.1, 1.0, 0.9]]) == [1]


def test_a_tie_of_votes_and_sums_goes_to_the_lowest_class():
    assert decided([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) == [1]
    assert decided([[0.5, 0.5]]) == [0]


def test_noise_moves_votes_in_proportion_to_its_scale():
    quiet, noisy = [[0.6, 0.4]], [[0.0, 1.0]]
    assert decided(quiet, noises=(0.0, 0.1, 0.3), noisy=noisy) == [0, 0, 1]


def test_members_of_several_ensembles_are_counted_apart():
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])[:, None, :, None]
    tally = Tally([0.0], (2, 1, 2, 1), scores, read_aggregation("majority"))
    tally.add(np.array([0, 1, 1]), scores)
    assert tally.decide(0).ravel().tolist() == [0, 1]

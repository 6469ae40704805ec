"""The ridges among which a choice is made."""

import numpy as np
import pytest

from subridge.model.errors import DataError, ParameterError, RidgeError
from subridge.ridge.choose import Outcome, default_ridges, extended_searches, given_ridges


def test_given_ridges_ascend_without_repeats():
    assert given_ridges([3.0, 0.0, 3.0, 1.0]).tolist() == [0.0, 1.0, 3.0]


def test_default_ridges_scale_with_the_data_and_need_no_variance():
    np.testing.assert_allclose(default_ridges([9.0]), 9 * default_ridges([1.0]))
    np.testing.assert_array_equal(default_ridges([0.0]), default_ridges([1.0]))


@pytest.mark.parametrize(
    ("ridges", "error"), [([], ParameterError), ([-1.0], RidgeError), ([np.inf], DataError), ("best", ParameterError)]
)
def test_unusable_ridges_are_named(ridges, error):
    with pytest.raises(error, match="ridges"):
        given_ridges(ridges)


def test_the_default_path_reaches_down_to_a_column_that_is_small_beside_others():
    squares = np.array([1e8, 1.0, 1e-8])
    path = default_ridges(squares, n_samples=500, subset_size=3)
    assert path[0] * 3 <= 0.001 * 500 * 1e-8  # the penalty leaves the smallest column alone
    assert path[-1] * 3 >= 500 * 1e8  # and the largest one is all but removed
    np.testing.assert_allclose(np.diff(np.log10(path)), 0.5)


def outcome_at(optimum):
    def evaluate(path, _):
        errors = abs(np.log(path) - np.log(optimum))
        best = int(np.argmin(errors))
        end = {0: "lower", len(path) - 1: "upper"}.get(best)
        return [Outcome(best, float(errors[best]), end, end is not None)]

    return evaluate


@pytest.mark.parametrize("optimum", [1e-7, 3.0, 1e6])
def test_a_search_goes_on_where_the_error_falls_at_an_end(optimum):
    ((path, outcome),) = extended_searches(np.logspace(-1, 1, 5), outcome_at(optimum), 1)
    assert outcome.end is None
    np.testing.assert_allclose(path[outcome.found], optimum, rtol=0.8)


def test_a_search_ends_and_says_where_the_error_still_falls():
    ((_, outcome),) = extended_searches(np.logspace(-1, 1, 5), outcome_at(1e-40), 1)
    assert outcome.end == "lower"
    assert outcome.is_falling

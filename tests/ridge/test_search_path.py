"""The ridges among which a choice is made."""

import numpy as np
import pytest

from subridge.ridge.search_path import default_ridges, given_ridges
from subridge.spec.errors import DataError, ParameterError, RidgeError


def test_given_ridges_ascend_without_repeats():
    assert given_ridges([3.0, 0.0, 3.0, 1.0]).tolist() == [0.0, 1.0, 3.0]


def test_default_ridges_scale_with_the_data_and_need_no_variance():
    np.testing.assert_allclose(default_ridges(9.0), 9 * default_ridges(1.0))
    np.testing.assert_array_equal(default_ridges(0.0), default_ridges(1.0))


@pytest.mark.parametrize(
    ("ridges", "error"), [([], ParameterError), ([-1.0], RidgeError), ([np.inf], DataError), ("best", ParameterError)]
)
def test_unusable_ridges_are_named(ridges, error):
    with pytest.raises(error, match="ridges"):
        given_ridges(ridges)

"""The scan in blocks against the recursion written out."""

import numpy as np
import pytest

from subridge.arrays.namespace import geometric_scan


@pytest.mark.parametrize("decay", [0.0, 0.8, 0.9999, -0.9, 1.0, -1.0])
@pytest.mark.parametrize("length", [1, 31, 32, 33, 200])
def test_the_scan_is_the_recursion(decay, length):
    values = np.random.default_rng(0).standard_normal((2, 3, length))
    expected = values.copy()
    for i in range(1, length):
        expected[..., i] += decay * expected[..., i - 1]
    found = geometric_scan(values, decay)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert found.flags.c_contiguous


def test_a_single_vector_is_scanned_and_the_input_is_left_alone():
    values = np.ones(40)
    assert geometric_scan(values, 1.0).tolist() == list(range(1, 41))
    assert values.tolist() == [1.0] * 40

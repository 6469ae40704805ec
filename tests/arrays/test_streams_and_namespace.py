import array_api_strict
import numpy as np
import pytest

from subridge.arrays.namespace import like
from subridge.model.checks import stream
from subridge.model.covariance import autoregressive


def test_streams_depend_on_coordinates_and_nothing_else():
    first = stream(7, 3, 1).random(4)
    stream(7, 0, 0).random(100)
    np.testing.assert_array_equal(stream(7, 3, 1).random(4), first)
    assert not np.array_equal(stream(7, 1, 3).random(4), first)
    assert not np.array_equal(stream(8, 3, 1).random(4), first)


def test_a_generator_passes_through():
    rng = np.random.default_rng(0)
    assert stream(rng) is rng


@pytest.mark.parametrize("decay", [0.0, 0.8, -0.95, 0.999])
def test_samples_by_doubling_equal_the_plain_recursion(decay):
    white = np.random.default_rng(0).standard_normal((3, 201))
    covariance = autoregressive(201, decay)
    plain = covariance.colour(white)
    doubled = covariance.colour(array_api_strict.asarray(white))
    np.testing.assert_allclose(np.asarray(doubled), plain, rtol=1e-10, atol=1e-12)
    expected = np.empty_like(white)
    expected[:, 0] = white[:, 0]
    for i in range(1, white.shape[1]):
        expected[:, i] = decay * expected[:, i - 1] + np.sqrt(1 - decay**2) * white[:, i]
    np.testing.assert_allclose(plain, expected, rtol=1e-9, atol=1e-12)


def test_like_follows_library_and_dtype():
    example = array_api_strict.asarray([1.0], dtype=array_api_strict.float32)
    converted = like(np.array([1.0, 2.0]), example)
    assert converted.dtype == array_api_strict.float32
    assert type(converted) is type(example)

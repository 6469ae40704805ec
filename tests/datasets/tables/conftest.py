"""One table for every test of this room: three features, and a target of numbers or of labels."""

import numpy as np
import pytest

N = 40


@pytest.fixture(scope="session")
def labels():
    return [("low", "high", "mid")[i % 3] for i in range(N)]


@pytest.fixture
def sample():
    """Features and a target, both of numbers."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, 3)), rng.standard_normal(N)


@pytest.fixture
def columns(sample):
    """A dict for either frame library: floats, integers, booleans and the target in between."""
    X, y = sample
    return {"a": X[:, 0], "b": np.arange(N) * 7 % 11, "y": y, "c": X[:, 1] > 0}


@pytest.fixture
def expected(columns):
    """The features of `columns`."""
    return np.column_stack([columns[name] for name in "abc"]).astype(float)

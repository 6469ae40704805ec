import numpy as np
import pytest


@pytest.fixture
def pilot_data():
    """60 rows, 40 features, correlated; label noise 0.5."""
    rng = np.random.default_rng(3)
    X = (
        rng.standard_normal((60, 40))
        @ np.linalg.cholesky(0.5 ** abs(np.subtract.outer(np.arange(40), np.arange(40)))).T
    )
    y = X @ rng.standard_normal(40) / 6 + 0.5 * rng.standard_normal(60) + 3.0
    return X, y

import numpy as np
import pytest
from subridge.model.aggregation import Mean
from subridge.model.subsets import equal

import subridge as sr
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import match_ridges
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import decompose_pilot
from subridge.forecasting.transfer.transfer import transfer, transferred_pairs
from subridge.forecasting.transfer.variance import split_variance
from subridge.ridge.rows.training import training_rows


def pilot_with_equal_leverages(n=16, k=2):
    """Rows of a Hadamard matrix: every row has the same leverage in every member."""
    from scipy.linalg import hadamard

    X = hadamard(n)[:, 1:9].astype(float)
    y = np.random.default_rng(0).standard_normal(n)
    return decompose_pilot(training_rows(X, y[None], None, False), equal(k, 8, 0))


def test_equal_leverages_give_the_plain_formula():
    pilot = pilot_with_equal_leverages()
    n = 16
    (block,) = left_out(pilot, np.array([[3.0, 3.0]]))
    found = split_variance(block, np.array([50.0]))
    single = block.diagonals.sum(axis=2)
    gamma = 1 - single[:, :, None] * single[:, None, :] / (n * block.pair_traces)
    # Left-out errors are those of n - 1 rows.
    np.testing.assert_allclose(np.diagonal(found.gamma_pilot[0]), np.diagonal(gamma[0]) * n / (n - 1), rtol=1e-9)
    np.testing.assert_allclose(found.gamma_new[0, 0, 0], gamma[0, 0, 0] * n / 50, rtol=1e-9)
    expected = (1 - gamma[0, 0, 0] * n / (n - 1)) / (1 - gamma[0, 0, 0] * n / 50)
    np.testing.assert_allclose(found.error_ratio[0, 0, 0], expected, rtol=1e-9)


def test_nothing_changes_at_the_same_size(pilot_data):
    X, y = pilot_data
    pilot = decompose_pilot(training_rows(X, y[None], None, True), equal(3, 40, 0))
    penalties = np.full((2, 3), 2.0)
    (block,) = left_out(pilot, penalties)
    pairs = transferred_pairs(block.pairs, split_variance(block, np.full(2, 60.0)))
    flat = block.errors[0].reshape(3, 60)
    np.testing.assert_allclose(pairs[0], flat @ flat.T / 60, rtol=1e-6)


def test_rows_of_unequal_scale_are_forecast_better_than_by_traces_alone():
    """x_i = s_i z_i with s² log-normal: against trained ridges, the plain formula is off by more."""
    rng = np.random.default_rng(1)
    M, n, size, p, pilots = 40, 60, 240, 4.0, 80
    beta = rng.standard_normal(M)

    def draw(rows):
        X = rng.standard_normal((rows, M)) * np.exp(0.5 * rng.standard_normal(rows))[:, None]
        return X, X @ beta + 2 * rng.standard_normal(rows)

    truth = []
    X_test, y_test = draw(20_000)
    for _ in range(60):
        X, y = draw(size)
        w = np.linalg.solve(X.T @ X + p * np.eye(M), X.T @ y)
        truth.append(((y_test - X_test @ w) ** 2).mean())
    one = DrawnEnsemble(equal(1, M, 0), np.array([p / M]), np.zeros(1), Mean())
    ours, plain = [], []
    for _ in range(pilots):
        X, y = draw(n)
        pilot = decompose_pilot(training_rows(X, y[None], None, False), one.plan)
        matched = match_ridges(pilot, np.array([float(size)]), np.array([[p / M]]))
        assert matched.in_reach.all()
        (block,) = left_out(pilot, matched.penalties)
        ours.append(transfer(block, matched.sizes, one).error[0])
        ratio = n * block.pair_traces[0, 0, 0] / block.diagonals.sum() ** 2
        plain.append((block.errors**2).mean() / ratio / (1 - (1 - 1 / ratio) * n / size))
    mean = np.mean(truth)
    off, off_plain = np.mean(ours) / mean - 1, np.mean(plain) / mean - 1
    assert abs(off) < 0.5 * abs(off_plain)
    assert abs(off) < 0.1


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RareColumnsWarning")
@pytest.mark.filterwarnings("ignore::subridge.model.errors.DominantRowsWarning")
def test_one_rare_entry_does_not_ruin_a_forecast():
    """A column that is 1 in one row: its odds of leverage are those of hundreds, and nothing follows from it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    y = X[:, 0] + X[:, 1] + rng.standard_normal(300)
    rare = np.zeros((300, 1))
    rare[7] = 1
    errors = [
        sr.forecast(table, y, [600, 2400], {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}).prediction_error.values
        for table in (X, np.hstack([X, rare]))
    ]
    np.testing.assert_allclose(errors[1], errors[0], rtol=0.02)

"""The rank of floats as they are, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from flint import fmpq, fmpq_mat

from reference.near_dependence import near_dependent_rows
from subridge.model.ensemble import SubsetPlan
from subridge.ridge.member import factorise
from subridge.ridge.rounding import rank_of_residues, residues_of
from subridge.ridge.rows import training_rows

PRIME = 2**31 - 19


def rational_rank(X):
    pairs = [Fraction(float(x)).as_integer_ratio() for x in X.ravel()]
    return fmpq_mat(*X.shape, [fmpq(*pair) for pair in pairs]).rank()


def fit_of(X, intercept=False, measurement=None):
    rows = training_rows(X, np.zeros((1, X.shape[0])), None, intercept)
    A = np.arange(X.shape[1]) if measurement is None else np.asarray(measurement)
    return factorise(rows, SubsetPlan((A,), X.shape[1]), 0, 1.0)


def test_residues_are_those_of_fractions():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200) * 10.0 ** rng.integers(-300, 300, 200)
    x[:4] = 5e-324, 0.0, -1.7e308, 2.0**-1022
    ratios = [Fraction(v).as_integer_ratio() for v in x]
    assert residues_of(x).tolist() == [a * pow(b, -1, PRIME) % PRIME for a, b in ratios]


def test_ranks_are_those_of_rational_arithmetic():
    for seed in range(300):
        X, *_, intercept, _ = near_dependent_rows(np.random.default_rng(seed))
        exact = rational_rank(np.hstack([X, np.ones((len(X), 1))])) - 1 if intercept else rational_rank(X)
        fit = fit_of(X, intercept)
        assert fit.has_rank(exact)
        assert exact == 0 or not fit.has_rank(exact - 1)


def test_powers_of_two_that_are_far_apart_do_not_cancel():
    assert rank_of_residues(residues_of(np.array([[1.0, 1.0], [2.0**-52, 2.0 ** (31 * 5 - 52)]]))) == 2


@pytest.mark.parametrize(("n", "N", "rank"), [(300, 200, 150), (150, 400, 149)])
def test_one_last_digit_counts_in_many_blocks(n, N, rank):
    rng = np.random.default_rng(n)
    X = (rng.integers(-9, 10, (n, rank)) @ rng.integers(-9, 10, (rank, N))).astype(float)
    assert rank_of_residues(residues_of(X)) == rank
    X[3, 5] = np.nextafter(X[3, 5] + 1, np.inf)
    assert rank_of_residues(residues_of(X)) == rank + 1


def test_subsets_matrices_rows_and_sparse_tables():
    X = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [3.0, 6.0, 1.0], [0.5, 1.0, 2.0]])
    for table in (X, scipy.sparse.csc_array(X)):
        assert fit_of(table, measurement=[0, 1]).has_rank(1)
        assert not fit_of(table, measurement=[0, 2]).has_rank(1)
        assert fit_of(table, measurement=[[2.0, -1.0, 0.0], [1.0, 0.0, 0.0]]).has_rank(1)
        assert fit_of(table, measurement=[0, 2]).has_rank(1, without=np.array([1, 2, 3]))

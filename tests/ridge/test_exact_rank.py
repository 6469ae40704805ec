"""The exact rank of what a member sees, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import scipy.sparse
from flint import fmpq, fmpq_mat

from reference.near_dependence import near_dependent_rows
from subridge.model.ensemble import SubsetPlan
from subridge.ridge.member import factorise
from subridge.ridge.rows import training_rows


def rational_rank(X):
    pairs = [Fraction(float(x)).as_integer_ratio() for x in X.ravel()]
    return fmpq_mat(*X.shape, [fmpq(*pair) for pair in pairs]).rank()


def fit_of(X, intercept=False, measurement=None):
    rows = training_rows(X, np.zeros((1, X.shape[0])), None, intercept)
    A = np.arange(X.shape[1]) if measurement is None else np.asarray(measurement)
    return factorise(rows, SubsetPlan((A,), X.shape[1]), 0, 1.0)


def test_ranks_are_those_of_rational_arithmetic():
    for seed in range(300):
        X, *_, intercept, _ = near_dependent_rows(np.random.default_rng(seed))
        exact = rational_rank(np.hstack([X, np.ones((len(X), 1))])) - 1 if intercept else rational_rank(X)
        fit = fit_of(X, intercept)
        assert fit.has_rank(exact)
        assert exact == 0 or not fit.has_rank(exact - 1)


def test_subsets_matrices_rows_and_sparse_tables():
    X = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [3.0, 6.0, 1.0], [0.5, 1.0, 2.0]])
    for table in (X, scipy.sparse.csc_array(X)):
        assert fit_of(table, measurement=[0, 1]).has_rank(1)
        assert not fit_of(table, measurement=[0, 2]).has_rank(1)
        assert fit_of(table, measurement=[[2.0, -1.0, 0.0], [1.0, 0.0, 0.0]]).has_rank(1)
        assert fit_of(table, measurement=[0, 2]).has_rank(1, without=np.array([1, 2, 3]))

"""Residues of floats and ranks of their matrices, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from subridge.arrays.exact_rank import PRIME, product_of_residues, rank_is_at_most, rank_of_residues, residues_of


def test_residues_are_those_of_fractions():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200) * 10.0 ** rng.integers(-300, 300, 200)
    x[:4] = 5e-324, 0.0, -1.7e308, 2.0**-1022
    ratios = [Fraction(v).as_integer_ratio() for v in x]
    assert residues_of(x).tolist() == [a * pow(b, -1, PRIME) % PRIME for a, b in ratios]


def test_powers_of_two_that_are_far_apart_do_not_cancel():
    assert rank_of_residues(residues_of(np.array([[1.0, 1.0], [2.0**-52, 2.0 ** (31 * 5 - 52)]]))) == 2


@pytest.mark.parametrize(("n", "N", "rank"), [(300, 200, 150), (150, 400, 149)])
def test_one_last_digit_counts_in_many_blocks(n, N, rank):
    rng = np.random.default_rng(n)
    X = (rng.integers(-9, 10, (n, rank)) @ rng.integers(-9, 10, (rank, N))).astype(float)
    assert rank_of_residues(residues_of(X)) == rank
    X[3, 5] = np.nextafter(X[3, 5] + 1, np.inf)
    found = residues_of(X)
    assert rank_of_residues(found) == rank + 1
    assert rank_is_at_most(found, rank + 1)
    assert not rank_is_at_most(found, rank)


def test_products_of_many_residues_do_not_overflow():
    A = np.full((1, 300_000), PRIME - 1)
    assert product_of_residues(A, A.T).item() == 300_000

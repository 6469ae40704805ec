"""The low-rank trace: proved by words, checked on random matrices."""

import numpy as np
import pytest
import sympy as sp

from subridge.derivations import spiked
from subridge.derivations.equicorrelated import GROUPS, member_pair
from subridge.derivations.notation import a, e, x_r, x_s

pytestmark = pytest.mark.slow


def test_both_forms_reduce_to_the_same_words():
    assert spiked.overlap_trace() == spiked.low_rank_trace()
    assert len(spiked.overlap_trace()) > 5


def test_low_rank_form_equals_the_dense_trace():
    generator = np.random.default_rng(3)
    M, rank, d, x, y = 12, 3, 0.7, 0.4, 1.1
    F = generator.normal(size=(M, rank))
    first, second = np.arange(0, 7), np.arange(4, 11)
    total = d * np.eye(M) + F @ F.T
    C_rr, C_rs, C_ss = (total[np.ix_(p, q)] for p, q in ((first, first), (first, second), (second, second)))
    R, R_other = np.linalg.inv(x * np.eye(7) + C_rr), np.linalg.inv(y * np.eye(7) + C_ss)
    X, Y = x + d, y + d
    G_r, G_s = F[first].T @ F[first], F[second].T @ F[second]
    C = F[4:7].T @ F[4:7]
    K_r, K_s = np.linalg.inv(X * np.eye(rank) + G_r), np.linalg.inv(Y * np.eye(rank) + G_s)
    low_rank = (
        d**2 * 3
        + d * y * np.trace(K_s @ C)
        + d * x * np.trace(K_r @ C)
        + np.trace(K_r @ (X * G_s - d * C) @ K_s @ (Y * G_r - d * C))
    )
    np.testing.assert_allclose(X * Y * np.trace(R @ C_rs @ R_other @ C_rs.T), low_rank)


def test_block_algebra_gives_the_rank_one_case():
    n_r, n_s, n_b, _ = GROUPS
    X, Y, G_r, G_s, C = x_r + a, x_s + a, e * (n_r + n_b), e * (n_s + n_b), e * n_b
    K_r, K_s = 1 / (X + G_r), 1 / (Y + G_s)
    form = a**2 * n_b + a * x_s * K_s * C + a * x_r * K_r * C + K_r * (X * G_s - a * C) * K_s * (Y * G_r - a * C)
    assert sp.factor(X * Y * member_pair().overlap_trace - form) == 0

"""Block forms of Prop. 1 against dense matrices, at finite size."""

import numpy as np
import pytest
import sympy as sp

from subridge.derivations.equicorrelated import GROUPS, member_pair
from subridge.derivations.notation import a, alpha, b, e, x_r, x_s

pytestmark = pytest.mark.slow


def test_block_forms_equal_the_dense_ones_at_finite_size(dense_pair):
    sizes = [3, 2, 4, 5]
    M, sample_ratio, variances = sum(sizes), 0.6, {a: 1.3, b: 0.9, e: 0.35}
    groups = np.repeat(range(4), sizes)
    A = [np.eye(M)[np.isin(groups, kept)] for kept in ([0, 2], [1, 2])]
    Sigma_s = variances[b] * np.eye(M) + variances[e] * np.ones((M, M))
    Sigma_0 = (variances[a] - variances[b]) * np.eye(M)
    q_hat, gamma, bias = dense_pair(Sigma_s, Sigma_0, A, [0.2, 0.7], sample_ratio)
    x = [len(A[r]) / M / q_hat[r] for r in (0, 1)]
    values = {**dict(zip(GROUPS, sizes, strict=True)), **variances, alpha: sample_ratio, x_r: x[0], x_s: x[1]}
    pair, P = member_pair(), np.eye(M) - np.ones((M, M)) / M
    np.testing.assert_allclose(float(sp.N(pair.gamma.subs(values))), gamma, rtol=1e-12)
    np.testing.assert_allclose(float(sp.N(pair.aligned_bias().subs(values))), bias.sum() / M, rtol=1e-11)
    np.testing.assert_allclose(float(sp.N(pair.random_bias().subs(values))), np.trace(P @ bias @ P) / M, rtol=1e-11)

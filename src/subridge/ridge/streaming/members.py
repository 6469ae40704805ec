"""Members and their risk from the moments of the rows alone."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import like, namespace_of, select_rows, to_numpy
from subridge.arrays.types import Array, FloatArray
from subridge.model.plan import SubsetPlan
from subridge.ridge.streaming.moments import RowMoments


@dataclass(frozen=True, eq=False)
class MomentPath:
    """Members along a ridge path, from moments alone: coefficients, each of shape (L, C, N_r).

    `pairs`, shape (L, k, k), is the risk matrix at every ridge, by the trace form.
    """

    coefficients: list[Array]
    pairs: FloatArray


def moment_path(moments: RowMoments, plan: SubsetPlan, ridges: FloatArray, fit_intercept: bool) -> MomentPath:
    """Solve every member for every ridge, shape (L, k), and estimate the risk matrix without the rows.

    ``Ê_rr′ + ζ² = (r_r·r_r′/n) / [(1 - df_r/n)(1 - df_r′/n)]``, where n is the number of rows and residuals are
    weighted; where a member interpolates without ridge, K_r⁺y and tr K_r⁺ take the place of residuals and 1 - df.

    A residual is ``a g - F c``, so all dot products follow from the Gram matrix and the cross moments: M² k L C
    multiplications. Rank is judged on the Gram matrix: directions whose singular value is below √(8 N_r ε), 1e-7 to
    1e-6, of the largest count as absent; rows would resolve 1e-14. Where nothing but the intercept can be fitted yet
    (one row), the risk is infinite.
    """
    used = moments if fit_intercept else moments.uncentred()
    xp = namespace_of(used.gram)
    n = moments.n_samples
    coefficients, residuals = [], []  # residual r is sign·g - F c; c lifted to all features
    signs, slack = np.ones(ridges.shape), np.ones(ridges.shape)
    for r in range(plan.n_members):
        gram, cross = _block(used, plan, r)
        d, V = xp.linalg.eigh(gram)
        kept = d > 8 * np.finfo(np.float64).eps * gram.shape[0] * max(float(d[-1]), 0.0)
        d, V = d[kept], V[:, kept]
        A = cross @ V  # (C, ρ)
        weights, combinations = [], []
        for index, lam in enumerate(ridges[:, r]):
            p = float(lam) * gram.shape[0]
            b = (A / (d + p)) @ V.T
            free = float((d / (d + p)).sum()) + int(fit_intercept)
            slack[index, r] = 1 - free / n
            weights.append(b)
            if slack[index, r] < _INTERPOLATES:
                signs[index, r], slack[index, r] = 0.0, float((1 / (d + p)).sum()) / n
                b = (-A / (d * (d + p))) @ V.T  # F c = -(K + p)⁻¹g
            combinations.append(b)
        coefficients.append(xp.stack(weights))
        residuals.append(plan.lift_rows(r, xp.stack(combinations)))  # (L, C, M)
    pairs = [_dot_products(used, xp.stack([c[index] for c in residuals]), sign) for index, sign in enumerate(signs)]
    scale = slack[:, :, None] * slack[:, None, :] * used.total_weight
    defined = scale > 0
    return MomentPath(coefficients, np.where(defined, np.stack(pairs) / np.where(defined, scale, 1.0), np.inf))


# 1 - df/n below which a member counts as interpolating: far above rounding, far below one sample's worth for any
# number of rows that a stream could leave shorter than a member.
_INTERPOLATES = 1e-9


def _block(moments: RowMoments, plan: SubsetPlan, r: int) -> tuple[Array, Array]:
    """Member r's Gram block and cross moments."""
    A = plan.measurements[r]
    if A.ndim == 2:
        matrix = like(A, moments.gram)
        return matrix @ moments.gram @ matrix.T, moments.cross @ matrix.T
    gram = select_rows(select_rows(moments.gram, A).T, A)
    return gram, select_rows(moments.cross.T, A).T


def _dot_products(moments: RowMoments, c: Array, signs: FloatArray) -> FloatArray:
    """``r_r·r_r′`` summed over targets, for residuals sign·g - F c with c of shape (k, C, M)."""
    k = c.shape[0]
    trace = float(sum(moments.target_gram[t, t] for t in range(moments.target_gram.shape[0])))
    linear = to_numpy((c * moments.cross).reshape((k, -1)).sum(axis=1))
    flat = c.reshape((-1, c.shape[-1]))
    square = to_numpy((flat @ moments.gram).reshape((k, -1)) @ c.reshape((k, -1)).T)
    mixed = signs[:, None] * linear
    return np.asarray(trace * np.outer(signs, signs) - mixed - mixed.T + square)

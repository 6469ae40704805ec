"""Streaming: everything a mean ensemble needs from the rows is their first and second moments."""

from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.namespace import like, select_rows, to_numpy
from subridge.arrays.types import FloatArray
from subridge.ridge.lifting import lift
from subridge.spec.errors import DataError
from subridge.spec.plan import SubsetPlan

Array = Any


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted moments of the rows seen so far, centred on their own means: M² + O(M) numbers however many rows.

    Attributes
    ----------
    n_samples : int
    total_weight : float
    feature_means, target_means : array, shape (M,), (C,)
    gram : array, shape (M, M)
        ``Σ w (x - x̄)(x - x̄)ᵀ``.
    cross : array, shape (C, M)
        ``Σ w (y - ȳ)(x - x̄)ᵀ``.
    target_gram : array, shape (C, C)
        ``Σ w (y - ȳ)(y - ȳ)ᵀ``.
    """

    n_samples: int
    total_weight: float
    feature_means: Array
    target_means: Array
    gram: Array
    cross: Array
    target_gram: Array

    def __add__(self, other: "Moments") -> "Moments":
        """Moments of both sets of rows together (Chan's update: no difference of large sums)."""
        if self.feature_means.shape != other.feature_means.shape or self.target_means.shape != other.target_means.shape:
            raise DataError(
                f"a batch of {other.feature_means.shape[0]} features and {other.target_means.shape[0]} targets cannot "
                f"join {self.feature_means.shape[0]} and {self.target_means.shape[0]}"
            )
        total = self.total_weight + other.total_weight
        share = other.total_weight / total
        dx, dy = other.feature_means - self.feature_means, other.target_means - self.target_means
        lever = self.total_weight * share
        return Moments(
            self.n_samples + other.n_samples,
            total,
            self.feature_means + share * dx,
            self.target_means + share * dy,
            self.gram + other.gram + lever * dx[:, None] * dx[None, :],
            self.cross + other.cross + lever * dy[:, None] * dx[None, :],
            self.target_gram + other.target_gram + lever * dy[:, None] * dy[None, :],
        )

    def uncentred(self) -> "Moments":
        """The same rows' moments about zero: what a fit without intercept uses."""
        x, y, w = self.feature_means, self.target_means, self.total_weight
        return Moments(
            self.n_samples,
            w,
            x * 0.0,
            y * 0.0,
            self.gram + w * x[:, None] * x[None, :],
            self.cross + w * y[:, None] * x[None, :],
            self.target_gram + w * y[:, None] * y[None, :],
        )


def moments_of(X: Any, targets: Array, sample_weight: Array | None = None) -> Moments:
    """Moments of one batch of rows.

    Parameters
    ----------
    X : array or SciPy sparse matrix, shape (n, M)
    targets : array, shape (C, n)
    sample_weight : array, shape (n,), optional
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> batch = moments_of(np.array([[0.0], [2.0]]), np.array([[1.0, 3.0]]))
    >>> both = batch + moments_of(np.array([[4.0]]), np.array([[5.0]]))
    >>> both.n_samples, both.gram, both.cross
    (3, array([[8.]]), array([[8.]]))
    """
    xp = array_api_compat.array_namespace(targets)
    weights = xp.ones_like(targets[0, :]) if sample_weight is None else sample_weight
    total = float(weights.sum())
    y_mean = targets @ weights / total
    Y = targets - y_mean[:, None]
    if hasattr(X, "tocsr"):
        x_mean = X.T @ weights / total
        weighted = X.multiply(weights[:, None]).tocsr()
        gram = np.asarray((X.T @ weighted).toarray()) - total * np.outer(x_mean, x_mean)
        cross = (X.T @ (Y * weights).T).T
    else:
        x_mean = weights @ X / total
        root = weights**0.5
        centred = X - x_mean
        if sample_weight is not None:
            centred = centred * root[:, None]
        gram, cross = centred.T @ centred, (Y * root) @ centred
    return Moments(int(targets.shape[1]), total, x_mean, y_mean, gram, cross, (Y * weights) @ Y.T)


@dataclass(frozen=True, eq=False)
class MomentPath:
    """Members along a ridge path, from moments alone.

    Attributes
    ----------
    coefficients : list of array, each of shape (L, C, N_r)
    pairs : ndarray, shape (L, k, k)
        The risk matrix at every ridge, by the trace form.
    """

    coefficients: list[Array]
    pairs: FloatArray


def moment_path(moments: Moments, plan: SubsetPlan, ridges: FloatArray, fit_intercept: bool) -> MomentPath:
    """Solve every member for every ridge and estimate the risk matrix without the rows.

    ``Ê_rr′ + ζ² = (r_r·r_r′/n) / [(1 - df_r/n)(1 - df_r′/n)]``, where n is the number of rows and residuals are
    weighted; where a member interpolates without ridge, K_r⁺y and tr K_r⁺ take the place of residuals and 1 - df.

    Parameters
    ----------
    moments : Moments
    plan : SubsetPlan
    ridges : ndarray, shape (L, k)
    fit_intercept : bool

    Returns
    -------
    MomentPath

    Notes
    -----
    A residual is ``a g - F c``, so all dot products follow from the Gram matrix and the cross moments: M² k L C
    multiplications. Rank is judged on the Gram matrix: directions whose singular value is below √(8 N_r ε), 1e-7 to
    1e-6, of the largest count as absent; rows would resolve 1e-14. Where nothing but the intercept can be fitted yet
    (one row), the risk is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> moments = moments_of(np.eye(3), np.array([[1.0, 2.0, 3.0]]))
    >>> moment_path(moments, SubsetPlan.from_indices([[0, 1, 2]], 3), np.array([[0.0]]), False).coefficients[0].round(9)
    array([[[1., 2., 3.]]])
    """
    used = moments if fit_intercept else moments.uncentred()
    xp = array_api_compat.array_namespace(used.gram)
    n = moments.n_samples
    coefficients, residuals = [], []  # residual r is sign·g - F c; c lifted to all features
    signs, slack = np.ones(ridges.shape), np.ones(ridges.shape)
    for r in range(plan.n_members):
        gram, cross, lift = _block(used, plan, r)
        d, V = xp.linalg.eigh(gram)
        kept = d > 8 * np.finfo(np.float64).eps * gram.shape[0] * max(float(d[-1]), 0.0)
        d, V = d[kept], V[:, kept]
        A = cross @ V  # (C, ρ)
        members, lifted = [], []
        for level, lam in enumerate(ridges[:, r]):
            p = float(lam) * gram.shape[0]
            b = (A / (d + p)) @ V.T
            free = float((d / (d + p)).sum()) + int(fit_intercept)
            slack[level, r] = 1 - free / n
            members.append(b)
            if slack[level, r] < _INTERPOLATES:
                signs[level, r], slack[level, r] = 0.0, float((1 / (d + p)).sum()) / n
                b = (-A / (d * (d + p))) @ V.T  # F c = -(K + p)⁻¹g
            lifted.append(lift(b))
        coefficients.append(xp.stack(members))
        residuals.append(xp.stack(lifted))  # (L, C, M)
    pairs = [_dot_products(used, xp.stack([c[level] for c in residuals]), signs[level]) for level in range(len(ridges))]
    scale = slack[:, :, None] * slack[:, None, :] * used.total_weight
    defined = scale > 0
    return MomentPath(coefficients, np.where(defined, np.stack(pairs) / np.where(defined, scale, 1.0), np.inf))


# 1 - df/n below which a member counts as interpolating: far above rounding, far below one sample's worth for any
# number of rows that a stream could leave shorter than a member.
_INTERPOLATES = 1e-9


def _block(moments: Moments, plan: SubsetPlan, r: int) -> tuple[Array, Array, Any]:
    """Member r's Gram block and cross moments, and the map that takes its weights to all features."""
    A = plan.measurements[r]
    if A.ndim == 2:
        matrix = like(A, moments.gram)
        return matrix @ moments.gram @ matrix.T, moments.cross @ matrix.T, lambda weights: weights @ matrix
    gram = select_rows(select_rows(moments.gram, A).T, A)
    return gram, select_rows(moments.cross.T, A).T, lambda weights: lift(plan, r, weights)


def _dot_products(moments: Moments, c: Array, signs: FloatArray) -> FloatArray:
    """``r_r·r_r′`` summed over targets, for residuals sign·g - F c with c of shape (k, C, M)."""
    k = c.shape[0]
    trace = float(sum(moments.target_gram[t, t] for t in range(moments.target_gram.shape[0])))
    linear = to_numpy((c * moments.cross).reshape((k, -1)).sum(axis=1))
    flat = c.reshape((-1, c.shape[-1]))
    square = to_numpy((flat @ moments.gram).reshape((k, -1)) @ c.reshape((k, -1)).T)
    mixed = signs[:, None] * linear
    return np.asarray(trace * np.outer(signs, signs) - mixed - mixed.T + square)

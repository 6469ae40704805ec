"""Members trained on a stream of rows, of which only the moments are kept."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import is_tensor, like, namespace_of, select_rows, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, SparseMatrix
from subridge.model.checks import refuse_beyond_memory
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import DataError
from subridge.ridge.checks import refuse_out_of_range
from subridge.ridge.choose import Outcome, default_ridges, extended_search, given_ridges, last_minimum, outcome_of
from subridge.ridge.rows import training_rows

# 1 - df/n below which a member counts as interpolating: far above rounding, far below one sample's share for any number
# of rows that a stream could leave shorter than a member.
_INTERPOLATES = 1e-9
_EPS = float(np.finfo(np.float64).eps)
_PER_PRODUCT = 32  # bytes: the moments of a batch, those before, their sum, and a member's decomposition


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Weighted moments of the rows seen so far, centred on their own means: M² + O(M) numbers for any number of rows.

    `gram` is ``Σ w (x - x̄)(x - x̄)ᵀ``, shape (M, M); `cross` is ``Σ w (y - ȳ)(x - x̄)ᵀ``, shape (C, M); `target_gram`
    is ``Σ w (y - ȳ)(y - ȳ)ᵀ``, shape (C, C).
    """

    n_samples: int
    total_weight: float
    feature_means: Array
    target_means: Array
    gram: Array
    cross: Array
    target_gram: Array

    def __add__(self, other: "RowMoments") -> "RowMoments":
        """Moments of both sets of rows together (Chan's update: no difference of large sums)."""
        if self.cross.shape != other.cross.shape:
            raise DataError(
                f"a batch of {other.cross.shape[1]} features and {other.cross.shape[0]} targets cannot join "
                f"{self.cross.shape[1]} and {self.cross.shape[0]}"
            )
        total = self.total_weight + other.total_weight
        share = other.total_weight / total
        dx, dy = other.feature_means - self.feature_means, other.target_means - self.target_means
        means = self.feature_means + share * dx, self.target_means + share * dy
        sums = (self.gram + other.gram, self.cross + other.cross, self.target_gram + other.target_gram)
        summed = RowMoments(self.n_samples + other.n_samples, total, *means, *sums)
        return summed._shifted(dx, dy, self.total_weight * share)

    def uncentred(self) -> "RowMoments":
        """The same rows' moments about zero: what a fit without intercept uses."""
        x, y = self.feature_means, self.target_means
        return replace(self._shifted(x, y, self.total_weight), feature_means=x * 0.0, target_means=y * 0.0)

    def _shifted(self, x: Array, y: Array, weight: float) -> "RowMoments":
        """Second moments with ``weight`` times the products of x (M,) and y (C,) added."""
        return replace(
            self,
            gram=self.gram + weight * x[:, None] * x[None, :],
            cross=self.cross + weight * y[:, None] * x[None, :],
            target_gram=self.target_gram + weight * y[:, None] * y[None, :],
        )

    def column_squares(self, fit_intercept: bool) -> FloatArray:
        """``Σ w (x - x̄)²/n`` of every feature, centred if there is an intercept; shape (M,)."""
        squares = np.diagonal(to_numpy((self if fit_intercept else self.uncentred()).gram)) / self.n_samples
        rounding = (self.n_samples * _EPS * to_numpy(self.feature_means)) ** 2
        return np.where(squares > rounding * self.total_weight / self.n_samples, squares, 0.0)


def moments_of(X: Array | SparseMatrix, targets: Array, sample_weight: Array | None = None) -> RowMoments:
    """Moments of one batch of rows: X, shape (n, M), dense or SciPy sparse; targets (C, n); positive weights (n,)."""
    if not is_tensor(targets):
        M = X.shape[1]
        refuse_beyond_memory(f"the products of {M:,} features", _PER_PRODUCT * M**2, "take fewer, or use fit")
    rows = training_rows(X, targets, sample_weight)
    refuse_out_of_range(rows)
    (g, means), design = rows.centred_targets, rows.design(np.arange(X.shape[1]))
    cross = design.onto_features(g)
    return RowMoments(rows.n_samples, rows.total_weight, rows.feature_means, means, design.gram(), cross, g @ g.T)


class StreamedPath(NamedTuple):
    """Members at ridges (L, k): coefficients, each (L, C, N_r), the risk matrices (L, k, k), and the error of the mean
    at each ridge, shape (L,).
    """

    ridges: FloatArray
    coefficients: list[Array]
    pairs: FloatArray
    losses: FloatArray

    @property
    def best(self) -> int:
        """The place of the least error."""
        return last_minimum([(float(value), 0.0) for value in self.losses])


def streamed_path(moments: RowMoments, plan: SubsetPlan, ridges: FloatArray, fit_intercept: bool) -> StreamedPath:
    """Solve every member for every ridge, shape (L, k), and estimate the risk matrix without the rows.

    ``Ê_rr′ + ζ² = (r_r·r_r′/n) / [(1 - df_r/n)(1 - df_r′/n)]``, where n is the number of rows and residuals are
    weighted; if a member interpolates without ridge, K_r⁺y and tr K_r⁺ take the place of residuals and 1 - df.

    A residual is ``a g - F c``, so all dot products follow from the Gram matrix and the cross moments: M² k L C
    multiplications. Rank is judged on the Gram matrix: directions whose singular value is below √(8 N_r ε), 1e-7 to
    1e-6, of the largest count as absent; rows would resolve 1e-14. If nothing but the intercept can be fitted yet (one
    row), the risk is infinite.
    """
    used = moments if fit_intercept else moments.uncentred()
    xp, n = namespace_of(used.gram), moments.n_samples
    coefficients, residuals = [], []  # residual r is sign·g - F c; c lifted to all features
    signs, slack = np.ones(ridges.shape), np.ones(ridges.shape)
    for r, A in enumerate(plan.measurements):
        if A.ndim == 2:
            matrix = like(A, used.gram)
            gram, cross = matrix @ used.gram @ matrix.T, used.cross @ matrix.T
        else:
            gram, cross = select_rows(select_rows(used.gram, A).T, A), select_rows(used.cross.T, A).T
        d, V = xp.linalg.eigh(gram)
        kept = d > 8 * _EPS * gram.shape[0] * max(float(d[-1]), 0.0)
        d, V = d[kept], V[:, kept]
        projected, inverse = cross @ V, 1 / (d + like(ridges[:, [r]] * gram.shape[0], d))  # (C, ρ) and (L, ρ)
        slack[:, r] = 1 - (to_numpy((d * inverse).sum(axis=1)) + int(fit_intercept)) / n
        short = slack[:, r] < _INTERPOLATES
        signs[short, r], slack[short, r] = 0.0, to_numpy(inverse.sum(axis=1))[short] / n
        sign = like(signs[:, [r]], d)
        combinations = inverse * (sign - (1 - sign) / d)  # F c = -(K + p)⁻¹g if the member interpolates
        weights, lifted = ((projected * each[:, None, :]) @ V.T for each in (inverse, combinations))
        coefficients.append(weights)
        residuals.append(plan.lift_rows(r, lifted))  # (L, C, M)
    trace, products = float(np.trace(to_numpy(used.target_gram))), []
    for index, sign in enumerate(signs):  # r_r·r_r′ summed over targets
        c = xp.stack([each[index] for each in residuals])  # (k, C, M)
        k = c.shape[0]
        mixed = sign[:, None] * to_numpy((c * used.cross).reshape((k, -1)).sum(axis=1))
        flat = (c.reshape((-1, c.shape[-1])) @ used.gram).reshape((k, -1))
        square = to_numpy(flat @ c.reshape((k, -1)).T)
        products.append(trace * np.outer(sign, sign) - mixed - mixed.T + square)
    scale = slack[:, :, None] * slack[:, None, :] * used.total_weight
    pairs = np.where(scale > 0, np.stack(products) / np.where(scale > 0, scale, 1.0), np.inf)
    return StreamedPath(ridges, coefficients, pairs, pairs.mean(axis=(1, 2)))


def search_moments(moments: RowMoments, plan: SubsetPlan, given: ArrayLike | None, fit_intercept: bool) -> StreamedPath:
    """Members at `given` common ridges, or along a path that fits the data and goes on if it is too short.

    A stream is solved anew at every batch, and the first batches are small, so nothing is warned of.
    """
    spread = float(np.trace(to_numpy(moments.target_gram))) / moments.total_weight

    def evaluate(path: FloatArray) -> Outcome[StreamedPath]:
        found = streamed_path(moments, plan, np.repeat(path[:, None], plan.n_members, axis=1), fit_intercept)
        return outcome_of(found, [found.best], len(path), spread, lambda at: (float(found.losses[int(at[0])]), 0.0))

    if given is not None:
        return evaluate(given_ridges(given)).found
    start = default_ridges(moments.column_squares(fit_intercept), moments.n_samples, int(plan.subset_sizes.max()))
    return extended_search(start, evaluate)[1].found

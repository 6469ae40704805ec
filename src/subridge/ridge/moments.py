"""Members trained on moments: one pass over rows of any number, in memory that does not grow with it.

The moments of the rows are kept in up to 32 batches of rows that are neighbours in the data. Their sum gives every
member at every ridge: with the centred, weighted rows F and labels g, and the decomposition ``[F g] = Q R``, every
product of residuals is the same for R, the root of their Gram matrix, as for the rows. Leverages are not known. They
are replaced by their mean, so that members r and r′ that see all n rows have

    Ê_rr′ + ζ² = (r_r·r_r′/n) / [(1 - df_r/n)(1 - df_r′/n)],    df_r = tr H_r.

Every pair has its own denominator. In rows of unequal weights w_i, leverages grow with the weight: R_ii is taken as
1/(1 + w_i t), with the t for which these sum to tr R, and √(Σ w_i R_ii²/Σ w_i) replaces 1 - df/n. Errors then count as
independent of the weights. Where weights are inverse variances of the labels, they are smaller than this estimate.

Generalised cross-validation of the ensemble's mean, with the mean of df_r in one denominator, is inconsistent for more
than one member. Bellec, Du, Koriyama, Patil and Tan (2023, arXiv 2310.01374) show this, and correct it by estimates
like these for each pair of members. For a member that interpolates without ridge, K_r⁺y and tr K_r⁺ replace residuals
and 1 - df. Standard errors of differences of errors come from the batches: the squared error of a batch is a quadratic
form in its moments.

Batches are merged by the update of Chan, Golub and LeVeque (1983), which takes no difference of large sums. A root of a
Gram matrix resolves directions down to √ε, about 1e-7 of a column's standard deviation; rows resolve 1e-14.
"""

import warnings
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.linalg import lapack, solve_triangular

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, SparseMatrix
from subridge.model.checks import refuse_beyond_memory
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import DataError
from subridge.ridge.banded import BandedSearch, Tick, no_tick, promising_draws
from subridge.ridge.checks import refuse_out_of_range
from subridge.ridge.member import MemberFit, MemberPath
from subridge.ridge.rounding import EPS
from subridge.ridge.rows import Design, TrainingRows, left_out_groups, training_rows

LEAST_REST = 1e-12  # weight of the other rows over that of the heaviest; below it their mean loses its digits
BATCHES = 32  # enough to estimate the standard error of a difference with a relative error of one eighth
_OCTAVES = 65  # bins of weights by powers of two, in a circle: weights share a bin only if they differ by 1e19
_PER_PRODUCT = 32  # bytes: the moments of a batch, those before, their sum, and a member's decomposition


# -- moments of batches ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Weighted moments of some rows, centred on their own means: M² + C M numbers for any number of rows.

    `gram` is ``Σ w (x - x̄)(x - x̄)ᵀ``, shape (M, M); `cross` is ``Σ w (y - ȳ)(x - x̄)ᵀ``, shape (C, M); `target_squares`
    are ``Σ w (y - ȳ)²``, shape (C,). `by_weight` has the number of rows and the sum of their weights for every octave
    of the weight, shape (2, 65). `gaps` counts missing values by column, shape (M,).
    """

    n_samples: int
    total_weight: float
    squared_weight: float
    feature_means: FloatArray
    target_means: FloatArray
    gram: FloatArray
    cross: FloatArray
    target_squares: FloatArray
    by_weight: FloatArray
    gaps: IntArray | int = 0

    def __add__(self, other: "RowMoments") -> "RowMoments":
        """Moments of both sets of rows together."""
        if self.cross.shape != other.cross.shape:
            raise DataError(
                f"a batch of {other.cross.shape[1]} features and {other.cross.shape[0]} targets cannot join "
                f"{self.cross.shape[1]} and {self.cross.shape[0]}"
            )
        share = other.total_weight / (self.total_weight + other.total_weight)
        dx = other.feature_means - self.feature_means
        dy = other.target_means - self.target_means
        summed = RowMoments(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))
        return replace(
            summed._shifted(dx, dy, self.total_weight * share),
            feature_means=self.feature_means + share * dx,
            target_means=self.target_means + share * dy,
        )

    @cached_property
    def leverages(self) -> tuple[FloatArray, FloatArray]:
        """tr R/n, ascending, and ``√(Σ w_i R_ii²/Σ w_i)`` over it, which is 1 for equal weights.

        ``R_ii = 1/(1 + w_i t)`` for so many t that linear interpolation is accurate to 1e-5.
        """
        counts, sums = self.by_weight[:, self.by_weight[0] > 0]
        w = sums / counts
        R = 1 / (1 + w[:, None] * np.geomspace(1e8 / w.min(), 1e-8 / w.max(), 2000))
        mean = counts @ R / counts.sum()
        return mean, np.sqrt(sums @ R**2 / sums.sum()) / mean

    def squares(self, a: FloatArray, b: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
        """``Σ w (a (y_i - y) - b (x_i - x))²`` of every target, shape (C,), for a and y (C,), b (C, M) and x (M,)."""
        inside = a**2 * self.target_squares - 2 * a * (self.cross * b).sum(axis=1) + ((b @ self.gram) * b).sum(axis=1)
        shift = a * (self.target_means - y) - b @ (self.feature_means - x)
        return np.asarray(np.maximum(inside, 0.0) + self.total_weight * shift**2)

    def _shifted(self, x: FloatArray, y: FloatArray, weight: float) -> "RowMoments":
        """Second moments with ``weight`` times the products of x (M,) and y (C,) added."""
        return replace(
            self,
            gram=self.gram + weight * x[:, None] * x,
            cross=self.cross + weight * y[:, None] * x,
            target_squares=self.target_squares + weight * y * y,
        )


def moments_of(X: Array | SparseMatrix, targets: Array, sample_weight: Array | None = None) -> RowMoments:
    """Moments of one batch of rows: X, shape (n, M), dense or SciPy sparse; targets (C, n); positive weights (n,).

    Products are computed in the library and on the device of X, and kept as NumPy arrays.
    """
    M = X.shape[1]
    refuse_beyond_memory(f"the products of {M:,} features", _PER_PRODUCT * M**2, "take fewer, or use fit")
    with np.errstate(over="ignore", invalid="ignore"):
        rows = training_rows(X, targets, sample_weight)
        design = Design(rows.features, rows.centres, rows.root_weights)
        g, means = rows.centred_targets
        refuse_out_of_range(rows)
        found = rows.feature_means, means, design.gram(), design.onto_features(g), (g * g).sum(axis=1)
    weights = to_numpy(rows.weights)
    octave = np.rint(np.log2(weights)).astype(int) % _OCTAVES
    by_weight = np.array([np.bincount(octave, weights**power, _OCTAVES) for power in (0, 1)])
    return RowMoments(
        rows.n_samples,
        rows.total_weight,
        float((weights**2).sum()),
        *map(to_numpy, found),  # type: ignore[arg-type, misc]
        by_weight=by_weight,
    )


def merged(parts: Iterable[RowMoments]) -> RowMoments:
    """The moments of all rows together, merged as a tree of pairs, so that rounding errors grow only with its depth.

    Parts are taken one by one, and pairs of equal depth are merged at once: for m parts, log₂ m are in memory.
    """
    held = list[tuple[int, RowMoments]]()
    for part in parts:
        depth = 0
        while held and held[-1][0] == depth:
            part, depth = held.pop()[1] + part, depth + 1
        held.append((depth, part))
    return reduce(lambda right, left: left[1] + right, held[-2::-1], held[-1][1])


def thinned(batches: Sequence[RowMoments], most: int = BATCHES) -> tuple[RowMoments, ...]:
    """At most so many batches, of about the same size: the two neighbours with the fewest rows are merged."""
    found = list(batches)
    while len(found) > most:
        at = np.argmin([a.n_samples + b.n_samples for a, b in pairwise(found)])
        found[at : at + 2] = [found[at] + found[at + 1]]
    return tuple(found)


def pieces_of(n_new: int, n_before: int, number: int | None = None) -> list[slice]:
    """Slices of new rows that become batches: `number` of them, by default the share of 32 that new rows are of all.

    >>> len(pieces_of(100, 0)), len(pieces_of(100, 100)), len(pieces_of(3, 900)), pieces_of(0, 0)
    (32, 16, 1, [])
    """
    if number is None:
        number = max(1, round(BATCHES * n_new / max(n_new + n_before, 1)))
    ends = np.linspace(0, n_new, min(number, n_new) + 1).round().astype(int)
    return [slice(start, stop) for start, stop in pairwise(ends.tolist())]


@dataclass(frozen=True, eq=False)
class MomentBatches:
    """Moments of a table, from which any estimator of weighted sums can be fitted; `gather_moments` makes it.

    Attributes
    ----------
    batches : tuple of RowMoments
        Moments of neighbouring rows, at most 32.
    has_one_target : bool
        Whether y had one axis.
    feature_names : ndarray of str, shape (n_features,), or None
        Names of the columns, if X was a frame.
    standardise : bool
        Whether columns are to be divided by their standard deviations before members are fitted.
    planned_memory : int
        Bytes that a process was planned to hold at most.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> moments = sr.gather_moments(iter([(np.eye(4), np.arange(4.0)), (np.ones((2, 4)), np.zeros(2))]))
    >>> isinstance(moments, sr.MomentBatches), moments.n_samples, moments.n_features
    (True, 6, 4)
    """

    batches: tuple[RowMoments, ...]
    has_one_target: bool
    feature_names: npt.NDArray[np.str_] | None = None
    standardise: bool = False
    planned_memory: int = 0

    @property
    def n_samples(self) -> int:
        """Rows of positive weight."""
        return sum(each.n_samples for each in self.batches)

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.batches[0].gram.shape[0])

    def leave_batches_out(self, estimator: Any) -> FloatArray:
        """Judge an estimator on every batch, fitted to the others: exact, and without another pass over the table.

        Subsets, ridges, shares and weights are chosen again without each batch. If rows are in time order, or sorted by
        groups, these errors are less biased than those of single left-out rows.

        Parameters
        ----------
        estimator : RidgeEnsembleRegressor or BandedRidge
            The estimator, of which copies are fitted.

        Returns
        -------
        ndarray, shape (n_batches,)
            Mean squared error on the rows of each batch, summed over targets.

        Raises
        ------
        DataError, ParameterError
            If there is one batch only, or the estimator needs rows.

        Examples
        --------
        >>> import numpy as np, subridge as sr
        >>> X = np.random.default_rng(0).standard_normal((400, 3))
        >>> moments = sr.gather_moments((X[i : i + 50], X[i : i + 50].sum(axis=1)) for i in range(0, 400, 50))
        >>> errors = moments.leave_batches_out(sr.RidgeEnsembleRegressor(1, ridge=0.1))
        >>> errors.shape, bool(errors.max() < 0.1)
        ((32,), True)
        """
        if len(self.batches) < 2:
            raise DataError("leaving out the only batch leaves nothing to fit; gather at least two rows")
        found = []
        for number, each in enumerate(self.batches):
            model = deepcopy(estimator).fit(replace(self, batches=self.batches[:number] + self.batches[number + 1 :]))
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # means have no feature names
                coef = np.atleast_2d(model.coef_)
                output = np.ravel(model.predict(each.feature_means[None, :]))
            found.append(each.squares(np.ones(len(coef)), coef, each.feature_means, output).sum() / each.total_weight)
        return np.array(found)


# -- rows with the same moments -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MomentRows(TrainingRows):
    """The rows of a root R, at most M + 1, that have the moments of all rows; build them by `moment_rows`.

    Products of their errors for a target, each of the m rows weighted by W/m, are those of all rows. `batches` are
    moments centred on their own means, `whole` those of all rows. If `has_intercept`, R is the root of centred moments;
    `fit_intercept` is false all the same, because the rows of R must not be centred again. Features are divided by
    `scales`, shape (M,).
    """

    batches: tuple[RowMoments, ...] = ()
    whole: RowMoments = field(kw_only=True)
    has_intercept: bool = True
    scales: FloatArray = field(kw_only=True)
    knows_leverages: ClassVar[bool] = False

    @property
    def n_samples(self) -> int:
        """n, of all rows."""
        return self.whole.n_samples

    def paths(self, plan: SubsetPlan, ridges: FloatArray) -> list[MemberPath]:
        """The members of a plan along a path of ridges, shape (L,) or (L, k)."""
        if (self.scales != 1).any() and not plan.selects_features:
            raise DataError("standardised moments cannot be used with projections; standardise X itself")
        return [
            MomentPath(self, plan, r, own)
            for r, own in enumerate((ridges.reshape(len(ridges), -1) * plan.subset_sizes).T)
        ]

    @property
    def effective_samples(self) -> float:
        """``(Σw)²/Σw²``."""
        return self.whole.total_weight**2 / self.whole.squared_weight

    def divisors(self, slack: FloatArray, mean: FloatArray) -> FloatArray:
        """As for rows, with unequal R_ii if weights are unequal.

        >>> whole = moments_of(np.eye(2), np.eye(2), np.array([1.0, 9.0]))
        >>> moment_rows([whole], True).divisors(np.ones(2), np.array([0.0, 1.0])).round(3)
        array([0.6, 1. ])
        """
        return slack * np.interp(mean, *self.whole.leverages)

    @property
    def n_units(self) -> int:
        """Number of batches, whose squared errors are compared in place of those of rows."""
        return len(self.batches)

    @property
    def room(self) -> int:
        """Dimensions of the samples that the intercept leaves."""
        return self.n_samples - self.has_intercept

    @cached_property
    def deviations(self) -> Array:
        """The labels measured from the mean of the others, in the trace form; shape (C, m)."""
        return self.targets / self._slack_of_mean

    @property
    def _slack_of_mean(self) -> float:
        """The divisor of an infinite ridge, so that such a member's outputs are exactly zero."""
        slack = np.array(self.room / self.n_samples)
        return max(self.divisors(slack, slack).item(), EPS)

    @cached_property
    def column_squares(self) -> FloatArray:
        """``Σ w (x - x̄)²/n`` of every feature, 0 if it is no more than the rounding of a constant; shape (M,)."""
        return np.asarray((np.asarray(self.features) ** 2).sum(axis=1) / self.n_samples)

    def batch_squares(self, paths: Sequence[MemberPath], places: IntArray, weights: FloatArray) -> FloatArray:
        """Squared errors of every batch, weighted and summed over targets, shape (B,), of a weighted sum of members.

        Weights have shape (C, k). The errors of all rows are ``a_c g_c - F b_c`` with one number and one vector for
        each target.
        """
        a = (1 - weights.sum(axis=1)) / self._slack_of_mean
        b = np.zeros((len(weights), self.features.shape[0]))
        for r, (path, place) in enumerate(zip(paths, places, strict=True)):
            assert isinstance(path, MomentPath)
            share, map_ = path.error_map(place)
            a += weights[:, r] * share
            b += weights[:, [r]] * map_
        if not np.isfinite(a).all():
            return np.full(len(self.batches), np.inf)
        y = self.whole.target_means * self.has_intercept
        return np.array([each.squares(a, b, self.feature_means, y).sum() for each in self.batches])


def moment_rows(batches: Sequence[RowMoments], fit_intercept: bool, standardise: bool = False) -> MomentRows:
    """Rows that have the moments of all batches together; with `standardise` in units of standard deviations."""
    whole = merged(batches)
    # Without intercept, moments about zero are used.
    used = whole._shifted(whole.feature_means, whole.target_means, whole.total_weight * (not fit_intercept))
    means = whole.feature_means * fit_intercept
    squares = whole.gram.diagonal()
    rounding = (whole.n_samples * EPS * abs(whole.feature_means)) ** 2 * whole.total_weight
    deviations = np.sqrt(np.where(squares > rounding, squares, 0.0))
    scales = np.where(standardise & (deviations > 0), deviations / whole.total_weight**0.5, 1.0)
    root, targets = _root(used, deviations if fit_intercept else np.sqrt(used.gram.diagonal()))
    weights = np.full(len(root), whole.total_weight / len(root))
    return MomentRows(
        np.ascontiguousarray((root / scales).T),
        np.ascontiguousarray(targets.T) / weights[0] ** 0.5,
        means,
        weights,
        fit_intercept=False,
        batches=tuple(batches),
        whole=whole,
        has_intercept=fit_intercept,
        scales=scales,
    )


def _root(moments: RowMoments, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R, shape (ρ + 1, M), and T, shape (ρ + 1, C), with ``RᵀR = gram``, ``TᵀR = cross`` and squared columns of T.

    R comes from a Cholesky factorisation with pivots, with columns in units of their `sizes`, shape (M,), so that
    columns of any scale keep their digits. Columns of size zero, and directions below √(M ε) of the scaled matrix, are
    left out. The last row of T has what no feature explains, target by target. So squares of targets are those of the
    rows, and products of two different targets are not.
    """
    M = len(sizes)
    squares = moments.target_squares
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    upper, pivots, rank, _ = lapack.dpstrf(moments.gram * inverse[:, None] * inverse)
    root = np.zeros((rank + 1, M))
    root[:rank, pivots - 1] = np.triu(upper)[:rank]
    targets = np.zeros((rank + 1, len(squares)))
    if rank:
        scaled = (moments.cross * inverse)[:, pivots[:rank] - 1]
        targets[:rank] = solve_triangular(upper[:rank, :rank], scaled.T, trans="T")
    rest = squares - (targets**2).sum(axis=0)
    targets[rank] = np.sqrt(np.where(rest > M * EPS * squares, rest, 0.0))
    return root * sizes, targets


# -- members --------------------------------------------------------------------------------------


class MomentPath(MemberPath):
    """One member at L penalties, from moments instead of rows; rows cannot be left out in pairs."""

    def __init__(self, rows: MomentRows, plan: SubsetPlan, r: int, penalties: FloatArray) -> None:
        super().__init__(_factorised(rows, plan.measurements[r], penalties.min()), penalties)
        self._plan = plan
        self._r = r
        self.target_means = rows.whole.target_means * rows.has_intercept

    def error_map(self, index: int) -> tuple[float, FloatArray]:
        """a and b, shape (C, M), of the left-out errors ``a g - F b`` in the trace form."""
        fit = self._fit
        p = self.penalties[[index]]
        d = fit.spectrum
        slack = float(fit.divisors(p)[0])
        gains = d**0.5 / (d + p) * (-(d[:1] + p) / d if fit.spans_samples else 1.0)  # (K + p)⁻¹g for the residual
        map_ = self._plan.lift_rows(self._r, (self._projected * gains) @ fit.right)  # type: ignore[operator]
        return np.inf if slack == 0 else (not fit.spans_samples) / slack, map_ / (slack or 1.0)


def _factorised(rows: MomentRows, measurement: IntArray, least_penalty: float) -> MemberFit:
    """The decomposition of a member on the rows of a root, without directions that are rounding errors of the moments.

    V is divided by the columns' scales, so that weights are those of the features as given.
    """
    Ft = rows.design(measurement).dense()
    V, s, Qt = np.linalg.svd(Ft, full_matrices=False)
    N = len(Ft)
    top = s.max(initial=0.0)
    rank = (s > N * EPS * top).sum()
    if least_penalty <= 8 * N * EPS * top**2:  # so small that it does not hide the rounding
        sizes = np.linalg.norm(Ft, axis=1, keepdims=True)
        own = np.linalg.svd(Ft / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
        rank = min(rank, (own**2 > 8 * N * EPS * own.max(initial=0.0) ** 2).sum())
    kept = np.arange(min(rank, max(rows.room, 0)))[::-1]  # eigenvalues ascend
    right = V.T[kept] / (rows.scales[measurement] if measurement.ndim == 1 else 1.0)
    return MemberFit(rows, measurement, Qt[kept], s[kept] ** 2, right, 0.0, 0.0, float(rank < N))


# -- a ridge per feature space --------------------------------------------------------------------


class MomentSearch(BandedSearch):
    """The best shares of feature spaces, and the best ridge, of every target among those tried so far.

    Without `groups`, errors are those of all rows in the trace form. With them, a label for each batch, they are exact:
    each batch is left out together with all batches of its label. Columns of X are in units of their standard
    deviations if moments are to be standardised. Set `ridges` before the first try. If not `per_target`, all targets
    have one choice, with the least mean of error over variance.
    """

    def __init__(
        self,
        moments: MomentBatches,
        spaces: Sequence[IntArray],
        fit_intercept: bool,
        groups: ArrayLike | None,
        per_target: bool,
    ) -> None:
        self._columns = spaces
        self._per_target = per_target
        self._groups = [] if groups is None else left_out_groups(groups, len(moments.batches)).rows_of_sets
        self.rows = rows = moment_rows(moments.batches, fit_intercept, moments.standardise)
        self.scales = np.array([rows.column_squares[columns].sum() for columns in spaces])
        self.shares = np.empty((0, len(spaces)))
        self.variation = rows.whole.target_squares
        self.loss = np.full(len(self.variation), np.inf)
        self.place = np.full(len(self.variation), -1)
        self.inside = self.outside = self.loss[:, None]  # of each part that is left out, shape (C, G)

    def try_shares(self, shares: FloatArray, tick: Tick = no_tick) -> None:
        """Try one draw of shares, shape (S,), at all ridges."""
        parts = np.stack(self._errors(shares), axis=-1)  # (L, C, G)
        sums = parts.sum(axis=-1, keepdims=True)
        # A part is judged at the choice that the others make.
        outside, places = self._least(sums - parts if parts.shape[-1] > 1 else parts)
        inside = np.take_along_axis(parts, places[None], axis=0)[0]
        self.inside = np.where(outside < self.outside, inside, self.inside)
        self.outside = np.minimum(outside, self.outside)
        (loss,), (place,) = (each.T for each in self._least(sums))
        self.place = np.where(loss < self.loss, len(self.shares) * len(self.ridges) + place, self.place)
        self.loss = np.minimum(loss, self.loss)
        self.shares = np.vstack([self.shares, shares])
        tick(1)

    def _refine(self, n_promising: int, rng: Generator, tick: Tick) -> None:
        for shares in promising_draws(self, n_promising, rng):
            self.try_shares(shares, tick)

    def forms(self, rng: Generator) -> tuple[FloatArray, FloatArray]:
        """As for rows, but T is exact: ``FᵀGF = I - A⁻¹`` and ``GF = F A⁻¹`` with A = FᵀF + I."""
        alive = self.scales > 0
        M = len(self.rows.scales)
        F = np.asarray(self.rows.features) * self._stretches(alive / alive.sum())[:, None]
        inverse = np.linalg.inv(F @ F.T + np.eye(M))
        g = self.rows.centred_targets[0]
        b = F @ g.T
        inside = alive.sum() * np.array([np.isin(np.arange(M), each) for each in self._columns])[alive]
        dual = inverse @ b
        lost = inside @ (np.diag(inverse) - (inverse**2).sum(axis=0))  # tr(G K_s G)
        within = inside @ (np.eye(M) - inverse) ** 2 @ inside.T
        traces = np.block([[within, lost[:, None]], [lost, np.array(self.rows.room - M + (inverse**2).sum())]])
        power = (g * g).sum(axis=1)  # about zero without an intercept
        rest = power - (dual * (b + dual)).sum(axis=0)
        variances = np.maximum(power / self.rows.n_samples, 1e-300)
        return traces, (np.vstack([inside @ dual**2, rest]) / variances).T

    def _least(self, errors: FloatArray) -> tuple[FloatArray, IntArray]:
        """The least of errors, shape (L, C, G), over ridges, and where it is, for each target or for all together."""
        if not self._per_target:
            spread = np.where(self.variation > 0, self.variation, np.inf)[:, None]
            errors = np.broadcast_to((errors / spread).sum(axis=1, keepdims=True), errors.shape)
        return errors.min(axis=0), errors.argmin(axis=0)

    def _errors(self, shares: FloatArray) -> list[FloatArray]:
        """Squared errors of left-out rows, weighted sums of shape (L, C) for each set."""
        places = range(len(self.ridges))
        roots = self._stretches(shares)
        if not self._groups:
            path = self._path(self.rows, roots)
            return [np.stack([path.errors(place) ** 2 @ self.rows.weights for place in places])]
        found = []
        one = np.ones(len(self.variation))
        for own in self._groups:
            others = [each for number, each in enumerate(self.rows.batches) if number not in own]
            path = self._path(moment_rows(others, self.rows.has_intercept), roots / self.rows.scales)
            held = merged(self.rows.batches[number] for number in own)
            maps = (path.coefficients(place) * roots / self.rows.scales for place in places)
            found.append(np.stack([held.squares(one, each, path.feature_means, path.target_means) for each in maps]))
        return found

    def _stretches(self, shares: FloatArray) -> FloatArray:
        """Factors of the columns with which one ridge serves all spaces; shape (M,), 0 for columns of no space."""
        found = np.zeros(len(self.rows.scales))
        for columns, share, scale in zip(self._columns, shares, self.scales, strict=True):
            found[columns] = np.sqrt(share / (scale or np.inf))
        return found

    def _path(self, rows: MomentRows, roots: FloatArray) -> MomentPath:
        M = len(roots)
        stretched = replace(rows, features=np.asarray(rows.features) * roots[:, None])
        return MomentPath(stretched, SubsetPlan.from_indices([range(M)], M), 0, self.ridges)

    def dual_coefficients(self) -> FloatArray:
        """The fit of every target at its best choice: α on the root of the moments of all rows; shape (C, m)."""
        found = np.empty((len(self.place), len(self.rows.weights)))
        draws, places = np.divmod(self.place, len(self.ridges))
        for draw in np.unique(draws):
            found[draws == draw] = self._path(self.rows, self._stretches(self.shares[draw])).dual(places)[draws == draw]
        return found

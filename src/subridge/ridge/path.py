"""Every member at every ridge of a path: coefficients and exact left-out errors, nothing refitted."""

from dataclasses import replace

import numpy as np

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import RidgeError
from subridge.ridge.member import GRAM_LIMIT, SETS_GRAM_LIMIT, MemberFit, factorise_carefully, factorise_members
from subridge.ridge.rounding import GOOD_ENOUGH, doubt_of_rows, warn_of_doubt
from subridge.ridge.rows import Design, TrainingRows

_LEAST_SHARE = 1e-6  # of the samples, behind an error that carries no information
_FEW_ROWS = 10  # too few to judge a member's weight by
_REMEMBERED = 1_000_000  # numbers of left-out errors that are kept for the next question: 8 MB
_SMALL = 20_000  # numbers of a table that is kept even if the factorisation takes less memory


class MemberPath:
    """One member at L penalties.

    Either the table of all left-out errors and coefficients is kept or the factorisation that gives any row of it,
    whichever is smaller, so that memory stays within about twice that of the dense data for any number of ridges,
    members and targets. Small tables, up to four times the factorisation, are kept as well: they cost less time.
    `noise`, shape (C, n), is the member's readout noise ξ_r, taken from its labels in training. `pairs` says that
    weights will be fitted, for which `pair_errors` and `independent` need the factorisation.
    """

    def __init__(
        self, fit: MemberFit, penalties: FloatArray, noise: Array | None = None, *, pairs: bool = False
    ) -> None:
        self._rows, self._noise, self.penalties = fit.rows, noise, penalties
        labels = fit.rows.targets if noise is None else fit.rows.targets - noise
        self._targets, self.target_means = fit.rows.centred_targets if noise is None else fit.rows.centred(labels)
        self._fit, self._is_checked = fit, False
        self._last: tuple[int, Array] | None = None  # errors that are likely to be asked for again
        self.rank = int(fit.spectrum.shape[0])
        self.independent = independent_samples(fit, penalties, pairs)
        self._table: tuple[Array, Array] | None = None
        rows_of_table = len(penalties) * int(self._targets.shape[0])
        if rows_of_table > (4 if rows_of_table * fit.rows.n_samples <= _SMALL else 1) * self.rank:
            if fit.rows.left_out is None:  # good at the least penalty, good everywhere
                self._errors_at(penalties.min()[None])
                self._is_checked = True
            return
        errors = self._errors_at(penalties)
        self._table = errors, self._fit.coefficients(penalties, self._targets)
        nothing = fit.left[:0, :] * 1.0  # a view would keep the whole table in memory
        self._fit = replace(self._fit, left=self._fit.left if pairs else nothing, right=None, design=Design(nothing))

    @property
    def n_ridges(self) -> int:
        """L."""
        return len(self.penalties)

    def errors(self, index: int) -> Array:
        """``y_i - f_r^(-i)(x_i)`` at one ridge, shape (C, n), with y the labels without readout noise.

        If rows are left out together, f_r^(-i) is trained without all of them.
        """
        if self._table is not None:
            return self._table[0][index, ...]
        if self._last is not None and self._last[0] == index:
            return self._last[1]
        errors = self._errors_at(self.penalties[index][None])[0, ...]
        self._last = (index, errors) if errors.shape[0] * errors.shape[1] <= _REMEMBERED else None
        return errors

    def coefficients(self, index: int) -> Array:
        """Weights on the unscaled features at one ridge, shape (C, N_r)."""
        if self._table is not None:
            return self._table[1][index, ...]
        return self._fit.coefficients(self.penalties[index][None], self._targets)[0, ...]

    def pair_errors(self, index: int, left_out: IntArray) -> Array:
        """Errors at one ridge with another row i left out as well, for each i of m; shape (m, C, n).

        Entry j is ``y_j - f_r^(-ij)(x_j)``, and entry i of row i the plain left-out error. Needs ``pairs=True``.
        """
        return self._unweighted(self._fit.pair_errors(float(self.penalties[index]), self._targets, left_out))

    def _errors_at(self, penalties: FloatArray) -> Array:
        """Left-out errors by the factorisation at hand if it is good enough, else by a careful one; (L, C, n)."""
        sets, targets = self._rows.left_out, self._targets
        found = self._fit.left_out(penalties, targets, sets)
        doubt = found.doubt
        if sets is None and not self._is_checked:
            doubt = doubt_of_rows(self._fit, targets, penalties, found)
            if doubt > GOOD_ENOUGH and self._fit.sharpness is None:
                self._fit = factorise_carefully(self._fit)
                found = self._fit.left_out(penalties, targets)
                doubt = doubt_of_rows(self._fit, targets, penalties, found)
        warn_of_doubt(doubt)
        return self._unweighted(found.errors)

    def _unweighted(self, weighted: Array) -> Array:
        """Errors of the labels without readout noise, from those of a member in weighted units."""
        errors = weighted if self._rows.unweighted else weighted / self._rows.root_weights
        return errors if self._noise is None else errors + self._noise


def independent_samples(fit: MemberFit, penalties: FloatArray, pairs: bool) -> FloatArray:
    """How many independent samples the left-out errors at each ridge are worth if weights are fitted to them; (L,).

    A squared error of labels that are noise is ``gᵀR²g``, which varies as that of m = (tr R²)²/tr R⁴ independent
    samples. Its inverse, which weights follow, is too large by m/(m - 2) in the mean, so n samples are worth n (1 -
    2/m). At its interpolation threshold a member has m near one: its error is one accident.

    Zero if few rows determine the member, as with rare columns: their left-out errors carry no information. Only
    members with `pairs` are tested for that.
    """
    rows, d, p = fit.rows, to_numpy(fit.spectrum), penalties[:, None]
    if pairs and rests_on_few_rows(fit, float(penalties.min())):
        return np.zeros(len(penalties))
    squares = ((d.min(initial=np.inf) + p if fit.spans_samples else p) / (d + p)) ** 2
    untouched = rows.room - len(d)
    m = (squares.sum(axis=1) + untouched) ** 2 / ((squares**2).sum(axis=1) + untouched)
    effective = rows.total_weight**2 / float((rows.weights**2).sum())
    most = rows.room if rows.left_out is None else rows.left_out.n_sets
    return np.asarray(np.minimum(np.maximum(1 - 2 / m, _LEAST_SHARE) * effective, most))


def rests_on_few_rows(fit: MemberFit, penalty: float) -> bool:
    """Whether few rows determine a member: their leverages q at a penalty are worth few equal ones, by (Σq)²/Σq²."""
    d = to_numpy(fit.spectrum)
    shares = (d / (d + penalty)) @ to_numpy(fit.left) ** 2
    return bool(len(d)) and bool(shares.sum() ** 2 < min(_FEW_ROWS, len(shares) / 6) * (shares**2).sum())


def member_paths(
    rows: TrainingRows, plan: SubsetPlan, ridges: FloatArray, noise: Array | None = None, *, pairs: bool = False
) -> list[MemberPath]:
    """Factorise every member once and return its path.

    Ridges are in the paper's convention, shape (L,), or (L, k) with a column for each member; `noise` has shape (k, C,
    n). `pairs` says that weights will be fitted.
    """
    if (ridges < 0).any():
        raise RidgeError(f"ridge must be at least 0 to train, got {ridges.min():g}")
    penalties = ridges.reshape(len(ridges), -1) * plan.subset_sizes
    fits = factorise_members(
        rows, plan, penalties.min(axis=0), GRAM_LIMIT if rows.left_out is None else SETS_GRAM_LIMIT
    )
    return [
        MemberPath(fit, penalties[:, r], None if noise is None else noise[r], pairs=pairs) for r, fit in enumerate(fits)
    ]

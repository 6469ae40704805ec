"""Every member at every ridge of a path: coefficients and exact leave-one-out errors, nothing refitted."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from subridge.arrays.namespace import is_numpy, is_sparse, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.errors import AccuracyWarning, RidgeError
from subridge.model.plan import SubsetPlan
from subridge.ridge.rows.decomposition import MemberDecomposition, careful, decompose, path_coefficients
from subridge.ridge.rows.design import DenseDesign, Design, SelectedDesign
from subridge.ridge.rows.doubt import NOTICED, doubt
from subridge.ridge.rows.exact_rank import RawRows
from subridge.ridge.rows.leave_one_out import leave_one_out
from subridge.ridge.rows.leave_pairs_out import SlimMember, least_penalty, leave_pairs_out
from subridge.ridge.rows.leave_sets_out import GRAM_LIMIT, leave_sets_out
from subridge.ridge.rows.one_ridge import SolvedMember, solve_member
from subridge.ridge.rows.training import TrainingRows

_GOOD_ENOUGH = 2e-9  # estimated relative error up to which a Gram or kernel matrix serves
_LEAST_SHARE = 1e-6  # of the samples, behind an error that tells nothing
_FEW_ROWS = 10  # that carry the output of a member: too few to judge a weight of its own by
_KNOWN = 1e-6  # sum of leverages
_SMALL = 20_000  # numbers of a table that is kept though the decomposition takes less memory


@dataclass(frozen=True, eq=False)
class _Table:
    """All of a path: errors of shape (L, C, n) and coefficients of shape (L, C, N_r)."""

    errors: Array
    coefficients: Array


class MemberPath:
    """One member along a path of L ridges, in the paper's convention, of rows that it sees as `design`.

    Whichever is smaller is kept, the table of all leave-one-out errors and coefficients or the decomposition that gives
    any row of it, so that memory stays within twice that of the dense data however many ridges, members and targets;
    where both are small the table is, up to four times the other, because what is computed at once costs less.
    `noise`, shape (C, n), is the member's readout noise ξ_r, taken from its labels in training. `again`, which
    makes the design anew, is for those who will ask for `pair_errors`. `solution` is what a single ridge was solved by,
    from which the member without any row can be had; None for a path. `raw` is what the design was made from.
    """

    def __init__(
        self,
        design: Design,
        rows: TrainingRows,
        ridges: FloatArray,
        noise: Array | None = None,
        again: Callable[[], DenseDesign | SelectedDesign] | None = None,
        raw: RawRows | None = None,
    ) -> None:
        self.penalties = ridges * design.n_features
        self._raw = raw
        self._rows, self._noise = rows, noise
        labels = rows.centred_targets if noise is None else rows.centred(rows.targets - noise)
        self._targets, self.target_means = labels
        self._trusted = np.inf  # the least penalty at which the decomposition was found good enough
        least, together = float(self.penalties.min()), rows.left_out
        self._careful: MemberDecomposition | None = None
        self._member: MemberDecomposition | SlimMember | None = None
        self._diagonals: Array | None = None
        self._spectrum: Array | None = None
        self._spans_samples, self._n_features = False, design.n_features
        self._rests_on_few: bool | None = None  # not known yet
        self._kept: MemberDecomposition | _Table
        self.solution: MemberDecomposition | SolvedMember | None = None
        if together is None and len(ridges) == 1 and again is None and self._targets.shape[0] <= design.n_features:
            solved = solve_member(design, least, rows.intercept_leverage, _GOOD_ENOUGH)
            if solved is not None:
                coefficients = solved.coefficients(self._targets)
                errors = self._unweighted(solved.errors(design, self._targets, coefficients))
                self._kept = _Table(errors[None, ...], coefficients[None, ...])
                self.solution = solved
                return
        direction = rows.intercept_direction
        if together is None:
            member = decompose(design, least, rows.fit_intercept, direction=direction)
        else:
            member = decompose(design, least, rows.fit_intercept, GRAM_LIMIT, direction)
        self._member = None if again is None else member
        self._rests_on_few = rests_on_few_rows(member, least) if together is not None else None
        self._spectrum, self._spans_samples = member.spectrum, member.spans_samples
        self._kept = member
        self.solution = member if len(ridges) == 1 else None
        rows_of_table = len(ridges) * self._targets.shape[0]
        if rows_of_table <= (4 if rows_of_table * rows.n_samples <= _SMALL else 1) * member.spectrum.shape[0]:
            coefficients = path_coefficients(member, self._targets, self.penalties)
            self._kept = _Table(self._errors_at(member, self.penalties), coefficients)
            if again is not None:
                self._member, self._careful = self._for_pairs(self._careful or member, again), None

    def _for_pairs(
        self, member: MemberDecomposition, again: Callable[[], DenseDesign | SelectedDesign]
    ) -> MemberDecomposition | SlimMember:
        """What `pair_errors` needs of a member whose table is kept."""
        least = float(self.penalties.min())
        if member.right is None or member.sharpness is not None or least < least_penalty(member):
            return replace(member, right=None, design=DenseDesign(member.left[:0, :]))
        return SlimMember(member.spectrum, member.right, again)

    @property
    def n_ridges(self) -> int:
        """L."""
        return len(self.penalties)

    @cached_property
    def independent(self) -> FloatArray:
        """How many independent samples the left-out errors at each ridge are worth to those who weigh by them; (L,).

        A squared error of labels that are noise is ``gᵀR²g`` with R = I - H, which varies as that of m = (tr R²)²/tr R⁴
        independent samples. Its inverse, which weights follow, is too large by m/(m - 2) in the mean, so that n samples
        are worth n (1 - 2/m). At its interpolation threshold a member has m near one: its error is one accident.

        Nothing where few rows carry what the member says, as with rare columns: left out they say nothing, and what the
        member will say of new rows like them is in no error. Paths that were made for no weights do not look for it.
        """
        if self._rests_on_few is None and isinstance(self._kept, MemberDecomposition):
            self._rests_on_few = rests_on_few_rows(self._kept, float(self.penalties.min()))
        if self._rests_on_few:
            return np.zeros(len(self.penalties))
        room, p = self._rows.n_samples - int(self._rows.fit_intercept), self.penalties[:, None]
        if self._spectrum is None:  # solved without it: tr R⁴ ≤ tr R², and no more than N_r directions are fitted
            m = np.full(len(p), max(float(room - self._n_features), 1.0))
        else:
            d = to_numpy(self._spectrum)
            squares = ((d.min(initial=np.inf) + p if self._spans_samples else p) / (d + p)) ** 2
            untouched = 0 if self._spans_samples else max(room - len(d), 0)
            m = (squares.sum(axis=1) + untouched) ** 2 / ((squares**2).sum(axis=1) + untouched)
        sets = room if self._rows.left_out is None else int(self._rows.left_out.owners.max()) + 1
        return np.asarray(np.minimum(np.maximum(1 - 2 / m, _LEAST_SHARE) * self._rows.effective_samples, sets))

    def errors(self, index: int) -> Array:
        """``y_i - f_r^(-i)(x_i)`` at one ridge, shape (C, n), with y the labels without readout noise.

        Where rows are left out together, f_r^(-i) is trained without all of them.
        """
        if isinstance(self._kept, _Table):
            return self._kept.errors[index, ...]
        return self._errors_at(self._kept, self.penalties[index : index + 1])[0, ...]

    def coefficients(self, index: int) -> Array:
        """Weights on the unscaled features at one ridge, shape (C, N_r)."""
        if isinstance(self._kept, _Table):
            return self._kept.coefficients[index, ...]
        return path_coefficients(self._kept, self._targets, self.penalties[index : index + 1])[0, ...]

    @property
    def rank(self) -> int:
        """Directions of the samples that a kept decomposition has."""
        return int(self._decomposition.spectrum.shape[0])

    def pair_errors(self, index: int, left_out: IntArray) -> Array:
        """Errors at one ridge with another sample i left out as well, for each i of m; shape (m, C, n).

        Entry j is ``y_j - f_r^(-ij)(x_j)``, and entry i of row i the plain left-out error.
        """
        member, rows, diagonals = self._decomposition, self._rows, self._diagonals
        least = least_penalty(member)
        penalty = max(float(self.penalties[index]), least)
        if diagonals is not None and self.penalties[index] >= least:
            errors = self.errors(index) if self._noise is None else self.errors(index) - self._noise
            single = errors if rows.unweighted else errors * rows.root_weights, diagonals[index, ...]
        else:
            assert isinstance(member, MemberDecomposition)
            found = leave_one_out(member, self._targets, np.array([penalty]), rows.intercept_leverage)
            single = found.errors[0, ...], found.diagonals[0, ...]
        direction: Array | float | None = rows.intercept_direction
        if direction is not None and rows.unweighted:
            direction = float(rows.n_samples) ** -0.5
        pairs = leave_pairs_out(member, single, penalty, direction, left_out)
        return self._unweighted(pairs)

    @property
    def _decomposition(self) -> MemberDecomposition | SlimMember:
        member = self._kept if self._member is None else self._member
        if isinstance(member, _Table):
            raise TypeError("pairs of samples need the decomposition; make the paths with pairs=True")
        return member

    def _errors_at(self, member: MemberDecomposition, penalties: FloatArray) -> Array:
        if self._rows.left_out is None:
            weighted = self._left_out(member, penalties)
        else:
            sets = self._rows.left_out
            weighted, off = leave_sets_out(member, self._targets, penalties, self._rows, sets, self._raw)
            _warn_of(off)
        return self._unweighted(weighted)

    def _unweighted(self, weighted: Array) -> Array:
        """Errors of labels with their readout noise, from those of a member in weighted units."""
        errors = weighted if self._rows.unweighted else weighted / self._rows.root_weights
        return errors if self._noise is None else errors + self._noise

    def _left_out(self, member: MemberDecomposition, penalties: FloatArray) -> Array:
        """By the decomposition at hand where it is good enough, else by a careful one; a warning where neither is."""
        leverage = self._rows.intercept_leverage
        found = leave_one_out(member, self._targets, penalties, leverage)
        # Rounding counts least at large penalties: what was good enough at one is so at all larger ones.
        known = penalties.min() >= self._trusted
        off = 0.0 if known else doubt(member, self._targets, penalties, found, self._raw)
        if off <= _GOOD_ENOUGH:
            self._trusted = min(self._trusted, float(penalties.min()))
        elif member.sharpness is None:
            if self._careful is None:
                room = self._rows.n_samples - int(self._rows.fit_intercept)
                self._careful = careful(member.design, room, self._rows.intercept_direction)
            member = self._careful
            found = leave_one_out(member, self._targets, penalties, leverage)
            off = doubt(member, self._targets, penalties, found, self._raw)
            self._member = None if self._member is None else member
        _warn_of(off)
        self._diagonals = found.diagonals if self._member is not None and len(penalties) == self.n_ridges else None
        if self._diagonals is not None and self._rests_on_few is None:
            least = int(np.argmin(penalties))
            penalty = float(penalties[least])
            # What leave-one-out divided by has the leverages already, unless they are so small that rounding made them.
            scale = penalty if member.spans_samples else 1.0
            leverages = to_numpy(1 - leverage - scale * found.diagonals[least, ...])
            at_hand = leverages.sum() > _KNOWN
            self._rests_on_few = are_few(leverages) if at_hand else rests_on_few_rows(member, penalty)
        return found.errors


def rests_on_few_rows(member: MemberDecomposition, penalty: float) -> bool:
    """Whether few rows carry what a member says, by their leverages at a penalty."""
    d = to_numpy(member.spectrum)
    return bool(len(d)) and are_few((d / (d + penalty)) @ to_numpy(member.left) ** 2)


def are_few(shares: FloatArray) -> bool:
    """Whether shares (n,) of rows sum up as (Σq)²/Σq² equal ones would, and these are few."""
    return bool(shares.sum() ** 2 < min(_FEW_ROWS, len(shares) / 6) * (shares**2).sum())


def _warn_of(off: float) -> None:
    """Tell the caller of left-out errors that may be off by this share of themselves, if it is worth a word."""
    if off > NOTICED:
        # A power of ten, so that many members of much the same doubt are one warning and not one each.
        extent = f"up to {10.0 ** np.ceil(np.log10(off)):.0e} of themselves" if off < 1 else "more than themselves"
        warnings.warn(
            f"left-out errors may be off by {extent}: features that others explain up to rounding, at a ridge too "
            "small to hide it; drop such features, scale the others, or raise the ridge",
            AccuracyWarning,
            stacklevel=3,
        )


def member_paths(
    rows: TrainingRows, plan: SubsetPlan, ridges: FloatArray, noise: Array | None = None, *, pairs: bool = False
) -> list[MemberPath]:
    """Decompose every member once and return its path.

    Ridges are in the paper's convention, shape (L,), or (L, k) with a column for each member; `noise` has shape (k, C,
    n). Disjoint subsets need only the diagonal blocks of the Gram matrix. Where members overlap so much that their
    blocks cost more than the whole, Σ_r N_r² > M², the whole is formed once and the blocks are cut from it. `pairs` is
    for those who will ask for `MemberPath.pair_errors`.
    """
    if (ridges < 0).any():
        raise RidgeError(f"ridge must be at least 0 to train, got {ridges.min():g}")
    columns = np.broadcast_to(ridges.reshape(len(ridges), -1), (len(ridges), plan.n_members))
    gram = _shared_gram(rows, plan)

    def one(r: int) -> MemberPath:
        design, A = rows.member(plan, r, gram), plan.measurements[r]
        again = partial(_again, rows, plan, r, None if plan.selects_features else design)
        as_given = (A, None) if A.ndim == 1 else (None, A)
        raw = None if rows.given is None else RawRows(rows.given, rows.fit_intercept, *as_given)
        own_noise = None if noise is None else noise[r]
        return MemberPath(design, rows, columns[:, r], own_noise, again if pairs else None, raw)

    return [one(r) for r in range(plan.n_members)]


def _again(rows: TrainingRows, plan: SubsetPlan, r: int, kept: Design | None) -> DenseDesign | SelectedDesign:
    """A member's design for those who need it once more: combinations of features are kept, a subset is not."""
    features, A = rows.features, plan.measurements[r]
    if kept is None and not is_sparse(features) and is_numpy(features):
        return SelectedDesign(features, A)
    return DenseDesign((rows.member(plan, r) if kept is None else kept).dense())


def _shared_gram(rows: TrainingRows, plan: SubsetPlan) -> Array | None:
    if not plan.selects_features:
        return None
    by_features = plan.subset_sizes[plan.subset_sizes < rows.n_samples - int(rows.fit_intercept)]
    if (by_features**2).sum() <= plan.n_features**2:
        return None
    return rows.gram()

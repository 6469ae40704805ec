"""One member, factorised once: all ridges, left-out rows and new rows use the same factorisation.

With the member's centred, weighted rows ``F = Q diag(√d) Vᵀ`` (n × N_r), a penalty p = λ_r N_r, centred and weighted
labels g and the direction u = √w/‖√w‖ of the intercept,

- weights: ``V √d/(d+p) Qᵀg``;
- hat matrix: ``H = uuᵀ + Q d/(d+p) Qᵀ``;
- residual operator: ``R = I - H = P + p B`` with ``P = I - uuᵀ - QQᵀ`` and ``B = Q (d+p)⁻¹ Qᵀ``;
- left-out error of row i: ``e_i = (Rg)_i/R_ii``; of a set s of rows: ``e_s = R_ss⁻¹ (Rg)_s``;
- left-out error of row j if row i is left out too: ``(e_j - R_ij/R_jj e_i)/(1 - R_ij²/(R_ii R_jj))``;
- output for a new row x without the set s: ``f(x) - h_s(x)ᵀ e_s`` with ``h(x) = u/‖√w‖ + Q √d/(d+p) Vᵀ(x - x̄)``.

All are exact for weighted ridge regression with an unpenalised intercept. Errors are in weighted units, √w_i e_i. At
p = 0 the minimum-norm solution is the limit p → 0⁺. If the Q and u of a member span all samples, R = p B. In the code R
is then ``(d₁+p) B``, with the least eigenvalue d₁: the factor cancels everywhere.

A member takes n N_r s multiplications for the Gram matrix of the smaller side s = min(n, N_r), about 9 s³ for its
eigenvectors, n N_r s for Q, and 2 n s per ridge and target.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from subridge.arrays.exact_rank import product_of_residues, rank_is_at_most, residues_of
from subridge.arrays.namespace import eye_like, is_sparse, like, namespace_of, select_rows, take_last, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import AccuracyWarning
from subridge.ridge.rounding import EPS, decompose_carefully, orthogonal_again, perturbed
from subridge.ridge.rows import Design, LeftOutSets, SetBatch, TrainingRows, training_rows

# A Gram matrix squares the condition number. If (d + p)/d_max is below this limit, more than half of the 16 digits
# would be lost, and the rows themselves are decomposed instead.
GRAM_LIMIT = 1e-7
_SETS_GRAM_LIMIT = 1e-4  # the same if sets of rows are left out: R_ss needs more digits than R_ii
PILOT_GRAM_LIMIT = 1e-12  # the same for estimates that need four digits only
_ORTHONORMAL_NOISE = 30 * EPS  # of a sum of squares that should be one; measured up to 8 eps at n = 2000
_GOOD_ENOUGH = 2e-9  # estimated relative error up to which a Gram or kernel matrix serves
_NOTICED = 1e-7  # relative error above which the user is warned
_CLEAR = 1e-10  # relative error below which no closer bound is needed
_TINY = 1e-300
_LEAST_EIGENVALUE = 1e-6  # of R_ss, so that no more than half of the digits are lost
_DIGITS = 1e7  # by which an eigenvalue of R_ss must exceed its rounding error
_PERTURBED, _SAFETY = 3, 10.0  # decompositions of perturbed rows, and a factor for their largest change
_ENTRIES = 10_000_000  # of the largest table of rows of Q held at once: 80 MB
# Both are shares of the largest eigenvalue. Without ridge, the formula for pairs is 0/0 for a member that interpolates
# as soon as two rows are left out.
_RESOLVED = 1e-6  # penalty from which on the formula keeps some digits
_LEAST_PAIR_PENALTY = 1e-9  # penalty that is too small to change the errors
_LEAST_SHARE = 1e-6  # of the samples, that an uninformative error counts as
_FEW_ROWS = 10  # too few to judge a member's weight by
_MOST_SETS = 256  # that degrees of freedom are computed from; of more sets, some are taken
IN_CACHE = 2**18  # numbers: 2 MB, which fit into the cache of a CPU
_SMALL = 20_000  # numbers of a table that is kept even if the factorisation takes less memory
_LEAST_PAIR_SLACK = 1e-10  # two rows that are alone in a direction determine each other: the second is not left out


_NONE = np.empty(0, dtype=int)


class LeftOut(NamedTuple):
    """Left-out errors in weighted units, shape (L, C, n), with the diagonal of R and their accuracy.

    `diagonals` are R_ii, shape (L, n), zero for an interpolated row at p = 0; empty if sets are left out. `alone` are
    the rows that are alone in a direction. `doubt` is the relative rounding error if sets are left out; for single rows
    `doubt_of_rows` estimates it.
    """

    errors: Array
    diagonals: Array
    alone: IntArray = _NONE
    doubt: float = 0.0


@dataclass(frozen=True, eq=False)
class MemberFit:
    """The singular value decomposition of one member's rows, of rank ρ; make it by `factorise`.

    `known_left` is Qᵀ, shape (ρ, n), or None to make it from V when it is needed; `spectrum` d, shape (ρ,), all
    positive and ascending; `right` Vᵀ, shape (ρ, N_r), or None if the kernel F Fᵀ was decomposed. `measurement` is the
    member's entry in the plan. `slack_noise` bounds the rounding error in the diagonal of P, below which it counts as
    zero; -inf if it matters for none of the penalties. `sharpness`, of a careful decomposition only, is the
    uncertainty of the space that Q spans. `dropped` bounds d in the directions that were dropped as rounding errors; 0
    if there are none.
    """

    rows: TrainingRows
    measurement: IntArray
    known_left: Array | None
    spectrum: Array
    right: Array | None
    slack_noise: float
    sharpness: float | None = None
    dropped: float = 0.0

    @property
    def design(self) -> Design:
        """The rows as the member sees them, with a new copy of its features."""
        return self.rows.design(self.measurement)

    @cached_property
    def left(self) -> Array:
        """Qᵀ, shape (ρ, n)."""
        if self.known_left is not None:
            return self.known_left
        assert self.right is not None
        return self.design.onto_samples((self.right.T / self.spectrum**0.5).T)

    @cached_property
    def directions(self) -> Array:
        """Qᵀ, and u below it; shape (ρ + 1, n)."""
        return namespace_of(self.left).concat([self.left, self.rows.intercept_direction[None, :]])

    @property
    def spans_samples(self) -> bool:
        """Whether Q and the intercept span all of R^n: without ridge the member interpolates."""
        return 0 < len(self.spectrum) == self.rows.room

    def given_columns(self) -> FloatArray | None:
        """The columns of X as given that the member sees, (n, N_r), all for a projection; None after training."""
        X = self.rows.given
        if X is None:
            return None
        if self.measurement.ndim == 1:
            X = X[:, self.measurement] if is_sparse(X) else take_last(X, self.measurement)
        return X.toarray() if is_sparse(X) else to_numpy(X)

    @cached_property
    def _residues(self) -> IntArray | None:
        """The columns that the member sees modulo a prime, and one of ones for the intercept; None after training."""
        seen = self.given_columns()
        if seen is None:
            return None
        found = residues_of(seen)
        if self.measurement.ndim == 2:
            found = product_of_residues(found, residues_of(self.measurement).T)
        return np.hstack([found, np.ones((len(found), int(self.rows.fit_intercept)), dtype=int)])

    def has_rank(self, rank: int, without: Sequence[int] | IntArray = ()) -> bool:
        """Whether the rank of the centred rows, less some of them, is exactly this number, which it reaches at least.

        If the rows are no longer kept, they count as exactly dependent. By rounding, more rows may count as alone than
        there are directions; the rank is then negative.
        """
        if self._residues is None:
            return True
        kept = np.delete(self._residues, np.asarray(without, dtype=int), axis=0)
        return rank >= 0 and rank_is_at_most(kept, rank + self.rows.fit_intercept)

    def uncertainty(self, penalties: FloatArray) -> FloatArray:
        """Relative rounding error of R, shape (L,): of the decomposition, and of directions that it dropped."""
        d = to_numpy(self.spectrum)
        lost = self.dropped / np.maximum(self.dropped + penalties, _TINY)
        if self.sharpness is None:
            lost += 4 * EPS * (d[-1:].sum() + penalties) / np.maximum(d[:1].sum() + penalties, _TINY)
            return lost
        if (lost > _CLEAR).any() and self.has_rank(len(d)):
            return np.full_like(lost, self.sharpness)
        return self.sharpness + lost

    def hat_gains(self, penalties: FloatArray) -> Array:
        """Eigenvalues ``d/(d+p)`` of the hat matrix without intercept; shape (L, ρ)."""
        return self.spectrum / (self.spectrum + _column(penalties, self.spectrum))

    def residual_gains(self, penalties: FloatArray) -> Array:
        """Eigenvalues of R on the member's own directions: ``p/(d+p)``, or ``(d₁+p)/(d+p)`` if it spans; (L, ρ)."""
        p = _column(penalties, self.spectrum)
        least = self.spectrum[0] if self.spans_samples else 0.0
        return (least + p) / (self.spectrum + p)

    def residual_weights(self, penalties: FloatArray) -> Array:
        """w in ``R = I + U diag(w) Uᵀ`` with U = (Q, u), without I if the member spans all samples; (L, ρ + 1)."""
        gains = self.residual_gains(penalties) if self.spans_samples else -self.hat_gains(penalties)
        intercept = _column(penalties, self.spectrum) * 0.0 - float(self.rows.fit_intercept and not self.spans_samples)
        return namespace_of(gains).concat([gains, intercept], axis=1)

    def slack(self, penalties: FloatArray) -> Array:
        """``tr R/n``, the mean of R_ii; shape (L,)."""
        total: Array = self.residual_gains(penalties).sum(axis=1) + self.rows.room - len(self.spectrum)
        return total / self.rows.n_samples

    def divisors(self, penalties: FloatArray) -> FloatArray:
        """Residuals over left-out errors in the trace form, shape (L,)."""
        slack = to_numpy(self.slack(penalties))
        # If the member spans all samples, `slack` is larger than tr R/n by a factor that cancels.
        share = penalties / (self.spectrum[0] + penalties) if self.spans_samples else 1.0
        return self.rows.divisors(slack, slack * share)

    def coefficients(self, penalties: FloatArray, targets: Array, projected: Array | None = None) -> Array:
        """Weights on the unscaled features, (L, C, N_r), from centred, weighted labels g (C, n).

        Penalties have shape (L,), or (L, C) if each target has its own. `projected` is ``g Q``, shape (C, ρ), if it is
        known.
        """
        d = self.spectrum
        L = len(penalties)
        A = targets @ self.left.T if projected is None else projected
        C, rank = A.shape
        solved = (A / (d + like(penalties.reshape(L, -1, 1), d))).reshape(L * C, rank)
        V = self.right
        flat = self.design.onto_features(solved @ self.left) if V is None else (solved * d**0.5) @ V
        return flat.reshape(L, C, len(self.measurement))

    # -- rows left out one by one -----------------------------------------------------------------

    def left_out(self, penalties: FloatArray, targets: Array, doubted: bool = True) -> LeftOut:
        """Errors at every row if it, or its set, is left out, from penalties (L,) and centred, weighted labels (C, n).

        Unless their accuracy is `doubted`, the errors of sets take one refit in place of four where one is needed.

        If one of three labels without features is left out, it is predicted by the mean of the other two:

        >>> from subridge.ridge.rows import left_out_groups, training_rows
        >>> plan = SubsetPlan.from_indices([[0]], 1)
        >>> rows = training_rows(np.ones((3, 1)), np.array([[0.0, 3.0, 6.0]]))
        >>> factorise(rows, plan, 0, 1.0).left_out(np.array([1.0]), rows.centred_targets[0]).errors
        array([[[-4.5,  0. ,  4.5]]])
        >>> groups = replace(rows, left_out=left_out_groups([0, 0, 1], 3))
        >>> factorise(groups, plan, 0, 1.0).left_out(np.array([1.0]), rows.centred_targets[0]).errors
        array([[[-6. , -3. ,  4.5]]])
        """
        sets = self.rows.left_out
        if sets is not None:
            parts = []
            off = total = np.zeros(())
            for batch, part, moved in self.set_errors(penalties, targets, sets, doubted):
                parts.append(batch.answers(part))
                off = off + moved**2
                total = total + to_numpy((part * part).sum(axis=(-2, -1)))
            joined = take_last(namespace_of(targets).concat(parts, axis=-1), sets.order)
            return LeftOut(joined, targets[:0], doubt=largest_ratio(off, total))
        Qt = self.left
        A = targets @ Qt.T
        gains = self.residual_gains(penalties)
        if not self.rows.knows_leverages:  # a trace replaces them
            residuals = _filtered(A, gains, Qt) + (targets - A @ Qt) * (not self.spans_samples)
            slack = self.divisors(penalties)[:, None, None]
            return LeftOut(np.where(slack > 0, residuals / np.maximum(slack, _TINY), np.inf), A[:0])
        squares = Qt * Qt
        if self.spans_samples:
            diagonals = gains @ squares
            return LeftOut(_filtered(A, gains, Qt) / diagonals[:, None, :], diagonals)
        # A last row of ones adds the projection QQᵀ to the products for all ridges, so that each takes one pass over Q.
        gains = namespace_of(gains).concat([gains, gains[:1] * 0.0 + 1.0])
        fits = _filtered(A, gains, Qt)
        sums = gains @ squares
        u = self.rows.intercept_direction
        noise = hidden = self.slack_noise
        rest = targets - fits[-1]
        slack = 1 - u**2 - sums[-1]
        fits = fits[:-1]
        sums = sums[:-1]
        if self.sharpness is not None:
            rest, slack = orthogonal_again(Qt, u, rest, slack)
            noise = self.sharpness**2
            hidden = np.inf
        interpolated = slack <= noise
        if not interpolated.any():
            diagonals = sums + slack
            return LeftOut((fits + rest) / diagonals[:, None, :], diagonals)
        # A share of 1e-9 may be a rounding error, but it changes errors by its root, 3e-5. So it is dropped only if the
        # penalty leaves larger terms beside it, or if a careful decomposition resolves the root.
        kept = ~interpolated | (sums > hidden)
        diagonals = sums + slack * kept
        with np.errstate(invalid="ignore"):
            errors = (fits + rest * kept[:, None, :]) / diagonals[:, None, :]
            # Both are of order p where H_ii = 1, and their ratio tends to (K⁺g)_i/(K⁺)_ii with K = FFᵀ.
            limit = ((A / self.spectrum) @ Qt) / ((1 / self.spectrum) @ squares)
            for index in np.flatnonzero(penalties == 0).tolist():
                errors[index][:, interpolated] = limit[:, interpolated]
        return LeftOut(errors, diagonals, np.flatnonzero(to_numpy(interpolated)))

    def pair_errors(self, penalties: FloatArray, targets: Array, left_out: IntArray) -> Array:
        """Left-out errors if row, or set, i is left out too, for each i of m; (L, m, C, n), in L m n ρ operations.

        Row i itself keeps its left-out error. Rows of set i, and of sets that overlap with it, have an error of zero.
        """
        xp = namespace_of(targets)
        p = np.maximum(penalties, _LEAST_PAIR_PENALTY * float(self.spectrum[-1:].sum()))
        weights = self.residual_weights(p)
        sets = self.rows.left_out
        if sets is not None:
            step = max(1, IN_CACHE // (sets.largest * self.rows.n_samples))
            return xp.concat(
                [
                    self._pairs_of_sets(weights[at : at + step], targets, left_out, sets)
                    for at in range(0, len(weights), step)
                ]
            )
        # The formula for pairs, computed as (R_ij e_i - R_jj e_j)/(R_ij²/R_ii - R_jj).
        found = self.left_out(p, targets)
        errors = found.errors
        diagonal = found.diagonals[:, None, :]
        own = take_last(found.diagonals, left_out)[:, :, None]
        across = self.residual_rows(weights, left_out)
        across[:, np.arange(len(left_out)), left_out] = 0.0
        slack = across * across
        slack /= own
        slack -= diagonal
        usable = slack < -_LEAST_PAIR_SLACK * diagonal
        if not usable.all():
            across = across * usable
            slack = xp.where(usable, slack, -diagonal)
        pairs = across[:, :, None, :] * take_last(errors, left_out).mT[..., None]
        pairs -= (errors * diagonal)[:, None, :, :]
        pairs /= slack[:, :, None, :]
        return pairs

    def residual_rows(self, weights: Array, index: IntArray) -> Array:
        """Some rows of R, shape (L, m, n), from its weights (L, ρ + 1)."""
        rows = (take_last(self.directions, index).T * weights[:, None, :]) @ self.directions
        rows[:, np.arange(len(index)), index] += float(not self.spans_samples)
        return rows

    def _pairs_of_sets(self, weights: Array, targets: Array, left_out: IntArray, sets: LeftOutSets) -> Array:
        """``e_s = R'_ss⁻¹ r'_s`` for every set s, with R' and r' = R'g those of the rows without set i; (L, m, C, n).

        `weights` have shape (L, ρ + 1).
        """
        xp = namespace_of(targets)
        Ut = self.directions
        identity = 0.0 if self.spans_samples else 1.0
        residuals = targets * identity + (targets @ Ut.T * weights[:, None, :]) @ Ut
        blocks = []
        for batch in sets.batches:
            U = xp.permute_dims(batch.of(Ut), (1, 2, 0))
            blocks.append((U * weights[:, None, None, :]) @ U.mT + eye_like(U, U.shape[1]) * identity)
        ends = np.cumsum([len(batch.rows) for batch in sets.batches])
        found = []
        for i in left_out.tolist():
            own = sets.rows_of_sets[i]
            parts = []
            touching = np.split(sets.touching(i), ends[:-1])
            across = self.residual_rows(weights, own)
            inner = take_last(across, own)
            solved = xp.linalg.solve(inner, across)
            rest = residuals - xp.linalg.solve(inner, take_last(residuals, own).mT).mT @ across
            for batch, block, touches in zip(sets.batches, blocks, touching, strict=True):
                a, b, r = (batch.of(each) for each in (across, solved, rest))
                apart = like(1.0 - touches, targets)[:, None, None]
                shared = xp.permute_dims(a, (0, 2, 3, 1)) @ xp.permute_dims(b, (0, 2, 1, 3))
                R = apart * (block - shared) + (1 - apart) * eye_like(block, block.shape[-1])
                errors = xp.linalg.solve(R, apart * xp.permute_dims(r, (0, 2, 3, 1)))
                parts.append(batch.answers(xp.permute_dims(errors, (0, 3, 1, 2))))
            found.append(take_last(xp.concat(parts, axis=-1), sets.order))
        return xp.stack(found, axis=1)

    # -- sets of rows left out together -----------------------------------------------------------

    def set_errors(
        self, penalties: FloatArray, targets: Array, sets: LeftOutSets, doubted: bool
    ) -> Iterator[tuple[SetBatch, Array, FloatArray]]:
        """Errors on all rows of every set, batch by batch, shape (L, C, G, m), and bounds of their errors, (L, C).

        Sets of one size are solved together, with a matrix of the set's m rows or (Woodbury) of the member's ρ + 1
        directions, whichever is smaller. Where rounding may affect the errors of a set, as for rows that span
        directions alone at p = 0, the member is refitted without it.
        """
        shares = self.uncertainty(penalties)
        sizes = np.linalg.norm(to_numpy(targets), axis=1)
        xp = namespace_of(targets)
        d = self.spectrum
        u = self.rows.intercept_direction
        # Rounding mixes directions of tiny variance with the intercept's, whose variance is zero.
        Qt = self.left - (self.left @ u)[:, None] * u
        A = targets @ Qt.T
        gains = 1 / (d + _column(penalties, d))
        inside = _filtered(A, gains, Qt)  # Bg
        outside = targets * 0.0 if self.spans_samples else targets - A @ Qt  # Pg
        Ut = xp.concat([Qt, u[None, :]])
        gains = xp.concat([gains, _column(penalties, d) * 0.0], axis=1)  # the intercept has none
        for batch in sets.batches:
            m = batch.rows.shape[1]
            most = max(1, _ENTRIES // (m * max(len(d), m)))
            for start in range(0, len(batch.rows), most):
                part = SetBatch(batch.rows[start : start + most], batch.answered[start : start + most])
                U, a = (xp.permute_dims(part.of(each), (1, 2, 0)) for each in (Ut, outside))
                b = xp.permute_dims(part.of(inside), (0, 2, 3, 1))
                solved, gaps, hard = self._solve_sets(xp.asarray(U, copy=True), a, b, penalties, gains, shares)
                errors = xp.permute_dims(xp.stack(solved), (0, 3, 1, 2))
                off = np.zeros((len(penalties), len(targets)))
                noticed = _NOTICED * gaps[:, None, :] * np.linalg.norm(to_numpy(errors), axis=-1)
                hard |= (np.outer(shares, sizes)[:, :, None] > noticed).any(axis=(0, 1))
                for g in np.flatnonzero(hard).tolist():
                    refitted, moved = refit_without(self, targets, penalties, part.rows[g], doubted)
                    errors[:, :, g, :] = like(refitted, errors)
                    off = np.hypot(off, moved)
                yield part, errors, off

    def _solve_sets(
        self, U: Array, a: Array, b: Array, penalties: FloatArray, gains: Array, shares: FloatArray
    ) -> tuple[list[Array], FloatArray, BoolArray]:
        """Errors (G, m, C) at every penalty, least eigenvalues (L, G), and which sets are too ill-conditioned to solve.

        U, a and b are the rows of G sets: of (Q, u), shape (G, m, ρ + 1), of Pg, shape (G, m, C), zero for a member
        that spans the samples, and of Bg, shape (L, G, m, C).
        """
        xp = namespace_of(U)
        spans = self.spans_samples
        Ut, (G, m, width) = U.mT, U.shape
        factors = [1.0] * len(penalties) if spans else penalties.tolist()
        by_directions = m > width
        if by_directions:  # e = r + U T⁻¹ Uᵀr with T = I - UᵀU + p/d
            unit = eye_like(U, width)
            fixed = unit - Ut @ U
            inverse = xp.concat([1 / self.spectrum, U[0, 0, -1:] * 0.0])
            matrices = [fixed + unit * (p * inverse) for p in factors]
        else:
            fixed = U @ Ut * 0.0 if spans else eye_like(U, m) - U @ Ut  # P_ss
            matrices = [fixed + p * ((U * gain) @ Ut) for p, gain in zip(factors, gains, strict=True)]
        # The part that no penalty changes bounds all eigenvalues from below, unless it vanishes.
        p = penalties[:, None]
        floors = float(self.spectrum[0]) + p if spans else 1.0
        least = floors / (float(self.spectrum[-1]) + p) if spans else to_numpy(xp.linalg.eigvalsh(fixed))[:, 0]
        gaps = np.broadcast_to(least, (len(p), G))
        if not by_directions and (2 * shares[:, None] > _CLEAR * gaps).any():  # the penalty may help
            found = np.stack([to_numpy(xp.linalg.eigvalsh(R))[:, 0] for R in matrices])
            gaps = np.maximum(found * floors, 0.0)
        hard = np.asarray((2 * shares[:, None] > _NOTICED * gaps).any(axis=0))
        if not spans:
            hard |= (gaps < max(_LEAST_EIGENVALUE, _DIGITS * self.slack_noise)).any(axis=0)
        solved = []
        for factor, R, own in zip(factors, matrices, b, strict=True):
            r = a + factor * own
            if hard.any():  # the identity replaces matrices whose solutions are not used
                R = xp.where(like(hard, R)[:, None, None] > 0, eye_like(R, R.shape[-1]), R)
            solved.append(r + U @ xp.linalg.solve(R, Ut @ r) if by_directions else xp.linalg.solve(R, r))
        return solved, gaps, hard

    # -- new rows ---------------------------------------------------------------------------------

    def pulls(self, penalty: float, targets: Array, errors: Array) -> tuple[Array, Array]:
        """The inputs of `output_changes` from the left-out rows or sets, for labels `targets` at one penalty.

        `errors` are the left-out errors in weighted units, shape (C, n). Returns these, or ``Q_sᵀe_s`` of S sets, shape
        (C, ρ, S), and the changes at x = x̄, shape (C, S).
        """
        reach = self.rows.root_weights * (self.rows.fit_intercept / self.rows.total_weight)
        sets = self.rows.left_out
        if sets is None:
            return errors, errors * reach
        xp = namespace_of(targets)
        pulls = []
        shifts = []
        for batch, found, _ in self.set_errors(np.array([penalty]), targets, sets, doubted=False):
            pulls.append((batch.of(self.left) * found[0, :, None, :, :]).sum(axis=-1))
            shifts.append((batch.of(reach) * found[0]).sum(axis=-1))
        return xp.concat(pulls, axis=-1), xp.concat(shifts, axis=-1)

    def scores(self, centred: Array, penalty: float) -> Array:
        """``√d/(d+p) Vᵀ(x - x̄)``, shape (m, ρ), of m new rows x - x̄ as the member sees them, shape (m, N_r)."""
        d = self.spectrum
        if self.right is None:
            return self.design.onto_samples(centred) @ self.left.T / (d + penalty)
        return (centred @ self.right.T) * (d**0.5 / (d + penalty))

    def output_changes(self, scores: Array, pulls: Array, chosen: IntArray | None = None) -> Array:
        """Changes ``f(x) - f^(-s)(x)`` by S left-out rows or sets, less their values at x = x̄; shape (C, m, S).

        `scores` are those of m new rows. Some of the single rows may be `chosen`.
        """
        if pulls.ndim == 3:
            return scores @ pulls
        left = self.left
        if chosen is not None:
            left = take_last(left, chosen)
            pulls = take_last(pulls, chosen)
        # The smaller factor is scaled.
        return (scores @ (left * pulls))[None] if len(pulls) == 1 else (scores @ left) * pulls[:, None, :]


def _filtered(A: Array, gains: Array, Qt: Array) -> Array:
    """``A diag(gain) Qᵀ`` for each row of gains, in one product: (C, ρ), (L, ρ) and (ρ, n) to (L, C, n)."""
    L = len(gains)
    C, rank = A.shape
    return ((gains[:, None, :] * A).reshape(L * C, rank) @ Qt).reshape(L, C, Qt.shape[1])


def _column(penalties: FloatArray, example: Array) -> Array:
    """Penalties (L,) as a column (L, 1) in the library of the example."""
    return like(np.asarray(penalties)[:, None], example)


# -- factorisation --------------------------------------------------------------------------------


def factorise(
    rows: TrainingRows,
    plan: SubsetPlan,
    r: int,
    least_penalty: float = 0.0,
    gram_limit: float = GRAM_LIMIT,
    gram: Array | None = None,
) -> MemberFit:
    """Factorise the smaller side of member r's rows, or the rows themselves if that is too ill-conditioned.

    `least_penalty` is the smallest p that will be used, 0 for the minimum-norm solution. The Gram matrix is used down
    to (d + p)/d_max of `gram_limit` if single rows are left out. `gram` is FᵀF of all features if it is known.

    >>> from subridge.ridge.rows import training_rows
    >>> rows = training_rows(np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.zeros((1, 3)), fit_intercept=False)
    >>> factorise(rows, SubsetPlan.from_indices([[0, 1]], 2), 0).spectrum
    array([1., 9.])
    """
    A = plan.measurements[r]
    design = rows.design(A)
    N = len(A)
    room = rows.room
    by_features = room > N
    rank = min(N, room)
    if not by_features:
        side = design.kernel()
        if rows.fit_intercept:  # its direction gets the largest eigenvalue, comes out last, and mixes with no other
            u = rows.intercept_direction
            side = side + 2 * float(abs(side).sum(axis=0).max()) * u[:, None] * u
    elif gram is None or A.ndim == 2:
        side = design.gram()
    else:
        side = select_rows(select_rows(gram, A).T, A)
    d, vectors = namespace_of(side).linalg.eigh(side)
    top = float(d[rank - 1]) if rank else 0.0
    limit = gram_limit if rows.left_out is None else _SETS_GRAM_LIMIT
    if top > 0 and max(float(d[0]), 0.0) + least_penalty < limit * top:
        return factorise_carefully(rows, A)
    small = int((d[:rank] <= EPS * max(rows.n_samples, N) * max(top, 0.0)).sum())  # d ascends
    dropped = max(float(d[small - 1]), 0.0) + 4 * EPS * top if small else 0.0
    d = d[small:rank]
    vectors = vectors[:, small:rank]
    if not by_features:
        return MemberFit(rows, A, vectors.T, d, None, _ORTHONORMAL_NOISE, None, dropped)
    condition = top / float(d[0]) if len(d) else 1.0
    noise = _ORTHONORMAL_NOISE * condition if condition < 1 / GRAM_LIMIT else -np.inf
    return MemberFit(rows, A, design.onto_samples((vectors / d**0.5).T), d, vectors.T, noise, None, dropped)


def factorise_carefully(rows: TrainingRows, measurement: IntArray) -> MemberFit:
    """The decomposition of the rows themselves, which keeps the digits of columns of any scale."""
    Ft = rows.design(measurement).dense()
    *parts, sharpness, dropped = decompose_carefully(to_numpy(Ft), to_numpy(rows.intercept_direction), rows.room)
    left, spectrum, right = (like(part, Ft) for part in parts)
    noise = _ORTHONORMAL_NOISE
    return MemberFit(rows, measurement, left, spectrum, right, noise, max(sharpness, noise), dropped)


def movement(fit: MemberFit, errors_of: Callable[[MemberFit], FloatArray]) -> FloatArray:
    """How much rounding may change errors (L, C, m) of a careful decomposition, as norms over m; shape (L, C).

    The rows are perturbed by about a rounding error, decomposed and judged again, several times.
    """
    errors = errors_of(fit)
    Ft = to_numpy(fit.design.dense())
    moved = []
    for seed in range(_PERTURBED):
        rows = replace(fit.rows, features=like(perturbed(Ft, seed), fit.left))
        moved.append(errors_of(factorise_carefully(rows, np.arange(len(Ft)))) - errors)
    return np.asarray(_SAFETY * np.linalg.norm(moved, axis=-1).max(axis=0))


def largest_ratio(off: FloatArray, total: FloatArray) -> float:
    """The largest relative error, from sums of squares: of the bounds `off` of errors, and `total` of the errors."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # 0/0 counts as zero, inf/inf as infinite
        ratios = np.where(off > 0, np.sqrt(off / total), 0.0)
    return float(np.nan_to_num(ratios, nan=np.inf, posinf=np.inf).max())


def doubt_of_rows(fit: MemberFit, targets: Array, penalties: FloatArray, found: LeftOut) -> float:
    """Estimate of the relative rounding error of left-out errors, at the least penalty, where it is largest."""
    at = penalties.argmin()
    rank = len(fit.spectrum)
    alone = found.alone
    p = penalties[[at]]
    uncertain = float(fit.uncertainty(p)[0])
    gaps = to_numpy(found.diagonals[at])
    share = uncertain / max(float(gaps.min(initial=1.0, where=gaps > 0)), _TINY)
    # Unless the penalty hides it, rows must be exactly alone, and not only up to rounding.
    is_hidden = (uncertain < _NOTICED * gaps[alone]).all()
    if not is_hidden and not fit.has_rank(rank - len(alone), alone):
        return 1.0
    if fit.sharpness is None or (share < _GOOD_ENOUGH and is_hidden):
        return share
    off = movement(fit, lambda member: to_numpy(member.left_out(p, targets).errors))
    # If a single direction z lies outside, in which no row is alone, R is zzᵀ there up to a factor that cancels:
    # left-out errors are the same whether z is dropped or kept.
    shared = fit.rows.room - rank == 1 and not len(alone)
    lost = share if fit.sharpness > 1 or (uncertain > fit.sharpness and not shared) else 0.0
    return max(lost, largest_ratio(off[0] ** 2, to_numpy((found.errors[at] ** 2).sum(axis=-1))))


def refit_without(
    fit: MemberFit, targets: Array, penalties: FloatArray, index: IntArray, doubted: bool
) -> tuple[FloatArray, FloatArray]:
    """Errors on the rows of a set if a member is trained without them, (L, C, m), and bounds of their errors, (L, C).

    Rows are centred again from the rows as they were given: those that were centred with the set have rounding errors,
    and without the set some columns may consist of rounding errors only.
    """
    rows = fit.rows
    X = fit.given_columns()
    roots = to_numpy(rows.root_weights)
    rest = np.setdiff1d(np.arange(rows.n_samples), index)
    largest = 0.0
    if X is None:
        X = to_numpy(fit.design.dense()).T / roots[:, None]
        largest = abs(X).max(axis=0)
    elif fit.measurement.ndim == 2:
        X = X @ fit.measurement.T
    y = to_numpy(targets) / roots
    if rows.fit_intercept:  # differences of rows are exact where a mean is rounded
        X = X - X[rest[0]]
        X = X * (abs(X) > 4 * EPS * largest)  # without the set a column may be constant up to rounding
    part = training_rows(X[rest], y[:, rest], roots[rest] ** 2, rows.fit_intercept)
    labels, means = part.centred_targets
    new = X[index] - part.feature_means
    wanted = y[:, index] - means[:, None]

    def errors_of(member: MemberFit) -> FloatArray:
        return (wanted - member.coefficients(penalties, labels) @ new.T) * roots[index]

    member = factorise_carefully(part, np.arange(X.shape[1]))
    errors = errors_of(member)
    if not doubted:
        return errors, np.zeros(errors.shape[:2])
    off = movement(member, errors_of)
    if member.dropped and member.right is not None:  # a dropped direction that is not zero fits the rest of the labels
        Qt, Vt = member.left, member.right
        beyond = ((new - new @ Vt.T @ Vt) ** 2).sum() + (EPS * new**2).sum() * EPS  # at least the rounding of the rows
        norms = np.linalg.norm(labels - labels @ Qt.T @ Qt, axis=1) * np.sqrt(beyond)
        with np.errstate(divide="ignore"):
            gains = np.minimum(member.dropped**0.5 / penalties, 0.5 / penalties**0.5)  # at most √d/(d+p)
        lost = np.where(norms > 0, gains[:, None], 0.0) * norms
        if (lost > _NOTICED * np.linalg.norm(errors, axis=-1)).any() and not fit.has_rank(len(member.spectrum), index):
            off = off + lost
    return errors, off


def factorise_members(
    rows: TrainingRows, plan: SubsetPlan, least_penalties: FloatArray | None = None, gram_limit: float = GRAM_LIMIT
) -> Iterator[MemberFit]:
    """Factorise every member of a plan; `least_penalties`, shape (k,), are zero by default.

    Disjoint subsets need only the diagonal blocks of the Gram matrix. If members overlap so much that their blocks take
    more work than the whole, Σ_r N_r² > M², the whole is formed once, also for later plans, and blocks are cut from it.
    """
    least = np.zeros(plan.n_members) if least_penalties is None else least_penalties
    sizes = plan.subset_sizes[plan.subset_sizes < rows.room]
    gram = vars(rows).get("gram")
    if plan.selects_features and (sizes**2).sum() >= plan.n_features**2 and not is_sparse(rows.features):
        gram = rows.gram
    for r in range(plan.n_members):
        yield factorise(rows, plan, r, float(least[r]), gram_limit, gram)


def residual_pair_traces(fits: Sequence[MemberFit], penalties: FloatArray) -> FloatArray:
    """``tr(R_r R_r′)`` for every pair of members, shape (T, k, k), from a table of penalties, shape (T, k).

    A member that spans all samples counts with ``(d₁+p)/p R``. The squared overlaps ``(Q_rᵀQ_r′)²`` are formed once per
    pair, n ρ_r ρ_r′ multiplications, and serve the whole table.

    Two members that see the two halves of an orthogonal design, without ridge:

    >>> from subridge.ridge.rows import training_rows
    >>> X = np.linalg.qr(np.vander(np.linspace(-1, 1, 6), 4))[0]
    >>> rows = training_rows(X, np.zeros((1, 6)), fit_intercept=False)
    >>> fits = list(factorise_members(rows, SubsetPlan.from_indices([[0, 1], [2, 3]], 4)))
    >>> residual_pair_traces(fits, np.zeros((1, 2)))[0].round(12)
    array([[4., 2.],
           [2., 4.]])
    """
    T, k = penalties.shape
    traces = np.empty((T, k, k))
    n = fits[0].rows.n_samples
    weights = [to_numpy(fit.residual_weights(p)) for fit, p in zip(fits, penalties.T, strict=True)]
    units = [to_numpy(fit.directions) for fit in fits]
    ones = [float(not fit.spans_samples) for fit in fits]  # R has the identity unless the member spans the samples
    totals = [each.sum(axis=1) for each in weights]
    for r in range(k):
        for s in range(r, k):
            shared = weights[r] if r == s else weights[r] @ (units[r] @ units[s].T) ** 2
            pair = (shared * weights[s]).sum(axis=1)
            pair += ones[r] * totals[s] + ones[s] * (totals[r] + ones[r] * n)
            traces[:, r, s] = traces[:, s, r] = pair
    return traces


# -- members along a path of ridges ----------------------------------------------------------------


class MemberPath:
    """One member at L penalties.

    The table of all left-out errors is kept, to save time, if it is no larger than the factorisation, or small, or if
    `keep_errors` is true. Q is then dropped, and made again if pairs of rows are left out, because to allocate memory
    for many members is slow. Otherwise errors are computed when they are needed. So memory stays within about twice
    that of the dense data for any number of ridges, members and targets. `noise`, shape (C, n), is the member's readout
    noise ξ_r, subtracted from its labels in training.
    """

    def __init__(
        self, fit: MemberFit, penalties: FloatArray, noise: Array | None = None, keep_errors: bool = False
    ) -> None:
        self.rows = rows = fit.rows
        self.penalties = penalties
        self.feature_means = rows.feature_means
        self._noise = noise
        self._targets, self.target_means = rows.centred_targets if noise is None else rows.centred(rows.targets - noise)
        lines = len(penalties) * len(self._targets)
        is_kept = keep_errors or lines <= len(fit.spectrum) or lines * rows.n_samples <= _SMALL
        places = np.arange(len(penalties)) if is_kept else np.array([penalties.argmin()])
        self._fit, found = trusted(fit, self._targets, penalties[places])
        self.rank = len(self._fit.spectrum)
        self.degrees = residual_degrees(self._fit, penalties)
        self.independent = independent_samples(self._fit, penalties, self.degrees)
        self._keep(places, found)
        self._projected = self._targets @ self._fit.left.T
        if is_kept and self._fit.right is not None and self._fit.sharpness is None:
            self._fit = replace(self._fit, known_left=None)

    def beyond(self, first: int) -> "MemberPath":
        """The same without the penalties before a place."""
        found = copy(self)
        vars(found).update(
            {name: getattr(self, name)[first:] for name in ("penalties", "degrees", "independent", "_lines")}
        )
        return found

    def _keep(self, places: IntArray, found: LeftOut) -> None:
        """Keep the errors at some places, and forget others."""
        self._known = self._unweighted(found.errors)
        self._lines = np.full(len(self.penalties), -1)  # where those of each place are; -1 if they are not known
        self._lines[places] = np.arange(len(places))

    def errors(self, index: int | IntArray) -> Array:
        """``y_i - f_r^(-i)(x_i)`` at one ridge, shape (C, n), or at T, (T, C, n); y are labels without readout noise.

        If rows are left out together, f_r^(-i) is trained without all of them.
        """
        if self._lines[index].min() < 0:
            places = np.unique(index)
            self._keep(places, self._fit.left_out(self.penalties[places], self._targets, doubted=False))
        found: Array = self._known[self._lines[index]]
        return found

    def coefficients(self, index: int | IntArray) -> Array:
        """Weights on the unscaled features at one ridge, or at one for each target; shape (C, N_r)."""
        return self._fit.coefficients(self.penalties[index].reshape(1, -1), self._targets, self._projected)[0, ...]

    def dual(self, index: int | IntArray) -> Array:
        """α with coefficients ``α F``, at one ridge, or at one for each target; shape (C, n)."""
        fit = self._fit
        return (self._projected / (fit.spectrum + _column(self.penalties[index].ravel(), fit.spectrum))) @ fit.left

    def pair_errors(self, places: IntArray, left_out: IntArray) -> Array:
        """Errors at T ridges with another row, or set of rows, i left out too, for each i of m; (T, m, C, n).

        Entry j is ``y_j - f_r^(-ij)(x_j)``.
        """
        return self._unweighted(self._fit.pair_errors(self.penalties[places], self._targets, left_out))

    @property
    def hides_directions(self) -> bool:
        """Whether the member has directions of less variance than the smallest penalty, or lost in rounding."""
        return bool(self._fit.dropped) or bool((self._fit.spectrum < self.penalties.min()).any())

    def degrees_without(self, units: IntArray) -> FloatArray:
        """`degrees` with one more set of rows left out, for each of b; their numbers `units` ascend; shape (L, b).

        Without the rows s, R is ``R - V R_ss⁻¹ Vᵀ`` with V = R_s, and its square ``R² + Y W Yᵀ`` with Y = (V, RV).
        """
        fit = self._fit
        rows = fit.rows
        found = np.empty((len(self.penalties), len(units)))
        assert rows.left_out is not None  # only choices by sets of rows use these degrees
        sets = rows.left_out.rows_of_sets
        sizes = np.array([len(sets[unit]) for unit in units])
        Z = _shared_by_sets(rows)
        U = to_numpy(fit.directions).T
        between = Z @ U
        identity = float(not fit.spans_samples)
        shared = identity * Z.T
        for place, (R, w) in enumerate(zip(*_of_sets(fit, self.penalties), strict=True)):
            square = R @ R
            second = square.trace()
            fourth = (square * square).sum()
            across = shared + (U * w) @ between.T  # (n, S)
            for size in np.unique(sizes):
                index = np.stack([sets[unit] for unit in units[sizes == size]])
                own = U[index]
                inverse = np.linalg.pinv(
                    identity * np.eye(size) + (own * w) @ own.mT, _LEAST_PAIR_SLACK, hermitian=True
                )
                V = across[index].mT
                Y = np.concatenate([V, R @ V], axis=-1)
                W = np.block([[inverse @ (V.mT @ V) @ inverse, -inverse], [-inverse, 0.0 * inverse]])
                G = Y.mT @ Y @ W
                fourths = fourth + np.linalg.trace(2 * Y.mT @ square @ Y @ W + G @ G)
                found[place, sizes == size] = _degrees(second + np.linalg.trace(G), fourths)
        return found

    @property
    def resolves_pairs(self) -> BoolArray:
        """Whether the formula for pairs keeps some digits at each ridge, shape (L,).

        Without ridge it is 0/0 if the member interpolates as soon as two rows are left out.
        """
        return self.penalties >= _RESOLVED * float(self._fit.spectrum[-1:].sum())

    def _unweighted(self, weighted: Array) -> Array:
        """Errors of the labels without readout noise, from those of a member in weighted units, overwritten."""
        weighted /= self._fit.rows.root_weights
        return weighted if self._noise is None else weighted + self._noise


def pair_deviations(rows: TrainingRows, left_out: IntArray) -> Array:
    """Labels less the mean of the rows without their own unit and unit i, for each i of m; shape (m, C, n)."""
    mean = MemberFit(rows, _NONE, rows.targets[:0], rows.weights[:0], None, 0.0)
    return mean.pair_errors(np.ones(1), rows.centred_targets[0], left_out)[0, ...] / rows.root_weights


def trusted(fit: MemberFit, targets: Array, penalties: FloatArray) -> tuple[MemberFit, LeftOut]:
    """The member, decomposed again with care if rounding affects its left-out errors, and these errors.

    A warning is given if rounding may still affect them. If sets are left out, the member is refitted without those
    whose errors it affects, instead.
    """
    sets = fit.rows.left_out
    found = fit.left_out(penalties, targets)
    if not len(fit.spectrum):  # columns that vary may have squares that are zero
        doubt = 0.0 if penalties.min() > 0 or fit.has_rank(0) else 1.0
    elif sets is None and fit.rows.knows_leverages:
        doubt = doubt_of_rows(fit, targets, penalties, found)
    else:
        doubt = found.doubt
    if doubt > _GOOD_ENOUGH and sets is None and fit.sharpness is None:
        return trusted(factorise_carefully(fit.rows, fit.measurement), targets, penalties)
    if doubt > _NOTICED:
        # A power of ten, so that many members of about the same accuracy give one warning and not one each.
        extent = f"up to {10.0 ** np.ceil(np.log10(doubt)):.0e} of themselves" if doubt < 1 else "more than themselves"
        warnings.warn(
            f"left-out errors may be off by {extent}: other features explain some features up to rounding, at a ridge "
            "too small to hide it; drop such features, scale the others, or raise the ridge",
            AccuracyWarning,
            stacklevel=4,
        )
    return fit, found


def residual_degrees(fit: MemberFit, penalties: FloatArray) -> FloatArray:
    """m = (tr R²)²/tr R⁴ at each ridge, shape (L,).

    The squared error of labels that are noise, gᵀR²g, varies like that of m independent samples. At its interpolation
    threshold a member has m near one: its error depends on a single random number. Rows that are left out together may
    share their noise, so each set counts as one row. R is then ZᵀRZ, with a unit vector in Z for each set.
    """
    if fit.rows.left_out is None:
        gains = to_numpy(fit.residual_gains(penalties))
        untouched = fit.rows.room - gains.shape[1]
        return _degrees((gains**2).sum(axis=1) + untouched, (gains**4).sum(axis=1) + untouched)
    R, _ = _of_sets(fit, penalties)
    return _degrees((R**2).sum(axis=(1, 2)), ((R @ R) ** 2).sum(axis=(1, 2)))


def _of_sets(fit: MemberFit, penalties: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ZᵀRZ at each ridge, shape (L, S, S), and the weights w of R, (L, ρ + 1), as in `MemberFit.residual_weights`."""
    w = to_numpy(fit.residual_weights(penalties))
    between = _shared_by_sets(fit.rows) @ to_numpy(fit.directions).T
    return float(not fit.spans_samples) * np.eye(len(between)) + (between * w[:, None, :]) @ between.T, w


def _degrees(second: FloatArray, fourth: FloatArray) -> FloatArray:
    """m, at least one, from the traces of R² and R⁴."""
    return np.maximum(np.maximum(second, 0.0) ** 2 / np.maximum(fourth, _TINY), 1.0)


def _shared_by_sets(rows: TrainingRows) -> FloatArray:
    """Zᵀ, shape (S, n): the direction of noise that is common to the rows of a set, for sets that do not overlap."""
    sets = rows.left_out
    assert sets is not None
    chosen = sets.apart[:: -(-len(sets.apart) // _MOST_SETS)]
    found = np.zeros((len(chosen), rows.n_samples))
    roots = to_numpy(rows.root_weights)
    for line, unit in zip(found, chosen, strict=True):
        own = sets.rows_of_sets[unit]
        line[own] = roots[own] / np.linalg.norm(roots[own])
    return found


def independent_samples(fit: MemberFit, penalties: FloatArray, degrees: FloatArray) -> FloatArray:
    """Effective number of independent samples of the left-out errors at each ridge, if weights are fitted to them;
    (L,).

    Weights depend on the inverse of a squared error, which is too large by m/(m - 2) in the mean. So n samples, or sets
    that are left out, count as n (1 - 2/m). Zero if few rows determine the member, as with rare columns, because
    left-out errors are then uninformative. `degrees` are m at each ridge.
    """
    rows = fit.rows
    d = to_numpy(fit.spectrum)
    gains = d / (d + penalties.min())
    few = min(_FEW_ROWS, rows.n_samples / 6)
    if rows.knows_leverages and 0 < gains.sum() < few:  # leverages q count as (Σq)²/Σq² equal ones, at least Σq
        left = to_numpy(fit.left)
        leverages = np.einsum("r,ri,ri->i", gains, left, left)
        if leverages.sum() ** 2 < few * (leverages**2).sum():
            return np.zeros(len(penalties))
    return np.minimum(np.maximum(1 - 2 / degrees, _LEAST_SHARE) * rows.effective_samples, rows.room)


def member_paths(
    rows: TrainingRows,
    plan: SubsetPlan,
    ridges: FloatArray,
    noise: Array | None = None,
    row_sets: Sequence[IntArray] | None = None,
) -> list[MemberPath]:
    """Factorise every member once and return its path.

    Ridges are in the paper's convention, shape (L,), or (L, k) with a column for each member; `noise` has shape
    (k, C, n). With `row_sets`, one index array per member, each member sees only some of the rows.
    """
    known = rows.paths(plan, ridges)
    if known is not None:
        assert noise is None, "such rows do not support readout noise"
        assert row_sets is None, "such rows do not support subsets of rows"
        return known
    penalties = ridges.reshape(len(ridges), -1) * plan.subset_sizes
    noises = [None] * plan.n_members if noise is None else noise
    if row_sets is not None:
        from subridge.ridge.row_subsets import PartialPath  # which imports this file

        return [PartialPath(rows, plan, r, own, penalties[:, r], noises[r]) for r, own in enumerate(row_sets)]
    return [
        MemberPath(fit, penalties[:, r], noises[r])
        for r, fit in enumerate(factorise_members(rows, plan, penalties.min(axis=0)))
    ]

"""Exact errors of rows that are left out together, for a whole ridge path, without refitting.

With the residual operator ``R = I - H`` of a member and residuals r = Rg, leaving out the rows of a set s gives

    e_s = (R_ss)⁻¹ r_s,        R = P + p B,   P = I - uuᵀ - QQᵀ,   B = Q (d + p)⁻¹ Qᵀ,

exact for weighted ridge regression with an unpenalised intercept. Sets of one size are solved together, on the side
that is cheaper: a matrix of the set's m rows, or (Woodbury) one of the member's ρ + 1 directions.

Where the rows of s span directions alone, P_ss has null vectors Z, in which both sides vanish with p. With the range Y
of P_ss they are taken apart, and the factor p cancels:

    e = Yα + Zβ,    B_ZZ β = Zᵀb - B_ZY α,    (Λ + p B_YY - p B_YZ B_ZZ⁻¹ B_ZY) α = Yᵀ(a + p b) - p B_YZ B_ZZ⁻¹ Zᵀb,

where a = Pg and b = Bg on the rows of s. At p = 0 this is the minimum-norm solution without the set. Where rounding
does not tell a null vector from a small eigenvalue, or null vectors from each other, the set is refitted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import device_of, like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition, as_column, scaled_rows
from subridge.ridge.rows.exact_rank import RawRows
from subridge.ridge.rows.left_out_sets import LeftOutSets, SetBatch
from subridge.ridge.rows.refit import refit_without
from subridge.ridge.rows.set_doubts import SetDoubts
from subridge.ridge.rows.training import TrainingRows

# A Gram matrix whose smallest eigenvalue falls below this share of its largest would cost digits that R_ss needs.
GRAM_LIMIT = 1e-4
_LEAST = 1e-6  # the smallest eigenvalue of R_ss that costs no more than half of the digits
_DIGITS = 1e7  # by which an eigenvalue must exceed its rounding error
_ENTRIES = 10_000_000  # of the largest table of rows of Q held at once: 80 MB


def leave_sets_out(
    member: MemberDecomposition,
    targets: Array,
    penalties: FloatArray,
    rows: TrainingRows,
    sets: LeftOutSets,
    raw: RawRows | None = None,
) -> tuple[Array, float]:
    """Errors at every row when its set is left out, in weighted units, ``√w_i (y_i - f^(-s)(x_i))``, and their doubt.

    From centred and weighted labels g, shape (C, n), and penalties p = λ_r N_r, shape (L,), come errors of shape (L, C,
    n), and how far rounding may have moved them, relative to themselves; `raw` are the rows as they were given.

    Leaving out two of three labels without features leaves the third:

    >>> from subridge.ridge.rows.decomposition import decompose
    >>> from subridge.ridge.rows.training import training_rows
    >>> from subridge.ridge.rows.left_out_sets import left_out_groups
    >>> from subridge.model.plan import SubsetPlan
    >>> rows = training_rows(np.ones((3, 1)), np.array([[0.0, 3.0, 6.0]]), None, True)
    >>> member = decompose(rows.member(SubsetPlan.from_indices([[0]], 1), 0), 1.0, True)
    >>> leave_sets_out(member, rows.centred(rows.targets)[0], np.array([1.0]), rows, left_out_groups([0, 0, 1], 3))[0]
    array([[[-6. , -3. ,  4.5]]])
    """
    parts, solver = [], _Solver(member, targets, penalties, rows, raw)
    for batch, errors in solver.batches(sets):
        L, C = errors.shape[:2]
        answered = np.flatnonzero(batch.answered)
        parts.append(take_last(errors.reshape((L, C, -1)), answered))
    joined = namespace_of(targets).concat(parts, axis=-1)
    return take_last(joined, np.argsort(sets.answered)), solver.doubts.largest()


def set_errors(
    member: MemberDecomposition, targets: Array, penalties: FloatArray, rows: TrainingRows, sets: LeftOutSets
) -> Iterator[tuple[SetBatch, Array]]:
    """Errors on all rows of every set, batch by batch: shape (L, C, G, m), in the order of the sets."""
    return _Solver(member, targets, penalties, rows, None).batches(sets)


@dataclass(frozen=True, eq=False)
class _Member:
    """What the sets of a batch need of a member: rows of Q and u, and a and b on them."""

    Q: Array  # (G, m, ρ)
    u: Array  # (G, m), zero without intercept
    outside: Array  # a, shape (G, m, C); zero for a member that spans the samples
    inside: Array  # b, shape (L, G, m, C)


class _Solver:
    """One member at L penalties, ready to leave out any sets."""

    def __init__(
        self,
        member: MemberDecomposition,
        targets: Array,
        penalties: FloatArray,
        rows: TrainingRows,
        raw: RawRows | None,
    ) -> None:
        self._u = rows.root_weights * (float(rows.fit_intercept) / rows.total_weight**0.5)
        # Directions of tiny variance mix with the intercept's, whose variance is zero, by rounding.
        self._Qt = Qt = member.left - (member.left @ self._u)[:, None] * self._u
        d, A = member.spectrum, targets @ Qt.T
        L, (C, n) = len(penalties), targets.shape
        self.member, self.targets, self.penalties, self.rows, self.raw = member, targets, penalties, rows, raw
        self.gains = 1 / (d + as_column(penalties, d))  # (L, ρ)
        self._b = (scaled_rows(A, self.gains) @ Qt).reshape((L, C, n))
        self._a = targets * 0.0 if member.spans_samples else targets - A @ Qt
        self._xp = namespace_of(targets)
        outside = to_numpy((self._a * self._a).sum(axis=1))
        self.doubts = SetDoubts(member, penalties, to_numpy(A * A), outside, raw)

    def batches(self, sets: LeftOutSets) -> Iterator[tuple[SetBatch, Array]]:
        """The errors of all sets."""
        for batch in sets.batches:
            most = _ENTRIES // (batch.rows.shape[1] * max(self.member.spectrum.shape[0], batch.rows.shape[1], 1))
            for chunk in batch.chunks(most):
                yield chunk, self.errors(chunk.rows)

    def errors(self, index: IntArray) -> Array:
        """Errors on the rows of G sets of equal size, index of shape (G, m); shape (L, C, G, m)."""
        m = index.shape[1]
        rank = int(self.member.spectrum.shape[0])
        taken = self._taken(index)
        if self.member.spans_samples:
            return self._spanned(index, taken)
        solved, least = self._by_directions(taken) if m > rank + 1 else self._by_rows(taken)
        errors, gaps = self._ordered(solved), to_numpy(least)
        least_allowed = max(_LEAST, _DIGITS * self.member.slack_noise)
        easy = gaps >= least_allowed
        for g in np.flatnonzero(~easy):
            errors[:, :, int(g), :] = self._hard(index[int(g)], least_allowed)
        for l in range(len(self.gains)):
            self.doubts.add(errors[l, ...], gaps, l, easy)
        return errors

    def _spanned(self, index: IntArray, taken: _Member) -> Array:
        """Errors of a member that spans all samples, where R = p B and p cancels."""
        solved, gaps = [], np.empty((len(self.gains), len(index)))
        sound = np.ones(len(index), dtype=bool)
        for l in range(len(self.gains)):
            B = self._kernel(taken, l)
            gaps[l] = self.doubts.gaps(B, l)
            lost = self.doubts.lost(gaps[l], l)
            sound &= ~lost
            if lost.any():  # refitted; here it must not be singular
                B = self._xp.where(like(lost, B)[:, None, None] > 0, self._eye(B.shape[-1])[None, ...], B)
            solved.append(self._xp.linalg.solve(B, taken.inside[l]))
        errors = self._ordered(solved)
        for g in np.flatnonzero(~sound):
            errors[:, :, int(g), :] = self._refitted(index[int(g)])
        for l in range(len(self.gains)):
            self.doubts.add(errors[l, ...], gaps[l], l, sound)
        return errors

    def _taken(self, index: IntArray) -> _Member:
        (G, m), flat, xp = index.shape, index.ravel(), self._xp
        L, C = self._b.shape[:2]
        Q = xp.permute_dims(take_last(self._Qt, flat).reshape((-1, G, m)), (1, 2, 0))
        return _Member(
            xp.asarray(Q, copy=True),
            take_last(self._u, flat).reshape((G, m)),
            xp.permute_dims(take_last(self._a, flat).reshape((C, G, m)), (1, 2, 0)),
            xp.permute_dims(take_last(self._b, flat).reshape((L, C, G, m)), (0, 2, 3, 1)),
        )

    def _kernel(self, taken: _Member, index: int) -> Array:
        """B on the rows of every set at one penalty, shape (G, m, m)."""
        kernel: Array = (taken.Q * self.gains[index]) @ self._xp.matrix_transpose(taken.Q)
        return kernel

    def _eye(self, m: int) -> Array:
        return self._xp.eye(m, dtype=self.targets.dtype, device=device_of(self.targets))

    def _outer_part(self, taken: _Member) -> Array:
        """P on the rows of every set, shape (G, m, m)."""
        Q, u = taken.Q, taken.u
        return self._eye(u.shape[1]) - u[:, :, None] * u[:, None, :] - Q @ self._xp.matrix_transpose(Q)

    def _by_rows(self, taken: _Member) -> tuple[list[Array], Array]:
        """Solve with R_ss; errors (G, m, C) at every penalty and the least eigenvalue of P_ss, shape (G,)."""
        P = self._outer_part(taken)
        least = self._xp.linalg.eigvalsh(P)[:, 0]
        P = P + (least < _LEAST)[:, None, None] * self._eye(P.shape[-1])  # solved apart; here it must not be singular
        solved = []
        for l, p in enumerate(self.penalties):
            R = P + float(p) * self._kernel(taken, l)
            solved.append(self._xp.linalg.solve(R, taken.outside + float(p) * taken.inside[l]))
        return solved, least

    def _by_directions(self, taken: _Member) -> tuple[list[Array], Array]:
        """Solve with ``T = I - UᵀU + p/d`` on the directions U = (u, Q) of the member: e = r + U T⁻¹ Uᵀ r."""
        xp = self._xp
        U = xp.concat([taken.u[:, :, None], taken.Q], axis=2)
        Ut = xp.matrix_transpose(U)
        T = self._eye(U.shape[2]) - Ut @ U
        least = xp.linalg.eigvalsh(T)[:, 0]
        T = T + (least < _LEAST)[:, None, None] * self._eye(T.shape[-1])
        inverse = xp.concat([self._eye(1)[0] * 0.0, 1 / self.member.spectrum])
        solved = []
        for l, p in enumerate(self.penalties):
            r = taken.outside + float(p) * taken.inside[l]
            shifted = T + self._eye(U.shape[2]) * (float(p) * inverse)
            solved.append(r + U @ xp.linalg.solve(shifted, Ut @ r))
        return solved, least

    def _ordered(self, solved: list[Array]) -> Array:
        """(G, m, C) at every penalty as (L, C, G, m)."""
        return self._xp.permute_dims(self._xp.stack(solved), (0, 3, 1, 2))

    def _hard(self, index: IntArray, least_allowed: float) -> Array:
        """One set that the member can hardly do without, shape (L, C, m)."""
        xp, m, taken = self._xp, len(index), self._taken(index[None, :])
        P, noise = self._outer_part(taken)[0], self.member.slack_noise
        values, vectors = xp.linalg.eigh(P)
        doubtful = noise <= 0 or bool(((values > noise) & (values < least_allowed)).any())
        null = int((values <= noise).sum())
        answers: list[Array] = []
        refitted: Array | None = None
        for l, p in enumerate(self.penalties):
            B, b = self._kernel(taken, l)[0], taken.inside[l, 0]
            R = P + float(p) * B
            gap = float(xp.linalg.eigvalsh(R)[0]) if m <= self.member.spectrum.shape[0] + 1 else 0.0
            alone = gap <= least_allowed
            if not alone:
                answers.append(xp.linalg.solve(R, taken.outside[0] + float(p) * b).T)
            elif doubtful or not self._tells(gap := self._gap_alone(values, vectors[:, :null], B, l), null, index, l):
                refitted = self._refitted(index) if refitted is None else refitted
                answers.append(refitted[l])
                continue
            else:
                answers.append(_split(values, vectors, null, (float(p), B, taken.outside[0], b)).T)
            self.doubts.add(answers[-1][:, None, :], np.array([gap]), l, alone=alone)
        return xp.stack(answers)

    def _gap_alone(self, values: Array, Z: Array, B: Array, index: int) -> float:
        """The least eigenvalue of a set that spans directions Z alone: inside of them, or outside."""
        null = int(Z.shape[1])
        outside = float(values[null]) if null < values.shape[0] else 1.0
        return min(outside, float(self.doubts.gaps((Z.T @ B @ Z)[None, ...], index)[0])) if null else outside

    def _tells(self, gap: float, null: int, index: IntArray, penalty: int) -> bool:
        """Whether the null vectors of a set are told from each other, and are exactly null."""
        if self.doubts.lost(np.array([gap]), penalty)[0]:
            return False
        return not null or self.raw is None or self.raw.rank_is(int(self.member.spectrum.shape[0]) - null, index)

    def _refitted(self, index: IntArray) -> Array:
        """Errors on one set by training without it, shape (L, C, m)."""
        found = refit_without(self.member.design, self.targets, self.penalties, self.rows, index, self.raw)
        self.doubts.add_refitted(found.errors, found.moved)
        return found.errors


def _split(values: Array, vectors: Array, null: int, parts: tuple[float, Array, Array, Array]) -> Array:
    """Errors (m, C) of one set whose P has so many null vectors, from p, B, a and b; see above."""
    p, B, a, b = parts
    solve = namespace_of(B).linalg.solve
    Z, Y = vectors[:, :null], vectors[:, null:]
    if not null:
        return solve(Y @ (values[:, None] * Y.T) + p * B, a + p * b)
    onto_null = solve(Z.T @ B @ Z, namespace_of(B).concat([Z.T @ B @ Y, Z.T @ b], axis=1))
    n_range = Y.shape[1]
    if not n_range:
        return Z @ onto_null
    coupling, direct = onto_null[:, :n_range], onto_null[:, n_range:]
    left = namespace_of(B).eye(n_range, dtype=B.dtype, device=device_of(B)) * values[null:]
    left = left + p * (Y.T @ B @ Y - (Y.T @ B @ Z) @ coupling)
    alpha = solve(left, Y.T @ (a + p * b) - p * (Y.T @ B @ Z) @ direct)
    return Y @ alpha + Z @ (direct - coupling @ alpha)

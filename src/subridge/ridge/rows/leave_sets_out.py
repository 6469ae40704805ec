"""Exact errors of rows that are left out together, for a whole ridge path, without refitting.

With the residual operator ``R = I - H`` of a member and residuals r = Rg, leaving out the rows of a set s gives

    e_s = (R_ss)⁻¹ r_s,        R = P + p B,   P = I - uuᵀ - QQᵀ,   B = Q (d + p)⁻¹ Qᵀ,

exact for weighted ridge regression with an unpenalised intercept. Sets of one size are solved together, on the side
that is cheaper: a matrix of the set's m rows, or (Woodbury) one of the member's ρ + 1 directions.

Where the rows of s span directions alone, P_ss has null vectors Z, in which both sides vanish with p. With the range Y
of P_ss they are taken apart, and the factor p cancels:

    e = Yα + Zβ,    B_ZZ β = Zᵀb - B_ZY α,    (Λ + p B_YY - p B_YZ B_ZZ⁻¹ B_ZY) α = Yᵀ(a + p b) - p B_YZ B_ZZ⁻¹ Zᵀb,

where a = Pg and b = Bg on the rows of s. At p = 0 this is the minimum-norm solution without the set. Where rounding
does not tell a null vector from a small eigenvalue, the set is refitted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import device_of, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition, as_column, decompose, path_coefficients, scaled_rows
from subridge.ridge.rows.design import DenseDesign
from subridge.ridge.rows.left_out_sets import LeftOutSets, SetBatch
from subridge.ridge.rows.training import TrainingRows

# A Gram matrix whose smallest eigenvalue falls below this share of its largest would cost digits that R_ss needs.
GRAM_LIMIT = 1e-4
_LEAST = 1e-6  # the smallest eigenvalue of R_ss that costs no more than half of the digits
_DIGITS = 1e7  # by which an eigenvalue must exceed its rounding error
_ENTRIES = 10_000_000  # of the largest table of rows of Q held at once: 80 MB


def leave_sets_out(
    member: MemberDecomposition, targets: Array, penalties: FloatArray, rows: TrainingRows, sets: LeftOutSets
) -> Array:
    """Errors at every row when its set is left out, in weighted units, ``√w_i (y_i - f^(-s)(x_i))``.

    From centred and weighted labels g, shape (C, n), and penalties p = λ_r N_r, shape (L,), come errors of shape (L, C,
    n).

    Leaving out two of three labels without features leaves the third:

    >>> from subridge.ridge.rows.training import training_rows
    >>> from subridge.ridge.rows.left_out_sets import left_out_groups
    >>> from subridge.spec.plan import SubsetPlan
    >>> rows = training_rows(np.ones((3, 1)), np.array([[0.0, 3.0, 6.0]]), None, True)
    >>> member = decompose(rows.member(SubsetPlan.from_indices([[0]], 1), 0), 1.0, True)
    >>> leave_sets_out(member, rows.centred(rows.targets)[0], np.array([1.0]), rows, left_out_groups([0, 0, 1], 3))
    array([[[-6. , -3. ,  4.5]]])
    """
    parts = []
    for batch, errors in set_errors(member, targets, penalties, rows, sets):
        L, C = errors.shape[:2]
        answered = np.flatnonzero(batch.answered)
        parts.append(take_last(errors.reshape((L, C, -1)), answered))
    joined = namespace_of(targets).concat(parts, axis=-1)
    return take_last(joined, np.argsort(sets.answered))


def set_errors(
    member: MemberDecomposition, targets: Array, penalties: FloatArray, rows: TrainingRows, sets: LeftOutSets
) -> Iterator[tuple[SetBatch, Array]]:
    """Errors on all rows of every set, batch by batch: shape (L, C, G, m), in the order of the sets."""
    solver = _Solver(member, targets, penalties, rows)
    for batch in sets.batches:
        most = _ENTRIES // (batch.rows.shape[1] * max(member.spectrum.shape[0], batch.rows.shape[1], 1))
        for chunk in batch.chunks(most):
            yield chunk, solver.errors(chunk.rows)


@dataclass(frozen=True, eq=False)
class _Member:
    """What the sets of a batch need of a member: rows of Q and u, and a and b on them."""

    Q: Array  # (G, m, ρ)
    u: Array  # (G, m), zero without intercept
    outside: Array  # a, shape (G, m, C); zero for a member that spans the samples
    inside: Array  # b, shape (L, G, m, C)


class _Solver:
    """One member at L penalties, ready to leave out any sets."""

    def __init__(self, member: MemberDecomposition, targets: Array, penalties: FloatArray, rows: TrainingRows) -> None:
        self._u = rows.root_weights * (float(rows.fit_intercept) / rows.total_weight**0.5)
        # Directions of tiny variance mix with the intercept's, whose variance is zero, by rounding.
        self._Qt = Qt = member.left - (member.left @ self._u)[:, None] * self._u
        d, A = member.spectrum, targets @ Qt.T
        L, (C, n) = len(penalties), targets.shape
        self.member, self.targets, self.penalties, self.rows = member, targets, penalties, rows
        self.gains = 1 / (d + as_column(penalties, d))  # (L, ρ)
        self._b = (scaled_rows(A, self.gains) @ Qt).reshape((L, C, n))
        self._a = targets * 0.0 if member.spans_samples else targets - A @ Qt
        self._xp = namespace_of(targets)

    def errors(self, index: IntArray) -> Array:
        """Errors on the rows of G sets of equal size, index of shape (G, m); shape (L, C, G, m)."""
        m = index.shape[1]
        rank = int(self.member.spectrum.shape[0])
        taken = self._taken(index)
        if self.member.spans_samples:
            solved = [self._xp.linalg.solve(self._kernel(taken, l), taken.inside[l]) for l in range(len(self.gains))]
            return self._ordered(solved)
        solved, least = self._by_directions(taken) if m > rank + 1 else self._by_rows(taken)
        errors = self._ordered(solved)
        least_allowed = max(_LEAST, _DIGITS * self.member.slack_noise)
        for g in np.flatnonzero(to_numpy(least) < least_allowed):
            errors[:, :, int(g), :] = self._hard(index[int(g)], least_allowed)
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
            if m <= self.member.spectrum.shape[0] + 1 and float(xp.linalg.eigvalsh(R)[0]) > least_allowed:
                answers.append(xp.linalg.solve(R, taken.outside[0] + float(p) * b).T)
            elif doubtful:
                refitted = self._refitted(index) if refitted is None else refitted
                answers.append(refitted[l])
            else:
                answers.append(_split(values, vectors, null, (float(p), B, taken.outside[0], b)).T)
        return xp.stack(answers)

    def _refitted(self, index: IntArray) -> Array:
        """Errors on one set by training without it, shape (L, C, m)."""
        xp, rows = self._xp, self.rows
        rest = np.setdiff1d(np.arange(rows.n_samples), index)
        F, g = self.member.design.dense(), self.targets
        F_rest, g_rest, roots = take_last(F, rest), take_last(g, rest), take_last(rows.root_weights, rest)
        share = float(rows.fit_intercept) * roots / float((roots * roots).sum())
        means, target_means = F_rest @ share, g_rest @ share
        design = DenseDesign(F_rest - means[:, None] * roots)
        member = decompose(design, float(self.penalties.min()), rows.fit_intercept)
        coefficients = path_coefficients(member, g_rest - target_means[:, None] * roots, self.penalties)
        roots = take_last(rows.root_weights, index)
        outputs = coefficients @ (take_last(F, index) - means[:, None] * roots)
        return (
            take_last(g, index)
            - target_means[:, None] * roots
            - xp.reshape(outputs, (len(self.penalties), g.shape[0], len(index)))
        )


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

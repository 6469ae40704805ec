"""One set of rows left out by training again without it, where no formula keeps the digits."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition, careful, path_coefficients
from subridge.ridge.rows.design import DenseDesign, Design
from subridge.ridge.rows.doubt import EPS, NOTICED
from subridge.ridge.rows.exact_rank import RawRows
from subridge.ridge.rows.training import TrainingRows


class Refit(NamedTuple):
    """Errors of one set in weighted units, shape (L, C, m), and how far rounding may have moved them, shape (L, C)."""

    errors: Array
    moved: FloatArray


def refit_without(
    design: Design, targets: Array, penalties: FloatArray, rows: TrainingRows, index: IntArray, raw: RawRows | None
) -> Refit:
    """Errors on the rows of a set when a member is trained without them.

    From the member's design on all rows, centred and weighted labels, shape (C, n), and penalties, shape (L,). `raw`
    are the rows as they were given: a design that was centred with the set has rounding that may be all there is
    without.
    """
    rest = np.setdiff1d(np.arange(rows.n_samples), index)
    g_rest, roots = take_last(targets, rest), take_last(rows.root_weights, rest)
    new_roots, weights = take_last(rows.root_weights, index), roots * roots
    total = float(weights.sum())
    xp, intercept = namespace_of(targets), rows.fit_intercept
    X = design.dense() / rows.root_weights if raw is None else like(raw.values().T.copy(), targets)  # (N_r, n)
    if intercept:
        largest = xp.max(abs(X), axis=1)[:, None] if raw is None else 0.0
        X = X - xp.asarray(X[:, int(rest[0])], copy=True)[:, None]  # what is constant without the set becomes zero
        X = X * (abs(X) > 4 * EPS * largest)  # where rows were centred and weighted, up to rounding
        for _ in range(2):
            X = X - (take_last(X, rest) @ weights / total)[:, None]
    target_means = g_rest @ roots / total * float(intercept)
    member = careful(
        DenseDesign(take_last(X, rest) * roots), len(rest) - int(intercept), roots / total**0.5 if intercept else None
    )
    labels = g_rest - target_means[:, None] * roots
    coefficients = path_coefficients(member, labels, penalties)  # (L, C, N_r)
    new = take_last(X, index) * new_roots  # (N_r, m)
    errors = take_last(targets, index) - target_means[:, None] * new_roots - coefficients @ new
    judged = _Judged(member, to_numpy(labels), penalties, to_numpy(new.T), to_numpy(coefficients))
    moved, lost = judged.moved(), judged.lost()
    doubted = lost > NOTICED * np.sqrt((to_numpy(errors) ** 2).sum(axis=-1))
    if doubted.any() and raw is not None and not raw.rank_is(len(member.spectrum), index):
        moved = moved + lost
    return Refit(errors, moved)


@dataclass(frozen=True, eq=False)
class _Judged:
    """How far outputs of a member trained on g, shape (C, n), may be off for new rows (m, N_r), at weights (L, C, N_r).

    A decomposition is that of a design in which every column F_j was moved by ε of its norm. To first order this moves
    the weights β = F⁺g by ``-F⁺δF β + (FᵀF)⁺δFᵀ(g - Fβ) + (I - F⁺F) δFᵀ(FFᵀ)⁺g``.
    """

    member: MemberDecomposition
    labels: FloatArray
    penalties: FloatArray
    new: FloatArray
    coefficients: FloatArray

    @cached_property
    def _outside(self) -> FloatArray:
        """What new rows have outside of the member's directions, shape (m, N_r)."""
        V = to_numpy(self.member.right) if self.member.right is not None else self.new[:0]
        return self.new - (self.new @ V.T) @ V

    def moved(self) -> FloatArray:
        """Root of the sum of squares over new rows, shape (L, C)."""
        F, Qt, d = to_numpy(self.member.design.dense()), to_numpy(self.member.left), to_numpy(self.member.spectrum)
        V = to_numpy(self.member.right) if self.member.right is not None else self.new[:0]
        norms, g, shares = np.sqrt((F**2).sum(axis=1)), self.labels, self.new @ V.T
        rounding = 4 * EPS * np.sqrt(max(F.shape))
        found = []
        for p, beta in zip(self.penalties, self.coefficients, strict=True):
            reach = np.sqrt((shares**2 * (d / (d + p) ** 2)).sum(axis=1))  # ‖xF⁺‖, (m,)
            first = np.outer(abs(beta) @ norms, reach) + abs(beta) @ abs(self.new).T
            second = np.outer(_norms(g - beta @ F), abs((shares / (d + p)) @ V) @ norms)
            third = np.outer(_norms((g @ Qt.T) / (d + p)), abs(self._outside) @ norms)
            found.append(_norms(rounding * (first + second + third)))
        return np.stack(found)

    def lost(self) -> FloatArray:
        """The same for a direction that was dropped, if it is one."""
        sigma, p = self.member.dropped**0.5, self.penalties
        if not sigma:
            return np.zeros(self.coefficients.shape[:2])
        with np.errstate(divide="ignore"):
            gain = np.where(sigma**2 > p, 0.5 / np.sqrt(p), sigma / (sigma**2 + p))
        g, Qt = self.labels, to_numpy(self.member.left)
        return np.outer(gain, _norms(g - (g @ Qt.T) @ Qt) * float(_norms(self._outside.ravel()[None, :])[0]))


def _norms(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((rows**2).sum(axis=-1)))

"""Tables for a constant diagonal plus a few spikes, Σ = d I + F Fᵀ: cost O(M · rank²), whatever M is.

On a member, Σ_rr = d I + F_r F_rᵀ has the orthonormal spike directions Q_r, eigenvalues d + g_i, and one eigenvalue d
on everything orthogonal to them. With P the 0/1 overlap of two members, Σ_rs = d P + F_r F_sᵀ, and the projector
Π_0 = I - Q Qᵀ annihilates F, so no large spike ever cancels against another.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.plan import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.general.decomposition import EPS, Doubt
from subridge.theory.general.spectrum import Spectrum
from subridge.theory.general.tables import MemberTable, PairTable, PairTables, Tables

Form: TypeAlias = tuple[FloatArray, FloatArray]  # a diagonal, shape (M,), and a factor, shape (M, f)


class _Member:
    """Spikes of one member: directions Q (N_r × f), strengths g and eigenvalues.

    Vectors on its features come in two parts, y + F_r t: the projector off the spikes takes the second to nothing, and
    so it is never formed.
    """

    def __init__(self, index: IntArray, d: float, F: FloatArray) -> None:
        self.index = index
        Q, roots, Vt = np.linalg.svd(F[index], full_matrices=False)
        kept = roots > roots[0] * len(index) * EPS
        self.Q, self.strength, self.V = Q[:, kept], roots[kept] ** 2, Vt[kept].T
        self.FQ = self.V * roots[kept]  # F_rᵀ Q, shape (rank, f), in which a large spike does not leak into a small one
        self.values = np.concatenate([[d], d + self.strength])
        self.counts = np.concatenate([[len(index) - len(self.strength)], np.ones(len(self.strength))])
        self.seen = self.values > 0  # d = 0 leaves nothing beside the spikes
        merged = (len(index) * EPS * roots[0]) ** 2 / d if d > 0 and not kept.all() else 0.0
        spikes = 8 * EPS * (1 + roots[0] / roots[kept]) if kept.any() else np.zeros(0)
        self.theta = np.concatenate([[8 * EPS + merged], spikes])

    def split(self, y: FloatArray, t: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """What of y + F_r t is orthogonal to the spikes, and its products with them."""
        along = self.Q.T @ y
        rest = y - self.Q @ along
        rest = rest - self.Q @ (self.Q.T @ rest)  # once more, as spikes may be huge
        return rest, along if t is None else along + self.FQ.T @ t

    def inverse(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """``Σ_rr⁺ (y + F_r t)``."""
        rest, along = self.split(y, t)
        bulk = rest / self.values[0] if self.seen[0] else np.zeros(len(rest))
        return np.asarray(bulk + self.Q @ (along / self.values[1:]))

    def left_of(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """``t - F_rᵀ Σ_rr⁺ (y + F_r t)`` without the difference: d/(d + g) of t along a spike."""
        d, along = self.values[0], self.V.T @ t
        rest = t - self.V @ along if self.V.shape[1] < len(t) else np.zeros(len(t))
        return np.asarray(rest + self.V @ (d / self.values[1:] * along) - self.FQ @ (self.Q.T @ y / self.values[1:]))

    def products(self, x: tuple[FloatArray, FloatArray], y: tuple[FloatArray, FloatArray]) -> FloatArray:
        """``xᵀ Π_i y`` of every eigenspace for split vectors, shape (1 + f,)."""
        return np.concatenate([[x[0] @ y[0]], x[1] * y[1]])


class _Fit(NamedTuple):
    """A member's fit to infinite data: the teacher's weights on what it sees, and what makes up for the unseen."""

    weights: FloatArray  # on the member's features
    residual: FloatArray  # w* - b, shape (M,)
    lifted: FloatArray  # b, shape (M,)
    factor: FloatArray  # products of the residual with the signal's factor, and of -b with the noise's
    uncertain: float  # rounding of these
    solved: FloatArray  # squared loadings of what was solved for, by eigenspace


class _Parts(NamedTuple):
    """Signal and noise covariance, each a diagonal and a factor; F is both factors side by side."""

    signal: FloatArray
    noise: FloatArray
    F: FloatArray
    n_signal: int

    def of_factors(self, x: FloatArray, b: FloatArray) -> FloatArray:
        """``F_sᵀ x`` and ``-F_0ᵀ b``."""
        return np.concatenate([self.F[:, : self.n_signal].T @ x, -self.F[:, self.n_signal :].T @ b])


def spiked_tables(problem: Problem, plan: SubsetPlan, forms: tuple[Form, Form]) -> Tables:
    """Tables of a problem whose signal and noise covariance are each a diagonal plus F Fᵀ, the sum's diagonal equal."""
    M, k, w = plan.n_features, plan.n_members, problem.teacher_weights
    parts = _Parts(forms[0][0], forms[1][0], np.hstack([forms[0][1], forms[1][1]]), forms[0][1].shape[1])
    d = float(parts.signal[0] + parts.noise[0])
    members = [_Member(index, d, parts.F) for index in plan.measurements]
    fits = [_fit(parts, member, w) for member in members]
    target = parts.of_factors(w, np.zeros(M))
    loads = [member.split((parts.signal * w)[member.index], target) for member in members]
    solved = [member.inverse((parts.signal * w)[member.index], target) for member in members]
    pairs: PairTables = {}
    for r in range(k):
        for s in range(r, k):
            R, T, one, other = members[r], members[s], fits[r], fits[s]
            rows = np.ix_(R.seen, T.seen)
            squares = _trace(R, T, d)[rows] / R.values[R.seen][:, None] / T.values[T.seen]
            whole = _cross(R, T, d, solved[r], solved[s])[rows] / M
            fitted = _cross(R, T, d, one.weights, other.weights)[rows] / M
            apart = parts.signal * one.residual * other.residual, parts.noise * one.lifted * other.lifted
            left = float(apart[0].sum() + apart[1].sum() + one.factor @ other.factor) / M
            terms = np.abs(apart[0]).sum() + np.abs(apart[1]).sum() + np.abs(one.factor) @ np.abs(other.factor)
            sizes = np.linalg.norm(one.factor), np.linalg.norm(other.factor)
            slip = one.uncertain * (sizes[1] + other.uncertain) + other.uncertain * sizes[0]
            same = bool(np.array_equal(np.sort(R.index), np.sort(T.index)))
            pairs[r, s] = PairTable(
                same,
                squares,
                whole,
                fitted,
                R.products(R.split(one.weights), _pull(parts, R, other))[R.seen] / M,
                T.products(T.split(other.weights), _pull(parts, T, one))[T.seen] / M,
                max(left, 0.0) if same else left,
                float(8 * EPS * terms + slip) / M,
            )
    tables = [_member_table(parts, w, of) for of in zip(members, fits, loads, strict=True)]
    power = float(parts.signal @ w**2 + target @ target) / M
    return Tables(M, power, float(np.sqrt(4 * power)), tuple(tables), pairs)


def _fit(parts: _Parts, member: _Member, w: FloatArray) -> _Fit:
    M, index = len(w), member.index
    begun = _lifted(w[index], index, M)
    unseen = w - begun
    y, t = (parts.signal * unseen - parts.noise * begun)[index], parts.of_factors(unseen, begun)
    step = member.inverse(y, t)
    split = member.split(y, t)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = member.values[0] / member.values[1:]
        squares = np.where(member.seen, member.products(split, split) / member.values, 0.0)
    terms = np.linalg.norm(parts._replace(F=np.abs(parts.F)).of_factors(np.abs(unseen), np.abs(begun)))
    uncertain = float(((share * member.theta[1:]).max(initial=0.0) + 4 * EPS) * terms)
    uncertain += 4 * EPS * float(np.linalg.norm(member.FQ @ (member.Q.T @ y / member.values[1:])))
    lifted = _lifted(w[index] + step, index, M)
    return _Fit(w[index] + step, unseen - _lifted(step, index, M), lifted, member.left_of(y, t), uncertain, squares)


def _pull(parts: _Parts, member: _Member, fit: _Fit) -> tuple[FloatArray, FloatArray]:
    """What the residual of a fit still projects on a member's features, split by its spikes."""
    y = (parts.signal * fit.residual - parts.noise * fit.lifted)[member.index]
    return member.split(y, fit.factor)


def _member_table(parts: _Parts, w: FloatArray, of: tuple[_Member, _Fit, tuple[FloatArray, FloatArray]]) -> MemberTable:
    member, fit, loads = of
    M, seen = len(w), member.seen
    values, theta = member.values[seen], member.theta[seen]
    weights = member.split(fit.weights)
    whole = member.products(loads, loads)[seen] / values / M
    fitted = member.products(weights, weights)[seen] * values / M
    size = parts.signal @ fit.residual**2 + parts.noise @ fit.lifted**2 + fit.factor @ fit.factor
    bulk = (parts.signal + parts.noise) @ w**2
    spikes = bulk + np.sum(parts.of_factors(w, w) ** 2)
    reach = 2 * np.sqrt(np.where(np.arange(1 + len(member.strength)) == 0, bulk, spikes)[seen] / M)
    return MemberTable(
        Spectrum(values * (M / len(member.index)), member.counts[seen], M),
        whole,
        fitted,
        np.sqrt(theta * EPS) * reach,
        np.sqrt(fit.solved[seen] / M) + np.sqrt(theta * EPS) * reach,
        2 * np.sqrt(theta * EPS * size / M),
        theta,
        Doubt(),
        True,
        float(2 * np.sqrt(size / M)),
    )


def _trace(r: _Member, s: _Member, d: float) -> FloatArray:
    """``tr[Π_i Σ_rs Π_j Σ_sr]``, shape (1 + f_r, 1 + f_s), bulk first."""
    _, in_r, in_s = np.intersect1d(r.index, s.index, assume_unique=True, return_indices=True)
    Q_r, Q_s = r.Q[in_r], s.Q[in_s]
    PQ = Q_r.T @ Q_s  # Q_rᵀ P Q_s
    own_r, own_s = np.sum(Q_r**2, axis=0), np.sum(Q_s**2, axis=0)  # |P Q|² column by column
    trace = np.empty((1 + len(r.strength), 1 + len(s.strength)))
    trace[0, 0] = d**2 * (len(in_r) - own_r.sum() - own_s.sum() + np.sum(PQ**2))
    trace[0, 1:] = d**2 * (own_s - np.sum(PQ**2, axis=0))
    trace[1:, 0] = d**2 * (own_r - np.sum(PQ**2, axis=1))
    trace[1:, 1:] = (d * PQ + r.FQ.T @ s.FQ) ** 2
    return trace


def _cross(r: _Member, s: _Member, d: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """``xᵀ Π_i Σ_rs Π_j y``, shape (1 + f_r, 1 + f_s), bulk first."""
    _, in_r, in_s = np.intersect1d(r.index, s.index, assume_unique=True, return_indices=True)
    Q_r, Q_s = r.Q[in_r], s.Q[in_s]
    (x0, x1), (y0, y1) = r.split(x), s.split(y)
    cross = np.empty((1 + len(r.strength), 1 + len(s.strength)))
    cross[0, 0] = d * (x0[in_r] @ y0[in_s])
    cross[0, 1:] = d * (x0[in_r] @ Q_s) * y1
    cross[1:, 0] = d * (y0[in_s] @ Q_r) * x1
    cross[1:, 1:] = x1[:, None] * (d * (Q_r.T @ Q_s) + r.FQ.T @ s.FQ) * y1
    return cross


def _lifted(x: FloatArray, index: IntArray, M: int) -> FloatArray:
    lifted = np.zeros(M)
    lifted[index] = x
    return lifted

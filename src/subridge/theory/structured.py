"""Tables of covariances with structure: independent features, and a constant diagonal plus a few spikes.

Independent features: every feature is its own direction, and members meet only where they share one. With signal and
noise variances s and o and t = s + o, the loading of a feature is s w/√t. Infinite data leave s o w²/t of it where it is
seen and s w² where it is not. No term is negative, so nothing cancels.

Spikes, Σ = d I + F Fᵀ: the cost is O(M · rank²). On a member, Σ_rr = d I + F_r F_rᵀ has orthonormal spike directions Q_r
with eigenvalues d + g_i, and one eigenvalue d on everything orthogonal to them. With P the 0/1 overlap of two members,
Σ_rs = d P + F_r F_sᵀ, and the projector I - Q Qᵀ annihilates F, so that no large spike ever cancels against another.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from subridge.arrays.types import FloatArray, IntArray
from subridge.spec.plan import SubsetPlan
from subridge.spec.problem import Problem
from subridge.theory.saddle_point import EPS, Spectrum
from subridge.theory.tables import MemberTable, PairTable, TableDoubt, Tables


def diagonal_tables(problem: Problem, plan: SubsetPlan, signal: FloatArray, noise: FloatArray) -> Tables:
    """Tables of independent features with these variances, shape (M,) each."""
    M, k = plan.n_features, plan.n_members
    w2, total = problem.teacher_weights**2, signal + noise
    seen = total > 0
    safe = np.where(seen, total, 1.0)
    load, left, whole = signal * (signal / safe) * w2 / M, signal * (noise / safe) * w2 / M, signal * w2 / M
    distinct, which = np.unique(total, return_inverse=True)  # equal variances share one eigenspace
    inside, places, members = [], [], []
    for index in plan.measurements:
        counts = np.bincount(which[index], minlength=len(distinct)).astype(np.float64)
        kept = (counts > 0) & (distinct > 0)
        inside.append(np.isin(np.arange(M), index))
        places.append(np.where(seen, (np.cumsum(kept) - 1)[which], -1))  # of a feature among the member's eigenvalues
        spectrum = Spectrum(distinct[kept] * (M / len(index)), counts[kept], M)
        n = len(spectrum.values)
        squares = _gathered(load, inside[-1] & seen, places[-1], n)
        size = float(np.sqrt(np.where(inside[-1], left, whole).sum()))
        doubt = TableDoubt(np.full(n, 4 * EPS), EPS * np.sqrt(squares), np.zeros(n), np.zeros(n), size)
        members.append(MemberTable(spectrum, squares, squares, doubt))
    pairs = {}
    for r in range(k):
        for s in range(r, k):
            in_r, in_s, shape = inside[r], inside[s], (len(members[r].whole), len(members[s].whole))
            both = np.flatnonzero(in_r & in_s & seen)
            where = (places[r][both], places[s][both])
            cross = scipy.sparse.csr_array((load[both], where), shape=shape)
            rest = float(np.where(in_r | in_s, left, whole).sum())
            pairs[r, s] = PairTable(
                bool(np.array_equal(in_r, in_s)),
                scipy.sparse.csr_array((np.ones(len(both)), where), shape=shape),
                cross,
                cross,
                _gathered(load, in_r & ~in_s & seen, places[r], shape[0]),
                _gathered(load, in_s & ~in_r & seen, places[s], shape[1]),
                rest,
                2 * EPS * rest,
            )
    power = float(signal @ w2) / M
    return Tables(M, power, float(np.sqrt(power)), tuple(members), pairs)


def _gathered(values: FloatArray, chosen: FloatArray, place: IntArray, n: int) -> FloatArray:
    """Values of the chosen features summed by eigenvalue, shape (n,)."""
    return np.bincount(place[chosen], values[chosen], minlength=n).astype(np.float64)


class _Spikes:
    """Spikes of one member: directions Q (N_r × f), strengths g and eigenvalues.

    Vectors on its features come in two parts, y + F_r t. The projector off the spikes annihilates the second, which is
    therefore never formed.
    """

    def __init__(self, index: IntArray, d: float, F: FloatArray) -> None:
        self.index = index
        Q, roots, Vt = np.linalg.svd(F[index], full_matrices=False)
        kept = roots > roots[0] * len(index) * EPS
        self.Q, self.V = Q[:, kept], Vt[kept].T
        self.FQ = self.V * roots[kept]  # F_rᵀ Q, shape (rank, f), in which a large spike does not leak into a small one
        self.values = np.concatenate([[d], d + roots[kept] ** 2])
        self.counts = np.concatenate([[len(index) - kept.sum()], np.ones(kept.sum())])
        self.seen = self.values > 0  # d = 0 leaves nothing beside the spikes
        merged = (len(index) * EPS * roots[0]) ** 2 / d if d > 0 and not kept.all() else 0.0
        spikes = 8 * EPS * (1 + roots[0] / roots[kept]) if kept.any() else np.zeros(0)
        self.theta = np.concatenate([[8 * EPS + merged], spikes])

    def split(self, y: FloatArray, t: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """The part of y + F_r t orthogonal to the spikes, and its products with them."""
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


class _Fit(NamedTuple):
    """A member's fit to infinite data."""

    weights: FloatArray  # on the member's features
    residual: FloatArray  # w* - b, shape (M,)
    lifted: FloatArray  # b, shape (M,)
    factor: FloatArray  # products of the residual with the signal's factor, and of -b with the noise's
    uncertain: float  # error of these
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


def spiked_tables(
    problem: Problem, plan: SubsetPlan, signal: tuple[FloatArray, FloatArray], noise: tuple[FloatArray, FloatArray]
) -> Tables:
    """Tables of signal and noise that are each a diagonal (M,) plus F Fᵀ, F (M, f), with a constant sum of diagonals."""
    M, k, w = plan.n_features, plan.n_members, problem.teacher_weights
    parts = _Parts(signal[0], noise[0], np.hstack([signal[1], noise[1]]), signal[1].shape[1])
    d = float(parts.signal[0] + parts.noise[0])
    members = [_Spikes(index, d, parts.F) for index in plan.measurements]
    fits = [_fit(parts, member, w) for member in members]
    target, seen_signal = parts.of_factors(w, np.zeros(M)), parts.signal * w
    solved = [member.inverse(seen_signal[member.index], target) for member in members]
    pairs = {}
    for r in range(k):
        for s in range(r, k):
            R, T, one, other = members[r], members[s], fits[r], fits[s]
            rows = np.ix_(R.seen, T.seen)
            apart = parts.signal * one.residual * other.residual, parts.noise * one.lifted * other.lifted
            left = float(apart[0].sum() + apart[1].sum() + one.factor @ other.factor) / M
            terms = np.abs(apart[0]).sum() + np.abs(apart[1]).sum() + np.abs(one.factor) @ np.abs(other.factor)
            sizes = np.linalg.norm(one.factor), np.linalg.norm(other.factor)
            slip = one.uncertain * (sizes[1] + other.uncertain) + other.uncertain * sizes[0]
            same = bool(np.array_equal(np.sort(R.index), np.sort(T.index)))
            trace, whole = _meeting(R, T, d, solved[r], solved[s])
            pairs[r, s] = PairTable(
                same,
                trace[rows] / R.values[R.seen][:, None] / T.values[T.seen],
                whole[rows] / M,
                _meeting(R, T, d, one.weights, other.weights)[1][rows] / M,
                _projected(parts, R, one, other)[R.seen] / M,
                _projected(parts, T, other, one)[T.seen] / M,
                max(left, 0.0) if same else left,
                float(8 * EPS * terms + slip) / M,
            )
    tables = []
    for member, fit in zip(members, fits, strict=True):
        seen, theta = member.seen, member.theta[member.seen]
        loads, weights = member.split(seen_signal[member.index], target), member.split(fit.weights)
        size = parts.signal @ fit.residual**2 + parts.noise @ fit.lifted**2 + fit.factor @ fit.factor
        bulk = (parts.signal + parts.noise) @ w**2
        spikes = bulk + np.sum(parts.of_factors(w, w) ** 2)
        slip = 2 * np.sqrt(theta * EPS * np.where(np.arange(len(seen)) == 0, bulk, spikes)[seen] / M)
        tables.append(
            MemberTable(
                Spectrum(member.values[seen] * (M / len(member.index)), member.counts[seen], M),
                _products(loads, loads)[seen] / member.values[seen] / M,
                _products(weights, weights)[seen] * member.values[seen] / M,
                TableDoubt(
                    theta,
                    slip,
                    np.sqrt(fit.solved[seen] / M) + slip,
                    2 * np.sqrt(theta * EPS * size / M),
                    float(2 * np.sqrt(size / M)),
                ),
            )
        )
    power = float(parts.signal @ w**2 + target @ target) / M
    return Tables(M, power, float(np.sqrt(4 * power)), tuple(tables), pairs)


def _fit(parts: _Parts, member: _Spikes, w: FloatArray) -> _Fit:
    M, index = len(w), member.index
    lift = np.zeros(M)
    lift[index] = 1.0
    begun, unseen = w * lift, w * (1 - lift)
    y, t = (parts.signal * unseen - parts.noise * begun)[index], parts.of_factors(unseen, begun)
    step, split = member.inverse(y, t), member.split(y, t)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = member.values[0] / member.values[1:]
        squares = np.where(member.seen, _products(split, split) / member.values, 0.0)
    terms = np.linalg.norm(parts._replace(F=np.abs(parts.F)).of_factors(np.abs(unseen), np.abs(begun)))
    uncertain = float(((share * member.theta[1:]).max(initial=0.0) + 4 * EPS) * terms)
    uncertain += 4 * EPS * float(np.linalg.norm(member.FQ @ (member.Q.T @ y / member.values[1:])))
    residual, lifted = unseen.copy(), begun.copy()
    residual[index] -= step
    lifted[index] += step
    return _Fit(lifted[index], residual, lifted, member.left_of(y, t), uncertain, squares)


def _projected(parts: _Parts, member: _Spikes, own: _Fit, other: _Fit) -> FloatArray:
    """Products of a member's fit with what the residual of another fit projects on its features, by eigenspace."""
    y = (parts.signal * other.residual - parts.noise * other.lifted)[member.index]
    return _products(member.split(own.weights), member.split(y, other.factor))


def _products(x: tuple[FloatArray, FloatArray], y: tuple[FloatArray, FloatArray]) -> FloatArray:
    """``xᵀ Π_i y`` of every eigenspace for split vectors, shape (1 + f,)."""
    return np.concatenate([[x[0] @ y[0]], x[1] * y[1]])


def _meeting(r: _Spikes, s: _Spikes, d: float, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``tr[Π_i Σ_rs Π_j Σ_sr]`` and ``xᵀ Π_i Σ_rs Π_j y``, shape (1 + f_r, 1 + f_s) each, bulk first."""
    _, in_r, in_s = np.intersect1d(r.index, s.index, assume_unique=True, return_indices=True)
    Q_r, Q_s = r.Q[in_r], s.Q[in_s]
    PQ = Q_r.T @ Q_s  # Q_rᵀ P Q_s
    own_r, own_s = np.sum(Q_r**2, axis=0), np.sum(Q_s**2, axis=0)  # |P Q|² column by column
    spikes = d * PQ + r.FQ.T @ s.FQ
    (x0, x1), (y0, y1) = r.split(x), s.split(y)
    trace, cross = np.empty((2, len(r.values), len(s.values)))
    trace[0, 0] = d**2 * (len(in_r) - own_r.sum() - own_s.sum() + np.sum(PQ**2))
    trace[0, 1:] = d**2 * (own_s - np.sum(PQ**2, axis=0))
    trace[1:, 0] = d**2 * (own_r - np.sum(PQ**2, axis=1))
    trace[1:, 1:] = spikes**2
    cross[0, 0] = d * (x0[in_r] @ y0[in_s])
    cross[0, 1:] = d * (x0[in_r] @ Q_s) * y1
    cross[1:, 0] = d * (y0[in_s] @ Q_r) * x1
    cross[1:, 1:] = x1[:, None] * spikes * y1
    return trace, cross

"""Tables for a constant diagonal plus a few spikes, Σ = d I + F Fᵀ: cost O(M · rank²), whatever M is.

On a member, Σ_rr = d I + F_r F_rᵀ has the orthonormal spike directions Q_r, eigenvalues d + g_i, and one eigenvalue d
on everything orthogonal to them. With P the 0/1 overlap of two members, Σ_rs = d P + F_r F_sᵀ, and the projector
Π_0 = I - Q Qᵀ annihilates F, so no large spike ever cancels against another.
"""

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.spec.plan import SubsetPlan
from subridge.spec.problem import Problem
from subridge.theory.general.decomposition import EPS, Doubt
from subridge.theory.general.spectrum import Spectrum
from subridge.theory.general.tables import MemberTable, PairTable, PairTables, Tables


class _Member:
    """Spikes of one member: directions Q (N_r × f), strengths g, eigenvalues, and the fit to infinite data."""

    def __init__(self, index: IntArray, d: float, F: FloatArray) -> None:
        self.index = index
        Q, roots, _ = np.linalg.svd(F[index], full_matrices=False)
        kept = roots > roots[0] * len(index) * EPS
        self.Q, self.strength = Q[:, kept], roots[kept] ** 2
        self.FQ = F[index].T @ self.Q  # (rank, f)
        self.values = np.concatenate([[d], d + self.strength])
        self.counts = np.concatenate([[len(index) - len(self.strength)], np.ones(len(self.strength))])
        self.seen = self.values > 0  # d = 0 leaves nothing beside the spikes
        merged = (len(index) * EPS * roots[0]) ** 2 / d if d > 0 and not kept.all() else 0.0
        spikes = 8 * EPS * (1 + roots[0] / roots[kept]) if kept.any() else np.zeros(0)
        self.theta = np.concatenate([[8 * EPS + merged], spikes])

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A vector on the member's features: what is orthogonal to the spikes, and its products with them."""
        along = self.Q.T @ x
        return x - self.Q @ along, along

    def inverse(self, x: FloatArray) -> FloatArray:
        """``Σ_rr⁺ x``."""
        rest, along = self.split(x)
        bulk = rest / self.values[0] if self.seen[0] else np.zeros(len(rest))
        return np.asarray(bulk + self.Q @ (along / self.values[1:]))

    def products(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """``xᵀ Π_i y`` of every eigenspace, shape (1 + f,)."""
        (x0, x1), (y0, y1) = self.split(x), self.split(y)
        return np.concatenate([[x0 @ y0], x1 * y1])


def spiked_tables(problem: Problem, plan: SubsetPlan, d: float, F: FloatArray) -> Tables:
    """Tables of a problem whose total covariance is ``d I + F Fᵀ``."""
    M, k = plan.n_features, plan.n_members
    S, O, w = problem.signal_covariance, problem.noise_covariance, problem.teacher_weights
    v, size_of_w = S.apply(w), _size(S.variances_of_features(), w)
    members = [_Member(index, d, F) for index in plan.measurements]
    # Weights of a fit to infinite data: those of the teacher on the features seen, and what makes up for the unseen.
    fits, residuals, tables = [], [], []
    for member in members:
        start = w[member.index]
        begun = _lifted(start, member.index, M)
        fit = start + member.inverse((S.apply(w - begun) - O.apply(begun))[member.index])
        lifted = _lifted(fit, member.index, M)
        fits.append(fit)
        residuals.append((w - lifted, lifted))
        tables.append(_member_table(problem, member, (v, fit, lifted)))
    pulls = [S.apply(x) - O.apply(b) for x, b in residuals]
    pairs: PairTables = {}
    for r in range(k):
        for s in range(r, k):
            R, T = members[r], members[s]
            rows = np.ix_(R.seen, T.seen)
            squares = _trace(R, T, d)[rows] / R.values[R.seen][:, None] / T.values[T.seen]
            whole = _cross(R, T, d, R.inverse(v[R.index]), T.inverse(v[T.index]))[rows] / M
            fitted = _cross(R, T, d, fits[r], fits[s])[rows] / M
            (x_r, b_r), (x_s, b_s) = residuals[r], residuals[s]
            left = float(x_r @ S.apply(x_s) + b_r @ O.apply(b_s)) / M
            same = bool(np.array_equal(np.sort(R.index), np.sort(T.index)))
            terms = np.abs(S.apply(x_r)) @ (np.abs(w) + np.abs(b_s)) + np.abs(S.apply(x_s)) @ (np.abs(w) + np.abs(b_r))
            pairs[r, s] = PairTable(
                same,
                squares,
                whole,
                fitted,
                R.products(fits[r], pulls[s][R.index])[R.seen] / M,
                T.products(fits[s], pulls[r][T.index])[T.seen] / M,
                max(left, 0.0) if same else left,
                2 * EPS * float(terms) / M,
            )
    power = max(float(w @ v), 0.0) / M
    return Tables(M, power, float(np.sqrt(max(size_of_w / M, power))), tuple(tables), pairs)


def _member_table(problem: Problem, member: _Member, of: tuple[FloatArray, FloatArray, FloatArray]) -> MemberTable:
    v, fit, lifted = of
    M, seen = problem.n_features, member.seen
    values = member.values[seen]
    whole = member.products(v[member.index], v[member.index])[seen] / values / M
    fitted = member.products(fit, fit)[seen] * values / M
    residual = problem.teacher_weights - lifted
    size = _size(problem.signal_covariance.variances_of_features(), residual)
    size += _size(problem.noise_covariance.variances_of_features(), lifted)
    reach = np.sqrt(_size(problem.signal_covariance.variances_of_features(), problem.teacher_weights) / M)
    theta = member.theta[seen]
    return MemberTable(
        Spectrum(values * (M / len(member.index)), member.counts[seen], M),
        whole,
        fitted,
        np.sqrt(theta * EPS) * reach,
        np.sqrt(whole) + np.sqrt(theta * EPS) * reach,
        np.sqrt(theta * EPS * size / M),
        theta,
        Doubt(),
        True,
        float(np.sqrt(size / M)),
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


def _size(variances: FloatArray, x: FloatArray) -> float:
    """An upper bound of what the rounding of xᵀΣx is relative to, as far as errors do not all add up."""
    return 4 * float(variances @ x**2)

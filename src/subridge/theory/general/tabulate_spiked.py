"""Tables for a constant diagonal plus a few spikes, Σ = d I + F Fᵀ: cost O(M · rank²), whatever M is.

On a member, Σ_rr = d I + F_r F_rᵀ has the orthonormal spike directions Q_r, eigenvalues d + g_i, and one eigenvalue d
on everything orthogonal to them. With P the 0/1 overlap of two members, Σ_rs = d P + F_r F_sᵀ, and the projector
Π_0 = I - Q Qᵀ annihilates F, so no large spike ever cancels against another.
"""

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.spec.plan import SubsetPlan
from subridge.spec.problem import Problem
from subridge.theory.general.spectrum import Spectrum
from subridge.theory.general.tables import Tables


class _Member:
    """Spikes of one member: directions Q (N_r × f), strengths g, and the measured signal v in that basis."""

    def __init__(self, index: IntArray, d: float, F: FloatArray, v: FloatArray) -> None:
        gram_values, rotation = np.linalg.eigh(F[index].T @ F[index])
        kept = gram_values > max(gram_values[-1], d) * len(index) * np.finfo(np.float64).eps
        self.index = index
        self.strength = gram_values[kept]
        self.Q = F[index] @ rotation[:, kept] / np.sqrt(self.strength)
        self.FQ = F[index].T @ self.Q  # (rank, f)
        self.loading = self.Q.T @ v[index]
        self.rest = v[index] - self.Q @ self.loading

    def eigenvalues(self, d: float) -> tuple[FloatArray, FloatArray]:
        counts = np.ones(1 + len(self.strength))
        counts[0] = len(self.index) - len(self.strength)
        return np.concatenate([[d], d + self.strength]), counts


def spiked_tables(problem: Problem, plan: SubsetPlan, d: float, F: FloatArray) -> Tables:
    """Tables of a problem whose total covariance is ``d I + F Fᵀ``."""
    M, k = plan.n_features, plan.n_members
    nu = plan.subset_sizes / M
    v = problem.signal_covariance.apply(problem.teacher_weights)
    members = [_Member(index, d, F, v) for index in plan.measurements]
    spectra, kept = [], []
    for r, member in enumerate(members):
        values, counts = member.eigenvalues(d)
        kept.append(values > 0)  # d = 0 leaves nothing beside the spikes
        spectra.append(Spectrum(values[kept[r]] / nu[r], counts[kept[r]], M))
    trace, cross = {}, {}
    for r in range(k):
        for s in range(r, k):
            tr, cr = _pair(members[r], members[s], d)
            scale = nu[r] * nu[s] * M
            rows_columns = np.ix_(kept[r], kept[s])
            trace[r, s], cross[r, s] = tr[rows_columns] / scale, cr[rows_columns] / scale
    explained = []
    for r, member in enumerate(members):
        squares = np.concatenate([[member.rest @ member.rest], member.loading**2])
        explained.append(squares[kept[r]] / (nu[r] * M))
    power = float(problem.teacher_weights @ v) / M
    return Tables(M, power, tuple(spectra), tuple(explained), trace, cross)


def _pair(r: _Member, s: _Member, d: float) -> tuple[FloatArray, FloatArray]:
    """``tr[Π_i Σ_rs Π_j Σ_sr]`` and ``vᵀ Π_i Σ_rs Π_j v``, shape (1 + f_r, 1 + f_s), bulk first."""
    _, in_r, in_s = np.intersect1d(r.index, s.index, assume_unique=True, return_indices=True)
    Q_r, Q_s = r.Q[in_r], s.Q[in_s]
    PQ = Q_r.T @ Q_s  # Q_rᵀ P Q_s
    B = d * PQ + r.FQ.T @ s.FQ  # Q_rᵀ Σ_rs Q_s
    own_r, own_s = np.sum(Q_r**2, axis=0), np.sum(Q_s**2, axis=0)  # |P Q|² column by column
    trace = np.empty((1 + len(r.strength), 1 + len(s.strength)))
    trace[0, 0] = d**2 * (len(in_r) - own_r.sum() - own_s.sum() + np.sum(PQ**2))
    trace[0, 1:] = d**2 * (own_s - np.sum(PQ**2, axis=0))
    trace[1:, 0] = d**2 * (own_r - np.sum(PQ**2, axis=1))
    trace[1:, 1:] = B**2
    cross = np.empty_like(trace)
    cross[0, 0] = d * (r.rest[in_r] @ s.rest[in_s])
    cross[0, 1:] = d * (r.rest[in_r] @ Q_s) * s.loading
    cross[1:, 0] = d * (s.rest[in_s] @ Q_r) * r.loading
    cross[1:, 1:] = r.loading[:, None] * B * s.loading
    return trace, cross

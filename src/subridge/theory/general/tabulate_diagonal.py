"""Tables of independent features: every feature is its own direction, members meet only where they share one.

With signal and noise variances s and o, t = s + o, the loading of feature j is s w/√t, infinite data leave s o w²/t of
it where it is seen and s w² where it is not, and no term is negative: nothing cancels.
"""

import numpy as np
import scipy.sparse

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.plan import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.general.decomposition import EPS, Doubt
from subridge.theory.general.spectrum import Spectrum
from subridge.theory.general.tables import MemberTable, PairTable, PairTables, Tables


def diagonal_tables(problem: Problem, plan: SubsetPlan, signal: FloatArray, noise: FloatArray) -> Tables:
    """Tables of features with these variances, shape (M,) each."""
    M, k = plan.n_features, plan.n_members
    w2, total = problem.teacher_weights**2, signal + noise
    seen = total > 0
    safe = np.where(seen, total, 1.0)
    load, left = signal * (signal / safe) * w2 / M, signal * (noise / safe) * w2 / M
    power = float(signal @ w2) / M
    distinct, which = np.unique(total, return_inverse=True)  # equal variances share one eigenspace
    places, members = [], []
    for index in plan.measurements:
        counts = np.bincount(which[index], minlength=len(distinct)).astype(np.float64)
        kept = (counts > 0) & (distinct > 0)
        place = np.where(seen, (np.cumsum(kept) - 1)[which], -1)  # of a feature among the member's eigenvalues
        places.append(place)
        spectrum = Spectrum(distinct[kept] * (M / len(index)), counts[kept], M)
        squares = _gathered(load, index[seen[index]], place, len(spectrum.values))
        unseen = np.ones(M, dtype=bool)
        unseen[index] = False
        size = float(np.sqrt(np.where(unseen, signal * w2, 0.0).sum() / M + left[index].sum()))
        nothing = np.zeros(len(squares))
        theta = np.full(len(squares), 4 * EPS)
        slip = EPS * np.sqrt(squares)
        members.append(MemberTable(spectrum, squares, squares, slip, nothing, nothing, theta, Doubt(), True, size))
    pairs: PairTables = {}
    for r in range(k):
        for s in range(r, k):
            in_r, in_s = (np.isin(np.arange(M), plan.measurements[member]) for member in (r, s))
            both, only_r, only_s = (
                np.flatnonzero(chosen & seen) for chosen in (in_r & in_s, in_r & ~in_s, in_s & ~in_r)
            )
            shape = (len(members[r].whole), len(members[s].whole))
            where = (places[r][both], places[s][both])
            trace = scipy.sparse.csr_array((np.ones(len(both)), where), shape=shape)
            cross = scipy.sparse.csr_array((load[both], where), shape=shape)
            rest = float(np.where(in_r | in_s, left, signal * w2 / M).sum())
            pairs[r, s] = PairTable(
                bool(np.array_equal(in_r, in_s)),
                trace,
                cross,
                cross,
                _gathered(load, only_r, places[r], shape[0]),
                _gathered(load, only_s, places[s], shape[1]),
                rest,
                2 * EPS * rest,
            )
    return Tables(M, power, float(np.sqrt(power)), tuple(members), pairs)


def _gathered(values: FloatArray, features: IntArray, place: IntArray, n: int) -> FloatArray:
    """Values of features summed by eigenvalue, shape (n,)."""
    return np.bincount(place[features], values[features], minlength=n).astype(np.float64)

"""Coefficients of Prop. 1, in whitened directions of the members.

A member's covariance Σ̃_rr (eq. 6) has eigenvalues d_i. Along direction i a sample ratio and a ridge fit the share
φ_i = d_i/(κ̄_r + d_i) and leave ψ_i = κ̄_r/(κ̄_r + d_i). With C_rs = Z_rᵀ Σ_rs Z_s, where Z_rᵀ Σ_rr Z_r = I,

    αM γ_rs = Σ_ij φ_i C_ij² φ_j        (eq. 8),

and the bias of eq. 9 (GeneralErr) is a bilinear form in the φ or in the ψ. The first is from the whole signal, with
loadings a_r = Z_rᵀ A_r Σ_s w*,

    M B_rs = w*ᵀΣ_s w* - Σ φ_i a_i² - Σ φ_j a_j² + Σ_ij φ_i a_i C_ij a_j φ_j.

The second is from what even infinite data leave, with ρ_rs the product of the residuals and μ their projections,

    M B_rs = ρ_rs + Σ ψ_i a_i μ_i + Σ ψ_j a_j μ_j + Σ_ij ψ_i a_i C_ij a_j ψ_j.

For r = s it is a sum of squares. The coefficients depend neither on the ridge nor on the sample ratio and are computed
once, here for covariances with structure and by `dense` for all others. A grid point then costs a row of a matrix
product. All coefficients include the factor 1/M.

Independent features: every feature is its own direction, and C_ij = 1 for a feature that both members see, else 0.
With signal and noise variances s and o and t = s + o, the loading of a feature is s w/√t. Infinite data leave s o w²/t
of it where it is seen and s w² where it is not. No term is negative, so nothing cancels.

Spikes, Σ = d I + F Fᵀ: the cost is O(M · rank²). On a member, Σ_rr = d I + F_r F_rᵀ has orthonormal directions Q_r
with eigenvalues d + g_i, and one eigenvalue d on everything orthogonal to them. With P the 0/1 overlap of two members,
Σ_rs = d P + F_r F_sᵀ, and the projector I - Q Qᵀ annihilates F, so that large spikes never cancel against each other.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.linalg import lapack

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.aggregation import quotient
from subridge.model.ensemble import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.saddle_point import EPS, Spectrum, TwoArrays

# Maps a row of length n_r and one of length n_s at every grid point to a number, shape (G,).
Form: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


def bilinear(C: Any, left: FloatArray | float = 1.0, right: FloatArray | float = 1.0) -> Form:
    """``x, y -> xᵀ diag(left) C diag(right) y``, whose matrix is never formed; C = None is the identity."""

    def form(x: FloatArray, y: FloatArray) -> FloatArray:
        scaled = x * left
        return np.asarray(((scaled if C is None else scaled @ C) * right * y).sum(axis=1))

    return form


class TableDoubt(NamedTuple):
    """Rounding errors of a member's table; `slip`, `solved` and `drift` are in units of the loadings a."""

    theta: FloatArray  # relative error of each eigenvalue
    slip: FloatArray  # error of each loading
    solved: FloatArray  # part of each loading that comes from a linear system
    drift: FloatArray  # error of μ, which is zero for the member itself in exact arithmetic
    size: float  # root of the size of the terms of ρ_rr
    alignment: float = 1.0  # how far the errors of different directions may add up
    dropped: int = 0  # directions below rounding error, treated as zero
    dropped_size: float = 0.0  # eigenvalue that each of them may have
    faint: float = 0.0  # power of the target in them, at most
    blurred: float = 0.0  # eigenvalue below which kept directions mix with dropped ones


class MemberTable(NamedTuple):
    """Coefficients of a member by eigenvalues, shape (n,); `squares` is a_i²."""

    spectrum: Spectrum
    squares: FloatArray
    doubt: TableDoubt


class PairTable(NamedTuple):
    """Coefficients of a pair r ≤ s; `same` is true if both see the same features."""

    same: bool
    trace: Form  # of C_ij², summed over eigenspaces
    cross: Form  # of a_i C_ij a_j
    left_over_r: FloatArray  # a_i μ_i, shape (n_r,)
    left_over_s: FloatArray  # a_j μ_j, shape (n_s,)
    left_over: float  # ρ_rs
    slip: float  # error of ρ_rs


def forms_of_same(member: MemberTable) -> tuple[Form, Form]:
    """`PairTable.trace` and `cross` of two members that see the same features, where C is the identity."""
    return bilinear(None, member.spectrum.counts), bilinear(None, member.squares)


class Tables(NamedTuple):
    """The members and pairs r ≤ s of a problem.

    `signal_power` is w*ᵀΣ_s w*/M and `reach` the root of the size of its terms. If `may_be_refined`, a slower
    decomposition would give small eigenvalues more accurately.
    """

    n_features: int
    signal_power: float
    reach: float
    members: tuple[MemberTable, ...]
    pairs: dict[tuple[int, int], PairTable]
    may_be_refined: bool = False

    def of_pairs(self, field: str) -> NDArray[Any]:
        """A number of every pair, shape (k, k)."""
        every = range(len(self.members))
        return np.array([[getattr(self.pairs[min(r, s), max(r, s)], field) for s in every] for r in every])


def loads_of_features(problem: Problem, signal: FloatArray, noise: FloatArray) -> tuple[FloatArray, ...]:
    """Variances of independent features, the power of the target that each explains, and what it leaves, (M,) each."""
    total = signal + noise
    power = signal * problem.teacher_weights**2 / problem.n_features
    return total, power * quotient(signal, total), power * quotient(noise, total)


def diagonal_tables(problem: Problem, plan: SubsetPlan, signal: FloatArray, noise: FloatArray) -> Tables:
    """Tables of independent features with these variances, shape (M,) each."""
    M = plan.n_features
    total, load, left = loads_of_features(problem, signal, noise)
    whole = load + left
    inside = []
    directions = []
    members = []
    for index in plan.measurements:
        own = index[total[index] > 0]
        # Equal variances share one eigenspace.
        values, place, counts = np.unique(total[own], return_inverse=True, return_counts=True)
        n = len(values)
        inside.append(np.isin(np.arange(M), index))
        directions.append(scipy.sparse.csr_array((np.ones(len(own)), (place, own)), shape=(n, M)))
        squares = directions[-1] @ load
        size = float(np.sqrt(np.where(inside[-1], left, whole).sum()))
        doubt = TableDoubt(np.full(n, 4 * EPS), EPS * np.sqrt(squares), np.zeros(n), np.zeros(n), size)
        spectrum = Spectrum(values * (M / len(index)), counts.astype(float), M)
        members.append(MemberTable(spectrum, squares, doubt))
    pairs = {}
    for r, s in combinations_with_replacement(range(plan.n_members), 2):
        in_r = inside[r]
        in_s = inside[s]
        X = directions[r]
        Y = directions[s]
        rest = float(np.where(in_r | in_s, left, whole).sum())
        pairs[r, s] = PairTable(
            np.array_equal(in_r, in_s),
            bilinear(X @ Y.T),
            bilinear(X.multiply(load) @ Y.T),
            X @ np.where(in_s, 0.0, load),
            Y @ np.where(in_r, 0.0, load),
            rest,
            2 * EPS * rest,
        )
    power = float(whole.sum())
    return Tables(M, power, float(np.sqrt(power)), tuple(members), pairs)


class _Spikes:
    """Spikes of one member: directions Q (N_r × f), strengths g and eigenvalues; its fit to infinite data; its table.

    Vectors on its features come in two parts, y + F_r t. The projector off the spikes annihilates the second, which is
    therefore never formed.
    """

    def __init__(self, index: IntArray, d: float, signal: TwoArrays, noise: TwoArrays, w: FloatArray) -> None:
        self.index = index = np.sort(index)  # members with the same features get the same directions
        M = len(w)
        both = np.hstack([signal[1], noise[1]])
        F = both[index]
        roots, Q, V = jacobi(F)
        norms = np.sqrt((F**2).sum(axis=0))
        scaled = np.linalg.svd(F / np.where(norms > 0, norms, 1.0), compute_uv=False)
        sharpness = float(scaled[0] / max(scaled[-1], EPS))  # condition of F with every column at its own scale
        kept = roots > roots[0] * len(index) * EPS
        merged = (len(index) * EPS * roots[0]) ** 2 / d if d > 0 and not kept.all() else 0.0
        roots = roots[kept]
        self.Q = Q[:, kept]
        V = V[:, kept]
        self.FQ = V * roots  # F_rᵀ Q, shape (rank, f), in which a large spike does not leak into a small one
        self.values = np.append(d, d + roots**2)
        self.seen = seen = self.values > 0  # for d = 0 only spikes have variance
        spikes = self.values[1:]
        counts = np.append(len(index) - len(roots), np.ones(len(roots)))
        blurs = 8 * EPS * (1 + np.minimum(roots.max(initial=0.0) / roots, sharpness))
        theta = np.append(8 * EPS + merged, blurs)
        # The fit starts at the teacher's weights on the features that the member sees.
        begun = np.where(np.isin(np.arange(M), index), w, 0.0)
        unseen = w - begun
        y = (signal[0] * unseen - noise[0] * begun)[index]
        t = np.append(signal[1].T @ unseen, -(noise[1].T @ begun))
        terms = np.append(abs(signal[1]).T @ abs(unseen), abs(noise[1]).T @ abs(begun))
        rest, on_all = self.split(y, t)
        along = self.Q.T @ y / spikes
        step = self.Q @ (on_all / spikes) + (rest / d if d > 0 else 0.0)  # Σ_rr⁺ (y + F_r t)
        residual, lifted = unseen, begun  # w* - b and b, shape (M,) each
        residual[index] -= step
        lifted[index] += step
        self.pull = signal[0] * residual - noise[0] * lifted
        self.weights = self.split(lifted[index])
        # Products of the residual with the signal's factor and of -b with the noise's: t - F_rᵀ Σ_rr⁺ (y + F_r t)
        # without the difference, as d/(d + g) of t is left along a spike.
        on_spikes = V.T @ t
        beside = t - V @ on_spikes if len(roots) < len(t) else np.zeros(len(t))
        self.factor = beside + V @ (d / spikes * on_spikes) - self.FQ @ along
        # What infinite data leave, in parts whose products with those of another member make up ρ_rs.
        self.left = np.concatenate([np.sqrt(signal[0]) * residual, np.sqrt(noise[0]) * lifted, self.factor])
        # The error θ of a spike changes what is left along it, and the fit, which has the same factor.
        uncertain = np.linalg.norm(2 * blurs * (abs(on_spikes) + abs(roots * along)))
        self.uncertain = float(uncertain + 4 * EPS * (np.linalg.norm(terms) + np.linalg.norm(self.FQ @ along)))
        bulk = d * (w @ w)
        summed = abs(both).T @ abs(w)
        # The size of the terms along spikes, which may cancel in the sum, and of those beside them.
        sizes = np.append(bulk, np.full(len(roots), bulk + summed @ summed))
        slip = 2 * np.sqrt(theta * EPS * sizes / M)
        solved = np.sqrt(quotient(_products((rest, on_all), (rest, on_all)), self.values) / M) + slip
        size = np.linalg.norm(self.left) / np.sqrt(M)
        self.table = MemberTable(
            Spectrum(self.values[seen] * (M / len(index)), counts[seen], M),
            (_products(self.weights, self.weights) * self.values / M)[seen],
            TableDoubt(theta[seen], slip[seen], solved[seen], 2 * np.sqrt(theta[seen] * EPS) * size, 2 * float(size)),
        )

    def split(self, y: FloatArray, t: FloatArray | None = None) -> TwoArrays:
        """The part of y + F_r t orthogonal to the spikes, and its products with them."""
        along = self.Q.T @ y
        rest = y - self.Q @ along
        rest = rest - self.Q @ (self.Q.T @ rest)  # once more, as spikes may be huge
        return rest, along if t is None else along + self.FQ.T @ t

    def left_over(self, other: "_Spikes") -> FloatArray:
        """Products of the fit with the residual of another member on this one's features, by eigenspace."""
        return _products(self.weights, self.split(other.pull[self.index], other.factor))[self.seen]


def jacobi(F: FloatArray, *, jobu: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular values of F, Q and V by one-sided Jacobi rotations; with ``jobu=3`` without Q.

    Their relative error is eps times the condition of F with its columns scaled to length one.
    """
    roots, Q, V, work, _, failed = lapack.dgejsv(F, joba=0, jobu=jobu, jobv=0)
    if failed:
        raise np.linalg.LinAlgError(f"one-sided Jacobi rotations did not converge (dgejsv: {failed})")
    return roots * (work[0] / work[1]), Q, V


def spiked_tables(problem: Problem, plan: SubsetPlan, signal: TwoArrays, noise: TwoArrays) -> Tables:
    """Tables of signal and noise, each a diagonal (M,) plus F Fᵀ, F (M, f), with a constant sum of diagonals."""
    M = plan.n_features
    w = problem.teacher_weights
    d = float(signal[0][0] + noise[0][0])
    members = [_Spikes(index, d, signal, noise, w) for index in plan.measurements]
    pairs = {}
    for r, s in combinations_with_replacement(range(plan.n_members), 2):
        R = members[r]
        T = members[s]
        terms = R.left * T.left
        left = float(terms.sum()) / M
        uncertain = R.uncertain * (np.linalg.norm(T.factor) + T.uncertain) + T.uncertain * np.linalg.norm(R.factor)
        same = np.array_equal(R.index, T.index)
        pairs[r, s] = PairTable(
            same,
            *(forms_of_same(R.table) if same else _meeting(R, T, d, M)),
            R.left_over(T) / M,
            T.left_over(R) / M,
            max(left, 0.0) if same else left,
            float(8 * EPS * abs(terms).sum() + uncertain) / M,
        )
    bulk = signal[0] @ w**2
    along = abs(signal[1].T @ w)
    power = float(bulk + along @ along) / M
    reach = float(bulk + along @ (abs(signal[1]).T @ abs(w))) / M
    return Tables(M, power, float(np.sqrt(4 * reach)), tuple(member.table for member in members), pairs)


def _products(x: TwoArrays, y: TwoArrays) -> FloatArray:
    """``xᵀ Π_i y`` of every eigenspace for split vectors, shape (1 + f,)."""
    return np.concatenate([[x[0] @ y[0]], x[1] * y[1]])


def _meeting(r: _Spikes, s: _Spikes, d: float, M: int) -> tuple[Form, Form]:
    """Forms of ``tr[Π_i Σ_rs Π_j Σ_sr]/(d_i d_j)`` and ``b_rᵀ Π_i Σ_rs Π_j b_s/M``, with the bulk as the first i, j."""
    _, in_r, in_s = np.intersect1d(r.index, s.index, assume_unique=True, return_indices=True)
    Q_r = r.Q[in_r]
    Q_s = s.Q[in_s]
    PQ = Q_r.T @ Q_s  # Q_rᵀ P Q_s
    own_r, own_s = (Q_r**2).sum(axis=0), (Q_s**2).sum(axis=0)  # |P Q|² column by column
    spikes = d * PQ + r.FQ.T @ s.FQ
    (x0, x1), (y0, y1) = r.weights, s.weights
    of_bulk = d**2 * (len(in_r) - own_r.sum() - own_s.sum() + (PQ**2).sum())
    trace = np.block(
        [[of_bulk, d**2 * (own_s - (PQ**2).sum(axis=0))], [d**2 * (own_r - (PQ**2).sum(axis=1))[:, None], spikes**2]]
    )
    cross = np.block(
        [
            [d * (x0[in_r] @ y0[in_s]), d * (x0[in_r] @ Q_s) * y1],
            [(d * (y0[in_s] @ Q_r) * x1)[:, None], x1[:, None] * spikes * y1],
        ]
    )
    rows = np.ix_(r.seen, s.seen)
    return bilinear(trace[rows], 1 / r.values[r.seen], 1 / s.values[s.seen]), bilinear(cross[rows] / M)

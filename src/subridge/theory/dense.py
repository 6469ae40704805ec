"""Tables of any covariance and any measurements: one decomposition per member, one matrix product per pair.

A plain eigendecomposition has an error of eps·d_max on every eigenvalue, which is harmless for large ones and ruins
small ones. For a graded matrix H = D C D, whose features differ in scale, a Cholesky factor that takes the largest
remaining variance first and one-sided Jacobi rotations give every eigenvalue with a relative error of eps times the
condition of C, whatever D is.
"""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import scipy.linalg

from subridge.arrays.exact_rank import PRIME, product_of_residues, rank_is_at_most, residues_of
from subridge.arrays.types import FloatArray, IntArray
from subridge.model.covariance import Covariance
from subridge.model.ensemble import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.saddle_point import EPS, Spectrum
from subridge.theory.tables import MemberTable, PairTable, TableDoubt, Tables, bilinear, forms_of_same, jacobi

# Smallest d/d_max at which a plain eigendecomposition keeps all but three digits.
_HARMLESS = 1e-3
_UNGRADED = 1e2  # ratio of variances up to which small eigenvalues come from correlations, not from scales
_ROUNDING = 4.0  # error of an eigenvalue, in eps of the largest; grows with the root of the size
_ALIGNED = 16  # most directions whose errors are added without cancelling


class Directions(NamedTuple):
    """Positive eigenvalues d of H, ascending, shape (n,), and whitened directions Z with Zᵀ H Z = I, shape (N, n)."""

    values: FloatArray
    whiten: FloatArray  # Z
    image: FloatArray  # H Z
    theta: FloatArray  # relative error of each eigenvalue
    is_plain: bool = True  # errors are those of an orthogonal transformation
    may_be_refined: bool = False  # `decompose` with accurate=True would be more accurate
    dropped: int = 0  # directions below rounding error, treated as zero
    dropped_size: float = 0.0  # eigenvalue that each of them may have
    blurred: float = 0.0  # eigenvalue below which the directions kept mix with those dropped


class _Member(NamedTuple):
    """A member's directions, its fit to infinite data, and its table."""

    whiten: FloatArray  # Z
    fit: FloatArray  # loadings a
    residual: FloatArray  # w* - b, shape (M,)
    weights: FloatArray  # b, shape (M,)
    terms: FloatArray  # size of what the residual is the difference of, shape (M,)
    table: MemberTable
    may_be_refined: bool


def dense_tables(problem: Problem, plan: SubsetPlan, *, accurate: bool, rank: int) -> Tables:
    """Tables by decomposition; `rank` is an upper bound of the covariance's rank."""
    M = plan.n_features
    S, O, w = problem.signal_covariance, problem.noise_covariance, problem.teacher_weights
    keys = [(A.ndim, A.tobytes()) for A in plan.measurements]
    # Measurements are scaled by powers of two, so that their squares neither overflow nor underflow.
    units = [1.0 if A.ndim == 1 else 2.0 ** np.floor(np.log2(abs(A).max() or 1.0)) for A in plan.measurements]
    plan = SubsetPlan(tuple(A if u == 1 else A / u for A, u in zip(plan.measurements, units, strict=True)), M)
    firsts = map(keys.index, set(keys))  # members with the same measurements are built once
    known = {keys[r]: _member(problem, plan, r, units[r], rank, accurate=accurate) for r in firsts}
    built = [known[key] for key in keys]
    Sx = [S.apply(member.residual) for member in built]
    Ob = [O.apply(member.weights) for member in built]
    pairs = {}
    for r, s in combinations_with_replacement(range(plan.n_members), 2):
        R = built[r]
        T = built[s]
        same = R is T
        forms = forms_of_same(R.table)
        if not same:
            C = R.whiten.T @ (measured(problem, plan, r, s) @ T.whiten)
            forms = bilinear(C**2), bilinear(C, R.fit / M, T.fit)
        left = float(R.residual @ Sx[s] + R.weights @ Ob[s]) / M
        pairs[r, s] = PairTable(
            same,
            *forms,
            R.fit * (R.whiten.T @ plan.measure(r, Sx[s] - Ob[s])) / M,
            T.fit * (T.whiten.T @ plan.measure(s, Sx[r] - Ob[r])) / M,
            max(left, 0.0) if same else left,
            2 * EPS * float(abs(Sx[r]) @ T.terms + abs(Sx[s]) @ R.terms) / M,
        )
    power = max(float(w @ S.apply(w)), 0.0) / M
    refine = any(member.may_be_refined for member in built)
    return Tables(M, power, float(np.sqrt(_size(S, w) / M)), tuple(member.table for member in built), pairs, refine)


def _member(problem: Problem, plan: SubsetPlan, r: int, unit: float, rank: int, *, accurate: bool) -> _Member:
    """Decompose a member's covariance H and fit it to infinite data, from measurements divided by `unit`.

    Errors in its table follow from the sizes of the terms that are summed in loadings and residual.
    """
    S, O, w = problem.signal_covariance, problem.noise_covariance, problem.teacher_weights
    A = plan.measurements[r]
    M = plan.n_features
    chooses = A.ndim == 1
    H = measured(problem, plan, r, r)
    # Standard deviations of what the member measures; for a matrix A upper bounds, without cancellation.
    deviations = np.sqrt(S.variances_of_features() + O.variances_of_features())
    spread = np.sqrt(H.diagonal()) if chooses else np.abs(A) @ deviations
    found = decompose(H, spread**2, accurate=accurate)
    d, Z, theta = found.values, found.whiten, found.theta
    few = np.sqrt(min(len(d), _ALIGNED))

    def along(missed: FloatArray, weights: FloatArray) -> FloatArray:
        """``Zᵀ A_r (Σ_s missed - Σ_0 weights)``, for two vectors of shape (M,)."""
        return Z.T @ plan.measure(r, S.apply(missed) - O.apply(weights))

    # The fit starts at the teacher's weights on the features that are seen, so that their residual is exactly zero.
    start = w[A] if chooses else np.zeros(len(A))
    begun = plan.lift(r, start)
    unseen = w - begun
    solved = along(unseen, begun)
    # One step of refinement with the covariances themselves: H is rounded, which matters in small directions.
    moved = plan.lift(r, Z @ solved)
    refined = solved + along(unseen - moved, begun + moved)
    # Small entries of H Z are d Z. Large ones are computed as a product, in which nothing cancels.
    HZ = found.image if found.is_plain else np.where(H.diagonal()[:, None] <= d, H @ Z, found.image)
    at_start = HZ.T @ start
    fit = at_start + HZ.T @ (start - Z @ at_start) + refined
    used = (start != 0) & (spread > 0)
    sizes = spread[used, None]
    direct = ((sizes**2 <= d) | (d <= found.blurred)) & (not found.is_plain)
    own = few * np.linalg.norm(np.where(direct, sizes, d / sizes) * start[used, None], axis=0)
    step = Z @ refined
    lifted = plan.lift(r, step)
    residual = unseen - lifted
    weights = plan.lift(r, start + step)
    terms = abs(unseen) + abs(lifted)
    most = len(A)
    if not chooses:
        # H itself is rounded: |δH_ij| ≤ eps·a_i a_j with a = |A| √diag Σ
        theta = np.maximum(theta, 4 * EPS * ((spread[:, None] * Z) ** 2).sum(axis=0))
        terms = abs(unseen) + abs(A).T @ abs(step)
        norms = np.linalg.norm(A, axis=1, keepdims=True)
        # The rank of the rows, each scaled to length one.
        most = int(np.linalg.matrix_rank(A / np.where(norms > 0, norms, 1.0), rtol=8 * max(A.shape) * EPS))
    elif found.dropped and not found.may_be_refined and rank_is_at_most(_residues(problem, A), len(d)):
        # Then the variance that seemed to be left is an error of the directions kept.
        theta = theta + found.dropped_size / d
        found = found._replace(dropped_size=0.0)
    reach = np.sqrt(_size(S, unseen) + _size(O, begun))
    noise = _size(O, weights)
    left = float(np.sqrt(_size(S, residual) + noise))
    blurred = np.sqrt(theta * EPS)
    root = float(np.sqrt(M))
    scale = M / len(A) * unit**2
    doubt = TableDoubt(
        theta,
        # The refinement adds errors of small directions, which are less accurate, to the loadings of larger ones.
        (blurred * (own + reach) + few * np.sqrt(theta * (theta * solved**2).cumsum())) / root,
        (abs(solved) + blurred * reach) / root,
        (blurred * left + EPS * np.sqrt(_size(S, terms) + noise)) / root,
        left / root,
        1.0 if found.is_plain else float(few),
        max(0, min(most, rank, len(d) + found.dropped) - len(d)),
        found.dropped_size * scale,
        found.dropped_size * float((start + step) @ (start + step)) / M,
        found.blurred * scale,
    )
    table = MemberTable(Spectrum(d * scale, np.ones(len(fit)), M), fit**2 / M, doubt)
    return _Member(Z, fit, residual, weights, terms, table, found.may_be_refined)


def decompose(H: FloatArray, level: FloatArray, *, accurate: bool) -> Directions:
    """Decompose a symmetric positive semi-definite H, shape (N, N).

    `level`, shape (N,), is the size of the terms that are summed in its diagonal. Without `accurate`, a matrix whose
    features have similar scales gets a plain eigendecomposition, with larger errors `theta`.

    >>> found = decompose(np.diag([1e-40, 1.0, 1e40]), np.array([1e-40, 1.0, 1e40]), accurate=True)
    >>> found.values.round(50).tolist(), bool(found.theta.max() < 1e-14)
    ([1e-40, 1.0, 1e+40], True)
    """
    N = len(H)
    live = np.flatnonzero(H.diagonal() > 0)
    h = H.diagonal()[live]
    if not len(live):
        return Directions(np.zeros(0), np.zeros((N, 0)), np.zeros((N, 0)), np.zeros(0))
    G = H[np.ix_(live, live)]
    rounding = (_ROUNDING + np.sqrt(len(live)) / 4) * EPS
    d, U = np.linalg.eigh(G)
    harmless = bool(d[0] > _HARMLESS * d[-1])
    if not harmless and (accurate or h.max() > _UNGRADED * h.min()):
        found = _graded(G, level[live], rounding)
    else:
        least = 0.0 if harmless else 10 * len(live) * EPS * d[-1]
        dropped = int(np.count_nonzero(d <= least))
        d = d[dropped:]
        roots = np.sqrt(d)
        U = U[:, dropped:]
        found = Directions(d, U / roots, U * roots, rounding * d[-1] / d, True, not harmless, dropped, least)
    both = np.zeros((2, N, len(found.values)))
    both[:, live] = found.whiten, found.image
    return found._replace(whiten=both[0], image=both[1])


def _graded(G: FloatArray, level: FloatArray, rounding: float) -> Directions:
    """Cholesky that takes the largest remaining variance first, then one-sided Jacobi on its graded columns."""
    n = len(G)
    noise = 4 * n * EPS * level  # a remaining variance below this is rounding
    L, order, rank = _pivoted_cholesky(G, noise)
    left = order[rank:]
    roots, _, Y = jacobi(L, jobu=3)
    ascending = roots.argsort()
    roots = roots[ascending]
    Y = Y[:, ascending]
    d = roots**2
    # A feature that the pivots explain up to rounding still has an entry in every eigenvector. In large directions this
    # share is accurate. Small directions keep only the pivots, and their H Z comes from the Cholesky factor.
    blurred = 1e-4 * float(level[left].max(initial=0.0))
    large = d > blurred
    share = np.where(large, L[rank:] @ Y / d, 0.0)
    Z = np.zeros((n, rank))
    Z[left] = share
    Z[order[:rank]] = scipy.linalg.solve_triangular(L[:rank], Y - L[rank:].T @ share, lower=True, trans="T")
    image = d * Z
    image[order] = np.where(large, image[order], L @ Y)
    theta = rounding * (((np.sqrt(np.diagonal(G))[:, None] * Z) ** 2).sum(axis=0) + 1)
    return Directions(d, Z, image, theta, False, False, n - rank, float(noise[left].sum()), blurred)


def _pivoted_cholesky(G: FloatArray, noise: FloatArray) -> tuple[FloatArray, IntArray, int]:
    """Cholesky that passes over features explained up to rounding: L (n, rank) by pivots, their order, the rank."""
    n = len(G)
    L = np.zeros((n, n))
    left = G.diagonal()
    order: list[int] = []
    while (waiting := left > noise).any():
        i = int(np.where(waiting, left, -1.0).argmax())
        j = len(order)
        column = G[:, i] - L[:, :j] @ L[i, :j]
        column = column / np.sqrt(left[i])
        column[order] = 0.0
        L[:, j] = column
        left = left - column**2
        left[i] = 0.0
        order.append(i)
    rank = len(order)
    ordered = np.array(order + sorted(set(range(n)) - set(order)), dtype=int)
    return L[ordered][:, :rank], ordered, rank


def measured(problem: Problem, plan: SubsetPlan, r: int, s: int) -> FloatArray:
    """A_r (Σ_s + Σ_0) A_sᵀ, which is Σ̃_rs of eq. 6 without its factor; symmetric for r = s."""
    S, O = problem.signal_covariance, problem.noise_covariance
    A = plan.measurements[r]
    B = plan.measurements[s]
    if A.ndim == 1 and B.ndim == 1:
        total = S.block(A, B) + O.block(A, B)
    else:
        right = B.T if B.ndim == 2 else plan.lift(s, np.eye(len(B)))
        total = plan.measure(r, (S.apply(right) + O.apply(right)).T).T
    return (total + total.T) / 2 if r == s else total


def _residues(problem: Problem, features: IntArray) -> IntArray:
    """Twice the covariance of some features modulo a prime, before its entries are rounded."""
    total = np.zeros((len(features), len(features)), dtype=int)
    for covariance in (problem.signal_covariance, problem.noise_covariance):
        parts = covariance.diagonal_plus_low_rank()
        if parts is None:
            total += residues_of(covariance.block(features, features))
        else:
            variances, factor = (residues_of(part[features]) for part in parts)
            total += np.diag(variances) + product_of_residues(factor, factor.T)
    return (total + total.T) % PRIME


def _size(covariance: Covariance, x: FloatArray) -> float:
    """Twice the larger of |x|ᵀΣ|x| and Σ_i Σ_ii x_i²: the size that the rounding error of xᵀΣx is relative to."""
    size = abs(x)
    return 2 * max(float(size @ covariance.apply(size)), float(covariance.variances_of_features() @ size**2), 0.0)

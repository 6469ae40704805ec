"""Tables of any covariance and any measurements: one decomposition per member, one product per pair."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.covariance import Covariance
from subridge.model.plan import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.general.decomposition import EPS, Directions, Doubt, decompose
from subridge.theory.general.spectrum import Spectrum
from subridge.theory.general.tables import MemberTable, PairTable, PairTables, Tables, Weighted


@dataclass(frozen=True, eq=False)
class _Member:
    """A member's directions, its loadings, and what a fit to infinite data leaves, in features."""

    directions: Directions
    loadings: FloatArray
    fit: FloatArray
    slip: FloatArray
    solved: FloatArray
    drift: FloatArray
    residual: FloatArray  # w* - b_r, shape (M,), with the fit's weights b_r
    residual_terms: FloatArray  # the size of what it is the difference of
    weights: FloatArray  # b_r
    left: float  # the size of what the residual and the weights leave


def dense_tables(problem: Problem, plan: SubsetPlan, *, accurate: bool, known_rank: int | None = None) -> Tables:
    """Tables by decomposition; `known_rank` is the rank of the covariance where its form tells."""
    M, k = plan.n_features, plan.n_members
    S, O, w = problem.signal_covariance, problem.noise_covariance, problem.teacher_weights
    first = [_first_equal(plan, r) for r in range(k)]
    built: list[_Member] = []
    tables: list[MemberTable] = []
    units = [1.0 if A.ndim == 1 else _power_of_two(float(np.abs(A).max())) for A in plan.measurements]
    scaled = plan if plan.selects_features else _rescaled(plan, units)
    for r in range(k):
        if first[r] != r:
            built.append(built[first[r]])
            tables.append(tables[first[r]])
            continue
        built.append(_member(problem, scaled, r, accurate=accurate, known_rank=known_rank))
        tables.append(_member_table(problem, built[r], M / plan.subset_sizes[r] * units[r] ** 2))
    Sx = [S.apply(member.residual) for member in built]
    Ob = [O.apply(member.weights) for member in built]
    pairs: PairTables = {}
    for r in range(k):
        for s in range(r, k):
            R, T = built[r], built[s]
            same = first[r] == first[s]
            Z_r, Z_s = R.directions.whiten, T.directions.whiten
            C = None if same else Z_r.T @ (_measured(problem, scaled, r, s) @ Z_s)
            mu_r = Z_r.T @ scaled.measure(r, Sx[s] - Ob[s])
            mu_s = Z_s.T @ scaled.measure(s, Sx[r] - Ob[r])
            left = float(R.residual @ Sx[s] + R.weights @ Ob[s]) / M
            terms = np.abs(Sx[r]) @ T.residual_terms + np.abs(Sx[s]) @ R.residual_terms
            pairs[r, s] = PairTable(
                same,
                Weighted(np.ones(len(Z_r.T)), None if C is None else C**2, np.ones(len(Z_s.T))),
                Weighted(R.loadings / M, C, T.loadings),
                Weighted(R.fit / M, C, T.fit),
                R.fit * mu_r / M,
                T.fit * mu_s / M,
                max(left, 0.0) if same else left,
                2 * EPS * float(terms) / M,
            )
    power = max(float(w @ S.apply(w)), 0.0) / M
    refine = any(member.directions.may_be_refined for member in built)
    return Tables(M, power, float(np.sqrt(_size(S, w) / M)), tuple(tables), pairs, refine)


def _member(problem: Problem, plan: SubsetPlan, r: int, *, accurate: bool, known_rank: int | None) -> _Member:
    S, O, w, A = (problem.signal_covariance, problem.noise_covariance, problem.teacher_weights, plan.measurements[r])
    H = _measured(problem, plan, r, r)
    H = (H + H.T) / 2
    if A.ndim == 1:
        spread = np.sqrt(np.diagonal(H))
    else:
        spread = np.abs(A) @ np.sqrt(S.variances_of_features() + O.variances_of_features())
    found = decompose(H, spread**2, accurate=accurate)
    d, Z, theta = found.values, found.whiten, found.theta
    limit = len(H) if A.ndim == 1 else _row_rank(A)
    limit = limit if known_rank is None else min(limit, known_rank)
    doubt = found.doubt
    doubtful = max(0, min(limit, len(d) + doubt.number) - len(d))
    if A.ndim == 2:  # H itself was rounded: |δH_ij| ≤ eps·a_i a_j with a = |A| √diag Σ
        theta = np.maximum(theta, 4 * EPS * np.sum((spread[:, None] * Z) ** 2, axis=0))
    found = Directions(d, Z, theta, Doubt(doubtful, doubt.size, doubt.blurred), found.is_plain, found.may_be_refined)
    # Features the member sees start at the teacher's own weights: what they leave is exactly zero.
    start = w[A] if A.ndim == 1 else np.zeros(len(A))
    begun = plan.lift(r, start)
    x0 = w - begun
    defect = plan.measure(r, S.apply(x0) - O.apply(begun))
    coefficients = Z.T @ defect
    # One step of refinement, on the problem itself: H was rounded, and a fit to it leaves what small directions feel.
    begun_step = plan.lift(r, Z @ coefficients)
    still = plan.measure(r, S.apply(x0 - begun_step) - O.apply(begun + begun_step))
    solved = coefficients + Z.T @ still
    step = Z @ solved
    reach = np.sqrt(_size(S, x0) + _size(O, begun))
    if A.ndim == 2:
        loadings, fit, size = coefficients, solved, np.zeros(len(d))
    else:
        loadings, fit, size = _begun_loadings(H, found, start)
        loadings, fit = loadings + coefficients, fit + solved
    moved = np.abs(plan.lift(r, step)) if A.ndim == 1 else np.abs(A).T @ np.abs(step)
    residual, terms, weights = x0 - plan.lift(r, step), np.abs(x0) + moved, plan.lift(r, start + step)
    noise = _size(O, weights)
    left = float(np.sqrt(_size(S, residual) + noise))
    return _Member(
        found,
        loadings,
        fit,
        np.sqrt(theta * EPS) * (size + reach),
        np.abs(coefficients) + np.sqrt(theta * EPS) * reach,
        np.sqrt(theta * EPS) * left + EPS * np.sqrt(_size(S, terms) + noise),
        residual,
        terms,
        weights,
        left,
    )


def _begun_loadings(H: FloatArray, found: Directions, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loadings of the weights a member starts from, the same refined as coefficients, and the size of their terms."""
    d, Z = found.values, found.whiten
    deviations, few = np.sqrt(np.diagonal(H))[:, None], np.sqrt(min(len(d), 16))
    seen = start != 0
    direct = None if found.is_plain else deviations**2 <= d
    HZ = d * Z if direct is None else np.where(direct, H @ Z, d * Z)
    whole = HZ.T @ start
    fit = whole + HZ.T @ (start - Z @ whole)
    if direct is None:
        with np.errstate(divide="ignore"):
            size = float(np.linalg.norm(start[seen] / deviations[seen, 0]))
        return whole, fit, few * (size * d)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(direct, deviations, d / deviations) * np.abs(start)[:, None]
    terms = np.where(seen[:, None], terms, 0.0)
    return whole, fit, few * np.sqrt(np.sum(terms**2, axis=0))


def _member_table(problem: Problem, member: _Member, unit: float) -> MemberTable:
    found, M = member.directions, problem.n_features
    doubt = Doubt(found.doubt.number, found.doubt.size * unit, found.doubt.blurred * unit)
    return MemberTable(
        Spectrum(found.values * unit, np.ones(len(found.values)), M),
        member.loadings**2 / M,
        member.fit**2 / M,
        member.slip / np.sqrt(M),
        member.solved / np.sqrt(M),
        member.drift / np.sqrt(M),
        found.theta,
        doubt,
        found.is_plain,
        member.left / float(np.sqrt(M)),
    )


def _measured(problem: Problem, plan: SubsetPlan, r: int, s: int) -> FloatArray:
    """A_r (Σ_s + Σ_0) A_sᵀ."""
    return _block(problem.signal_covariance, plan, r, s) + _block(problem.noise_covariance, plan, r, s)


def _block(covariance: Covariance, plan: SubsetPlan, r: int, s: int) -> FloatArray:
    A, B = plan.measurements[r], plan.measurements[s]
    if A.ndim == 1 and B.ndim == 1:
        return covariance.block(A, B)
    right = B.T if B.ndim == 2 else plan.lift(s, np.eye(len(B)))
    return np.asarray(plan.measure(r, covariance.apply(right).T).T)


def _size(covariance: Covariance, x: FloatArray) -> float:
    """What the rounding of xᵀΣx is relative to: its terms where they add up, their squares where they do not."""
    size = np.abs(x)
    return 2 * max(float(size @ covariance.apply(size)), float(covariance.variances_of_features() @ size**2), 0.0)


def _first_equal(plan: SubsetPlan, r: int) -> int:
    """The first member that measures the same."""
    A = plan.measurements
    return next(s for s in range(r + 1) if A[s].ndim == A[r].ndim and np.array_equal(A[s], A[r]))


def _rescaled(plan: SubsetPlan, units: list[float]) -> SubsetPlan:
    measurements = zip(plan.measurements, units, strict=True)
    return SubsetPlan(tuple(A if A.ndim == 1 else A / unit for A, unit in measurements), plan.n_features)


def _power_of_two(x: float) -> float:
    return float(2.0 ** np.floor(np.log2(x))) if x > 0 else 1.0


def _row_rank(A: FloatArray) -> int:
    """Rank of the rows, each at its own scale."""
    norms = np.sqrt(np.sum(A**2, axis=1))
    seen = norms > 0
    if not seen.any():
        return 0
    values = np.linalg.svd(A[seen] / norms[seen][:, None], compute_uv=False)
    return int((values > 8 * max(A.shape) * EPS * values[0]).sum())

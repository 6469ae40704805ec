"""The error of Prop. 1 on test data of another distribution than the training data.

Training fixes the mean weights m_r of a member and their fluctuation. With the moments X_t = E[x xᵀ], c_t = E[x y] and
v_t = E[y²] of the test data, C^t_rs = Z_rᵀ A_r X_t A_sᵀ Z_s beside C_rs of `tables`, and the row fractions f,

    M B^t_rs = v_t - m_rᵀc_t - m_sᵀc_t + Σ_ij φ_i a_i C^t_ij a_j φ_j,
    αM γ^t_rs = f_rs/(f_r f_s) Σ_ij φ_i C_ij C^t_ij φ_j,
    E^t_rs = B^t_rs + γ^t_rs (E_rs + ζ²) + δ_rs η_r²,

where E_rs is the error of eq. 9 (GeneralErr) on data like those of training. It enters because training amplifies the
noise that two members fit in common, and the test data weight it. With the moments of training this is eq. 9 again.

Moments of features that fail, of a shifted mean and of another problem are in `subridge.model.shift`. Equicorrelated
features that fail have a closed form in `dead`.
"""

from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import MemberMoments, quotient
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.problem import Problem
from subridge.model.shift import MomentsAtTest
from subridge.theory.dense import decompose, measured
from subridge.theory.grid import GeneralGrid, readout, row_factors
from subridge.theory.saddle_point import Spectrum, effective_ridges, quiet


class ShiftedTables(NamedTuple):
    """Coefficients that depend on the test data, but not on the ridge and the sample ratio; all have the factor 1/M.

    `power` is v_t. `explained` is a_i (Z_rᵀ A_r c_t)_i along the directions of every member, and `pairs` are the
    matrices C_ij C^t_ij and a_i C^t_ij a_j of members r ≤ s.
    """

    power: float
    spectra: list[Spectrum]
    explained: list[FloatArray]
    pairs: dict[tuple[int, int], tuple[FloatArray, FloatArray]]


def tables_on_test(problem: Problem, plan: SubsetPlan, test: MomentsAtTest) -> ShiftedTables:
    """Tables of a plan's members on the test data."""
    M = problem.n_features
    members = range(plan.n_members)
    target = problem.signal_covariance.apply(problem.teacher_weights)

    def seen(r: int, matrix: FloatArray) -> FloatArray:
        """A_r X."""
        return plan.measure(r, matrix.T).T

    own = [measured(problem, plan, r, r) for r in members]
    directions = [decompose(H, H.diagonal(), accurate=False) for H in own]
    Z = [each.whiten for each in directions]
    spectra = [Spectrum(each.values * (M / len(each.whiten)), np.ones(len(each.values)), M) for each in directions]
    loads = [Z[r].T @ seen(r, target) for r in members]
    explained = [loads[r] * (Z[r].T @ seen(r, test.cross)) / M for r in members]
    pairs = {}
    for r, s in combinations_with_replacement(members, 2):
        C = Z[r].T @ measured(problem, plan, r, s) @ Z[s]
        C_t = Z[r].T @ seen(r, seen(s, test.second).T) @ Z[s]
        pairs[r, s] = C * C_t / M, np.outer(loads[r], loads[s]) * C_t / M
    return ShiftedTables(test.power / M, spectra, explained, pairs)


@quiet
def errors_on_test(
    tables: ShiftedTables,
    kappa_bar: NDArray[Any],
    factors: FloatArray,
    errors: NDArray[Any],
    zeta2: FloatArray,
    eta2: FloatArray,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """E^t_rs, shape (G, k, k), and m_rᵀc_t, shape (G, k), at effective ridges (G, k), which may be complex.

    `factors`, shape (G, k, k), is f_rs/(α f_r f_s), and zero without data; errors E_rs and δ_rs η_r² have that shape.
    """
    phi = [spectrum.shares(kappa_bar[:, r])[0] for r, spectrum in enumerate(tables.spectra)]
    c = np.column_stack([phi[r] @ each for r, each in enumerate(tables.explained)])
    found = np.empty(errors.shape, dtype=kappa_bar.dtype)
    for (r, s), (trace, both) in tables.pairs.items():
        gamma = (phi[r] @ trace * phi[s]).sum(axis=1) * factors[:, r, s]
        spread = np.where(gamma == 0, 0.0, gamma * (errors[:, r, s] + zeta2))
        bias = tables.power - c[:, r] - c[:, s] + (phi[r] @ both * phi[s]).sum(axis=1)
        found[:, r, s] = found[:, s, r] = bias + spread + eta2[:, r, s]
    return found, c


def moments_on_test(
    problem: Problem, ensemble: Ensemble, grid: GeneralGrid, test: MomentsAtTest, pairs: FloatArray
) -> MemberMoments:
    """Moments of members and target on test data, from the errors E_rs on data like those of training, (..., k, k)."""
    tables = tables_on_test(problem, ensemble.plan, test)
    k = ensemble.n_members
    kappa_bar, _ = effective_ridges(tables.spectra, np.outer(grid.alpha, grid.rows.diagonal()), grid.lam)
    factors = row_factors(grid.rows) * quotient(np.ones_like(grid.alpha), grid.alpha)[:, None, None]
    found, c = errors_on_test(tables, kappa_bar, factors, pairs.reshape(-1, k, k), grid.zeta**2, readout(grid))
    v = np.full(grid.shape, tables.power)
    return MemberMoments(found.reshape(*grid.shape, k, k), v[..., None] - c.reshape(*grid.shape, k), v)

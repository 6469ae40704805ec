"""The error of Prop. 1 on test data of another law than the training data.

Training fixes the mean weights m_r of a member and their fluctuation. With the moments X_t = E[x xᵀ], c_t = E[x y] and
v_t = E[y²] of the test data, C^t_rs = Z_rᵀ A_r X_t A_sᵀ Z_s beside C_rs of `tables`, and the row fractions f,

    M B^t_rs = v_t - m_rᵀc_t - m_sᵀc_t + Σ_ij φ_i a_i C^t_ij a_j φ_j,
    αM γ^t_rs = f_rs/(f_r f_s) Σ_ij φ_i C_ij C^t_ij φ_j,
    E^t_rs = B^t_rs + γ^t_rs (E_rs + ζ²) + δ_rs η_r²,

where E_rs is the error of eq. 9 (GeneralErr) on data like those of training: what two members learnt of noise in common
is amplified by training and weighed by the test data. With the moments of training this is eq. 9 again.
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import MemberMoments
from subridge.model.ensemble import Ensemble
from subridge.model.problem import Problem
from subridge.model.shift import MomentsAtTest
from subridge.theory.grid import GeneralGrid, row_factors
from subridge.theory.saddle_point import EPS, Spectrum, effective_ridge


def moments_on_test(
    problem: Problem, ensemble: Ensemble, grid: GeneralGrid, test: MomentsAtTest, pairs: FloatArray
) -> MemberMoments:
    """Moments of members and target on test data, from the errors E_rs on data like those of training, (..., k, k)."""
    M, k, plan, f = problem.n_features, ensemble.n_members, ensemble.plan, grid.rows
    (G,), own, S = grid.alpha.shape, np.diagonal(f), problem.signal_covariance
    Sigma, target = S.dense() + problem.noise_covariance.dense(), S.apply(problem.teacher_weights)

    def seen(r: int, matrix: FloatArray) -> FloatArray:
        """A_r X."""
        return np.asarray(plan.measure(r, matrix.T).T)

    Z, phi, loads, c = [], [], [], np.empty((G, k))
    for r in range(k):
        d, U = np.linalg.eigh(seen(r, seen(r, Sigma).T))
        kept = d > 10 * len(d) * EPS * d[-1]
        spectrum = Spectrum(d[kept] * (M / len(d)), np.ones(int(kept.sum())), M)
        Z.append(U[:, kept] / np.sqrt(d[kept]))
        phi.append(spectrum.shares(effective_ridge(spectrum, grid.alpha * own[r], grid.lam[:, r])[0])[0])
        loads.append(Z[r].T @ seen(r, target))
        c[:, r] = phi[r] @ (loads[r] * (Z[r].T @ seen(r, test.cross))) / M
    E = pairs.reshape(G, k, k)
    found = np.empty((G, k, k))
    inside = (grid.alpha > 0) & np.isfinite(grid.alpha)
    per_sample = np.divide(1.0, grid.alpha * M, out=np.zeros(G), where=inside)
    for r in range(k):
        for s in range(r, k):
            C, Ct = (Z[r].T @ seen(r, seen(s, matrix).T) @ Z[s] for matrix in (Sigma, test.second))
            gamma = np.sum(phi[r] @ (C * Ct) * phi[s], axis=1) * (row_factors(f)[r, s] * per_sample)
            bias = test.power / M - c[:, r] - c[:, s]
            bias = bias + np.sum((phi[r] * loads[r]) @ Ct * (loads[s] * phi[s]), axis=1) / M
            noise = grid.eta[:, r] ** 2 if r == s else 0.0
            with np.errstate(invalid="ignore"):
                spread = np.where(gamma == 0, 0.0, gamma * (E[:, r, s] + grid.zeta**2))
            found[:, r, s] = found[:, s, r] = bias + spread + noise
    v = np.full(grid.shape, test.power / M)
    return MemberMoments(found.reshape(*grid.shape, k, k), v[..., None] - c.reshape(*grid.shape, k), v)

"""Moments of the members' outputs by themselves: c_r = E[y f_r] and F_rs = E[f_r f_s], every term without a difference.

With the share φ_i that is fitted along a direction, c_r = Σ φ_i a_i², the mean outputs of two members have the product
D_rs = Σ_ij φ_i a_i C_ij a_j φ_j, and what samples and noise add is F_rs = D_rs + γ_rs (E_rs + ζ²) + δ_rs η_r².
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.moments import Outputs
from subridge.theory.general.decomposition import EPS
from subridge.theory.general.grid import Grid
from subridge.theory.general.member_state import MemberState
from subridge.theory.general.tables import Tables
from subridge.theory.pair_errors import over_alpha


def general_outputs(
    tables: Tables, grid: Grid, states: list[MemberState], pairs: FloatArray, bounds: FloatArray
) -> Outputs:
    """c, shape (G, k), and F, shape (G, k, k), of members with these errors, whose bounds are known."""
    G, k = grid.lam.shape
    alpha, z2, M = grid.alpha, grid.zeta**2, tables.n_features
    c = np.stack([state.phi @ member.whole for state, member in zip(states, tables.members, strict=True)], axis=-1)
    dc = np.stack([state.dexplained for state in states], axis=-1)
    own = [state.phi**2 @ member.whole for state, member in zip(states, tables.members, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        unsure = np.where(dc > 0, dc / np.abs(c), 0.0)  # relative, of a member's mean output
        fitted = [np.where(s.square > 0, s.spread2 / s.square, 0.0) for s in states]
        moved = [np.where(s.square > 0, 2 * s.dkappa * np.sqrt(s.moved / s.square), 0.0) for s in states]
    F, dF = np.empty((G, k, k)), np.empty((G, k, k))
    for (r, s), pair in tables.pairs.items():
        R, S = states[r], states[s]
        D = own[r] if r == s else np.sum((R.phi @ pair.whole) * S.phi, axis=1)
        square = R.square if r == s else np.sum((R.phi @ pair.trace) * S.phi, axis=1)
        gamma, most = (over_alpha(x / M, alpha) for x in (square, np.sqrt(R.square * S.square)))
        with np.errstate(invalid="ignore"):
            spread = np.where(gamma > 0, gamma * (pairs[:, r, s] + z2), 0.0)
            dgamma = most * (fitted[r] + fitted[s] + moved[r] + moved[s])
            wrong = 2 * (unsure[:, r] + unsure[:, s] + 4 * EPS) * np.sqrt(own[r] * own[s])
            wrong = wrong + gamma * bounds[:, r, s] + dgamma * (np.abs(pairs[:, r, s]) + z2) + 8 * EPS * np.abs(spread)
        noise = grid.eta[:, r] ** 2 if r == s else 0.0
        F[:, r, s] = F[:, s, r] = D + spread + noise
        dF[:, r, s] = dF[:, s, r] = np.where(np.isnan(wrong), np.inf, wrong + 4 * EPS * noise)
    return Outputs(c, F, dc, dF, np.full(G, 4 * EPS * tables.reach**2))

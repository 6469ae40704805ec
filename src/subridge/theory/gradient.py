"""Derivatives of the risk of Prop. 2 in ridges, noises, sample ratio and subset fractions.

E_rs of eq. 16 (EquiCorrGeneralizationError) depends on the two members and on their overlap only, and it is symmetric
in the members. So it suffices to vary the left member of all pairs at once. With weights w,

    dE/dx_r = 2 Σ_s w_r w_s ∂E_rs/∂x_r   (left member),        dE/dν_rs = 2 w_r w_s ∂E_rs/∂ν_rs   (overlap, r ≠ s),

and dE/dν_rr also has the term of a member's overlap with itself. Every partial derivative is the imaginary part at
x + ih divided by a tiny h (complex step; Squire & Trapp 1998, SIAM Review 40, 110), to as many digits as the value.
Weights that minimise the error may be held fixed. If they do not sum to one, the part of the target that members miss
enters too.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import of_pairs, outer
from subridge.model.checks import extended_non_negative
from subridge.model.ensemble import Ensemble, refuse_row_fractions
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem
from subridge.theory.grid import EquicorrelatedGrid, check_description
from subridge.theory.landscape import STEP
from subridge.theory.predict import risk
from subridge.theory.prop2 import printed_forms, printed_S
from subridge.theory.saddle_point import quiet


@dataclass(frozen=True, eq=False)
class RiskGradient:
    """Derivatives of the typical risk; NaN where a ridgeless member is exactly at its interpolation threshold.

    Attributes
    ----------
    ridge, readout_noise : ndarray, shape (..., k)
        dE/dλ_r and dE/dη_r.
    label_noise, sample_ratio : ndarray, shape (...)
        dE/dζ, and the slope dE/dα of the learning curve.
    fractions : ndarray, shape (..., k, k)
        dE/dν_rr on the diagonal; off the diagonal dE/dν_rr′, where ν_rr′ and ν_r′r change together.

    See Also
    --------
    subridge.risk_gradient : computes it.

    Examples
    --------
    >>> import subridge as sr
    >>> found = sr.risk_gradient(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5], ridge=0.1), 1.0)
    >>> isinstance(found, RiskGradient), found.fractions.shape
    (True, (2, 2))
    """

    ridge: FloatArray
    readout_noise: FloatArray
    label_noise: FloatArray
    sample_ratio: FloatArray
    fractions: FloatArray


class Member(NamedTuple):
    """One side of every pair: subset fraction, ridge and readout noise, broadcastable to the pairs; may be complex."""

    nu: Any
    lam: Any
    eta: Any


@quiet
def pair_errors(grid: EquicorrelatedGrid, left: Member, right: Member, overlap: Any, zeta: Any) -> tuple[Any, Any]:
    """Eq. 16 (EquiCorrGeneralizationError) as printed, for real or complex arguments; shape (..., k, k).

    Also returns the power of the target's part orthogonal to 1 that each member misses, summed over the two.
    """
    a, b, alpha, rho2 = (field[..., None, None] for field in (grid.a, grid.b, grid.alpha + 0j, grid.rho2))
    S_r, S_s = (printed_S(a, alpha, member.nu, member.lam) for member in (left, right))
    I_0, I_1, gamma = printed_forms(b, a, alpha, (left.nu, right.nu, overlap), (S_r, S_s))
    noise = gamma * zeta**2 + np.eye(overlap.shape[-1]) * left.eta * right.eta
    missed = b * (2 - b * (left.nu * S_r + right.nu * S_s))
    return ((1 - rho2) * I_0 + rho2 * I_1 + noise) / (1 - gamma), missed


def risk_gradient(problem: EquicorrelatedProblem, ensemble: Ensemble, sample_ratio: ArrayLike) -> RiskGradient:
    """Differentiate `risk` by ridges, noises, sample ratio and subset fractions (Prop. 2).

    Parameters
    ----------
    problem : EquicorrelatedProblem
        The distribution of the data in the limit M → ∞.
    ensemble : Ensemble
        Given by fractions or by a plan of subsets.
    sample_ratio : array_like, shape (...)
        α, positive and finite.

    Returns
    -------
    RiskGradient
        Of the shape that `risk` has for the same arguments.

    Raises
    ------
    ParameterError
        If the problem is not equicorrelated, the features have no variance of their own (correlation one without
        feature noise), or the sample ratio is not positive and finite.
    RidgeError
        If a ridge is so negative that the regression has no solution.

    See Also
    --------
    subridge.best_split : the split of features that is best over a range of sample ratios.

    Examples
    --------
    >>> import subridge as sr
    >>> problem = sr.EquicorrelatedProblem(correlation=0.6, label_noise=0.2)
    >>> found = sr.risk_gradient(problem, sr.Ensemble([0.3, 0.7], ridge=0.01, readout_noise=0.1), 0.5)
    >>> found.ridge.round(3), found.fractions.diagonal().round(3)
    (array([-1.358, -1.546]), array([ 0.265, -0.378]))
    """
    check_description(problem, ensemble)
    refuse_row_fractions(ensemble, "risk_gradient")
    if not isinstance(problem, EquicorrelatedProblem):
        raise ParameterError("problem must be an EquicorrelatedProblem: its risk is smooth in the subset fractions")
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if not ((alpha > 1e-30) & (alpha < 1e100)).all():  # its square and inverse are floats
        raise ParameterError(f"sample_ratio must be positive, from 1e-30 to 1e100, got {alpha.tolist()}")
    grid = EquicorrelatedGrid.of(problem, ensemble, alpha)
    if (grid.a == 0).any():
        raise ParameterError(
            "at correlation 1 and feature_noise 0 nothing varies with the ridge; lower the correlation"
        )
    at = risk(problem, ensemble, alpha)  # raises for a ridge that is too negative
    w = ensemble.aggregation.weights(at.moments)
    left, right = map(Member, *(of_pairs(x) for x in (grid.own, grid.lam, grid.eta)))
    own = np.eye(ensemble.n_members)
    zeta = grid.zeta[..., None, None]
    ih = 1j * STEP
    # E(w) = (1-Σw)² v + 2(1-Σw) wᵀ(v - c) + wᵀEw; where an aligned teacher makes v infinite, Σw = 1.
    alone = own * (w * (1 - w.sum(axis=-1, keepdims=True)))[..., None] * (grid.rho2 == 0)[..., None, None]
    known = np.isfinite(at.total)[..., None, None]

    def slope(
        unit: Any, moved: Member = left, overlap: Any = grid.nu, zeta: Any = zeta, alpha: Any = grid.alpha
    ) -> FloatArray:
        """Derivatives of the terms E_rs by an argument to which ih times this unit was added, shape (..., k, k)."""
        errors, missed = pair_errors(grid._replace(alpha=alpha), moved, right, overlap, zeta)
        return np.where(known, (outer(w) * errors.imag + alone * missed.imag) / (STEP * unit), np.nan)

    a = grid.a[..., None, None]
    area = left.nu * right.nu
    own_size = slope(left.nu, left._replace(nu=left.nu * (1 + ih))).sum(axis=-1, keepdims=True)
    return RiskGradient(
        2 * slope(a, left._replace(lam=left.lam + ih * a)).sum(axis=-1),
        2 * slope(1.0, left._replace(eta=left.eta + ih)).sum(axis=-1),
        np.asarray(slope(1.0, zeta=zeta + ih).sum(axis=(-2, -1))),
        np.asarray(slope(grid.alpha[..., None, None], alpha=grid.alpha * (1 + ih)).sum(axis=(-2, -1))),
        own * 2 * own_size + (2 - own) * slope(area, overlap=grid.nu + ih * area),
    )

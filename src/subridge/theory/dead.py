"""Features that fail at test time, in closed form for equicorrelated data (Prop. 2).

Each feature reads zero with probability f; let h = 1 - f. With the target's power v, the part l_r of it that member r
misses, and the product W_rs of the weights of two members, the mean over failures is, for any weights,

    E^t_rs = h² E_rs + (1 - h²) δ_rs η_r² + f² v + f h (l_r + l_s) + f h (a + s c) W_rs,

where a + s c is the variance of a feature. No term is a difference. For typical training data W_rs is

    W_rs = (1-ρ²) (b/a)² ν_rs σ_r σ_s + ρ² φ_r φ_s ν_rs/(ν_rr ν_ss) + γ_rs (E_rs + ζ²)/a.

The first two terms are from the mean weights, orthogonal to 1 and along it, with the shares φ of `prop2.shares_along`.
The last is from the training rows that both members see.
docs/derivations/test-data.md derives the two formulas.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import MemberMoments, Outputs, of_pairs, outer, quotient
from subridge.model.errors import ParameterError
from subridge.model.shift import DeadFeatures, TestLaw
from subridge.theory import rounding
from subridge.theory.grid import EquicorrelatedGrid, readout
from subridge.theory.prop2 import bulk_of_members, gamma_of, mixed, shares_along
from subridge.theory.saddle_point import quiet


def probability_of(test: TestLaw) -> float:
    """f, if features fail independently with one probability; other test data raise `ParameterError`."""
    if isinstance(test, DeadFeatures) and test.probability.ndim == 0 and test.groups is None:
        return float(test.probability)
    raise ParameterError(
        "with an EquicorrelatedProblem, test= must be sr.DeadFeatures with one probability and without groups; for "
        "other test data, make a Problem by problem.realise(n_features, seed)"
    )


def dead_errors(
    f: float, errors: NDArray[Any], eta2: FloatArray, weights: NDArray[Any], power: FloatArray, missed: NDArray[Any]
) -> NDArray[Any]:
    """E^t_rs from E_rs, δ_rs η_r² and (a + s c) W_rs, shape (..., k, k), v, shape (...), and l_r, shape (..., k)."""
    h = 1 - f
    lost = f * f * power[..., None, None] + f * h * np.add(*of_pairs(missed))
    kept = h * (h * errors + f * weights) if h > 0 else 0.0  # at h = 0 nothing is kept, even of infinite errors
    return np.asarray(kept + (1 - h * h) * eta2 + lost)


@quiet
def dead_moments(
    grid: EquicorrelatedGrid, f: float, moments: MemberMoments, bounds: FloatArray
) -> tuple[MemberMoments, FloatArray]:
    """Moments of members and target where features fail, from those on complete data, and bounds of the pairs."""
    if f == 0:
        return moments, bounds
    found, kappa_bar = bulk_of_members(grid)
    fit = shares_along(grid, kappa_bar)[0]
    a, b, variance, z2, rho = (
        field[..., None, None] for field in (grid.a, grid.b, grid.a + grid.spike, grid.zeta**2, grid.rho)
    )
    E = moments.pairs
    missed, v = moments.with_target()
    h = 1 - f
    eta2 = readout(grid)
    gamma = gamma_of(grid, found)
    across = quotient(b, a) ** 2 * grid.nu * outer(found.sigma)
    per = np.where(gamma > 0, gamma / a, 0.0)
    shared = np.where(gamma > 0, per * (E + z2), 0.0)
    W = variance * (mixed(rho, across, outer(fit) * (grid.nu / outer(grid.own))) + shared)
    known = moments.outputs
    if known is not None:
        F = h * h * known.F + (1 - h * h) * eta2 + f * h * W
        dF = h * h * known.dF + rounding.closed_form_outputs_doubt(found, known.c, F)[1]
        known = Outputs(h * known.c, F, h * known.dc, dF, known.dv)
    pairs = dead_errors(f, E, eta2, W, v, missed)
    size = dead_errors(f, abs(E), eta2, abs(W), v, v[..., None] + abs(missed))
    doubt = (h * h + f * h * variance * per) * bounds + rounding.closed_form_outputs_doubt(found, missed, size)[1]
    return MemberMoments(pairs, f * v[..., None] + h * missed, v, known), np.where(np.isinf(pairs), 0.0, doubt)

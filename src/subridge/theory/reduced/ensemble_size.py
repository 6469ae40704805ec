"""The best number of equal members, and where it becomes infinite: exact for every k, not for those up to a bound."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation
from subridge.theory.reduced.at_optimal_ridge import best_at_optimal_ridge, boundary_at_optimal_ridge
from subridge.theory.reduced.error import Ratios
from subridge.theory.reduced.ridgeless import best_ridgeless
from subridge.theory.reduced.risk import is_optimal, is_scaled
from subridge.theory.reduced.scaled import best_scaled_ridgeless


def optimal_n_members(
    sample_ratio: ArrayLike,
    alignment: ArrayLike,
    readout_nsr: ArrayLike = 0.0,
    feature_nsr: ArrayLike = 0.0,
    label_nsr: ArrayLike = 0.0,
    *,
    ridge: float | str = 0,
    aggregation: str | Aggregation = "mean",
) -> FloatArray:
    """Number k* of equal members that minimises the reduced error (eqs. 25 (kstar_ridgeless), 26 (kstar_opt)).

    Parameters
    ----------
    sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr : array_like, shape (...)
        α (0 means α → 0⁺, inf is allowed), ρ, H, W, Z.
    ridge : 0 or "optimal"
        λ = 0, or every member at its own best ridge, as `subridge.reduced_optimal_ridge` has it.
    aggregation : {"mean", "scaled", "simplex", "free"}
        As in `subridge.reduced_risk`. At ρ = 0 the scaled mean has one best k on either side of the threshold αk = 1,
        in closed form; k* is finite wherever there is readout noise, and 1 at the best ridge.

    Returns
    -------
    ndarray of float, shape (...)
        k*, ``inf`` in the noise-dominated phase; of equal errors the smaller k.

    Raises
    ------
    ParameterError
        If a ratio lies outside its range, or there is no such ridge or aggregation.

    See Also
    --------
    subridge.phase_diagram : k* over two axes, as a dataset.
    subridge.reduced_risk : what is minimised.

    Examples
    --------
    >>> import numpy as np
    >>> optimal_n_members([0.5, np.inf], [0.0, 0.3], [0.15, 1.5])
    array([5., 6.])
    >>> float(optimal_n_members(1.02 * phase_boundary(0.6, 0.5), 0.6, 0.5))  # just above it: not infinite
    515.0
    >>> optimal_n_members(0.1, 0.0, [0.5, 2.5]), optimal_n_members(0.1, 0.0, [0.5, 2.5], aggregation="scaled")
    (array([34., inf]), array([4., 5.]))
    """
    ratios = np.broadcast_arrays(*Ratios.checked(sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr))
    flat = Ratios(*(part.ravel() for part in ratios))
    found = best_at_optimal_ridge(flat) if is_optimal(ridge) else best_ridgeless(flat)
    if is_scaled(aggregation):
        scaled = np.ones_like(found) if is_optimal(ridge) else best_scaled_ridgeless(flat)
        found = np.where(flat.rho2 > 0, found, scaled)
    return found.reshape(ratios[0].shape)


def phase_boundary(
    alignment: ArrayLike,
    readout_nsr: ArrayLike,
    feature_nsr: ArrayLike = 0.0,
    label_nsr: ArrayLike = 0.0,
    *,
    ridge: float | str = 0,
    aggregation: str | Aggregation = "mean",
) -> FloatArray:
    """Sample ratio α below which the infinite ensemble is approached from above.

    Parameters
    ----------
    alignment, readout_nsr, feature_nsr, label_nsr : array_like, shape (...)
        ρ, H, W, Z.
    ridge : 0 or "optimal"
        At λ = 0 this is eq. 214 (AnalyticalBoundaryZeroReg), where the coefficient of 1/k changes sign. A small
        ensemble below its own threshold may still win there; `optimal_n_members` knows. At λ* it is the exact
        boundary of k* = ∞: the smallest α at which some k beats ∞. At ρ = 0 that is H(1+W)²(1+H+Z)/(2-H(1+W)).
    aggregation : {"mean", "scaled", "simplex", "free"}
        As in `subridge.reduced_risk`. At ρ = 0 the scaled mean has this boundary at λ = 0 without readout noise only,
        at (1+W)(1+Z).

    Returns
    -------
    ndarray, shape (...)
        ``inf`` where every sample ratio is noise-dominated, 0 where none is.

    Raises
    ------
    ParameterError
        If a ratio lies outside its range, or there is no such ridge or aggregation.

    See Also
    --------
    subridge.optimal_n_members : the best size on either side.

    Examples
    --------
    >>> float(phase_boundary(0.3, 0.5).round(6)), float(phase_boundary(0.0, 0.5, ridge="optimal"))
    (0.068182, 0.5)
    """
    ratios = Ratios(*np.broadcast_arrays(*Ratios.checked(0.0, alignment, readout_nsr, feature_nsr, label_nsr)))
    _, rho2, H, W, Z = ratios
    if is_optimal(ridge):
        found, scaled = boundary_at_optimal_ridge(ratios), np.zeros_like(H)
    else:
        spare = 2 * (1 - rho2) - H * (1 + W)
        found = np.divide((1 + W) ** 2 * rho2, spare, out=np.full(spare.shape, np.inf), where=spare > 0)
        scaled = np.where(H > 0, 0.0, (1 + W) * (1 + Z))
    return np.asarray(np.where(rho2 > 0, found, scaled) if is_scaled(aggregation) else found)

"""Equal disjoint members on a fixed budget of weights: the reduced error of sec. H.4 (HomEnsMathSection).

Errors are in units of s(1-c), noises are the ratios H, W, Z of eq. 24 (ReducesNoises), ν_rr = 1/k and 0 < c < 1. At
c = 0 set the alignment to zero.
"""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation, Free, Mean, Scaled, Simplex, read_aggregation
from subridge.model.checks import extended_non_negative, real_array
from subridge.model.errors import ParameterError
from subridge.theory.equicorrelated.optimal_ridge import scaled_optimum
from subridge.theory.equicorrelated.saddle_point import bulk_overlap
from subridge.theory.pair_errors import warn_if_infinite
from subridge.theory.reduced.error import Ratios, reduced_error
from subridge.theory.reduced.scaled import best_scaled_overlap, scaled_error


def reduced_risk(
    n_members: ArrayLike,
    sample_ratio: ArrayLike,
    alignment: ArrayLike,
    reduced_ridge: ArrayLike,
    readout_nsr: ArrayLike,
    feature_nsr: ArrayLike,
    label_nsr: ArrayLike,
    *,
    aggregation: str | Aggregation = "mean",
) -> FloatArray:
    """Reduced error 𝓔(k, α, ρ, Λ, H, W, Z), eq. 211 (EkReduced).

    Parameters
    ----------
    n_members : array_like, shape (...)
        k ≥ 1; ``inf`` gives the limit, 1 - ρ² + ρ² W for the mean.
    sample_ratio : array_like, shape (...)
        α; 0 is the limit α → 0⁺ and ``inf`` infinite data.
    alignment : array_like, shape (...)
        ρ in [-1, 1].
    reduced_ridge : array_like, shape (...)
        Λ = λ/(s(1-c)).
    readout_nsr, feature_nsr, label_nsr : array_like, shape (...)
        H, W, Z, noise variances divided by s(1-c).
    aggregation : {"mean", "scaled", "simplex", "free"}
        Equal members have equal weights: "simplex" is "mean", and "free" is "scaled". The scaled mean differs from the
        mean where ρ = 0 only: a teacher along 1 pins the scale at one as M grows (`subridge.risk` with ``n_features``
        knows finite M).

    Returns
    -------
    ndarray, shape (...)
        The shape all parameters broadcast to.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range, or there is no such aggregation.
    DataError
        If one is NaN.

    See Also
    --------
    subridge.risk : members of any size, and errors that are not divided by s(1-c).
    subridge.optimal_n_members : the k that minimises it.

    Examples
    --------
    >>> reduced_risk([1, 4], 0.1, 0.3, 0.0, 0.2, 0.1, 0.4).round(4)
    array([1.1131, 1.0924])
    >>> reduced_risk([1, 4], 0.5, 0.0, 0.1, 0.2, 0.1, 0.4, aggregation="scaled").round(4)
    array([0.8386, 0.8754])
    """
    k, Lam = _sizes(n_members), real_array("reduced_ridge", reduced_ridge)
    if (Lam == -np.inf).any():
        raise ParameterError("reduced_ridge must be greater than minus infinity")
    ratios = Ratios.checked(sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr)
    few = np.isfinite(k)
    # An infinite ensemble has members of no size, whose fit does not matter: any finite ν and Λ will do for it.
    t = np.where(few, Lam, 0.0) / np.where(few, k * (1 + ratios.W), 1.0)
    sigma = bulk_overlap(ratios.alpha, np.where(few, 1.0 / k, 1.0), t)
    found = reduced_error(1.0 / k, sigma, ratios)
    if is_scaled(aggregation):
        found = np.where(ratios.rho2 > 0, found, scaled_error(1.0 / k, sigma, ratios))
    warn_if_infinite(found)
    return found


def reduced_optimal_ridge(
    n_members: ArrayLike,
    alignment: ArrayLike,
    readout_nsr: ArrayLike,
    feature_nsr: ArrayLike,
    label_nsr: ArrayLike,
    *,
    aggregation: str | Aggregation = "mean",
    sample_ratio: ArrayLike | None = None,
) -> FloatArray:
    """Λ*, the reduced form of eq. 193 (optreg_local): the ridge best for each member by itself.

    Parameters
    ----------
    n_members, alignment, readout_nsr, feature_nsr, label_nsr : array_like, shape (...)
        k, ρ, H, W, Z.
    aggregation : {"mean", "scaled", "simplex", "free"}
        For the scaled mean, the ridge best for each member when it is scaled. At ρ = 0 it is best for the ensemble as
        well; with readout noise it may be negative, as large outputs drown the noise.
    sample_ratio : array_like, shape (...), optional
        α, positive and finite; needed for the scaled mean, whose best ridge depends on it where H > 0 and ρ = 0.

    Returns
    -------
    ndarray, shape (...)
        ``inf`` at ρ = ±1 (unless nothing is left to amplify) and for k = ∞.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range, or the scaled mean is asked about without `sample_ratio`.

    See Also
    --------
    subridge.optimal_ridge : members of any size.

    Examples
    --------
    >>> float(reduced_optimal_ridge(7, 0.0, 0.5, 0.2, 0.4).round(3))
    17.952
    >>> float(reduced_optimal_ridge(7, 0.0, 0.5, 0.2, 0.4, aggregation="scaled", sample_ratio=0.5).round(3))
    -0.258
    """
    k = _sizes(n_members)
    if is_scaled(aggregation):
        return _scaled_optimal_ridge(k, (alignment, readout_nsr, feature_nsr, label_nsr), sample_ratio)
    _, rho2, H, W, Z = Ratios.checked(1.0, alignment, readout_nsr, feature_nsr, label_nsr)
    with np.errstate(invalid="ignore"):
        Lam = (1 + W) * (k * scaled_optimum(np.ones(()), 1 + W, 1.0 / k, rho2, H + Z) - 1)
    nothing = (rho2 == 1) & (Z + H + (1 + W) * k - 1 == 0)
    return np.where(nothing | (np.abs(Lam) < 1e-14 * (1 + W)), 0.0, Lam)  # zero up to rounding is zero


def _scaled_optimal_ridge(
    k: FloatArray, noises: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike], sample_ratio: ArrayLike | None
) -> FloatArray:
    pinned = reduced_optimal_ridge(k, *noises)
    if sample_ratio is None:
        raise ParameterError('sample_ratio is needed for aggregation="scaled": its best ridge depends on it')
    ratios = Ratios.checked(sample_ratio, *noises)
    if not np.all((ratios.alpha > 0) & np.isfinite(ratios.alpha)):
        raise ParameterError("sample_ratio must be positive and finite to optimise the ridge")
    few = np.isfinite(k)
    nu = np.where(few, 1.0 / k, 1.0)
    sigma = best_scaled_overlap(nu, Ratios(*np.broadcast_arrays(*ratios, nu)[:-1]))
    Lam = (1 + ratios.W) * (1 - sigma) * (ratios.alpha - nu * sigma) / (nu * sigma)
    return np.where((ratios.rho2 > 0) | ~few, pinned, Lam)


def large_k_coefficient(
    sample_ratio: ArrayLike,
    alignment: ArrayLike,
    readout_nsr: ArrayLike,
    feature_nsr: ArrayLike,
    label_nsr: ArrayLike,
    *,
    ridge: float | str = 0,
) -> FloatArray:
    """Coefficient of 1/k in the expansion of 𝓔_k about k = ∞ (sec. H.4.1 (PhaseTransitionAnalytics)).

    Negative means that a finite ensemble beats the infinite one.

    Parameters
    ----------
    sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr : array_like, shape (...)
        α, ρ, H, W, Z.
    ridge : 0 or "optimal"
        At λ* the paper prints H; that holds for ρ ≠ 0 (and only once k ≫ 1/ρ²), while at ρ = 0 the coefficient is
        H - 2α/((1+W)(α + (1+W)(1+H+Z))).

    Returns
    -------
    ndarray, shape (...)
        The shape all parameters broadcast to.

    Raises
    ------
    ParameterError
        If a ratio lies outside its range, or there is no such ridge.

    See Also
    --------
    subridge.phase_boundary : where its sign changes.

    Examples
    --------
    >>> float(large_k_coefficient(0.7, 0.0, 0.5, 0.2, 0.4, ridge="optimal").round(6))
    0.108501
    """
    alpha, rho2, H, W, Z = Ratios.checked(sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr)
    with np.errstate(divide="ignore", invalid="ignore"):
        if is_optimal(ridge):
            crowded = np.where(np.isinf(alpha), 1.0, alpha / (alpha + (1 + W) * (1 + H + Z)))
            return np.where(rho2 > 0, H, H - 2 * crowded / (1 + W))
        # The aligned part costs ρ²(1+W)/α, which at ρ = 0 is nothing even without data.
        cost = np.where(rho2 > 0, rho2 * (1 + W) / alpha, 0.0)
    return np.asarray(cost + H - 2 * (1 - rho2) / (1 + W))


def is_optimal(ridge: float | str) -> bool:
    """Read the argument ``ridge`` of the functions on reduced errors: 0 or "optimal"."""
    if not isinstance(ridge, str | int | float) or ridge not in (0, "optimal"):
        raise ParameterError(f'ridge must be 0 or "optimal", got {ridge!r}')
    return ridge == "optimal"


def is_scaled(aggregation: str | Aggregation) -> bool:
    """Read the argument ``aggregation`` of the functions on equal members: whether the sum of the weights is free."""
    found = read_aggregation(aggregation)
    if not isinstance(found, Mean | Scaled | Simplex | Free):
        raise ParameterError(
            f"aggregation must be one of mean, scaled, simplex, free for equal members, got {found.name!r}"
        )
    return isinstance(found, Scaled | Free)


def _sizes(n_members: ArrayLike) -> FloatArray:
    k = extended_non_negative("n_members", n_members)
    if (k < 1).any():
        raise ParameterError(f"n_members must be at least 1, got {k.min():g}")
    return k

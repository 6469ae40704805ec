"""Equal disjoint members that share a fixed number of weights, eqs. 22 to 26 and sec. H.4 (HomEnsMathSection).

Errors are in units of s(1-c). The order is that of the paper: the error, eqs. 195 to 212, at λ = 0 or any ridge; the
best ridge, eq. 193; the best number of members, eqs. 25 and 26, with its boundary and expansion, eqs. 213 to 215.

Noises are the ratios H, W, Z of eq. 24 (ReducesNoises), ν_rr = 1/k and 0 < c < 1; at c = 0 set the alignment to zero.
In these units b = 1 and a = 1 + W, and σ = (1+W) 𝓢 with 𝓢 of eq. 202. No two members share a feature, so that
𝓔_k = ν E_rr + (1-ν) E_rr′. The sums are written so that ν = 0, that is k = ∞, is no special case.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, quotient, read_aggregation
from subridge.model.checks import common_shape, extended_non_negative, real_array, within
from subridge.model.errors import ParameterError
from subridge.theory.prop2 import best_member_ridge, bulk, scaled_optimum
from subridge.theory.rounding import warn_if_infinite
from subridge.theory.saddle_point import TwoArrays, quiet

_LARGEST = 1e100  # of a noise-to-signal ratio, so that its powers do not overflow
_AT_THRESHOLD = 1e-12  # 1 - γ is a difference of numbers near one; below this it is rounding
_TIE = 1e-13  # errors this close are equal up to rounding; the smaller ensemble is preferred
_ONE = np.ones(())
# Every k of the first part is compared; beyond it a geometric net brackets the best, up to ensembles of 10^12.
_NET = np.unique(np.concatenate([np.arange(1.0, 25.0), np.geomspace(24, 1e12, 110).round()]))


class Ratios(NamedTuple):
    """α, ρ² and the noises H, W, Z of eq. 24 (ReducesNoises)."""

    alpha: FloatArray
    rho2: FloatArray
    H: FloatArray
    W: FloatArray
    Z: FloatArray

    @classmethod
    def checked(cls, alpha: ArrayLike, rho: ArrayLike, H: ArrayLike, W: ArrayLike, Z: ArrayLike) -> "Ratios":
        ratio = extended_non_negative("sample_ratio", alpha)
        found = cls(
            np.where(ratio > _LARGEST, np.inf, np.where(ratio < 1 / _LARGEST, 0.0, ratio)),
            np.asarray(within("alignment", rho, -1.0, 1.0) ** 2),
            within("readout_nsr", H, 0.0, _LARGEST),
            within("feature_nsr", W, 0.0, _LARGEST),
            within("label_nsr", Z, 0.0, _LARGEST),
        )
        words = ("sample_ratio", "alignment", "readout_nsr", "feature_nsr", "label_nsr")
        common_shape(**{word: part.shape for word, part in zip(words, found, strict=True)})
        return found

    def flat(self) -> "Ratios":
        """All of one shape, with one axis."""
        return Ratios(*(part.ravel() for part in np.broadcast_arrays(*self)))

    def take(self, rows: IntArray) -> "Ratios":
        """Some points of a flat grid."""
        return Ratios(*(part[rows] for part in self))


# The error ----------------------------------------------------------------------------------------------------------


def own_bias(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """ν B_rr: each member's bias against itself, as it enters 𝓔, eqs. 204 to 208 (ErrReduced)."""
    _, rho2, _, W, _ = ratios
    along = (1 - nu) + W  # ν I¹_rr
    across = (1 - nu) + nu * (W + (1 - sigma) ** 2) / (1 + W)  # I⁰_rr, without a difference
    return (1 - rho2) * nu * across + rho2 * along


def cross_bias(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """B_rr′ of two different members, their error, eqs. 209, 210 (ErrpReduced): without a shared feature γ = 0."""
    _, rho2, _, W, _ = ratios
    return (1 - rho2) * (1 - 2 * nu * sigma / (1 + W)) - rho2


@quiet
def reduced_error(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """𝓔 at ν = 1/k, eqs. 211 and 212 (EkReduced), given the share σ that a member fits; inf at the threshold."""
    alpha, _, H, _, Z = ratios
    gamma = quotient(nu * sigma**2, alpha)
    bias = own_bias(nu, sigma, ratios)
    noise = nu * (H + gamma * Z)
    gap = 1.0 - gamma
    # Without noise and with all features seen the bias vanishes faster than 1 - γ: the limit is 0.
    nothing = (abs(bias) <= 1e-28 * nu) & (noise == 0)
    member = np.where(gap <= _AT_THRESHOLD, np.where(nothing, 0.0, np.inf), (bias + noise) / gap)
    return member + (1 - nu) * cross_bias(nu, sigma, ratios)


@quiet
def scaled_error(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """𝓔 of the scaled mean at ρ = 0, given ν = 1/k and σ; it never exceeds one.

    At ρ = 0 disjoint members are uncorrelated, so that each explains its own part of the target. For ρ ≠ 0 the target's
    power grows with the number of features, the best scale is one, and the error is that of the mean.
    """
    alpha, _, H, _, _ = ratios
    readout = np.where(H > 0, H / (nu * sigma**2), 0.0)
    gap = 1.0 - quotient(nu * sigma**2, alpha)
    causes = np.where(alpha > 0, odds(nu, sigma, readout, ratios), np.inf)
    ratio = np.where(np.isinf(causes), 1.0, causes / (causes + gap))
    # Without noise, with all seen and as many samples as features there is nothing to amplify.
    return np.where(gap <= _AT_THRESHOLD, np.where(causes <= _AT_THRESHOLD, 0.0, 1.0), ratio)


def odds(nu: FloatArray, sigma: FloatArray, readout: FloatArray, ratios: Ratios) -> FloatArray:
    """``(1-γ)𝓔/(1-𝓔)`` of the scaled mean at ρ = 0, a sum over the causes of error; `readout` is H/(νσ²).

    With e = 1 + W, and m = νσ the share of all features that a member fits, it is

        W + e²Hν/m² + [e²Z + (e-m)² + m(σ-m)]/α,

    from feature noise, readout noise, label noise, and what a member does not see or fit.
    """
    alpha, _, _, W, Z = ratios
    e = 1 + W
    m = nu * sigma
    return W + e**2 * readout + (e**2 * Z + (e - m) ** 2 + m * (sigma - m)) / alpha


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
        mean only where ρ = 0: with a teacher along 1 the best scale tends to one as M grows. For finite M use
        `subridge.risk` with ``n_features``.

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
    RidgeError
        If a ridge is so negative that the regression has no solution.

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
    k = extended_non_negative("n_members", n_members, 1.0)
    Lam = real_array("reduced_ridge", reduced_ridge)
    if (Lam == -np.inf).any():
        raise ParameterError("reduced_ridge must be greater than minus infinity")
    ratios = Ratios.checked(sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr)
    few = np.isfinite(k)
    # In an infinite ensemble the fit of a member does not matter, so that any finite ν and Λ will do.
    t = np.where(few, Lam, 0.0) / np.where(few, k * (1 + ratios.W), 1.0)
    sigma = bulk(ratios.alpha, np.where(few, 1.0 / k, 1.0), t).sigma
    found = reduced_error(1.0 / k, sigma, ratios)
    if is_scaled(aggregation):
        found = np.where(ratios.rho2 > 0, found, scaled_error(1.0 / k, sigma, ratios))
    warn_if_infinite(found)
    return found


# The best ridge -----------------------------------------------------------------------------------------------------


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
        For the scaled mean, the ridge that is best for each member when it is scaled. At ρ = 0 it is also the best for
        the ensemble. With readout noise it may be negative, as the noise matters less beside larger outputs.
    sample_ratio : array_like, shape (...), optional
        α, positive and finite; needed for the scaled mean, whose best ridge depends on it where H > 0 and ρ = 0.

    Returns
    -------
    ndarray, shape (...)
        ``inf`` at ρ = ±1 (unless nothing is left to amplify) and for k = ∞.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range, or `sample_ratio` is missing for the scaled mean.

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
    k = extended_non_negative("n_members", n_members, 1.0)
    scaled = is_scaled(aggregation)
    if scaled and sample_ratio is None:
        raise ParameterError('sample_ratio is needed for aggregation="scaled": its best ridge depends on it')
    given = 1.0 if sample_ratio is None else sample_ratio
    alpha, rho2, H, W, Z = Ratios.checked(given, alignment, readout_nsr, feature_nsr, label_nsr)
    Lam = best_member_ridge(_ONE, 1 + W, 1.0 / k, rho2, H + Z)
    if not scaled:
        return Lam
    if not ((alpha > 0) & np.isfinite(alpha)).all():
        raise ParameterError("sample_ratio must be positive and finite to optimise the ridge")
    few = np.isfinite(k)
    nu = np.where(few, 1.0 / k, 1.0)
    sigma = _best_scaled_overlap(*np.broadcast_arrays(nu, alpha, H, W, Z))
    free = (1 + W) * (1 - sigma) * (alpha - nu * sigma) / (nu * sigma)
    return np.where((rho2 > 0) | ~few, Lam, free)


def stationarity(
    sigma: FloatArray, nu: FloatArray, alpha: FloatArray, H: FloatArray, W: FloatArray, Z: FloatArray
) -> FloatArray:
    """Zero where the error of the scaled mean is least in the ridge; negative where σ is too small."""
    e = 1 + W
    fitted = (alpha + e * (1 + Z)) * sigma - nu * sigma**2 - alpha
    return nu**2 * sigma**3 * fitted - e * alpha * H * (alpha - 2 * nu * sigma**2)


def _best_scaled_overlap(nu: FloatArray, alpha: FloatArray, H: FloatArray, W: FloatArray, Z: FloatArray) -> FloatArray:
    """σ at the ridge that is best for the scaled mean, the one root of `stationarity`; α positive and finite.

    Without readout noise it is that of the quadratic at λ*; as H grows, γ tends to one half. The root lies between
    these two.
    """
    sum_of_roots = alpha + (1 + W) * (1 + Z)
    noiseless = 2 * alpha / (sum_of_roots + np.sqrt(sum_of_roots**2 - 4 * nu * alpha))
    noisy = np.sqrt(alpha / (2 * nu))
    found = elementwise.find_root(
        stationarity, (np.minimum(noiseless, noisy), np.maximum(noiseless, noisy)), args=(nu, alpha, H, W, Z)
    )
    return np.where((H > 0) & found.success, found.x, noiseless)


# The best number of members -----------------------------------------------------------------------------------------


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
        λ = 0, or every member at its own best ridge, as in `subridge.reduced_optimal_ridge`.
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
    ratios = Ratios.checked(sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr)
    flat = ratios.flat()
    optimal = is_optimal(ridge)
    found = _best_at_optimal_ridge(flat) if optimal else _best_ridgeless(flat)
    if is_scaled(aggregation):
        found = np.where(flat.rho2 > 0, found, np.ones_like(found) if optimal else _best_scaled_ridgeless(flat))
    return found.reshape(np.broadcast_shapes(*(part.shape for part in ratios)))


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
        ensemble below its own threshold may still be better there, see `optimal_n_members`. At λ* it is the exact
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
        # The smallest α_k over all k: below it no ensemble beats the infinite one.
        found = np.where(H == 0, 0.0, _integer_minimum(_winning_from, ratios.flat())[1].reshape(H.shape))
        scaled = np.zeros_like(H)
    else:
        spare = 2 * (1 - rho2) - H * (1 + W)
        found = np.divide((1 + W) ** 2 * rho2, spare, out=np.full(spare.shape, np.inf), where=spare > 0)
        scaled = np.where(H > 0, 0.0, (1 + W) * (1 + Z))
    return np.where(rho2 > 0, found, scaled) if is_scaled(aggregation) else found


@quiet
def large_k_coefficient(
    sample_ratio: ArrayLike,
    alignment: ArrayLike,
    readout_nsr: ArrayLike,
    feature_nsr: ArrayLike,
    label_nsr: ArrayLike,
    *,
    ridge: float | str = 0,
) -> FloatArray:
    """Coefficient of 1/k in the expansion of 𝓔_k about k = ∞, eqs. 213 (λ = 0) and 215 (λ*).

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
    if is_optimal(ridge):
        crowded = np.where(np.isinf(alpha), 1.0, alpha / (alpha + (1 + W) * (1 + H + Z)))
        return np.where(rho2 > 0, H, H - 2 * crowded / (1 + W))
    # The aligned part costs ρ²(1+W)/α, which is zero at ρ = 0 even without data.
    cost = np.where(rho2 > 0, rho2 * (1 + W) / alpha, 0.0)
    return cost + H - 2 * (1 - rho2) / (1 + W)


@quiet
def _best_ridgeless(ratios: Ratios) -> FloatArray:
    """k* at λ = 0 on a flat grid.

    With x = 1/k the error is explicit on either side of the members' threshold k = 1/α, because a member fits
    σ = min(1, αk) of its bulk:

        k < 1/α:   𝓔_k = H/k + C/(1 - αk) + what does not depend on k,     convex in k, its minimum explicit;
        k > 1/α:   𝓔_k = r(x)/(1 - x/α) + l(x),                            r and l quadratic, at most one inflection.
    """
    alpha, H = ratios.alpha, ratios.H
    # Below the threshold H/k² = αC/(1-αk)².
    small = np.sqrt(H) / (alpha * np.sqrt(H) + np.sqrt(alpha * np.maximum(amplified(ratios), 0.0)))
    best = _best_beside_threshold(small, 1.0 / _best_fraction(ratios), ratios, reduced_error)
    # k = ∞ is a candidate exactly where the curve beyond 1/α falls towards it, so it needs no comparison of its own;
    # without data it is the limit of the other branch.
    return np.where((alpha == 0) & (H > 0), np.inf, best)


@quiet
def _best_scaled_ridgeless(ratios: Ratios) -> FloatArray:
    """k* of the scaled mean at λ = 0 and ρ = 0, on a flat grid.

    On either side of the threshold k = 1/α the error has one minimum, at αk = y below and αk = 1/y beyond, with the
    same y = √H/(√H + √(H + 1 + Z - α/(1+W))). Where the root is of a negative number, the error falls towards k = 1.
    """
    alpha, _, H, W, Z = ratios
    rest = H + 1 + Z - alpha / (1 + W)
    y = np.where(rest >= 0, np.sqrt(H) / (np.sqrt(H) + np.sqrt(rest)), 1.0)
    y = np.where(np.isnan(y), 1.0, y)
    large = np.where(rest >= 0, 1.0 / (alpha * y), 0.0)
    best = _best_beside_threshold(y / alpha, large, ratios, scaled_error)
    # α → 0⁺: y/α has no bound; without readout noise one member and infinitely many differ in second order.
    endless = (H > 0) | ((1 + W) * (1 + Z) > 2)
    return np.where(alpha == 0, np.where(endless, np.inf, 1.0), best)


@quiet
def _best_beside_threshold(
    small: FloatArray, large: FloatArray, ratios: Ratios, error: Callable[[FloatArray, FloatArray, Ratios], FloatArray]
) -> FloatArray:
    """The best integer at λ = 0 of k = 1 and the neighbours of real minima below and beyond the threshold k = 1/α."""

    def at(k: FloatArray) -> FloatArray:
        sigma = np.where(np.isinf(k), 1.0, np.minimum(1.0, ratios.alpha * k))
        return error(1.0 / k, sigma, ratios)

    meeting = 1.0 / ratios.alpha
    below = np.maximum(np.ceil(meeting * (1 - 1e-15)) - 1, 1.0)  # largest k < 1/α
    above = np.floor(meeting * (1 + 1e-15)) + 1  # smallest k > 1/α
    small = small.clip(1.0, below)
    large = np.maximum(large, above)
    best = np.ones_like(ratios.alpha)
    lowest = at(best)
    for k in (np.floor(small), np.ceil(small), np.floor(large), np.ceil(large)):
        value = at(k)
        better = value < lowest - _TIE  # false where k is NaN
        best = np.where(better, k, best)
        lowest = np.where(better, value, lowest)
    return best


@quiet
def amplified(ratios: Ratios) -> FloatArray:
    """C, what the interpolation threshold amplifies: the numerator of ν E_rr at the threshold ν = α, where γ = 1."""
    alpha, _, H, _, Z = ratios
    return own_bias(alpha, _ONE, ratios) + alpha * (H + Z)


@quiet
def _best_fraction(ratios: Ratios) -> FloatArray:
    """x = 1/k that minimises the error on [0, min(1, α)); 0 where it grows from x = 0, that is k = ∞."""
    alpha, rho2, W = ratios.alpha, ratios.rho2, ratios.W
    high = np.minimum(1.0, alpha * (1 - 1e-9))
    # With C < 0 (abundant data, little noise) the curve turns concave before x = 1: the minimum lies before that,
    # or at x = 1, which is compared anyway.
    concave = np.maximum(-alpha * amplified(ratios), 0.0) * (1 + W) / (2 * (1 - rho2))
    inflection = alpha - np.cbrt(concave)
    high = np.where((concave > 0) & np.isfinite(inflection), inflection.clip(0.0, high), high)
    falls = (high > 0) & (slope_beyond(np.zeros_like(alpha), *ratios) < 0)
    found = elementwise.find_root(slope_beyond, (np.zeros_like(alpha), high), args=tuple(ratios))
    return np.where(falls, np.where(found.success, found.x, high), 0.0)


def slope_beyond(x: FloatArray, *given: FloatArray) -> FloatArray:
    """d𝓔/dx at x = 1/k beyond the threshold, where σ = 1; finite at α = ∞."""
    ratios = alpha, rho2, H, W, Z = Ratios(*given)
    y = 1 / alpha
    S = 1 / (1 + W)
    gap = 1 - x * y
    r = own_bias(x, _ONE, ratios) + x * (H + x * y * Z)
    dr = (1 - rho2) * (1 - 2 * S * x) - rho2 + H + 2 * x * y * Z
    dl = -cross_bias(x, _ONE, ratios) - 2 * (1 - x) * (1 - rho2) * S
    return (dr * gap + y * r) / gap**2 + dl


def _best_at_optimal_ridge(flat: Ratios) -> FloatArray:
    """k* when each member has its own best ridge λ*; ∞ where no finite k beats it.

    There the reduced error is 𝓔*_k = 𝓔_∞ + (1/k)[H - (1-ρ²)(2-1/k)σ_k/(1+W)]. So k beats ∞ where the bracket is
    negative, and each k has an explicit sample ratio α_k above which it is.
    """

    def gain(nu: FloatArray, part: Ratios) -> FloatArray:
        t = np.maximum(_optimum(nu, part) - nu, 0.0)  # Λ*ν/(1+W), never negative but for rounding
        sigma = bulk(part.alpha, nu, t).sigma
        return nu * (part.H - (1 - part.rho2) * (2 - nu) * sigma / (1 + part.W))

    k, lowest = _integer_minimum(gain, flat)
    # Where nothing can be gained without readout noise (no data, or a teacher along 1) all sizes tie.
    k = np.where(lowest < 0, k, np.where(flat.H == 0, 1.0, np.inf))
    # Just above the boundary the gain is smaller than its rounding error, so that α is compared with the boundary.
    undecided = np.flatnonzero(np.isinf(k) & np.isfinite(flat.alpha))
    if len(undecided):
        first, critical = _integer_minimum(_winning_from, flat.take(undecided))
        k[undecided] = np.where(flat.alpha[undecided] > critical, first, k[undecided])
    return k


@quiet
def _winning_from(nu: FloatArray, ratios: Ratios) -> FloatArray:
    """α_k, the sample ratio from which on 1/ν members beat ∞ at λ*."""
    # σ_k at which the bracket of `_best_at_optimal_ridge` vanishes, and the α at which a member fits that share.
    sigma = ratios.H * (1 + ratios.W) / ((1 - ratios.rho2) * (2 - nu))
    alpha = sigma * (_optimum(nu, ratios) - nu * sigma) / (1 - sigma)
    return np.where((sigma < 1) & ~np.isnan(alpha), alpha, np.inf)


def _optimum(nu: FloatArray, ratios: Ratios) -> FloatArray:
    """ν(1 + Λ*/(1+W))."""
    return scaled_optimum(_ONE, 1 + ratios.W, nu, ratios.rho2, ratios.H + ratios.Z)


def _integer_minimum(f: Callable[[FloatArray, Ratios], FloatArray], flat: Ratios) -> TwoArrays:
    """Smallest minimiser over k = 1, 2, ..., ∞ of ``f(1/k, ratios)`` at n points, and the minimum, shape (n,) each.

    A net of k brackets every valley. Between neighbours of the net a function has a single valley, and bisection finds
    its lowest k. All valleys are compared, as the lowest point of the net need not lie in the deepest one.
    """
    best = np.full(len(flat.H), np.inf)
    lowest = f(1 / best, flat)
    before = best
    here = f(1 / np.full_like(best, _NET[0]), flat)
    for left, k, right in zip(np.append(_NET[0], _NET), _NET, np.append(_NET[1:], _NET[-1]), strict=False):
        after = f(1 / np.full_like(best, right), flat)
        rows = np.flatnonzero(np.isfinite(here) & (here <= before) & (here <= after))
        part = flat.take(rows)
        low = np.full(len(rows), left)
        high = np.full(len(rows), right)
        while (wide := high - low > 2).any():
            middle = np.floor((low + high) / 2)
            descending = f(1 / (middle + 1), part) < f(1 / middle, part)
            low = np.where(wide & descending, middle, low)
            high = np.where(wide & ~descending, middle + 1, high)
        for candidate in (np.full(len(rows), k), low, low + 1, high):
            value = f(1 / candidate, part)
            better = (value < lowest[rows]) | ((value == lowest[rows]) & (candidate < best[rows]))
            best[rows[better]] = candidate[better]
            lowest[rows[better]] = value[better]
        before = here
        here = after
    return best, lowest


# Arguments ----------------------------------------------------------------------------------------------------------


def is_optimal(ridge: float | str) -> bool:
    """Read the argument ``ridge`` of the functions on reduced errors; true if it is "optimal", false if it is 0."""
    if not isinstance(ridge, str | int | float) or ridge not in (0, "optimal"):
        raise ParameterError(f'ridge must be 0 or "optimal", got {ridge!r}')
    return ridge == "optimal"


def is_scaled(aggregation: str | Aggregation) -> bool:
    """Read the argument ``aggregation`` of the functions on equal members; true if the sum of the weights is free."""
    found = read_aggregation(aggregation)
    if found.name not in ("mean", "scaled", "simplex", "free"):
        raise ParameterError(
            f"aggregation must be one of mean, scaled, simplex, free for equal members, got {found.name!r}"
        )
    return not found.sums_to_one

"""The reduced error 𝓔_k: Prop. 2 for k equal disjoint members, in units of b = s(1-c).

There a/b = 1 + W, every subset fraction is ν = 1/k and no two members share a feature, so that
𝓔_k = ν E_rr + (1-ν) E_rr′ with the pairs of Prop. 2. The sums are written so that ν = 0, that is k = ∞, is no
special case.
"""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import extended_non_negative, within
from subridge.theory.equicorrelated.error import Pair, orthogonal
from subridge.theory.pair_errors import over_alpha, over_one_minus

_ONE, _NONE = np.ones(()), np.zeros(())

_LARGEST = 1e100  # of a noise-to-signal ratio, whose powers must be numbers


class Ratios(NamedTuple):
    """α, ρ², H, W, Z."""

    alpha: FloatArray
    rho2: FloatArray
    H: FloatArray
    W: FloatArray
    Z: FloatArray

    @classmethod
    def checked(cls, alpha: ArrayLike, rho: ArrayLike, H: ArrayLike, W: ArrayLike, Z: ArrayLike) -> "Ratios":
        return cls(
            extended_non_negative("sample_ratio", alpha),
            np.asarray(within("alignment", rho, -1.0, 1.0) ** 2),
            within("readout_nsr", H, 0.0, _LARGEST),
            within("feature_nsr", W, 0.0, _LARGEST),
            within("label_nsr", Z, 0.0, _LARGEST),
        )


def reduced_error(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """𝓔 at ν = 1/k, given what each member fits of its bulk, σ; infinite at the threshold of the members."""
    alpha, _, H, _, Z = ratios
    gamma = over_alpha(nu * sigma**2, alpha)
    member = over_one_minus(own_bias(nu, sigma, ratios), nu * (H + gamma * Z), gamma, nu)
    return np.asarray(member + (1 - nu) * cross_bias(nu, sigma, ratios))


def own_bias(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """ν B_rr: each member's bias against itself, in the proportion in which it enters 𝓔."""
    _, rho2, _, W, _ = ratios
    along = (1 - nu) + W  # ν I¹_rr
    across = (1 - nu) + nu * (W + (1 - sigma) ** 2) / (1 + W)  # I⁰_rr, without a difference
    return np.asarray((1 - rho2) * nu * across + rho2 * along)


def cross_bias(nu: FloatArray, sigma: FloatArray, ratios: Ratios) -> FloatArray:
    """B_rr′ of two different members, which is all of their error: without a shared feature γ is zero."""
    _, rho2, _, W, _ = ratios
    return np.asarray((1 - rho2) * orthogonal(_ONE, 1 / (1 + W), Pair(nu, nu, _NONE, sigma, sigma)) - rho2)

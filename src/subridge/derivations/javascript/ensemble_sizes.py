"""The reduced error of k equal members, from which the page finds the best k: x = 1/k, y = 1/α."""

import sympy as sp

from subridge.derivations.javascript.formula import Formula, cross, g, noise, own, rho2, x, y
from subridge.derivations.large_ensembles import optimal_error
from subridge.derivations.notation import E_bulk, H, W, Z, alpha, k, nu, sigma
from subridge.derivations.reduced import crossed_error, error, own_error, reduced_optimal_ridge, ridgeless_error


def size_formulas() -> list[Formula]:
    """What the phase diagram needs: the reduced error of k equal members, x = 1/k, y = 1/α."""
    own_gamma = x * sigma**2 / alpha
    own_bias = sp.factor((x * own_error() * (1 - own_gamma)).subs(k, 1 / x).subs({H: 0, Z: 0}))
    crossed = sp.factor(crossed_error().subs(k, 1 / x))
    # At λ = 0 and α > x a member fits its bulk, σ = 1.
    bias_arranged = (1 - rho2) * x * (1 - x * (2 - sigma) * sigma / (1 + W)) + rho2 * (1 + W - x)
    cross_arranged = (1 - rho2) * (1 - 2 * x * sigma / (1 + W)) - rho2
    top = bias_arranged.subs(sigma, 1) + x * (H + x * y * Z)
    slope = (sp.diff(top, x) * (1 - x * y) + y * top) / (1 - x * y) ** 2
    best = reduced_optimal_ridge().subs(k, 1 / x).subs({H: noise, Z: 0})
    return [
        Formula("sizeOwnBias", "B_rr/k.", (x, sigma, rho2, W), bias_arranged, own_bias),
        Formula("sizeCrossBias", "B_rs.", (x, sigma, rho2, W), cross_arranged, crossed),
        Formula(
            "sizeError",
            "𝓔 of k equal members, from both biases and γ.",
            (x, H, Z, own, cross, g),
            (own + x * (H + g * Z)) / (1 - g) + (1 - x) * cross,
            error().subs(k, 1 / x),
            where={own: own_bias, cross: crossed, g: own_gamma},
        ),
        Formula(
            "sizeSlope",
            "d𝓔/dx at λ = 0 and α > x.",
            (x, y, rho2, H, W, Z),
            slope + sp.diff((1 - x) * cross_arranged.subs(sigma, 1), x),
            sp.diff(ridgeless_error(more_samples=True).subs({k: 1 / x, alpha: 1 / y}), x),
        ),
        Formula(
            "sizeScaledOptimum",
            "ν(1 + Λ*/(1+W)); noise is H + Z.",
            (x, rho2, W, noise),
            (1 + W) * (noise + rho2 * (1 + W) / x + 1 - 2 * rho2) / (1 - rho2),
            x * (1 + best / (1 + W)),
        ),
        Formula(
            "sizeGain",
            "𝓔 - 𝓔_∞ at λ*.",
            (x, sigma, rho2, H, W),
            x * (H - (1 - rho2) * (2 - x) * sigma / (1 + W)),
            optimal_error().subs(nu, x) - E_bulk,
        ),
    ]

"""Prop. 2 for members and pairs: order parameters, biases, errors, and the ridge best for one member."""

import sympy as sp

from subridge.derivations.equicorrelated import (
    aligned_bias,
    gamma,
    on_the_diagonal,
    pair_error,
    random_bias,
    uniform_aligned_bias,
)
from subridge.derivations.javascript.formula import (
    Formula,
    R,
    along,
    bias,
    c,
    eta2,
    excess_r,
    excess_s,
    fitted,
    g,
    gap,
    h,
    mean,
    noise,
    noisy,
    omega2,
    rest,
    rho2,
    t,
    unseen,
    v,
    zeta2,
)
from subridge.derivations.notation import (
    S_r,
    S_s,
    T,
    a,
    alpha,
    b,
    eta,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    sigma,
    sigma_r,
    sigma_s,
    zeta,
)
from subridge.derivations.optimal_ridge import optimal_ridge


def saddle_point_formulas() -> list[Formula]:
    """One member's order parameter; B ± R over 2ν are the roots of its quadratic."""
    B, scaled = alpha + nu + t, (alpha, nu, t)
    radical = sp.sqrt((alpha - nu) ** 2 + 2 * t * (alpha + nu) + t**2)
    where = {R: radical, h: t + nu - alpha}
    own_gamma = on_the_diagonal(gamma()).subs({S_r: sigma / a, nu_r: nu})
    names, few, many = (*scaled, R), (h + R) / (B + R), 4 * alpha * t / ((R - h) * (B + R))
    return [
        Formula(
            "root", "R, the root in the solution of the saddle point.", scaled, radical, alpha / sigma - nu * sigma
        ),
        Formula(
            "fittedShare", "σ, the share of its bulk that a member fits.", names, 2 * alpha / (B + R), sigma, where
        ),
        Formula("restFewSamples", "1 - σ where h = t + ν - α > 0.", (*names, h), few, 1 - sigma, where),
        Formula("restManySamples", "1 - σ where h = t + ν - α ≤ 0.", (*names, h), many, 1 - sigma, where),
        Formula("ownGap", "1 - γ_rr.", names, 2 * R / (B + R), 1 - own_gamma, where),
    ]


def bias_formulas() -> list[Formula]:
    """Biases of members and pairs, of the teacher's parts orthogonal to 1 and along it."""
    solved, one = {S_r: sigma_r / a, S_s: sigma_s / a}, {S_r: sigma / a, nu_r: nu}
    I0, I1 = random_bias(), aligned_bias()
    excesses = {excess_r: a / (nu_r * sigma_r) - b, excess_s: a / (nu_s * sigma_s) - b, along: I1}
    size = b + T
    return [
        Formula(
            "randomBias",
            "I⁰_rr; unseen is 1 - ν.",
            (b, fitted, noisy, nu, unseen, rest),
            b * (unseen + nu * noisy + nu * fitted * rest**2),
            on_the_diagonal(I0).subs(one),
        ),
        Formula(
            "randomCrossBias",
            "I⁰_rs.",
            (b, fitted, nu_r, nu_s, nu_rs, sigma_r, sigma_s),
            b - b * fitted * (nu_r * sigma_r + nu_s * sigma_s - nu_rs * sigma_r * sigma_s),
            I0.subs(solved),
        ),
        Formula("alignedBias", "I¹_rr, M → ∞.", (b, omega2, nu), _unseen() / nu, on_the_diagonal(I1).subs(one)),
        Formula("alignedCrossBias", "I¹_rs, M → ∞.", (a, b, nu_r, nu_s, nu_rs), a * nu_rs / (nu_r * nu_s) - b, I1),
        Formula(
            "excess",
            "u - b, where u = κ̄ + a/ν = a/(νσ).",
            (b, omega2, nu, sigma, rest),
            (_unseen() + b * nu * rest) / (nu * sigma),
            a / (nu * sigma) - b,
        ),
        Formula(
            "alignedBiasAtSize",
            "I¹_rs at finite M, from u - b of both members and I¹_rs of M → ∞; T = scM.",
            (b, T, excess_r, excess_s, along),
            size * (excess_r * excess_s + size * along) / ((size + excess_r) * (size + excess_s)),
            uniform_aligned_bias().subs(solved),
            where=excesses,
        ),
    ]


def _unseen() -> sp.Expr:
    """a - bν, without a difference of large numbers."""
    return b * (1 - nu) + omega2


def error_formulas() -> list[Formula]:
    """Errors of pairs and of a scaled mean, and the ridge best for one member."""
    solved = {S_r: sigma_r / a, S_s: sigma_s / a}
    # A member that fits nothing predicts nothing: its error against another is v - c of the other.
    silent = {S_s: 0, S_r: sigma / a, nu_r: nu}
    own_gamma = on_the_diagonal(gamma())
    own_bias = (1 - rho2) * on_the_diagonal(random_bias()) + rho2 * on_the_diagonal(aligned_bias())
    return [
        Formula(
            "crossGamma",
            "γ_rs.",
            (alpha, nu_rs, sigma_r, sigma_s),
            nu_rs * sigma_r * sigma_s / alpha,
            gamma().subs(solved),
        ),
        Formula(
            "pairError",
            "E_rs, from the bias, γ and 1 - γ; for two members η² is zero.",
            (bias, g, gap, zeta2, eta2),
            (bias + g * zeta2 + eta2) / gap,
            pair_error(same=True).subs({zeta: sp.sqrt(zeta2), eta: sp.sqrt(eta2)}),
            where={bias: own_bias, g: own_gamma, gap: 1 - own_gamma},
        ),
        Formula(
            "randomCovariance",
            "c_r = E[y f_r], of the teacher's part orthogonal to 1.",
            (b, fitted, nu, sigma),
            b * fitted * nu * sigma,
            (b - random_bias()).subs(silent),
        ),
        Formula(
            "alignedCovariance",
            "c_r = E[y f_r], of the teacher's part along 1, from u - b; T = scM.",
            (b, T, excess_r),
            (b + T) ** 2 / (b + T + excess_r),
            (b + T - uniform_aligned_bias()).subs(silent),
            where={excess_r: a / (nu * sigma) - b},
        ),
        Formula(
            "scaledError",
            "v - c²/F, the error of s times the mean at the best s, from the error of the mean.",
            (mean, v, c),
            mean - (mean - v + c) ** 2 / (mean - v + 2 * c),
            v - c**2 / (mean - v + 2 * c),
        ),
        Formula(
            "optimalRidge",
            "λ*, for b > 0 and ρ² < 1; noise is ζ² + η².",
            (a, b, omega2, nu, rho2, noise),
            a * (_unseen() / (b * nu) + a * (nu * noise + rho2 * _unseen()) / ((1 - rho2) * (b * nu) ** 2)),
            optimal_ridge().subs({zeta: sp.sqrt(noise), eta: 0}),
        ),
    ]

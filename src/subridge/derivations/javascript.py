"""The derived expressions of Prop. 2 as JavaScript, for the explorer.

Every formula is written twice: as it is derived, and in an arrangement whose terms do not cancel. A formula is printed
only after SymPy has found the two equal, so that what runs in the page is what was proved.

``python -m subridge.derivations.javascript FILE`` writes the module.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter

from subridge.derivations.equicorrelated import (
    aligned_bias,
    gamma,
    on_the_diagonal,
    optimal_ridge,
    pair_error,
    random_bias,
    random_weights,
    uniform_aligned_bias,
    uniform_aligned_weights,
    weight_spread,
    without_radical,
)
from subridge.derivations.notation import (
    E_bulk,
    H,
    S_r,
    S_s,
    T,
    W,
    Z,
    a,
    alpha,
    b,
    eta,
    k,
    lam,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    rho,
    sigma,
    sigma_r,
    sigma_s,
    zeta,
)
from subridge.derivations.reduced import (
    crossed_error,
    error,
    optimal_error,
    own_error,
    reduced_optimal_ridge,
    ridgeless_error,
)
from subridge.derivations.scaled_mean import best_size_ratio, e
from subridge.derivations.scaled_mean import error as scaled_mean_error

# What the page knows in place of the paper's letters: scaled ridge t = λν/a, shares b/a and ω²/a of the bulk variance,
# 1 - σ, ρ², and inverses that are finite where the letters are not.
t, fitted, noisy, rest, rho2, noise, omega2, zeta2, eta2, x, y, readout = sp.symbols(
    "t fitted noisy rest rho2 noise omega2 zeta2 eta2 x y readout", nonnegative=True
)
v, c, mean, bias, own, cross, g, gap, along, excess_r, excess_s, R, h, unseen = sp.symbols(
    "v c mean bias own cross gamma gap along excess_r excess_s R h unseen", real=True
)
f, missed, variance, weights, pair, power = sp.symbols("f missed variance weights error power", real=True)
_UNSEEN = b * (1 - nu) + omega2  # a - bν, without a difference of large numbers
_MEANINGS = {fitted: b / a, noisy: (a - b) / a, omega2: a - b, rho2: rho**2, rest: 1 - sigma, unseen: 1 - nu}


@dataclass(frozen=True, eq=False)
class Formula:
    """One function of the page.

    Attributes
    ----------
    name, says : str
        Its name in JavaScript, and what it returns.
    arguments : tuple of Symbol
    arrangement, derived : Expr
        The form that is printed, and the one that was proved.
    where : mapping
        What stands for arguments of the printed form in the derived one.
    """

    name: str
    says: str
    arguments: tuple[sp.Symbol, ...]
    arrangement: sp.Expr
    derived: sp.Expr
    where: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)

    def check(self) -> None:
        """Raise unless the printed form equals the derived one for every value of its arguments."""
        difference = self.arrangement.subs(dict(self.where)).subs(_MEANINGS) - self.derived
        if difference.has(t):
            difference = without_radical(difference.subs(t, lam * nu / a))
        if sp.factor(sp.together(difference)) != 0:
            raise ValueError(f"{self.name} is not what was derived: they differ by {difference}")

    def javascript(self) -> str:
        """The function, common parts shared."""
        shared, (value,) = sp.cse(self.arrangement, symbols=sp.numbered_symbols("_"))
        printer = _Printer()
        lines = [f"  const {name} = {printer.doprint(part)};" for name, part in shared]
        names = ", ".join(map(str, self.arguments))
        body = "\n".join([*lines, f"  return {printer.doprint(value)};"])
        return f"// {self.says}\nfunction {self.name}({names}) {{\n{body}\n}}\n"


class _Printer(JavascriptCodePrinter):  # type: ignore[misc]
    """SymPy's printer, with small powers as products: exact, and faster than Math.pow."""

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp in (2, 3):
            factor = self._print(expr.base) if expr.base.is_Symbol else f"({self._print(expr.base)})"
            return f"({'*'.join([factor] * int(expr.exp))})"
        return str(super()._print_Pow(expr))


@lru_cache
def formulas() -> tuple[Formula, ...]:
    """Every function of the page.

    Examples
    --------
    >>> print(next(formula for formula in formulas() if formula.name == "crossGamma").javascript())
    // γ_rs.
    function crossGamma(alpha, nu_rs, sigma_r, sigma_s) {
      return nu_rs*sigma_r*sigma_s/alpha;
    }
    <BLANKLINE>
    """
    solved = {S_r: sigma_r / a, S_s: sigma_s / a}
    one = {S_r: sigma / a, nu_r: nu}
    I0, I1, own_gamma = random_bias(), aligned_bias(), on_the_diagonal(gamma())
    own_bias = (1 - rho2) * on_the_diagonal(I0) + rho2 * on_the_diagonal(I1)
    # One member's order parameter: B ± R over 2ν are the roots of its quadratic.
    B, scaled = alpha + nu + t, (alpha, nu, t)
    radical = sp.sqrt((alpha - nu) ** 2 + 2 * t * (alpha + nu) + t**2)
    names, where = (*scaled, R), {R: radical, h: t + nu - alpha}
    few = (h + R) / (B + R)
    many = 4 * alpha * t / ((R - h) * (B + R))
    # At finite M.
    excesses = {excess_r: a / (nu_r * sigma_r) - b, excess_s: a / (nu_s * sigma_s) - b, along: I1}
    size = b + T
    # A member that fits nothing predicts nothing: its error against another is v - c of the other.
    silent = {S_s: 0, **one}
    # What the phase diagram needs: the reduced error of k equal members, x = 1/k, y = 1/α.
    equal_gamma = x * sigma**2 / alpha
    equal_bias = sp.factor((x * own_error() * (1 - equal_gamma)).subs(k, 1 / x).subs({H: 0, Z: 0}))
    crossed = sp.factor(crossed_error().subs(k, 1 / x))
    # At λ = 0 and α > x a member fits its bulk, σ = 1.
    bias_arranged = (1 - rho2) * x * (1 - x * (2 - sigma) * sigma / (1 + W)) + rho2 * (1 + W - x)
    cross_arranged = (1 - rho2) * (1 - 2 * x * sigma / (1 + W)) - rho2
    top = bias_arranged.subs(sigma, 1) + x * (H + x * y * Z)
    slope = (sp.diff(top, x) * (1 - x * y) + y * top) / (1 - x * y) ** 2
    scaled_error = scaled_mean_error().subs(k, 1 / x)
    best = reduced_optimal_ridge().subs(k, 1 / x).subs({H: noise, Z: 0})
    return (
        Formula(
            "root", "R, the root in the solution of the saddle point.", scaled, radical, alpha / sigma - nu * sigma
        ),
        Formula(
            "fittedShare", "σ, the share of its bulk that a member fits.", names, 2 * alpha / (B + R), sigma, where
        ),
        Formula("restFewSamples", "1 - σ where h = t + ν - α > 0.", (*names, h), few, 1 - sigma, where),
        Formula("restManySamples", "1 - σ where h = t + ν - α ≤ 0.", (*names, h), many, 1 - sigma, where),
        Formula("ownGap", "1 - γ_rr.", names, 2 * R / (B + R), 1 - own_gamma.subs(one), where),
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
        Formula("alignedBias", "I¹_rr, M → ∞.", (b, omega2, nu), _UNSEEN / nu, on_the_diagonal(I1).subs(one)),
        Formula("alignedCrossBias", "I¹_rs, M → ∞.", (a, b, nu_r, nu_s, nu_rs), a * nu_rs / (nu_r * nu_s) - b, I1),
        Formula(
            "excess",
            "u - b, where u = κ̄ + a/ν = a/(νσ).",
            (b, omega2, nu, sigma, rest),
            (_UNSEEN + b * nu * rest) / (nu * sigma),
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
            (mean, power, c),
            mean - (power - c) ** 2 / power,
            v - c**2 / power,
            where={mean: v - 2 * c + power},
        ),
        Formula(
            "weightsAcross",
            "W_rs of the mean weights, of the teacher's part orthogonal to 1.",
            (fitted, nu_rs, sigma_r, sigma_s),
            fitted**2 * nu_rs * sigma_r * sigma_s,
            random_weights().subs(solved),
        ),
        Formula(
            "weightsAlong",
            "W_rs of the mean weights, of the teacher's part along 1, from u - b of both members; T = scM.",
            (b, T, excess_r, excess_s, nu_r, nu_s, nu_rs),
            size**2 * nu_rs / (nu_r * nu_s * (size + excess_r) * (size + excess_s)),
            uniform_aligned_weights().subs(solved),
            where=excesses,
        ),
        Formula(
            "weightSpread",
            "What shared rows add to W_rs.",
            (a, g, pair, zeta2),
            g * (pair + zeta2) / a,
            (weight_spread() * (pair + zeta2)).subs(solved),
            where={g: gamma().subs(solved)},
        ),
        Formula(
            "failingError",
            "E_rs where features of that variance fail with probability f; missed is 2v - c_r - c_s.",
            (f, pair, eta2, v, missed, variance, weights),
            f * (f * v + (1 - f) * (missed + variance * weights) + (2 - f) * eta2) + (1 - f) ** 2 * pair,
            v - (1 - f) * c + (1 - f) ** 2 * (pair - eta2 - v + c) + f * (1 - f) * variance * weights + eta2,
            where={missed: 2 * v - c},
        ),
        Formula(
            "optimalRidge",
            "λ*, for b > 0 and ρ² < 1; noise is ζ² + η².",
            (a, b, omega2, nu, rho2, noise),
            a * (_UNSEEN / (b * nu) + a * (nu * noise + rho2 * _UNSEEN) / ((1 - rho2) * (b * nu) ** 2)),
            optimal_ridge().subs({zeta: sp.sqrt(noise), eta: 0}),
        ),
        Formula("sizeOwnBias", "B_rr/k.", (x, sigma, rho2, W), bias_arranged, equal_bias),
        Formula("sizeCrossBias", "B_rs.", (x, sigma, rho2, W), cross_arranged, crossed),
        Formula(
            "sizeError",
            "𝓔 of k equal members, from both biases and γ.",
            (x, H, Z, own, cross, g),
            (own + x * (H + g * Z)) / (1 - g) + (1 - x) * cross,
            error().subs(k, 1 / x),
            where={own: equal_bias, cross: crossed, g: equal_gamma},
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
        Formula(
            "sizeScaledOdds",
            "(1-γ)𝓔/(1-𝓔) of the scaled mean at ρ = 0; readout is H/(xσ²).",
            (x, y, sigma, readout, W, Z),
            W + e**2 * readout + y * (e**2 * Z + (e - x * sigma) ** 2 + x * sigma**2 * (1 - x)),
            (1 - equal_gamma) * scaled_error / (1 - scaled_error),
            where={readout: H / (x * sigma**2), y: 1 / alpha},
        ),
        Formula(
            "sizeScaledRatio",
            "αk* of the scaled mean at ρ = 0, λ = 0 below the threshold, inverse beyond; gap is H + 1 + Z - α/(1+W).",
            (H, gap),
            sp.sqrt(H) / (sp.sqrt(H) + sp.sqrt(gap)),
            best_size_ratio(),
            where={gap: H + 1 + Z - alpha / e},
        ),
    )


def javascript_module() -> str:
    """The text of ``formulas.js``.

    Raises
    ------
    ValueError
        A formula differs from what was derived.
    """
    for formula in formulas():
        formula.check()
    head = "// Printed by SymPy; do not edit, but run: python -m subridge.derivations.javascript FILE\n"
    return "\n".join([head, *(formula.javascript() for formula in formulas())])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(javascript_module(), encoding="utf-8")

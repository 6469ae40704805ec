"""The formulas of the explorer are what the derivations derive.

The page has every formula in an arrangement whose terms do not cancel. Each is read into SymPy here and proved equal to
the derived one for every value of its arguments.
"""

import re
from functools import cache
from importlib.resources import files

import pytest
import sympy as sp

from subridge.derivations import equicorrelated, notation, reduced, scaled_mean
from subridge.derivations.equicorrelated import (
    gamma,
    on_the_diagonal,
    random_bias,
    uniform_aligned_bias,
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
    nu_s,
    rho,
    sigma,
    sigma_r,
    sigma_s,
    zeta,
)


def letter(name):
    """The symbol that an argument of the page stands for."""
    return getattr(notation, name, None) or sp.Symbol(name, nonnegative=True)


t, R, h, x, y, omega2, rho2, zeta2, eta2, noise = sp.symbols("t R h x y omega2 rho2 zeta2 eta2 noise", nonnegative=True)
v, c, power, pair, f, variance, weights = sp.symbols("v c power error f variance weights", nonnegative=True)

# What the page knows in place of the paper's letters: scaled ridge t = λν/a, shares b/a and ω²/a of the bulk variance,
# 1 - σ, ρ², and inverses that are finite where the letters are not.
MEANINGS = {
    letter("fitted"): b / a,
    letter("noisy"): (a - b) / a,
    omega2: a - b,
    rho2: rho**2,
    letter("rest"): 1 - sigma,
    letter("unseen"): 1 - nu,
}


def functions(text):
    """The functions of the page: arguments and body of each."""
    found = re.findall(r"^function (\w+)\((.*?)\) \{\n(.*?)\n\}$", text, re.DOTALL | re.MULTILINE)
    return {name: (arguments.split(", "), body.split("\n")) for name, arguments, body in found}


def expression_of(arguments, body):
    """What a function returns, in its arguments alone."""
    known = {name: letter(name) for name in arguments}
    for line in body:
        target, text = re.fullmatch(r"  (?:const (\w+) =|return) ([\w .()*/+-]+);", line).groups()
        assert "**" not in text  # Python and JavaScript read -x**2 differently
        names = {"sqrt": sp.sqrt, "Integer": sp.Integer} | known
        value = eval(re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"Integer(\1)", text.replace("Math.sqrt", "sqrt")), {}, names)
        if target is None:
            assert line is body[-1]
            return value
        assert target not in known
        known[target] = value
    raise AssertionError("the function returns nothing")


@cache
def derived():
    """Of every function of the page what was derived, and what its arguments stand for."""
    solved = {S_r: sigma_r / a, S_s: sigma_s / a}
    one = {S_r: sigma / a, nu_r: nu}
    I0, I1 = random_bias(), equicorrelated.aligned_bias()
    own_gamma = on_the_diagonal(gamma())
    own_bias = (1 - rho2) * on_the_diagonal(I0) + rho2 * on_the_diagonal(I1)
    root = {R: sp.sqrt((alpha - nu) ** 2 + 2 * t * (alpha + nu) + t**2), h: t + nu - alpha}
    # At finite M.
    excesses = {
        letter("excess_r"): a / (nu_r * sigma_r) - b,
        letter("excess_s"): a / (nu_s * sigma_s) - b,
        letter("along"): I1,
    }
    # A member that fits nothing predicts nothing: its error against another is v - c of the other.
    silent = {S_s: 0, **one}
    # What the phase diagram needs: the reduced error of k equal members, x = 1/k, y = 1/α.
    equal_gamma = x * sigma**2 / alpha
    equal_bias = sp.factor((x * reduced.own_error() * (1 - equal_gamma)).subs(k, 1 / x).subs({H: 0, Z: 0}))
    crossed = sp.factor(reduced.crossed_error().subs(k, 1 / x))
    ridgeless = reduced.ridgeless_error(more_samples=True).subs({k: 1 / x, alpha: 1 / y})
    scaled_error = scaled_mean.error().subs(k, 1 / x)
    best = reduced.reduced_optimal_ridge().subs(k, 1 / x).subs({H: noise, Z: 0})
    return {
        "root": (alpha / sigma - nu * sigma, {}),
        "fittedShare": (sigma, root),
        "restFewSamples": (1 - sigma, root),
        "restManySamples": (1 - sigma, root),
        "ownGap": (1 - own_gamma.subs(one), root),
        "randomBias": (on_the_diagonal(I0).subs(one), {}),
        "randomCrossBias": (I0.subs(solved), {}),
        "alignedBias": (on_the_diagonal(I1).subs(one), {}),
        "alignedCrossBias": (I1, {}),
        "excess": (a / (nu * sigma) - b, {}),
        "alignedBiasAtSize": (uniform_aligned_bias().subs(solved), excesses),
        "crossGamma": (gamma().subs(solved), {}),
        "pairError": (
            equicorrelated.pair_error(same=True).subs({zeta: sp.sqrt(zeta2), eta: sp.sqrt(eta2)}),
            {letter("bias"): own_bias, letter("gamma"): own_gamma, letter("gap"): 1 - own_gamma},
        ),
        "randomCovariance": ((b - I0).subs(silent), {}),
        "alignedCovariance": (
            (b + T - uniform_aligned_bias()).subs(silent),
            {letter("excess_r"): a / (nu * sigma) - b},
        ),
        "scaledError": (v - c**2 / power, {letter("mean"): v - 2 * c + power}),
        "weightsAcross": (equicorrelated.random_weights().subs(solved), {}),
        "weightsAlong": (equicorrelated.uniform_aligned_weights().subs(solved), excesses),
        "weightSpread": (
            (equicorrelated.weight_spread() * (pair + zeta2)).subs(solved),
            {letter("gamma"): gamma().subs(solved)},
        ),
        "failingError": (
            v - (1 - f) * c + (1 - f) ** 2 * (pair - eta2 - v + c) + f * (1 - f) * variance * weights + eta2,
            {letter("missed"): 2 * v - c},
        ),
        "optimalRidge": (equicorrelated.optimal_ridge().subs({zeta: sp.sqrt(noise), eta: 0}), {}),
        "sizeOwnBias": (equal_bias, {}),
        "sizeCrossBias": (crossed, {}),
        "sizeError": (
            reduced.error().subs(k, 1 / x),
            {letter("own"): equal_bias, letter("cross"): crossed, letter("gamma"): equal_gamma},
        ),
        "sizeSlope": (sp.diff(ridgeless, x), {}),
        "sizeScaledOptimum": (x * (1 + best / (1 + W)), {}),
        "sizeGain": (reduced.optimal_error().subs(nu, x) - E_bulk, {}),
        "sizeScaledOdds": (
            (1 - equal_gamma) * scaled_error / (1 - scaled_error),
            {letter("readout"): H / (x * sigma**2), y: 1 / alpha},
        ),
        "sizeScaledRatio": (scaled_mean.best_size_ratio(), {letter("gap"): H + 1 + Z - alpha / (1 + W)}),
    }


def difference(name, expression):
    value, where = derived()[name]
    return (expression.subs(where).subs(MEANINGS) - value).subs(t, lam * nu / a)


def is_derived(name, expression):
    left = difference(name, expression)
    return sp.factor(sp.together(without_radical(left) if left.has(lam) else left)) == 0


def difference_somewhere(name, expression):
    """The difference at one point, where σ solves the saddle point."""
    left = difference(name, expression).subs(lam, equicorrelated.ridge_of_sigma())
    values = {sigma: sp.Rational(1, 3), nu: sp.Rational(2, 5), alpha: sp.Rational(13, 7)}
    others = sorted(left.free_symbols - set(values), key=str)
    values |= {symbol: sp.Rational(sp.prime(i + 5), 100) for i, symbol in enumerate(others)}
    return complex(left.subs(values))


TEXT = files("subridge.explorer").joinpath("assets/formulas.js").read_text(encoding="utf-8")
FUNCTIONS = functions(TEXT)


@pytest.mark.slow
def test_every_function_of_the_page_is_derived():
    assert list(FUNCTIONS) == list(derived())
    # Nothing but functions and comments: no line escapes the proofs.
    others = re.sub(r"^function .*?^\}$", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    assert all(not line or line.startswith("//") for line in others.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_formula_of_the_page_equals_its_derivation(name):
    assert is_derived(name, expression_of(*FUNCTIONS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_altered_formula_of_the_page_does_not(name):
    arguments, body = FUNCTIONS[name]
    assert abs(difference_somewhere(name, expression_of(arguments, body))) < 1e-12
    # Each sign, product and quotient in turn.
    for line, text in enumerate(body):
        for place in re.finditer(r"(?<== )-|(?<=return )-|(?<= )[+-](?= )|\*|/", text):
            other = {"+": "-", "-": "+", "*": "/", "/": "*"}[place[0]]
            wrong = [*body]
            wrong[line] = text[: place.start()] + other + text[place.end() :]
            assert abs(difference_somewhere(name, expression_of(arguments, wrong))) > 1e-6, wrong[line]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["root", "crossGamma", "sizeGain"])
def test_the_proof_of_a_wrong_formula_fails(name):
    assert not is_derived(name, expression_of(*FUNCTIONS[name]) * (1 + alpha))


@pytest.mark.parametrize(
    "body", ["  return alpha + beta;", "  return alpha**2;", "  return Math.pow(alpha, 2);", "  x();"]
)
def test_a_function_that_could_not_be_proved_is_an_error(body):
    with pytest.raises((AssertionError, AttributeError, NameError)):
        expression_of(["alpha"], [body])

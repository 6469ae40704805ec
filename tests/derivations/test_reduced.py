"""Reduced forms and their expansions, against the forms that the theory uses."""

import pytest
import sympy as sp

from subridge.derivations import reduced
from subridge.derivations.notation import E_bulk, H, Lam, W, Z, alpha, k, nu, rho, sigma

pytestmark = pytest.mark.slow

e = 1 + W


def is_zero(expression):
    return sp.factor(sp.together(expression)) == 0


def test_reduced_optimal_ridge_is_the_form_of_the_theory():
    theory = e * (e * k * (Z + H + e * rho**2 * k + 1 - 2 * rho**2) / (1 - rho**2) - 1)
    assert is_zero(reduced.reduced_optimal_ridge() - theory)


def test_printed_reduced_errors_are_the_derived_ones():
    S = sigma / e
    N_1 = alpha * (H + 1) * k + S * (S * e * (alpha + W * Z + Z) - 2 * alpha)
    N_2 = alpha * rho**2 * (k - S) * (W * (k + S) + k + S - 2)
    assert is_zero(reduced.own_error() - (N_1 + N_2) / (alpha * k - S**2 * e**2))
    assert is_zero(reduced.crossed_error() - (2 * (rho**2 - 1) * S / k - 2 * rho**2 + 1))


def test_printed_reduced_order_parameter_is_sigma():
    X = sp.sqrt((alpha * e + nu * (Lam - e)) ** 2 + 4 * Lam * nu**2 * e)
    Q = 2 * alpha * nu / (-alpha * e + nu * (Lam + e) + X)
    printed = (e * Q / (nu + Q * e)).subs(nu, 1 / k)
    # Radicals: on the branch of the smaller root, α = σ(νσ + d) with d > 0, and Λ as a function of σ.
    d = sp.Symbol("d", positive=True)
    ridge = (1 + W) * (1 - sigma) * (alpha - sigma / k) * k / sigma
    rational = printed.subs(Lam, ridge).subs(alpha, sigma * (sigma / k + d))
    rational = rational.replace(
        lambda part: part.is_Pow and part.exp == sp.Rational(1, 2), lambda part: sp.sqrt(sp.factor(part.base))
    )
    assert is_zero(sp.simplify(rational) - sigma)


def test_error_below_the_threshold_is_a_constant_readout_noise_and_a_pole():
    C = alpha * (1 + H + Z) - alpha**2 / e + rho**2 * (1 - alpha / e) * (e - alpha)
    theory = 1 - 2 * rho**2 - 2 * (1 - rho**2) * alpha / e + H / k + C / (1 - alpha * k)
    assert is_zero(reduced.ridgeless_error(more_samples=False) - theory)
    parts = reduced.few_samples_form()
    assert is_zero(parts["pole"] - C)
    assert is_zero(parts["constant"] - (1 - 2 * rho**2 - 2 * (1 - rho**2) * alpha / e))
    assert is_zero(parts["inverse"] - H)


def test_error_beyond_the_threshold_is_a_quadratic_and_a_pole():
    parts = reduced.many_samples_form()
    rebuilt = parts["constant"] + parts["linear"] * nu + parts["quadratic"] * nu**2 + parts["pole"] / (alpha - nu)
    assert is_zero(rebuilt - reduced.ridgeless_error(more_samples=True).subs(k, 1 / nu))


def test_both_sides_of_the_threshold_share_one_pole_and_one_inflection():
    few, many = reduced.few_samples_form(), reduced.many_samples_form()
    assert is_zero(many["pole"] - alpha * few["pole"])
    # Second derivative 2 p_2 + 2 C/(α−ν)³ vanishes where (α−ν)³ = −αC(1+W)/(2(1−ρ²)), the theory's bound.
    cube = -alpha * few["pole"] * e / (2 * (1 - rho**2))
    curvature = 2 * many["quadratic"] + 2 * many["pole"] / cube
    assert is_zero(curvature)


def test_ridgeless_coefficient_and_boundary_are_the_forms_of_the_theory():
    assert is_zero(reduced.ridgeless_coefficient() - (rho**2 * e / alpha + H - 2 * (1 - rho**2) / e))
    assert is_zero(reduced.ridgeless_boundary() - e**2 * rho**2 / (2 * (1 - rho**2) - H * e))


def test_error_at_the_optimal_ridge_is_the_form_of_the_theory():
    h = e * (1 - 2 * rho**2 + H + Z + e * rho**2 * k) / (1 - rho**2)
    assert is_zero(reduced.optimal_sigma_quadratic() - (sigma**2 / k - (alpha + h) * sigma + alpha))
    assert is_zero(reduced.optimal_error() - E_bulk - nu * (H - (1 - rho**2) * (2 - nu) * sigma / e))
    s = H * e / ((1 - rho**2) * (2 - 1 / k))
    assert is_zero(reduced.optimal_crossing() - s * (h - s / k) / (1 - s))


def test_printed_coefficient_at_the_optimal_ridge_is_wrong_without_alignment():
    right = H - 2 * alpha / (e * (alpha + e * (1 + H + Z)))
    assert is_zero(reduced.optimal_coefficient(aligned=False) - right)
    assert not is_zero(reduced.optimal_coefficient(aligned=False) - H)
    assert reduced.optimal_coefficient(aligned=True) == H
    assert is_zero(reduced.optimal_boundary() - H * e**2 * (1 + H + Z) / (2 - H * e))


def test_uniform_coefficient_agrees_with_the_error_itself_at_large_k():
    """An expansion, not an identity: at k = 10^12 the remainder is of order 1/k, measured in 50-digit arithmetic."""
    at = {rho: sp.Rational(1, 10**5), alpha: 1, H: sp.Rational(1, 2), W: sp.Rational(1, 5), Z: sp.Rational(2, 5)}
    size = sp.Integer(10) ** 12
    poly = sp.Poly(reduced.optimal_sigma_quadratic().subs({**at, k: size}), sigma)
    c2, c1, c0 = poly.all_coeffs()
    root = sp.N(2 * c0 / (-c1 + sp.sqrt(c1**2 - 4 * c2 * c0)), 50)
    measured = (reduced.optimal_error() - E_bulk).subs({**at, nu: 1 / size, sigma: root}) * size
    predicted = sp.N(reduced.uniform_optimal_coefficient().subs({**at, k: size}), 50)
    assert abs(sp.N(measured, 50) - predicted) < 1e-10
    assert abs(predicted - at[H]) > 0.01


def test_stated_counterexample_to_convexity_holds():
    at = {alpha: 2, rho: 0, H: 0, W: 0, Z: 0}
    assert reduced.many_samples_form()["pole"].subs(at) == -4
    curvature = sp.diff(reduced.ridgeless_error(True).subs(k, 1 / nu).subs(at), nu, 2)
    assert curvature.subs(nu, sp.Rational(99, 100)) < 0 < curvature.subs(nu, sp.Rational(1, 10))

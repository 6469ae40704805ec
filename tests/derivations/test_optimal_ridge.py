"""λ*: stationary at every sample size, and as printed."""

import pytest
import sympy as sp

from subridge.derivations.equicorrelated import (
    aligned_bias,
    member_error,
    on_the_diagonal,
    optimal_ridge,
    pair_error,
    random_bias,
    ridge_of_sigma,
    slope_factor,
)
from subridge.derivations.notation import S_r, a, alpha, b, eta, nu, nu_r, rho, sigma, zeta

pytestmark = pytest.mark.slow


def test_optimal_ridge_is_the_printed_one():
    noise = nu * (zeta**2 + eta**2) + a * rho**2 + b * nu * (1 - 2 * rho**2)
    assert sp.factor(optimal_ridge() - a * (a * noise / (b**2 * nu**2 * (1 - rho**2)) - 1)) == 0


def test_slope_of_the_error_is_a_positive_factor_times_the_distance_to_the_optimum():
    slope = sp.diff(member_error(), sigma)
    assert sp.factor(slope - slope_factor() * (optimal_ridge() - ridge_of_sigma())) == 0
    inside = sp.Rational(1, 2)
    at = {rho: inside, alpha: 2, nu: inside, a: 3, b: 2, sigma: inside}
    assert slope_factor().subs(at) > 0


def test_bracket_with_the_printed_power_of_c_does_not_vanish_at_the_optimum():
    s, c = sp.symbols("s c", positive=True)
    # dE_rr/dS is 2/(1−γ) times the bracket of the paper's condition with s²(1−c)² = b², where it prints s²(1−c²).
    gamma = a**2 * nu_r * S_r**2 / alpha
    I0, I1 = on_the_diagonal(random_bias()), on_the_diagonal(aligned_bias())
    mixture = (1 - rho**2) * I0 + rho**2 * I1 + zeta**2 + eta**2
    right = a**2 * nu_r / (alpha * (1 - gamma)) * S_r * mixture + (1 - rho**2) * b**2 * nu_r * (a * S_r - 1)
    assert sp.factor(sp.diff(pair_error(same=True), S_r) - 2 / (1 - gamma) * right) == 0
    printed = right + (1 - rho**2) * (s**2 * (1 - c**2) - s**2 * (1 - c) ** 2) * nu_r * (a * S_r - 1)
    values = {nu_r: nu, S_r: sigma / a}
    stationary = sp.solve(sp.numer(sp.factor(right.subs(values))), alpha)
    (chosen,) = [root for root in stationary if root != 0]
    assert sp.factor(right.subs(values).subs(alpha, chosen)) == 0
    assert sp.factor(printed.subs(values).subs(b, s * (1 - c)).subs(alpha, chosen.subs(b, s * (1 - c)))) != 0


def test_isotropic_form_reduces_to_the_printed_one_without_feature_noise_only():
    printed = (zeta**2 + eta**2) / nu + b * (1 / nu - 1)
    isotropic = optimal_ridge().subs(rho, 0)  # at c = 0 no direction is special, and b is s
    assert sp.factor(isotropic - a * (a * (zeta**2 + eta**2 + b) / (b**2 * nu) - 1)) == 0
    assert sp.factor(isotropic.subs(a, b) - printed) == 0
    assert sp.factor(isotropic - printed) != 0

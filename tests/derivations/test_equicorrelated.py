"""Prop. 2 and its limits as derived, against the paper's formulas and the forms the theory uses."""

import pytest
import sympy as sp

from subridge.derivations import equicorrelated as eq
from subridge.derivations.block_forms import limit
from subridge.derivations.equicorrelated import quadratic, ridge_of_sigma, sigma_closed_form, t, without_radical
from subridge.derivations.notation import (
    M,
    S_r,
    S_s,
    T,
    a,
    alpha,
    b,
    e,
    eta,
    k,
    lam,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    q_hat,
    rho,
    sigma,
    x_r,
    zeta,
)  # fmt: skip

pytestmark = pytest.mark.slow

s, c, omega = sp.symbols("s c omega", positive=True)
PAPER = {b: s * (1 - c), a: s * (1 - c) + omega**2}


def is_zero(expression):
    return sp.factor(sp.together(expression)) == 0


def test_saddle_point_is_the_printed_one():
    assert is_zero(eq.saddle_point().rhs - a * nu / (nu + a * q_hat))


def test_gamma_and_both_biases_are_the_printed_ones():
    bulk = s * (1 - c)
    printed = bulk * (1 - bulk * nu_r * S_r - bulk * nu_s * S_s + (bulk + omega**2) * bulk * nu_rs * S_r * S_s)
    aligned = (bulk * (nu_rs - nu_r * nu_s) + omega**2 * nu_rs) / (nu_r * nu_s)
    assert is_zero(eq.random_bias().subs(PAPER) - printed)
    assert is_zero(eq.aligned_bias().subs(PAPER) - aligned)
    assert is_zero(eq.gamma() - a**2 * nu_rs * S_r * S_s / alpha)


@pytest.mark.parametrize(
    ("finite", "pair_limit"),
    [
        (lambda: eq.member().gamma, eq.gamma),
        (lambda: eq.member().random_bias(), eq.random_bias),
        (lambda: eq.member().aligned_bias(), eq.aligned_bias),
    ],
)
def test_diagonal_derived_on_its_own_equals_the_pair_at_full_overlap(finite, pair_limit):
    sizes = {eq.N_ONLY_R: nu_r * M, eq.N_NEITHER: (1 - nu_r) * M}
    own = limit(finite(), M, sizes).subs(x_r, 1 / S_r - a)
    assert is_zero(own - eq.on_the_diagonal(pair_limit()))


def test_without_shared_variance_no_direction_is_special():
    at_zero = eq.limit_in_S(eq.member_pair().aligned_bias().subs(e, 0))
    assert is_zero(at_zero - eq.random_bias())


def test_uniform_form_is_the_one_the_theory_uses():
    u_r, u_s, L = 1 / (nu_r * S_r), 1 / (nu_s * S_s), b + T
    printed_limit = a * nu_rs / (nu_r * nu_s) - b
    theory = L * ((u_r - b) * (u_s - b) + L * printed_limit) / ((T + u_r) * (T + u_s))
    four_terms = (
        L - L**2 / (T + u_r) - L**2 / (T + u_s) + L**2 * (T + a * nu_rs / (nu_r * nu_s)) / ((T + u_r) * (T + u_s))
    )
    g_r, g_s = nu_r * S_r, nu_s * S_s
    short = L * ((1 - b * g_r) * (1 - b * g_s) + L * g_r * g_s * printed_limit) / ((1 + T * g_r) * (1 + T * g_s))
    for form in (theory, four_terms, short):
        assert is_zero(eq.uniform_aligned_bias() - form)


def test_closed_forms_of_the_saddle_point_solve_it():
    # eqs. 171 (q_equicorr), 172 (qhat_equicorr)
    root = sp.sqrt(a**2 * alpha**2 + 2 * a * alpha * (lam - a) * nu + (a + lam) ** 2 * nu**2)
    printed_q = (root - a * alpha + (a - lam) * nu) / (2 * nu)
    printed_q_hat = (root + a * alpha - (a + lam) * nu) / (2 * a * lam)
    q_of_sigma = a * (1 - sigma)  # positive exactly when σ < 1
    assert is_zero(eq.saddle_point().rhs.subs(q_hat, nu * sigma / (a * (1 - sigma))) - q_of_sigma)
    assert without_radical(sigma_closed_form() - sigma) == 0
    assert without_radical(printed_q - q_of_sigma) == 0
    assert without_radical(printed_q_hat - nu * sigma / (a * (1 - sigma))) == 0
    assert is_zero(quadratic().subs(t, ridge_of_sigma() * nu / a))


def test_radical_of_the_other_branch_is_not_sigma():
    wrong = 2 * alpha / (alpha + nu + lam * nu / a - (2 * alpha / sigma_closed_form() - alpha - nu - lam * nu / a))
    assert without_radical(wrong - sigma) != 0


def test_discriminant_factors_into_the_two_thresholds():
    form = (t + (sp.sqrt(alpha) + sp.sqrt(nu)) ** 2) * (t + (sp.sqrt(alpha) - sp.sqrt(nu)) ** 2)
    assert sp.expand(form - ((alpha + nu + t) ** 2 - 4 * alpha * nu)) == 0
    assert sp.expand(form - ((alpha - nu) ** 2 + 2 * t * (alpha + nu) + t**2)) == 0


def test_effective_ridge_solves_its_own_quadratic_and_gives_q_and_S():
    kappa_bar = (a / nu) * (1 - sigma) / sigma
    lam_of = ridge_of_sigma()
    h = lam_of + a * (1 - alpha / nu)
    assert is_zero(alpha * kappa_bar**2 - h * kappa_bar - lam_of * a / nu)
    assert is_zero(kappa_bar * a / (kappa_bar + a / nu) - a * (1 - sigma))
    assert is_zero(1 / (nu * kappa_bar + a) - sigma / a)


def test_ridgeless_sigma_and_gamma_are_the_printed_ones():
    for more, sign in ((False, -1), (True, 1)):
        modulus = sign * (alpha - nu)  # |α − ν| on that side
        assert is_zero(eq.ridgeless_sigma()[more] - 2 * alpha / (alpha + nu + modulus))
    sides = {nu_r: True, nu_s: False}
    roots = {n: alpha + n + (1 if more else -1) * (alpha - n) for n, more in sides.items()}
    assert is_zero(eq.ridgeless_gamma(True, False) - 4 * alpha * nu_rs / (roots[nu_r] * roots[nu_s]))


def test_three_branches_of_F0_are_the_printed_ones():
    w, one = omega**2, (c - 1) * s
    printed = {
        "alpha < nu_r < nu_s": one
        * (nu_r * nu_s * ((2 * alpha - 1) * one + w) - alpha**2 * one * nu_rs)
        / (nu_r * (one - w) * nu_s),
        "nu_r < alpha < nu_s": one
        * (nu_s * (one * nu_r + (alpha - 1) * one + w) - alpha * one * nu_rs)
        / ((one - w) * nu_s),
        "nu_r < nu_s < alpha": one * (one * nu_s - c * s * nu_rs + one * nu_r - c * s + s * nu_rs + s + w) / (one - w),
    }
    derived = eq.ridgeless_random_bias()
    for name, expression in printed.items():
        assert is_zero(derived[name].subs(PAPER) - expression), name


def test_ridgeless_member_errors_are_the_printed_ones():
    bulk = s * (1 - c)
    own = (bulk * (1 - nu_r) + omega**2) / nu_r
    printed = {
        (False, 0): bulk * nu_r / (nu_r - alpha) * (1 + bulk * alpha * (alpha - 2 * nu_r) / (nu_r * PAPER[a])),
        (True, 0): bulk * alpha / (alpha - nu_r) * (1 - bulk * nu_r / PAPER[a]),
        (False, 1): nu_r / (nu_r - alpha) * own,
        (True, 1): alpha / (alpha - nu_r) * own,
    }
    noise = {
        False: (alpha * zeta**2 + nu_r * eta**2) / (nu_r - alpha),
        True: (nu_r * zeta**2 + alpha * eta**2) / (alpha - nu_r),
    }
    for (more, alignment), signal in printed.items():
        derived = eq.ridgeless_member_error(more).subs(rho, alignment).subs(PAPER)
        assert is_zero(derived - signal - noise[more])


def test_single_isotropic_member_is_the_printed_one():
    few = nu_r / (nu_r - alpha) * ((1 - nu_r) + (alpha - nu_r) ** 2 / nu_r) + alpha / (nu_r - alpha) * zeta**2
    many = alpha / (alpha - nu_r) * (1 - nu_r) + nu_r / (alpha - nu_r) * zeta**2
    isotropic = {rho: 0, a: 1, b: 1, eta: 0}
    assert is_zero(eq.ridgeless_member_error(False).subs(isotropic) - few)
    assert is_zero(eq.ridgeless_member_error(True).subs(isotropic) - many)


def test_infinite_data_error_is_the_mean_over_explicit_pairs():
    fractions = [sp.Rational(1, 10), sp.Rational(1, 5), sp.Rational(7, 10)]
    own, crossed = eq.infinite_data_pair_error(True), eq.infinite_data_pair_error(False)
    total = (
        sum(own.subs(nu_r, f) for f in fractions)
        + sum(crossed.subs({nu_r: f, nu_s: g, nu_rs: 0}) for i, f in enumerate(fractions) for g in fractions[:i]) * 2
    )
    means = {eq.mean_fraction: sum(fractions) / 3, eq.mean_inverse_fraction: sum(1 / f for f in fractions) / 3}
    assert is_zero(eq.infinite_data_error().subs({k: 3, **means}) - total / 9)


def test_unequal_sizes_cost_at_infinite_data_only_for_aligned_weights():
    error = eq.infinite_data_error().subs({a: b, eq.mean_fraction: 1 / k})
    equal = error.subs(eq.mean_inverse_fraction, k)
    assert is_zero(error - equal - b * rho**2 * (eq.mean_inverse_fraction / k - 1))

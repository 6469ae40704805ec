"""The scaled mean: every closed form of the theory, proved from Prop. 1 and Prop. 2."""

import numpy as np
import pytest
import sympy as sp

from subridge.derivations import scaled_mean as sm
from subridge.derivations.notation import H, S_r, T, W, Z, a, alpha, b, k, nu, nu_r, rho, sigma
from subridge.derivations.reduced import optimal_sigma_quadratic
from subridge.theory.prop2 import missed_unaligned
from subridge.theory.reduced import Ratios, odds, stationarity

pytestmark = pytest.mark.slow

e = 1 + W
RATIOS = Ratios(alpha, 0, H, W, Z)


def is_zero(expression):
    return sp.factor(sp.together(expression)) == 0


def exact(array):
    """The expression in an array of no dimensions, with the code's 1.0 as an integer."""
    return sp.nsimplify(np.asarray(array).item())


def test_what_a_member_misses_is_the_form_of_the_theory():
    missed = exact(missed_unaligned(b, b**2 / a, nu_r, sigma))
    assert is_zero(b - sm.random_cross_moment().subs(S_r, sigma / a) - missed)


def test_aligned_cross_moment_joins_the_uncorrelated_one():
    assert is_zero(sm.uniform_aligned_cross_moment().subs(T, 0) - sm.random_cross_moment())


def test_different_members_are_uncorrelated_without_alignment():
    assert sm.products()[1] == 0


def test_odds_of_the_error_are_the_sum_of_its_causes():
    causes = exact(odds(1 / k, sigma, H * k / sigma**2, RATIOS))
    gap = 1 - sigma**2 / (k * alpha)
    assert is_zero(sm.error() - causes / (causes + gap))


def test_no_weight_makes_the_scaled_mean_better():
    """v - 2sc + s²F is least at s = c/F, and is then the error above."""
    s = sp.Symbol("s")
    own = sm.products()[0]
    risk = 1 - 2 * s * sm.cross_moment() + s**2 * own / k
    assert is_zero(sp.diff(risk, s).subs(s, sm.scale()))
    assert is_zero(risk.subs(s, sm.scale()) - sm.error())


def test_limits_of_size_and_data():
    assert sp.factor(sp.limit(sm.error().subs(sigma, 1), k, sp.oo)) == 1
    assert is_zero(sm.infinite_ensemble_error() - (1 - alpha / (e * (alpha + e * (1 + Z)))))
    much = sp.factor(sp.limit(sm.error().subs(sigma, 1), alpha, sp.oo))
    assert is_zero(much - (W + e**2 * H * k) / (e + e**2 * H * k))
    little = sm.error().subs(sigma, alpha * nu)  # σ is of order α without data
    assert sp.limit(little.subs({H: 1, W: 1, Z: 1, k: 2, nu: 1}), alpha, 0) == 1


def test_slope_in_the_size_has_the_same_bracket_on_both_sides_of_the_threshold():
    bracket = H * (1 - 2 * sm.y) - (1 + Z - alpha / e) * sm.y**2
    for more_samples in (False, True):
        assert is_zero(sm.size_bracket(more_samples) - bracket)
    assert sp.simplify(bracket.subs(sm.y, sm.best_size_ratio())) == 0
    # It falls with y where the last term is negative; elsewhere it is a parabola with its least value at y ≥ 1 when
    # H > |Q| (one zero up to there), and none at all when H < |Q|.
    Q = sp.Symbol("Q")
    parabola = sp.Poly(H * (1 - 2 * sm.y) - Q * sm.y**2, sm.y)
    assert is_zero(sp.discriminant(parabola) - 4 * H * (H + Q))
    assert is_zero(sp.solve(sp.diff(parabola.as_expr(), sm.y), sm.y)[0] + H / Q)


def test_one_member_beats_two_beyond_the_stated_sample_ratio():
    assert is_zero(sm.one_or_two_members() - (2 * H * alpha**2 + (1 / e - 3 * H) * alpha - (1 + Z)))


def test_without_readout_noise_one_member_beats_infinitely_many_below_its_threshold_where_stated():
    one = sm.error().subs(H, 0).subs({sigma: alpha, k: 1})
    difference = sp.factor(sm.infinite_ensemble_error() - one)  # positive: one member is better
    stated = alpha**2 * (2 - alpha - e * (1 + Z)) / (e * (alpha + e * (1 + Z)) * (e * (1 + Z) - alpha))
    assert is_zero(difference - stated)


def test_best_ridge_is_the_root_of_the_bracket_of_the_theory():
    assert is_zero(exact(stationarity(sigma, nu, alpha, H, W, Z)) - sm.ridge_bracket())


def test_without_readout_noise_the_best_ridge_is_the_members_own_and_the_scale_is_that_of_a_sum():
    quadratic = optimal_sigma_quadratic().subs({k: 1 / nu, rho: 0, H: 0})
    assert is_zero(sm.ridge_bracket().subs(H, 0) + nu**2 * sigma**3 * quadratic)
    (at_best,) = sp.solve(quadratic, alpha)
    assert is_zero(sm.scale().subs(H, 0).subs(k, 1 / nu).subs(alpha, at_best) - 1 / nu)


def test_root_of_the_ridge_bracket_is_unique():
    """With C σ³P(σ) = H(1-2γ): P grows, 1-2γ falls; where both are negative their ratio has a slope of one sign."""
    P = (alpha + e * (1 + Z)) * sigma - nu * sigma**2 - alpha
    gamma = nu * sigma**2 / alpha
    assert is_zero(sm.ridge_bracket() - (nu**2 * sigma**3 * P - e * alpha**2 * H * (1 - 2 * gamma)))
    # On the branch γ < 1, νσ < √(να) ≤ √α ≤ (α + 1)/2, so that P′ = α + e(1+Z) - 2νσ > 0.
    assert is_zero(sp.diff(P, sigma) - (alpha + e * (1 + Z) - 2 * nu * sigma))
    # d ln[σ³|P|/(2γ-1)]/dσ = 3/σ - P′/|P| - 4γ/(σ(2γ-1)), and 4γ/(2γ-1) ≥ 4 for 1/2 < γ ≤ 1: it is negative.
    ratio = sigma**3 * (-P) / (2 * gamma - 1)
    stated = 3 / sigma - sp.diff(P, sigma) / (-P) - 4 * gamma / (sigma * (2 * gamma - 1))
    assert is_zero(sp.diff(ratio, sigma) / ratio - stated)
    assert is_zero(4 * gamma / (2 * gamma - 1) - 4 - 4 * (1 - gamma) / (2 * gamma - 1))
    # At the end of the branch, γ = 1, P is a positive factor times α + e(1+Z) - 2√(να) ≥ (1-√α)² ≥ 0.
    r, n = sp.symbols("r n", positive=True)  # √α and √ν
    at_end = P.subs(sigma, sp.sqrt(alpha / nu)).subs({alpha: r**2, nu: n**2})
    assert is_zero(at_end - r / n * (r**2 + e * (1 + Z) - 2 * n * r))


def test_at_its_best_ridge_a_larger_member_is_always_better():
    slope = sm.slope_in_member_size()
    assert sm.is_square_over_positive(-slope.subs(sm.g, 1 / (1 + sp.Symbol("odds", positive=True))))


def test_a_teacher_along_one_pins_the_scale_as_the_features_grow():
    assert sp.factor(sp.limit(sm.aligned_forms()[0], T, sp.oo)) == 1
    _, mean, scaled = sm.aligned_forms()
    assert is_zero(sp.limit(sp.factor(mean), T, sp.oo) - sp.limit(sp.factor(scaled), T, sp.oo))
    assert is_zero(mean.subs(T, 0) - mean.subs(rho, 0))
    assert is_zero(scaled.subs(T, 0) - sm.error())


@pytest.mark.parametrize("M", [10**2, 10**3, 10**4, 10**5])
def test_one_member_is_not_always_best_where_the_teacher_is_aligned(M):
    assert sm.one_member_loses(3 * M // 2)  # c = 0.6


def test_one_member_is_best_where_features_share_little():
    assert not sm.one_member_loses(1)

"""The formulas of the theory as they are written in code, called with SymPy symbols, against the derived ones.

Arrays of symbols pass through the same lines as arrays of numbers, so nothing is copied here that could drift.
"""

import numpy as np
import pytest
import sympy as sp

from subridge.derivations import equicorrelated as derived
from subridge.derivations import reduced
from subridge.derivations.notation import (
    H,
    S_r,
    S_s,
    W,
    Z,
    a,
    alpha,
    b,
    k,
    nu,
    nu_r,
    nu_rs,
    nu_s,
    rho,
    sigma,
    sigma_r,
    sigma_s,
)  # fmt: skip
from subridge.theory.prop2 import aligned_bias, unaligned_bias
from subridge.theory.reduced import Ratios, amplified, cross_bias, own_bias, slope_beyond

pytestmark = pytest.mark.slow

NU = nu_r, nu_s, nu_rs
FREE = 1 - sigma_r, 1 - sigma_s
RATIOS = Ratios(alpha, rho**2, H, W, Z)
IN_SIGMA = {S_r: sigma_r / a, S_s: sigma_s / a}


def exact(array):
    """The expression in an array of no dimensions, with the code's 1.0 as an integer."""
    return sp.nsimplify(np.asarray(array).item())


def is_zero(expression):
    return sp.factor(sp.together(expression)) == 0


def test_both_biases_of_proposition_2_are_the_derived_ones():
    assert is_zero(
        exact(np.asarray(sum(unaligned_bias(b, b / a, 1 - b / a, NU, FREE)))) - derived.random_bias().subs(IN_SIGMA)
    )
    assert is_zero(exact(np.asarray(sum(aligned_bias(b, a - b, NU, np.asarray(False))))) - derived.aligned_bias())


def test_reduced_member_and_pair_errors_are_the_derived_ones():
    gamma = sigma**2 / (k * alpha)
    own = (exact(own_bias(1 / k, sigma, RATIOS)) + (H + gamma * Z) / k) / (1 - gamma)
    assert is_zero(own - reduced.own_error() / k)
    assert is_zero(exact(cross_bias(1 / k, sigma, RATIOS)) - reduced.crossed_error())


def test_what_the_threshold_amplifies_is_the_pole_of_the_ridgeless_error():
    assert is_zero(exact(amplified(RATIOS)) - reduced.few_samples_form()["pole"])


def test_slope_beyond_the_threshold_is_the_derivative_of_the_ridgeless_error():
    derivative = sp.diff(reduced.ridgeless_error(more_samples=True).subs(k, 1 / nu), nu)
    assert is_zero(exact(slope_beyond(nu, *RATIOS)) - derivative)

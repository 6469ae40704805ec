"""The two-group example: derived for M → ∞, confirmed by Prop. 1 on dense matrices whose size grows."""

import numpy as np
import pytest
import sympy as sp

from subridge.derivations import two_groups
from subridge.derivations.equicorrelated import sigma_closed_form
from subridge.derivations.notation import a, alpha, b, x_r, x_s

pytestmark = pytest.mark.slow

SEEN, UNSEEN = (0.1, 0.3), (0.35, 0.25)  # of group A, of group B
VARIANCES = {a: 1.1, b: 0.8}
RIDGES, SAMPLE_RATIO = (0.2, 0.5), 0.7


def dense(M, dense_pair, same):
    counts = np.rint(M * np.array([SEEN[0], UNSEEN[0], SEEN[1], UNSEEN[1]])).astype(int)
    labels = np.repeat(range(4), counts)
    first = np.eye(M)[np.isin(labels, (0, 2))]
    A = [first, first if same else np.eye(M)[np.isin(labels, (1, 3))]]
    shared = np.where((labels[:, None] < 2) == (labels[None, :] < 2), 0.5, 0.2)
    Sigma_s = VARIANCES[b] * np.eye(M) + shared
    ridges = (RIDGES[0], RIDGES[0]) if same else RIDGES
    _, gamma, bias = dense_pair(Sigma_s, (VARIANCES[a] - VARIANCES[b]) * np.eye(M), A, ridges, SAMPLE_RATIO)
    P = np.eye(M) - 1 / M
    return gamma, np.trace(P @ bias @ P) / M, bias.sum() / M


def derived(same):
    """Evaluate the closed forms at the closed-form saddle point of Prop. 2."""
    nu_first, nu_second = sum(SEEN), sum(UNSEEN)
    free = sorted(sigma_closed_form().free_symbols, key=str)
    names = {str(symbol): symbol for symbol in free}

    def x(nu, ridge):
        values = {names["nu"]: nu, names["lambda"]: ridge, alpha: SAMPLE_RATIO, **VARIANCES}
        value = float(sigma_closed_form().subs(values))
        return VARIANCES[a] * (1 - value) / value

    mu, tau = two_groups.fractions_of_member, two_groups.fractions_of_rest
    values = {
        **VARIANCES, alpha: SAMPLE_RATIO, x_r: x(nu_first, RIDGES[0]), x_s: x(nu_second, RIDGES[1]),
        mu[0]: SEEN[0], mu[1]: SEEN[1], tau[0]: UNSEEN[0],
    }  # fmt: skip
    forms = [two_groups.gamma(same), two_groups.aligned_bias(same)]
    if not same:
        forms.insert(1, two_groups.random_bias())
    return [float(sp.N(form.subs(values))) for form in forms]


@pytest.mark.parametrize("same", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_closed_forms_are_the_limit_of_proposition_one(dense_pair, same):
    closed = np.array(derived(same))
    columns = [0, 2] if same else [0, 1, 2]
    small, large = (np.array(dense(M, dense_pair, same))[columns] for M in (200, 800))
    # The finite-size error falls as 1/M: four times the size leaves about a quarter of it (here at most 5 %).
    np.testing.assert_allclose(large, closed, rtol=0.05, atol=0.005)
    assert (np.abs(large - closed) < 0.4 * np.abs(small - closed) + 1e-9).all()


def test_even_draw_from_both_groups_costs_what_one_group_costs():
    nu, phi = sp.symbols("nu phi", positive=True)
    mu, tau = two_groups.fractions_of_member, two_groups.fractions_of_rest
    even = {mu[0]: nu * phi, mu[1]: nu * (1 - phi), tau[0]: (1 - nu) * phi}
    assert sp.factor(two_groups.aligned_bias(True).subs(even, simultaneous=True) - (a / nu - b)) == 0

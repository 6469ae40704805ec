"""Both replica actions: stationary, giving Prop. 1, and equal to the full actions on dense matrices."""

import numpy as np
import pytest
import sympy as sp

from subridge.derivations import loureiro, replica
from subridge.derivations.notation import alpha, q, q_hat, zeta
from subridge.derivations.replica import B, averaged, d, f, gamma, i, is_identically_zero, ridge_slope, t, u

pytestmark = pytest.mark.slow


def test_both_actions_are_stationary_at_the_order_parameters():
    for pair, count in ((False, 4), (True, 12)):
        slopes = replica.gradient(pair)
        assert len(slopes) == count
        assert all(is_identically_zero(slope) for slope in slopes)


def test_replica_errors_are_those_of_proposition_one():
    g = 1 / (1 + q_hat * d[i])
    gam = replica.member_gamma()
    bias = replica.signal_power - 2 * q_hat * averaged(t[i] ** 2 * g) + q_hat**2 * averaged(t[i] ** 2 * d[i] * g**2)
    expected = (gam * zeta**2 + replica.eta_r**2 + bias) / (1 - gam)
    assert is_identically_zero(replica.member_error() - expected)
    assert is_identically_zero(replica.pair_error() - replica.crossed_error())


def test_printed_saddle_with_beta_inside_the_square_is_not_stationary():
    action = replica.member_action().subs(replica.J, 0)
    printed = -alpha * replica.q0 / (replica.lam_r + replica.beta * q) ** 2
    slope = sp.diff(action, q).subs(replica.q0_hat, printed)
    at = {q: 1, q_hat: 2, replica.lam_r: 1, alpha: 4, replica.beta: 3, replica.q0: 1}
    right = -alpha * replica.q0 / (replica.lam_r + q) ** 2
    assert slope.subs(at) != 0
    assert sp.diff(action, q).subs(replica.q0_hat, right).subs(at) == 0


def test_loureiro_route_gives_the_same_errors_up_to_where_readout_noise_is_booked():
    crossed = loureiro.as_in_proposition_one(loureiro.crossed_error())
    assert is_identically_zero(crossed - replica.crossed_error())
    own = loureiro.as_in_proposition_one(loureiro.member_error())
    assert is_identically_zero(own - replica.member_error() + replica.eta_r**2)


def test_ridge_grows_with_the_effective_ridge_where_gamma_is_below_one():
    assert is_identically_zero(ridge_slope() - alpha * (1 - gamma()))
    assert not is_identically_zero(ridge_slope() - alpha * (1 + gamma()))


def test_first_order_pair_action_has_the_slopes_of_the_full_one():
    """The determinant and inverse of the 2 × 2 blocks, on dense matrices, differentiated in ĉ at ĉ = 0."""
    generator = np.random.default_rng(5)
    n = 3
    roots = generator.normal(size=(2 * n, 8))
    full = roots @ roots.T / 8
    values, bases = zip(*[np.linalg.eigh(full[s, s]) for s in (slice(0, n), slice(n, None))], strict=True)
    overlap = bases[0].T @ full[:n, n:] @ bases[1]
    w = generator.normal(size=(2, n))
    numbers = {
        q_hat: 0.7, replica.r_hat: 1.3, replica.Q_hat: 0.2, replica.R_hat: -0.4, replica.C_hat: 0.6,
        replica.beta: 1.0, sp.Symbol("M", positive=True): 1,
    }  # fmt: skip

    def terms(c_hat):
        G = np.block(
            [
                [np.eye(n) + numbers[q_hat] * np.diag(values[0]), c_hat * overlap],
                [c_hat * overlap.T, np.eye(n) + numbers[replica.r_hat] * np.diag(values[1])],
            ]
        )
        K = np.block(
            [
                [numbers[replica.Q_hat] * np.diag(values[0]), numbers[replica.C_hat] * overlap],
                [numbers[replica.C_hat] * overlap.T, numbers[replica.R_hat] * np.diag(values[1])],
            ]
        )
        V = np.concatenate([(numbers[q_hat] + c_hat) * w[0], (numbers[replica.r_hat] + c_hat) * w[1]])
        inverse = np.linalg.inv(G)
        return np.linalg.slogdet(G)[1] + np.trace(inverse @ K) - V @ inverse @ V

    action = replica.pair_action().subs({replica.J: 0, replica.c: 0, replica.C: 0, replica.signal_power: 0, zeta: 0})
    slope = sp.diff(action, replica.c_hat).subs(replica.c_hat, 0)
    explicit = slope.subs({replica.n_first: n, replica.n_second: n}).doit()
    entries = {d[m + 1]: values[0][m] for m in range(n)} | {f[m + 1]: values[1][m] for m in range(n)}
    entries |= {t[m + 1]: w[0][m] for m in range(n)} | {u[m + 1]: w[1][m] for m in range(n)}
    entries |= {B[m + 1, l + 1]: overlap[m, l] for m in range(n) for l in range(n)}
    symbolic = float(explicit.subs(entries).subs(numbers))
    step = 1e-5
    np.testing.assert_allclose(symbolic, (terms(step) - terms(-step)) / (2 * step), rtol=1e-7)

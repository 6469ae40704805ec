"""Prop. 1 on dense matrices, by plain inverses: what the derived closed forms are held against."""

import numpy as np
import pytest


def solve_q_hat(covariance, lam, alpha, M):
    """Iterate eq. 10 (saddle_point) for one member, in the eigenvalues of Σ̃_rr."""
    d = np.linalg.eigvalsh(covariance)
    low, high = 0.0, alpha / lam
    for _ in range(200):
        middle = (low + high) / 2
        q = np.sum(d / (1 + middle * d)) / M
        low, high = (middle, high) if alpha / (lam + q) > middle else (low, middle)
    return (low + high) / 2


@pytest.fixture
def dense_pair():
    """Return a function: (Σ_s, Σ_0, [A_r, A_s], ridges, α) → q̂'s, γ and the bias matrix of Prop. 1 as printed."""

    def compute(Sigma_s, Sigma_0, A, ridges, alpha):
        M = len(Sigma_s)
        nu = [len(X) / M for X in A]
        total = Sigma_s + Sigma_0
        tilde = [[A[r] @ total @ A[t].T / np.sqrt(nu[r] * nu[t]) for t in (0, 1)] for r in (0, 1)]
        q_hat = [solve_q_hat(tilde[r][r], ridges[r], alpha, M) for r in (0, 1)]
        G = [np.linalg.inv(np.eye(len(A[r])) + q_hat[r] * tilde[r][r]) for r in (0, 1)]
        kappa = [alpha / value for value in q_hat]
        gamma = alpha / (M * kappa[0] * kappa[1]) * np.trace(G[0] @ tilde[0][1] @ G[1] @ tilde[1][0])
        own = [q_hat[r] / nu[r] * A[r].T @ G[r] @ A[r] for r in (0, 1)]
        cross = q_hat[0] * q_hat[1] / np.sqrt(nu[0] * nu[1]) * A[0].T @ G[0] @ tilde[0][1] @ G[1] @ A[1]
        bias = Sigma_s - Sigma_s @ (own[0] + own[1]) @ Sigma_s + Sigma_s @ cross @ Sigma_s
        return q_hat, gamma, bias

    return compute

"""Prop. 1: any covariance, any linear measurements, per-member ridge and readout noise."""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.divergence import over_one_minus
from subridge.theory.order_parameters import OrderParameters
from subridge.theory.spectrum import effective_ridge
from subridge.theory.tables import Tables

# Entries of the temporary (grid × eigenvalues) arrays held at once, all members together: 64 MB.
_BLOCK = 8_000_000


def general_pairs(tables: Tables, alpha: FloatArray, lam: FloatArray, eta: FloatArray, zeta: FloatArray) -> FloatArray:
    """E_rr′ of eq. GeneralErr on a flat grid.

    Parameters
    ----------
    tables : Tables
    alpha, zeta : ndarray, shape (G,)
    lam, eta : ndarray, shape (G, k)

    Returns
    -------
    ndarray, shape (G, k, k)
    """
    kappa_bar = np.stack(
        [effective_ridge(spectrum, alpha, lam[:, r]).kappa_bar for r, spectrum in enumerate(tables.spectra)], axis=-1
    )
    bias, gamma = bias_and_gamma(tables, alpha, kappa_bar)
    k = tables.n_members
    noise = gamma * zeta[:, None, None] ** 2 + np.eye(k) * eta[:, :, None] ** 2
    scale = np.broadcast_to(tables.signal_power, gamma.shape)
    # Below rounding of the signal the bias is zero: a difference of large terms has no digits left there.
    bias = np.where(np.abs(bias) <= 1e-15 * scale, 0.0, bias)
    return over_one_minus(bias, noise, gamma, scale)  # eq. GeneralErr


def bias_and_gamma(tables: Tables, alpha: FloatArray, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The part of eq. GeneralErr without noise, before it is divided by 1 - γ; and γ. Shapes (G, k, k)."""
    G, k = kappa_bar.shape
    bias, gamma = np.empty((G, k, k)), np.empty((G, k, k))
    width = sum(len(spectrum.values) for spectrum in tables.spectra)
    for start in range(0, G, max(1, _BLOCK // max(1, width))):
        part = slice(start, start + max(1, _BLOCK // max(1, width)))
        R = [spectrum.resolvent(kappa_bar[part, r]) for r, spectrum in enumerate(tables.spectra)]
        explained = [R[r] @ tables.explained[r] for r in range(k)]
        for (r, s), table in tables.trace.items():
            trace = bilinear(R[r], table, R[s])
            gamma[part, r, s] = gamma[part, s, r] = over_alpha(trace, alpha[part])
            cross = bilinear(R[r], tables.cross[r, s], R[s])
            bias[part, r, s] = bias[part, s, r] = tables.signal_power - explained[r] - explained[s] + cross
    return bias, gamma


def bilinear(left: FloatArray, table: FloatArray, right: FloatArray) -> FloatArray:
    """``Σ_ij left_gi table_ij right_gj`` for every grid point g."""
    return np.asarray(np.sum((left @ table) * right, axis=-1))


def over_alpha(trace: FloatArray, alpha: FloatArray) -> FloatArray:
    """γ = trace/α; the trace is of order α² at α = 0, where γ vanishes."""
    return np.divide(trace, alpha, out=np.zeros_like(trace), where=alpha > 0)


def general_order_parameters(tables: Tables, alpha: FloatArray, lam: FloatArray, *, throw: bool) -> OrderParameters:
    """Order parameters on a flat grid: per-member fields of shape (G, k), γ of shape (G, k, k)."""
    roots = [effective_ridge(spectrum, alpha, lam[:, r], throw=throw) for r, spectrum in enumerate(tables.spectra)]
    kappa_bar = np.stack([root.kappa_bar for root in roots], axis=-1)
    with np.errstate(divide="ignore"):
        q_hat = 1.0 / kappa_bar
    q = np.stack([spectrum.overlap(q_hat[:, r]) for r, spectrum in enumerate(tables.spectra)], axis=-1)
    return OrderParameters(
        kappa=lam + q,
        q=q,
        q_hat=q_hat,
        S=None,
        gamma=bias_and_gamma(tables, alpha, kappa_bar)[1],
        status=np.stack([root.status for root in roots], axis=-1),
        residual=np.stack([root.residual for root in roots], axis=-1),
    )

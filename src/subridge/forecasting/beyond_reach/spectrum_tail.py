"""Degrees of freedom of a member below the effective ridges that the pilot shows, by a power-law spectrum.

A member with more features than the pilot has rows shows effective ridges down to κ̄₀ = κ̄(n, 0) only. Its degrees of
freedom are continued by those of the spectrum ``s_i ∝ i^-a``, i = 1…N_r, fitted to what the pilot shows between κ̄₀ and
30 κ̄₀ and made to pass through n at κ̄₀ and N_r at 0.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, least_squares

from subridge.arrays.types import FloatArray

SPAN = np.geomspace(1.0, 30.0, 12)  # of κ̄/κ̄₀ in the fits


@dataclass(frozen=True, eq=False)
class SpectrumTail:
    """Degrees of freedom of one member, intercept excluded, for effective ridges down to zero."""

    edge: float  # κ̄₀
    penalties: FloatArray  # at which the pilot has the effective ridges SPAN κ̄₀, shape (12,)
    slope: float  # a of the fitted spectrum
    _scale: float
    _n_features: int
    _at_edge: float

    def degrees_of_freedom(self, kappa_bar: float) -> float:
        N = self._n_features
        model, start = self._model(kappa_bar), self._model(self.edge)
        return N - (N - model) * (N - self._at_edge) / (N - start)

    def _model(self, kappa_bar: float) -> float:
        i = np.arange(1, self._n_features + 1)
        return float((1 / (1 + kappa_bar * i**self.slope / self._scale)).sum())

    def effective_ridge(self, size: float, penalty: float, intercept: int) -> float:
        """κ̄ below the edge with ``κ̄ (n′ - df(κ̄)) = p′``."""

        def excess(kappa_bar: float) -> float:
            return kappa_bar * (size - intercept - self.degrees_of_freedom(kappa_bar)) - penalty

        if np.isinf(size) or (penalty == 0 and size - intercept >= self._n_features):
            return 0.0
        if penalty == 0:
            return float(brentq(lambda x: size - intercept - self.degrees_of_freedom(x), 0.0, self.edge))
        return float(brentq(excess, 0.0, self.edge))

    def variance(self, kappa_bar: float, intercept: int) -> float:
        """γ_rr n = df + d df/d log κ̄, intercept included."""
        if kappa_bar == 0:
            return float(self._n_features + intercept)
        step = 1e-4
        above, below = (self.degrees_of_freedom(kappa_bar * np.exp(sign * step)) for sign in (1, -1))
        return float(self.degrees_of_freedom(kappa_bar) + (above - below) / (2 * step) + intercept)


def fit_tail(spectrum: FloatArray, n_features: int) -> SpectrumTail:
    """Fit the tail of a member that spans all samples, from the positive eigenvalues of its kernel in ascending order.

    >>> tail = fit_tail(np.arange(1.0, 21.0), 40)
    >>> round(tail.degrees_of_freedom(tail.edge), 6), round(tail.degrees_of_freedom(0.0), 6)
    (20.0, 40.0)
    """
    edge = 1 / float((1 / spectrum).sum())
    penalties = np.array([0.0] + [_penalty(spectrum, ratio * edge) for ratio in SPAN[1:]])
    shown = (spectrum / (spectrum + penalties[:, None])).sum(axis=1)
    ridges = SPAN * edge
    i = np.arange(1, n_features + 1)

    def misfit(parameters: FloatArray) -> FloatArray:
        slope, log_scale = parameters
        model = (1 / (1 + ridges[:, None] * i**slope * np.exp(-log_scale))).sum(axis=1)
        return np.asarray(np.log(model / shown))

    start = (1.0, float(np.log(edge * len(spectrum))))
    slope, log_scale = least_squares(misfit, start, bounds=([0.0, -np.inf], [8.0, np.inf])).x
    return SpectrumTail(edge, penalties, float(slope), float(np.exp(log_scale)), n_features, float(len(spectrum)))


def _penalty(spectrum: FloatArray, kappa_bar: float) -> float:
    """p with ``1/Σ 1/(d+p) = κ̄``, which lies below n κ̄."""
    return float(brentq(lambda p: (1 / (spectrum + p)).sum() - 1 / kappa_bar, 0.0, len(spectrum) * kappa_bar))

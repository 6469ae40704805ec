"""Beyond the pilot's reach: power-law tails of the spectrum and of the target's coefficients.

A member with more features than the pilot has rows shows effective ridges down to κ̄₀ = κ̄(n, 0) only. Below, three
things are continued, each from what the pilot shows between κ̄₀ and 30 κ̄₀:

- degrees of freedom: those of the spectrum ``s_i ∝ i^-a``, i = 1…N_r, fitted to the pilot's and made to pass through n
  at κ̄₀ and N_r at 0;
- variance: γ_rr n follows from the degrees of freedom, ``df + dlog``-derivative; correlations between members stay;
- bias: ``ζ² + b κ̄^u`` with the estimated label noise ζ², the error of a target whose coefficients fall like a power.

Exponents that fit the bias about as well as the best, and label noise within its interval, span the extra uncertainty.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, least_squares

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.jackknife import Jackknife
from subridge.forecasting.label_noise import LabelNoise
from subridge.forecasting.pilot import Pilot
from subridge.forecasting.transfer import WeightRule, transfer, weighted_error

_SPAN = np.geomspace(1.0, 30.0, 12)  # of κ̄/κ̄₀ in the fits
_EXPONENTS = np.arange(0.1, 2.01, 0.1)  # u: between a hardly falling bias and that of a target inside the spectrum
_AS_GOOD = 4.0  # times the least sum of squares: exponents that a pilot of this size cannot tell apart


@dataclass(frozen=True, eq=False)
class Tail:
    """Degrees of freedom of one member, intercept excluded, for effective ridges down to zero.

    Attributes
    ----------
    edge : float
        κ̄₀.
    penalties : ndarray, shape (12,)
        At which the pilot has the effective ridges ``_SPAN κ̄₀``.
    slope : float
        a of the fitted spectrum.
    """

    edge: float
    penalties: FloatArray
    slope: float
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


def fit_tail(spectrum: FloatArray, n_features: int) -> Tail:
    """Fit the tail of a member that spans all samples.

    Parameters
    ----------
    spectrum : ndarray, shape (ρ,)
        Positive eigenvalues of its kernel, ascending.
    n_features : int
        N_r > ρ.

    Returns
    -------
    Tail

    Examples
    --------
    >>> tail = fit_tail(np.arange(1.0, 21.0), 40)
    >>> round(tail.degrees_of_freedom(tail.edge), 6), round(tail.degrees_of_freedom(0.0), 6)
    (20.0, 40.0)
    """
    edge = 1 / float((1 / spectrum).sum())
    penalties = np.array([0.0] + [_penalty(spectrum, ratio * edge) for ratio in _SPAN[1:]])
    shown = (spectrum / (spectrum + penalties[:, None])).sum(axis=1)
    ridges = _SPAN * edge
    i = np.arange(1, n_features + 1)

    def misfit(parameters: FloatArray) -> FloatArray:
        slope, log_scale = parameters
        model = (1 / (1 + ridges[:, None] * i**slope * np.exp(-log_scale))).sum(axis=1)
        return np.asarray(np.log(model / shown))

    start = (1.0, float(np.log(edge * len(spectrum))))
    slope, log_scale = least_squares(misfit, start, bounds=([0.0, -np.inf], [8.0, np.inf])).x
    return Tail(edge, penalties, float(slope), float(np.exp(log_scale)), n_features, float(len(spectrum)))


def _penalty(spectrum: FloatArray, kappa_bar: float) -> float:
    """p with ``1/Σ 1/(d+p) = κ̄``, which lies below n κ̄."""
    return float(brentq(lambda p: (1 / (spectrum + p)).sum() - 1 / kappa_bar, 0.0, len(spectrum) * kappa_bar))


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """One size beyond reach.

    Attributes
    ----------
    error, lowest, highest : float
        At the best exponent, and over those that fit about as well.
    spread : Jackknife
        At the edge of reach, of one row.
    """

    error: float
    lowest: float
    highest: float
    spread: Jackknife


def extrapolate(
    pilot: Pilot,
    tails: dict[int, Tail],
    size: float,
    ridges: FloatArray,
    in_reach: BoolArray,
    penalties: FloatArray,
    weights_of: WeightRule,
    readout_noise: FloatArray,
    label_noise: LabelNoise,
) -> Extrapolation:
    """Forecast at a size that is beyond the reach of some members.

    Parameters
    ----------
    pilot : Pilot
    tails : dict
        Of the members out of reach, filled here and used again.
    size : float
        n′.
    ridges, in_reach, penalties : ndarray, shape (k,)
        λ_r; which members are in reach; the pilot penalties of those.
    weights_of, readout_noise
        As for `transfer`.
    label_noise : LabelNoise
        Where the bias ends.

    Returns
    -------
    Extrapolation
    """
    k, c0 = pilot.n_members, pilot.intercept
    table = np.broadcast_to(penalties, (len(_SPAN), k)).copy()
    below, variance = np.ones(k), np.full(k, np.nan)
    for r in np.flatnonzero(~in_reach):
        if r not in tails:
            tails[r] = fit_tail(pilot.factors[r].spectrum, int(pilot.subset_sizes[r]))
        kappa_bar = tails[r].effective_ridge(size, ridges[r] * pilot.subset_sizes[r], c0)
        table[:, r], below[r] = tails[r].penalties, kappa_bar / tails[r].edge
        variance[r] = tails[r].variance(kappa_bar, c0)
    shown = transfer(
        pilot, table, np.full(len(_SPAN), np.inf), weights_of=weights_of, readout_noise=np.zeros(k), with_spread=False
    )
    gamma_n = _continued(shown.occupied[0], variance)
    taken = gamma_n / size
    gain = np.where(taken < 1, 1 / np.where(taken < 1, 1 - taken, 1.0), np.inf)
    noise = np.where(np.eye(k) > 0, len(pilot.targets) * readout_noise**2, 0.0)
    # A pair whose members lie differently far below their edges is taken halfway.
    depth = np.sqrt(below[:, None] * below[None, :])
    moved = ~in_reach[:, None] | ~in_reach[None, :]
    at_edge = transfer(pilot, table[:1], np.array([np.inf]), weights_of=weights_of, readout_noise=readout_noise)
    assert at_edge.spread is not None
    tolerance = 0.25 * float(at_edge.spread.standard_error[0] / at_edge.error[0]) ** 2
    table_of = []
    for floor in (label_noise.variance, label_noise.lower, label_noise.upper):
        found = [_bias(shown.pairs, floor, exponent, depth, moved) for exponent in _EXPONENTS]
        pairs = (np.array([bias for bias, _ in found]) + noise) * gain
        errors = weighted_error(pairs, weights_of(pairs))
        misfits = np.array([misfit for _, misfit in found])
        # What fits about as well, or as badly as a pilot of this size may look, whatever the label noise.
        table_of.append((errors[np.argmin(misfits)], errors[misfits <= max(_AS_GOOD * misfits.min(), tolerance)]))
    error = float(table_of[0][0])
    admitted = np.concatenate([np.append(near, best) for best, near in table_of])
    # The influences at the edge, in proportion to the error there.
    scale = error / at_edge.error if np.isfinite(error) else np.ones(1)
    edge = at_edge.spread
    spread = Jackknife(edge.influence * scale[:, None], edge.shrink, edge.allowance * scale)
    return Extrapolation(error, float(admitted.min()), float(admitted.max()), spread)


def _continued(gamma_n: FloatArray, variance: FloatArray) -> FloatArray:
    """Pairs γ_rr′ n with new diagonals where given, at unchanged correlations."""
    diagonal = np.diagonal(gamma_n)
    stretch = np.where(np.isnan(variance), 1.0, np.sqrt(np.where(np.isnan(variance), 1.0, variance) / diagonal))
    return np.asarray(gamma_n * stretch[:, None] * stretch[None, :])


def _bias(
    shown: FloatArray, floor: float, exponent: float, depth: FloatArray, moved: BoolArray
) -> tuple[FloatArray, float]:
    """``ζ² + b m^u`` through the edge for every pair that moves, at its depth m; and how badly its shape fits."""
    above = shown - np.minimum(floor, shown[0])
    shape = above[0] * _SPAN[:, None, None] ** exponent
    misfit = ((above - shape) / shown)[:, moved]
    bias = np.where(moved, np.minimum(floor, shown[0]) + above[0] * depth**exponent, shown[0])
    return bias, float((misfit**2).mean())

"""Beyond the pilot's reach: power-law tails of the spectrum and of the target's coefficients.

Below the effective ridges that the pilot shows, three things are continued, each from what it shows between κ̄₀ and
30 κ̄₀:

- degrees of freedom, by the fitted spectrum of `spectrum_tail`;
- variance: γ_rr n follows from the degrees of freedom, ``df + dlog``-derivative; correlations between members stay;
- bias: ``ζ² + b κ̄^u`` with the estimated label noise ζ², the error of a target whose coefficients fall like a power.

Exponents that fit the bias about as well as the best, and label noise within its interval, span the extra uncertainty.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.beyond_reach.spectrum_tail import SPAN, SpectrumTail, fit_tail
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import MatchedRidges
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.transfer.transfer import transfer, transferred_pairs
from subridge.forecasting.transfer.variance import split_variance, variance_gain
from subridge.forecasting.uncertainty.jackknife import transfer_spread
from subridge.forecasting.uncertainty.spread import Spread
from subridge.model.moments import MemberMoments

_EXPONENTS = np.arange(0.1, 2.01, 0.1)  # u: between a hardly falling bias and that of a target inside the spectrum
_AS_GOOD = 4.0  # times the least sum of squares: exponents that a pilot of this size cannot tell apart


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """One size beyond reach."""

    error: float  # at the best exponent
    lowest: float  # over exponents that fit about as well
    highest: float
    readout: float  # what readout noise has of it
    spread: Spread  # at the edge of reach, of one row


class Extrapolator:
    """Forecasts of one ensemble at sizes beyond the reach of some members; the bias ends at the label noise."""

    def __init__(self, pilot: Pilot, ensemble: DrawnEnsemble, label_noise: LabelNoise) -> None:
        self._pilot, self._ensemble, self._noise = pilot, ensemble, label_noise
        self._tails: dict[int, SpectrumTail] = {}

    def at(self, wanted: MatchedRidges) -> Extrapolation:
        """Forecast at one size and one ridge per member, a table of one row."""
        pilot, ensemble, k = self._pilot, self._ensemble, self._pilot.n_members
        (size,), (in_reach,) = wanted.sizes, wanted.members_in_reach
        penalties = np.repeat(wanted.penalties, len(SPAN), axis=0)
        below, variance = np.ones(k), np.full(k, np.nan)
        for r in np.flatnonzero(~in_reach):
            tail = self._tail(int(r))
            kappa_bar = tail.effective_ridge(size, wanted.ridges[0, r] * pilot.subset_sizes[r], pilot.intercept)
            penalties[:, r], below[r] = tail.penalties, kappa_bar / tail.edge
            variance[r] = tail.variance(kappa_bar, pilot.intercept)
        shown, gamma_n = _limits(pilot, penalties)
        gain = variance_gain(_continued(gamma_n, variance) / size)
        noise = np.where(np.eye(k) > 0, pilot.n_targets * ensemble.readout_noise**2, 0.0)
        # A pair whose members lie differently far below their edges is taken halfway.
        depth = np.sqrt(below[:, None] * below[None, :])
        moved = ~in_reach[:, None] | ~in_reach[None, :]
        (edge,) = left_out(pilot, penalties[:1])
        at_edge = transfer(edge, np.array([np.inf]), ensemble)
        spread = transfer_spread(edge, at_edge)
        tolerance = 0.25 * float(spread.standard_error[0] / at_edge.error[0]) ** 2
        best, admitted, chosen = [], [], list[FloatArray]()
        for floor in (self._noise.variance, self._noise.lower, self._noise.upper):
            found = [_bias(shown, floor, exponent, depth, moved) for exponent in _EXPONENTS]
            moments = MemberMoments((np.array([bias for bias, _ in found]) + noise) * gain)
            weights = ensemble.aggregation.weights(moments)
            errors = moments.risk_of(weights)
            misfits = np.array([misfit for _, misfit in found])
            # What fits about as well, or as badly as a pilot of this size may look, whatever the label noise.
            best.append(float(errors[np.argmin(misfits)]))
            chosen.append(weights[np.argmin(misfits)])
            admitted += [best[-1], *errors[misfits <= max(_AS_GOOD * misfits.min(), tolerance)]]
        # The influences at the edge, in proportion to the error there.
        scale = best[0] / at_edge.error if np.isfinite(best[0]) else np.ones(1)
        readout = float((chosen[0] ** 2 * np.diagonal(np.where(noise > 0, noise * gain, 0.0))).sum())
        return Extrapolation(best[0], float(np.min(admitted)), float(np.max(admitted)), readout, spread.scaled(scale))

    def _tail(self, r: int) -> SpectrumTail:
        if r not in self._tails:
            self._tails[r] = fit_tail(self._pilot.members[r].spectrum, int(self._pilot.subset_sizes[r]))
        return self._tails[r]


def _limits(pilot: Pilot, penalties: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pairs ``B_rr′ + ζ²`` for n′ → ∞ at every penalty, shape (T, k, k), and γ_rr′ n at the first, shape (k, k)."""
    pairs, gamma_n = [], []
    for block in left_out(pilot, penalties):
        variance = split_variance(block, np.full(len(block.penalties), np.inf))
        pairs.append(transferred_pairs(block.pairs, variance))
        gamma_n.append(variance.gamma_n)
    return np.concatenate(pairs), gamma_n[0][0]


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
    shape = above[0] * SPAN[:, None, None] ** exponent
    misfit = ((above - shape) / shown)[:, moved]
    bias = np.where(moved, np.minimum(floor, shown[0]) + above[0] * depth**exponent, shown[0])
    return bias, float((misfit**2).mean())

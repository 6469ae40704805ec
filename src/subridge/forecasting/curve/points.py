"""Errors at a table of matched ridges: transfer and uncertainty, block by block so that they fit into memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.ensemble.aggregation import Mean
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import MatchedRidges
from subridge.forecasting.pilot.left_out import LeftOut, left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.rowwise import RowWise
from subridge.forecasting.transfer.cross_fitting import honest_error
from subridge.forecasting.transfer.transfer import Transfer, transfer, transferred_pairs
from subridge.forecasting.uncertainty.jackknife import transfer_spread
from subridge.forecasting.uncertainty.spread import Spread

# Share of a forecast fall that is believed where few rows dominate the pilot, chosen on the development sets of
# benchmarks/tournament; where none do all of it is.
_BELIEVED = 0.85
_EQUAL = Mean()


@dataclass(frozen=True, eq=False)
class Points(RowWise):
    """Forecasts at T sizes and ridges."""

    error: FloatArray  # prediction error, shape (T,)
    present: FloatArray  # leave-one-out error at the pilot's size with the same ridges and weights, shape (T,)
    steadiness: FloatArray  # in [0, 1], 0 where few rows dominate, shape (T,)
    weights: FloatArray  # of the members, shape (T, k)
    spread: Spread  # of the error over pilots


def point_errors(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> FloatArray:
    """Prediction errors alone, at a quarter of the cost of `points`; shape (T,)."""
    errors, transfers = [], []
    for block, moved in _transferred(pilot, ensemble, wanted):
        errors.append(honest_error(block, moved, ensemble))
        transfers.append(moved)
    error, (weights, steadiness) = np.concatenate(errors), _of_blocks(transfers)
    return tempered(error, present_errors(pilot, ensemble, wanted.ridges, weights), steadiness, _grown(pilot, wanted))


def points(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> Points:
    """Prediction errors, what they are at present, the weights of members, and the spread over pilots."""
    errors, spreads, transfers = [], [], []
    for block, moved in _transferred(pilot, ensemble, wanted):
        errors.append(honest_error(block, moved, ensemble))
        spreads.append(transfer_spread(block, moved))
        transfers.append(moved)
    error, spread, (weights, steadiness) = np.concatenate(errors), Spread.joined(spreads), _of_blocks(transfers)
    present = present_errors(pilot, ensemble, wanted.ridges, weights)
    settled = tempered(error, present, steadiness, _grown(pilot, wanted))
    usable = np.isfinite(error) & (error > 0)
    factor = np.where(usable, settled / np.where(usable, error, 1.0), 1.0)
    return Points(settled, present, steadiness, weights, spread.scaled(factor))


def tempered(error: FloatArray, present: FloatArray, steadiness: FloatArray, grown: BoolArray) -> FloatArray:
    """Forecast errors, nearer to the present ones where few rows dominate; all of shape (T,).

    Such a pilot shows a fall of the error that is too large, and a rise that is noise.
    """
    usable = grown & np.isfinite(error) & (error > 0) & (present > 0)
    change = np.log(np.where(usable, error, 1.0) / np.where(usable, present, 1.0))
    share = np.where(change < 0, _BELIEVED + (1 - _BELIEVED) * steadiness, steadiness)
    return np.where(usable, present * np.exp(np.where(usable, share * change, 0.0)), error)


def present_errors(pilot: Pilot, ensemble: DrawnEnsemble, ridges: FloatArray, weights: FloatArray) -> FloatArray:
    """Leave-one-out errors at the pilot's own size of ridges and weights, each (T, k); shape (T,)."""
    distinct, place = np.unique(ridges, axis=0, return_inverse=True)
    equal = replace(ensemble, aggregation=_EQUAL)
    pairs = np.concatenate(
        [
            transferred_pairs(block.pairs, moved.variance) + moved.readout_pairs
            for block in left_out(pilot, distinct * pilot.subset_sizes)
            for moved in [transfer(block, np.full(len(block.penalties), float(pilot.n_samples)), equal)]
        ]
    )
    shared = pairs[place.reshape(-1)]
    products = weights[:, :, None] * weights[:, None, :]
    return np.asarray((np.where(products != 0, shared, 0.0) * products).sum(axis=(1, 2)))


def _grown(pilot: Pilot, wanted: MatchedRidges) -> BoolArray:
    return np.asarray(wanted.sizes > pilot.n_samples)


def _of_blocks(moved: list[Transfer]) -> tuple[FloatArray, FloatArray]:
    return (
        np.concatenate([each.weights for each in moved]),
        np.concatenate([each.variance.steadiness for each in moved]),
    )


def _transferred(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> Iterator[tuple[LeftOut, Transfer]]:
    for block in left_out(pilot, wanted.penalties):
        yield block, transfer(block, wanted.sizes[block.rows], ensemble)

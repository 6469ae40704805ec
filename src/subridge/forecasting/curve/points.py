"""Errors at a table of matched ridges: transfer and uncertainty, block by block so that they fit into memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import MatchedRidges
from subridge.forecasting.pilot.left_out import LeftOut, left_out, row_errors
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.rowwise import RowWise
from subridge.forecasting.transfer.transfer import Transfer, transfer
from subridge.forecasting.uncertainty.jackknife import transfer_spread
from subridge.forecasting.uncertainty.spread import Spread

_TABLE = 5_000_000  # entries of the largest table of errors held at once


@dataclass(frozen=True, eq=False)
class Points(RowWise):
    """Forecasts at T sizes and ridges."""

    error: FloatArray  # prediction error, shape (T,)
    readout: FloatArray  # what readout noise, which no pilot shows and which is known, has of it, shape (T,)
    present: FloatArray  # leave-one-out error at the pilot's size with the same ridges and weights, shape (T,)
    steadiness: FloatArray  # in [0, 1], 0 where few rows dominate, shape (T,)
    weights: FloatArray  # of the members, shape (T, k)


def point_errors(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> Points:
    """Prediction errors alone, at a quarter of the cost of `points`."""
    return _settled(pilot, wanted, [moved for _, moved in _transferred(pilot, ensemble, wanted)])


def points(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> tuple[Points, Spread]:
    """Prediction errors, what they are at present, the weights of members, and the spread over pilots."""
    spreads, transfers = [], []
    for block, moved in _transferred(pilot, ensemble, wanted):
        spreads.append(transfer_spread(block, moved))
        transfers.append(moved)
    found = _settled(pilot, wanted, transfers)
    plain = np.concatenate([moved.error for moved in transfers]) - found.readout
    settled = found.error - found.readout
    usable = np.isfinite(plain) & (plain > 0)
    factor = np.where(usable, settled / np.where(usable, plain, 1.0), 1.0)
    return found, Spread.joined(spreads).scaled(factor)


def _settled(pilot: Pilot, wanted: MatchedRidges, moved: list[Transfer]) -> Points:
    each_part = ((each.error, each.weights, each.variance.steadiness, each.readout) for each in moved)
    error, weights, steadiness, readout = (np.concatenate(parts) for parts in zip(*each_part, strict=True))
    present = shown_errors(pilot, wanted.ridges, weights)
    settled = tempered(error - readout, present, steadiness, np.asarray(wanted.sizes > pilot.n_samples))
    return Points(settled + readout, readout, present, steadiness, weights)


def tempered(error: FloatArray, present: FloatArray, steadiness: FloatArray, grown: BoolArray) -> FloatArray:
    """Forecast errors, of which a rise is believed as far as no few rows dominate; all of shape (T,).

    A pilot in which few rows dominate shows rises that are noise.
    """
    usable = grown & np.isfinite(error) & (error > 0) & (present > 0)
    rise = np.log(np.where(usable, error, 1.0) / np.where(usable, present, 1.0))
    return np.where(usable & (rise > 0), present * np.exp(np.where(usable, steadiness * rise, 0.0)), error)


def shown_errors(pilot: Pilot, ridges: FloatArray, weights: FloatArray) -> FloatArray:
    """Leave-one-out errors at the pilot's size, without readout noise; ridges and weights (T, k), result (T,)."""
    both = np.concatenate([ridges, weights], axis=1)
    distinct, place = np.unique(both, axis=0, return_inverse=True)
    k, block = pilot.n_members, max(1, _TABLE // pilot.targets.size)
    errors = [
        row_errors(pilot, part[:, :k], part[:, k:]).mean(axis=1)
        for part in (distinct[start : start + block] for start in range(0, len(distinct), block))
    ]
    return np.asarray(np.concatenate(errors)[place.reshape(-1)])


def _transferred(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> Iterator[tuple[LeftOut, Transfer]]:
    for block in left_out(pilot, wanted.penalties):
        yield block, transfer(block, wanted.sizes[block.rows], ensemble)

"""Errors at a table of matched ridges: transfer and uncertainty, block by block so that they fit into memory."""

from collections.abc import Iterator

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching import MatchedRidges
from subridge.forecasting.pilot.left_out import LeftOut, left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.transfer.cross_fitting import honest_error
from subridge.forecasting.transfer.transfer import Transfer, transfer
from subridge.forecasting.uncertainty.jackknife import transfer_spread
from subridge.forecasting.uncertainty.spread import Spread


def point_errors(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> FloatArray:
    """Prediction errors alone, at a quarter of the cost of `points`; shape (T,)."""
    return np.concatenate([honest_error(*moved, ensemble) for moved in _transferred(pilot, ensemble, wanted)])


def points(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> tuple[FloatArray, FloatArray, Spread]:
    """Prediction errors (T,), the weights of members (T, k), and the spread of the errors over pilots."""
    errors, weights, spreads = [], [], []
    for block, moved in _transferred(pilot, ensemble, wanted):
        errors.append(honest_error(block, moved, ensemble))
        weights.append(moved.weights)
        spreads.append(transfer_spread(block, moved))
    return np.concatenate(errors), np.concatenate(weights), Spread.joined(spreads)


def _transferred(pilot: Pilot, ensemble: DrawnEnsemble, wanted: MatchedRidges) -> Iterator[tuple[LeftOut, Transfer]]:
    for block in left_out(pilot, wanted.penalties):
        yield block, transfer(block, wanted.sizes[block.rows], ensemble)

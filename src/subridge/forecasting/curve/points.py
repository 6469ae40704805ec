"""Errors at a table of matched ridges: transfer and uncertainty, block by block."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.matching.match import MatchedRidges
from subridge.forecasting.pilot.left_out import LeftOut, left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.transfer.cross_fitting import honest_error
from subridge.forecasting.transfer.transfer import Transfer, transfer
from subridge.forecasting.uncertainty.spread import Spread
from subridge.forecasting.uncertainty.transfer_spread import transfer_spread


@dataclass(frozen=True, eq=False)
class Points:
    """T forecasts of one ensemble in reach.

    Attributes
    ----------
    error : ndarray, shape (T,)
    weights : ndarray, shape (T, k)
    spread : Spread
    """

    error: FloatArray
    weights: FloatArray
    spread: Spread


def point_errors(pilot: Pilot, ensemble: DrawnEnsemble, matched: MatchedRidges) -> FloatArray:
    """Errors alone, at a quarter of the cost of `points`; shape (T,)."""
    blocks = _transferred(pilot, ensemble, matched)
    return np.concatenate([honest_error(block, moved, ensemble) for block, moved in blocks])


def points(pilot: Pilot, ensemble: DrawnEnsemble, matched: MatchedRidges) -> Points:
    """Errors with their uncertainty."""
    errors, weights, spreads = [], [], []
    for block, moved in _transferred(pilot, ensemble, matched):
        errors.append(honest_error(block, moved, ensemble))
        weights.append(moved.weights)
        spreads.append(transfer_spread(block, moved))
    return Points(np.concatenate(errors), np.concatenate(weights), Spread.joined(spreads))


def _transferred(pilot: Pilot, ensemble: DrawnEnsemble, matched: MatchedRidges) -> Iterator[tuple[LeftOut, Transfer]]:
    for block in left_out(pilot, matched.penalties):
        yield block, transfer(block, matched.sizes[block.rows], ensemble)

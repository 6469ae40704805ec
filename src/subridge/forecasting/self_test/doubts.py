"""What the pilot's errors say against a forecast from it: rows that dominate, and rows in an order that matters."""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.model.errors import SubridgeWarning
from subridge.ridge.rows.dependence import correlated_rows
from subridge.ridge.rows.diagnostics import dominant_rows
from subridge.ridge.rows.training import TrainingRows

_LEVERAGE = 0.9


def doubts(
    rows: TrainingRows, pilot: Pilot, ridges: FloatArray, weights: FloatArray, steadiness: float
) -> list[SubridgeWarning]:
    """Warnings for one ensemble at ridges and weights of shape (k,); its steadiness is that of the forecast."""
    (block,) = left_out(pilot, ridges[None] * pilot.subset_sizes)
    leverages, found = block.leverages(), list[SubridgeWarning]()
    top = float(leverages.max())
    if top > _LEVERAGE and float(np.median(leverages)) < 0.5 * top and steadiness < 0.5:
        found.append(dominant_rows(top))
    in_order = correlated_rows(np.einsum("k,kcn->cn", weights, block.errors[0]), rows)
    return found if in_order is None else [*found, in_order]

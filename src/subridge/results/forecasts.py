"""The schema of forecasts: what ensembles will err at other sample sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import xarray as xr

from subridge.arrays.types import BoolArray, FloatArray, Json
from subridge.results.schemas import result_attributes


@dataclass(frozen=True, eq=False)
class EnsembleForecast:
    """The forecast of one ensemble at S sizes."""

    aggregation: str
    variables: Mapping[str, FloatArray | BoolArray]  # metrics, their bounds and flags by name, shape (S,)
    ridges: FloatArray  # shape (S, k)
    reach: FloatArray  # the largest size in reach of each member, shape (k,)
    irreducible_error: float


def forecasts(
    entries: Mapping[str, EnsembleForecast],
    n_samples: FloatArray,
    labels: Mapping[str, str],
    attributes: dict[str, Json],
) -> xr.Dataset:
    """Put the forecasts of several ensembles, which have the same variables, side by side.

    `labels` are names for axes of pictures, by variable. The dataset has the variables (ensemble, n_samples);
    ``ridge``, NaN where members differ in theirs; ``reach`` (ensemble, member); ``irreducible_error`` (ensemble); and
    the coordinate ``aggregation`` (ensemble).
    """
    rows, plane = list(entries.values()), ("ensemble", "n_samples")
    reaches = [row.reach for row in rows]  # NaN beyond the last member
    variables = {
        name: (
            plane,
            np.stack([row.variables[name] for row in rows]),
            {"long_name": labels[name]} if name in labels else {},
        )
        for name in rows[0].variables
    }
    tables = {
        "ridge": (plane, np.stack([_common(row.ridges) for row in rows])),
        "reach": (("ensemble", "member"), np.array(list(zip_longest(*reaches, fillvalue=np.nan))).T),
        "irreducible_error": ("ensemble", np.array([row.irreducible_error for row in rows])),
    }
    return xr.Dataset(
        {**variables, **tables},
        {
            "ensemble": list(entries),
            "n_samples": n_samples.astype(np.int64) if np.isfinite(n_samples).all() else n_samples,
            "aggregation": ("ensemble", [row.aggregation for row in rows]),
        },
        result_attributes("forecast", 1, "Errors of ridge ensembles at other sample sizes.", **attributes),
    )


def _common(ridges: FloatArray) -> FloatArray:
    """The members' ridge where they share it, else NaN; shape (S, k) to (S,)."""
    return np.where((ridges == ridges[:, :1]).all(axis=1), ridges[:, 0], np.nan)

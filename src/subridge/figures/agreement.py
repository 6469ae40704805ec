"""Theory beside experiment, as a figure keeps it: points with error bars, and a line for the report's table."""

import json
from typing import Any

import xarray as xr

_KEPT = ("mean", "standard_error", "z", "allowance", "agrees", "near_threshold")


def experiment_points(report: xr.Dataset) -> xr.Dataset:
    """What a figure keeps of a comparison: the points, their errors, and the theory at them."""
    points = report[list(_KEPT)].assign(theory_at_points=report.theory)
    # Flags as small integers: netCDF 3 has no booleans.
    points["agrees"] = points.agrees.astype("int8")
    points["near_threshold"] = points.near_threshold.astype("int8")
    points.attrs = {}
    return points


def agreement_row(name: str, report: xr.Dataset) -> dict[str, Any]:
    """One line of the agreement table, from the result of ``subridge.compare``."""
    judged = ~report.near_threshold.broadcast_like(report["mean"]).astype(bool)
    precision = (report.standard_error / abs(report["mean"])).where(judged)
    return {
        "name": name,
        "judged": report.attrs["n_judged"],
        "outside": report.attrs["n_outside"],
        "at_threshold": int((~judged).sum()),
        "largest_deviation": report.attrs["largest_deviation"],
        "largest_deviation_at": json.loads(report.attrs["largest_deviation_at"]),
        "median_relative_standard_error": float(precision.median()),
        "verdict": report.attrs["verdict"],
    }

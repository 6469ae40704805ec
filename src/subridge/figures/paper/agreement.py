"""Theory beside experiment, as a figure keeps it: points with error bars, and a line for the report's table."""

import json
from collections.abc import Sequence
from typing import TypedDict

import xarray as xr

_KEPT = ("mean", "standard_error", "z", "allowance", "agrees", "near_threshold")


class AgreementRow(TypedDict):
    """One line of the table of agreement."""

    name: str
    judged: int
    outside: int
    at_threshold: int
    largest_deviation: float
    largest_deviation_at: dict[str, float]
    median_relative_standard_error: float
    verdict: str


def experiment_points(report: xr.Dataset) -> xr.Dataset:
    """What a figure keeps of a comparison: the points, their errors, and the theory at them."""
    points = report[list(_KEPT)].assign(theory_at_points=report.theory)
    # Flags as small integers: netCDF 3 has no booleans.
    points["agrees"] = points.agrees.astype("int8")
    points["near_threshold"] = points.near_threshold.astype("int8")
    points.attrs = {}
    return points


def agreement_row(name: str, report: xr.Dataset) -> AgreementRow:
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


def agreement_rows(figures: Sequence[xr.Dataset]) -> list[AgreementRow]:
    """The lines that reproduced figures hold in their attributes."""
    return [row for data in figures for row in json.loads(data.attrs["agreement"])]

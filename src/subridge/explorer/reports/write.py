"""A result as a page."""

from collections.abc import Callable
from pathlib import Path

import xarray as xr

from subridge.explorer.page import render
from subridge.explorer.reports.curves import phase_report, predicted_report, simulated_report
from subridge.explorer.reports.forecasts import advice_report, forecast_report
from subridge.explorer.reports.parts import Report
from subridge.explorer.reports.theory_and_trials import demo_report
from subridge.model.errors import ParameterError
from subridge.results.files import whole_file

SCRIPTS = ("colours.js", "plot.js", "export.js", "report.js")

_REPORTS: dict[str, Callable[[xr.Dataset], Report]] = {
    "forecast": forecast_report,
    "advice": advice_report,
    "learning_curves": predicted_report,
    "simulated_curves": simulated_report,
    "phase_diagram": phase_report,
    "demo": demo_report,
}


def write_report(dataset: xr.Dataset, place: Path, command: str) -> None:
    """Write a result as a page that needs nothing else: a picture to hover over, a table, settings and sentences.

    Parameters
    ----------
    dataset : xarray.Dataset
        From ``sr.forecast``, ``sr.phase_diagram``, ...; its schema decides.
    place : Path
    command : str
        What repeats it.

    Raises
    ------
    ParameterError
        There is no page for such results.
    """
    schema = str(dataset.attrs.get("schema", ""))
    if schema not in _REPORTS:
        raise ParameterError(f"there is no page for results of the kind {schema!r}; write .nc, .csv or .json")
    report = _REPORTS[schema](dataset)
    page = render(
        "report.html",
        SCRIPTS,
        title=report.title,
        sentences=list(report.sentences),
        panels=[panel.as_json() for panel in report.panels],
        columns=list(report.columns),
        rows=[list(row) for row in report.rows],
        settings=dict(report.settings),
        command=command,
    )
    with whole_file(place) as beside:
        beside.write_text(page, encoding="utf-8")

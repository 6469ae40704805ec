"""One page about remade figures: pictures, curves to hover over, settings, agreement, errata, versions, timing."""

import base64
import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import xarray as xr

from subridge import __version__
from subridge.arrays.types import Json
from subridge.explorer.page import render
from subridge.explorer.reports.figure_panels import figure_panels
from subridge.figures.paper.agreement import agreement_rows
from subridge.results.files import whole_file

_SCRIPTS = ("colours.js", "plot.js", "export.js", "report.js")
_LIBRARIES = ("numpy", "scipy", "xarray", "matplotlib")


def write_figures(
    datasets: Sequence[xr.Dataset], place: Path, folder: Path, failures: Sequence[tuple[str, str]] = ()
) -> None:
    """Write a page on figures as `reproduce` returns them.

    Parameters
    ----------
    datasets : sequence of xarray.Dataset
    place : Path
        The page.
    folder : Path
        Where their pictures are.
    failures : sequence of pairs of str
        Figures that could not be made, and why.
    """
    panels: list[Json] = []
    entries = []
    for data in datasets:
        made = [panel.as_json() for panel in figure_panels(data)]
        numbered = [{"number": len(panels) + i, "title": panel["title"]} for i, panel in enumerate(made)]
        panels.extend(made)
        entries.append(_entry(data, folder) | {"panels": numbered})
    text = render(
        "figures.html",
        _SCRIPTS,
        agreement=json.loads(json.dumps(agreement_rows(datasets))),
        figures=entries,
        failures=[list(pair) for pair in failures],
        panels=panels,
        versions={"python": platform.python_version(), "subridge": __version__}
        | {name: version(name) for name in _LIBRARIES},
    )
    with whole_file(place) as beside:
        beside.write_text(text, encoding="utf-8")


def _entry(data: xr.Dataset, folder: Path) -> dict[str, Json]:
    """What the page says about one figure: its attributes, those that are lists unpacked, and its picture."""
    entry = {str(name): value for name, value in data.attrs.items()}
    entry |= {name: json.loads(entry[name]) for name in ("notes", "errata")}
    settings = json.loads(entry["settings"])
    entry["settings"] = {name: json.dumps(value) for name, value in settings.items() if name != "type"}
    # As an image, not inline: pictures would share the names of their clip paths.
    picture = (folder / f"{entry['figure']}.svg").read_bytes()
    return entry | {"picture": base64.b64encode(picture).decode("ascii")}

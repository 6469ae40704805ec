"""A page from a template, with its styles and scripts, and a policy that forbids other scripts."""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from subridge import __version__
from subridge.arrays.types import Json
from subridge.results.files import whole_file

REPORT_SCRIPTS = ("colours.js", "plot.js", "export.js", "report.js")
_EXPLORER_SCRIPTS = (
    "formulas.js",
    "theory.js",
    "ensemble_size.js",
    "draws.js",
    "colours.js",
    "state.js",
    "curves.js",
    "runs.js",
    "plot.js",
    "export.js",
    "python.js",
    "curves_view.js",
    "phase.js",
    "matrix.js",
    "app.js",
)


def write_explorer(place: Path) -> None:
    """Write the explorer, one HTML file that needs nothing else.

    Parameters
    ----------
    place : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_explorer(Path(folder) / "explorer.html")
    ...     (Path(folder) / "explorer.html").stat().st_size < 5_000_000
    True
    """
    write_page(
        place,
        "explorer.html",
        _EXPLORER_SCRIPTS,
        presets=asset("tour.json") | asset("presets.json"),
        runs=asset("runs.json"),
    )


def asset(name: str) -> Any:
    """Contents of a JSON file: steps of the tour, settings for each figure of the paper, or trained runs.

    Settings have the names that they have in the address of the page. Figures that train classifiers on images, or need
    another covariance, have the nearest settings for which Prop. 2 holds, and a note says so.

    >>> asset("presets.json")["fig1b"]["state"]["correlation"]
    0.4
    """
    return json.loads(_text(name))


def write_page(place: Path, template: str, scripts: Sequence[str], **values: Json) -> None:
    """Fill a template and write it; the file appears complete or not at all. See `render` for the parameters."""
    with whole_file(place) as beside:
        beside.write_text(render(template, scripts, **values), encoding="utf-8")


def render(template: str, scripts: Sequence[str], **values: Json) -> str:
    """Fill a template. Values are escaped, but not the scripts and styles of the page.

    Parameters
    ----------
    template : str
        Name of a file in ``assets``.
    scripts : sequence of str
        Names of files in ``assets``, in the order of the page; the plotting library comes before them.
    **values
        The variables of the template.

    Returns
    -------
    str
        The page.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}  # presets stay in the order of the paper
    licence = _text("uplot/LICENSE").replace("*/", "")
    library = _text("uplot/uPlot.iife.min.js")
    own = "\n".join(map(_text, scripts))  # the files share one scope
    script = f'\n/* uPlot:\n{licence}*/\n{library}\n(() => {{\n"use strict";\n{own}\n}})();\n'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return environment.from_string(_text(template)).render(
        # Only this script may run, pictures come from the page itself, and nothing may be fetched.
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:",
        script=Markup(script),
        style=Markup("\n".join(map(_text, ("uplot/uPlot.min.css", "look.css")))),
        version=__version__,
        **values,
    )


def _text(name: str) -> str:
    return files("subridge.explorer").joinpath("assets", name).read_text(encoding="utf-8")

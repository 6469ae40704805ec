"""A page from its template: styles and scripts inside, and a policy that lets nothing else run."""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

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
    from subridge.explorer.presets import presets  # needs every figure of the paper; reports do not

    tour, runs = json.loads(_text("tour.json")), json.loads(_text("runs.json"))
    write_page(place, "explorer.html", _EXPLORER_SCRIPTS, presets=tour | presets(), runs=runs)


def write_page(place: Path, template: str, scripts: Sequence[str], **values: Json) -> None:
    """Fill a template and write it; the file appears complete or not at all. Parameters are those of `render`."""
    text = render(template, scripts, **values)
    with whole_file(place) as beside:
        beside.write_text(text, encoding="utf-8")


def render(template: str, scripts: Sequence[str], **values: Json) -> str:
    """Fill a template; every value is escaped, the page's own scripts and styles are not.

    Parameters
    ----------
    template : str
        Name of a file in ``assets``.
    scripts : sequence of str
        Names of files in ``assets``, in the order in which they are needed; the plotting library comes first.
    **values
        What the template asks for.

    Returns
    -------
    str
        The page.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}  # presets stay in the order of the paper
    licence, library = _text("uplot/LICENSE").replace("*/", ""), _text("uplot/uPlot.iife.min.js")
    own = "\n".join(map(_text, scripts))  # the files share a scope of their own
    script = f'\n/* uPlot:\n{licence}*/\n{library}\n(() => {{\n"use strict";\n{own}\n}})();\n'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return environment.from_string(_text(template)).render(
        # Only this script runs, pictures are made here, and nothing is fetched.
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:",
        script=Markup(script),
        style=Markup("\n".join(map(_text, ("uplot/uPlot.min.css", "look.css")))),
        version=__version__,
        **values,
    )


def _text(name: str) -> str:
    return files("subridge.explorer").joinpath("assets", name).read_text(encoding="utf-8")

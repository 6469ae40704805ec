"""A page from its template: styles and scripts inside, and a policy that lets nothing else run."""

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from subridge import __version__
from subridge.arrays.types import Json

_ASSETS = files("subridge.explorer").joinpath("assets")
_PLOTTING = ("uplot/uPlot.iife.min.js",)
_STYLES = ("uplot/uPlot.min.css", "look.css")


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
    script = _script(scripts)
    return environment.from_string(_text(template)).render(
        policy=_policy(script),
        script=Markup(script),
        style=Markup("\n".join(map(_text, _STYLES))),
        version=__version__,
        **values,
    )


def _text(name: str) -> str:
    return _ASSETS.joinpath(name).read_text(encoding="utf-8")


def _script(names: Sequence[str]) -> str:
    """One script of many files; the files share a scope of their own."""
    licence = _text("uplot/LICENSE").replace("*/", "")
    library = "\n".join(map(_text, _PLOTTING))
    own = "\n".join(map(_text, names))
    return f'\n/* uPlot:\n{licence}*/\n{library}\n(() => {{\n"use strict";\n{own}\n}})();\n'


def _policy(script: str) -> str:
    """Only this script runs, pictures are made here, and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:"

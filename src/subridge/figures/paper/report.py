"""One self-contained page about a run: figures, settings, agreement, what captions get wrong, versions, timing.

What the page looks like is in ``report.html``, a jinja2 template that escapes everything it is given.
"""

import base64
import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import xarray as xr
from jinja2 import Environment, StrictUndefined

from subridge import __version__
from subridge.arrays.types import Json
from subridge.figures.paper.agreement import agreement_rows

_LIBRARIES = ("numpy", "scipy", "xarray", "matplotlib")


def write_report(datasets: Sequence[xr.Dataset], folder: Path, failures: Sequence[tuple[str, str]] = ()) -> Path:
    """Write ``report.html`` on figures as `reproduce` returns them and return its path.

    Pictures are read from the folder; `failures` are pairs of a figure that could not be made and the message.
    """
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = files("subridge.figures.paper").joinpath("report.html").read_text(encoding="utf-8")
    text = page.from_string(template).render(
        agreement=agreement_rows(datasets),
        figures=[_entry(data, folder) for data in datasets],
        failures=failures,
        versions={"python": platform.python_version(), "subridge": __version__}
        | {name: version(name) for name in _LIBRARIES},
    )
    place = folder / "report.html"
    place.write_text(text, encoding="utf-8")
    return place


def _entry(data: xr.Dataset, folder: Path) -> dict[str, Json]:
    """What the page says about one figure: its attributes, those that are lists unpacked, and its picture."""
    entry = {str(name): value for name, value in data.attrs.items()}
    entry |= {name: json.loads(entry[name]) for name in ("notes", "errata")}
    settings = json.loads(entry["settings"])
    entry["settings"] = {name: json.dumps(value) for name, value in settings.items() if name != "type"}
    # As an image, not inline: pictures would share the names of their clip paths.
    picture = (folder / f"{entry['figure']}.svg").read_bytes()
    return entry | {"picture": base64.b64encode(picture).decode("ascii")}

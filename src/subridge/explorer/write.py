"""The explorer, written to a file."""

from pathlib import Path

from subridge.explorer.page import render
from subridge.explorer.presets import presets
from subridge.results.files import whole_file

_SCRIPTS = (
    "formulas.js",
    "theory.js",
    "ensemble_size.js",
    "draws.js",
    "colours.js",
    "state.js",
    "curves.js",
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
    page = render("explorer.html", _SCRIPTS, presets=presets())
    with whole_file(place) as beside:
        beside.write_text(page, encoding="utf-8")

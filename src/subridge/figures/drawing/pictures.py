"""Figures as picture files."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from subridge import __version__
from subridge.figures.drawing.style import journal
from subridge.results.files import whole_file


def write_pictures(figure: Figure, places: Sequence[Path], command: str = "") -> None:
    """Write a figure under every name, as ``.png``, ``.svg`` or ``.pdf`` by its suffix.

    A picture appears whole or not at all. It carries the version and the command that made it, and no date: equal
    numbers give equal bytes.
    """
    maker = f"subridge {__version__}"
    metadata: dict[str, dict[str, str | None]] = {
        ".png": {"Software": maker, "Description": command},
        ".svg": {"Creator": maker, "Description": command, "Date": None},
        ".pdf": {"Creator": maker, "Subject": command, "CreationDate": None},
    }
    with journal():
        # Axes are placed once: the layout is half the work of a picture, and each file would do it again.
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
            figure.set_layout_engine("none")
        for place in places:
            with whole_file(place) as beside:
                figure.savefig(beside, metadata=metadata[place.suffix.lower()])

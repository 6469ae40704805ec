"""Suffixes of result files. Nothing heavy is imported, so that the command line answers at once."""

from pathlib import Path

from subridge.model.errors import ParameterError

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)
DATA = (".nc", ".csv", ".json")


def checked_suffix(place: Path, allowed: tuple[str, ...] = (*PICTURES, *PAGES, *DATA)) -> str:
    """The suffix of a file in lower case, if it is allowed; by default data, pictures and pages are.

    >>> checked_suffix(Path("curve.PNG"))
    '.png'
    """
    if place.suffix.lower() not in allowed:
        raise ParameterError(
            f"the name {place} must end in one of {', '.join(allowed)}; the suffix decides what is written"
        )
    return place.suffix.lower()

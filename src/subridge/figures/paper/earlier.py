"""Figures that earlier commands left in a folder."""

import json
from collections.abc import Collection
from pathlib import Path

import xarray as xr

from subridge.figures.paper.files import read_figure
from subridge.figures.paper.registry import figure_ids
from subridge.model.errors import StoreError

_TOLD = ("notes", "errata", "settings", "agreement")  # attributes that a page unpacks


def earlier_figures(folder: Path, made: Collection[str]) -> list[xr.Dataset]:
    """Whole figures in a folder other than those just made, in the order of the paper; what is none is passed over.

    >>> earlier_figures(Path("no such folder"), ())
    []
    """
    found = []
    for figure in figure_ids():
        if figure in made:
            continue
        try:
            dataset = read_figure(figure, folder)
            if dataset is None or dataset.attrs.get("figure") != figure:
                continue
            for name in _TOLD:
                json.loads(dataset.attrs[name])
        except (StoreError, KeyError, TypeError, ValueError):
            continue
        found.append(dataset)
    return found

"""Experiments of figures: a store for each part of one, and numbers that several figures share."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import xarray as xr

from subridge.figures.paper.recipe import FigureSettings
from subridge.simulation.run import Run

_MOST_KEPT = 6
_kept: dict[tuple[FigureSettings, str], xr.Dataset] = {}


def part_of(run: Run, name: str) -> Run:
    """The same run, with a folder of its own inside the run's store.

    >>> import subridge as sr
    >>> part_of(sr.Run(store="tasks"), "first").store.as_posix()
    'tasks/first'
    >>> part_of(sr.Run(), "first").store is None
    True
    """
    return run if run.store is None else replace(run, store=Path(run.store) / name)


def shared(settings: FigureSettings, run: Run, make: Callable[[], xr.Dataset]) -> xr.Dataset:
    """The numbers of an experiment that several figures show: computed for the first, kept for those that follow."""
    key = (settings, run.device)
    if key not in _kept:
        if len(_kept) == _MOST_KEPT:
            del _kept[next(iter(_kept))]  # the oldest
        _kept[key] = make()
    return _kept[key].copy()

"""A store for each simulation of a figure that has several."""

from dataclasses import replace
from pathlib import Path

from subridge.simulation.run import Run


def part_of(run: Run, name: str) -> Run:
    """The same run, with a folder of its own inside the run's store.

    Examples
    --------
    >>> import subridge as sr
    >>> part_of(sr.Run(store="tasks"), "first").store.as_posix()
    'tasks/first'
    >>> part_of(sr.Run(), "first").store is None
    True
    """
    return run if run.store is None else replace(run, store=Path(run.store) / name)

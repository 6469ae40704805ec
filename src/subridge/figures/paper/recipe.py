"""What a figure of the paper consists of, and what several figures share.

A figure is a `FigureRecipe`: settings that compute its numbers, a function that draws them, and what the caption and
the quick variant change.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from subridge.arrays.types import FloatArray, Json
from subridge.model.checks import Fingerprinted
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.results.compare import compare
from subridge.simulation.run import Run
from subridge.theory.predict import risk

Numbers: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class FigureSettings(Fingerprinted, ABC):
    """Settings of a figure; the defaults of the fields are those behind the published picture."""

    @property
    def experiment(self) -> "FigureSettings":
        """The settings that determine the numbers; figures that share them may differ in how they are drawn."""
        return self

    @abstractmethod
    def compute(self, run: Run) -> xr.Dataset:
        """The numbers behind the figure. The lists in the attributes ``agreement`` and ``notes`` go to the report."""


@dataclass(frozen=True, eq=False)
class FigureRecipe:
    """How to make one figure: `plot` draws the dataset that `settings` compute.

    `errata` are corrections of the published caption or text. `seconds` are the rough times of the full and the quick
    figure on two cores, from which a batch estimates its remaining time. `caption` and `quick` are the settings that
    differ in the published caption and in the quick variant.
    """

    title: str
    settings: FigureSettings
    plot: Callable[[xr.Dataset], Figure]
    errata: tuple[str, ...] = ()
    seconds: tuple[float, float] = (1.0, 1.0)
    quick: Mapping[str, Any] = field(default_factory=dict)
    caption: Mapping[str, Any] = field(default_factory=dict)


def axis(name: str, values: Iterable[str] | Iterable[float]) -> xr.DataArray:
    """A dimension along which datasets are put side by side."""
    return xr.DataArray(list(values), dims=name, name=name)


def sample_sizes(n_features: int, count: int, offset: int = 0) -> tuple[int, ...]:
    """The authors' training-set sizes: P = M/20, 2M/20, ..., M less an offset, the last always M.

    >>> sample_sizes(1000, 20, offset=5)[:2], sample_sizes(1000, 20, offset=5)[-2:]
    ((45, 95), (945, 1000))
    """
    sizes = (np.linspace(n_features / count, n_features, count) - offset).round().astype(int)
    return (*sizes[:-1].tolist(), n_features)


def log_sizes(low: int, high: int, count: int, extra: Sequence[int] = ()) -> tuple[int, ...]:
    """Training-set sizes that are evenly spaced on a logarithmic scale, and the `extra` ones.

    >>> log_sizes(100, 400, 3, [320])
    (100, 200, 320, 400)
    """
    return tuple(np.union1d(np.geomspace(low, high, count).round(), extra).astype(int).tolist())


def part_of(run: Run, name: str) -> Run:
    """The same run, with a folder of its own inside the run's store.

    >>> import subridge as sr
    >>> part_of(sr.Run(store="tasks"), "first").store.as_posix()
    'tasks/first'
    >>> part_of(sr.Run(), "first").store is None
    True
    """
    return run if run.store is None else replace(run, store=Path(run.store) / name)


_kept: dict[tuple[FigureSettings, str], xr.Dataset] = {}


def shared(settings: FigureSettings, run: Run, make: Callable[[], xr.Dataset]) -> xr.Dataset:
    """The numbers of an experiment that several figures show: computed for the first one, and kept for the others."""
    key = (settings.experiment, run.device)
    if key not in _kept:
        _kept[key] = make()
    return _kept[key].copy()


def theory_beside_trials(
    name: str,
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    points: FloatArray,
    trials: xr.Dataset,
    alpha: FloatArray,
    n_features: int | None = None,
) -> xr.Dataset:
    """Trials, their means and theory at `points`, and ``theory`` (ridge, sample_ratio) over `alpha`.

    The attribute ``agreement`` compares theory and trials under the given name.
    """
    report = compare(risk(problem, ensemble, points, n_features=n_features), trials)
    data = report[["mean", "standard_error", "z", "allowance"]].assign(
        theory=(("ridge", "sample_ratio"), risk(problem, ensemble, alpha, n_features=n_features).total),
        agrees=report.agrees.astype("int8"),  # netCDF 3 has no booleans
        near_threshold=report.near_threshold.astype("int8"),
        theory_at_points=report.theory,
        risk=trials.risk,
    )
    data.attrs = {"agreement": [agreement_row(name, report)]}
    return data.assign_coords(sample_ratio=alpha)


def agreement_row(name: str, report: xr.Dataset) -> dict[str, Json]:
    """One line of the report's table of agreement, from the result of ``subridge.compare``."""
    judged = ~report.near_threshold.broadcast_like(report["mean"]).astype(bool)
    precision = (report.standard_error / abs(report["mean"])).where(judged)
    return {
        "name": name,
        "judged": report.attrs["n_judged"],
        "outside": report.attrs["n_outside"],
        "at_threshold": int((~judged).sum()),
        "largest_deviation": report.attrs["largest_deviation"],
        "largest_deviation_at": json.loads(report.attrs["largest_deviation_at"]),
        "median_relative_standard_error": float(precision.median()),
        "verdict": report.attrs["verdict"],
    }

"""What a figure of the paper consists of: settings that compute its numbers, its picture, and its errata."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import xarray as xr
from matplotlib.figure import Figure

from subridge.model.fingerprint import Fingerprinted
from subridge.simulation.run import Run


@dataclass(frozen=True)
class FigureSettings(Fingerprinted, ABC):
    """Base of a figure's settings; the defaults of the fields are those behind the published picture."""

    @abstractmethod
    def compute(self, run: Run) -> xr.Dataset:
        """The numbers behind the figure. Attributes ``agreement`` and ``notes``, lists, go into the report."""

    def caption(self) -> Self:
        """Settings as the caption has them; the published ones where caption and picture agree."""
        return self

    def quick(self) -> Self:
        """Settings that take seconds: smaller and coarser, otherwise the same."""
        return self


@dataclass(frozen=True, eq=False)
class FigureRecipe:
    """How to make one figure: `plot` draws the dataset that `settings`, those behind the published picture, compute.

    `errata` say what the published caption or text gets wrong about it; `seconds` is the rough time on two cores, full
    and quick, from which the time left of a batch is told.
    """

    title: str
    settings: FigureSettings
    plot: Callable[[xr.Dataset], Figure]
    errata: tuple[str, ...] = ()
    seconds: tuple[float, float] = (1.0, 1.0)

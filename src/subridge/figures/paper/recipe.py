"""What a figure of the paper consists of: settings that compute its numbers, its picture, and its errata."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import xarray as xr
from matplotlib.figure import Figure

from subridge.simulation.run import Run
from subridge.spec.fingerprint import Fingerprinted


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
    """How to make one figure.

    Attributes
    ----------
    title : str
        What the figure shows, in a few words.
    settings : FigureSettings
        Those behind the published picture.
    plot : callable
        From the dataset that the settings compute to a `matplotlib.figure.Figure`.
    errata : tuple of str
        What the published caption or text gets wrong about this figure.
    seconds : tuple of float
        Rough time on two cores, full and quick, from which the time left of a batch is told.
    """

    title: str
    settings: FigureSettings
    plot: Callable[[xr.Dataset], Figure]
    errata: tuple[str, ...] = ()
    seconds: tuple[float, float] = (1.0, 1.0)

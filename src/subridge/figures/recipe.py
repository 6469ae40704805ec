"""What a figure of the paper consists of: settings, numbers, ink, and what its caption gets wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import xarray as xr
from matplotlib.figure import Figure

from subridge.simulation.run import Run
from subridge.spec.errors import ParameterError
from subridge.spec.fingerprint import Fingerprinted

VARIANTS = ("published", "caption")


@dataclass(frozen=True)
class Settings(Fingerprinted):
    """Base of a figure's settings; the defaults of the fields are those behind the published picture."""

    @classmethod
    def variant(cls, name: str) -> Self:
        """Return the settings called "published" or "caption"."""
        if name not in VARIANTS:
            raise ParameterError(f'settings must be "published" or "caption", got {name!r}')
        return cls() if name == "published" else cls.caption()

    @classmethod
    def caption(cls) -> Self:
        """Settings as the caption has them; the published ones where caption and picture agree."""
        return cls()

    def quick(self) -> Self:
        """Return settings that take seconds: smaller and coarser, otherwise the same."""
        return self


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to make one figure.

    Attributes
    ----------
    title : str
        What the figure shows, in a few words.
    settings : callable
        Variant name ("published", "caption") to a `Settings`.
    compute : callable
        ``(settings, run)`` to the `xarray.Dataset` behind the figure. Attributes ``agreement`` and ``notes``, lists, go
        into the report.
    draw : callable
        That dataset to a `matplotlib.figure.Figure`.
    errata : tuple of str
        What the published caption or text gets wrong about this figure.
    seconds : tuple of float
        Rough time on two cores, full and quick, from which the time left of a batch is told.
    """

    title: str
    settings: Callable[[str], Settings]
    compute: Callable[[Any, Run], xr.Dataset]
    draw: Callable[[xr.Dataset], Figure]
    errata: tuple[str, ...] = ()
    seconds: tuple[float, float] = (1.0, 1.0)

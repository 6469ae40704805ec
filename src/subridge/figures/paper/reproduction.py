"""One figure of the paper, remade."""

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import xarray as xr
from matplotlib.figure import Figure

from subridge import __version__
from subridge.figures.drawing.style import journal, note
from subridge.figures.paper.features import FeatureSettings
from subridge.figures.paper.quick import quick_note
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.figures.paper.registry import recipe_of
from subridge.model.errors import ParameterError
from subridge.model.fingerprint import describe, fingerprint
from subridge.results.schemas import result_attributes
from subridge.simulation.run import Run

VARIANTS = ("published", "caption")


class Reproduction(NamedTuple):
    """A figure and the numbers behind it; unpacks as a pair.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    dataset : xarray.Dataset
        Its numbers, and how they were made.

    See Also
    --------
    reproduce : makes one.

    Examples
    --------
    >>> import subridge as sr
    >>> found = sr.figures.reproduce("fig3b", quick=True)
    >>> isinstance(found, Reproduction), found.dataset.attrs["figure"]
    (True, 'fig3b')
    """

    figure: Figure
    dataset: xr.Dataset


def reproduce(
    figure: str, quick: bool = False, settings: str = "published", run: Run | None = None, data: str | None = None
) -> Reproduction:
    """Remake a figure of the paper.

    Parameters
    ----------
    figure : str
        "fig1a", "figS6", ...; see `figure_ids`.
    quick : bool
        Smaller and coarser, in seconds.
    settings : {"published", "caption"}
        Those behind the published picture, or those its caption names, where the two disagree.
    run : Run, optional
        Device, executor and store of the figure's experiments.
    data : {"bundled", "cifar10", "fashion"} or path, optional
        Features behind a classification figure; default the bundled set.

    Returns
    -------
    Reproduction
        ``figure``, a `matplotlib.figure.Figure`, and ``dataset``, an `xarray.Dataset` whose attributes hold settings,
        version, command, agreement of theory and experiment, and what the published caption gets wrong.

    Raises
    ------
    ParameterError
        If there is no such figure, or no such settings.

    See Also
    --------
    figure_ids : the figures there are
    subridge.compare : agreement of any theory with any experiment

    Examples
    --------
    >>> import subridge as sr
    >>> figure, dataset = sr.figures.reproduce("fig3b", quick=True)
    >>> dataset.density.dims
    ('fraction_spread', 'subset_fraction')
    """
    request = FigureRequest(figure, quick, settings, data)
    dataset = compute_figure(request, Run() if run is None else run)
    return Reproduction(plot_figure(dataset), dataset)


@dataclass(frozen=True)
class FigureRequest:
    """Which figure, and which of its settings; the parameters are those of `reproduce`."""

    figure: str
    quick: bool = False
    variant: str = "published"
    data: str | None = None

    @property
    def recipe(self) -> FigureRecipe:
        """The figure's recipe."""
        return recipe_of(self.figure)

    @property
    def settings(self) -> FigureSettings:
        """Settings of the figure, shrunk when quick, on the features chosen for figures that are made from some."""
        if self.variant not in VARIANTS:
            raise ParameterError(f'settings must be "published" or "caption", got {self.variant!r}')
        full = self.recipe.settings if self.variant == "published" else self.recipe.settings.caption()
        if self.data is not None and isinstance(full, FeatureSettings):
            full = replace(full, data=self.data)
        return full.quick() if self.quick else full

    @property
    def identity(self) -> str:
        """Digest of figure, settings and package version: equal digests, equal numbers."""
        return fingerprint((self.figure, __version__, self.settings.fingerprint()))

    @property
    def seconds(self) -> float:
        """Rough time it takes on two cores."""
        return self.recipe.seconds[int(self.quick)]

    def command(self, device: str) -> str:
        """The command line that makes this figure."""
        parts = ["subridge reproduce", self.figure]
        parts += ["--quick"] * self.quick
        parts += [f"--settings {self.variant}"] * (self.variant != "published")
        parts += [f"--data {self.data}"] * (self.data is not None)
        parts += [f"--device {device}"] * (device != "cpu")
        return " ".join(parts)


def compute_figure(request: FigureRequest, run: Run) -> xr.Dataset:
    """The numbers behind a figure, with their history as attributes; `reproduce` without the picture."""
    settings = request.settings
    start = time.perf_counter()
    dataset = settings.compute(run)
    dataset.attrs = result_attributes(
        "figure",
        1,
        request.recipe.title,
        figure=request.figure,
        variant=request.variant,
        quick=request.quick,
        settings=describe(settings),
        fingerprint=request.identity,
        command=request.command(run.device),
        device=run.device,
        errata=request.recipe.errata,
        agreement=dataset.attrs.get("agreement", []),
        notes=dataset.attrs.get("notes", []),
        quick_note=quick_note(settings, replace(request, quick=False).settings) if request.quick else "",
        seconds=time.perf_counter() - start,
    )
    return dataset


def plot_figure(dataset: xr.Dataset) -> Figure:
    """The picture of a computed figure; a quick one says on it that it is."""
    figure = recipe_of(str(dataset.attrs["figure"])).plot(dataset)
    told = str(dataset.attrs.get("quick_note", ""))
    if told:
        with journal():
            note(figure, told)
    return figure

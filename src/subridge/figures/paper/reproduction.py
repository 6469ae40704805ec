"""One figure of the paper, remade."""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import NoneType
from typing import NamedTuple

import xarray as xr
from matplotlib.figure import Figure

from subridge import __version__
from subridge.figures.drawing.style import note
from subridge.figures.paper.recipe import FigureSettings
from subridge.figures.paper.registry import recipe_of
from subridge.model.checks import describe, fingerprint, of_kind, one_of, truth
from subridge.model.errors import ParameterError, counted
from subridge.results.schemas import result_attributes
from subridge.simulation.run import Run, checked_run

VARIANTS = ("published", "caption")
# Settings that the note of a quick figure mentions if they are smaller than those of the full figure.
_COUNTS = {"n_features": "feature", "n_train": "training image", "n_trials": "trial", "n_draws": "draw"}


class Reproduction(NamedTuple):
    """A figure and the numbers behind it; unpacks as a pair.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    dataset : xarray.Dataset
        Its numbers, with attributes that say how they were made.

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
        Settings of the published picture, or of its caption, if the two disagree.
    run : Run, optional
        Device, executor and store of the figure's experiments.
    data : {"bundled", "cifar10", "fashion"} or path, optional
        Features of a classification figure; by default the bundled set.

    Returns
    -------
    Reproduction
        ``figure``, a `matplotlib.figure.Figure`, and ``dataset``, an `xarray.Dataset` whose attributes hold settings,
        version, command, agreement of theory and experiment, and errors of the published caption.

    Raises
    ------
    ParameterError
        If there is no such figure, or no such settings.

    See Also
    --------
    figure_ids : ids of all figures.
    subridge.compare : agreement of any theory with any experiment.

    Examples
    --------
    >>> import subridge as sr
    >>> figure, dataset = sr.figures.reproduce("fig3b", quick=True)
    >>> dataset.density.dims
    ('fraction_spread', 'subset_fraction')
    """
    if data is not None and not hasattr(recipe_of(figure).settings, "data"):
        raise ParameterError(
            f"{figure} is not a classification figure and uses no data, got data={data!r}; leave it out"
        )
    dataset = compute_figure(FigureRequest(figure, quick, settings, data), checked_run(run))
    return Reproduction(plot_figure(dataset), dataset)


@dataclass(frozen=True)
class FigureRequest:
    """Which figure, and which of its settings; the parameters are those of `reproduce`."""

    figure: str
    quick: bool = False
    variant: str = "published"
    data: str | None = None

    def __post_init__(self) -> None:
        truth("quick", self.quick)
        one_of("settings", self.variant, VARIANTS)
        of_kind("data", self.data, str, Path, NoneType)

    @property
    def settings(self) -> FigureSettings:
        """Settings of the figure, with the changes of the variant, the quick version and the choice of features."""
        recipe = recipe_of(self.figure)
        changes = dict(recipe.caption) if self.variant == "caption" else {}
        if self.data is not None and hasattr(recipe.settings, "data"):
            changes["data"] = self.data
        return replace(recipe.settings, **changes, **(recipe.quick if self.quick else {}))

    @property
    def identity(self) -> str:
        """Digest of figure, settings and package version; equal digests mean equal numbers."""
        return fingerprint((self.figure, __version__, self.settings.fingerprint()))

    @property
    def seconds(self) -> float:
        """Rough time in seconds on two cores."""
        return recipe_of(self.figure).seconds[int(self.quick)]

    @property
    def quick_note(self) -> str:
        """A note that distinguishes a quick figure from the full one; empty if they are the same.

        >>> FigureRequest("fig1a", quick=True).quick_note
        'quick variant: 400 features (full: 2,000), 20 trials (100)'
        """
        less = asdict(self.settings)
        full = asdict(replace(self, quick=False).settings)
        if less == full:
            return ""
        changed = [name for name in _COUNTS if less.get(name) != full.get(name)]
        parts = [
            f"{counted(less[name], _COUNTS[name])} ({'all' if full[name] is None else f'{full[name]:,}'})"
            for name in changed
        ]
        return f"quick variant: {', '.join(parts).replace('(', '(full: ', 1) or 'a coarser grid'}"

    def command(self, device: str) -> str:
        """The command line that makes this figure."""
        flags = {
            " --quick": self.quick,
            f" --settings {self.variant}": self.variant != "published",
            f" --data {self.data}": self.data is not None,
            f" --device {device}": device != "cpu",
        }
        return f"subridge reproduce {self.figure}" + "".join(flag for flag, is_set in flags.items() if is_set)


def compute_figure(request: FigureRequest, run: Run) -> xr.Dataset:
    """The numbers of a figure, with attributes that say how they were made; `reproduce` without the picture."""
    recipe = recipe_of(request.figure)
    start = time.perf_counter()
    dataset = request.settings.compute(run)
    dataset.attrs = result_attributes(
        "figure",
        1,
        recipe.title,
        figure=request.figure,
        variant=request.variant,
        quick=request.quick,
        settings=describe(request.settings),
        fingerprint=request.identity,
        command=request.command(run.device),
        device=run.device,
        errata=recipe.errata,
        agreement=dataset.attrs.get("agreement", []),
        notes=dataset.attrs.get("notes", []),
        quick_note=request.quick_note,
        seconds=time.perf_counter() - start,
    )
    return dataset


def plot_figure(dataset: xr.Dataset) -> Figure:
    """The picture of a computed figure; a quick one says so."""
    figure = recipe_of(dataset.attrs["figure"]).plot(dataset)
    if dataset.attrs.get("quick_note"):
        note(figure, dataset.attrs["quick_note"])
    return figure

"""One figure of the paper, remade."""

import json
import time
from dataclasses import fields, replace
from typing import Any, NamedTuple

import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.recipe import Settings
from subridge.figures.registry import recipe_of
from subridge.simulation.run import Run
from subridge.spec.describe import describe
from subridge.spec.fingerprint import fingerprint


class Reproduction(NamedTuple):
    """A figure and the numbers behind it."""

    figure: Figure
    dataset: xr.Dataset


def reproduce(
    figure: str,
    quick: bool = False,
    settings: str = "published",
    run: Run | None = None,
    data: str | None = None,
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

    Examples
    --------
    >>> import subridge as sr
    >>> figure, dataset = sr.figures.reproduce("fig3b", quick=True)
    >>> dataset.density.dims
    ('fraction_spread', 'subset_fraction')
    """
    dataset = compute_figure(figure, quick, settings, run, data)
    return Reproduction(recipe_of(figure).draw(dataset), dataset)


def compute_figure(figure: str, quick: bool, variant: str, run: Run | None, data: str | None = None) -> xr.Dataset:
    """The numbers behind a figure, with their history as attributes; `reproduce` without the drawing."""
    from subridge import __version__

    recipe = recipe_of(figure)
    run = Run() if run is None else run
    chosen = settings_of(figure, quick, variant, data)
    start = time.perf_counter()
    dataset = recipe.compute(chosen, run)
    dataset.attrs = {
        "figure": figure,
        "title": recipe.title,
        "variant": variant,
        "quick": int(quick),
        "settings": json.dumps(describe(chosen)),
        "fingerprint": identity(figure, chosen),
        "version": __version__,
        "command": command(figure, quick, variant, run.device, data),
        "device": run.device,
        "errata": json.dumps(recipe.errata, ensure_ascii=False),
        "agreement": json.dumps(dataset.attrs.get("agreement", []), ensure_ascii=False),
        "notes": json.dumps(dataset.attrs.get("notes", []), ensure_ascii=False),
        "seconds": time.perf_counter() - start,
    }
    return dataset


def settings_of(figure: str, quick: bool, variant: str, data: str | None = None) -> Settings:
    """Settings of a figure, shrunk when quick, on the features chosen for figures that are drawn from some."""
    full: Any = recipe_of(figure).settings(variant)
    if data is not None and "data" in {field.name for field in fields(full)}:
        full = replace(full, data=data)
    return full.quick() if quick else full


def identity(figure: str, settings: Settings) -> str:
    """Digest of figure, settings and package version: equal digests, equal numbers."""
    from subridge import __version__

    return fingerprint((figure, __version__, settings.fingerprint()))


def command(figure: str, quick: bool, variant: str, device: str, data: str | None = None) -> str:
    """The command line that makes this figure."""
    parts: list[Any] = ["subridge reproduce", figure]
    parts += ["--quick"] * quick
    parts += [f"--settings {variant}"] * (variant != "published")
    parts += [f"--data {data}"] * (data is not None)
    parts += [f"--device {device}"] * (device != "cpu")
    return " ".join(parts)

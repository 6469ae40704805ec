"""The picture of ``subridge demo``."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from subridge.arrays.types import IntArray
from subridge.figures.drawing.style import COLUMN, PALETTE, journal, name_line


def plot_demo(curves: xr.Dataset) -> Figure:
    """Learning curves of an equal and a heterogeneous ensemble, with the sizes of their members.

    Parameters
    ----------
    curves : xarray.Dataset
        ``theory`` (ensemble, dense_samples), ``experiment`` (ensemble, trial, n_samples), ``subset_sizes``
        (ensemble, member).

    Returns
    -------
    matplotlib.figure.Figure
        Two panels: sizes of members, and learning curves.

    Examples
    --------
    >>> import subridge as sr
    >>> curves = xr.Dataset(
    ...     {
    ...         "theory": (("ensemble", "dense_samples"), [[0.9, 0.5, 0.2], [0.8, 0.4, 0.2]]),
    ...         "experiment": (("ensemble", "trial", "n_samples"), np.full((2, 3, 2), 0.4)),
    ...         "subset_sizes": (("ensemble", "member"), [[10, 10], [4, 16]]),
    ...     },
    ...     {"ensemble": ["equal", "unequal"], "dense_samples": [1, 10, 20], "n_samples": [5, 15]},
    ...     {"n_features": 20},
    ... )
    >>> len(sr.figures.plot_demo(curves).axes)
    2
    """
    with journal():
        figure = Figure(figsize=(2 * COLUMN, 2.7))
        sizes, axes = figure.subplots(1, 2, width_ratios=(1, 2.2))
        for position, (name, colour) in enumerate(zip(curves.ensemble.values, PALETTE, strict=False)):
            one = curves.sel(ensemble=name)
            axes.plot(one.dense_samples, one.theory, color=colour, label=f"{name}, theory")
            mean = one.experiment.mean("trial")
            error = one.experiment.std("trial", ddof=1) / np.sqrt(one.sizes["trial"])
            axes.errorbar(one.n_samples, mean, error, color=colour, fmt="o", label=f"{name}, trained", capsize=2)
            _add_members(sizes, one.subset_sizes.values, -position, colour)
        M = curves.attrs["n_features"]
        threshold = M / curves.sizes["member"]
        axes.axvline(threshold, color="0.8", linewidth=0.8, zorder=0)
        name_line(axes, "P = M/k", (threshold, 1), (4, -8))
        axes.set(xlabel="training samples P", ylabel="generalization error", ylim=(0, None), xlim=(0, M + 4))
        axes.legend()
        sizes.set(xlabel="features", yticks=[0, -1], yticklabels=list(curves.ensemble.values), xlim=(0, M))
        sizes.spines["left"].set_visible(False)
        sizes.tick_params(left=False)
        sizes.set_title("who sees how many features")
    return figure


def _add_members(axes: Axes, subset_sizes: IntArray, height: int, colour: str) -> None:
    """One bar of M features, cut where one member ends and the next begins."""
    ordered = np.sort(subset_sizes)[::-1]
    starts = np.concatenate([[0], np.cumsum(ordered)[:-1]])
    shades = np.linspace(1.0, 0.35, len(ordered))
    for start, size, shade in zip(starts, ordered, shades, strict=True):
        axes.barh(height, size, left=start, height=0.5, color=colour, alpha=shade, edgecolor="white")

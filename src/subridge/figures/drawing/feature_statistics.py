"""Figs. S1 and 3d: statistics of deep features, and the error of one classifier that sees a fraction of them."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from subridge.arrays.types import FloatArray
from subridge.figures.drawing.style import COLUMN, PAGE, journal, name_features, panel_letter, shades


def plot_statistics(data: xr.Dataset) -> Figure:
    """Gram matrix, covariance, spectrum, error against the fraction of features."""
    with journal():
        figure = Figure(figsize=(PAGE, 5.4))
        (gram, covariance), (spectrum, fractions) = figure.subplots(2, 2)
        _add_matrix(gram, data.gram.values, "images, sorted by class")
        borders = np.flatnonzero(np.diff(data.label.values)) + 0.5
        gram.set_xticks(borders, labels=[])
        gram.set_yticks(borders, labels=[])
        _add_matrix(covariance, data.covariance.values, "features")
        covariance.set(xticks=[], yticks=[])
        spectrum.loglog(data["rank"], data.eigenvalue, color="#0072B2", label="of the covariance")
        fitted = data["rank"].values[: int(data.n_fitted)]
        law = float(data.prefactor) * fitted ** float(data.power)
        label = f"{float(data.prefactor):.3g} $n^{{{float(data.power):.2f}}}$, top {len(fitted)}"
        spectrum.loglog(fitted, law, "--", color="#D55E00", label=label)
        spectrum.set(xlabel="rank n", ylabel="eigenvalue")
        spectrum.legend(loc="lower left")
        _add_fractions(fractions, data)
        for letter, axes in zip("abcd", (gram, covariance, spectrum, fractions), strict=True):
            panel_letter(axes, letter)
        name_features(figure, data)
    return figure


def _add_matrix(axes: Axes, values: FloatArray, label: str) -> None:
    """A symmetric matrix, its colours cut at the 99th percentile so that the diagonal does not hide the rest."""
    reach = float(np.quantile(np.abs(values), 0.99))
    shown = axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="nearest")
    axes.set(xlabel=label, ylabel=label)
    axes.figure.colorbar(shown, ax=axes, shrink=0.85)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def plot_redundancy(data: xr.Dataset) -> Figure:
    """Error against the fraction of features, one line per ridge."""
    with journal():
        figure = Figure(figsize=(1.25 * COLUMN, 2.8))
        axes = figure.subplots()
        _add_fractions(axes, data)
        name_features(figure, data)
    return figure


def _add_fractions(axes: Axes, data: xr.Dataset) -> None:
    """The curves, black without a ridge, coloured by ridge otherwise."""
    positive = data.ridge.values[data.ridge.values > 0]
    scale = ScalarMappable(LogNorm(positive.min(), positive.max()), shades("viridis"))
    for ridge in data.ridge.values:
        one = data.misclassification.sel(ridge=ridge)
        colour = "black" if ridge == 0 else scale.to_rgba(ridge)
        mean, error = one.mean("trial"), one.std("trial", ddof=1) / np.sqrt(one.sizes["trial"])
        axes.plot(one.subset_fraction, mean, color=colour, label="λ = 0" if ridge == 0 else None)
        axes.fill_between(one.subset_fraction, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0)
    axes.axvline(float(data.n_samples / data.n_features), color="0.7", linewidth=0.7, linestyle=":", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="fraction of features ν", ylabel="test error")
    axes.set_yticks([0.1, 0.2, 0.5, 1.0], labels=["0.1", "0.2", "0.5", "1"])
    axes.minorticks_off()
    axes.legend(loc="lower left", title=f"P = {int(data.n_samples)}; dotted: N = P", title_fontsize=7)
    axes.figure.colorbar(scale, ax=axes, label="ridge λ")

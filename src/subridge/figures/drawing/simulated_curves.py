"""The picture of ``subridge simulate``."""

import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.drawing.style import COLUMN, PALETTE, journal, number


def plot_simulated(curves: xr.Dataset) -> Figure:
    """Mean risks of trained ensembles with their standard errors, one colour per ridge.

    Parameters
    ----------
    curves : xarray.Dataset
        ``risk`` (trial, ridge, n_samples).

    Returns
    -------
    matplotlib.figure.Figure
    """
    mean = curves.risk.mean("trial")
    error = curves.risk.std("trial", ddof=1) / curves.sizes["trial"] ** 0.5
    with journal():
        figure = Figure(figsize=(COLUMN, 2.5))
        axes = figure.subplots()
        for position, ridge in enumerate(curves.ridge.values):
            colour, name = PALETTE[position % len(PALETTE)], f"λ = {number(float(ridge))}"
            axes.errorbar(
                curves.n_samples,
                mean[position],
                error[position],
                fmt="o-",
                markersize=2.5,
                linewidth=0.8,
                color=colour,
                label=name,
            )
        axes.set(xlabel="training samples P", ylabel="generalization error $E_g$")
        if float(mean.max()) > 10 * float(mean.min()):
            axes.set_yscale("log")
        axes.legend()
    return figure

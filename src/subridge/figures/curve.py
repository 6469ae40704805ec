"""The picture of ``subridge curve``."""

import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.style import COLUMN, GREY, PALETTE, journal, number


def draw_curve(curves: xr.Dataset) -> Figure:
    """Predicted learning curves by ridge.

    Parameters
    ----------
    curves : xarray.Dataset
        ``risk`` (ridge, sample_ratio) and, optionally, ``risk_at_optimal_ridge`` (sample_ratio).

    Returns
    -------
    matplotlib.figure.Figure
    """
    with journal():
        figure = Figure(figsize=(COLUMN, 2.5))
        axes = figure.subplots()
        for position, ridge in enumerate(curves.ridge.values):
            colour = PALETTE[position % len(PALETTE)]
            axes.plot(curves.sample_ratio, curves.risk[position], color=colour, label=f"λ = {number(float(ridge))}")
        if "risk_at_optimal_ridge" in curves:
            axes.plot(curves.sample_ratio, curves.risk_at_optimal_ridge, color=GREY, label="λ = λ*")
        axes.set(xlabel="sample ratio α = P/M", ylabel="generalization error $E_g$")
        if float(curves.risk.max()) > 10 * float(curves.risk.min()):
            axes.set_yscale("log")
        axes.legend()
    return figure

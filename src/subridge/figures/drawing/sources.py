"""Bias and variance, stacked over the sample ratio."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from subridge.figures.drawing.style import COLUMN, GREY, PALETTE, panels
from subridge.model.checks import of_kind
from subridge.model.errors import ParameterError


def plot_sources(data: xr.Dataset) -> Figure:
    """Stack bias and variances of an ensemble over the sample ratio.

    Parameters
    ----------
    data : xarray.Dataset
        From `subridge.error_sources`, with at least two finite sample ratios.

    Returns
    -------
    matplotlib.figure.Figure
        One panel. Parts that are zero everywhere are left out, and infinite risks are cut off.

    Raises
    ------
    ParameterError
        If the dataset holds no sources, or fewer than two finite sample ratios.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.EquicorrelatedProblem(label_noise=0.5)
    >>> found = sr.error_sources(problem, sr.Ensemble([0.5, 0.5], ridge=0.01), np.linspace(0.05, 2, 50))
    >>> plot_sources(found).axes[0].get_legend_handles_labels()[1]
    ['bias', 'subsets', 'data', 'data and subsets', 'label noise']
    """
    of_kind("data", data, xr.Dataset)
    if "source" not in data.dims or np.isfinite(data.sample_ratio).sum() < 2:
        raise ParameterError(f"data must come from sr.error_sources with two or more sample ratios, got {data.sizes}")
    shown = data.isel(sample_ratio=np.isfinite(data.sample_ratio)).sortby("sample_ratio")
    shown = shown.sel(source=shown.risk.max("sample_ratio") > 0)
    finite = shown.total[np.isfinite(shown.total)]
    with panels((1.6 * COLUMN, 0.9 * COLUMN)) as (figure, ((axes,),)):
        # Heights are clipped to finite values, so that a spike ends at the upper edge.
        heights = shown.risk.clip(max=10 * finite.max())
        axes.stackplot(shown.sample_ratio, heights, labels=shown.source.values, colors=(GREY, *PALETTE), alpha=0.85)
        axes.set(
            xlabel="sample ratio α",
            xlim=(shown.sample_ratio.min(), shown.sample_ratio.max()),
            ylabel="$E_g$",
            ylim=(0, 1.05 * np.quantile(finite, 0.98)),
        )
        figure.legend(loc="outside right upper", reverse=True)
    return figure

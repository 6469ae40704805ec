"""Pages of ``subridge curve``, ``simulate`` and ``phase``."""

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray
from subridge.explorer.reports.parts import Axis, Line, Panel, Report, brief, thinned
from subridge.explorer.reports.settings import settings_of
from subridge.model.checks import counted

_CELLS = 200  # of a map, along each side


def predicted_report(curves: xr.Dataset) -> Report:
    """Predicted risks by ridge."""
    ratios = curves.sample_ratio.values
    lines = [
        Line(f"λ = {ridge:g}", values) for ridge, values in zip(curves.ridge.values, curves.risk.values, strict=True)
    ]
    if "risk_at_optimal_ridge" in curves:
        lines.append(Line("each member at its own λ*", curves.risk_at_optimal_ridge.values, dashed=True))
    k = curves.sizes["member"]
    sentences = [_lowest(lines, ratios, "samples per feature")]
    thresholds = np.unique(curves.subset_fraction.values.round(12))
    told = ", ".join(brief(float(nu)) for nu in thresholds[:6]) + (", …" if len(thresholds) > 6 else "")
    sentences.append(f"Without a ridge the error would be infinite at the members' thresholds α = {told}.")
    return _curves_report(
        curves, f"Predicted risk of {counted(k, 'member')}", sentences, _over(ratios, lines, "α = P/M")
    )


def simulated_report(curves: xr.Dataset) -> Report:
    """Mean risks of trained ensembles with their standard errors."""
    n = curves.sizes["trial"]
    mean, error = curves.risk.mean("trial").values, curves.risk.std("trial", ddof=1).values / n**0.5
    sizes = curves.n_samples.values.astype(float)
    lines = [
        Line(f"λ = {ridge:g}", mean[i], mean[i] - error[i], mean[i] + error[i])
        for i, ridge in enumerate(curves.ridge.values)
    ]
    sentences = [
        _lowest(lines, sizes, "training samples"),
        f"Bands are standard errors over {counted(n, 'trial')}; the points of one curve share samples.",
    ]
    return _curves_report(
        curves, f"Risk of trained ensembles, {counted(n, 'trial')}", sentences, _over(sizes, lines, "samples P")
    )


def _over(at: FloatArray, lines: list[Line], label: str) -> Panel:
    """A panel of curves over finite positions; errors that differ by more than ten are on a logarithmic axis."""
    shown = np.isfinite(at)
    cut = [one.at(shown) for one in lines]
    values = np.concatenate([one.values[np.isfinite(one.values)] for one in cut])
    wide = bool(values.size and values.min() > 0 and values.max() > 10 * values.min())
    return Panel("learning curves", Axis(label), Axis("generalization error E", log=wide), at[shown], cut)


def _lowest(lines: list[Line], at: FloatArray, unit: str) -> str:
    last = int(np.argmax(at))
    best = min(lines, key=lambda one: one.values[last])
    return f"At {brief(float(at[last]))} {unit} the error is least for {best.name}: {brief(float(best.values[last]))}."


def _curves_report(curves: xr.Dataset, title: str, sentences: list[str], panel: Panel) -> Report:
    rows = [[brief(float(at)), *(brief(float(one.values[i])) for one in panel.lines)] for i, at in enumerate(panel.at)]
    columns = [panel.x.label, *(one.name for one in panel.lines)]
    return Report(title, sentences, [panel], columns, rows, settings_of(curves))


def phase_report(diagram: xr.Dataset) -> Report:
    """Best ensemble sizes, as a map over two axes or as curves over one."""
    sizes = diagram.optimal_n_members
    axes = [name for name in sizes.dims if np.isfinite(sizes[name].values).sum() > 1]
    shares = [float((diagram.phase == code).mean()) for code in range(3)]
    sentences = [
        f"One member is best on {shares[0]:.0%} of this grid, some finite number on {shares[1]:.0%}, and the more the "
        f"better on {shares[2]:.0%}."
    ]
    panels = [_map(sizes, *map(str, axes))] if sizes.ndim == 2 and len(axes) == 2 else []
    columns = [*map(str, sizes.dims), "best size k*", "reduced risk"]
    places = list(np.ndindex(*sizes.shape))
    rows = [
        [
            *(brief(float(sizes[name].values[i])) for name, i in zip(sizes.dims, place, strict=True)),
            brief(float(sizes.values[place])),
            brief(float(diagram.reduced_risk.values[place])),
        ]
        for place in (places[i] for i in thinned(len(places), 2000))
    ]
    return Report("Best ensemble size", sentences, panels, columns, rows, settings_of(diagram))


def _map(sizes: xr.DataArray, down: str, across: str) -> Panel:
    chosen = {name: np.flatnonzero(np.isfinite(sizes[name].values)) for name in (down, across)}
    chosen = {name: places[thinned(len(places), _CELLS)] for name, places in chosen.items()}
    cut = sizes.isel(chosen)
    labels = {name: str(sizes[name].attrs.get("long_name", name)) for name in (down, across)}
    return Panel(
        "best ensemble size k*",
        Axis(labels[across]),
        Axis(labels[down]),
        cut[across].values,
        heights=cut[down].values,
        sizes=cut.values,
    )

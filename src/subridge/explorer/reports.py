"""Results as pages: ``subridge forecast``, ``advise``, ``curve``, ``simulate``, ``phase`` and ``demo`` with ``.html``.

A result becomes a `Report`. Names that come from a user's file are escaped by the template and reach the page's script
as JSON.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray
from subridge.explorer.page import REPORT_SCRIPTS, write_page
from subridge.explorer.parts import (
    Axis,
    Line,
    Panel,
    Report,
    brief,
    exceeds,
    map_panel,
    settings_of,
    thinned,
    with_trials,
)
from subridge.model.errors import ParameterError, counted
from subridge.results.numbers import percent, short_interval


def write_report(dataset: xr.Dataset, place: Path, command: str) -> None:
    """Write a result as a self-contained page: an interactive picture, a table, settings and sentences.

    Parameters
    ----------
    dataset : xarray.Dataset
        From ``sr.forecast``, ``sr.phase_diagram``, ...; its schema decides.
    place : Path
    command : str
        The command that makes it again.

    Raises
    ------
    ParameterError
        There is no page for such results.
    """
    schema = str(dataset.attrs.get("schema", ""))
    if schema not in _REPORTS:
        raise ParameterError(f"there is no page for results of the kind {schema!r}; write .nc, .csv or .json")
    title, sentences, panels, columns, rows = _REPORTS[schema](dataset)
    write_page(
        place,
        "report.html",
        REPORT_SCRIPTS,
        title=title,
        sentences=sentences,
        panels=[panel.as_json() for panel in panels],
        columns=columns,
        rows=rows,
        settings=settings_of(dataset),
        command=command,
    )


def _forecast(curves: xr.Dataset) -> Report:
    """Forecast errors over sample sizes, with intervals."""
    metrics = [str(name) for name in curves if f"{name}_upper" in curves]
    names = [str(name) for name in curves.ensemble.values]
    finite = curves.isel(n_samples=np.isfinite(curves.n_samples.values)).sortby("n_samples")
    panels = []
    for metric in metrics if finite.sizes["n_samples"] else ():
        ends = (finite[metric + end].values for end in ("", "_lower", "_upper"))
        lines = [Line(*parts) for parts in zip(names, *ends, strict=True)]
        word = metric.replace("_", " ")
        y = Axis(str(curves[metric].attrs.get("long_name", word)))
        marks = {"pilot": float(curves.attrs["n_pilot"])}
        at = finite.n_samples.values.astype(float)
        panels.append(Panel(word, Axis("training samples", log=True), y, at, lines, marks))
    rows = [
        [
            brief(size) if np.isinf(size) else f"{size:g}",
            *(_cell(curves.isel(n_samples=s, ensemble=e), metric) for metric in metrics for e in range(len(names))),
        ]
        for s, size in enumerate(curves.n_samples.values)
    ]
    return (
        f"Forecast from {counted(curves.attrs['n_pilot'], 'row')}",
        _forecast_sentences(curves),
        panels,
        ["samples", *(f"{name}, {metric.replace('_', ' ')}" for metric in metrics for name in names)],
        rows,
    )


def _cell(point: xr.Dataset, metric: str) -> str:
    value, lower, upper = (float(point[metric + end]) for end in ("", "_lower", "_upper"))
    return "–" if np.isnan(value) else f"{'≤ ' * bool(point.is_bound)}{short_interval(value, lower, upper)}"


def _forecast_sentences(curves: xr.Dataset) -> list[str]:
    sizes = curves.n_samples.values
    last = curves.isel(n_samples=int(np.argmax(np.where(np.isfinite(sizes), sizes, -1))))
    errors, told = last.prediction_error.values, []
    if np.isfinite(errors).any():
        best = last.isel(ensemble=int(np.nanargmin(errors)))
        value, low, high = (brief(float(best[f"prediction_error{end}"])) for end in ("", "_lower", "_upper"))
        size = float(last.n_samples)
        told.append(
            f"With {counted(int(size), 'sample') if np.isfinite(size) else 'infinitely many samples'} the lowest "
            f"forecast error is that of “{best.ensemble.values}”: {value} ({curves.attrs['level']:.0%} interval: "
            f"{low} to {high})."
        )
    told.append(f"The variance of the labels is {brief(float(curves.attrs['target_variance']))}.")
    if "label_noise" in curves.attrs:  # forecasts for new groups have no estimate of it
        noise = float(curves.attrs["label_noise"]) ** 2
        told[-1] += f" About {brief(noise)} of it is noise: no linear model can get below that."
    if "effective_samples" in curves:
        told.append(
            f"Errors are those on new groups. The {curves.attrs['n_pilot']} rows are worth about "
            f"{float(curves.effective_samples.median()):.0f} independent ones."
        )
    if not bool(curves.in_reach.all()):
        told.append("Cells with a dash are beyond the pilot's reach: its rows cannot tell.")
    if bool(curves.is_bound.any()):
        told.append("≤ marks upper bounds: the best ridge is smaller than this pilot can judge.")
    return told


def _advice(table: xr.Dataset) -> Report:
    """Candidates with their forecast errors, best first."""
    error, lower, upper = (table[f"prediction_error{end}"].values for end in ("", "_lower", "_upper"))
    names, size = (
        [str(name) for name in table.candidate.values],
        counted(round(float(table.attrs["n_samples"])), "sample"),
    )
    rows = [
        [
            name,
            brief(float(table.ridge[i])),
            short_interval(error[i], lower[i], upper[i]),
            percent(float(table.gain[i]), float(table.gain_standard_error[i])),
            "yes" if bool(table.in_reach[i]) else "no",
        ]
        for i, name in enumerate(names)
    ]
    panel = Panel(
        "candidates, best first",
        Axis("place", texts=names),
        Axis(f"squared error on new labels with {size}"),
        np.arange(1, len(names) + 1, dtype=np.float64),
        [Line("forecast error, with its interval", error, lower, upper, dots=True)],
    )
    columns = ["ensemble", "ridge λ", "error", "improvement over one ridge", "in reach"]
    return f"Advice for {size}", list(map(str, table.reasons.values)), [panel], columns, rows


_OWN_RIDGES = "each member at its own λ*"


def _predicted(curves: xr.Dataset) -> Report:
    """Predicted risks by ridge."""
    names, table = [f"λ = {ridge:g}" for ridge in curves.ridge.values], curves.risk.values
    if "risk_at_optimal_ridge" in curves:
        names, table = [*names, _OWN_RIDGES], np.vstack([table, curves.risk_at_optimal_ridge.values])
    thresholds = np.unique(curves.subset_fraction.values.round(12))
    told = ", ".join(brief(nu) for nu in thresholds[:6]) + ", …" * (len(thresholds) > 6)
    sentence = f"Without a ridge the error would be infinite at the members' thresholds α = {told}."
    title = f"Predicted risk of {counted(curves.sizes['member'], 'member')}"
    return _curves(curves, title, "sample_ratio", ("α = P/M", "samples per feature"), names, table, sentence)


def _simulated(curves: xr.Dataset) -> Report:
    """Mean risks of trained ensembles with their standard errors."""
    n, names = curves.sizes["trial"], [f"λ = {ridge:g}" for ridge in curves.ridge.values]
    mean, error = curves.risk.mean("trial").values, curves.risk.std("trial", ddof=1).values / n**0.5
    title = f"Risk of trained ensembles, {counted(n, 'trial')}"
    sentence = f"Bands are standard errors over {counted(n, 'trial')}; the points of one curve share samples."
    return _curves(curves, title, "n_samples", ("samples P", "training samples"), names, mean, sentence, error)


def _curves(
    curves: xr.Dataset,
    title: str,
    across: str,
    labels: tuple[str, str],
    names: Sequence[str],
    table: FloatArray,
    sentence: str,
    error: FloatArray | None = None,
) -> Report:
    """Curves over samples, a row of `table` for each; `labels` name the axis and, in a sentence, the unit."""
    at = curves[across].values.astype(float)
    last, shown = int(np.argmax(at)), np.isfinite(at)
    best = int(np.argmin(table[:, last]))
    lowest = f"At {brief(at[last])} {labels[1]} the error is lowest for {names[best]}: {brief(table[best, last])}."
    at, table = at[shown], table[:, shown]
    lines = [Line(name, row, dashed=name == _OWN_RIDGES) for name, row in zip(names, table, strict=True)]
    if error is not None:
        lines = [Line(*parts) for parts in zip(names, table, table - error, table + error, strict=True)]
    y = Axis("generalization error E", log=exceeds(table, 10))
    rows = [[brief(x), *map(brief, column)] for x, column in zip(at, table.T, strict=True)]
    panel = Panel("learning curves", Axis(labels[0]), y, at, lines)
    return title, [lowest, sentence], [panel], [labels[0], *names], rows


def _phase(diagram: xr.Dataset) -> Report:
    """Best ensemble sizes, as a map over two axes or as a table."""
    sizes = diagram.optimal_n_members
    axes = [str(name) for name in sizes.dims if np.isfinite(sizes[name].values).sum() > 1]
    one, some, all_of = (float((diagram.phase == code).mean()) for code in range(3))
    sentence = (
        f"One member is best on {one:.0%} of this grid, a larger finite number on {some:.0%}, and on {all_of:.0%} more "
        "members are always better."
    )
    panels = []
    if sizes.ndim == 2 and len(axes) == 2:
        labels = [str(sizes[name].attrs.get("long_name", name)) for name in (axes[1], axes[0])]
        panels.append(map_panel("best ensemble size k*", sizes, axes[1], axes[0], labels, 200))
    places = list(np.ndindex(*sizes.shape))
    rows = []
    for place in (places[i] for i in thinned(len(places), 2000)):
        at = [sizes[name].values[i] for name, i in zip(sizes.dims, place, strict=True)]
        rows.append([brief(x) for x in (*at, sizes.values[place], diagram.reduced_risk.values[place])])
    columns = [*map(str, sizes.dims), "best size k*", "reduced risk"]
    return "Best ensemble size", [sentence], panels, columns, rows


def _demo(curves: xr.Dataset) -> Report:
    """Theory beside trained ensembles."""
    n, names = curves.sizes["trial"], [str(name) for name in curves.ensemble.values]
    mean, error = curves.experiment.mean("trial").values, curves.experiment.std("trial", ddof=1).values / n**0.5
    sizes, theory = curves.n_samples.values.astype(np.float64), curves.theory.values
    at, lines = with_trials(names, curves.dense_samples.values.astype(np.float64), theory, sizes, mean, error)
    panel = Panel("learning curves", Axis("training samples P"), Axis("generalization error E"), at, lines)
    rows = [
        [brief(size), *(f"{brief(mean[e, i])} ± {brief(error[e, i])}" for e in range(len(names)))]
        for i, size in enumerate(sizes)
    ]
    peaks = ", ".join(f"{brief(row.max())} ({name})" for name, row in zip(names, theory, strict=True))
    sentences = [
        "Equal members peak together at P = M/k; unequal ones spread the peak out.",
        f"The highest errors by theory are {peaks}. Points are means of {n} trained ensembles.",
    ]
    return "Theory beside trained ensembles", sentences, [panel], ["samples", *names], rows


_REPORTS = {
    "forecast": _forecast,
    "advice": _advice,
    "learning_curves": _predicted,
    "simulated_curves": _simulated,
    "phase_diagram": _phase,
    "demo": _demo,
}

"""Pages of ``subridge forecast`` and ``subridge advise``."""

import numpy as np
import xarray as xr

from subridge.explorer.reports.parts import Axis, Line, Panel, Report, brief
from subridge.explorer.reports.settings import settings_of
from subridge.model.checks import counted
from subridge.results.numbers import percent


def forecast_report(curves: xr.Dataset) -> Report:
    """Forecast errors over sample sizes, with intervals; dashed lines are beyond the pilot's reach."""
    metrics = [str(name) for name in curves if f"{name}_upper" in curves]
    names = [str(name) for name in curves.ensemble.values]
    columns = ["samples", *(f"{name}, {metric.replace('_', ' ')}" for metric in metrics for name in names)]
    rows = []
    for s, size in enumerate(curves.n_samples.values):
        points = [curves.isel(n_samples=s, ensemble=e) for e in range(len(names))]
        rows.append([f"{size:g}", *(_cell(point, metric) for metric in metrics for point in points)])
    n = curves.attrs["n_pilot"]
    return Report(
        f"Forecast from {counted(n, 'row')}",
        _forecast_sentences(curves),
        [_forecast_panel(curves, metric) for metric in metrics],
        columns,
        rows,
        settings_of(curves),
    )


def _forecast_panel(curves: xr.Dataset, metric: str) -> Panel:
    sizes = curves.n_samples.values.astype(float)
    shown = np.flatnonzero(np.isfinite(sizes))
    shown = shown[np.argsort(sizes[shown])]
    lines = []
    for e, name in enumerate(curves.ensemble.values):
        one = curves.isel(ensemble=e, n_samples=shown)
        beyond = not bool(one.in_reach.all())
        lower, upper = (one[f"{metric}_{end}"].values for end in ("lower", "upper"))
        lines.append(Line(str(name), one[metric].values, lower, upper, dashed=beyond))
    label = str(curves[metric].attrs.get("long_name", metric.replace("_", " ")))
    marks = {"pilot": float(curves.attrs["n_pilot"])}
    return Panel(metric.replace("_", " "), Axis("training samples", log=True), Axis(label), sizes[shown], lines, marks)


def _forecast_sentences(curves: xr.Dataset) -> list[str]:
    last = curves.isel(n_samples=int(np.argmax(np.where(np.isfinite(curves.n_samples), curves.n_samples, -1))))
    errors = last.prediction_error.values
    told = []
    if np.isfinite(errors).any():
        best = int(np.nanargmin(errors))
        low, high = (float(last[f"prediction_error_{end}"][best]) for end in ("lower", "upper"))
        told.append(
            f"With {counted(int(last.n_samples), 'sample')} the least error is forecast for "
            f"“{last.ensemble.values[best]}”: {brief(float(errors[best]))}, between {brief(low)} and {brief(high)} "
            f"with probability {curves.attrs['level']:.0%}."
        )
    variance, noise = float(curves.attrs["target_variance"]), float(curves.attrs["label_noise"]) ** 2
    told.append(
        f"The labels vary by {brief(variance)}; about {brief(noise)} of it is noise that no amount of data removes."
    )
    if not bool(curves.in_reach.all()):
        told.append("Dashed lines, and cells with a dash or a star, are beyond what this pilot can tell.")
    if bool(curves.is_bound.any()):
        told.append("≤: the best ridge is smaller than this pilot can judge.")
    return told


def _cell(point: xr.Dataset, metric: str) -> str:
    value, lower, upper = (float(point[metric + end]) for end in ("", "_lower", "_upper"))
    if np.isnan(value):
        return "–"
    marks = ("≤ " * bool(point.is_bound), "*" * (not point.in_reach))
    return f"{brief(value)} ({brief(lower)}–{brief(upper)})".join(marks)


def advice_report(table: xr.Dataset) -> Report:
    """Candidates with their forecast errors, best first."""
    error, lower, upper = (table[f"prediction_error{end}"].values for end in ("", "_lower", "_upper"))
    names, n = [str(name) for name in table.candidate.values], table.attrs["n_samples"]
    rows = [
        [
            name,
            brief(float(table.ridge[i])),
            f"{brief(error[i])} ({brief(lower[i])}–{brief(upper[i])})",
            percent(float(table.gain[i]), float(table.gain_standard_error[i])),
            "yes" if bool(table.in_reach[i]) else "no",
        ]
        for i, name in enumerate(names)
    ]
    at = np.arange(1, len(names) + 1, dtype=np.float64)
    panel = Panel(
        "candidates, best first",
        Axis("place", texts=names),
        Axis(f"squared error on new labels with {counted(round(float(n)), 'sample')}"),
        at,
        [Line("forecast error, with its interval", error, lower, upper, dots=True)],
    )
    columns = ["ensemble", "ridge λ", "error", "gain over one ridge", "in reach"]
    sentences = [str(sentence) for sentence in table.reasons.values]
    return Report(
        f"Advice for {counted(round(float(n)), 'sample')}", sentences, [panel], columns, rows, settings_of(table)
    )

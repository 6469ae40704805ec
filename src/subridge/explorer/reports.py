"""Results as pages: ``subridge forecast``, ``advise``, ``curve``, ``simulate``, ``phase`` and ``demo`` with ``.html``.

A result becomes a `Report`, of which the command line prints parts. The template escapes names from files of users, and
passes them to the script of the page as JSON.
"""

from pathlib import Path

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray
from subridge.explorer.page import REPORT_SCRIPTS, write_page
from subridge.explorer.parts import Report, exceeds, line, map_panel, panel, settings_of, thinned, with_trials
from subridge.model.errors import ParameterError, counted, listed
from subridge.results.numbers import interval, percent, plain, unit_of
from subridge.results.schemas import mean_and_error

_MANY = 10.0  # largest relative loss against one ridge that is shown as a number; larger losses are a dash
_ROWS_OF_UNIT = 12  # candidates whose errors determine the unit; those of worse ones may be huge


def write_report(dataset: xr.Dataset, place: Path, command: str) -> None:
    """Write a result as a self-contained page: an interactive picture, a table, settings and sentences.

    Parameters
    ----------
    dataset : xarray.Dataset
        From ``sr.forecast``, ``sr.phase_diagram`` and others; its schema decides on the page.
    place : Path
    command : str
        The command that makes the page again.

    Raises
    ------
    ParameterError
        If there is no page for such results.
    """
    report = report_of(dataset)
    write_page(
        place,
        "report.html",
        REPORT_SCRIPTS,
        **report._asdict(),
        rows=report.rows,
        settings=settings_of(dataset),
        command=command,
    )


def report_of(dataset: xr.Dataset) -> Report:
    """Title, sentences, panels and table of a result, by its schema."""
    schema = dataset.attrs.get("schema", "")
    if schema not in _REPORTS:
        raise ParameterError(f"there is no page for results of the kind {schema!r}; write .nc, .csv or .json")
    return _REPORTS[schema](dataset)


def _forecast(curves: xr.Dataset) -> Report:
    """Forecast errors over sample sizes, with intervals."""
    metrics = metrics_in(curves)
    names = curves.ensemble.values.tolist()
    n_pilot = curves.attrs["n_pilot"]
    finite = curves.isel(n_samples=np.isfinite(curves.n_samples)).sortby("n_samples")
    panels = []
    table = {"samples": [_place(size) for size in curves.n_samples.values]}
    for metric in metrics:
        word = metric.replace("_", " ")
        for e, name in enumerate(names):
            table[f"{name}, {word}"] = forecast_cells(curves.isel(ensemble=e), metric)
        if finite.sizes["n_samples"]:
            lines = [line(*parts) for parts in zip(names, *_with_bounds(finite, metric), strict=True)]
            y = {"label": curves[metric].attrs.get("long_name", word)}
            x = {"label": "training samples", "log": True}
            panels.append(panel(word, x, y, finite.n_samples, lines, pilot=float(n_pilot)))
    return Report(f"Forecast from {counted(n_pilot, 'row')}", forecast_sentences(curves), panels, table)


def metrics_in(data: xr.Dataset) -> list[str]:
    """The names of all metrics, which are the variables with bounds."""
    return [str(name) for name in data if f"{name}_upper" in data]


def further_metrics(ranking: xr.Dataset) -> dict[str, xr.DataArray]:
    """The metrics of advice but the first, the squared error, by their headings."""
    return {ranking[name].short_name: ranking[name] for name in metrics_in(ranking)[1:]}


def _with_bounds(data: xr.Dataset, metric: str) -> list[FloatArray]:
    """A metric, and the lower and upper end of its interval."""
    return [data[metric + end].values for end in ("", "_lower", "_upper")]


def forecast_cells(curve: xr.Dataset, metric: str, unit: float = 1.0) -> list[str]:
    """A forecast metric of one ensemble with its interval, at every size."""
    bounds = np.array(_with_bounds(curve, metric)).T / unit
    signs = np.where(curve.is_bound, "≤ ", "")
    return [
        "-" if np.isnan(ends[0]) else sign + interval(*ends, to="–") for sign, ends in zip(signs, bounds, strict=True)
    ]


def forecast_sentences(curves: xr.Dataset) -> list[str]:
    """The lowest forecast error, the part of it that is label noise, and the meaning of the signs in the table."""
    attributes = curves.attrs
    variance = attributes["target_variance"]
    told = []
    forecast = curves.prediction_error.notnull().any("ensemble")
    last = curves.where(np.isfinite(curves.n_samples) & forecast, drop=True)
    if last.sizes["n_samples"]:
        last = last.isel(n_samples=last.n_samples.argmax("n_samples"))
        # Of several with the same printed error, the first is the simplest.
        shown = [plain(float(error)) for error in last.prediction_error]
        best = last.isel(ensemble=shown.index(shown[int(last.prediction_error.argmin("ensemble"))]))
        most, least = ("at most ", "at least ") if best.is_bound else ("", "")
        error = most + interval(*map(float, _with_bounds(best, "prediction_error")))
        # An error may lie far below its bound, so that these ensembles may also be the best.
        bounds = last.ensemble.values[last.is_bound.values.astype(bool)]
        rivals = [name for name in bounds if name != best.ensemble]
        verdict = f"{best.ensemble.values} has the lowest error: {error}"
        if rivals:
            verdict = f"{best.ensemble.values} has the error {error}; {' and '.join(rivals)} may have a lower one"
        told.append(f"With {counted(int(last.n_samples), 'sample')} {verdict}.")
        if "class_names" not in attributes:
            r2 = f"{least}{1.0 - best.prediction_error / variance:.2f}"
            root = f" and a root mean square error of {most}{plain(float(best.prediction_error) ** 0.5)}"
            told.append(f"That is an R² of {r2}{root * (attributes['n_targets'] == 1)}.")
    if "effective_samples" in curves:  # forecasts for new groups have no estimate of the noise
        told.append(
            f"Errors are those on new groups. The labels have variance {plain(variance)}; the {attributes['n_pilot']} "
            f"rows count as about {curves.effective_samples.median():.0f} independent ones."
        )
    else:
        bounds = (min(attributes[f"label_noise{end}"] ** 2, variance) for end in ("", "_lower", "_upper"))
        noise, low, high = (bound if bound > 1e-6 * variance else 0.0 for bound in bounds)
        told.append(
            f"The labels have variance {plain(variance)}, of which about {noise / variance:.0%} is label noise, "
            f"{interval(noise, low, high)}: more samples do not remove it."
        )
    if not curves.in_reach.all():
        told.append("A dash marks what is out of reach of these rows.")
    if curves.is_bound.any():
        told.append("≤ marks an upper bound, because the best ridge is smaller than these rows can judge.")
    return told


def _advice(ranking: xr.Dataset) -> Report:
    """Candidates with their forecast errors, the advice first."""
    attributes = ranking.attrs
    names = ranking.candidate.values.tolist()
    error, lower, upper = _with_bounds(ranking, "prediction_error")
    unit, told = unit_of(upper[:_ROWS_OF_UNIT].max())
    gains = zip(ranking.gain.values, ranking.gain_standard_error.values, strict=True)
    table = {
        "ensemble": names,
        "λ": [plain(ridge, 2) for ridge in ranking.ridge.values],
        "squared error": [
            interval(*ends, to="–") for ends in zip(error / unit, lower / unit, upper / unit, strict=True)
        ],
        "gain": [percent(gain, spread) if gain > -_MANY else "-" for gain, spread in gains],
    }
    if "class_names" not in attributes:
        table["R²"] = [f"{1 - each:.2f}" for each in error / attributes["target_variance"]]
    if attributes["n_samples"] != attributes["n_pilot"]:
        table["now"] = [plain(now) for now in ranking.pilot_prediction_error.values / unit]
    for heading, metric in further_metrics(ranking).items():
        shown = "{:.1%}".format if metric.units == "share" else plain
        table[heading] = ["-" if np.isnan(value) else shown(value) for value in metric.values]
    if not ranking.in_reach.all():
        table["reach"] = ["yes" if inside else "no" for inside in ranking.in_reach.values]
    picture = panel(
        "candidates, the advice first",
        {"label": "", "texts": names},
        {"label": "squared error"},
        np.arange(1, len(names) + 1),
        [line("forecast error, with its interval", error, lower, upper, dots=True)],
    )
    size = counted(round(attributes["n_samples"]), "sample")
    title = (
        f"forecast with {size}; the advice first, the others by the upper end of the interval"
        f"{told and f'; errors{told}'}"
    )
    return Report(title, ranking.reasons.values.tolist(), [picture], table)


_OWN_RIDGES = "each member at its own λ*"


def _predicted(curves: xr.Dataset) -> Report:
    """Predicted risks by ridge."""
    names = [f"λ = {ridge:g}" for ridge in curves.ridge.values]
    table = curves.risk.values
    if "risk_at_optimal_ridge" in curves:
        names.append(_OWN_RIDGES)
        table = np.vstack([table, curves.risk_at_optimal_ridge.values])
    cells = {name: [plain(value, 4) for value in row] for name, row in zip(names, table, strict=True)}
    thresholds = [plain(nu) for nu in np.unique(curves.subset_fraction.values.round(12))]
    sentence = f"Without a ridge the error would be infinite at the members' thresholds α = {listed(thresholds)}."
    title = f"Predicted risk of {counted(curves.sizes['member'], 'member')}"
    return _curves(title, curves.sample_ratio, ("α = P/M", "samples per feature"), sentence, cells, table)


def _simulated(curves: xr.Dataset) -> Report:
    """Mean risks of trained ensembles with their standard errors."""
    names = [f"λ = {ridge:g}" for ridge in curves.ridge.values]
    mean, error = (each.values for each in mean_and_error(curves.risk))
    cells = {name: [*map(_with_error, *parts)] for name, *parts in zip(names, mean, error, strict=True)}
    trials = counted(curves.sizes["trial"], "trial")
    title = f"Risk of trained ensembles, {trials}"
    sentence = f"Standard errors are over {trials}; the points of one curve share samples."
    labels = ("samples P", "training samples")
    return _curves(title, curves.n_samples, labels, sentence, cells, mean, mean - error, mean + error)


def _curves(
    title: str,
    across: xr.DataArray,
    labels: tuple[str, str],
    sentence: str,
    cells: dict[str, list[str]],
    table: FloatArray,
    *bounds: FloatArray,
) -> Report:
    """Curves over samples, a row of `table` for each; `labels` name the axis and, in a sentence, the unit."""
    at = across.values.astype(float)
    names = list(cells)
    last = at.argmax()
    finite = np.isfinite(at)
    best = table[:, last].argmin()
    lowest = f"At {_place(at[last])} {labels[1]} the error is lowest for {names[best]}: {plain(table[best, last])}."
    lines = [
        line(name, *(part[finite] for part in parts), dashed=name == _OWN_RIDGES)
        for name, *parts in zip(names, table, *bounds, strict=True)
    ]
    y = {"label": "generalization error E", "log": exceeds(table[:, finite], 10)}
    picture = panel("learning curves", {"label": labels[0]}, y, at[finite], lines)
    return Report(title, [lowest, sentence], [picture], {labels[0]: [_place(x) for x in at], **cells})


def _place(x: float) -> str:
    """A sample size, a ratio or a number of members."""
    return "∞" if np.isinf(x) else f"{x:,.0f}" if x == round(x) else f"{x:.4g}"


def _with_error(mean: float, error: float) -> str:
    return f"{plain(mean, 4)} ± {plain(error, 1)}"


def _phase(diagram: xr.Dataset) -> Report:
    """Best ensemble sizes, as a map over two axes or as a table."""
    sizes = diagram.optimal_n_members
    axes = [name for name in sizes.dims if np.isfinite(sizes[name]).sum() > 1]
    one, some, all_of = ((diagram.phase == code).mean() for code in range(3))
    sentence = (
        f"One member is best on {one:.0%} of this grid, a larger finite number on {some:.0%}, and on {all_of:.0%} more "
        "members are always better."
    )
    panels = []
    if sizes.ndim == 2 and len(axes) == 2:
        y, x = axes
        labels = [sizes[name].attrs.get("long_name", name) for name in (x, y)]
        panels.append(map_panel("best ensemble size k*", sizes, x, y, labels, 200))
    columns = {str(name): sizes[name].broadcast_like(sizes) for name in sizes.dims}
    columns["best size k*"] = sizes
    shown = thinned(sizes.size, 2000)
    table = {name: [_place(x) for x in each.values.ravel()[shown]] for name, each in columns.items()}
    table["reduced risk"] = [plain(risk) for risk in diagram.reduced_risk.values.ravel()[shown]]
    return Report("Best ensemble size", [sentence], panels, table)


def _demo(curves: xr.Dataset) -> Report:
    """Theory beside trained ensembles."""
    names = curves.ensemble.values.tolist()
    mean, error = (each.values for each in mean_and_error(curves.experiment))
    sizes = curves.n_samples.values.astype(float)
    dense = curves.dense_samples.values.astype(float)
    theory = curves.theory.values
    at, lines = with_trials(names, dense, theory, sizes, mean, error)
    picture = panel("learning curves", {"label": "training samples P"}, {"label": "generalization error E"}, at, lines)
    table = {"samples": [_place(size) for size in sizes]}
    for name, predicted, *trained in zip(names, curves.theory_at_points.values, mean, error, strict=True):
        table[f"{name}\ntheory"] = [plain(value, 4) for value in predicted]
        table[f"{name}\ntrained"] = [*map(_with_error, *trained)]
    peaks = ", ".join(f"{plain(row.max())} ({name})" for name, row in zip(names, theory, strict=True))
    sentences = [
        "Equal members peak together at P = M/k; unequal ones spread the peak out.",
        f"The highest errors by theory are {peaks}. Points are means of {curves.sizes['trial']} trained ensembles.",
    ]
    title = f"Error with M = {curves.attrs['n_features']} features: theory beside trained ensembles"
    return Report(title, sentences, [picture], table)


_REPORTS = {
    "forecast": _forecast,
    "advice": _advice,
    "learning_curves": _predicted,
    "simulated_curves": _simulated,
    "phase_diagram": _phase,
    "demo": _demo,
}

"""Curves of theory with the means of trained ensembles as points, on one horizontal axis."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray
from subridge.explorer.reports.parts import TRAINED, Axis, Line, Panel, Report, brief
from subridge.explorer.reports.settings import settings_of


class Trials(NamedTuple):
    """Where ensembles were trained, shape (n,), and their means and standard errors, shape (curves, n)."""

    at: FloatArray
    mean: FloatArray
    error: FloatArray


def joined(
    names: Sequence[str], at: FloatArray, theory: FloatArray, trials: Trials
) -> tuple[FloatArray, FloatArray, list[Line]]:
    """Put both on all positions, in order, NaN where there is none: positions, theory, and the points as lines."""
    order = np.argsort(np.concatenate([at, trials.at]), kind="stable")
    blank, empty = np.full((len(theory), len(trials.at)), np.nan), np.full((len(trials.mean), len(at)), np.nan)
    parts = (trials.mean, trials.mean - trials.error, trials.mean + trials.error)
    ends = [np.concatenate([empty, part], axis=1)[:, order] for part in parts]
    points = [
        Line(name + TRAINED, middle, low, high, dots=True) for name, middle, low, high in zip(names, *ends, strict=True)
    ]
    return np.concatenate([at, trials.at])[order], np.concatenate([theory, blank], axis=1)[:, order], points


def demo_report(curves: xr.Dataset) -> Report:
    """The page of ``subridge demo``."""
    n = curves.sizes["trial"]
    names = [str(name) for name in curves.ensemble.values]
    mean = curves.experiment.mean("trial").values
    error = curves.experiment.std("trial", ddof=1).values / n**0.5
    sizes = curves.n_samples.values.astype(np.float64)
    dense = curves.dense_samples.values.astype(np.float64)
    at, theory, points = joined(names, dense, curves.theory.values, Trials(sizes, mean, error))
    lines = [Line(name, row) for name, row in zip(names, theory, strict=True)]
    panel = Panel("learning curves", Axis("training samples P"), Axis("generalization error E"), at, [*lines, *points])
    rows = [
        [brief(size), *(f"{brief(mean[e, i])} ± {brief(error[e, i])}" for e in range(len(names)))]
        for i, size in enumerate(sizes)
    ]
    peaks = ", ".join(
        f"{brief(float(row.max()))} ({name})" for name, row in zip(names, curves.theory.values, strict=True)
    )
    sentences = [
        "Equal members peak together at P = M/k; unequal ones spread the peak out.",
        f"The highest errors by theory are {peaks}. Points are means of {n} trained ensembles.",
    ]
    return Report("Theory beside trained ensembles", sentences, [panel], ["samples", *names], rows, settings_of(curves))

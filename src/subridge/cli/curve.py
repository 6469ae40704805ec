"""`subridge curve`: a learning curve by theory."""

from typing import TYPE_CHECKING, Unpack

import click
import numpy as np
import xarray as xr

import subridge as sr
from subridge.arrays.types import ArrayLike
from subridge.cli import options as shared
from subridge.cli.numbers import numbers
from subridge.cli.show import deliver, peaks, print_table, say, thinned
from subridge.model.checks import counted
from subridge.results.numbers import plain
from subridge.results.predictions import predicted_curves
from subridge.theory.thresholds import around_thresholds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 24


class CurveOptions(shared.EnsembleOptions, shared.ProblemOptions, shared.ResultOptions):
    fractions: tuple[float, ...] | None
    sample_ratios: tuple[float, ...]
    ridges: tuple[float, ...]
    optimal_ridge: bool
    n_features: int | None
    seed: int


@click.command()
@shared.ensemble_options(n_members=4, fraction_spread=0.0, strategies=("equal", "dirichlet"))
@click.option("--fractions", type=numbers, help="disjoint subset fractions ν, in place of the first three")
@click.option("--sample-ratios", type=numbers, default="0.05:2:40", help="α = P/M; inf is allowed")
@click.option("--ridges", type=numbers, default="0.001,0.1", help="λ")
@click.option("--optimal-ridge", is_flag=True, help="also every member at its own best ridge λ*")
@shared.problem_options
@click.option("--n-features", type=click.IntRange(1, 10**12), help="M of the finite-size form; default M → ∞")
@click.option("--seed", type=click.IntRange(0), default=0, help="of unequal fractions")
@shared.result_options()
def curve(**options: Unpack[CurveOptions]) -> None:
    """Predict the risk of a ridge ensemble on equicorrelated data along its learning curve (Prop. 2).

    Lists are written a,b,c or start:stop:count or log:start:stop:count.

    \b
    subridge curve --n-members 10 --ridges 0.001,0.1 --label-noise 0.1
    subridge curve --fractions 0.1,0.3,0.5 --correlation 0.4 --out curve.svg
    subridge curve --spec curve.toml --json
    """
    ratios = options["sample_ratios"]
    deliver(_predict(options, ratios), options, draw=lambda data: _draw(data, options), show=_show)


def _draw(curves: xr.Dataset, options: CurveOptions) -> "Figure":
    """The picture, along a line without corners where the points asked for are many enough to be one."""
    if np.isfinite(options["sample_ratios"]).sum() > 2:
        ratios = around_thresholds(options["sample_ratios"], curves.subset_fraction.values)
        curves = _predict(options, ratios)
    return sr.figures.plot_curve(curves)


def _predict(options: CurveOptions, sample_ratios: ArrayLike) -> xr.Dataset:
    return predicted_curves(
        shared.problem_of(options),
        shared.ensemble_of(options, _fractions(options)),
        sample_ratios,
        options["ridges"],
        n_features=options["n_features"],
        at_optimal_ridge=options["optimal_ridge"],
    )


def _fractions(options: CurveOptions) -> ArrayLike:
    if options["fractions"] is not None:
        return options["fractions"]
    spread = 0.0 if options["subsets"] == "equal" else options["fraction_spread"]
    return sr.subsets.Dirichlet(options["n_members"], spread).fractions(options["seed"])


def _show(curves: xr.Dataset) -> None:
    columns = {
        f"ridge {ridge:g}": values for ridge, values in zip(curves.ridge.values, curves.risk.values, strict=True)
    }
    if "risk_at_optimal_ridge" in curves:
        columns["own λ*"] = curves.risk_at_optimal_ridge.values
    ratios = curves.sample_ratio.values
    # Rows that are left out must not hide a peak.
    shown = sorted(set(thinned(len(ratios), _ROWS)).union(*(peaks(values) for values in columns.values())))
    left_out = len(ratios) - len(shown)
    print_table(
        f"predicted risk of {counted(curves.sizes['member'], 'member')}",
        ["P/M", *columns],
        ([f"{ratios[i]:.4g}", *(plain(values[i], 4) for values in columns.values())] for i in shown),
        caption=f"{len(shown)} of {len(ratios)} rows, peaks among them; --json or --out has all" if left_out else None,
    )
    if "own λ*" in columns:
        say("own λ*: every member at the ridge that is best for it alone, which need not be best for the ensemble.")

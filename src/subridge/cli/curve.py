"""`subridge curve`: a learning curve by theory."""

from pathlib import Path
from typing import Any

import click
import numpy as np
import xarray as xr
from rich.console import Console
from rich.table import Table

from subridge.cli.options import NUMBERS, json_option, spec_option
from subridge.cli.show import check_out, deliver

_FIELDS = ("data_scale", "correlation", "feature_noise", "alignment", "label_noise")
_ROWS = 24  # of the printed table; files and JSON hold every point


@click.command()
@click.option("--n-members", type=click.IntRange(1), default=4, show_default=True, help="k")
@click.option("--fraction-spread", type=float, default=0.0, show_default=True, help="0: equal subsets; kσ otherwise")
@click.option("--fractions", type=NUMBERS, help="disjoint subset fractions ν, in place of the two above")
@click.option("--sample-ratios", type=NUMBERS, default="0.05:2:40", show_default=True, help="α = P/M; inf is allowed")
@click.option("--ridges", type=NUMBERS, default="0.001,0.1", show_default=True, help="λ")
@click.option("--optimal-ridge", is_flag=True, help="also every member at its own best ridge λ*")
@click.option("--readout-noise", type=float, default=0.0, show_default=True, help="η")
@click.option("--data-scale", type=float, default=1.0, show_default=True, help="s")
@click.option("--correlation", type=float, default=0.0, show_default=True, help="c")
@click.option("--feature-noise", type=float, default=0.0, show_default=True, help="ω")
@click.option("--alignment", type=float, default=0.0, show_default=True, help="ρ")
@click.option("--label-noise", type=float, default=0.0, show_default=True, help="ζ")
@click.option("--n-features", type=click.IntRange(1), help="M of the finite-size form; default M → ∞")
@click.option("--seed", type=int, default=0, show_default=True, help="of unequal fractions")
@click.option(
    "--out", type=click.Path(path_type=Path), help="write a picture (.png, .svg, .pdf) or data (.nc, .csv, .json)"
)
@spec_option
@json_option
def curve(out: Path | None, as_json: bool, **options: Any) -> None:
    """Predict the risk of a ridge ensemble on equicorrelated data along its learning curve (Prop. 2).

    Lists are written a,b,c or start:stop:count or log:start:stop:count.

    \b
    subridge curve --n-members 10 --ridges 0.001,0.1 --label-noise 0.1
    subridge curve --fractions 0.1,0.3,0.5 --correlation 0.4 --out curve.svg
    subridge curve --spec curve.toml --json
    """
    check_out(out)
    deliver(_predict(options), out, as_json, draw=_draw, show=_show)


def _predict(options: dict[str, Any]) -> xr.Dataset:
    import subridge as sr
    from subridge.results.learning_curves import predicted_curves

    problem = sr.EquicorrelatedProblem(**{name: options[name] for name in _FIELDS})
    fractions = options["fractions"]
    if fractions is None:
        fractions = sr.subsets.Dirichlet(options["n_members"], options["fraction_spread"]).fractions(options["seed"])
    return predicted_curves(
        problem,
        sr.Ensemble(fractions, readout_noise=options["readout_noise"]),
        options["sample_ratios"],
        options["ridges"],
        n_features=options["n_features"],
        at_optimal_ridge=options["optimal_ridge"],
    )


def _draw(curves: xr.Dataset) -> Any:
    from subridge.figures.drawing.learning_curves import plot_curve

    return plot_curve(curves)


def _show(curves: xr.Dataset) -> None:
    table = Table(title=f"predicted risk of {curves.sizes['member']} members")
    table.add_column("P/M", justify="right")
    columns = [(f"ridge {ridge:g}", curves.risk.values[i]) for i, ridge in enumerate(curves.ridge.values)]
    if "risk_at_optimal_ridge" in curves:
        columns.append(("best ridge", curves.risk_at_optimal_ridge.values))
    for name, _ in columns:
        table.add_column(name, justify="right")
    ratios = curves.sample_ratio.values
    shown = np.unique(np.linspace(0, len(ratios) - 1, min(_ROWS, len(ratios))).round().astype(int))
    for i in shown:
        table.add_row(f"{ratios[i]:.4g}", *(f"{values[i]:.4g}" for _, values in columns))
    Console().print(table)

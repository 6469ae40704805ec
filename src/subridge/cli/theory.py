"""`subridge curve` and `subridge phase`: predictions of the theory."""

from typing import TYPE_CHECKING, Any

import click

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.options import numbers
from subridge.cli.show import deliver, print_table, say, show_report

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from subridge.arrays.types import ArrayLike

_NOISES = ("readout_nsr", "feature_nsr", "label_nsr")
_CURVE_ROWS, _MAP_ROWS, _MAP_COLUMNS = 24, 22, 13  # printed at most


@click.command(short_help="Predict a learning curve: the risk of an ensemble by theory.")
@shared.ensemble_options(n_members=4, fraction_spread=0.0, strategies=("equal", "dirichlet"))
@click.option("--fractions", type=numbers, help="disjoint subset fractions ν, in place of the first three")
@click.option("--sample-ratios", type=numbers, default="0.05:2:40", help="α = P/M; inf is allowed")
@click.option("--ridges", type=numbers, default="0.001,0.1", help="λ")
@click.option("--optimal-ridge", is_flag=True, help="also every member at its own best ridge λ*")
@shared.problem_options
@click.option("--n-features", type=click.IntRange(1, 10**12), help="M of the finite-size form; default M → ∞")
@click.option("--seed", type=click.IntRange(0), default=0, help="of unequal fractions")
@shared.result_options()
def curve(**options: Any) -> None:
    """Predict the risk of a ridge ensemble on equicorrelated data along its learning curve (Prop. 2).

    Lists are written a,b,c or start:stop:count or log:start:stop:count.

    \b
    subridge curve --n-members 10 --ridges 0.001,0.1 --label-noise 0.1
    subridge curve --fractions 0.1,0.3,0.5 --correlation 0.4 --out curve.svg
    subridge curve --spec curve.toml --json
    """
    from subridge.theory.thresholds import around_thresholds

    curves = _predict(options, options["sample_ratios"])

    def draw(curves: "xr.Dataset") -> "Figure":
        """Draw through more points, if there are enough sample ratios for a line."""
        if sum(ratio < float("inf") for ratio in options["sample_ratios"]) > 2:
            curves = _predict(options, around_thresholds(options["sample_ratios"], curves.subset_fraction.values))
        return sr.figures.plot_curve(curves)

    deliver(curves, options, draw=draw, show=_show_curves)


def _predict(options: shared.Options, sample_ratios: "ArrayLike") -> "xr.Dataset":
    from subridge.results.predictions import predicted_curves

    fractions = options["fractions"]
    if fractions is None:
        spread = 0.0 if options["subsets"] == "equal" else options["fraction_spread"]
        fractions = sr.subsets.Dirichlet(options["n_members"], spread).fractions(options["seed"])
    return predicted_curves(
        shared.problem_of(options),
        shared.ensemble_of(options, fractions),
        sample_ratios,
        options["ridges"],
        n_features=options["n_features"],
        at_optimal_ridge=options["optimal_ridge"],
    )


def _show_curves(curves: "xr.Dataset") -> None:
    from subridge.explorer.parts import thinned
    from subridge.explorer.reports import report_of

    report = report_of(curves)
    rows = report.rows
    # Peaks are always shown: values that are the highest, or higher than both neighbours.
    shown = set(thinned(len(rows), _CURVE_ROWS))
    for values in curves.risk.values:
        shown |= {i for i in range(1, len(values) - 1) if values[i - 1] < values[i] > values[i + 1]}
        shown.add(max(range(len(values)), key=lambda i: (values[i] == values[i], values[i])))
    caption = f"{len(shown)} of {len(rows)} rows, peaks among them; --json or --out has all"
    print_table(
        report.title,
        list(report.table),
        [rows[i] for i in sorted(shown)],
        caption=caption if len(shown) < len(rows) else None,
    )
    say(*report.sentences)


@click.command(short_help="The best ensemble size over sample ratio and noise.")
@click.option("--sample-ratios", type=numbers, default="0:3:31", help="α; inf is allowed")
@click.option("--alignment", type=numbers, default="0", help="ρ")
@click.option("--readout-nsr", type=numbers, default="0:2:21", help="H")
@click.option("--feature-nsr", type=numbers, default="0", help="W")
@click.option("--label-nsr", type=numbers, default="0", help="Z")
@click.option("--ridge", type=click.Choice(["0", "optimal"]), default="0", help="λ = 0 or λ*")
@click.option(
    "--aggregation",
    type=click.Choice(shared.AGGREGATIONS),
    default="mean",
    help="how outputs combine; for equal members simplex is the mean and free the scaled mean",
)
@shared.result_options()
def phase(**options: Any) -> None:
    """Best number k* of equal disjoint members, exact for every k, over the axes that have several values.

    Lists are written a,b,c or start:stop:count or log:start:stop:count; two axes give a map.

    \b
    subridge phase --readout-nsr 0:2:21 --alignment 0.3
    subridge phase --readout-nsr 0 --feature-nsr 0:2:21 --ridge optimal
    subridge phase --readout-nsr 0:2:21 --aggregation scaled
    subridge phase --sample-ratios 0:3:301,inf --readout-nsr 0:2.1:211 --out phases.png
    """
    given = (options[name] for name in ("sample_ratios", "alignment", *_NOISES))
    axes = [each if len(each) > 1 else each[0] for each in given]  # one value is a fixed parameter
    ridge = 0 if options["ridge"] == "0" else "optimal"
    diagram = sr.phase_diagram(*axes, ridge=ridge, aggregation=options["aggregation"])
    deliver(diagram, options, draw=_draw_phases, show=_show_phases)


def _draw_phases(diagram: "xr.Dataset") -> "Figure":
    from subridge.figures.drawing.phase_maps import plot_maps

    noises = [name for name in _NOISES if name in diagram.dims]
    infinite = "sample_ratio" in diagram.dims and (diagram.sample_ratio.values[:2] == float("inf")).any()
    if len(noises) != 1 or diagram.sizes.get("sample_ratio", 0) < 2 or infinite:
        raise click.UsageError("a picture needs one noise and finite sample ratios as axes; give each several values")
    full = diagram.expand_dims(ridge=[diagram.attrs["ridge"]])
    if "alignment" not in diagram.dims:
        full = full.expand_dims(alignment=[diagram.attrs["alignment"]])
    return plot_maps(full, errors=False)


def _show_phases(diagram: "xr.Dataset") -> None:
    """A map over two axes; else one line per point."""
    from subridge.explorer.parts import thinned

    sizes = diagram.optimal_n_members
    if sizes.ndim != 2:
        show_report(diagram)
        return

    def cell(k: float) -> str:
        return "∞" if k == float("inf") else ("[dim]1[/]" if k == 1 else f"[magenta]{k:.0f}[/]")

    down, across = sizes.dims
    shown = sizes[thinned(len(sizes), _MAP_ROWS)[::-1], thinned(sizes.shape[1], _MAP_COLUMNS)]
    print_table(
        f"best ensemble size k*, ridge {diagram.attrs['ridge']}, aggregation {diagram.attrs['aggregation']}",
        ["", *(f"{width:.3g}" for width in shown[across].values)],
        (
            [f"[bold]{height:.3g}[/]", *map(cell, row)]
            for height, row in zip(shown[down].values, shown.values, strict=True)
        ),
        caption=f"{down} down, {across} across",
    )

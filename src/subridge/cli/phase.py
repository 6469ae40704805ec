"""`subridge phase`: the best ensemble size over two axes."""

from typing import TYPE_CHECKING, Literal, Unpack

import click
import numpy as np
import xarray as xr

import subridge as sr
from subridge.arrays.types import ArrayLike
from subridge.cli import options as shared
from subridge.cli.numbers import numbers
from subridge.cli.show import deliver, print_table, thinned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOISES = ("readout_nsr", "feature_nsr", "label_nsr")
_ROWS, _COLUMNS = 22, 13


class PhaseOptions(shared.ResultOptions):
    sample_ratios: tuple[float, ...]
    alignment: tuple[float, ...]
    readout_nsr: tuple[float, ...]
    feature_nsr: tuple[float, ...]
    label_nsr: tuple[float, ...]
    ridge: Literal["0", "optimal"]
    aggregation: str


@click.command()
@click.option("--sample-ratios", type=numbers, default="0:3:31", help="α; inf is allowed")
@click.option("--alignment", type=numbers, default="0", help="ρ")
@click.option("--readout-nsr", type=numbers, default="0:2:21", help="H")
@click.option("--feature-nsr", type=numbers, default="0", help="W")
@click.option("--label-nsr", type=numbers, default="0", help="Z")
@click.option("--ridge", type=click.Choice(["0", "optimal"]), default="0", help="λ = 0 or λ*")
@click.option(
    "--aggregation",
    type=click.Choice(["mean", "scaled", "simplex", "free"]),
    default="mean",
    help="how outputs combine; for equal members simplex is the mean and free the scaled mean",
)
@shared.result_options()
def phase(**options: Unpack[PhaseOptions]) -> None:
    """Best number k* of equal disjoint members, exact for every k, over the axes that have several values.

    Lists are written a,b,c or start:stop:count or log:start:stop:count; two axes give a map.

    \b
    subridge phase --readout-nsr 0:2:21 --alignment 0.3
    subridge phase --readout-nsr 0 --feature-nsr 0:2:21 --ridge optimal
    subridge phase --readout-nsr 0:2:21 --aggregation scaled
    subridge phase --sample-ratios 0:3:301,inf --readout-nsr 0:2.1:211 --out phases.png
    """
    diagram = sr.phase_diagram(
        _axis(options["sample_ratios"]),
        _axis(options["alignment"]),
        _axis(options["readout_nsr"]),
        _axis(options["feature_nsr"]),
        _axis(options["label_nsr"]),
        ridge=0 if options["ridge"] == "0" else "optimal",
        aggregation=options["aggregation"],
    )
    deliver(diagram, options, draw=_draw, show=_show)


def _axis(values: tuple[float, ...]) -> ArrayLike:
    """One value is a fixed parameter, several are an axis."""
    return values if len(values) > 1 else values[0]


def _draw(diagram: xr.Dataset) -> "Figure":
    from subridge.figures.drawing.phase_maps import plot_maps

    noises = [name for name in _NOISES if name in diagram.dims]
    if len(noises) != 1 or diagram.sizes.get("sample_ratio", 0) < 2 or np.isinf(diagram.sample_ratio.values[:2]).any():
        raise click.UsageError("a picture needs one noise and finite sample ratios as axes; give each several values")
    full = diagram.expand_dims(ridge=[diagram.attrs["ridge"]])
    if "alignment" not in diagram.dims:
        full = full.expand_dims(alignment=[diagram.attrs["alignment"]])
    return plot_maps(full, errors=False)


def _show(diagram: xr.Dataset) -> None:
    sizes, title = diagram.optimal_n_members, _title(diagram)
    if sizes.ndim != 2:
        _show_list(diagram, title)
        return
    down, across = sizes.dims
    heights, widths = sizes[down].values, sizes[across].values
    columns = thinned(len(widths), _COLUMNS)
    print_table(
        title,
        ["", *(f"{widths[j]:.3g}" for j in columns)],
        (
            [f"[bold]{heights[i]:.3g}[/]", *(_cell(sizes.values[i, j]) for j in columns)]
            for i in thinned(len(heights), _ROWS)[::-1]
        ),
        caption=f"{down} down, {across} across",
    )


def _title(diagram: xr.Dataset) -> str:
    return f"best ensemble size k*, ridge {diagram.attrs['ridge']}, aggregation {diagram.attrs['aggregation']}"


def _show_list(diagram: xr.Dataset, title: str) -> None:
    """One line per point, for one axis, none, or more than two."""
    sizes = diagram.optimal_n_members
    print_table(
        title,
        [*map(str, sizes.dims), "k*", "reduced risk"],
        (
            [
                *(f"{sizes[name].values[i]:.4g}" for name, i in zip(sizes.dims, place, strict=True)),
                _cell(sizes.values[place]),
                f"{diagram.reduced_risk.values[place]:.4g}",
            ]
            for place in np.ndindex(*sizes.shape)
        ),
    )


def _cell(k: float) -> str:
    return "∞" if np.isinf(k) else ("[dim]1[/]" if k == 1 else f"[magenta]{k:.0f}[/]")

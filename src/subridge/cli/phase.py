"""`subridge phase`: the best ensemble size over two axes."""

from pathlib import Path
from typing import Any

import click
import numpy as np
import xarray as xr
from rich.console import Console
from rich.table import Table

from subridge.cli.options import NUMBERS, json_option, spec_option
from subridge.cli.show import check_out, deliver

_NOISES = ("readout_nsr", "feature_nsr", "label_nsr")
_ROWS, _COLUMNS = 22, 13  # of the printed table; files and JSON hold every point


@click.command()
@click.option("--sample-ratio", type=NUMBERS, default="0:3:31", show_default=True, help="α; inf is allowed")
@click.option("--alignment", type=NUMBERS, default="0", show_default=True, help="ρ")
@click.option("--readout-nsr", type=NUMBERS, default="0:2:21", show_default=True, help="H")
@click.option("--feature-nsr", type=NUMBERS, default="0", show_default=True, help="W")
@click.option("--label-nsr", type=NUMBERS, default="0", show_default=True, help="Z")
@click.option("--ridge", type=click.Choice(["0", "optimal"]), default="0", show_default=True, help="λ = 0 or λ*")
@click.option(
    "--out", type=click.Path(path_type=Path), help="write a picture (.png, .svg, .pdf) or data (.nc, .csv, .json)"
)
@spec_option
@json_option
def phase(out: Path | None, as_json: bool, ridge: str, **axes: tuple[float, ...]) -> None:
    """Best number k* of equal disjoint members, exact for every k, over the axes that have several values.

    Lists are written a,b,c or start:stop:count or log:start:stop:count; two axes give a map.

    \b
    subridge phase --readout-nsr 0:2:21 --alignment 0.3
    subridge phase --readout-nsr 0 --feature-nsr 0:2:21 --ridge optimal
    subridge phase --sample-ratio 0:3:301,inf --readout-nsr 0:2.1:211 --out phases.png
    """
    import subridge as sr

    check_out(out)
    given = {name: np.array(values) if len(values) > 1 else values[0] for name, values in axes.items()}
    diagram = sr.phase_diagram(**given, ridge=0 if ridge == "0" else ridge)
    deliver(diagram, out, as_json, draw=_draw, show=_show)


def _draw(diagram: xr.Dataset) -> Any:
    from subridge.figures.drawing.phase_maps import plot_maps

    noises = [name for name in _NOISES if name in diagram.dims]
    if len(noises) != 1 or diagram.sizes.get("sample_ratio", 0) < 2 or np.isinf(diagram.sample_ratio.values[:2]).any():
        raise click.UsageError("a picture needs one noise and finite sample ratios as axes; give each several values")
    full = diagram.expand_dims(ridge=[diagram.attrs["ridge"]])
    if "alignment" not in diagram.dims:
        full = full.expand_dims(alignment=[diagram.attrs["alignment"]])
    return plot_maps(full, errors=False)


def _show(diagram: xr.Dataset) -> None:
    sizes = diagram.optimal_n_members
    if sizes.ndim != 2:
        _show_list(diagram)
        return
    down, across = sizes.dims
    rows, columns = (_thinned(sizes.sizes[name], most) for name, most in ((down, _ROWS), (across, _COLUMNS)))
    table = Table(
        title=f"best ensemble size k*, ridge {diagram.attrs['ridge']}", caption=f"{down} down, {across} across"
    )
    table.add_column("", justify="right", style="bold")
    for j in columns:
        table.add_column(f"{sizes[across].values[j]:.3g}", justify="right")
    for i in rows[::-1]:
        table.add_row(f"{sizes[down].values[i]:.3g}", *(_cell(sizes.values[i, j]) for j in columns))
    Console().print(table)


def _show_list(diagram: xr.Dataset) -> None:
    """One line per point, for one axis, none, or more than two."""
    sizes = diagram.optimal_n_members
    table = Table(title=f"best ensemble size, ridge {diagram.attrs['ridge']}")
    for name in (*map(str, sizes.dims), "k*", "reduced risk"):
        table.add_column(name, justify="right")
    for place in np.ndindex(*sizes.shape):
        where = [f"{sizes[name].values[i]:.4g}" for name, i in zip(sizes.dims, place, strict=True)]
        table.add_row(*where, _cell(sizes.values[place]), f"{diagram.reduced_risk.values[place]:.4g}")
    Console().print(table)


def _thinned(length: int, most: int) -> Any:
    return np.unique(np.linspace(0, length - 1, min(most, length)).round().astype(int))


def _cell(k: float) -> str:
    return "∞" if np.isinf(k) else ("[dim]1[/]" if k == 1 else f"[magenta]{k:.0f}[/]")

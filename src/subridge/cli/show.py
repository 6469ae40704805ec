"""Results as JSON, and results to files, for every command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import xarray as xr

from subridge.results.files import PICTURES, checked_suffix, to_json, whole_file, write_result
from subridge.spec.errors import ParameterError


def deliver(
    dataset: xr.Dataset,
    out: Path | None,
    as_json: bool,
    *,
    draw: Callable[[xr.Dataset], Any],
    show: Callable[[xr.Dataset], None],
) -> None:
    """Write a result to a file if one was named, as a picture or as data, and print it as JSON or for the eye."""
    if out is not None:
        if checked_suffix(out) in PICTURES:
            with whole_file(out) as beside:
                draw(dataset).savefig(beside, dpi=300)
        else:
            write_result(dataset, out)
        click.echo(f"wrote {out}", err=True)
    if as_json:
        click.echo(to_json(dataset))
    else:
        show(dataset)


def check_out(out: Path | None) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if out is None:
        return
    try:
        checked_suffix(out)
    except ParameterError as error:
        raise click.UsageError(f"--out: {error}") from error
    if not out.parent.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {out.parent}")

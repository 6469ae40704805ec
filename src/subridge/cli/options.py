"""Options that several commands share, one group for each concept, and what is built from them.

A group is a decorator, a typed dictionary of what the command receives, and a function that makes the object. A new
option of a group is added here and nowhere else.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar

import click

import subridge as sr
from subridge.arrays.types import ArrayLike
from subridge.cli.numbers import finite
from subridge.cli.specification import spec_option
from subridge.model.aggregation import AGGREGATIONS
from subridge.model.errors import ParameterError
from subridge.model.subsets import STRATEGIES, Strategy, StrategyOptions, read_strategy
from subridge.results.files import checked_suffix

# Where a context keeps the words of the command line.
ARGUMENTS = "subridge.arguments"

Command = TypeVar("Command", bound=Callable[..., None])


class Decorator(Protocol):
    """What adds options to a command."""

    def __call__(self, command: Command, /) -> Command: ...


def option_group(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of ``--help``."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def number_option(flag: str, default: float, letter: str) -> Decorator:
    """An option that takes a finite number, with the letter of the paper."""
    return click.option(flag, type=finite, default=default, help=letter)


class ProblemOptions(TypedDict):
    """Equicorrelated data."""

    data_scale: float
    correlation: float
    feature_noise: float
    alignment: float
    label_noise: float


problem_options = option_group(
    number_option("--data-scale", 1.0, "s"),
    number_option("--correlation", 0.0, "c"),
    number_option("--feature-noise", 0.0, "ω"),
    number_option("--alignment", 0.0, "ρ"),
    number_option("--label-noise", 0.0, "ζ"),
)


def problem_of(options: ProblemOptions) -> sr.EquicorrelatedProblem:
    """The problem that the options describe."""
    return sr.EquicorrelatedProblem(
        options["data_scale"],
        options["correlation"],
        options["feature_noise"],
        options["alignment"],
        options["label_noise"],
    )


class EnsembleOptions(TypedDict):
    """An ensemble without its ridge."""

    n_members: int
    subsets: str
    fraction_spread: float
    readout_noise: float
    aggregation: str


def ensemble_options(
    n_members: int, fraction_spread: float, strategies: tuple[str, ...] = tuple(STRATEGIES)
) -> Decorator:
    """Options of an ensemble, with the defaults of a command and the strategies that it can use."""
    return option_group(
        click.option("--n-members", type=click.IntRange(1, 10_000), default=n_members, help="k"),
        click.option(
            "--subsets",
            type=click.Choice(strategies),
            default="dirichlet",
            help="how members share the features; dirichlet: as unequal as --fraction-spread says",
        ),
        number_option("--fraction-spread", fraction_spread, "kσ of dirichlet subsets; 0: equal ones"),
        number_option("--readout-noise", 0.0, "η of every member"),
        click.option(
            "--aggregation",
            type=click.Choice(tuple(AGGREGATIONS)),
            default="mean",
            help="how outputs of members become one",
        ),
    )


def strategy_of(options: EnsembleOptions, n_features: int) -> Strategy:
    """How members share so many features."""
    return read_strategy(
        options["subsets"],
        StrategyOptions(options["n_members"], n_features, fraction_spread=options["fraction_spread"]),
    )


def ensemble_of(options: EnsembleOptions, subsets: Strategy | ArrayLike) -> sr.Ensemble:
    """The ensemble that the options describe, on such subsets."""
    return sr.Ensemble(subsets, readout_noise=options["readout_noise"], aggregation=options["aggregation"])


class RunOptions(TypedDict):
    """Where experiments run."""

    device: str
    processes: int | None
    scheduler: str | None


def _address(text: str) -> str:
    """The address of a scheduler; a name without a port would be looked for for half a minute."""
    if not re.fullmatch(r"(?:\w+://)?[^\s/:]+:\d+|(?:inproc|ucx|tls|tcp|ws|wss)://\S+", text):
        raise click.BadParameter(f"{text!r} is not the address of a Dask scheduler, such as tcp://host:8786")
    return text


def _device(text: str) -> str:
    """The name of a device; whether it is there is found where the work is done."""
    if not re.fullmatch(r"cpu|torch|cuda(?::\d+)?", text):
        raise click.BadParameter(f"{text!r} is not cpu, torch, cuda or cuda:NUMBER")
    return text


run_options = option_group(
    click.option("--device", type=_device, metavar="NAME", default="cpu", help="cpu, cuda, cuda:1, torch"),
    click.option("--processes", type=click.IntRange(1), help="simulate in that many processes"),
    click.option("--scheduler", type=_address, metavar="ADDRESS", help="address of a Dask scheduler, tcp://host:port"),
)


def run_of(options: RunOptions, *, store: Path | None = None, memory: int | None = None) -> sr.Run:
    """Where to run, as the options say."""
    return sr.Run(
        device=options["device"],
        executor=options["processes"],
        scheduler=options["scheduler"],
        store=store,
        memory=memory,
    )


class ResultOptions(TypedDict):
    """What becomes of a result."""

    out: Path | None
    as_json: bool


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON (infinity as a string).")


def result_options(out: Path | None = None) -> Decorator:
    """``--out``, ``--spec`` and ``--json``; a file that cannot be written is refused before the work."""
    return option_group(
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            default=out,
            callback=_checked_place,
            help="write a page (.html), a picture (.png, .svg, .pdf) or data (.nc, .csv, .json)",
        ),
        spec_option,
        json_option,
    )


def _checked_place(_context: click.Context, _option: click.Parameter, out: Path | None) -> Path | None:
    if out is None:
        return None
    try:
        checked_suffix(out)
    except ParameterError as error:
        raise click.BadParameter(str(error)) from error
    return writable(out)


def writable(out: Path) -> Path:
    """A file to be written; what stands in its way is told before the work."""
    if "://" in str(out) or str(out).startswith(("s3:/", "gs:/", "http:/", "https:/")):
        raise click.BadParameter(f"{out} is an address; results are written to files of this machine")
    out = out.expanduser()
    if not out.parent.is_dir():
        raise click.BadParameter(f"{out} cannot be written: there is no folder {out.parent}")
    if out.is_dir():
        raise click.BadParameter(f"{out} is a folder; give the name of a file")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise click.BadParameter(f"{out} cannot be written: you may not write there")
    return out

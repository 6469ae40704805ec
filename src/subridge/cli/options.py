"""Options that several commands share, the objects that are built from them, and how their values are read.

Slow modules are imported after a command has checked its arguments, so that help and errors appear at once.
"""

import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import subridge as sr
from subridge.model.errors import DeviceError
from subridge.results.suffixes import checked_suffix

if TYPE_CHECKING:
    from subridge.arrays.types import ArrayLike
    from subridge.model.subsets import Strategy

# The arguments of a command, by the names of its flags; click has checked the values.
Options: TypeAlias = Mapping[str, Any]
# A function that adds options to a command, or turns a function into a command.
Decorator: TypeAlias = Callable[[Any], Any]

ARGUMENTS = "subridge.arguments"  # key of the words of the command line in the metadata of a context
AGGREGATIONS = ("mean", "scaled", "simplex", "free")  # those with a theory
STRATEGIES = ("equal", "dirichlet", "overlapping", "projection")
_SIZES = 12  # numbers of "start:stop"
_MOST = 100_000  # most numbers in a list


def some_of(options: Options, *names: str) -> dict[str, Any]:
    """The options of these names, as keyword arguments."""
    return {name: options[name] for name in names}


def option_group(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of ``--help``."""
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


# How values are read.


def numbers(text: str) -> tuple[float, ...]:
    """Read a list of numbers; it may join several of these with commas.

    These are ``a,b,c``; ``start:stop:count`` with equal steps; ``log:start:stop:count`` with equal factors; and
    ``start:stop`` for twelve numbers with equal factors.

    Examples
    --------
    >>> numbers("0:1:3,inf")
    (0.0, 0.5, 1.0, inf)
    >>> len(numbers("400:20000"))
    12
    """
    return tuple(number for part in _parts(text) for number in part)


def sizes(text: str) -> tuple[float, ...]:
    """Read a list of sizes: `numbers`, rounded to whole numbers; spaced numbers that coincide count once."""
    found: list[float] = []
    for part in _parts(text):
        if not all(1 <= number < 1e15 or number == math.inf for number in part):
            raise click.BadParameter(f"{text!r} must hold whole numbers from 1 to 10¹⁵")
        found += dict.fromkeys(round(number) if number < math.inf else number for number in part)
    return tuple(found)


def member_counts(text: str) -> tuple[float, ...]:
    """Read a list of finite sizes.

    Examples
    --------
    >>> member_counts("2,4,8")
    (2, 4, 8)
    """
    found = sizes(text)
    if max(found) >= 1e9:
        raise click.BadParameter(f"{text!r} must hold whole numbers of at least 1")
    return found


def _parts(text: str) -> list[list[float]]:
    try:
        return [_part(part.strip()) for part in text.split(",")]
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise click.BadParameter(
            f"{text!r} is not a,b,c, start:stop:count, log:start:stop:count or start:stop"
        ) from error


def _part(text: str) -> list[float]:
    words = text.removeprefix("log:").split(":")
    start = float(words[0])
    stop = float(words[min(1, len(words) - 1)])
    if len(words) == 1 and text == words[0] and not math.isnan(start):
        return [start]
    count = int(words[2]) if len(words) == 3 else _SIZES
    even = len(words) == 3 and not text.startswith("log:")
    if not (math.isfinite(start) and math.isfinite(stop) and 2 <= len(words) <= 3 and (even or start * stop > 0)):
        raise ValueError
    if not 1 <= count <= _MOST:
        raise click.BadParameter(f"{text!r} asks for {count:,} numbers; a list has 1 to {_MOST:,}")
    shares = [place / (count - 1) for place in range(1, count - 1)]
    inner = [start + share * (stop - start) if even else start * (stop / start) ** share for share in shares]
    return [start, *inner, stop][:count]


def finite(text: str) -> float:
    """Read one number.

    Examples
    --------
    >>> finite("1e-3")
    0.001
    """
    number = float(click.FLOAT(text))
    if not abs(number) <= 1e100:  # its square must not overflow
        raise click.BadParameter(f"{text!r} is not a finite number up to 1e100")
    return number


def _address(text: str) -> str:
    """Read the address of a scheduler. Dask would search half a minute for a name without a port."""
    if re.fullmatch(r"(?:\w+://)?[^\s/:]+:\d+|(?:inproc|ucx|tls|tcp|ws|wss)://\S+", text):
        return text
    raise click.BadParameter(f"{text!r} is not the address of a Dask scheduler, such as tcp://host:8786")


def _device(text: str) -> str:
    """Read the name of a device. Whether this machine has it is checked later."""
    if re.fullmatch(r"cpu|torch|cuda(:\d+)?", text):
        return text
    raise DeviceError(f"device must be cpu, torch, cuda or cuda:<number>, got {text!r}")


def redrawn(text: str) -> tuple[str, ...]:
    """Read what every trial draws again, separated by commas.

    Examples
    --------
    >>> redrawn("data, teacher")
    ('data', 'teacher')
    """
    choice = click.Choice(("data", "teacher", "subsets"))
    return tuple(choice.convert(word.strip(), None, None) for word in text.split(",") if word.strip())


# Groups of options, and what is built from them


def number_option(flag: str, default: float, letter: str) -> Decorator:
    """An option that takes a finite number, with the letter of the paper."""
    return click.option(flag, type=finite, default=default, help=letter)


problem_options = option_group(
    number_option("--data-scale", 1.0, "s"),
    number_option("--correlation", 0.0, "c"),
    number_option("--feature-noise", 0.0, "ω"),
    number_option("--alignment", 0.0, "ρ"),
    number_option("--label-noise", 0.0, "ζ"),
)


def problem_of(options: Options) -> "sr.EquicorrelatedProblem":
    """Equicorrelated data, as the options say."""
    return sr.EquicorrelatedProblem(
        **some_of(options, "data_scale", "correlation", "feature_noise", "alignment", "label_noise")
    )


def ensemble_options(
    n_members: int, fraction_spread: float, strategies: tuple[str, ...] = STRATEGIES, subsets: str | None = "dirichlet"
) -> Decorator:
    """Options of an ensemble without its ridge, with the defaults of a command and the strategies that it can use."""
    return option_group(
        click.option("--n-members", type=click.IntRange(1, 10_000), default=n_members, help="k"),
        click.option(
            "--subsets",
            type=click.Choice(strategies),
            default=subsets,
            help="how members share the features; dirichlet: as unequal as --fraction-spread says"
            + ("" if subsets else "; default: overlapping, half of the features each"),
        ),
        number_option("--fraction-spread", fraction_spread, "kσ of dirichlet subsets; 0: equal ones"),
        number_option("--readout-noise", 0.0, "η of every member"),
        click.option(
            "--aggregation",
            type=click.Choice(AGGREGATIONS),
            default="mean",
            help="how the outputs of members are combined",
        ),
    )


def strategy_of(options: Options, n_features: int) -> "Strategy":
    """How members share `n_features` features."""
    from subridge.model.subsets import StrategyOptions, read_strategy

    return read_strategy(
        options["subsets"],
        StrategyOptions(options["n_members"], n_features, fraction_spread=options["fraction_spread"]),
    )


def ensemble_of(options: Options, subsets: "Strategy | ArrayLike") -> "sr.Ensemble":
    """The ensemble that the options describe, on these subsets."""
    return sr.Ensemble(subsets, readout_noise=options["readout_noise"], aggregation=options["aggregation"])


run_options = option_group(
    click.option("--device", metavar="NAME", type=_device, default="cpu", help="cpu, cuda, cuda:1, torch"),
    click.option("--processes", type=click.IntRange(1), help="simulate in that many processes"),
    click.option("--scheduler", metavar="ADDRESS", type=_address, help="address of a Dask scheduler, tcp://host:port"),
)


def run_of(options: Options) -> "sr.Run":
    """Where to run, as the options say."""
    return sr.Run(
        device=options["device"],
        executor=options["processes"],
        scheduler=options["scheduler"],
        store=options.get("store"),
        memory=options.get("memory"),
    )


# Results and specification files

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
    if out is not None:
        checked_suffix(out)
    return out and writable(out)


def writable(out: Path) -> Path:
    """The path of an output file, which must be writable; this is checked before the work."""
    out = out.expanduser()
    if out.is_dir() or not os.access(out if out.exists() else out.parent, os.W_OK):
        raise click.BadParameter(f"{out} cannot be written: give a file in a folder of this machine that is writable")
    return out


def _read_specification(ctx: click.Context, option: click.Parameter, file: Path | None) -> None:
    """Take the defaults of a command's options from a TOML file.

    Keys are the names of flags, with dashes or underscores, at the top of the file or in a table named after the
    command. Tables of other commands are ignored.
    """
    if file is None:
        return
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{file} is not TOML: {error}", ctx, option) from error
    commands = getattr(ctx.find_root().command, "commands", {})
    tables = {name: written.pop(name) for name in commands if isinstance(written.get(name), dict)}
    known = {
        flag.lstrip("-").replace("-", "_"): param
        for param in ctx.command.params
        for flag in (*param.opts, *param.secondary_opts, str(param.name))
        if param is not option
    }
    defaults = {}
    for key, value in (written | tables.get(ctx.info_name, {})).items():
        param = known.get(key.replace("-", "_"))
        if param is None or isinstance(value, dict):
            raise click.BadParameter(
                f"{file} has {key!r}, which is not an option of this command ({', '.join(sorted(known))}); a table is "
                f"named after its command ({', '.join(commands)}) and holds options only",
                ctx,
                option,
            )
        if param.nargs == 1 and not (isinstance(param, click.Option) and (param.multiple or param.is_flag)):
            # As on the command line.
            value = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        defaults[param.name] = value
    ctx.default_map = defaults


spec_option = click.option(
    "--spec",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_read_specification,
    is_eager=True,  # before the others, which take their defaults from it
    expose_value=False,
    help="TOML file with these options; flags override it.",
)

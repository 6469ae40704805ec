"""Options that several commands share: lists of numbers, a specification file, JSON."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np


class Numbers(click.ParamType):
    """A list of numbers: ``a,b,c``, evenly spaced ``start:stop:count``, or logarithmically ``log:start:stop:count``."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(number for part in str(value).split(",") for number in _run(part.strip()))
        except ValueError:
            self.fail(f"{value!r} is not a,b,c, start:stop:count or log:start:stop:count", param, ctx)


def _run(text: str) -> list[float]:
    spaced = np.geomspace if text.startswith("log:") else np.linspace
    words = text.removeprefix("log:").split(":")
    if len(words) == 1:
        return [float(words[0])]
    start, stop, count = words
    return [float(number) for number in spaced(float(start), float(stop), int(count))]


NUMBERS = Numbers()


class Sizes(click.ParamType):
    """Sample sizes: ``a,b,c``, or spaced by equal factors ``start:stop`` (12 of them) or ``start:stop:count``."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            words = str(value).split(":")
            if len(words) == 1:
                return tuple(float(word) for word in words[0].split(","))
            start, stop, count = (*words, "12") if len(words) == 2 else words
            if not np.isfinite([float(start), float(stop)]).all():
                raise ValueError
            return tuple(float(size) for size in np.unique(np.geomspace(float(start), float(stop), int(count)).round()))
        except ValueError:
            self.fail(f"{value!r} is not a,b,c, start:stop or start:stop:count", param, ctx)


SIZES = Sizes()


def spec_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--spec FILE``: a TOML file with the command's options, which flags override.

    Keys are the names of the flags, with dashes or underscores, at the top of the file or in a table named after the
    command; tables of other commands are passed over.
    """
    return click.option(
        "--spec",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        callback=_read_specification,
        is_eager=True,  # before the others, which take their defaults from it
        expose_value=False,
        help="TOML file with these options; flags override it.",
    )(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json``: results on standard output as JSON, in place of a table."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON (infinity as a string).")(
        command
    )


def _read_specification(ctx: click.Context, option: click.Parameter, file: Path | None) -> None:
    if file is None:
        return
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{file} is not TOML: {error}", ctx, option) from error
    chosen = {key: value for key, value in written.items() if not isinstance(value, dict)}
    chosen |= written.get(ctx.info_name or "", {})
    known = {name: param for param in ctx.command.params for name in _names(param)}
    defaults: dict[str, Any] = {}
    for key, value in chosen.items():
        param = known.get(key.replace("-", "_"))
        if param is None or param is option:
            names = ", ".join(sorted(name for name in known if name not in ("spec", "help")))
            raise click.BadParameter(f"{file} has {key!r}, which is no option of this command ({names})", ctx, option)
        many = param.nargs != 1 or param.multiple if isinstance(param, click.Option) else param.nargs != 1
        defaults[str(param.name)] = _as_typed(value) if not many else value
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def _names(param: click.Parameter) -> set[str]:
    """What an option may be called in a file: its flags without dashes."""
    flags = [flag.lstrip("-").replace("-", "_") for flag in (*param.opts, *param.secondary_opts)]
    return {*flags, str(param.name)}


def _as_typed(value: Any) -> Any:
    """A list as it would be typed on the command line."""
    return ",".join(str(item) for item in value) if isinstance(value, list) else value

"""``--spec FILE``: the options of a command in a file."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from subridge.arrays.types import Json

Command = TypeVar("Command", bound=Callable[..., None])


def spec_option(command: Command) -> Command:
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


def _read_specification(ctx: click.Context, option: click.Parameter, file: Path | None) -> None:
    if file is None:
        return
    try:
        written: dict[str, Json] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{file} is not TOML: {error}", ctx, option) from error
    group = ctx.parent.command if ctx.parent is not None else None
    commands = group.list_commands(ctx) if isinstance(group, click.Group) else [ctx.info_name]
    chosen = {key: value for key, value in written.items() if not (isinstance(value, dict) and key in commands)}
    table = written.get(ctx.info_name or "")
    chosen |= table if isinstance(table, dict) else {}
    nested = [key for key, value in chosen.items() if isinstance(value, dict)]
    if nested:
        raise click.BadParameter(
            f"{file} has a table [{nested[0]}], but tables are named after commands ({', '.join(map(str, commands))}) "
            "and hold options only; put its options at the top of the file or into the table of the command",
            ctx,
            option,
        )
    known = {name: param for param in ctx.command.params for name in _names(param)}
    defaults: dict[str, Json] = {}
    for key, value in chosen.items():
        param = known.get(key.replace("-", "_"))
        if param is None or param is option:
            names = ", ".join(sorted(name for name in known if name not in ("spec", "help")))
            raise click.BadParameter(f"{file} has {key!r}, which is no option of this command ({names})", ctx, option)
        many = param.nargs != 1 or (isinstance(param, click.Option) and param.multiple)
        if isinstance(value, list) and not many:
            value = ",".join(map(str, value))  # as a list is typed on the command line
        defaults[str(param.name)] = value
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def _names(param: click.Parameter) -> set[str]:
    """What an option may be called in a file: its flags without dashes."""
    flags = [flag.lstrip("-").replace("-", "_") for flag in (*param.opts, *param.secondary_opts)]
    return {*flags, str(param.name)}

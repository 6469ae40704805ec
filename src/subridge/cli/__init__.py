"""The command line: parse, call, show. Slow modules are imported after the arguments are checked.

Exit codes: 0 done, 1 the work failed, 2 the command line or the specification file is wrong, 130 interrupted.
"""

import sys
import warnings
from typing import Any

import click

from subridge import __version__
from subridge.cli.experiments import demo, simulate
from subridge.cli.messages import cleaned, with_flags
from subridge.cli.options import ARGUMENTS
from subridge.cli.reproduce import reproduce
from subridge.cli.tables import advise, forecast
from subridge.cli.theory import curve, phase
from subridge.cli.writers import explore, features
from subridge.model.errors import ParameterError, RidgeError, SubridgeError, SubsetError

# Errors in what the user asks for: exit code 2, as for a flag that does not exist.
_WRONG_USAGE = (ParameterError, SubsetError, RidgeError)

_EPILOG = """\b
Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.
Completion, in the start-up file of the shell:
  bash   eval "$(_SUBRIDGE_COMPLETE=bash_source subridge)"
  zsh    eval "$(_SUBRIDGE_COMPLETE=zsh_source subridge)"
  fish   _SUBRIDGE_COMPLETE=fish_source subridge | source
"""


class _Group(click.Group):
    """The commands, in their order, with errors and warnings as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)  # pages show the command that makes them
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> None:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # characters that the terminal lacks
        if ctx.params["debug"]:
            super().invoke(ctx)
            return
        said = set[str]()

        def told(text: str) -> str:
            return with_flags(text, self.commands.get(ctx.invoked_subcommand or ""))

        def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
            """Print each warning once, in one line, without its place in the program."""
            if str(message) not in said:
                click.echo(f"Warning: {told(str(message))}", err=True)
            said.add(str(message))

        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            try:
                super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
                raise  # click handles these
            except KeyboardInterrupt as error:
                click.echo(f"\n{told(str(error)) or 'interrupted'}", err=True)
                raise click.exceptions.Exit(130) from error
            except _WRONG_USAGE as error:
                raise click.UsageError(told(str(error))) from error
            except (SubridgeError, OSError) as error:
                raise click.ClickException(told(str(error))) from error
            except MemoryError as error:
                raise click.ClickException("out of memory: ask for less at once, or use a larger machine") from error
            except Exception as error:
                raise click.ClickException(
                    f"unexpected {type(error).__name__}: {cleaned(str(error))}\nThis is a bug in subridge; "
                    "`subridge --debug ...` shows where it happened."
                ) from error


@click.group(cls=_Group, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="subridge")
@click.option("--debug", is_flag=True, envvar="SUBRIDGE_DEBUG", help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Learning curves of ridge ensembles on subsets of features."""


for _command in (demo, curve, phase, simulate, forecast, advise, reproduce, features, explore):
    main.add_command(_command)

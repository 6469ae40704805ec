"""The command line: parse, call, show. Commands load when used, so that ``--help`` answers at once.

Exit codes: 0 done, 1 the work failed, 2 the command line or the specification file is wrong, 130 interrupted.
"""

import warnings
from importlib import import_module
from typing import TextIO

import click

from subridge import __version__
from subridge.cli.messages import cleaned, with_flags
from subridge.model.errors import ParameterError, RidgeError, SubridgeError, SubsetError

# What was asked for cannot be: exit code 2, as for a flag that does not exist.
_WRONG_USAGE = (ParameterError, SubsetError, RidgeError)

# What --help says of the command in each module, without importing it.
_COMMANDS = {
    "demo": "One learning curve in seconds: theory beside trained ensembles.",
    "curve": "Predict a learning curve: the risk of an ensemble by theory.",
    "phase": "The best ensemble size over sample ratio and noise.",
    "simulate": "Train ensembles on sampled data; exact risks along a curve.",
    "forecast": "The learning curve your data will have, from its first rows.",
    "advise": "Which ensemble for your data, at a planned size, and why.",
    "reproduce": "Remake the paper's figures, with data and a report page.",
    "features": "Deep features of a folder of images, into a store.",
    "explore": "A page with sliders: curves, phases, risk matrices; no server.",
}

_EPILOG = """\b
Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.
Completion, in the start-up file of the shell:
  bash   eval "$(_SUBRIDGE_COMPLETE=bash_source subridge)"
  zsh    eval "$(_SUBRIDGE_COMPLETE=zsh_source subridge)"
  fish   _SUBRIDGE_COMPLETE=fish_source subridge | source
"""


class _LazyGroup(click.Group):
    """A group whose commands are imported on first use, and whose errors are messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"subridge.cli.{cmd_name}"), cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["subridge.arguments"] = tuple(args)  # for pages, which say how to make them again
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> None:
        if ctx.params["debug"]:
            super().invoke(ctx)
            return

        def told(text: str) -> str:
            return with_flags(text, self.get_command(ctx, ctx.invoked_subcommand or ""))

        said = set[str]()

        def show_warning(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            """Say a warning in one line and once, without the place in the program."""
            if str(message) not in said:
                click.echo(f"Warning: {told(str(message))}", err=True)
            said.add(str(message))

        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            try:
                super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
                raise  # click says these itself
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
                    f"unexpected {type(error).__name__}: {cleaned(str(error))}\nThis is a mistake of the program; "
                    "`subridge --debug ...` shows where it happened."
                ) from error


@click.group(
    cls=_LazyGroup, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="subridge")
@click.option("--debug", is_flag=True, envvar="SUBRIDGE_DEBUG", help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Learning curves of ridge ensembles on subsets of features."""

"""The command line: parse, call, show. Commands load when used, so that ``--help`` answers at once."""

from importlib import import_module

import click

from subridge import __version__

# name -> (where the command lives, what --help says without importing it)
_COMMANDS = {
    "demo": ("subridge.cli.demo:demo", "One learning curve in seconds: theory beside trained ensembles."),
    "simulate": (
        "subridge.cli.simulate:simulate",
        "Train ensembles on sampled data; exact risks along a learning curve.",
    ),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name][0].split(":")
        return getattr(import_module(module), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="subridge")
def main() -> None:
    """Learning curves of ridge ensembles on subsets of features."""

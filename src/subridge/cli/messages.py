"""Messages of the package as the command line says them: flags for arguments, and nothing that moves a cursor."""

import re
import shlex
from collections.abc import Callable, Iterable

import click

# What an argument is called in Python where the flag is spelled otherwise.
_SYNONYMS = {
    "sample_ratio": "sample_ratios",
    "ridge": "ridges",
    "executor": "processes",
    "n_estimators": "n_members",
    "redraw": "redraw",
    "as_json": "json",
}
# An argument stands after a blank or a bracket; in a formula it is left alone.
_BEFORE = r"(?:(?<=[\s(;:,'\"])|^)"
# What only Python offers.
_NOT_HERE = re.compile(r", no pairs, or dtype=\"float32\"")
_REMEDIES = {
    r"give (smaller|larger) ones as ridges": r"give \1 ones with --ridges",
    r"write sr\.Ensemble\(.*?\)(?: or .*)?$": "",
    r"divide every column by its standard deviation, for example with make_pipeline\(StandardScaler\(\), \.\.\.\)": (
        "divide every column by its standard deviation with --standardise"
    ),
}


def cleaned(text: str) -> str:
    """Text without control characters, which a terminal would obey: names in files may hold them.

    Examples
    --------
    >>> cleaned("a\\x1b[31mb\\tc")
    'a?[31mb c'
    """
    return "".join(
        character if character == "\n" or character.isprintable() else (" " if character == "\t" else "?")
        for character in text
    )


def _as_typed(flag: str) -> Callable[[re.Match[str]], str]:
    """A flag with the value that was found, as a shell takes it: a bare ';' would end the command."""

    def typed(found: re.Match[str]) -> str:
        return f"{flag} {shlex.quote(found[2])}"

    return typed


def with_flags(text: str, command: click.Command | None) -> str:
    """A message of the package with the flags of a command in place of arguments.

    Examples
    --------
    >>> command = click.Command("x", params=[click.Option(["--n-samples"]), click.Option(["--missing"])])
    >>> with_flags("n_samples must be positive; missing='drop' leaves rows out", command)
    '--n-samples must be positive; --missing drop leaves rows out'
    >>> with_flags("decimal=',' reads decimal commas", click.Command("x", params=[click.Option(["--decimal"])]))
    '--decimal , reads decimal commas'
    """
    flags = flags_of([] if command is None else command.params)
    for name, flag in flags.items():
        text = re.sub(rf"Run\({name}=\)", flag, text)
        text = re.sub(rf"{_BEFORE}{name}=(?:\[\.\.\.\]|\.\.\.)", f"{flag} NAME", text)
        text = re.sub(rf"{_BEFORE}{name}=\['([^']*)'\]", rf"{flag} '\1'", text)
        text = re.sub(rf"{_BEFORE}{name}=(['\"])([^'\"]+)\1", _as_typed(flag), text)
        text = re.sub(rf"{_BEFORE}{name}=([^\s'\",;)]+)", rf"{flag} \1", text)
        text = re.sub(rf"{_BEFORE}{name}=(?!\w)", flag, text)
        if "_" in name:
            text = re.sub(rf"{_BEFORE}{name}(?=[\s;:,.)'\"]|$)", flag, text)
        else:
            text = re.sub(rf"^{name}(?= (must|contains|holds|is|has|may|needs)\b| ')", flag, text)
    if "--standardise" in flags.values():
        for pattern, replacement in _REMEDIES.items():
            text = re.sub(pattern, replacement, text)
    text = re.sub(r"(?<!\S)(--[\w-]+) True\b", r"\1", _NOT_HERE.sub("", text))
    text = re.sub(r"(?<!\S)--([\w-]+) False\b", r"--no-\1", text)
    return cleaned(text)


def flags_of(parameters: Iterable[click.Parameter]) -> dict[str, str]:
    """The flag for every argument of Python that a command has one for."""
    found = {
        str(parameter.name): max(parameter.opts, key=len)
        for parameter in parameters
        if isinstance(parameter, click.Option)
    }
    return found | {python: found[flag] for python, flag in _SYNONYMS.items() if flag in found and python not in found}

"""Messages of the package in the words of the command line: flags for arguments, and no control characters."""

import re
import shlex
from typing import Any

import click

# Arguments in Python whose flags have other names.
_SYNONYMS = {
    "sample_ratio": "sample_ratios",
    "ridge": "ridges",
    "executor": "processes",
    "n_estimators": "n_members",
    "as_json": "json",
}
# An argument follows a blank, a bracket, a quote or a punctuation mark; names in formulas are not replaced.
_BEFORE = r"(?:(?<=[\s(;:,'\"])|^)"
_REMEDIES = {
    ', no pairs, or dtype="float32"': "",  # what only Python offers
    r"(?<!\S)(--[\w-]+) True\b": r"\1",
    r"(?<!\S)--([\w-]+) False\b": r"--no-\1",
    r"give (smaller|larger) ones as ridges": r"give \1 ones with --ridges",
    r"divide every column by its standard deviation, for example with make_pipeline\(StandardScaler\(\), \.\.\.\)": (
        "divide every column by its standard deviation with --standardise"
    ),
}


def cleaned(text: str) -> str:
    """Text without control characters, which names in files may hold and a terminal would execute.

    Examples
    --------
    >>> cleaned("a\\x1b[31mb\\tc")
    'a?[31mb c'
    """
    return "".join(each if each == "\n" or each.isprintable() else "?" for each in text.replace("\t", " "))


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
    options = [] if command is None else [each for each in command.params if isinstance(each, click.Option)]
    flags = {option.name: max(option.opts, key=len) for option in options}
    flags |= {python: flags[name] for python, name in _SYNONYMS.items() if name in flags and python not in flags}
    for name, flag in flags.items():
        argument = _BEFORE + name
        forms: dict[str, Any] = {
            rf"Run\({name}=\)": flag,
            rf"{argument}=(?:\[\.\.\.\]|\.\.\.)": f"{flag} NAME",
            rf"{argument}=\['([^']*)'\]": rf"{flag} '\1'",
            # Quoted for the shell: a bare ';' would end the command.
            rf"{argument}=(['\"])([^'\"]+)\1": lambda found, flag=flag: f"{flag} {shlex.quote(found[2])}",
            rf"{argument}=([^\s'\",;)]+)": rf"{flag} \1",
            rf"{argument}=(?!\w)": flag,
            (
                rf"{argument}(?=[\s;:,.)'\"]|$)"
                if "_" in name
                else rf"^{name}(?= (must|contains|holds|is|has|may|needs)\b| ')"
            ): flag,
        }
        for form, replacement in forms.items():
            text = re.sub(form, replacement, text)
    for pattern, replacement in _REMEDIES.items():
        text = re.sub(pattern, replacement, text)
    return cleaned(text)

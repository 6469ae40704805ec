"""Lists of numbers as they are typed on the command line."""

import click
import numpy as np

_SIZES = 12  # of "start:stop"


def numbers(text: str) -> tuple[float, ...]:
    """Read a list of numbers; it may join several of these with commas.

    ``a,b,c``; evenly spaced ``start:stop:count``; with equal factors ``log:start:stop:count``, or ``start:stop`` for
    twelve of them.

    Examples
    --------
    >>> numbers("0:1:3,inf")
    (0.0, 0.5, 1.0, inf)
    >>> len(numbers("400:20000"))
    12
    """
    return tuple(number for part in _parts(text) for number in part)


def sizes(text: str) -> tuple[float, ...]:
    """Read a list of sizes: `numbers`, rounded to whole ones; spaced ones that coincide count once."""
    rounded = ([round(number) if np.isfinite(number) else number for number in part] for part in _parts(text))
    return tuple(number for part in rounded for number in dict.fromkeys(part))


def _parts(text: str) -> list[list[float]]:
    try:
        return [_part(part.strip()) for part in text.split(",")]
    except ValueError as error:
        forms = "a,b,c, start:stop:count, log:start:stop:count or start:stop"
        raise click.BadParameter(f"{text!r} is not {forms}") from error


def _part(text: str) -> list[float]:
    words = text.removeprefix("log:").split(":")
    if len(words) == 1:
        return [float(text)]
    start, stop = float(words[0]), float(words[1])
    if not np.isfinite([start, stop]).all() or len(words) > 3:
        raise ValueError
    count = int(words[2]) if len(words) == 3 else _SIZES
    even = len(words) == 3 and not text.startswith("log:")
    values = np.linspace(start, stop, count) if even else np.geomspace(start, stop, count)
    return [float(value) for value in values]

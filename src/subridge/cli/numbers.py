"""Lists of numbers as they are typed on the command line."""

import click
import numpy as np

_SIZES = 12  # of "start:stop"
_MOST = 100_000  # numbers in a list


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


def member_counts(text: str) -> tuple[int, ...]:
    """Read a list of finite sizes.

    Examples
    --------
    >>> member_counts("2,4,8")
    (2, 4, 8)
    """
    found = sizes(text)
    if not all(number < 1e9 for number in found):
        raise click.BadParameter(f"{text!r} must hold whole numbers of at least 1")
    return tuple(int(number) for number in found)


def sizes(text: str) -> tuple[float, ...]:
    """Read a list of sizes: `numbers`, rounded to whole ones; spaced ones that coincide count once."""
    if any(not (1 <= number < 1e15 or number == np.inf) for part in _parts(text) for number in part):
        raise click.BadParameter(f"{text!r} must hold whole numbers from 1 to 10¹⁵")
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
        if np.isnan(number := float(text)):
            raise ValueError
        return [number]
    start, stop = float(words[0]), float(words[1])
    if not np.isfinite([start, stop]).all() or len(words) > 3:
        raise ValueError
    count = int(words[2]) if len(words) == 3 else _SIZES
    if not 1 <= count <= _MOST:
        raise click.BadParameter(f"{text!r} asks for {count:,} numbers; a list has 1 to {_MOST:,}")
    even = len(words) == 3 and not text.startswith("log:")
    values = np.linspace(start, stop, count) if even else np.geomspace(start, stop, count)
    return [float(value) for value in values]


def finite(text: str) -> float:
    """Read one number.

    Examples
    --------
    >>> finite("1e-3")
    0.001
    """
    try:
        number = float(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a number") from error
    if not np.isfinite(number):
        raise click.BadParameter(f"{text!r} is not a finite number")
    if abs(number) > 1e100:
        raise click.BadParameter(f"{text!r} is too large: its square is no number")
    return number

"""How messages count and list things; imports nothing, so that the command line can answer at once."""

from collections.abc import Iterable

_NAMED = 5


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun; the plural ends in s unless it is given.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def agreeing(count: int, singular: str, plural: str) -> str:
    """The singular or plural form of a verb or another word.

    >>> agreeing(1, "holds", "hold"), agreeing(0, "holds", "hold")
    ('holds', 'hold')
    """
    return singular if count == 1 else plural


def listed(names: Iterable[str | int]) -> str:
    """The first few names, and how many more there are.

    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    words = [str(name) for name in names]
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more

"""How messages and notes count things and list their names."""

from collections.abc import Iterable

_NAMED = 5


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Iterable[str | int]) -> str:
    """The first few names, and how many more there are.

    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    words = [str(name) for name in names]
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more

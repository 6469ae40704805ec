"""Tasks one after the other in this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def run_here(work: Callable[[Any, int], Any], shared: Any, numbers: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Yield ``(number, work(shared, number))`` in order.

    Examples
    --------
    >>> list(run_here(lambda shared, number: shared + number, 10, [0, 2]))
    [(0, 10), (2, 12)]
    """
    for number in numbers:
        yield number, work(shared, number)

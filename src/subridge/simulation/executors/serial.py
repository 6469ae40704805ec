"""Tasks one after the other in this process."""

from collections.abc import Callable, Iterable, Iterator

from subridge.simulation.executors.base import Executor, Result


class Serial(Executor):
    """This process.

    >>> list(Serial().perform(lambda number: number + 10, [0, 2]))
    [(0, 10), (2, 12)]
    """

    def perform(self, task: Callable[[int], Result], numbers: Iterable[int]) -> Iterator[tuple[int, Result]]:
        for number in numbers:
            yield number, task(number)

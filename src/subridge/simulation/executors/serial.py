"""Tasks one after the other in this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Self

from subridge.simulation.executors.base import Executor, ExecutorChoice, Result


class Serial(Executor):
    """This process.

    Examples
    --------
    >>> list(Serial().perform(lambda number: number + 10, [0, 2]))
    [(0, 10), (2, 12)]
    """

    @classmethod
    def asked_for(cls, executor: ExecutorChoice, scheduler: str | None) -> Self | None:
        return cls() if executor is None and scheduler is None else None

    def perform(self, task: Callable[[int], Result], numbers: Sequence[int]) -> Iterator[tuple[int, Result]]:
        for number in numbers:
            yield number, task(number)

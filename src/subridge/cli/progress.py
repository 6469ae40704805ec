"""Progress of a batch of figures: how many are done, which is being made, how long the rest will take."""

import time
from types import TracebackType
from typing import Self

import click

from subridge.model.errors import InterruptedRun
from subridge.store.progress import ProgressBar, spoken


class BatchProgress:
    """A bar on the error stream at a terminal, a line per figure elsewhere.

    `expected` holds rough seconds of every figure; the machine's speed is learnt from the figures made so far.
    """

    def __init__(self, expected: dict[str, float]) -> None:
        self._expected = expected
        self._left = dict(expected)
        self._spent = self._planned = 0.0  # by the figures made, as measured and as expected
        self._begun = 0
        self._started = time.perf_counter()
        self._bar = ProgressBar("", sum(expected.values()), seconds_left=self.seconds_left)

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.__exit__(kind, error, trace)
        if isinstance(error, KeyboardInterrupt):
            # In place of what a simulation says of its own tasks: they are kept where this command looks for them.
            told = "interrupted: what is done is kept, and the same command goes on from here"
            raise InterruptedRun(told) from error

    def begin(self, figure: str) -> None:
        """A figure is being made."""
        self._started = time.perf_counter()
        self._begun += 1  # not those finished: drawing may lag behind
        self._bar.describe(f"{figure} ({self._begun} of {len(self._expected)})")

    def finish(self, figure: str, status: str, seconds: float) -> None:
        """A figure is done, was there already, or failed."""
        expected = self._left.pop(figure)
        if status == "made":
            self._spent += seconds
            self._planned += expected
        self._started = time.perf_counter()
        self._bar.advance(expected)
        if not self._bar.is_shown:
            done, left = len(self._expected) - len(self._left), self.seconds_left()
            told = f", about {spoken(left)} left" if self._left else ""
            click.echo(f"{figure} {status} in {seconds:.1f} s, {done} of {len(self._expected)}{told}", err=True)

    def seconds_left(self) -> float:
        """Expected time of what is left at the speed seen so far, less what the current figure has taken."""
        speed = self._spent / self._planned if self._planned > 1 else 1.0
        return max(sum(self._left.values()) * speed - (time.perf_counter() - self._started), 0.0)

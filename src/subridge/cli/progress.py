"""Progress of a batch of figures: how many are done, which is being made, how long the rest will take."""

import time
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text


class BatchProgress:
    """A bar on the error stream at a terminal, a line per figure elsewhere.

    Parameters
    ----------
    expected : dict of str to float
        Rough seconds of every figure. The machine's speed is learnt from the figures made so far.
    """

    def __init__(self, expected: dict[str, float]) -> None:
        self._expected = expected
        self._left = dict(expected)
        self._spent = self._planned = 0.0  # by the figures made, as measured and as expected
        self._begun = 0
        self._started = time.perf_counter()
        console = Console(stderr=True)
        self._quiet = not console.is_terminal
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), _Left(self))
        self._bar = Progress(*columns, console=console, transient=True, disable=self._quiet)
        self._task = self._bar.add_task("", total=sum(expected.values()))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()
        if kind is KeyboardInterrupt:
            click.echo("interrupted; the same command goes on from here", err=True)

    def begin(self, figure: str) -> None:
        """A figure is being made."""
        self._started = time.perf_counter()
        self._begun += 1  # not those finished: drawing may lag behind
        self._bar.update(self._task, description=f"{figure} ({self._begun} of {len(self._expected)})")

    def finish(self, figure: str, status: str, seconds: float) -> None:
        """A figure is done, was there already, or failed."""
        expected = self._left.pop(figure)
        if status == "made":
            self._spent += seconds
            self._planned += expected
        self._started = time.perf_counter()
        self._bar.advance(self._task, expected)
        if self._quiet:
            done, left = len(self._expected) - len(self._left), self.seconds_left()
            told = f", about {_spoken(left)} left" if self._left else ""
            click.echo(f"{figure} {status} in {seconds:.1f} s, {done} of {len(self._expected)}{told}", err=True)

    def seconds_left(self) -> float:
        """Expected time of what is left at the speed seen so far, less what the current figure has taken."""
        speed = self._spent / self._planned if self._planned > 1 else 1.0
        return max(sum(self._left.values()) * speed - (time.perf_counter() - self._started), 0.0)


class _Left(ProgressColumn):
    """The time left, refreshed with the bar."""

    max_refresh = 0.5

    def __init__(self, batch: BatchProgress) -> None:
        super().__init__()
        self._batch = batch

    def render(self, task: Task) -> Text:
        return Text(f"about {_spoken(self._batch.seconds_left())} left")


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

"""The progress bar of the package: how far work that is done in tasks has come."""

import time
from contextlib import AbstractContextManager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_SECONDS = 2.0  # of work that is expected, above which a late bar is shown


class ProgressBar(Progress):
    """A bar on the error stream, so that piped output stays clean; disabled when not at a terminal.

    >>> with ProgressBar("trials", 2, show=False) as bar:
    ...     bar.move(1)
    """

    def __init__(self, description: str, total: float, completed: int = 0, *, show: bool = True) -> None:
        console, words = Console(stderr=True), TextColumn("{task.description}")
        columns = (words, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=console, transient=True, disable=not (show and console.is_terminal))
        self._only = self.add_task(description, total=total, completed=completed)

    def move(self, amount: float, description: str | None = None) -> None:
        """Some work is done; other words may be shown before the bar."""
        self.update(self._only, advance=amount, description=description)


class LateBar(AbstractContextManager["LateBar"]):
    """A progress bar that appears once more than 2 s of work are expected."""

    def __init__(self, words: str, total: float, show: bool) -> None:
        self._words, self._total, self._show, self._done, self._start = words, total, show, 0.0, time.monotonic()
        self._bar: ProgressBar | None = None

    def move(self, amount: float) -> None:
        """Some work is done."""
        self._done += amount
        if self._bar is None and self._show and time.monotonic() - self._start > _SECONDS * self._done / self._total:
            self._bar = ProgressBar(self._words, self._total, show=True)
            self._bar.start()
            amount = self._done
        if self._bar is not None:
            self._bar.move(amount)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

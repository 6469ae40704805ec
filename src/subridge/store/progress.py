"""The progress bar of the package: how far work that is done in tasks has come."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text


class ProgressBar:
    """A bar on the error stream, so that piped output stays clean; nothing when not at a terminal.

    The time left comes from the speed so far, unless `seconds_left` estimates it.

    >>> with ProgressBar("trials", 2, show=False) as bar:
    ...     bar.advance()
    """

    def __init__(
        self,
        description: str,
        total: float,
        completed: int = 0,
        *,
        seconds_left: Callable[[], float] | None = None,
        show: bool = True,
    ) -> None:
        console = Console(stderr=True)
        self.is_shown = show and console.is_terminal
        words = TextColumn("{task.description}")
        columns = (words, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), _TimeLeft(seconds_left))
        self._bar = Progress(*columns, console=console, transient=True, disable=not self.is_shown)
        self._task = self._bar.add_task(description, total=total, completed=completed)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self, amount: float = 1) -> None:
        """Some work is done."""
        self._bar.advance(self._task, amount)

    def describe(self, description: str) -> None:
        """Show other words before the bar."""
        self._bar.update(self._task, description=description)


class _TimeLeft(ProgressColumn):
    """The time left, refreshed with the bar."""

    max_refresh = 0.5

    def __init__(self, estimate: Callable[[], float] | None) -> None:
        super().__init__()
        self._estimate = estimate

    def render(self, task: Task) -> Text:
        left = task.time_remaining if self._estimate is None else self._estimate()
        return Text("" if left is None else f"about {spoken(left)} left")


def spoken(seconds: float) -> str:
    """A time as one would say it.

    >>> spoken(12.3), spoken(600)
    ('12 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

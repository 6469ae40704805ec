"""The progress bar of the package: how far work that is done in tasks has come."""

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text


class ProgressBar(Progress):
    """A bar on the error stream, so that piped output stays clean; disabled when not at a terminal.

    The time left comes from the speed so far, unless `seconds_left` estimates it.

    >>> with ProgressBar("trials", 2, show=False) as bar:
    ...     bar.move(1)
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
        console, words = Console(stderr=True), TextColumn("{task.description}")
        columns = (words, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), _TimeLeft(seconds_left))
        super().__init__(*columns, console=console, transient=True, disable=not (show and console.is_terminal))
        self._only = self.add_task(description, total=total, completed=completed)

    def move(self, amount: float, description: str | None = None) -> None:
        """Some work is done; other words may be shown before the bar."""
        self.update(self._only, advance=amount, description=description)


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

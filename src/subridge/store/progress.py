"""The progress bar of the package: how far work that is done in tasks has come."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn


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


def spoken(seconds: float) -> str:
    """A time as one would say it.

    >>> spoken(12.3), spoken(600)
    ('12 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

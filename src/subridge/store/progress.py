"""Progress bars for work that is done in tasks."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_SECONDS = 2.0  # of expected work, above which a late bar is shown


class ProgressBar(Progress):
    """A bar on the error stream, so that piped output stays clean. It is shown only at a terminal.

    >>> with ProgressBar("trials", 2, show=False) as bar:
    ...     bar.move(1)
    """

    def __init__(self, description: str, total: float, show: bool = True, completed: int = 0) -> None:
        console = Console(stderr=True)
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (show and console.is_interactive),
        )
        self._only = self.add_task(description, total=total, completed=completed)

    def move(self, amount: float, description: str | None = None) -> None:
        """Add an amount of finished work; `description` replaces the words before the bar."""
        self.update(self._only, advance=amount, description=description)


class LateBar(ProgressBar):
    """A progress bar that appears once more than 2 s of work are expected."""

    def __enter__(self) -> Self:
        return self

    def move(self, amount: float, description: str | None = None) -> None:
        """Add an amount of finished work."""
        super().move(amount, description)
        task = self.tasks[self._only]
        if (task.elapsed or 0.0) > _SECONDS * task.percentage / 100:
            self.start()

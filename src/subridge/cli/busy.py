"""Signs of life from work that takes more than two seconds: what is being done, how much of it, and for how long."""

import sys
import time
from threading import Event, Thread
from types import TracebackType
from typing import Self

import click

_PATIENCE = 2.0  # seconds before anything is said
_PERIOD = 0.5  # between signs at a terminal


class Busy:
    """Say on the error stream what is being done: at a terminal in one line that is kept up to date, else once.

    The share that is done is told where the work knows it.

    Examples
    --------
    >>> with Busy("counting"):
    ...     pass
    """

    def __init__(self, doing: str) -> None:
        from subridge.forecasting.pilot import told_of_progress  # not needed to print help

        self._doing, self._share, self._done = doing, "", Event()
        self._at_terminal = sys.stderr.isatty()
        self._thread = Thread(target=self._speak, daemon=True)
        self._spoke = False
        self._progress = told_of_progress(self._count)

    def __enter__(self) -> Self:
        self._progress.__enter__()
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        self._progress.__exit__(kind, error, trace)
        if self._spoke and self._at_terminal:
            click.echo("\r\033[K", err=True, nl=False)

    def _count(self, done: int, total: int) -> None:
        self._share = f", {done} of {total} done ({done / total:.0%})"

    def _speak(self) -> None:
        started = time.perf_counter()
        if self._done.wait(_PATIENCE):
            return
        self._spoke = True
        if not self._at_terminal:
            click.echo(f"{self._doing} ...", err=True)
            return
        while True:
            told = f"{self._doing}{self._share}, {time.perf_counter() - started:.0f} s so far"
            click.echo(f"\r{told}\033[K", err=True, nl=False)
            if self._done.wait(_PERIOD):
                return

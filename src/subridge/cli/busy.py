"""A sign of life from work that takes more than two seconds and cannot tell how far it is."""

import sys
import time
from threading import Event, Thread
from types import TracebackType
from typing import Self

import click

_PATIENCE = 2.0  # seconds before anything is said
_PERIOD = 1.0, 10.0  # between signs, at a terminal and elsewhere


class Busy:
    """Say on the error stream what is being done and for how long: in one line at a terminal, else every ten seconds.

    Examples
    --------
    >>> with Busy("counting"):
    ...     pass
    """

    def __init__(self, doing: str) -> None:
        self._doing, self._done = doing, Event()
        self._at_terminal = sys.stderr.isatty()
        self._thread = Thread(target=self._speak, daemon=True)
        self._spoke = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        if self._spoke and self._at_terminal:
            click.echo("\r\033[K", err=True, nl=False)

    def _speak(self) -> None:
        started, wait = time.perf_counter(), _PATIENCE
        while not self._done.wait(wait):
            self._spoke, wait = True, _PERIOD[0 if self._at_terminal else 1]
            told = f"{self._doing}, {time.perf_counter() - started:.0f} s so far"
            click.echo(f"\r{told}" if self._at_terminal else told, err=True, nl=not self._at_terminal)

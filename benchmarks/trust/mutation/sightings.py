"""Which lines of some files each test sees, in its own process and in every one that it starts, however those end.

Imported by every Python that has this folder in its ``PYTHONPATH``, because ``sitecustomize`` there says so. A line is
written down when it is seen first, so that a process which is killed has told all it saw.
"""

import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path


class Sightings:
    """Notes ``file:line`` in the file that is current, for every line of some files that runs."""

    def __init__(self, place: str, files: list[str]) -> None:
        self._write, self._wanted = os.write, frozenset(files)
        self.turn_to(place)

    def turn_to(self, place: str) -> None:
        """Note what is seen from now on elsewhere, here and in processes that are started from now on."""
        self._notes, self._seen = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND), set()
        os.environ["SIGHTINGS"] = place

    def begin(self) -> None:
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)

    def _on_call(self, frame, _event, _argument):
        return self._on_line if frame.f_code.co_filename in self._wanted else None

    def _on_line(self, frame, event, _argument):
        if event == "line":
            at = (frame.f_code.co_filename, frame.f_lineno)
            if at not in self._seen:
                self._seen.add(at)
                with suppress(OSError):  # a test may forbid to write
                    self._write(self._notes, f"{at[0]}:{at[1]}\n".encode())
        return self._on_line


class Noting:
    """A plugin of pytest: notes of every test in a file of its own, and how long it took if it passed.

    What a fixture that tests share makes is noted once, in ``0``, and counts for all of them.
    """

    def __init__(self, folder: Path, sightings: Sightings) -> None:
        self._folder, self._sightings, self._numbers, self._seconds, self._failed = folder, sightings, {}, {}, []

    def _turn_to(self, number: int) -> None:
        self._sightings.turn_to(str(self._folder / str(number)))

    def pytest_runtest_logstart(self, nodeid):
        self._numbers[nodeid] = len(self._numbers) + 1
        self._turn_to(self._numbers[nodeid])

    def pytest_fixture_setup(self, fixturedef, request):
        if fixturedef.scope != "function":
            self._turn_to(0)

    def pytest_runtest_call(self, item):
        self._turn_to(self._numbers[item.nodeid])

    def pytest_runtest_logreport(self, report):
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self):
        told = {"numbers": self._numbers, "seconds": self._seconds, "failed": self._failed}
        (self._folder / "told.json").write_text(json.dumps(told))


def _of_environment() -> Sightings:
    return Sightings(os.environ["SIGHTINGS"], os.environ["SIGHTINGS_OF"].split(os.pathsep))


def plugin() -> Noting:
    """What a run of pytest that is watched needs; watches from now on."""
    del os.environ["SIGHTINGS_HERE"]  # processes that are started watch themselves
    sightings = _of_environment()
    sightings.begin()
    return Noting(Path(os.environ["SIGHTINGS"]).parent, sightings)


if "SIGHTINGS" in os.environ and "SIGHTINGS_HERE" not in os.environ:
    _of_environment().begin()

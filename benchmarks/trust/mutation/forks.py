"""Runs of pytest in forks of a process that has loaded the libraries once, each in a tree of its own.

One thread drives all of them: it starts a fork where a tree is free, and ends one whose test lasts too long.
"""

import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
import sightings

# Loaded before the first fork, so that none of them pays for it.
LIBRARIES = (
    "numpy",
    "scipy.linalg",
    "scipy.special",
    "pandas",
    "xarray",
    "zarr",
    "rich.progress",
    "joblib",
    "threadpoolctl",
    "sklearn.linear_model",
)
_LOOK = 0.02


def load_libraries() -> None:
    for name in LIBRARIES:
        with suppress(ImportError):
            __import__(name)


@dataclass
class Tree:
    """A copy of the package with its tests, and the fork that works in it."""

    root: Path
    spare: Path  # for temporary files, and what the fork tells

    def environment(self, extra: dict[str, str]) -> dict[str, str]:
        here = str(Path(__file__).parent)
        given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        paths = [str(self.root / "src"), here, *given]
        return {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"} | extra


@dataclass
class Work:
    """Tests to run, before which `prepare` and after which `restore` is called with the tree."""

    tests: list[str]
    limits: dict[str, float]
    label: object = None
    prepare: object = None
    restore: object = None
    options: tuple[str, ...] = ("-x",)
    extra: dict[str, str] = field(default_factory=dict)
    started: float = 0.0
    test_started: float = 0.0
    test: str = ""


@dataclass
class Outcome:
    work: Work
    status: int  # of pytest; below 0, a signal
    too_long: bool
    seconds: float
    test: str  # the last one that began
    log: str


class _Telling:
    """Tells which test is running."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def pytest_runtest_logstart(self, nodeid):
        self._place.write_text(nodeid)


def run_all(works, trees, until=None):
    """Yield an `Outcome` for every work that could be started in time, in the order in which they end."""
    works, running, free = iter(works), {}, list(trees)
    exhausted = False
    while True:
        while free and not exhausted and (until is None or time.monotonic() < until):
            work = next(works, None)
            if work is None:
                exhausted = True
                break
            tree = free.pop()
            running[_forked(tree, work)] = (tree, work)
        if not running:
            return
        time.sleep(_LOOK)
        for pid, (tree, work) in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            too_long = not ended and _lasts_too_long(tree, work)
            if too_long:
                _end(pid)
                status = os.waitpid(pid, 0)[1]
            if ended or too_long:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
                del running[pid]
                if work.restore:
                    work.restore(tree)
                free.append(tree)
                log = (tree.spare / "log").read_text(errors="replace")
                took = time.monotonic() - work.started
                yield Outcome(work, os.waitstatus_to_exitcode(status), too_long, took, work.test, log)


def _lasts_too_long(tree: Tree, work: Work) -> bool:
    with suppress(OSError):
        test = (tree.spare / "test").read_text()
        if test != work.test:
            work.test, work.test_started = test, time.monotonic()
    # Before the first test its file is collected, which takes a while too.
    return time.monotonic() - work.test_started > work.limits.get(work.test, 200.0)


def _end(pid: int) -> None:
    with suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                process.kill()
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _forked(tree: Tree, work: Work) -> int:
    tree.spare.mkdir(parents=True, exist_ok=True)
    (tree.spare / "test").write_text("")
    if work.prepare:
        work.prepare(tree)
    work.started = work.test_started = time.monotonic()
    work.test = ""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 70
    try:
        status = _tested(tree, work)
    finally:
        os._exit(status)


def _tested(tree: Tree, work: Work) -> int:
    """In the fork: run the tests and give the status of pytest."""
    os.setsid()
    with suppress(OSError):  # whoever takes all memory is the first to go
        Path("/proc/self/oom_score_adj").write_text("1000")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log = os.open(tree.spare / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.environ |= tree.environment(work.extra)
    sys.dont_write_bytecode = True
    os.chdir(tree.root)
    sys.path[:0] = [str(tree.root / "src")]
    plugins = [_Telling(tree.spare / "test")]
    if "SIGHTINGS" in work.extra:
        plugins.append(sightings.plugin())
    options = ["-q", "--no-header", "-p", "no:cacheprovider", f"--basetemp={tree.spare / 'tests'}"]
    return int(pytest.main([*options, *work.options, *work.tests], plugins=plugins))

"""Batches of figures that are ended from outside while other processes draw."""

import os
import signal
import subprocess

import psutil
import pytest

from scripts import script, started

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")]

SAY = """
import os, time

def say(what):
    os.write(1, f"{what}\\n".encode())
"""

LOADING = """
if __name__ != "__main__":
    say("busy")
    time.sleep(60)
"""

# The first picture is written, and never becomes whole.
DRAWING = """
def never(*_):
    say("busy")
    time.sleep(60)

if __name__ != "__main__":
    os.replace = never
"""

# One process draws, however many cores there are.
REPRODUCE = """
from importlib import import_module
from subridge.cli import main
import_module("subridge.cli.reproduce")._plotters = lambda n_figures: 1
main(["reproduce", "fig3a", "fig3b", "--quick", "--out", {folder!r}])
"""

WAITING = """
from pathlib import Path
from subridge.figures.paper.batch import run_batch
from subridge.figures.paper.reproduction import FigureRequest
for outcome in run_batch([FigureRequest("fig3a", quick=True)], Path({folder!r}), n_plotters=1):
    say(outcome.status)
    time.sleep(60)
"""


@pytest.mark.parametrize("while_it", [LOADING, DRAWING], ids=["loads", "draws"])
def test_ctrl_c_says_one_line_and_leaves_nothing_half_written(tmp_path, while_it):
    folder = tmp_path / "figures"
    command = script(tmp_path, SAY + while_it, REPRODUCE.format(folder=str(folder)))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with started(command, **pipes) as parent:
        assert parent.stdout.readline() == "busy\n"
        children = psutil.Process(parent.pid).children()
        os.killpg(parent.pid, signal.SIGINT)  # to all, as a terminal does
        _, said = parent.communicate(timeout=50)
        assert said == "\ninterrupted: what is done is kept, and the same command goes on from here\n"
        assert parent.returncode == 130
        assert not psutil.wait_procs(children, timeout=5)[1]
    assert not folder.exists() or not list(folder.iterdir())


def test_who_draws_does_not_outlive_a_killed_parent(tmp_path):
    command = script(tmp_path, SAY, WAITING.format(folder=str(tmp_path / "figures")))
    with started(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "made\n"
        children = psutil.Process(parent.pid).children()
        parent.kill()
        parent.wait()
        assert not psutil.wait_procs(children, timeout=5)[1]


# Who draws dies with the first picture; the next figure begins once its end is known.
DYING = """
import psutil

if __name__ != "__main__":
    os.replace = lambda *_: os._exit(1)

def is_waited_for(process):
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.ZombieProcess:
        return True
    except psutil.NoSuchProcess:
        return False

def begin(figure):
    while figure != "fig3a" and any(map(is_waited_for, psutil.Process().children())):
        time.sleep(0.05)
"""

BATCH = """
from pathlib import Path
from subridge.figures.paper.batch import run_batch
from subridge.figures.paper.reproduction import FigureRequest
requests = [FigureRequest(figure, quick=True) for figure in ("fig3a", "fig3b")]
for outcome in run_batch(requests, Path({folder!r}), n_plotters=1, begin=begin):
    say(outcome.figure + " " + outcome.status)
"""


def test_the_rest_is_drawn_where_who_draws_has_died(tmp_path):
    folder = tmp_path / "figures"
    command = script(tmp_path, SAY + DYING, BATCH.format(folder=str(folder)))
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        said, errors = parent.communicate(timeout=240)
    assert sorted(said.splitlines()) == ["fig3a failed", "fig3b made"], errors
    assert not list(folder.glob("*.part*"))

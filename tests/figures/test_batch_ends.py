"""A batch of figures that is ended from outside while it draws."""

import os
import signal
import subprocess

import pytest

from scripts import script, started

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")]

# The first picture is written, and never becomes whole.
DRAWING = """
import os, time

def never(*_):
    os.write(1, b"busy\\n")
    time.sleep(60)

os.replace = never
"""

REPRODUCE = """
from subridge.cli import main
main(["reproduce", "fig3a", "fig3b", "--quick", "--out", {folder!r}])
"""


def test_ctrl_c_says_one_line_and_leaves_nothing_half_written(tmp_path):
    folder = tmp_path / "figures"
    command = script(tmp_path, DRAWING, REPRODUCE.format(folder=str(folder)))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with started(command, **pipes) as parent:
        assert parent.stdout.readline() == "busy\n"
        os.killpg(parent.pid, signal.SIGINT)  # to all, as a terminal does
        _, said = parent.communicate(timeout=50)
        assert said == "\ninterrupted: what is done is kept, and the same command goes on from here\n"
        assert parent.returncode == 130
    assert not folder.exists() or not list(folder.iterdir())

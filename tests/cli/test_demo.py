import subprocess
import sys

from click.testing import CliRunner

import subridge
from subridge.cli import main


def test_demo_writes_a_picture_and_a_table(tmp_path):
    out = tmp_path / "picture.png"
    result = CliRunner().invoke(main, ["demo", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(b"\x89PNG")
    assert "heterogeneous" in result.output
    assert any(line.split()[:1] == ["400"] for line in result.output.splitlines())


def test_data_of_the_demo_have_a_line_per_trained_ensemble(tmp_path):
    out = tmp_path / "demo.csv"
    result = CliRunner().invoke(main, ["demo", "--out", str(out)])
    assert result.exit_code == 0, result.output
    head, *rows = out.read_text().splitlines()
    assert head == "ensemble,trial,n_samples,experiment,theory_at_points"
    assert len(rows) == 2 * 40 * 15


def test_module_and_version():
    done = subprocess.run([sys.executable, "-m", "subridge", "--version"], capture_output=True, text=True, check=True)
    assert subridge.__version__ in done.stdout

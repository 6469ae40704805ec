import pytest
from click.testing import CliRunner

import subridge
from subridge.cli import main


@pytest.mark.parametrize("n_trials", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_demo_writes_a_picture_and_a_table_and_data(n_trials, tmp_path, monkeypatch):
    monkeypatch.setattr("subridge.cli.experiments._N_TRIALS", n_trials)
    out = tmp_path / "picture.png"
    result = CliRunner().invoke(main, ["demo", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(b"\x89PNG")
    assert "heterogeneous" in result.output
    assert any(line.split()[:1] == ["400"] for line in result.output.splitlines())
    out = tmp_path / "demo.csv"
    result = CliRunner().invoke(main, ["demo", "--out", str(out)])
    assert result.exit_code == 0, result.output
    head, *rows = out.read_text().splitlines()
    assert head == "ensemble,trial,n_samples,experiment,theory_at_points"
    assert len(rows) == 2 * n_trials * 15  # a line per trained ensemble


def test_the_version():
    assert subridge.__version__ in CliRunner().invoke(main, ["--version"]).output

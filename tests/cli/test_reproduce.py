import json
import os

import pytest
import xarray as xr
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main
from subridge.cli.reproduce import _show_agreement


def call(*words, code=0):
    result = CliRunner().invoke(main, ["reproduce", *(str(word) for word in words)])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.mark.slow
def test_reproduce_writes_figures_and_a_report_and_keeps_them(tmp_path):
    first = call("fig3a", "FIG3B", "--quick", "--out", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{figure}.{end}" for figure in ("fig3a", "fig3b") for end in ("png", "svg", "nc")} | {
        "report.html"
    }
    assert "2 made" in first.stdout
    assert ", 1 of 2" in first.stderr
    assert "2 kept" in call("fig3a", "fig3b", "--quick", "--out", tmp_path).stdout


@pytest.mark.slow
def test_summary_as_json_holds_agreement(tmp_path):
    document = json.loads(call("fig1b", "--quick", "--out", tmp_path, "--json").stdout)
    (entry,) = document["figures"]
    assert entry["status"] == "made"
    assert entry["agreement"][0]["outside"] == 0


@pytest.mark.slow
def test_a_failed_figure_is_reported_with_exit_code_one(tmp_path):
    (tmp_path / "fig3b.nc").write_bytes(b"")
    for end in ("png", "svg"):
        (tmp_path / f"fig3b.{end}").write_bytes(b"")
    result = call("fig3b", "fig3a", "--quick", "--out", tmp_path, code=1)
    assert "fig3b.nc cannot be read" in result.stderr
    assert (tmp_path / "fig3a.nc").exists()
    assert "failed:" in (tmp_path / "report.html").read_text()


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path):
    (tmp_path / "taken").write_text("mine")
    for out in ("taken", "taken.html", "taken/figures"):
        said = call("fig1a", "--quick", "--out", tmp_path / out, code=2).stderr
        assert "Invalid value for '--out'" in said
        assert "give a folder" in said
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="everything is open to root")
def test_a_closed_folder_is_told_before_the_work(tmp_path):
    tmp_path.chmod(0o500)
    try:
        assert "is read-only; give a folder" in call("fig1a", "--quick", "--out", tmp_path / "new", code=2).stderr
    finally:
        tmp_path.chmod(0o700)


def test_verdicts_fit_the_screen_beside_long_names(capsys):
    row = {"name": "Fig. S10, any long name of curves", "judged": 10**6, "outside": 10**5, "largest_deviation": 1234.5}
    rows = [row | {"verdict": verdict} for verdict in ("agree", "disagree", "undecided")]
    _show_agreement([xr.Dataset(attrs={"agreement": json.dumps(rows)})])
    shown = capsys.readouterr().out
    assert all(row["verdict"] in shown.split() for row in rows)
    assert max(map(len, shown.splitlines())) <= 80


def test_a_device_that_is_not_there_is_an_error(tmp_path):
    assert "cuda:99" in call("fig3b", "--device", "cuda:99", "--out", tmp_path, code=1).stderr


def test_the_shell_completes_commands_and_figures():
    completion = ShellComplete(main, {}, "subridge", "_SUBRIDGE_COMPLETE")
    assert [item.value for item in completion.get_completions([], "rep")] == ["reproduce"]
    found = [item.value for item in completion.get_completions(["reproduce"], "figS1")]
    assert found == [figure for figure in sr.figures.figure_ids() if figure.startswith("figS1")]

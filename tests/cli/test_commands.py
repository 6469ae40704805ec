import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.mark.parametrize("command", ["demo", "curve", "phase", "simulate", "reproduce"])
def test_every_command_explains_itself(command):
    text = call(command, "--help").stdout
    assert "--spec" in text
    assert "--json" in text


def test_help_names_the_commands_and_how_to_complete_them():
    text = call("--help").stdout
    assert all(name in text for name in ("demo", "curve", "phase", "simulate", "reproduce"))
    assert "_SUBRIDGE_COMPLETE=bash_source" in text


def test_curve_prints_what_the_theory_says():
    words = ("--fractions", "0.1,0.3,0.5", "--correlation", 0.4, "--ridges", 1e-3, "--sample-ratios", "0.2,inf")
    document = json.loads(call("curve", *words, "--json").stdout)
    problem = sr.EquicorrelatedProblem(correlation=0.4)
    expected = sr.risk(problem, sr.Ensemble([0.1, 0.3, 0.5], 1e-3), [0.2, float("inf")]).total
    assert document["variables"]["risk"]["values"] == [pytest.approx(expected)]
    assert document["coordinates"]["sample_ratio"]["values"] == [0.2, "inf"]
    assert "best ridge" in call("curve", *words, "--optimal-ridge").stdout


@pytest.mark.parametrize("suffix", ["png", "svg", "nc", "csv", "json"])
def test_curve_and_phase_write_pictures_and_data(suffix, tmp_path):
    for command in ("curve", "phase"):
        out = tmp_path / f"{command}.{suffix}"
        call(command, "--out", out)
        assert out.stat().st_size > 300


def test_an_unknown_kind_of_file_is_wrong_usage(tmp_path):
    assert "must end in" in call("curve", "--out", tmp_path / "curve.doc", code=2).stderr


def test_phase_prints_the_exact_best_size():
    document = json.loads(call("phase", "--sample-ratio", 0.5, "--readout-nsr", 0.15, "--json").stdout)
    assert document["variables"]["optimal_n_members"]["values"] == 5
    assert "∞" in call("phase", "--sample-ratio", "0:3:4", "--readout-nsr", "0,1,3").stdout
    assert "k*" in call("phase", "--sample-ratio", "0.5,1", "--readout-nsr", 0.15, "--ridge", "optimal").stdout


def test_a_picture_of_phases_needs_two_axes(tmp_path):
    assert "needs one noise" in call("phase", "--readout-nsr", 1, "--out", tmp_path / "p.png", code=2).stderr


def test_a_specification_file_gives_options_and_flags_override_it(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text('ridges = [0.5]\n[curve]\nn-members = 3\nsample_ratios = "0.5,1"\n[phase]\nridge = "optimal"\n')
    document = json.loads(call("curve", "--spec", file, "--json").stdout)
    assert document["coordinates"]["ridge"]["values"] == [0.5]
    assert len(document["variables"]["subset_fraction"]["values"]) == 3
    document = json.loads(call("curve", "--spec", file, "--n-members", 2, "--json").stdout)
    assert len(document["variables"]["subset_fraction"]["values"]) == 2


def test_mistakes_in_a_specification_file_are_wrong_usage(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text("n_membres = 3\n")
    assert "'n_membres', which is no option" in call("curve", "--spec", file, code=2).stderr
    file.write_text("n_members = \n")
    assert "is not TOML" in call("curve", "--spec", file, code=2).stderr


def test_simulate_reads_a_specification_and_prints_json(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text("[simulate]\nn_features = 40\nn_trials = 3\nn_samples = [10, 30]\nridges = [0.1]\n")
    document = json.loads(call("simulate", "--spec", file, "--json").stdout)
    assert document["variables"]["risk"]["dimensions"] == ["trial", "ridge", "n_samples"]


def test_a_warning_is_a_line_on_the_error_stream():
    code = (sys.executable, "-m", "subridge", "curve", "--ridges", "0", "--sample-ratios", "0.25,1")
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("Warning: the risk is infinite")
    assert ".py" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["curve", "--sample-ratios", "1"], 0, ""),
        (["curve", "--ridges=-5"], 1, "Error: ridge is too negative"),
        (["curve", "--ridges", "many"], 2, "is not a,b,c"),
        (["reproduce", "fig9"], 2, "there is no figure 'fig9'"),
        (["reproduce"], 2, "Missing argument"),
        (["--debug", "curve", "--ridges=-5"], 1, "Traceback"),
        (["simulate", "--correlation", "3"], 1, "Error: correlation"),
        (["--debug", "simulate", "--correlation", "3"], 1, "Traceback"),
    ],
)
def test_exit_codes_of_the_real_program(words, code, message):
    done = subprocess.run([sys.executable, "-m", "subridge", *words], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert ("Traceback" in done.stderr) == ("--debug" in words)


def test_a_mistake_of_the_program_is_told_without_a_traceback(monkeypatch):
    monkeypatch.setattr("subridge.cli.curve._predict", lambda options: 1 / 0)
    result = call("curve", code=1)
    assert "unexpected ZeroDivisionError" in result.stderr
    assert "--debug" in result.stderr

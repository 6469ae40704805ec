import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main
from subridge.results.files import read_result, to_json


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.mark.parametrize("command", ["demo", "curve", "phase", "simulate", "forecast", "advise", "reproduce"])
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
    assert "own λ*" in call("curve", *words, "--optimal-ridge").stdout


def test_ctrl_c_is_said_in_a_word_and_has_its_own_exit_code(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("subridge.results.predictions.predicted_curves", interrupted)
    result = call("curve", "--fractions", "0.1,0.3", "--sample-ratios", "0.2", code=130)
    assert result.stderr == "\ninterrupted\n"


SMALL = ("--n-features", 20, "--n-trials", 2, "--n-samples", "5,30")
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "nc": b"CDF", "json": b'{"coordinates"', "csv": b""}


@pytest.mark.parametrize(
    ("words", "suffix"),
    [(("curve",), suffix) for suffix in BEGINNINGS]
    + [(words, suffix) for words in (("phase",), ("simulate", *SMALL)) for suffix in ("png", "nc")],
)
def test_the_suffix_decides_what_is_written(words, suffix, tmp_path):
    out = tmp_path / f"result.{suffix}"
    result = call(*words, "--out", out, "--json")
    assert out.read_bytes().startswith(BEGINNINGS[suffix])
    assert f"wrote {out}" in result.stderr
    document = json.loads(result.stdout)
    if suffix == "nc":
        assert json.loads(to_json(read_result(out))) == document
    if suffix == "csv":
        names = out.read_text().splitlines()[0].split(",")
        first = next(iter(document["variables"].values()))
        assert names[: len(first["dimensions"])] == first["dimensions"]
    if suffix == "json":
        assert json.loads(out.read_text()) == document


@pytest.mark.parametrize("command", ["curve", "phase", "simulate", "demo"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(command, tmp_path):
    assert "must end in one of .png" in call(command, "--out", tmp_path / "curve.doc", code=2).stderr
    assert "cannot be written" in call(command, "--out", tmp_path / "no" / "curve.png", code=2).stderr


def test_the_subsets_of_a_curve_are_named_as_in_python():
    fractions = sr.subsets.Dirichlet(3, 0.5).fractions(7)
    words = ("curve", "--n-members", 3, "--fraction-spread", 0.5, "--seed", 7, "--sample-ratios", 0.5, "--json")
    assert json.loads(call(*words).stdout)["variables"]["subset_fraction"]["values"] == pytest.approx(fractions)
    equal = json.loads(call(*words, "--subsets", "equal").stdout)
    assert equal["variables"]["subset_fraction"]["values"] == pytest.approx([1 / 3] * 3)


def test_the_aggregation_of_a_curve_is_named_as_in_python():
    words = ("curve", "--fractions", "0.1,0.5", "--ridges", 0.1, "--sample-ratios", 0.5, "--json")
    found = json.loads(call(*words, "--aggregation", "simplex").stdout)["variables"]["risk"]["values"]
    ensemble = sr.Ensemble([0.1, 0.5], 0.1, aggregation="simplex")
    assert found == [pytest.approx(sr.risk(sr.EquicorrelatedProblem(), ensemble, [0.5]).total)]


def test_phase_prints_the_exact_best_size():
    document = json.loads(call("phase", "--sample-ratios", 0.5, "--readout-nsr", 0.15, "--json").stdout)
    assert document["variables"]["optimal_n_members"]["values"] == 5
    assert "∞" in call("phase", "--sample-ratios", "0:3:4", "--readout-nsr", "0,1,3").stdout
    assert "k*" in call("phase", "--sample-ratios", "0.5,1", "--readout-nsr", 0.15, "--ridge", "optimal").stdout
    words = ("phase", "--sample-ratios", 0.1, "--readout-nsr", 2.5, "--aggregation", "scaled", "--json")
    assert json.loads(call(*words).stdout)["variables"]["optimal_n_members"]["values"] == 5


def test_of_a_long_table_some_rows_are_printed_and_it_says_so():
    words = ["phase", "--sample-ratios", "0:3:9", "--readout-nsr", "0:2:9", "--label-nsr", "0:2:9"]
    printed = CliRunner().invoke(main, words).stdout.splitlines()
    assert len(printed) < 50
    assert "40 rows, evenly spread; --json or --out has all" in printed
    short = CliRunner().invoke(main, ["phase", "--sample-ratios", "0.1:3:30", "--readout-nsr", "1"]).stdout
    assert short.count("0.9") >= 1
    assert "--json" not in short


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
    assert "'n_membres', which is not an option" in call("curve", "--spec", file, code=2).stderr
    file.write_text("ridges = 0.5\nn_members = 3\noptimal_ridge = true\n")
    found = json.loads(call("curve", "--spec", file, "--json").stdout)
    assert found["coordinates"]["ridge"]["values"] == [0.5]
    assert "risk_at_optimal_ridge" in found["variables"]
    file.write_text("n_members = \n")
    assert "is not TOML" in call("curve", "--spec", file, code=2).stderr


def test_simulate_reads_a_specification_and_prints_json(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text("[simulate]\nn_features = 40\nn_trials = 3\nn_samples = [10, 30]\nridges = [0.1]\n")
    document = json.loads(call("simulate", "--spec", file, "--json").stdout)
    assert document["variables"]["risk"]["dimensions"] == ["trial", "ridge", "n_samples"]


@pytest.mark.filterwarnings("default")
def test_a_warning_is_a_line_on_the_error_stream():
    told = call("curve", "--ridges", "0", "--sample-ratios", "0.25,1").stderr
    assert told.startswith("Warning: the risk is infinite")
    assert ".py" not in told


WRONG = [
    (["curve", "--ridges=-5"], 2, "Error: --ridges is too negative"),
    (["curve", "--ridges", "many"], 2, "is not a,b,c"),
    (["reproduce", "fig9"], 2, "'fig9' is not one of 'all', 'fig1a'"),
    (["reproduce"], 2, "Missing argument"),
    (["simulate", "--correlation", "3"], 2, "Error: --correlation"),
]


@pytest.mark.parametrize(("words", "code", "message"), WRONG)
def test_exit_codes(words, code, message):
    assert message in call(*words, code=code).stderr
    assert CliRunner().invoke(main, ["--debug", *words]).exit_code in (1, 2)


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_exit_codes_of_the_real_program(debug):
    words = [*debug, "forecast", __file__, "--n-groups", "30"]  # a mistake of ours that imports nothing heavy
    done = subprocess.run([sys.executable, "-m", "subridge", *words], capture_output=True, text=True)
    assert done.returncode == (1 if debug else 2), done.stderr
    assert ("Traceback" in done.stderr) == bool(debug)
    assert ("Error: --n-groups needs --groups" in done.stderr) == (not debug)


HEAVY = {"numpy", "pandas", "rich", "scipy", "sklearn", "xarray"}


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "forecast --help",
        "forecast --no-such-flag",
        "forecast no-such-file.csv",
        "curve --out x.foo",
        "simulate --device abacus",
        "simulate --redraw nothing",
        f"forecast {__file__} --n-groups 30",
        f"advise {__file__} --level 3",
    ],
)
def test_help_and_mistakes_import_nothing_heavy(words):
    code = f"""
import sys
from subridge.cli import main
try:
    main({words.split()!r})
finally:
    print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert HEAVY.isdisjoint(done.stdout.splitlines()[-1].split())
    assert ("Usage" in done.stdout) == ("--help" in words)


def test_names_that_are_listed_without_an_import_are_those_of_the_package():
    from subridge.cli import options
    from subridge.model.aggregation import AGGREGATIONS
    from subridge.model.subsets import STRATEGIES

    assert set(options.AGGREGATIONS) == {name for name in AGGREGATIONS if name not in ("median", "majority", "sum")}
    assert tuple(STRATEGIES) == options.STRATEGIES


@pytest.mark.slow
def test_letters_that_a_terminal_lacks_are_replaced():
    code = (sys.executable, "-m", "subridge", "phase", "--sample-ratios", "0:3:4", "--readout-nsr", "0,1,3")
    done = subprocess.run(code, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert b"k*" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell that closes a stream")
def test_a_closed_error_stream_does_no_harm():
    line = f"{sys.executable} -m subridge curve --n-members 2 --ridges 0.1 --sample-ratios 0.5,1 2>&-"
    done = subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE)
    assert done.returncode == 0
    assert b"0.1" in done.stdout


def test_a_mistake_of_the_program_is_told_without_a_traceback(monkeypatch):
    monkeypatch.setattr("subridge.cli.theory._predict", lambda options, ratios: 1 / 0)
    result = call("curve", code=1)
    assert "unexpected ZeroDivisionError" in result.stderr
    assert "--debug" in result.stderr

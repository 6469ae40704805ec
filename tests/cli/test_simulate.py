"""The command `subridge simulate`."""

import numpy as np
import pytest
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main
from subridge.results.files import read_result

SMALL = ["--n-features", "20", "--n-members", "2", "--n-samples", "5,10", "--n-trials", "3", "--ridges", "0.1,1"]


def run(*options):
    return CliRunner().invoke(main, ["simulate", *SMALL, *options])


def rows_of(result):
    return [line.split()[0] for line in result.output.splitlines() if "±" in line]


def test_it_prints_a_row_per_size_and_a_column_per_ridge():
    result = run()
    assert result.exit_code == 0, result.output
    assert "λ = 0.1" in result.output
    assert "λ = 1" in result.output
    assert rows_of(result) == ["5", "10"]


def test_it_writes_the_curves(tmp_path):
    for name in ("curves.csv", "curves.nc"):
        result = run("--out", str(tmp_path / name))
        assert result.exit_code == 0, result.output
    rows = (tmp_path / "curves.csv").read_text().splitlines()
    assert rows[0] == "trial,ridge,n_samples,risk,training_error"
    risks = read_result(tmp_path / "curves.nc").risk.transpose("trial", "ridge", "n_samples").values.ravel()
    np.testing.assert_allclose([float(row.split(",")[3]) for row in rows[1:]], risks, rtol=1e-9)


def test_subsets_are_named_as_in_python(tmp_path):
    result = run("--subsets", "overlapping", "--seed", "3", "--out", str(tmp_path / "a.nc"))
    assert result.exit_code == 0, result.output
    ensemble = sr.Ensemble(sr.subsets.Overlapping((10, 10)))
    redraw = ("data", "teacher")
    expected = sr.simulate(
        sr.EquicorrelatedProblem(), ensemble, [5, 10], 3, ridges=[0.1, 1], n_features=20, redraw=redraw, seed=3
    )
    assert read_result(tmp_path / "a.nc").identical(expected)


@pytest.mark.parametrize("source", ["theory", "left_out"])
def test_weights_are_fixed_by_theory_or_chosen_in_every_trial(tmp_path, source):
    weighted = ("--aggregation", "free", "--redraw", "data", "--weights-from", source)
    result = run(*weighted, "--out", str(tmp_path / "a.nc"))
    assert result.exit_code == 0, result.output
    ensemble = sr.Ensemble(sr.subsets.Dirichlet(2, 0.0), aggregation="free")
    expected = sr.simulate(
        sr.EquicorrelatedProblem(), ensemble, [5, 10], 3, ridges=[0.1, 1], n_features=20, weights_from=source
    )
    np.testing.assert_allclose(read_result(tmp_path / "a.nc").risk, expected.risk, rtol=1e-9)
    varies = float(expected.member_weights.std("trial").max()) > 1e-9
    assert varies == (source == "left_out")


def test_it_resumes_only_when_told_to(tmp_path):
    pytest.importorskip("zarr")
    store = str(tmp_path / "run.zarr")
    assert "nothing to resume" in run("--store", store, "--resume").output
    first = run("--store", store)
    assert first.exit_code == 0, first.output
    assert "add --resume" in run("--store", store).output
    again = run("--store", store, "--resume")
    assert again.output == first.output
    other = run("--store", store, "--resume", "--seed", "1")
    assert other.exit_code == 1
    assert "another grid" in other.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--resume"], "needs --store"),
        (["--n-samples", "many"], "start:stop:count"),
        (["--correlation", "2"], "correlation"),
        (["--device", "abacus"], "abacus"),
        (["--n-samples", "10,5"], "ascending"),
    ],
)
def test_mistakes_are_one_clear_line(options, words):
    result = run(*options)
    assert result.exit_code != 0
    assert words in result.output
    assert "Traceback" not in result.output


def test_a_store_is_not_the_file_of_the_result(tmp_path):
    result = run("--store", str(tmp_path / "run.nc"), "--out", str(tmp_path / "run.nc"))
    assert result.exit_code == 2
    assert "give the result a file of its own" in result.output
    assert not (tmp_path / "run.nc").exists()


def test_a_scheduler_that_does_not_answer_is_told_in_flags():
    pytest.importorskip("distributed")
    said = run("--scheduler", "tcp://127.0.0.1:1").output
    assert "or leave --scheduler out. On" in said
    assert "nothing is kept; with --store finished tasks would be" in said


def test_a_range_of_sizes_is_spelled_start_stop_count():
    result = run("--n-samples", "5:20:4")
    assert rows_of(result) == ["5", "10", "15", "20"]

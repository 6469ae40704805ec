"""The command `subridge simulate`."""

import numpy as np
import pytest
from click.testing import CliRunner

from subridge.cli.simulate import simulate

SMALL = ["--n-features", "20", "--n-members", "2", "--n-samples", "5,10", "--n-trials", "3", "--ridges", "0.1,1"]


def run(*options):
    return CliRunner().invoke(simulate, [*SMALL, *options])


def test_it_prints_a_row_per_size_and_a_column_per_ridge():
    result = run()
    assert result.exit_code == 0, result.output
    assert "ridge 0.1" in result.output
    assert "ridge 1" in result.output
    assert "│        10 │" in result.output


def test_it_writes_the_curves(tmp_path):
    result = run("--out", str(tmp_path / "curves.csv"))
    assert result.exit_code == 0, result.output
    rows = (tmp_path / "curves.csv").read_text().splitlines()
    assert rows[0] == "trial,ridge,n_samples,risk"
    assert len(rows) == 1 + 3 * 2 * 2


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


def test_a_range_of_sizes_is_spelled_start_stop_count():
    result = run("--n-samples", "5:20:4")
    assert all(f"{P} │" in result.output for P in np.linspace(5, 20, 4).astype(int))

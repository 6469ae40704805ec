"""What a careless user types is wrong usage, told in the words of the command line, before any work."""

import io
import os

import numpy as np
import pytest
from click.testing import CliRunner

from scripts import wait_for
from subridge.cli import main
from subridge.cli.show import busy
from subridge.forecasting.pilot import side_by_side


def refused(*words, code=2):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + repr(result.exception)
    assert "bug in subridge" not in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("forecast", __file__, "--n-samples", "400:20000:0"), "asks for 0 numbers"),
        (("forecast", __file__, "--n-samples", "nan"), "is not a,b,c"),
        (("forecast", __file__, "--n-samples", "0"), "whole numbers from 1"),
        (("curve", "--sample-ratios", "1:1000000000:1000000000"), "asks for 1,000,000,000 numbers"),
        (("curve", "--n-members", "1000000000"), "--n-members"),
        (("curve", "--seed", "-1"), "--seed"),
        (("curve", "--correlation", "nan"), "is not a finite number"),
        (("curve", "--label-noise", "-1"), "--label-noise must be at least 0"),
        (("demo", "--seed", "-1"), "--seed"),
        (("demo", "--out", "d.txt"), "must end in one of"),
        (("explore", "--no-open", "--out", "page.txt"), "must end in .html"),
        (("reproduce", "fig3b", "--out", __file__), "is a file; give a folder"),
        (("simulate", "--n-trials", "100000000"), "--n-trials"),
        (("simulate", "--n-features", "1000000000"), "--n-features"),
        (("simulate", "--scheduler", "foo"), "is not the address of a Dask scheduler"),
        (("simulate", "--out", "s3://bucket/x.nc"), "in a folder of this machine"),
        (("simulate", "--out", "no/such/x.nc"), "cannot be written"),
        (("advise", __file__, "--n-members", "inf"), "--n-members"),
    ],
)
def test_it_is_wrong_usage(words, message):
    assert message in refused(*words)


def test_an_address_is_no_store_and_an_unknown_device_is_named():
    assert "store s3:/bucket/run.zarr is an address" in refused("simulate", "--store", "s3://bucket/run.zarr", code=1)
    assert "abacus" in refused("reproduce", "fig3b", "--device", "abacus", code=1)


def test_a_misnested_table_in_a_specification_is_not_passed_over(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text("[simulate.run]\nn_trials = 3\n")
    assert "has 'run', which is not an option" in refused("simulate", "--spec", file)
    file.write_text("[simulation]\nn_trials = 3\n")
    assert "a table is named after its command" in refused("simulate", "--spec", file)
    file.write_text("[phase]\nridge = 'optimal'\n[curve]\nn_members = 2\nsample_ratios = '1'\n")
    assert CliRunner().invoke(main, ["curve", "--spec", str(file)]).exit_code == 0


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "x.png").mkdir()
    assert "cannot be written" in refused("curve", "--out", tmp_path / "x.png")


@pytest.mark.parametrize("command", ["forecast", "advise"])
def test_a_result_does_not_take_the_place_of_the_table_it_is_made_from(command, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,y\n" + "".join(f"{row % 7},{row % 5}\n" for row in range(40)))
    before = table.read_bytes()
    (tmp_path / "link.csv").symlink_to(table)
    for out in (table, tmp_path / "link.csv", tmp_path / "." / "t.csv"):
        assert "--out" in (said := refused(command, table, "--target", "y", "--out", out))
        assert "would be lost" in said
    assert table.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="everything is open to root")
def test_a_closed_folder_is_told_before_the_work(tmp_path):
    tmp_path.chmod(0o500)
    assert "that is writable" in refused("curve", "--out", tmp_path / "x.png")


@pytest.mark.parametrize(
    ("written", "left_out"),
    [
        (["a,b"], "2 columns as requested: a, b"),
        (["a", "--drop", "b"], "2 columns"),
        (['"c,d"'], "1 column as requested: c,d"),
    ],
)
def test_columns_to_drop_are_a_list(written, left_out, tmp_path):
    rng = np.random.default_rng(0)
    rows = [",".join(f"{value:.3f}" for value in row) for row in rng.standard_normal((40, 5))]
    (tmp_path / "t.csv").write_text('a,b,"c,d",e,y\n' + "\n".join(rows) + "\n")
    words = ["forecast", str(tmp_path / "t.csv"), "--target", "y", "--n-samples", "40", "--drop", *written]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert f"left out {left_out}" in result.output


class Stream(io.StringIO):
    """An error stream, of a terminal or not."""

    def __init__(self, is_terminal):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


def test_work_says_what_it_does_and_how_much_is_done(monkeypatch):
    stream = Stream(is_terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")

    def work(number):  # the second half begins when it was told of the first, on however many cores
        if number >= 2:
            wait_for(lambda: "50%" in stream.getvalue())

    with busy("comparing ensembles"):
        side_by_side(work, range(4))
    assert "comparing ensembles" in stream.getvalue()
    assert "50%" in stream.getvalue()


def test_away_from_a_terminal_it_says_nothing(monkeypatch):
    stream = Stream(is_terminal=False)
    monkeypatch.setattr("sys.stderr", stream)
    with busy("something"):
        pass
    assert stream.getvalue() == ""


def test_a_repeated_name_is_changed_and_told(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["\t".join(f"{value:.3f}" for value in row) for row in rng.standard_normal((40, 4))]
    (tmp_path / "t.tsv").write_text('"a b"\tc\t"a b"\ty\n' + "\n".join(rows) + "\n")
    words = ["forecast", str(tmp_path / "t.tsv"), "--target", "y", "--n-samples", "40"]
    result = CliRunner().invoke(main, [*words, "--drop", "a b.1"])
    assert result.exit_code == 0, result.output
    assert "named 1 column whose name is repeated or empty: a b.1" in result.output
    assert "40 rows, 2 features" in result.output


def test_messages_name_flags_and_what_to_type(tmp_path):
    names = "".join(f"A{row},1,5\n" for row in range(40))
    (tmp_path / "t.csv").write_text("id,x,y\n" + names)
    said = refused("forecast", tmp_path / "t.csv", "--target", "y", "--categories", "one-hot", code=1)
    assert "--drop 'id' leaves it out" in said
    said = refused("forecast", tmp_path / "t.csv", "--target", "y", "--drop", "ident", code=1)
    assert said.startswith("Error: --drop 'ident' is not a column")
    (tmp_path / "d.csv").write_text("a;y\n" + "1,5;2,5\n" * 40)
    said = refused("forecast", tmp_path / "d.csv", "--target", "y", "--sep", ";", code=1)
    assert "--decimal , reads decimal commas" in said
    assert "--na" not in said


def test_memory_that_is_too_small_is_told_without_words_of_python():
    said = refused("simulate", "--n-trials", "2", "--memory", "100", code=1)
    assert "--memory" in said
    assert "dtype" not in said


def test_a_remedy_can_be_pasted_into_a_shell(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a;y\n" + "1;2\n" * 30)
    answer = CliRunner().invoke(main, ["forecast", str(table), "--target", "y", "--n-samples", "60"])
    assert answer.exit_code != 0
    assert "--sep ';'" in answer.output

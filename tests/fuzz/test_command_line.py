"""Every flag of every command, given what people type by mistake: used or refused, never a bug of the program."""

import numpy as np
import pytest
from click.testing import CliRunner

from subridge.cli import main

WORDS = [
    "", " ", "abc", "nan", "inf", "-inf", "-1", "0", "0.5", "1e308", "1000000000000", "1,2", "1,,2", "1:2", "1:2:0",
    "1:2:-3", "1:1000000000:1000000000", "log:0:1:3", "::", "None", "[1]", "1+2j", "2024-01-01", "é☃", "\x1b[31m",
    "a b", "s3://bucket/x.nc", "/no/such/folder/x.png", "x.txt", "~", "--", "1_0",
]  # fmt: skip
SMALL = {
    "curve": ["--sample-ratios", "0.5,1", "--ridges", "0.1"],
    "phase": ["--sample-ratios", "0:1:3", "--readout-nsr", "0,1"],
    "simulate": ["--n-features", "12", "--n-trials", "2", "--n-samples", "4,8", "--ridges", "0.1"],
    "forecast": ["DATA", "--target", "y", "--n-samples", "40,80", "--n-members", "2", "--ridges", "1e-6,1,1e6"],
    "advise": ["DATA", "--target", "y", "--n-members", "2", "--fraction-spreads", "0", "--ridges", "1e-6,1,1e6"],
}
# These reach for other machines or wait for them, or only help.
LEFT_OUT = {"scheduler", "processes", "store", "help", "spec"}
FLAGS = [
    (command, max(option.opts, key=len))
    for command in SMALL
    for option in main.get_command(None, command).params
    if option.name not in LEFT_OUT
    and option.opts[0].startswith("-")
    and not getattr(option, "is_flag", False)
    # What advise shares with forecast is tried there.
    and not (command == "advise" and option.name not in ("n_samples", "n_members", "fraction_spreads", "readout_noise"))
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)).round(3)
    path = tmp_path_factory.mktemp("data") / "data.csv"
    rows = [
        ",".join(map(str, row)) + f",{row.sum() + noise:.3f}"
        for row, noise in zip(X, rng.standard_normal(30), strict=True)
    ]
    path.write_text("a,b,c,d,y\n" + "\n".join(rows) + "\n")
    return path


def test_there_are_enough_cases():
    assert len(FLAGS) * len(WORDS) >= 1000


def check(command, flag, words, data):
    base = [str(data) if word == "DATA" else word for word in SMALL[command]]
    for word in words:
        result = CliRunner().invoke(main, [command, *base, f"{flag}={word}"])
        told = f"{command} {flag}={word!r}: {result.output} {result.exception!r}"
        assert result.exit_code in (0, 1, 2), told
        assert "bug in subridge" not in result.stderr, told
        assert "\x1b" not in result.stderr, told
        assert result.exception is None or isinstance(result.exception, SystemExit), told


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("place", range(0, len(FLAGS), 5))
def test_a_flag_takes_some_words(place, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(*FLAGS[place], WORDS[place % 8 :: 8], data)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("command", "flag"), FLAGS)
def test_a_flag_takes_any_word(command, flag, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(command, flag, WORDS[::3] if flag == "--na" else WORDS, data)  # any text is fine for --na


@pytest.mark.parametrize("command", SMALL)
@pytest.mark.parametrize("word", WORDS[::6])
def test_a_stray_word_is_wrong_usage(command, word, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = [str(data) if each == "DATA" else each for each in SMALL[command]]
    if word in ("", " ", "--"):
        return
    result = CliRunner().invoke(main, [command, *base, f"--no-such-flag={word}"])
    assert result.exit_code == 2, result.output

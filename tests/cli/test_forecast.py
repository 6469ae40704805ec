import json
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import Ridge

import subridge as sr
from subridge.cli import main
from subridge.estimators.base import errors_by_scale
from subridge.results.numbers import plain


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    y = X @ rng.standard_normal(30) + rng.standard_normal(80)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(30)]).assign(y=y, kind=np.where(y > 0, "high", "low"))
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


def test_forecast_prints_a_curve_for_three_ensembles(table):
    text = call(
        "forecast", table, "--target", "y", "--drop", "kind", "--n-samples", "log:80:640:3", "--n-members", 4
    ).stdout
    assert all(word in text for word in ("one ridge", "4 equal", "4 overlapping", "640", "label noise"))


def test_forecast_in_json_is_what_the_library_says(table):
    words = (
        "--target",
        "y",
        "--drop",
        "kind",
        "--n-samples",
        "160",
        "--n-members",
        2,
        "--ridges",
        "1e-9,1e-6,0.1,1,1e9",
    )
    document = json.loads(call("forecast", table, *words, "--json").stdout)
    frame = pd.read_csv(table)
    X, y = frame.drop(columns=["y", "kind"]).to_numpy(), frame["y"].to_numpy()
    expected = sr.forecast(X, y, [160], {"one": sr.Ensemble(sr.subsets.Equal(1))}, ridges=[1e-9, 1e-6, 0.1, 1, 1e9])
    values = document["variables"]["prediction_error"]["values"][0]
    assert values == pytest.approx(expected.prediction_error.values[0].tolist())


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("nc", b"CDF"), ("csv", b"ensemble,n_samples,pred")]
)
def test_forecast_writes_files(table, tmp_path, suffix, start):
    out = tmp_path / f"curve.{suffix}"
    call("forecast", table, "--target", "kind", "--drop", "y", "--n-samples", "80,160", "--n-members", 2, "--out", out)
    assert out.read_bytes().startswith(start)


def test_the_third_ensemble_of_a_forecast_is_the_one_described(table):
    words = ("--target", "y", "--drop", "kind", "--n-samples", 160, "--n-members", 3, "--ridges", "0.1", "--json")
    words += ("--subsets", "overlapping", "--aggregation", "simplex")
    document = json.loads(call("forecast", table, *words).stdout)
    scaled = ("forecast", table, *words, "--standardise")
    assert document["coordinates"]["ensemble"]["values"] == ["one ridge", "3 equal", "3 overlapping"]
    assert document["coordinates"]["aggregation"]["values"] == ["simplex"] * 3
    frame = pd.read_csv(table)
    ensemble = sr.Ensemble(sr.subsets.Overlapping((10, 10, 10)), aggregation="simplex")
    X, y = frame.drop(columns=["y", "kind"]).to_numpy(), frame["y"].to_numpy()
    for told, columns in ((document, X), (json.loads(call(*scaled).stdout), X / X.std(axis=0))):
        expected = sr.forecast(columns, y, [160], {"it": ensemble}, ridges=[0.1]).prediction_error.values[0]
        assert told["variables"]["prediction_error"]["values"][2] == pytest.approx(expected.tolist())


def test_a_size_out_of_reach_is_said(table):
    words = ("--target", "y", "--drop", "kind", "--n-samples", "80,100000", "--ridges", "0.0001", "--n-members", 2)
    pd.read_csv(table)[:25].to_csv(table, index=False)
    text = call("forecast", table, *words).stdout
    assert "out of reach" in text
    (row,) = (line.split() for line in text.splitlines() if line.split()[:1] == ["100,000"])
    assert row[1] == "-"


def test_advise_says_why(table, tmp_path):
    out = tmp_path / "advice.png"
    words = ("--target", "y", "--drop", "kind", "--n-members", 2, "--fraction-spreads", 0, "--n-samples", 300)
    text = call("advise", table, *words, "--out", out).stdout
    assert "one ridge" in text
    assert "Noise of the labels" in text
    assert out.stat().st_size > 5000
    document = json.loads(call("advise", table, *words, "--json", "--out", tmp_path / "advice.csv").stdout)
    assert len(document["variables"]["reasons"]["values"]) == 2
    call("advise", table, *words, "--out", tmp_path / "advice.nc")
    assert xr.load_dataset(tmp_path / "advice.nc").sizes["candidate"] == len(
        document["coordinates"]["candidate"]["values"]
    )
    written = pd.read_csv(tmp_path / "advice.csv")
    assert written["candidate"].tolist() == document["coordinates"]["candidate"]["values"]


def test_mistakes_are_messages(table, tmp_path):
    assert "'yy'" in call("forecast", table, "--target", "yy", code=1).stderr
    assert "must end in" in call("forecast", table, "--target", "y", "--out", tmp_path / "a.txt", code=2).stderr
    assert (
        "cannot be written" in call("advise", table, "--target", "y", "--out", tmp_path / "b" / "a.png", code=2).stderr
    )
    assert "kind" in call("forecast", table, "--target", "y", code=1).stderr
    assert "is not a,b,c" in call("forecast", table, "--target", "y", "--n-samples", "many", code=2).stderr
    assert "does not exist" in call("advise", tmp_path / "no.csv", "--target", "y", code=2).stderr


@pytest.mark.filterwarnings("default")
def test_a_warning_is_said_once_and_names_the_flag(table):
    words = ("forecast", table, "--target", "y", "--drop", "kind", "--ridges", "5,50", "--n-members", 2)
    said = call(*words, "--n-samples", "80,160", "--target-error", 20).stderr
    assert said.count("Warning:") == said.count("give smaller ones with --ridges, or") == 1


def test_columns_without_room_are_not_explained(table):
    words = ("advise", table, "--target", "kind", "--drop", "y", "--n-members", "2,4", "--n-samples", 3000)
    text = " ".join(call(*words).stdout.split())
    assert "more with --json or --out: λ, now" in text
    assert "now: with the rows at hand" not in text
    assert "wrong: misclassified by majority vote." in text


def test_dashes_of_advice_are_explained(table):
    words = ("advise", table, "--target", "kind", "--drop", "y", "--n-members", 2)
    printed = call(*words).stdout
    rows = [line.split() for line in printed.splitlines() if "%" in line and "(" in line]
    assert any(row[-1] == "-" for row in rows)
    said = " ".join(printed.split())
    assert "A dash: a loss beyond 1,000 %, or not forecast." in said
    assert "A dash" not in call(*words, "--no-weighted", "--fraction-spreads", 0).stdout


def test_both_doors_try_the_same_ensembles(table):
    words = ("forecast", table, "--target", "y", "--drop", "kind", "--n-samples", "80,160", "--json")
    found = json.loads(call(*words).stdout)
    frame = pd.read_csv(table)
    X = frame[[f"x{i}" for i in range(30)]].to_numpy()
    expected = sr.forecast(X, frame["y"].to_numpy(), [80, 160])
    assert found["coordinates"]["ensemble"]["values"] == expected.ensemble.values.tolist()
    np.testing.assert_allclose(found["variables"]["prediction_error"]["values"], expected.prediction_error.values)


def test_both_errors_are_said_where_standardising_matters(tmp_path):
    """Pixels of 200 digits: those near the rim vary little, and standardising lets their noise in."""
    frame = load_digits(as_frame=True).frame[:200]
    frame = frame.loc[:, (frame != 0).sum() >= 10]
    frame.to_csv(tmp_path / "digits.csv", index=False)
    X, y = frame.drop(columns="target").to_numpy(), frame["target"].to_numpy(float)
    options = {"n_members": [], "weighted": False, "task": "regression"}
    advised = (sr.advise(X, y, standardise=each, **options) for each in (False, True))
    given, scaled = (plain(float(each.table.pilot_prediction_error[0])) for each in advised)
    words = ("--target", "target", "--task", "regression", "--n-members", 2)
    start = f"note: the squared error of one ridge on left-out rows is {given} with columns as they are"
    for command in ("advise", "forecast"):
        for flag in ("--no-standardise", "--standardise"):
            told = call(command, tmp_path / "digits.csv", *words, flag).stderr
            (note,) = re.findall("note: the squared.*", told)
            assert note.startswith(start), (command, flag)
            assert f"and {scaled} with columns divided by their standard deviations (--standardise)" in note


def test_nothing_is_said_where_standardising_changes_little(tmp_path):
    """Diabetes in its own units: 3,005 against 3,000, which is one standard error."""
    load_diabetes(as_frame=True, scaled=False).frame.to_csv(tmp_path / "diabetes.csv", index=False)
    assert "standardise" not in call("advise", tmp_path / "diabetes.csv", "--target", "target", "--n-members", 2).stderr


def test_the_difference_of_scales_is_judged_by_rows_or_groups():
    rng = np.random.default_rng(0)
    X, y, groups = rng.standard_normal((60, 8)) * 2.0 ** np.arange(8), rng.standard_normal((1, 60)), np.arange(60) // 3
    for given, of_row in ((None, np.arange(60)), (groups, groups)):
        found, squares = errors_by_scale(X, y, given, [0.5]), []
        for columns in (X, X / X.std(axis=0)):
            left_out = np.empty(60)
            for one in np.unique(of_row):
                kept = of_row != one
                model = Ridge(0.5 * 8).fit(columns[kept], y[0, kept])
                left_out[~kept] = model.predict(columns[~kept])
            squares.append((y[0] - left_out) ** 2)
        apart = np.bincount(of_row, squares[0] - squares[1])
        expected = squares[0].mean(), squares[1].mean(), apart.std(ddof=1) * len(apart) ** 0.5 / 60
        np.testing.assert_allclose(found, expected, rtol=1e-9)

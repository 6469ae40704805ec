import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main


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
    plain = ("forecast", table, *words, "--no-standardise")
    assert document["coordinates"]["ensemble"]["values"] == ["one ridge", "3 equal", "3 overlapping"]
    assert document["coordinates"]["aggregation"]["values"] == ["simplex"] * 3
    frame = pd.read_csv(table)
    ensemble = sr.Ensemble(sr.subsets.Overlapping((10, 10, 10)), aggregation="simplex")
    X, y = frame.drop(columns=["y", "kind"]).to_numpy(), frame["y"].to_numpy()
    for told, columns in ((document, X / X.std(axis=0)), (json.loads(call(*plain).stdout), X)):
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
    document = json.loads(call("advise", table, *words, "--json").stdout)
    assert len(document["variables"]["reasons"]["values"]) == 2
    for suffix in ("csv", "nc"):
        call("advise", table, *words, "--out", tmp_path / f"advice.{suffix}")
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
    assert "wrong: misclassified by votes" in text


def test_both_doors_try_the_same_ensembles(table):
    words = ("forecast", table, "--target", "y", "--drop", "kind", "--n-samples", "80,160", "--json")
    found = json.loads(call(*words).stdout)
    frame = pd.read_csv(table)
    X = frame[[f"x{i}" for i in range(30)]].to_numpy()
    expected = sr.forecast(X / X.std(axis=0), frame["y"].to_numpy(), [80, 160])
    assert found["coordinates"]["ensemble"]["values"] == expected.ensemble.values.tolist()
    np.testing.assert_allclose(found["variables"]["prediction_error"]["values"], expected.prediction_error.values)

"""What is printed is for people: plain numbers, within 80 columns, and a line to paste."""

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main
from subridge.cli.tables import _show_forecast
from subridge.model.errors import counted
from subridge.results.numbers import percent, plain, unit_of


def call(*words):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output + repr(result.exception)
    assert max(map(len, result.stdout.splitlines())) <= 80, result.stdout
    assert "e+0" not in result.stdout
    assert not re.search(r"-0\.0+\b(?!\d)", result.stdout)
    return result.stdout


@pytest.fixture
def prices(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 12))
    y = 3000 * (X[:, :4].sum(axis=1) + rng.standard_normal(120))
    path = tmp_path / "prices.csv"
    pd.DataFrame(X, columns=[f"x{i}" for i in range(12)]).assign(price=y).to_csv(path, index=False)
    return path


def test_numbers_are_written_as_people_do():
    assert [plain(3012.3), plain(-0.0), plain(-1e-300), plain(9.999e8)] == ["3,010", "0", "-1.00e-300", "1,000,000,000"]
    assert percent(-1e-9, 0.0) == "0.0 ± 0.0 %"
    assert counted(1, "feature") == "1 feature"
    assert unit_of(2e7)[1] == ", in millions"


def test_advice_fits_the_screen_and_ends_with_a_line_that_runs(prices):
    text = call("advise", prices, "--target", "price", "--n-members", "2,4", "--standardise")
    code = text[text.index("from sklearn") :]
    names = {}
    exec(code, names)
    assert np.isfinite(names["model"].fit(np.eye(12), np.arange(12.0)).predict(np.eye(12))).all()
    if "Ridge(alpha=" in text:
        from sklearn.linear_model import Ridge

        alpha = float(re.search(r"Ridge\(alpha=([\d.e+-]+)\)", text)[1])
        X = np.random.default_rng(1).standard_normal((30, 12))
        ours = names["model"].fit(X, X[:, 0]).predict(X)
        scaled = X / X.std(axis=0)
        np.testing.assert_allclose(ours, Ridge(alpha=alpha).fit(scaled, X[:, 0]).predict(scaled), rtol=0.01, atol=1e-3)


def test_a_forecast_of_large_numbers_fits_the_screen(prices):
    text = call("forecast", prices, "--target", "price", "--n-samples", "120,100000", "--n-members", 2)
    assert "in millions" in text
    assert "100,000" in text


def test_a_curve_with_many_ridges_fits_the_screen_and_shows_its_peak():
    text = call("curve", "--ridges", "log:1e-3:1:12", "--n-members", 4)
    assert "more with --json or --out" in text
    assert re.search(r"^\s*0\.25 ", text, re.M)  # P/M = 1/4, where four members peak
    assert "25 of 40 rows, peaks among them" in text
    call("simulate", "--n-features", 20, "--n-trials", 2, "--n-samples", "5,30", "--ridges", "log:1e-3:1:8")
    call("phase")


def test_a_table_too_wide_for_the_screen_keeps_one_ridge_and_the_best_ensemble(capsys):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 6))
    curves = sr.forecast(X, 3e4 * X[:, 0] + rng.standard_normal(120), groups=np.repeat(np.arange(30), 4))
    names = ["one ridge", *"abcd", "the best"]
    errors = xr.DataArray([2.0, 3.0, 4.0, 5.0, 6.0, 1.0], dims="ensemble", coords={"ensemble": names})
    shown = {"prediction_error", "prediction_error_lower", "prediction_error_upper", "is_bound", "in_reach"}
    wide = curves.isel(ensemble=0, drop=True)[[*shown]] * errors
    wide = wide.assign(is_bound=wide.is_bound > 9, in_reach=wide.in_reach > 0, effective_samples=errors)
    _show_forecast(wide.assign_attrs(curves.attrs))
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    heading = next(line for line in text.splitlines() if line.lstrip().startswith("samples"))
    assert "one ridge" in heading
    assert "the best" in heading
    assert re.search(r"more with --json or --out: .*\bd\b", text)


def test_an_error_that_cannot_be_reached_is_told_in_plain_numbers(prices):
    text = call("forecast", prices, "--target", "price", "--n-samples", 120, "--target-error", 1.5e7)
    assert "the error of this ensemble is" in " ".join(text.split())

"""The authors' logged values of Fig. 2b."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

import subridge as sr
from subridge.figures.fig2 import Fig2, compute

LOGGED = json.loads(files("subridge.figures").joinpath("fig2b_logged.json").read_text())


def test_package_and_tests_hold_the_same_logged_values():
    beside = json.loads((Path(__file__).parents[1] / "data" / "fig2b_logged.json").read_text())
    assert beside == LOGGED


def test_published_grid_is_the_logged_one_and_few_trials_agree_with_it():
    data = compute(replace(Fig2(), n_trials=6, n_ratios=50), sr.Run())
    assert data.logged_mean.shape == (4, 20)
    assert float(data.logged_mean.sel(subset_fraction=0.2, n_samples=45)) == LOGGED["rows"][0][2]
    away = np.abs(data.n_samples.values - 1000 * data.subset_fraction.values[:, None]) > 50
    ours = data["mean"].mean("ridge").values
    np.testing.assert_allclose(ours[away], data.logged_mean.values[away], rtol=0.25)
    assert "80 logged values" in data.attrs["notes"][0]

"""The authors' logged values of Fig. 2b."""

import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import subridge as sr
from subridge.figures.paper.learning_curves import Fig2

LOGGED = json.loads(files("subridge.figures.paper").joinpath("fig2b_logged.json").read_text())


@pytest.mark.slow
def test_published_grid_is_the_logged_one_and_few_trials_agree_with_it():
    data = replace(Fig2(), n_trials=6, n_ratios=50).compute(sr.Run())
    assert data.logged_mean.shape == (4, 20)
    for P, fraction, mean in LOGGED["rows"]:
        assert float(data.logged_mean.sel(subset_fraction=fraction, n_samples=P)) == mean
    away = np.abs(data.n_samples.values - 1000 * data.subset_fraction.values[:, None]) > 50
    ours = data["mean"].mean("ridge").values
    np.testing.assert_allclose(ours[away], data.logged_mean.values[away], rtol=0.25)
    assert "80 logged values" in data.attrs["notes"][0]

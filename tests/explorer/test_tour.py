"""What the tour of the explorer says is what `sr.risk` and `sr.optimal_n_members` say."""

import json
import re
from importlib.resources import files

import numpy as np
import pytest

import subridge as sr

ASSETS = files("subridge.explorer").joinpath("assets")
TOUR = json.loads(ASSETS.joinpath("tour.json").read_text(encoding="utf-8"))


def standard(name):
    """The value at which the page opens, as the script of the page has it."""
    text = ASSETS.joinpath("state.js").read_text(encoding="utf-8")
    return float(re.search(rf"^  {name}: .*?([0-9.]+)(?: }})?\),$", text, flags=re.MULTILINE)[1])


@pytest.mark.parametrize("step", TOUR)
def test_numbers_of_the_tour_are_those_of_theory(step):
    data = {name: standard(name) for name in ("correlation", "alignment", "feature_noise", "label_noise")}
    problem, bulk = sr.EquicorrelatedProblem(**data), 1 - data["correlation"]
    for told in TOUR[step]["told"]:
        if "best" in told:
            noises = told["readout_noise"] ** 2, data["feature_noise"] ** 2, data["label_noise"] ** 2
            found = sr.optimal_n_members(told["sample_ratio"], 0.0, *(noise / bulk for noise in noises), ridge=0)
            assert found == told["best"]
            assert f" {told['best']}" in TOUR[step]["note"]
        else:
            nu, noise = np.diag(np.array(told["members"], dtype=float)), standard("readout_noise")
            best = told["ridge"] == "optimal"
            ridge = sr.optimal_ridge(problem, sr.Ensemble(nu, readout_noise=noise)) if best else told["ridge"]
            found = sr.risk(problem, sr.Ensemble(nu, ridge, noise), told["sample_ratio"]).total
            assert f"{found:.3g}" == told["error"]
            assert told["error"] in TOUR[step]["note"]


def test_the_peaks_of_the_tour_are_where_it_says():
    data = {name: standard(name) for name in ("correlation", "alignment", "feature_noise", "label_noise")}
    ratios = np.linspace(0.02, 2, 991)
    for members, peak in ((1, 1.0), (10, 0.1)):
        ensemble = sr.Ensemble(np.eye(members) / members, 0.001, standard("readout_noise"))
        curve = sr.risk(sr.EquicorrelatedProblem(**data), ensemble, ratios).total
        assert ratios[np.argmax(curve)] == pytest.approx(peak, rel=0.03)

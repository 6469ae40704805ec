"""The stored runs that the explorer shows as dots agree with theory at their number of features."""

import json
from importlib.resources import files

import numpy as np
import pytest

import subridge as sr

STORED = json.loads(files("subridge.explorer").joinpath("assets/runs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("run", STORED["runs"], ids=lambda run: f"{len(run['fractions'])}-{run['ridge']}")
def test_stored_runs_agree_with_theory_at_their_number_of_features(run):
    data = dict(run["problem"])
    noise, problem = data.pop("readout_noise"), sr.EquicorrelatedProblem(**data)
    nu = np.diag(run["fractions"])
    best = run["ridge"] == "optimal"
    ridge = sr.optimal_ridge(problem, sr.Ensemble(nu, 0.0, noise)) if best else run["ridge"]
    theory = sr.risk(problem, sr.Ensemble(nu, ridge, noise), run["sample_ratio"], n_features=run["n_features"]).total
    # Training sets of a trial are nested, so that neighbours err together: a bound on the largest of some fifteen
    # deviations in standard errors of 10 to 20 trials (the 99.9 % point of Student's t with 9 degrees is 4.8), and of
    # theory's own O(1/M).
    allowed = 4.8 * np.array(run["error"]) + 4 / run["n_features"] * theory
    assert (np.abs(np.array(run["mean"]) - theory) <= allowed).all()


def test_stored_runs_are_small():
    assert len(json.dumps(STORED)) < 20_000
    assert STORED["command"] == "python tools/make_explorer_runs.py"

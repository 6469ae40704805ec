"""Fig. 2b: the mean errors that the authors logged, simulated again."""

import json
from importlib.resources import files

import numpy as np
import pytest

import subridge as sr

LOGGED = json.loads(files("subridge.figures.paper").joinpath("fig2b_logged.json").read_text())


@pytest.mark.parametrize("fraction", [0.2, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.4, 0.6, 0.8))])
def test_the_errors_logged_by_the_authors_are_reproduced_within_monte_carlo_error(fraction):
    rows = np.array([row for row in LOGGED["rows"] if row[1] == fraction])
    n_trials, M = 10, LOGGED["n_features"]
    curves = sr.simulate(
        sr.EquicorrelatedProblem(),
        sr.Ensemble(sr.subsets.Overlapping((round(fraction * M),))),
        rows[:, 0].astype(int),
        n_trials,
        ridges=LOGGED["ridges"],
        n_features=M,
        redraw=("data", "teacher", "subsets"),
        seed=1,
        progress=False,
    )
    trials = curves.risk.mean("ridge").values
    # Both are means over trials with the same spread, 10 of ours and 100 of theirs. The spread is estimated from few
    # trials: five standard errors, the 1e-4 point of a t distribution with 9 degrees of freedom is 6.
    error = trials.std(axis=0, ddof=1) * np.sqrt(1 / n_trials + 1 / LOGGED["n_trials"])
    z = (trials.mean(axis=0) - rows[:, 2]) / error
    assert len(z) == 20
    assert np.abs(z).max() < 5
    # Away from the threshold an error bar is small enough for the comparison to mean something.
    away = np.abs(rows[:, 0] - fraction * M) > 50
    assert np.median((error / trials.mean(axis=0))[away]) < 0.05

"""Every argument of every public function, given what people hand over by mistake: refused by name, or used."""

import importlib.util
import signal
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.model.errors import SubridgeError

_spec = importlib.util.spec_from_file_location("odd_values_of_people", Path(__file__).with_name("odd.py"))
_odd = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_odd)
ODD = _odd.ODD

PROBLEM = sr.EquicorrelatedProblem(correlation=0.2, label_noise=0.1)
ENSEMBLE = sr.Ensemble([0.3, 0.5], ridge=0.1)
PLAN = sr.subsets.equal(2, 6, 0)
PLANNED = sr.Ensemble(PLAN, ridge=0.1)
rng = np.random.default_rng(0)
X = rng.standard_normal((30, 6))
Y = X[:, 0] + 0.1 * rng.standard_normal(30)
CLASSES = np.arange(30) % 2
VOTES = sr.Ensemble(sr.subsets.Equal(2), ridge=0.1, aggregation="majority")
CALLS = {
    "EquicorrelatedProblem": (
        sr.EquicorrelatedProblem,
        {"data_scale": 1.0, "correlation": 0.1, "feature_noise": 0.1, "alignment": 0.1, "label_noise": 0.1},
    ),
    "Problem": (
        sr.Problem,
        {"signal_covariance": np.eye(6), "teacher_weights": np.ones(6), "noise_covariance": None, "label_noise": 0.1},
    ),
    "Ensemble": (sr.Ensemble, {"subsets": [0.3, 0.5], "ridge": 0.1, "readout_noise": 0.1, "aggregation": "mean"}),
    "risk": (sr.risk, {"problem": PROBLEM, "ensemble": ENSEMBLE, "sample_ratio": 0.5, "n_features": None}),
    "from_data": (sr.Problem.from_data, {"X": X, "y": Y}),
    "from_moments": (
        sr.Problem.from_moments,
        {"covariance": np.eye(3), "cross": np.ones(3), "power": 4.0, "n_samples": 30},
    ),
    "error_sources": (
        sr.error_sources,
        {"problem": PROBLEM, "ensemble": ENSEMBLE, "sample_ratio": [0.5], "n_draws": 2, "seed": 0},
    ),
    "risk_gradient": (sr.risk_gradient, {"problem": PROBLEM, "ensemble": ENSEMBLE, "sample_ratio": 0.7}),
    "best_split": (
        sr.best_split,
        {
            "problem": sr.EquicorrelatedProblem(label_noise=0.1),
            "n_members": 1,
            "sample_ratio": (0.2, 1.0),
            "ridge": 0.1,
            "readout_noise": 0.1,
            "least_fraction": 0.01,
            "seed": 0,
        },
    ),
    "order_parameters": (sr.order_parameters, {"problem": PROBLEM, "ensemble": ENSEMBLE, "sample_ratio": 0.5}),
    "optimal_ridge": (
        sr.optimal_ridge,
        {"problem": PROBLEM, "ensemble": ENSEMBLE, "sample_ratio": 0.5, "scope": "ensemble"},
    ),
    "reduced_risk": (
        sr.reduced_risk,
        {
            "n_members": 2,
            "sample_ratio": 0.7,
            "alignment": 0.1,
            "reduced_ridge": 0.1,
            "readout_nsr": 0.1,
            "feature_nsr": 0.1,
            "label_nsr": 0.1,
        },
    ),
    "reduced_optimal_ridge": (
        sr.reduced_optimal_ridge,
        {"n_members": 2, "alignment": 0.1, "readout_nsr": 0.1, "feature_nsr": 0.1, "label_nsr": 0.1},
    ),
    "large_k_coefficient": (
        sr.large_k_coefficient,
        {"sample_ratio": 0.5, "alignment": 0.1, "readout_nsr": 0.1, "feature_nsr": 0.1, "label_nsr": 0.1},
    ),
    "optimal_n_members": (
        sr.optimal_n_members,
        {"sample_ratio": 0.5, "alignment": 0.1, "readout_nsr": 0.1, "feature_nsr": 0.0, "label_nsr": 0.1, "ridge": 0},
    ),
    "phase_boundary": (
        sr.phase_boundary,
        {"alignment": 0.1, "readout_nsr": 0.1, "feature_nsr": 0.1, "label_nsr": 0.1, "ridge": 0},
    ),
    "phase_diagram": (
        sr.phase_diagram,
        {"sample_ratio": 0.5, "alignment": 0.1, "readout_nsr": 0.1, "feature_nsr": 0.1, "label_nsr": 0.1, "ridge": 0},
    ),
    "member_weights": (sr.member_weights, {"pairs": np.eye(2) + 0.1}),
    "simulate": (
        sr.simulate,
        {
            "problem": PROBLEM,
            "ensemble": PLANNED,
            "n_samples": [3, 8],
            "n_trials": 2,
            "ridges": [0.1],
            "n_features": 6,
            "redraw": ("data",),
            "dtype": "float64",
            "seed": 0,
            "run": None,
        },
    ),
    "simulate_classification": (
        sr.simulate_classification,
        {
            "X": X,
            "y": CLASSES,
            "X_test": X,
            "y_test": CLASSES,
            "ensemble": VOTES,
            "ridges": [0.1],
            "n_samples": [10],
            "n_trials": 2,
            "test_draws": 1,
            "dtype": "float64",
            "seed": 0,
        },
    ),
    "Run": (
        sr.Run,
        {
            "device": "cpu",
            "executor": None,
            "store": None,
            "memory": None,
            "scheduler": None,
            "block": None,
            "threads": None,
        },
    ),
    "forecast": (
        sr.forecast,
        {
            "X": X,
            "y": Y,
            "n_samples": [40],
            "ensembles": {"a": PLANNED},
            "ridges": None,
            "level": 0.9,
            "task": "auto",
            "seed": 0,
        },
    ),
    "advise": (
        sr.advise,
        {
            "X": X,
            "y": Y,
            "n_samples": 40,
            "n_members": [2],
            "fraction_spreads": [0.0],
            "overlapping_fractions": [],
            "ridges": [0.1, 1.0],
            "readout_noise": 0.0,
            "level": 0.9,
            "task": "auto",
            "ensembles": None,
            "seed": 0,
        },
    ),
    "risk_matrix": (
        sr.risk_matrix,
        {"X": X, "y": Y, "ensemble": PLANNED, "label_noise": 0.0, "task": "auto", "seed": 0},
    ),
    "SubsetPlan.from_indices": (sr.SubsetPlan.from_indices, {"index_arrays": [[0, 1], [2]], "n_features": 6}),
    "SubsetPlan.from_matrices": (sr.SubsetPlan.from_matrices, {"matrices": [np.eye(3)]}),
    "subsets.equal": (sr.subsets.equal, {"n_members": 2, "n_features": 6, "seed": 0}),
    "subsets.dirichlet": (sr.subsets.dirichlet, {"n_members": 2, "n_features": 6, "fraction_spread": 0.5, "seed": 0}),
    "subsets.overlapping": (sr.subsets.overlapping, {"subset_sizes": [2, 3], "n_features": 6, "seed": 0}),
    "subsets.projection": (sr.subsets.projection, {"subset_sizes": [2, 3], "n_features": 6, "seed": 0}),
    "read_table": (
        sr.datasets.read_table,
        {
            "source": (X, Y),
            "target": None,
            "drop": (),
            "missing": "error",
            "task": "auto",
            "unlabelled": "error",
            "categories": "error",
            "dates": "error",
            "separator": None,
            "decimal": ".",
            "encoding": "utf-8",
            "missing_values": (),
        },
    ),
}

WHITE = sr.Problem(sr.covariance.isotropic(6), np.ones(6))
CURVES = sr.simulate(PROBLEM, PLANNED, [3, 8], 3, ridges=[0.1], n_features=6, progress=False)
CALLS |= {
    "covariance.dense": (sr.covariance.dense, {"matrix": np.eye(3)}),
    "covariance.low_rank": (sr.covariance.low_rank, {"factor": np.ones((4, 1)), "variances": 1.0}),
    "covariance.diagonal": (sr.covariance.diagonal, {"variances": np.ones(3)}),
    "covariance.isotropic": (sr.covariance.isotropic, {"n_features": 3, "variance": 1.0}),
    "covariance.equicorrelated": (
        sr.covariance.equicorrelated,
        {"n_features": 3, "data_scale": 1.0, "correlation": 0.1},
    ),
    "covariance.power_law": (sr.covariance.power_law, {"n_features": 3, "exponent": 1.0, "scale": 1.0, "seed": 0}),
    "covariance.from_data": (sr.covariance.from_data, {"X": X, "centre": True}),
    "covariance.autoregressive": (sr.covariance.autoregressive, {"n_features": 3, "decay": 0.3, "variance": 1.0}),
    "precise_risk": (sr.precise_risk, {"problem": PROBLEM, "ensemble": ENSEMBLE, "sample_ratio": 0.5, "digits": 30}),
    "compare": (sr.compare, {"theory": np.ones((1, 2)), "experiment": CURVES}),
    "fit_members": (sr.fit_members, {"X": X, "y": Y, "ensemble": PLANNED}),
    "risk_of_weights": (
        sr.risk_of_weights,
        {"problem": WHITE, "ensemble": PLANNED, "weights": [np.ones(3), np.ones(3)]},
    ),
    "samples_needed": (sr.samples_needed, {"X": X, "y": Y, "error": 0.5, "level": 0.9, "fit_intercept": True}),
    "plot_curve": (sr.figures.plot_curve, {"curves": CURVES}),
    "plot_simulated": (sr.figures.plot_simulated, {"curves": CURVES}),
    "plot_forecast": (sr.figures.plot_forecast, {"curves": CURVES}),
    "plot_advice": (sr.figures.plot_advice, {"table": CURVES}),
    "load_set": (sr.datasets.load_set, {"name": "bundled"}),
    "load_store": (sr.datasets.load_store, {"path": "no-such-store"}),
}
CALLS["simulate"][1].update(nested=True, pairs=False, weights_from="theory", progress=False)
CALLS["simulate_classification"][1]["progress"] = False
CALLS["read_table"][1]["standardise"] = False

# Never numbers, sizes or words that mean something; only where texts or names of files are asked for are some used.
NONSENSE = {
    "text",
    "a number as text",
    "bytes",
    "NaN",
    "minus infinity",
    "complex",
    "a ragged list",
    "a list with None",
    "a list with NaN",
    "a list of text",
    "a mapping",
    "a function",
    "a type",
    "an object",
    "a date",
    "a time",
    "a duration",
    "complex array",
    "masked array",
    "array of dates",
    "array of text",
    "array of objects",
    "a table of text",
}
TEXT = {("Run", "store"), ("Run", "scheduler"), ("read_table", "missing_values")}  # any word may be meant
CASES = [(name, argument) for name, (_, arguments) in CALLS.items() for argument in arguments]


def test_there_are_enough_cases():
    assert len(CASES) * len(ODD) >= 1000


@pytest.fixture
def limited():
    """Nothing may think about nonsense for long."""

    def ring(number, frame):
        raise TimeoutError("more than ten seconds for a mistake")

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda: signal.alarm(10)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


needs_a_clock = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a clock that interrupts")


@needs_a_clock
@pytest.mark.parametrize(("name", "argument"), CASES)
def test_some_mistakes_are_named(name, argument, limited):
    """Every tenth odd value, other ones for every argument."""
    first = CASES.index((name, argument)) % 10
    make_mistakes(name, argument, [*ODD.items()][first::10], limited)


@pytest.mark.slow
@needs_a_clock
@pytest.mark.parametrize(("name", "argument"), CASES)
def test_mistakes_are_named(name, argument, limited):
    make_mistakes(name, argument, ODD.items(), limited)


def make_mistakes(name, argument, mistakes, limited):
    function, arguments = CALLS[name]
    for what, value in mistakes:
        limited()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(**(arguments | {argument: value}))
        except SubridgeError:
            continue
        except Exception as error:
            frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            if not any("sklearn" in frame for frame in frames):
                pytest.fail(f"{name}({argument}={what}): {error!r}")
        else:
            assert what not in NONSENSE or (name, argument) in TEXT, f"{name}({argument}={what}) was accepted"

"""Every public function with arguments that it takes, and which odd values are meant where."""

import numpy as np

import subridge as sr

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


GROUPS = np.arange(30) // 3
FITTED = sr.RidgeEnsembleRegressor(2, random_state=0).fit(X, Y)
CLASSIFIER = sr.RidgeEnsembleClassifier(2, random_state=0).fit(X, CLASSES)
SPACES = {"first": [0, 1, 2], "second": [3, 4, 5]}
BANDED = sr.BandedRidge(SPACES, n_draws=2, progress=False, random_state=0).fit(X, Y)
RISK = sr.risk(PROBLEM, ENSEMBLE, [0.5, 0.7])
FEATURES = sr.datasets.FeatureSet(X, CLASSES, X, CLASSES, ("a", "b"), "toy")
DEAD = sr.DeadFeatures(0.1)
CALLS["Ensemble"][1]["row_fractions"] = None
CALLS["risk"][1].update(test=None, ridges=None)
CALLS["optimal_ridge"][1]["test"] = None
CALLS["order_parameters"][1]["throw"] = True
CALLS["member_weights"][1]["simplex"] = True
CALLS["fit_members"][1]["noise"] = None
CALLS["forecast"][1].update(fit_intercept=True, label_noise=True, groups=None, n_groups=None)
CALLS["samples_needed"][1].update(ensembles=None, ridges=None, task="auto", seed=0)
CALLS["advise"][1].update(fit_intercept=True, weighted=True, standardise=False, groups=None)
CALLS["risk_matrix"][1]["fit_intercept"] = True
CALLS["read_table"][1]["groups"] = None
CALLS["load_store"][1]["seed"] = 0
CALLS["simulate_classification"][1]["run"] = None
for name in ("reduced_risk", "reduced_optimal_ridge", "optimal_n_members", "phase_boundary", "phase_diagram"):
    CALLS[name][1]["aggregation"] = "mean"
CALLS["reduced_optimal_ridge"][1]["sample_ratio"] = None
CALLS["large_k_coefficient"][1]["ridge"] = 0


def fitting(model, labels):
    """Make a model and fit it, so that its parameters are read."""
    return lambda **parameters: model(**parameters).fit(X, labels)


REGRESSOR = {"n_estimators": 2, "random_state": 0}
CALLS |= {
    "RidgeEnsembleRegressor": (
        fitting(sr.RidgeEnsembleRegressor, Y),
        sr.RidgeEnsembleRegressor(**REGRESSOR).get_params(),
    ),
    "RidgeEnsembleClassifier": (
        fitting(sr.RidgeEnsembleClassifier, CLASSES),
        sr.RidgeEnsembleClassifier(**REGRESSOR).get_params(),
    ),
    "BandedRidge": (fitting(sr.BandedRidge, Y), BANDED.get_params()),
    "RidgeEnsembleRegressor.fit": (
        lambda **given: sr.RidgeEnsembleRegressor(**REGRESSOR).fit(**given),
        {"X": X, "y": Y, "sample_weight": None, "groups": None},
    ),
    "RidgeEnsembleRegressor.partial_fit": (
        lambda **given: sr.RidgeEnsembleRegressor(**REGRESSOR).partial_fit(**given),
        {"X": X, "y": Y, "sample_weight": None},
    ),
    "RidgeEnsembleRegressor.predict": (FITTED.predict, {"X": X}),
    "RidgeEnsembleRegressor.predict_interval": (FITTED.predict_interval, {"X": X, "level": 0.9}),
    "RidgeEnsembleClassifier.fit": (
        lambda **given: sr.RidgeEnsembleClassifier(**REGRESSOR).fit(**given),
        {"X": X, "y": CLASSES, "sample_weight": None, "groups": None},
    ),
    "RidgeEnsembleClassifier.partial_fit": (
        lambda **given: sr.RidgeEnsembleClassifier(**REGRESSOR).partial_fit(**given),
        {"X": X, "y": CLASSES, "classes": [0, 1], "sample_weight": None},
    ),
    "RidgeEnsembleClassifier.predict": (CLASSIFIER.predict, {"X": X}),
    "RidgeEnsembleClassifier.predict_proba": (CLASSIFIER.predict_proba, {"X": X}),
    "RidgeEnsembleClassifier.decision_function": (CLASSIFIER.decision_function, {"X": X}),
    "RidgeEnsembleClassifier.predict_set": (CLASSIFIER.predict_set, {"X": X, "level": 0.9}),
    "BandedRidge.fit": (
        lambda **given: sr.BandedRidge(SPACES, n_draws=2, progress=False, random_state=0).fit(**given),
        {"X": X, "y": Y, "sample_weight": None, "groups": None},
    ),
    "BandedRidge.predict": (BANDED.predict, {"X": X}),
    "BandedRidge.predict_by_space": (BANDED.predict_by_space, {"X": X}),
    "BandedRidge.r2_by_space": (BANDED.r2_by_space, {"X": X, "y": Y}),
    "gather_moments": (
        sr.gather_moments,
        {
            "X": X,
            "y": Y,
            "sample_weight": None,
            "standardise": False,
            "missing": "raise",
            "store": None,
            "memory": None,
            "progress": False,
        },
    ),
    "EquicorrelatedProblem.realise": (PROBLEM.realise, {"n_features": 6, "seed": 0}),
    "DeadFeatures": (
        lambda **given: sr.risk(WHITE, PLANNED, 0.5, test=sr.DeadFeatures(**given)),
        {"probability": 0.1, "groups": None},
    ),
    "MeanShift": (
        lambda **given: sr.risk(WHITE, PLANNED, 0.5, test=sr.MeanShift(**given)),
        {"mean": np.ones(6), "problem": None},
    ),
    "Risk.of_weights": (RISK.of_weights, {"weights": [0.5, 0.5]}),
    "Risk.to_dataset": (RISK.to_dataset, {"sample_ratio": [0.5, 0.7]}),
    "Risk.plot": (RISK.plot, {"sample_ratio": [0.5, 0.7]}),
    "Advice.estimator": (sr.advise(X, Y, n_members=[2]).estimator, {"name": None}),
    "SubsetPlan": (sr.SubsetPlan, {"measurements": (np.array([0, 1]), np.array([2])), "n_features": 6}),
    "subsets.Equal": (sr.subsets.Equal, {"n_members": 2}),
    "subsets.Equal.draw": (sr.subsets.Equal(2).draw, {"n_features": 6, "seed": 0}),
    "subsets.Dirichlet": (sr.subsets.Dirichlet, {"n_members": 2, "fraction_spread": 0.5}),
    "subsets.Dirichlet.fractions": (sr.subsets.Dirichlet(2, 0.5).fractions, {"seed": 0, "size": None}),
    "subsets.Dirichlet.draw": (sr.subsets.Dirichlet(2, 0.5).draw, {"n_features": 6, "seed": 0}),
    "subsets.Overlapping": (sr.subsets.Overlapping, {"subset_sizes": (2, 3)}),
    "subsets.Overlapping.draw": (sr.subsets.Overlapping((2, 3)).draw, {"n_features": 6, "seed": 0}),
    "subsets.Projection": (sr.subsets.Projection, {"subset_sizes": (2, 3)}),
    "subsets.Projection.draw": (sr.subsets.Projection((2, 3)).draw, {"n_features": 6, "seed": 0}),
    "subsets.fraction_density": (
        sr.subsets.fraction_density,
        {"fraction": 0.3, "n_members": 3, "fraction_spread": 0.5},
    ),
    "subsets.rescaled_spread": (sr.subsets.rescaled_spread, {"n_members": 3, "fraction_spread": 0.5}),
    "subsets.read_strategy": (sr.subsets.read_strategy, {"name": "equal", "options": sr.subsets.StrategyOptions(2, 6)}),
    "subsets.StrategyOptions": (
        lambda **given: sr.subsets.read_strategy("overlapping", sr.subsets.StrategyOptions(**given)),
        {"n_members": 2, "n_features": 6, "fraction_spread": 0.75, "subset_sizes": [2, 3]},
    ),
    "covariance.as_covariance": (sr.covariance.as_covariance, {"value": np.eye(3)}),
    "aggregation.read_aggregation": (sr.aggregation.read_aggregation, {"value": "mean"}),
    "aggregation.Simplex": (sr.aggregation.Simplex, {"per_target": False}),
    "aggregation.Free": (sr.aggregation.Free, {"per_target": False}),
    "aggregation.Scaled": (sr.aggregation.Scaled, {"per_target": False}),
    "aggregation.WeightedMajority": (sr.aggregation.WeightedMajority, {"vote_weights": (0.5, 0.5)}),
    "extract_folder": (
        sr.datasets.extract_folder,
        {
            "images": "no-such-folder",
            "out": "features.zarr",
            "name": "efficientnet-lite0",
            "weights": None,
            "size": None,
            "device": "cpu",
            "skip_unreadable": False,
        },
    ),
    "FeatureSet.without_constant_features": (FEATURES.without_constant_features, {"least_spread": 0.05}),
    "FeatureSet.with_features": (FEATURES.with_features, {"count": 3}),
    "FeatureSet.with_sizes": (FEATURES.with_sizes, {"n_train": 20, "n_test": 10}),
    "plot_sources": (sr.figures.plot_sources, {"data": CURVES}),
    "plot_demo": (sr.figures.plot_demo, {"curves": CURVES}),
    "reproduce": (
        sr.figures.reproduce,
        {"figure": "fig1a", "quick": True, "settings": "published", "run": None, "data": None},
    ),
}

# Where any text, mapping, function or list may be meant.
MEANT = {
    ("Run", "store"): {"text", "a number as text", "bytes"},
    ("Run", "scheduler"): {"text", "a number as text"},
    ("gather_moments", "store"): {"text", "a number as text"},
    ("BandedRidge", "spaces"): {"a mapping"},  # of a name and a column
    ("member_weights", "pairs"): {"with infinity"},
    # Named subsets; and a function draws subsets, whose errors are its own.
    ("RidgeEnsembleRegressor", "subsets"): {"a mapping", "a function", "a type"},
    ("RidgeEnsembleClassifier", "subsets"): {"a mapping", "a function", "a type"},
    # Any values may name classes.
    ("RidgeEnsembleClassifier.fit", "y"): {"as dates", "as durations"},
    ("RidgeEnsembleClassifier.partial_fit", "y"): {"as dates", "as durations"},
    ("compare", "theory"): {"with infinity"},  # an infinite risk
    ("read_table", "missing_values"): {
        "text",
        "a number as text",
        "a list of text",
        "array of text",
        "a list with NaN",
        "a table of text",
        "array of objects",
    },
}

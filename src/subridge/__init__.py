"""subridge: learning curves of ridge ensembles on subsets of features.

Public names are loaded when first used, so that ``import subridge`` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# public name -> module that defines it; rooms and modules are public under their own name
_HOMES = {
    # describe
    "Problem": "spec.problem",
    "EquicorrelatedProblem": "spec.problem",
    "SubsetPlan": "spec.plan",
    "Ensemble": "ensemble.ensemble",
    # predict
    "Risk": "ensemble.risk",
    "OrderParameters": "theory.order_parameters",
    "risk": "theory.predict",
    "order_parameters": "theory.predict",
    "optimal_ridge": "theory.optimal_ridge",
    "reduced_risk": "theory.reduced",
    "reduced_optimal_ridge": "theory.reduced",
    "large_k_coefficient": "theory.reduced",
    "optimal_n_members": "theory.ensemble_size",
    "phase_boundary": "theory.ensemble_size",
    "member_weights": "ensemble.member_weights",
    "phase_diagram": "results.phases",
    # experiment
    "fit_members": "ridge.reference",
    "risk_of_weights": "ridge.exact_risk",
    "simulate": "simulation.simulate",
    "simulate_classification": "simulation.classification.simulate",
    "Run": "simulation.run",
    "compare": "results.compare",
    # estimate
    "RidgeEnsembleRegressor": "estimators.regressor",
    "RidgeEnsembleClassifier": "estimators.classifier",
    # forecast
    "forecast": "forecasting.forecast",
    "advise": "forecasting.advise",
    "risk_matrix": "forecasting.risk_matrix",
}
_MODULES = {
    "covariance": "spec.covariance",
    "errors": "spec.errors",
    "subsets": "subsets",
    "theory": "theory",
    "datasets": "datasets",
    "figures": "figures",
    "derivations": "derivations",
}

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{_MODULES[name]}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Learning curves by theory, as a dataset."""

from dataclasses import asdict, replace

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem
from subridge.results.schemas import result_attributes
from subridge.theory.predict import risk
from subridge.theory.ridge_search import optimal_ridge


def predicted_curves(
    problem: EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratios: ArrayLike,
    ridges: ArrayLike,
    *,
    n_features: int | None = None,
    at_optimal_ridge: bool = False,
) -> xr.Dataset:
    """Predict the risk of an ensemble along its learning curve, for several ridges in place of its own.

    The dataset has ``risk`` (ridge, sample_ratio), ``subset_fraction`` (member) and, with `at_optimal_ridge`, the curve
    of members that are each at their own best ridge: ``risk_at_optimal_ridge`` (sample_ratio), ``optimal_ridge``
    (member).

    >>> curves = predicted_curves(EquicorrelatedProblem(), Ensemble([0.5, 0.5]), [0.2, 1.0], [0.1])
    >>> dict(curves.risk.sizes)
    {'ridge': 1, 'sample_ratio': 2}
    """
    alpha, lam = np.asarray(sample_ratios, dtype=np.float64), np.asarray(ridges, dtype=np.float64)

    def total(ridge: FloatArray) -> FloatArray:
        return risk(problem, replace(ensemble, ridge=ridge), alpha, n_features=n_features).total

    curves = xr.Dataset(
        {
            "risk": (("ridge", "sample_ratio"), total(lam[:, None, None])),
            "subset_fraction": ("member", np.diagonal(ensemble.fractions)),
        },
        {"ridge": lam, "sample_ratio": alpha},
        result_attributes(
            "learning_curves",
            1,
            "Predicted risk of a ridge ensemble on equicorrelated data.",
            n_features=float("inf") if n_features is None else n_features,
            readout_noise=np.squeeze(ensemble.readout_noise).tolist(),
            **{name: np.asarray(value).tolist() for name, value in asdict(problem).items()},
        ),
    )
    if at_optimal_ridge:
        best = optimal_ridge(problem, ensemble)
        curves = curves.assign(risk_at_optimal_ridge=("sample_ratio", total(best)), optimal_ridge=("member", best))
    return curves

"""What a forecast is asked for: sample sizes, and ensembles by name."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import FittedAggregation, LinearAggregation
from subridge.model.checks import counted, real_array
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError, RidgeError, SubsetError
from subridge.model.fingerprint import checked_seed, stream
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import Equal, Overlapping, Strategy

_MOST = 1e15  # of a finite size: floats hold every integer below


@dataclass(frozen=True, eq=False)
class DrawnEnsemble:
    """An ensemble whose subsets are drawn and whose aggregate is a weighted mean."""

    plan: SubsetPlan
    ridges: FloatArray  # λ_r, shape (k,)
    readout_noise: FloatArray  # η_r, shape (k,)
    aggregation: LinearAggregation

    @property
    def fits_weights(self) -> bool:
        """Whether the weights of members depend on their errors."""
        return self.aggregation.fits_weights


def read_sizes(n_samples: ArrayLike, name: str = "n_samples") -> FloatArray:
    """Sample sizes n′ ≥ 2, which may be infinite; shape (S,)."""
    sizes = np.array(list(dict.fromkeys(np.atleast_1d(real_array(name, n_samples)).ravel().tolist())))
    whole = np.isinf(sizes) | ((sizes == np.floor(sizes)) & (sizes < _MOST))
    if not sizes.size or not whole.all() or (sizes < 2).any():
        raise ParameterError(f"{name} must be integers of at least 2 and below 1e15 (or inf), got {n_samples!r}")
    return sizes


def default_ensembles(n_features: int) -> dict[str, Ensemble]:
    """One ridge, and equal and overlapping members, as many of 8 as there are features for.

    >>> list(default_ensembles(100))
    ['one ridge', '8 equal', '8 overlapping']
    """
    k = min(8, n_features)
    several = {} if k == 1 else {f"{k} equal": Ensemble(Equal(k))}
    if n_features > 1:
        several[f"{k} overlapping"] = Ensemble(Overlapping((max(1, n_features // 2),) * k))
    return {"one ridge": Ensemble(Equal(1))} | several


def read_ensembles(ensembles: Mapping[str, Ensemble], n_features: int, seed: Seed | None) -> dict[str, DrawnEnsemble]:
    """Check every ensemble; strategies draw their subsets here."""
    if seed is not None:
        checked_seed("seed", seed)
    if not isinstance(ensembles, Mapping) or not ensembles:
        raise ParameterError("ensembles must be a mapping from names to Ensemble objects, with at least one")
    drawn = {str(name): _draw(f"ensembles[{name!r}]", each, n_features, seed) for name, each in ensembles.items()}
    if len(drawn) < len(ensembles):
        raise ParameterError(f"ensembles must have names that differ as text, got {list(ensembles)!r}")
    return drawn


def _draw(name: str, ensemble: Ensemble, n_features: int, seed: Seed | None) -> DrawnEnsemble:
    if not isinstance(ensemble, Ensemble):
        raise ParameterError(f"{name} must be an Ensemble, got {type(ensemble).__name__}")
    subsets, aggregation = ensemble.subsets, ensemble.aggregation
    plan = subsets.draw(n_features, stream(seed)) if isinstance(subsets, Strategy) else ensemble.plan
    if plan.n_features != n_features:
        raise SubsetError(f"{name} is a plan for {counted(plan.n_features, 'feature')}, but X has {n_features}")
    if ensemble.ridge.ndim > 1 or ensemble.readout_noise.ndim > 1:
        raise ParameterError(f"{name} sweeps its ridge or noise; give ridges= to compare ridges")
    if (ensemble.ridge < 0).any():
        raise RidgeError(f"ridge of {name} must be at least 0, got {ensemble.ridge.min():g}")
    if isinstance(aggregation, FittedAggregation) and aggregation.per_target:
        raise ParameterError(f"{name} has weights for each target, which have no forecast; use per_target=False")
    if not isinstance(aggregation, LinearAggregation):
        raise ParameterError(
            f"{name} has aggregation={aggregation.name!r}, which has no forecast: only weighted sums of members have. "
            'Use "mean", "scaled", "simplex" or "free"; for classes the wrong majority votes come with each'
        )
    shape = (plan.n_members,)
    ridges, noise = np.broadcast_to(ensemble.ridge, shape), np.broadcast_to(ensemble.readout_noise, shape)
    return DrawnEnsemble(plan, ridges, noise, aggregation)

"""From an estimator's flat parameters to an `Ensemble`: the one place where they are read."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import AGGREGATIONS, Aggregation, FittedAggregation, Mean, Scaled, Summed
from subridge.model.checks import Scope, check_scope, counted, positive_integer, within
from subridge.model.ensemble import Ensemble
from subridge.model.errors import FewSamplesWarning, ParameterError, SubsetError
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import STRATEGIES, Strategy, StrategyOptions, read_strategy
from subridge.ridge.search_path import trainable

_LEAST_SAMPLES = 10  # with fewer, weights follow single samples

# Subsets that are known: a plan, or one array of indices (or a mask) per member.
_Known: TypeAlias = SubsetPlan | Sequence[ArrayLike]
# What `subsets` may be: known ones, the name of a strategy, a strategy, or a function of (n_features, rng).
Subsets: TypeAlias = str | _Known | Strategy | Callable[[int, np.random.Generator], _Known]


class FlatParameters:
    """The parameters of an ensemble that both estimators share."""

    n_estimators: int
    subsets: Subsets
    fraction_spread: float
    subset_sizes: ArrayLike | None
    ridge: ArrayLike
    ridge_scope: Scope
    readout_noise: ArrayLike


def ensemble_of(
    parameters: FlatParameters, aggregation: Aggregation, n_features: int, rng: np.random.Generator
) -> Ensemble:
    """Draw the subsets and describe the ensemble; a ridge that is still to be chosen is left at 0."""
    plan = draw_plan(parameters, n_features, rng)
    ridge = 0.0 if is_searched(parameters) else _per_member("ridge", trainable("ridge", parameters.ridge), plan)
    noise = _per_member("readout_noise", within("readout_noise", parameters.readout_noise, 0.0, 1e100), plan)
    return Ensemble(plan, ridge, noise, aggregation)


def is_searched(parameters: FlatParameters) -> bool:
    """Whether ridges are to be chosen from a path; refuses unknown words."""
    check_scope("ridge_scope", parameters.ridge_scope)
    if not isinstance(parameters.ridge, str):
        return False
    if parameters.ridge != "auto":
        raise ParameterError(
            f"ridge must be a number, one per member, or 'auto' (ridge_scope says for whom), got {parameters.ridge!r}"
        )
    return True


def aggregation_of(name: str, value: str | Aggregation, *, decides_classes: bool) -> Aggregation:
    """The aggregation that a parameter names, among those that give numbers or those that decide classes.

    >>> aggregation_of("voting", "sum", decides_classes=True).name
    'sum'
    """
    known = {each.name: each for each in AGGREGATIONS.values() if each.decides_classes == decides_classes}
    found = value if isinstance(value, Aggregation) else known.get(value) if isinstance(value, str) else None
    if found is None or found.decides_classes != decides_classes:
        raise ParameterError(f"{name} must be one of {', '.join(known)}, or such an Aggregation, got {value!r}")
    return found


def per_target(aggregation: Aggregation) -> Aggregation:
    """The aggregation with weights of its own for each target."""
    if not isinstance(aggregation, FittedAggregation):
        raise ParameterError(
            f"weights for each target or class need fitted weights, got aggregation={aggregation.name!r}; "
            'use "scaled", "simplex" or "free", or weights_per_target=False'
        )
    return replace(aggregation, per_target=True)


def affordable(aggregation: Aggregation, n_samples: int) -> Aggregation:
    """The aggregation, or the mean with a warning where samples are too few to fit weights to."""
    if not aggregation.fits_weights or n_samples >= _LEAST_SAMPLES:
        return aggregation
    warnings.warn(
        FewSamplesWarning(
            f"aggregation={aggregation.name!r} fits weights, for which n_samples={n_samples} are too few "
            f"(at least {_LEAST_SAMPLES}); the mean is taken"
        ),
        stacklevel=3,
    )
    return Mean()


def voting_of(voting: str | Aggregation, score_weights: str | Aggregation) -> Aggregation:
    """How a classifier chooses its ridges: by votes or summed scores, or by scores that are weighted for each class."""
    found = aggregation_of("voting", voting, decides_classes=True)
    if not isinstance(found, Summed) or _are_equal(score_weights):
        return found
    return per_target(aggregation_of("score_weights", score_weights, decides_classes=False))


def vote_weights_of(
    voting: str | Aggregation, score_weights: str | Aggregation, n_samples: int = _LEAST_SAMPLES
) -> FittedAggregation | None:
    """What weighs the votes of a majority; None where they are equal, or have to be because samples are few."""
    if _are_equal(score_weights) or isinstance(aggregation_of("voting", voting, decides_classes=True), Summed):
        return None
    found = aggregation_of("score_weights", score_weights, decides_classes=False)
    if not isinstance(found, FittedAggregation) or isinstance(found, Scaled):
        raise ParameterError(
            f"score_weights={found.name!r} does not weigh votes, which have no scale; use 'simplex' or 'free', "
            "or voting='sum'"
        )
    return found if affordable(found, n_samples) is found else None


def _are_equal(score_weights: str | Aggregation) -> bool:
    return isinstance(score_weights, str) and score_weights == "equal"


def draw_plan(parameters: FlatParameters, n_features: int, rng: np.random.Generator) -> SubsetPlan:
    """Draw, or adopt, the subsets of an estimator; no more members are drawn than there are features."""
    subsets = parameters.subsets
    if isinstance(subsets, str):
        k = min(positive_integer("n_estimators", parameters.n_estimators), n_features)
        options = StrategyOptions(k, n_features, parameters.fraction_spread, parameters.subset_sizes)
        return read_strategy(subsets, options).draw(n_features, rng)
    if isinstance(subsets, Strategy):
        drawn: _Known = subsets.draw(n_features, rng)
    else:
        drawn = subsets(n_features, rng) if callable(subsets) else subsets
    if isinstance(drawn, SubsetPlan):
        if drawn.n_features != n_features:
            raise SubsetError(f"subsets is a plan for {counted(drawn.n_features, 'feature')}, but X has {n_features}")
        return drawn
    if isinstance(drawn, Sequence | np.ndarray):
        return SubsetPlan.from_indices(drawn, n_features)
    raise SubsetError(
        f"subsets must be one of {', '.join(STRATEGIES)}, a SubsetPlan, a strategy, index arrays or a callable, "
        f"got {subsets!r}"
    )


def _per_member(name: str, values: FloatArray, plan: SubsetPlan) -> FloatArray:
    """A number, or one per member, as shape (k,)."""
    k = plan.n_members
    if values.shape not in ((), (1,), (k,)):
        raise ParameterError(f"{name} must be a number or one per member ({k}), got shape {values.shape}")
    return np.broadcast_to(values, (k,))

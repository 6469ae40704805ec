"""What fitted weights cost: their error on samples that had no part in them.

Weights that are fitted to left-out errors look better on these than on new samples. It is not enough to fit them to the
errors of the other samples: the output of a member for a left-out sample j was still learnt from sample i, so the
weights know i through it. Here sample i is left out of everything, of members, of the choice of weights and of that of
the ridge, which the formula for pairs makes possible without refitting. This is exact leave-one-out of the whole
procedure, except for how many samples the errors of a member are worth, which follows from the features of all samples.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import device_of, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import MemberMoments
from subridge.ridge.choose import Losses
from subridge.ridge.member import without_partner
from subridge.ridge.rows import LeftOutSets, TrainingRows

_FOLDS = 20
_LEAST_JUDGED = 8  # samples: their optimism relative to their own errors varies little
_MOST_WORK = 2e8  # multiplications to judge every ridge, above which only the chosen one is judged
_LITTLE_WORK = 2e7  # multiplications for that one, above which fewer samples are judged
_MOST_WEIGHTS = 4000  # choices of weights at one ridge, likewise
_BLOCK = 4_000_000  # numbers of left-out errors held at once


class _Judged(NamedTuple):
    """Samples of an ensemble with their squared errors, each shape (m,), at one place on the path."""

    whole: float  # error of all samples, by weights that were fitted to them
    apparent: FloatArray  # by weights that were fitted to them
    honest: FloatArray  # by weights from samples and members without them
    criterion: FloatArray  # by which a ridge is chosen without them


@dataclass(frozen=True, eq=False)
class Verdict:
    """The left-out error of an ensemble, and of one common ridge the errors along the path (L,).

    If weights are fitted: the moments of the left-out errors, and the weights (k,) or (C, k) that follow from them.
    """

    error: float
    path_losses: FloatArray | None
    moments: MemberMoments | None = None
    weights: FloatArray | None = None


def judge(losses: Losses, places: IntArray, *, is_common: bool) -> Verdict:
    """The left-out error of an ensemble whose ridges were chosen.

    The choice of one common ridge, `is_common`, is judged with the weights if it is cheap to judge every ridge; if it
    is not, samples are so many that it adds little. Other choices are taken as they are: what they add to the optimism
    of the weights is not in the answer.
    """
    rows, aggregation, k, L = losses.rows, losses.aggregation, len(losses.paths), losses.n_ridges
    along = np.array([each.loss[0] for each in losses.common]) if is_common else None
    loss, moments, settled = losses.at(places)
    if moments is None or settled is None or rows.n_samples < 3:
        return Verdict(loss[0], along)
    error = apparent = float(moments.risk_of(settled.weights).sum())
    work = rows.n_samples * (sum(path.rank for path in losses.paths) + int(rows.targets.shape[0]) * k**2)
    of_path = is_common and rows.left_out is None and _LEAST_JUDGED * L * work <= _MOST_WORK
    if rows.left_out is not None:
        error = _cross_fitted(losses, places, rows.left_out) if apparent > 0 else apparent
    else:
        solves = _MOST_WEIGHTS // (rows.targets.shape[0] if aggregation.per_target else 1)
        affordable = min(int((_MOST_WORK / L if of_path and L > 1 else _LITTLE_WORK) / work), solves)
        judged_rows = min(rows.n_samples, max(_LEAST_JUDGED, affordable))
        samples = np.sort(np.random.default_rng(0).permutation(rows.n_samples)[:judged_rows])
        tried, w = [np.full(k, at) for at in range(L)] if of_path else [places], to_numpy(rows.weights)[samples]
        judged = [_judge_at(losses, each, samples) for each in tried]
        # The ridge that each left-out sample's ensemble would have chosen without it.
        without = len(tried) - 1 - np.argmin(np.array([each.criterion for each in judged])[::-1], axis=0)
        honest = np.array([judged[at].honest[i] for i, at in enumerate(without)])
        chosen = judged[int(places[0]) if of_path else 0]
        error = apparent * _ratio(honest, chosen.apparent, w)
    if of_path:
        along = np.array([each.whole * _ratio(each.honest, each.apparent, w) for each in judged])
    elif along is not None and settled.expected.sum() > 0:
        along = along * (error / float(settled.expected.sum()))
    return Verdict(error, along, moments, settled.weights)


def _ratio(honest: FloatArray, apparent: FloatArray, weights: FloatArray) -> float:
    """How much larger the honest errors are than the apparent ones, each (m,), for sample weights (m,)."""
    return float(honest @ weights) / float(apparent @ weights) if float(apparent @ weights) > 0 else 1.0


def _cross_fitted(losses: Losses, places: IntArray, sets: LeftOutSets) -> float:
    """Error of weights on sets of samples that they were not fitted to, if sets are left out together.

    Members of the other sets have still seen them.
    """
    rows, aggregation, total = losses.rows, losses.aggregation, 0.0
    errors, independent = losses.errors(places), losses.independent(places)
    folds = sets.owners * min(_FOLDS, sets.n_sets) // sets.n_sets
    for fold in range(int(folds.max()) + 1):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(inside) or not len(outside):
            continue
        fitted, judged = (
            aggregation.moments(
                take_last(errors, part), take_last(rows.deviations, part), take_last(rows.weights, part), independent
            )
            for part in (outside, inside)
        )
        share = float(take_last(rows.weights, inside).sum()) / rows.total_weight
        total += share * float(judged.risk_of(aggregation.weights(fitted)).sum())
    return total


def _judge_at(losses: Losses, places: IntArray, samples: IntArray) -> _Judged:
    """Samples at one place on the path."""
    rows, aggregation, paths, (_, moments, fitted) = losses.rows, losses.aggregation, losses.paths, losses.at(places)
    assert moments is not None
    assert fitted is not None
    own = np.moveaxis(to_numpy(take_last(losses.errors(places), samples)), -1, 0)  # (m, k, C)
    deviations = to_numpy(take_last(rows.deviations, samples)).T
    independent = losses.independent(places)  # by the features only, not by the label of sample i
    xp, honest, criterion = namespace_of(rows.targets), [], []
    size = max(1, _BLOCK // (len(paths) * int(np.prod(rows.targets.shape))))
    for start in range(0, len(samples), size):
        block, part = samples[start : start + size], slice(start, start + size)
        targets = _deviations_without(rows, block)
        shape = (len(block), len(paths), *rows.targets.shape)
        errors = xp.empty(shape, dtype=targets.dtype, device=device_of(targets))
        for r, (path, place) in enumerate(zip(paths, places, strict=True)):
            errors[:, r, :, :] = path.pair_errors(int(place), block)
        if not rows.unweighted:
            errors *= rows.root_weights
            targets = targets * rows.root_weights
        for number, i in enumerate(block.tolist()):  # it counts nothing, which is quicker than weights for all others
            errors[number, :, :, i], targets[number, :, i] = 0.0, 0.0
        settled = aggregation.settle(aggregation.moments(errors, targets, xp.ones_like(rows.weights), independent))
        honest.append(_squared_errors(own[part], deviations[part], settled.weights))
        criterion.append(settled.expected.sum(axis=-1) if aggregation.per_target else settled.expected)
    apparent, whole = _squared_errors(own, deviations, fitted.weights[None, ...]), moments.risk_of(fitted.weights).sum()
    return _Judged(float(whole), apparent, np.concatenate(honest), np.concatenate(criterion))


def _deviations_without(rows: TrainingRows, samples: IntArray) -> Array:
    """Targets measured from the mean without themselves and sample i; shape (m, C, n)."""
    if not rows.fit_intercept:
        return namespace_of(rows.targets).stack([rows.targets] * len(samples))
    root = rows.intercept_leverage**0.5
    across = -take_last(root, samples)[:, None] * root[None, :]
    weighted = rows.deviations * rows.root_weights
    return without_partner(weighted, 1 - rows.intercept_leverage, across, samples) / rows.root_weights


def _squared_errors(errors: FloatArray, deviations: FloatArray, weights: FloatArray) -> FloatArray:
    """Squared errors of the aggregate, summed over targets, shape (m,): errors (m, k, C), deviations (m, C)."""
    w = weights[:, None, :] if weights.ndim == 2 else weights  # (m, 1 or C, k)
    combined = (1 - w.sum(axis=-1)) * deviations + (w * np.swapaxes(errors, 1, 2)).sum(axis=-1)
    return np.asarray((combined**2).sum(axis=-1))

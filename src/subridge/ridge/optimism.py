"""What fitted weights cost: their error on samples that had no part in them.

Weights that are fitted to left-out errors look better on these than on new samples. It is not enough to fit them to the
errors of the others: the output of a member for sample j, left out, was still learnt from sample i, so the weights know
i through it. Here sample i is left out of everything, of members, of the choice of weights and of that of the ridge,
which `leave_pairs_out` makes possible without refitting. That is exact leave-one-out of the whole procedure, but for
how many samples the errors of a member are worth, which follows from the features of all samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import device_of, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, FittedAggregation, LinearAggregation, Settled
from subridge.model.moments import MemberMoments
from subridge.ridge.rows.leave_pairs_out import without_partner
from subridge.ridge.rows.path import MemberPath
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.selection import RidgeChoice, independent_at, left_out_at, left_out_loss, moments_at, shared_ridges

_FOLDS = 20
_LEAST_JUDGED = 8  # samples: their optimism relative to their own errors varies little
_MOST_WORK = 2e8  # multiplications to judge every ridge, beyond which only the chosen one is judged
_LITTLE_WORK = 2e7  # multiplications for that one, beyond which fewer samples are judged
_MOST_WEIGHTS = 4000  # choices of weights at one ridge, likewise
_BLOCK = 4_000_000  # numbers of left-out errors held at once


@dataclass(frozen=True, eq=False)
class _Judged:
    """Samples of an ensemble with their squared errors, each shape (m,), at one place on the path."""

    apparent: FloatArray  # by weights that were fitted to them
    honest: FloatArray  # by weights from samples and members without them
    criterion: FloatArray  # by which a ridge is chosen without them

    def ratio(self, weights: FloatArray) -> float:
        """How much larger the honest errors are than the apparent ones."""
        apparent = float(self.apparent @ weights)
        return float(self.honest @ weights) / apparent if apparent > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Verdict:
    """Where each member stands, (k,), the errors along the path (L,) where there is one, and that of the choice."""

    indices: IntArray
    losses: FloatArray | None
    error: float
    moments: MemberMoments | None = None  # of the left-out errors, where weights are fitted to them
    weights: FloatArray | None = None  # that these moments ask for, (k,) or (C, k)


def judge(paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation, choice: RidgeChoice) -> Verdict:
    """The left-out error of an ensemble whose ridges were chosen.

    The choice of one common ridge is judged with the weights, if it is cheap to judge every ridge; where it is not,
    samples are so many that it adds little. Other choices are taken as they are: what they add to the optimism of the
    weights is not in the answer.
    """
    losses, indices = choice.common_losses, choice.indices
    if not isinstance(aggregation, LinearAggregation) or not aggregation.fits_weights or rows.n_samples < 3:
        return Verdict(indices, losses, left_out_loss(aggregation, *left_out_at(paths, indices), rows)[0])
    shared = choice.shared if choice.is_common else None
    if shared is None:
        moments = moments_at(paths, rows, aggregation, indices)
        settled = aggregation.settle(moments)
    else:
        moments, settled = shared.at(int(indices[0]))
    apparent = float(moments.risk_of(settled.weights).sum())
    if rows.left_out is not None:
        ratio = _cross_fitted(paths, rows, aggregation, indices) / apparent if apparent > 0 else 1.0
        levelled = _levelled(losses, settled, apparent * ratio)
        return Verdict(indices, levelled, apparent * ratio, moments, settled.weights)
    n_ridges = 1 if losses is None else len(losses)
    if losses is None or not choice.is_common or _LEAST_JUDGED * n_ridges * _work(paths, rows) > _MOST_WORK:
        chosen = _samples_to_judge(paths, rows, aggregation, 1)
        judged = _judge(paths, rows, aggregation, indices, chosen, settled.weights)
        ratio = judged.ratio(to_numpy(rows.weights)[chosen])
        levelled = _levelled(losses, settled, apparent * ratio)
        return Verdict(indices, levelled, apparent * ratio, moments, settled.weights)
    return _judge_path(paths, rows, aggregation, choice)


def _levelled(losses: FloatArray | None, settled: Settled, honest: float) -> FloatArray | None:
    """Errors to expect along the path (L,), brought to the level that was found where the ensemble stands."""
    expected = float(settled.expected.sum())
    return losses if losses is None or expected <= 0 else losses * (honest / expected)


def _judge_path(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: LinearAggregation, choice: RidgeChoice
) -> Verdict:
    """Every ridge is judged, and the choice among them by what each left-out sample's would have been without it."""
    k, L = len(paths), paths[0].n_ridges
    chosen = _samples_to_judge(paths, rows, aggregation, L)
    weights = to_numpy(rows.weights)[chosen]
    shared = choice.shared or shared_ridges(paths, rows, aggregation)
    known = [shared.at(index) for index in range(L)]
    judged = [
        _judge(paths, rows, aggregation, np.full(k, index), chosen, settled.weights)
        for index, (_, settled) in enumerate(known)
    ]
    whole = np.array([float(moments.risk_of(settled.weights).sum()) for moments, settled in known])
    honest = whole * np.array([each.ratio(weights) for each in judged])
    without = L - 1 - np.argmin(np.array([each.criterion for each in judged])[::-1], axis=0)
    best = int(choice.indices[0])
    total = float(np.array([judged[index].honest[i] for i, index in enumerate(without)]) @ weights)
    own = float(judged[best].apparent @ weights)
    error = float(whole[best] * total / own if own > 0 else honest[best])
    return Verdict(choice.indices, honest, error, known[best][0], known[best][1].weights)


def _cross_fitted(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: LinearAggregation, indices: IntArray
) -> float:
    """Error of weights on sets of samples that they were not fitted to, where sets are left out together.

    Members of the other sets have still seen them.
    """
    (errors, independent), total = left_out_at(paths, indices), 0.0
    owners = np.zeros(rows.n_samples, dtype=np.intp) if rows.left_out is None else rows.left_out.owners
    folds = owners * min(_FOLDS, int(owners.max()) + 1) // (int(owners.max()) + 1)
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


def _work(paths: Sequence[MemberPath], rows: TrainingRows) -> int:
    """Multiplications that one sample costs at one ridge."""
    return rows.n_samples * (sum(path.rank for path in paths) + int(rows.targets.shape[0]) * len(paths) ** 2)


def _samples_to_judge(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: LinearAggregation, n_ridges: int
) -> IntArray:
    """All samples, or a sample of them where all would cost too much."""
    solves = _MOST_WEIGHTS // (rows.targets.shape[0] if _is_per_target(aggregation) else 1)
    budget = _MOST_WORK if n_ridges > 1 else _LITTLE_WORK
    affordable = min(int(budget / (n_ridges * _work(paths, rows))), solves)
    most = min(rows.n_samples, max(_LEAST_JUDGED, affordable))
    return np.sort(np.random.default_rng(0).permutation(rows.n_samples)[:most])


def _judge(
    paths: Sequence[MemberPath],
    rows: TrainingRows,
    aggregation: LinearAggregation,
    indices: IntArray,
    samples: IntArray,
    weights: FloatArray,
) -> _Judged:
    """Samples at one place on the path, where all of them together have these weights."""
    own = np.stack([to_numpy(take_last(p.errors(int(i)), samples)).T for p, i in zip(paths, indices, strict=True)], 1)
    deviations = to_numpy(take_last(rows.deviations, samples)).T
    honest, criterion = [], []
    size = max(1, _BLOCK // (len(paths) * int(np.prod(rows.targets.shape))))
    for start in range(0, len(samples), size):
        block = samples[start : start + size]
        fitted, risk = _weights_without(paths, rows, aggregation, indices, block)
        part = slice(start, start + size)
        honest.append(_squared_errors(own[part], deviations[part], fitted))
        criterion.append(risk)
    apparent = _squared_errors(own, deviations, weights[None, ...])
    return _Judged(apparent, np.concatenate(honest), np.concatenate(criterion))


def _weights_without(
    paths: Sequence[MemberPath],
    rows: TrainingRows,
    aggregation: LinearAggregation,
    indices: IntArray,
    samples: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Weights (m, k), or (m, C, k), fitted as if sample i were not there, and their error on the others (m,).

    That error is up to a factor of each sample, the same at every ridge.
    """
    k, C = len(paths), int(rows.targets.shape[0])
    xp, targets = namespace_of(rows.targets), _deviations_without(rows, samples)
    errors = xp.empty((len(samples), k, C, rows.n_samples), dtype=targets.dtype, device=device_of(targets))
    for r, (path, index) in enumerate(zip(paths, indices, strict=True)):
        errors[:, r, :, :] = path.pair_errors(int(index), samples)
    if not rows.unweighted:
        errors *= rows.root_weights
        targets = targets * rows.root_weights
    for place, i in enumerate(samples.tolist()):  # it counts nothing, which is quicker than weights for all others
        errors[place, :, :, i], targets[place, :, i] = 0.0, 0.0
    independent = independent_at(paths, indices)  # by the features, which say nothing of the label of sample i
    ones = xp.ones_like(rows.weights)
    settled = aggregation.settle(aggregation.moments(errors, targets, ones, independent))
    expected = settled.expected
    return settled.weights, expected.sum(axis=-1) if _is_per_target(aggregation) else expected


def _is_per_target(aggregation: LinearAggregation) -> bool:
    return isinstance(aggregation, FittedAggregation) and aggregation.per_target


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
    combined = (1 - w.sum(axis=-1)) * deviations + np.einsum(
        "mck,mkc->mc", np.broadcast_to(w, (*errors.shape[::2], errors.shape[1])), errors
    )
    return np.asarray((combined**2).sum(axis=-1))

"""What fitted weights cost: their error on samples that had no part in them.

Weights that are fitted to left-out errors look better on these than on new samples. It is not enough to fit them to the
errors of the others: the output of a member for sample j, left out, was still learnt from sample i, so the weights know
i through it. Here sample i is left out of everything, of members, of the choice of weights and of that of the ridge,
which `leave_pairs_out` makes possible without refitting. That is exact leave-one-out of the whole procedure, but for
the optimism that the choice of a ridge adds to the errors along the path, which are taken from all samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ensemble.aggregation import Aggregation, FittedAggregation, LinearAggregation
from subridge.ensemble.moments import MemberMoments
from subridge.ridge.rows.leave_pairs_out import without_partner
from subridge.ridge.rows.path import MemberPath
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.selection import RidgeChoice, errors_at, left_out_loss

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
    whole_criterion: float  # and with all samples

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


def judge(paths: Sequence[MemberPath], rows: TrainingRows, aggregation: Aggregation, choice: RidgeChoice) -> Verdict:
    """The left-out error of an ensemble whose ridges were chosen, and a better common ridge where weights are fitted.

    A choice of one common ridge is made again by the honest errors, if it is cheap to have them for every ridge; where
    it is not, samples are so many that the apparent ones choose as well. Other choices are judged as they are: what
    they add to the optimism of the weights is not in the answer.
    """
    losses, indices = choice.common_losses, choice.indices
    apparent = left_out_loss(aggregation, errors_at(paths, indices), rows)[0]
    if not isinstance(aggregation, LinearAggregation) or not aggregation.fits_weights or rows.n_samples < 3:
        return Verdict(indices, losses, apparent)
    if rows.left_out is not None:
        ratio = _cross_fitted(paths, rows, aggregation, indices) / apparent if apparent > 0 else 1.0
        return Verdict(indices, None if losses is None else losses * ratio, apparent * ratio)
    n_ridges = 1 if losses is None else len(losses)
    if losses is None or not choice.is_common or _LEAST_JUDGED * n_ridges * _work(paths, rows) > _MOST_WORK:
        chosen = _samples_to_judge(paths, rows, aggregation, 1)
        ratio = _judge(paths, rows, aggregation, indices, chosen).ratio(to_numpy(rows.weights)[chosen])
        return Verdict(indices, None if losses is None else losses * ratio, apparent * ratio)
    return _choose_again(paths, rows, aggregation, losses)


def _choose_again(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: LinearAggregation, losses: FloatArray
) -> Verdict:
    k, L = len(paths), len(losses)
    chosen = _samples_to_judge(paths, rows, aggregation, L)
    weights = to_numpy(rows.weights)[chosen]
    judged = [_judge(paths, rows, aggregation, np.full(k, index), chosen) for index in range(L)]
    honest = losses * np.array([each.ratio(weights) for each in judged])
    # The honest errors themselves cannot choose: the choice would know every sample through those of the others.
    criteria = np.array([each.criterion for each in judged])
    places = L - 1 - np.argmin(criteria[::-1], axis=0)
    best = L - 1 - int(np.argmin([each.whole_criterion for each in judged][::-1]))
    total = float(np.array([judged[place].honest[i] for i, place in enumerate(places)]) @ weights)
    own = float(judged[best].apparent @ weights)
    return Verdict(np.full(k, best), honest, float(losses[best] * total / own) if own > 0 else float(honest[best]))


def _cross_fitted(
    paths: Sequence[MemberPath], rows: TrainingRows, aggregation: LinearAggregation, indices: IntArray
) -> float:
    """Error of weights on sets of samples that they were not fitted to, where sets are left out together.

    Members of the other sets have still seen them.
    """
    errors, total = errors_at(paths, indices), 0.0
    owners = np.zeros(rows.n_samples, dtype=np.intp) if rows.left_out is None else rows.left_out.owners
    folds = owners * min(_FOLDS, int(owners.max()) + 1) // (int(owners.max()) + 1)
    for fold in range(int(folds.max()) + 1):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(inside) or not len(outside):
            continue
        parts = [
            aggregation.moments(*(take_last(array, rest) for array in (errors, rows.deviations, rows.weights)))
            for rest in (outside, inside)
        ]
        share = float(take_last(rows.weights, inside).sum()) / rows.total_weight
        total += share * float(parts[1].risk_of(aggregation.weights(parts[0])).sum())
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
) -> _Judged:
    errors = errors_at(paths, indices)
    moments = aggregation.moments(errors, rows.deviations, rows.weights)
    weights = aggregation.weights(moments)
    own = to_numpy(take_last(errors, samples)).transpose(2, 0, 1)
    deviations = to_numpy(take_last(rows.deviations, samples)).T
    honest, criterion = [], []
    size = max(1, _BLOCK // int(np.prod(errors.shape)))
    for start in range(0, len(samples), size):
        block = samples[start : start + size]
        fitted, risk = _weights_without(paths, rows, aggregation, indices, block)
        part = slice(start, start + size)
        honest.append(_squared_errors(own[part], deviations[part], fitted))
        criterion.append(risk)
    apparent = _squared_errors(own, deviations, weights[None, ...])
    whole = float(_penalised(aggregation, moments, weights, rows))
    return _Judged(apparent, np.concatenate(honest), np.concatenate(criterion), whole)


def _weights_without(
    paths: Sequence[MemberPath],
    rows: TrainingRows,
    aggregation: LinearAggregation,
    indices: IntArray,
    samples: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Weights (m, k), or (m, C, k), fitted as if sample i were not there, and their error on the others (m,)."""
    errors = [path.pair_errors(int(index), samples) for path, index in zip(paths, indices, strict=True)]
    here = np.zeros((len(samples), rows.n_samples))
    here[np.arange(len(samples)), samples] = 1.0
    others = rows.weights[None, :] * (1 - like(here, rows.weights))
    stacked = namespace_of(errors[0]).stack(errors, axis=1)
    moments = aggregation.moments(stacked, _deviations_without(rows, samples), others)
    weights = aggregation.weights(moments)
    return weights, _penalised(aggregation, moments, weights, rows)


def _penalised(
    aggregation: LinearAggregation, moments: MemberMoments, weights: FloatArray, rows: TrainingRows
) -> FloatArray:
    """The error that a ridge is chosen by: Akaike's final prediction error, squared in its factor.

    d numbers fitted to n independent errors lower these by (n - d)/(n + d) beside new ones. Left-out errors are less
    than independent: what sample i says of j, j says of i, which doubles the variance of their moments.
    """
    risk, n = (
        moments.risk_of(weights),
        rows.n_samples * (int(rows.targets.shape[0]) if not _is_per_target(aggregation) else 1),
    )
    d = aggregation.n_fitted(weights)
    penalised = risk * ((n + d) / np.maximum(n - d, 1.0)) ** 2
    return penalised.sum(axis=-1) if _is_per_target(aggregation) else penalised


def _is_per_target(aggregation: LinearAggregation) -> bool:
    return isinstance(aggregation, FittedAggregation) and aggregation.per_target


def _deviations_without(rows: TrainingRows, samples: IntArray) -> Array:
    """Targets measured from the mean without themselves and sample i; shape (m, C, n)."""
    if not rows.fit_intercept:
        return rows.targets[None, :, :]
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

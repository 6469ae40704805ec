"""Trials of a classification experiment: train members, let them vote, and count the wrong classes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subridge.arrays.machine import empty_on
from subridge.arrays.namespace import gathered, like, namespace_of, to_numpy
from subridge.arrays.streams import stacked_normals
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.curves.refined import refined_curve
from subridge.ridge.curves.solve import weights_along_curve
from subridge.ridge.tally import Tally
from subridge.simulation.classification import TEST_NOISE, TRAINING_NOISE, ClassificationExperiment
from subridge.simulation.memory import Batches, bytes_of_member

# Longest member of a batch over its shortest: operations spent on zeros against batches fewer.
_PADDED_BY, _PADDED_ANYWAY = 1.25, 16


@dataclass(frozen=True, eq=False)
class _Members:
    """Members of several trials that are trained together, in ascending order of their sizes."""

    places: IntArray  # which trial of the batch each belongs to, shape (G,)
    trials: list[int]  # the number of that trial
    numbers: list[int]  # which member r of its ensemble each is
    columns: list[IntArray]  # the features of each


def run_trials(experiment: ClassificationExperiment, trials: list[int], batches: Batches) -> dict[str, FloatArray]:
    """``misclassification`` of trials, shape (trials, n_members, n_ridges, n_noises, n_sizes)."""
    e, example = experiment, empty_on((1,), experiment.device, experiment.dtype)
    tables = like(e.features, example), like(e.test_features, example), like(e.one_hot, example)
    parts = []
    for part in np.array_split(np.array(trials), -(-len(trials) // batches.n_trials)):
        shares = [_wrong_shares(e, tables, part, place, batches.member_bytes) for place in range(len(e.strategies))]
        parts.append(np.stack(shares, axis=1))
    return {"misclassification": np.concatenate(parts)}


def _wrong_shares(
    e: ClassificationExperiment, tables: tuple[Array, Array, Array], trials: IntArray, place: int, member_bytes: int
) -> FloatArray:
    """Shares of wrong classes of one ensemble per trial, shape (B, n_ridges, n_noises, n_sizes)."""
    test, noises = tables[1], e.readout_noises.tolist()
    xp, shape = namespace_of(test), (len(trials), len(e.n_samples), e.n_classes, len(e.test_labels))
    tallies = [[Tally(noises, shape, test, e.aggregation) for _ in range(e.test_draws)] for _ in e.ridges]
    orders = np.stack([e.order_of(int(trial)) for trial in trials])
    for members in _grouped(e, place, trials, member_bytes):
        _vote(e, tables, members, orders[members.places], tallies)
    truth = like(e.test_labels, test)
    wrong = np.zeros((len(trials), len(e.ridges), len(noises), len(e.n_samples)))
    for l, case in np.ndindex(len(e.ridges), len(noises)):
        for tally in tallies[l]:
            missed = xp.astype(tally.decide(case) != truth, xp.int64)
            wrong[:, l, case, :] += to_numpy(xp.sum(missed, axis=-1))
    return wrong / (e.test_draws * len(e.test_labels))


def _grouped(e: ClassificationExperiment, place: int, trials: IntArray, member_bytes: int) -> Iterator[_Members]:
    """Members of all trials, those of like size together: padded by a quarter, or by a few features."""
    plans = [(b, trial, e.plan_of(place, trial)) for b, trial in enumerate(trials.tolist())]
    found = [(len(index), b, r, trial, index) for b, trial, plan in plans for r, index in enumerate(plan.measurements)]
    found.sort(key=lambda member: member[:3])
    start = 0
    for end in range(1, len(found) + 1):
        if end == len(found) or found[end][0] > _PADDED_BY * found[start][0] + _PADDED_ANYWAY:
            n_parts = -(-(end - start) * bytes_of_member(e, found[end - 1][0]) // member_bytes)
            for part in np.array_split(np.arange(start, end), min(n_parts, end - start)):
                _, places, numbers, owners, columns = zip(*(found[i] for i in part), strict=True)
                yield _Members(np.array(places), list(owners), list(numbers), list(columns))
            start = end


def _vote(
    e: ClassificationExperiment,
    tables: tuple[Array, Array, Array],
    members: _Members,
    rows: IntArray,
    tallies: list[list[Tally]],
) -> None:
    """Train members at every ridge and size, score the test samples, and count the votes."""
    features, test, labels = tables
    xp, sizes = namespace_of(test), np.array([len(index) for index in members.columns])
    # Columns of equal length, and factors 1/√N_r that are zero where a column only pads.
    columns = np.zeros((len(sizes), sizes.max()), dtype=np.int64)
    for g, index in enumerate(members.columns):
        columns[g, : len(index)] = index
    inside = np.arange(sizes.max()) < sizes[:, None]
    scales = like(np.where(inside, 1 / np.sqrt(sizes)[:, None], 0.0), test)[:, None, :]
    F = gathered(features, rows, columns) * scales
    F_test = gathered(test, np.arange(len(e.test_labels))[None, :], columns) * scales
    targets = xp.matrix_transpose(gathered(labels, rows, np.arange(e.n_classes)[None, :]))
    fresh: list[Array] = []
    if e.has_noise:
        targets = xp.concat([targets, _normals(e, members, e.n_samples[-1], TRAINING_NOISE)], axis=1)
        fresh = [_normals(e, members, len(e.test_labels), TEST_NOISE, draw) for draw in range(e.test_draws)]
    for l, weights in _trained(e, F, targets, sizes):
        G, n, n_rhs, N = weights.shape
        flat = xp.reshape(weights, (G, n * n_rhs, N)) @ xp.matrix_transpose(F_test)
        scores = xp.reshape(flat, (G, n, n_rhs, len(e.test_labels)))
        for draw, tally in enumerate(tallies[l]):
            # Training on y - ηξ subtracts η times the scores of ξ; testing adds fresh noise.
            noisy = fresh[draw][:, None, :, :] - scores[:, :, e.n_classes :, :] if e.has_noise else None
            tally.add(members.places, scores[:, :, : e.n_classes, :], noisy)


def _trained(e: ClassificationExperiment, F: Array, targets: Array, sizes: IntArray) -> Iterator[tuple[int, Array]]:
    """Weights of every ridge, one after the other, shape (G, n_sizes, n_rhs, N)."""
    positive, zero = np.flatnonzero(e.ridges > 0).tolist(), np.flatnonzero(e.ridges == 0).tolist()
    if positive:
        # A padded feature is zero, so that a positive ridge gives it no weight.
        ridges = e.ridges[positive].tolist()
        together = weights_along_curve(F, targets, e.n_samples, ridges, scale=e.feature_scale)
        yield from ((l, together[:, place, ...]) for place, l in enumerate(positive))
        del together
    if zero:
        ridgeless = refined_curve(F, targets, e.n_samples, sizes)
        yield from ((l, ridgeless) for l in zero)


def _normals(e: ClassificationExperiment, members: _Members, n: int, purpose: int, *draw: int) -> Array:
    """Standard normals of every member, shape (G, n_classes, n): the same at every k, ridge, noise and size."""
    where = [(purpose, trial, *draw, r) for trial, r in zip(members.trials, members.numbers, strict=True)]
    drawn = stacked_normals(e.seed, where, (n, e.n_classes), e.device, e.dtype)
    return namespace_of(drawn).permute_dims(drawn, (0, 2, 1))

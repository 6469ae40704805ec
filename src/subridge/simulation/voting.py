"""Trials of a classification experiment: train members, let them vote, and count the wrong classes."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from subridge.arrays.machine import empty_on, stacked_normals
from subridge.arrays.namespace import gathered, like, namespace_of, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.classes import Tally
from subridge.ridge.curves import refined_curve, weights_along_curve
from subridge.simulation.classification import TEST_NOISE, TRAINING_NOISE, ClassificationExperiment
from subridge.simulation.memory import bytes_of_member

# Members of a batch are padded up to this factor of the shortest one, and by this many features. More padding wastes
# operations, and less makes more batches.
_PADDED_BY, _PADDED_ANYWAY = 1.25, 16


# A member in a batch of trials: the trial, its place in the batch, r, and its features.
_Member: TypeAlias = tuple[int, int, int, IntArray]


def run_trials(e: ClassificationExperiment, trials: list[int], batches: tuple[int, int]) -> dict[str, FloatArray]:
    """``misclassification`` of trials, shape (trials, n_members, n_ridges, n_noises, n_sizes).

    `batches` is the result of `batches_to_classify`.
    """
    n_trials, member_bytes = batches
    example = empty_on((1,), e.device, e.dtype)
    tables = [like(array, example) for array in (e.features, e.test_features, np.eye(len(e.classes))[e.labels])]
    shares = [
        np.stack([_wrong_shares(e, tables, part, place, member_bytes) for place in range(len(e.strategies))], axis=1)
        for part in np.array_split(np.array(trials), -(-len(trials) // n_trials))
    ]
    return {"misclassification": np.concatenate(shares)}


def _wrong_shares(
    e: ClassificationExperiment, tables: list[Array], trials: IntArray, place: int, member_bytes: int
) -> FloatArray:
    """Shares of wrong classes of one ensemble per trial, shape (B, n_ridges, n_noises, n_sizes)."""
    test = tables[1]
    noises = e.readout_noises.tolist()
    xp = namespace_of(test)
    shape = (len(trials), len(e.n_samples), len(e.classes), len(e.test_labels))
    tallies = [[Tally(noises, shape, test, e.aggregation) for _ in range(e.test_draws)] for _ in e.ridges]
    orders = np.stack([e.order_of(int(trial)) for trial in trials])
    for members in _grouped(e, place, trials, member_bytes):
        _vote(e, tables, members, orders, tallies)
    truth = like(e.test_labels, test)
    wrong = np.zeros((len(trials), len(e.ridges), len(noises), len(e.n_samples)))
    for l, case in np.ndindex(len(e.ridges), len(noises)):
        for tally in tallies[l]:
            wrong[:, l, case, :] += to_numpy(xp.sum(xp.astype(tally.decide(case) != truth, xp.int64), axis=-1))
    return wrong / (e.test_draws * len(e.test_labels))


def _grouped(
    e: ClassificationExperiment, ensemble: int, trials: IntArray, member_bytes: int
) -> Iterator[list[_Member]]:
    """Groups of members of all trials with similar size, which fit into memory."""
    members = [
        (trial, place, r, columns)
        for place, trial in enumerate(trials.tolist())
        for r, columns in enumerate(e.plan_of(ensemble, trial).measurements)
    ]
    members.sort(key=lambda member: len(member[-1]))
    while members:
        longest = _PADDED_BY * len(members[0][-1]) + _PADDED_ANYWAY
        group = [member for member in members if len(member[-1]) <= longest]
        members = members[len(group) :]
        n_parts = -(-len(group) * bytes_of_member(e, len(group[-1][-1])) // member_bytes)
        for part in np.array_split(np.arange(len(group)), min(n_parts, len(group))):
            yield group[part[0] : part[-1] + 1]


def _vote(
    e: ClassificationExperiment,
    tables: list[Array],
    members: list[_Member],
    orders: IntArray,
    tallies: list[list[Tally]],
) -> None:
    """Train members at every ridge and size, score the test samples, and count the votes."""
    features, test, labels = tables
    xp = namespace_of(test)
    places = np.array([place for _, place, _, _ in members])
    rows = orders[places]
    sizes = np.array([len(own) for *_, own in members])
    # Columns of equal length, and factors 1/√N_r that are zero where a column only pads.
    inside = np.arange(sizes.max()) < sizes[:, None]
    columns = np.zeros(inside.shape, dtype=int)
    columns[inside] = np.concatenate([own for *_, own in members])
    scales = like(np.where(inside, 1 / np.sqrt(sizes)[:, None], 0.0), test)[:, None, :]
    F = gathered(features, rows, columns) * scales
    F_test = gathered(test, np.arange(len(e.test_labels))[None, :], columns) * scales
    targets = gathered(labels, rows, np.arange(len(e.classes))[None, :]).mT
    fresh = []
    if e.has_noise:
        targets = xp.concat([targets, _normals(e, members, e.n_samples[-1], TRAINING_NOISE)], axis=1)
        fresh = [_normals(e, members, len(e.test_labels), TEST_NOISE, draw) for draw in range(e.test_draws)]
    # Padded features are zero, so that a positive ridge gives them no weight.
    ridges = e.ridges[e.ridges > 0].tolist()
    trained = weights_along_curve(F, targets, e.n_samples, ridges, scale=e.feature_scale) if ridges else F
    ridgeless = refined_curve(F, targets, e.n_samples, sizes) if len(ridges) < len(e.ridges) else F
    for l, ridge in enumerate(e.ridges.tolist()):
        weights = trained[:, ridges.index(ridge), ...] if ridge else ridgeless
        G, n, n_rhs, N = weights.shape
        flat = xp.reshape(weights, (G, n * n_rhs, N)) @ F_test.mT
        scores = xp.reshape(flat, (G, n, n_rhs, len(e.test_labels)))
        for draw, tally in enumerate(tallies[l]):
            # Training on y - ηξ subtracts η times the scores of ξ; the test adds fresh noise.
            noisy = fresh[draw][:, None, :, :] - scores[:, :, len(e.classes) :, :] if e.has_noise else None
            tally.add(places, scores[:, :, : len(e.classes), :], noisy)


def _normals(e: ClassificationExperiment, members: list[_Member], n: int, purpose: int, *draw: int) -> Array:
    """Standard normals of every member, shape (G, n_classes, n): the same at every k, ridge, noise and size."""
    where = [(purpose, trial, *draw, r) for trial, _, r, _ in members]
    drawn = stacked_normals(e.seed, where, (n, len(e.classes)), e.device, e.dtype)
    return namespace_of(drawn).permute_dims(drawn, (0, 2, 1))

"""Trials of a classification experiment: from training orders and subsets to the shares of wrong classes."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from subridge.arrays.machine import empty_on
from subridge.arrays.namespace import gathered, like, namespace_of, to_numpy
from subridge.arrays.streams import stacked_normals
from subridge.arrays.types import Array, FloatArray, IntArray, Namespace
from subridge.ridge.curves.refined import refined_curve
from subridge.ridge.curves.solve import weights_along_curve
from subridge.ridge.tally import Tally
from subridge.simulation.classification.experiment import TEST_NOISE, TRAINING_NOISE, ClassificationExperiment
from subridge.simulation.classification.members import Members, grouped_members
from subridge.simulation.classification.memory import Batches
from subridge.simulation.job import TrialArrays


class Tables(NamedTuple):
    """The data on the device: features of training and test samples, and one-hot labels of training."""

    features: Array
    test: Array
    labels: Array


def run_trials(experiment: ClassificationExperiment, trials: list[int], batches: Batches) -> TrialArrays:
    """``misclassification`` of trials, shape (trials, n_members, n_ridges, n_noises, n_sizes)."""
    e, example = experiment, empty_on((1,), experiment.device, experiment.dtype)
    tables = Tables(like(e.features, example), like(e.test_features, example), like(e.one_hot, example))
    parts = []
    for part in np.array_split(np.array(trials), -(-len(trials) // batches.n_trials)):
        shares = [
            _wrong_shares(e, tables, part, grouped_members(e, place, part, batches.member_bytes))
            for place in range(len(e.strategies))
        ]
        parts.append(np.stack(shares, axis=1))
    return {"misclassification": np.concatenate(parts)}


def _wrong_shares(
    e: ClassificationExperiment, tables: Tables, trials: IntArray, groups: Iterable[Members]
) -> FloatArray:
    """Shares of wrong classes of one ensemble per trial, shape (B, n_ridges, n_noises, n_sizes)."""
    shape = (len(trials), len(e.n_samples), e.n_classes, len(e.test_labels))
    tallies = [
        [Tally(e.readout_noises.tolist(), shape, tables.test, e.aggregation) for _ in range(e.test_draws)]
        for _ in e.ridges
    ]
    orders = np.stack([e.order_of(int(trial)) for trial in trials])
    for members in groups:
        _vote(e, tables, members, (trials, orders), tallies)
    truth = like(e.test_labels, tables.test)
    wrong = np.zeros((len(trials), len(e.ridges), len(e.readout_noises), len(e.n_samples)))
    for l, draws in enumerate(tallies):
        for case in range(len(e.readout_noises)):
            for tally in draws:
                missed = tally.decide(case) != truth
                xp = namespace_of(missed)
                wrong[:, l, case, :] += to_numpy(xp.sum(xp.astype(missed, xp.int64), axis=-1))
    return wrong / (e.test_draws * len(e.test_labels))


def _vote(
    e: ClassificationExperiment,
    tables: Tables,
    members: Members,
    where: tuple[IntArray, IntArray],
    tallies: list[list[Tally]],
) -> None:
    """Train members at every ridge and size, score the test samples, and count the votes."""
    trials, orders = where
    xp = namespace_of(tables.test)
    columns, scales = members.padded()
    scales = like(scales, tables.test)[:, None, :]
    rows = orders[members.ensembles]
    F = gathered(tables.features, rows, columns) * scales
    F_test = gathered(tables.test, np.arange(len(e.test_labels))[None, :], columns) * scales
    targets = xp.matrix_transpose(gathered(tables.labels, rows, np.arange(e.n_classes)[None, :]))
    at = [int(trial) for trial in trials[members.ensembles]]
    if e.has_noise:
        noise = _normals(e, members, [(TRAINING_NOISE, trial) for trial in at], e.n_samples[-1])
        targets = xp.concat([targets, noise], axis=1)
    fresh = [_test_noise(e, members, at, draw) for draw in range(e.test_draws if e.has_noise else 0)]
    for l, weights in _trained(e, F, targets, members.sizes):
        scores = _scores(xp, weights, F_test)
        quiet = scores[:, :, : e.n_classes, :]
        for draw, tally in enumerate(tallies[l]):
            noisy = None
            if e.has_noise:
                # Training on y - ηξ subtracts η times the scores of ξ; testing adds fresh noise.
                noisy = fresh[draw][:, None, :, :] - scores[:, :, e.n_classes :, :]
            tally.add(members.ensembles, quiet, noisy)


def _test_noise(e: ClassificationExperiment, members: Members, trials: list[int], draw: int) -> Array:
    return _normals(e, members, [(TEST_NOISE, trial, draw) for trial in trials], len(e.test_labels))


def _trained(e: ClassificationExperiment, F: Array, targets: Array, sizes: IntArray) -> Iterator[tuple[int, Array]]:
    """Weights of every ridge, one after the other, shape (G, n_sizes, n_rhs, N)."""
    positive = [l for l, lam in enumerate(e.ridges) if lam > 0]
    if positive:
        # A padded feature is zero, so that a positive ridge gives it no weight.
        ridges = [float(e.ridges[l]) for l in positive]
        together = weights_along_curve(F, targets, e.n_samples, ridges, scale=e.feature_scale)
        for place, l in enumerate(positive):
            yield l, together[:, place, ...]
        del together
    if len(positive) < len(e.ridges):
        ridgeless = refined_curve(F, targets, e.n_samples, sizes)
        for l in range(len(e.ridges)):
            if l not in positive:
                yield l, ridgeless


def _scores(xp: Namespace, weights: Array, F_test: Array) -> Array:
    """Scores of the test samples, shape (G, n_sizes, n_rhs, n_test)."""
    G, n, rhs, N = weights.shape
    flat = xp.reshape(weights, (G, n * rhs, N)) @ xp.matrix_transpose(F_test)
    return xp.reshape(flat, (G, n, rhs, F_test.shape[1]))


def _normals(e: ClassificationExperiment, members: Members, coordinates: list[tuple[int, ...]], n: int) -> Array:
    """Standard normals of every member, shape (G, n_classes, n): the same at every k, ridge, noise and size."""
    where = [(*place, int(r)) for place, r in zip(coordinates, members.numbers, strict=True)]
    drawn = stacked_normals(e.seed, where, (n, e.n_classes), e.device, e.dtype)
    return namespace_of(drawn).permute_dims(drawn, (0, 2, 1))

"""One task of a classification experiment: from training orders and subsets to the errors of votes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.devices import empty_on, standard_normals
from subridge.arrays.namespace import gathered, like, to_numpy
from subridge.arrays.types import FloatArray, IntArray
from subridge.ensemble.aggregation import read_aggregation
from subridge.ridge.curves.refined import refined_curve
from subridge.ridge.curves.solve import weights_along_curve
from subridge.ridge.tally import Tally
from subridge.simulation.classification.experiment import TEST_NOISE, TRAINING_NOISE, ClassificationExperiment
from subridge.simulation.classification.memory import bytes_of_member
from subridge.simulation.experiment import blocks_of
from subridge.simulation.task import limited_threads

# Longest member of a batch over its shortest: operations spent on zeros against batches fewer.
_PADDED_BY, _PADDED_ANYWAY = 1.25, 16


@dataclass(frozen=True, eq=False)
class ClassificationJob:
    """What every task of a run shares: the experiment, trials per task, trials at once, bytes for members."""

    experiment: ClassificationExperiment
    block: int
    batch: int
    member_bytes: int
    threads: int | None = None


@dataclass(frozen=True, eq=False)
class Members:
    """Members of several trials that are trained together, in ascending order of their sizes.

    Attributes
    ----------
    ensembles : ndarray of int, shape (G,)
        Which trial of the batch each belongs to.
    numbers : ndarray of int, shape (G,)
        Which member r of its ensemble each is.
    columns : list of ndarray of int
        The features of each.
    """

    ensembles: IntArray
    numbers: IntArray
    columns: list[IntArray]

    @property
    def sizes(self) -> IntArray:
        return np.array([len(index) for index in self.columns])


def run_classification_task(job: ClassificationJob, number: int) -> dict[str, FloatArray]:
    """Run the trials of one task.

    Returns
    -------
    dict
        ``misclassification`` of shape (trials, n_members, n_ridges, n_noises, n_sizes).
    """
    experiment = job.experiment
    trials = np.array(blocks_of(experiment.n_trials, job.block)[number])
    with limited_threads(job.threads):
        tables = _tables(experiment)
        parts = [
            np.stack([_errors(job, tables, place, part) for place in range(len(experiment.strategies))], axis=1)
            for part in np.array_split(trials, -(-len(trials) // job.batch))
        ]
    return {"misclassification": np.concatenate(parts)}


def _tables(experiment: ClassificationExperiment) -> dict[str, Any]:
    """The data on the device."""
    example = empty_on((1,), experiment.device, experiment.dtype)
    arrays = {"features": experiment.features, "test": experiment.test_features, "labels": experiment.one_hot}
    return {name: like(array, example) for name, array in arrays.items()}


def _errors(job: ClassificationJob, tables: dict[str, Any], place: int, trials: IntArray) -> FloatArray:
    """Errors at one number of members, shape (B, n_ridges, n_noises, n_sizes)."""
    e = job.experiment
    shape = (len(trials), len(e.n_samples), e.n_classes, len(e.test_labels))
    voting = read_aggregation(e.voting)
    tallies = [
        [Tally(e.readout_noises.tolist(), shape, tables["test"], voting) for _ in range(e.test_draws)]
        for _ in e.ridges
    ]
    orders = np.stack([e.order_of(int(trial)) for trial in trials])
    for members in _groups(job, place, trials):
        _vote(e, tables, members, (trials, orders), tallies)
    truth = like(e.test_labels, tables["test"])
    errors = np.zeros((len(trials), len(e.ridges), len(e.readout_noises), len(e.n_samples)))
    for l, draws in enumerate(tallies):
        for case in range(len(e.readout_noises)):
            for tally in draws:
                wrong = tally.decide(case) != truth
                xp = array_api_compat.array_namespace(wrong)
                errors[:, l, case, :] += to_numpy(xp.sum(xp.astype(wrong, xp.int64), axis=-1))
    return errors / (e.test_draws * len(e.test_labels))


def _groups(job: ClassificationJob, place: int, trials: IntArray) -> Iterator[Members]:
    """Members of all trials in ascending order of their sizes, those of like size together."""
    e, found = job.experiment, []
    for b, trial in enumerate(trials):
        plan = e.plan_of(place, int(trial))
        found += [(len(index), b, r, index) for r, index in enumerate(plan.measurements)]
    found.sort(key=lambda member: member[:3])
    for members in _of_like_size(found):
        longest = members[-1][0]
        each = bytes_of_member(e, longest, sum(longest >= P for P in e.n_samples))
        for part in np.array_split(np.arange(len(members)), -(-len(members) * each // job.member_bytes)):
            if part.size:
                chosen = [members[i] for i in part]
                ensembles, numbers = (np.array([member[i] for member in chosen]) for i in (1, 2))
                yield Members(ensembles, numbers, [member[3] for member in chosen])


def _of_like_size(members: list[tuple[int, int, int, IntArray]]) -> Iterator[list[tuple[int, int, int, IntArray]]]:
    """Runs of sorted members of which the longest pads the shortest little: by a quarter, or a few features."""
    start = 0
    for end in range(1, len(members) + 1):
        if end == len(members) or members[end][0] > _PADDED_BY * members[start][0] + _PADDED_ANYWAY:
            yield members[start:end]
            start = end


def _vote(
    e: ClassificationExperiment,
    tables: dict[str, Any],
    members: Members,
    where: tuple[IntArray, IntArray],
    tallies: list[list[Tally]],
) -> None:
    """Train members at every ridge and size, score the test samples, and count the votes."""
    trials, orders = where
    xp = array_api_compat.array_namespace(tables["test"])
    columns, scales = _padded(members)
    scales = like(scales, tables["test"])[:, None, :]
    rows = orders[members.ensembles]
    F = gathered(tables["features"], rows, columns) * scales
    F_test = gathered(tables["test"], np.arange(len(e.test_labels))[None, :], columns) * scales
    targets = xp.matrix_transpose(gathered(tables["labels"], rows, np.arange(e.n_classes)[None, :]))
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


def _test_noise(e: ClassificationExperiment, members: Members, trials: list[int], draw: int) -> Any:
    return _normals(e, members, [(TEST_NOISE, trial, draw) for trial in trials], len(e.test_labels))


def _padded(members: Members) -> tuple[IntArray, FloatArray]:
    """Columns of equal length, and factors 1/√N_r on them that are zero where a column only pads."""
    sizes = members.sizes
    columns = np.zeros((len(sizes), sizes.max()), dtype=np.int64)
    scales = np.zeros(columns.shape)
    for g, index in enumerate(members.columns):
        columns[g, : len(index)] = index
        scales[g, : len(index)] = 1 / np.sqrt(len(index))
    return columns, scales


def _trained(e: ClassificationExperiment, F: Any, targets: Any, sizes: IntArray) -> Iterator[tuple[int, Any]]:
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


def _scores(xp: Any, weights: Any, F_test: Any) -> Any:
    """Scores of the test samples, shape (G, n_sizes, n_rhs, n_test)."""
    G, n, rhs, N = weights.shape
    flat = xp.reshape(weights, (G, n * rhs, N)) @ xp.matrix_transpose(F_test)
    return xp.reshape(flat, (G, n, rhs, F_test.shape[1]))


def _normals(e: ClassificationExperiment, members: Members, coordinates: list[tuple[int, ...]], n: int) -> Any:
    """Standard normals of every member, shape (G, n_classes, n): the same at every k, ridge, noise and size."""
    drawn = empty_on((len(coordinates), n, e.n_classes), e.device, e.dtype)
    for g, (where, r) in enumerate(zip(coordinates, members.numbers, strict=True)):
        drawn[g, ...] = standard_normals(e.seed, (*where, int(r)), (n, e.n_classes), e.device, e.dtype)
    return array_api_compat.array_namespace(drawn).permute_dims(drawn, (0, 2, 1))

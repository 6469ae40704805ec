"""Choose ridges by the exact left-out error of the aggregate, which is what the user will use.

A path offers every member the same L ridges, and a choice is a place on that path for each member. The `scope` says
which error is minimised: "ensemble" chooses one common ridge by the error of the aggregate; "member" chooses for each
member by its own squared error; "joint" chooses one ridge per member by the error of the aggregate, one member at a
time. Of equal losses the largest ridge is taken.

The default path is extended if its best ridge is at an end and the error still falls there.
"""

from collections.abc import Callable, Generator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from subridge.arrays.namespace import like, namespace_of, select_rows, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray
from subridge.model.aggregation import TINY, Aggregation, Loss, Mean, MemberMoments, first_largest, squared_error
from subridge.model.checks import Scope, finite_array, one_of
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import ParameterError, RidgeError, RidgePathWarning
from subridge.ridge.checks import warn_once
from subridge.ridge.classes import fit_temperature, log_loss
from subridge.ridge.member import IN_CACHE, MemberPath, member_paths
from subridge.ridge.moments import MomentRows
from subridge.ridge.rows import TrainingRows

# Half-decade steps around the mean square of a feature, the paper's s. 1e-3 s is practically ridgeless. The best ridge
# λ* grows like the noise-to-signal ratio over the subset fraction, so the path goes further up than down.
_LEAST, _MOST = -6, 10  # in half decades
_RIDGELESS = 1e-3  # a penalty this small beside n s leaves a direction of variance s alone
_REMOVING = 1e3  # one this large leaves nothing of it
_DEEPEST = 60  # half decades below the mean square; the rounding of a float ends there
_LARGEST = 1e100  # ridge; its square must be finite
_EXTENSIONS = (4, 8, 16)  # half decades that a path is extended by, one try after the other
_PROBES = np.array([1e-12, 1e-9, 1e-6, 1e-3])  # of the smallest ridge: tried if the largest is best
MATERIAL, _VANISHING = 1e-3, 1e-9  # a smaller share of the error, or of the labels' variance, does not count
_LITTLE = 1.1  # ratio of the error at the largest ridge to the least error, below which little was learnt
_MOST_SWEEPS = 20  # of the joint choice; three or four suffice, so this only stops a cycle of rounding errors
# How many standard errors better a choice must be to replace a simpler one, from development tables (decision 0026): an
# ensemble to replace one ridge; a scaled output the plain one, or joint ridges a common one; ridges below the plain
# path those on it.
SURE, SURE_OF_SCALE, _SURE_BELOW = 2.75, 1.25, 3.0
_CAUTION = 2.0  # standard deviations that are added to errors of left-out sets (decision 0026)

End: TypeAlias = Literal["lower", "upper"]


# -- the ridges to choose from --------------------------------------------------------------------


def default_ridges(column_squares: ArrayLike, n_samples: int = 1, subset_size: int = 1) -> FloatArray:
    """Ridges for features of given mean squares (centred), ascending by half decades; shape (L,).

    They go from 1e-3 to 1e5 times the mean of the mean squares. If a feature is so small that all of these would almost
    remove it, they go further down: to a penalty ``λ N`` of a thousandth of that feature's n s. If there are many
    samples for each feature, they go further up: to a penalty of a thousand times n s.

    Parameters
    ----------
    column_squares : array_like, shape (M,)
        ``s_j``, zero for constant columns.
    n_samples : int
        Rows.
    subset_size : int
        Features of the largest member.

    Examples
    --------
    >>> default_ridges([4.0, 4.0])[[0, -1]]
    array([4.e-03, 4.e+05])
    >>> float(default_ridges([1.0, 1e-10])[0] <= 1e-12)
    1.0
    """
    squares = np.asarray(column_squares, dtype=float)
    scale = squares.mean() if squares.size else 0.0
    if not 0 < scale < np.inf:
        return 10.0 ** (np.arange(_LEAST, _MOST + 1) / 2)
    needed = squares[squares > 0].min() / scale * max(1e-3, _RIDGELESS * n_samples / subset_size)
    lowest = max(min(_LEAST, int(np.floor(2 * np.log10(needed)))), -_DEEPEST)
    highest = max(_MOST, int(np.ceil(2 * np.log10(_REMOVING * n_samples / subset_size))))
    return scale * 10.0 ** (np.arange(lowest, highest + 1) / 2)


def given_ridges(ridges: ArrayLike) -> FloatArray:
    """A user's ridges, checked, ascending and each once; shape (L,)."""
    path = np.unique(trainable("ridges", ridges))
    if not path.size:
        raise ParameterError(f"ridges must be a sequence of numbers, got {ridges!r}")
    return path


def trainable(name: str, ridges: ArrayLike) -> FloatArray:
    """Ridges that can be trained with: finite numbers of at least 0."""
    array = finite_array(name, ridges)
    if (array < 0).any():
        raise RidgeError(f"{name} must be at least 0 to train, got {array.min():g}")
    if (array > _LARGEST).any():
        raise RidgeError(
            f"{name} must be at most {_LARGEST:g} to train, got {array.max():g}, which leaves only the mean of y"
        )
    return array


@dataclass(frozen=True)
class Outcome:
    """The result of a search on a path: its least error, the end of the best ridge, and whether the error falls there.

    If the error does not fall at an end, going further changes nothing: down to no ridge, or up to an infinite one.
    """

    found: Any
    error: float
    end: End | None
    is_falling: bool


_Search: TypeAlias = Generator[FloatArray, Outcome, tuple[FloatArray, Outcome]]


def outcome_of(
    found: Any,
    places: Sequence[int] | IntArray,
    n_ridges: int,
    spread: float,
    loss_at: Callable[[IntArray], Loss | FloatArray],
) -> Outcome:
    """Find whether chosen places are at an end of a path, and whether the error still falls there.

    It falls if one step inwards raises it by a material share. If the largest ridge is hardly worse than the best,
    little was learnt, and the upper end is reported. `loss_at` gives the loss of any places, and what decides between
    equal losses. A share of wrong classes varies by single samples, so what decides between equal losses must rise too.
    `spread` is the variance of the labels.
    """
    indices = np.asarray(places)
    last = n_ridges - 1
    here = np.asarray(loss_at(indices))
    outcome = Outcome(found, here[0], None, False)
    ends: tuple[tuple[End, int, int], ...] = (("lower", 0, 1), ("upper", last, -1))
    for end, place, step in ends if last and np.isfinite(here[0]) else ():
        is_there = indices == place
        if is_there.any():
            rise = loss_at(indices + step * is_there) - here
            # A thousandth larger, and by more than rounding errors relative to the labels' variance.
            worse = rise > np.maximum(MATERIAL * abs(here), _VANISHING * spread)
            falling = bool(worse[0] and (worse[1] or here[1] == rise[1] == 0))
            if falling or outcome.end is None:
                outcome = Outcome(found, here[0], end, falling)
    if outcome.end is None and last and loss_at(np.full_like(indices, last))[0] < _LITTLE * here[0]:
        return replace(outcome, end="upper")
    return outcome


def extended_searches(
    path: FloatArray, evaluate: Callable[[FloatArray, IntArray], Sequence[Outcome]], count: int
) -> list[tuple[FloatArray, Outcome]]:
    """Evaluate a path by half decades, and longer ones while the best ridge is at an end and the error falls there.

    Each of `count` targets may need another path: `evaluate` gives the outcomes of a path for some of them, by number.
    Returns the last path of each target, and its outcome.
    """
    searches = [_paths(path) for _ in range(count)]
    found = {}
    wanted = {number: next(search) for number, search in enumerate(searches)}
    while wanted:
        first = next(iter(wanted.values()))
        some = [number for number, each in wanted.items() if np.array_equal(each, first)]
        for number, outcome in zip(some, evaluate(first, np.array(some)), strict=True):
            try:
                wanted[number] = searches[number].send(outcome)
            except StopIteration as end:
                found[number], _ = end.value, wanted.pop(number)
    return [found[number] for number in range(count)]


def _paths(path: FloatArray) -> _Search:
    """Yield the paths of a search, receive the outcome of each, and return the last path and its outcome.

    If the largest ridge is about the best, little was learnt. The signal may lie in a direction whose variance is far
    below that of any column, so a few ridges far below the path are tried as well.
    """
    outcome = yield path
    if outcome.end == "upper":
        probed = yield np.concatenate([path[0] * _PROBES, path])
        if probed.error < (1 - MATERIAL) * outcome.error:
            deep = np.arange(round(2 * float(np.log10(_PROBES[0]))), 0)
            path = np.concatenate([path[0] * 10.0 ** (deep / 2), path])
            outcome = yield path
    for steps in _EXTENSIONS:
        if not outcome.is_falling:
            break
        factors = 10.0 ** (np.arange(1, steps + 1) / 2)
        further = path[0] / factors[::-1] if outcome.end == "lower" else path[-1] * factors
        if not (np.isfinite(further).all() and (further > 0).all()):
            break
        path = np.concatenate([further, path] if outcome.end == "lower" else [path, further])
        outcome = yield path
    return path, outcome


def ridge_at_end(path: FloatArray, end: End | None, is_falling: bool) -> RidgePathWarning | None:
    """A warning if the best of the ridges is the first or the last, and one beyond may be better; else None."""
    if end is None or not is_falling or (end == "lower" and path[0] == 0):
        return None
    which, beyond, place = ("smallest", "smaller", 0) if end == "lower" else ("largest", "larger", -1)
    return RidgePathWarning(
        f"the best ridge is the {which} of those considered ({path[place]:.3g}), and the error still falls there: a "
        f"{beyond} one may be better; give {beyond} ones as ridges, or look at the scales of the columns"
    )


# -- the chooser ----------------------------------------------------------------------------------


def last_minimum(losses: FloatArray, ties: FloatArray) -> IntArray:
    """The place of each least loss, (L, b) to (b,): of equal losses that with the least tie, of equal ties the last.

    >>> last_minimum(np.array([[2.0], [1.0], [1.0], [1.0]]), np.array([[0.0], [0.0], [0.0], [5.0]]))
    array([2])
    """
    ties = np.where(losses == losses.min(axis=0), ties, np.inf)
    return np.asarray(len(losses) - 1 - (ties == ties.min(axis=0))[::-1].argmax(axis=0))


class Judged(NamedTuple):
    """Losses, and ties that decide between equal losses, each of shape (b,); fitted weights, (b, k) or (b, C, k)."""

    loss: FloatArray
    tie: FloatArray
    weights: FloatArray | None = None


class Losses:
    """Left-out losses of an aggregate at any places of its members on their paths, each computed once.

    Places have shape (b, k), for b entries. Here b is one. `judge.PairLosses` has one entry for each row that is left
    out as well, so that every choice can be made again without that row; `targets.TargetLosses` has one for each
    target. `numbers` are the entries in use. For t trials at once places have shape (t b, k); `at_once` limits the
    errors that are held. Ridges before the place `first` are not offered; `floors` has that place for each entry.
    `above` are the losses by which `first` was chosen, if any. A criterion that `is_cautious` penalises members with
    few degrees of freedom.
    """

    is_cautious: ClassVar[bool] = True
    at_once: ClassVar[int] = IN_CACHE

    def __init__(
        self,
        paths: Sequence[MemberPath],
        rows: TrainingRows,
        aggregation: Aggregation,
        first: int = 0,
        above: "Losses | None" = None,
        n_entries: int = 1,
    ) -> None:
        self.paths = paths
        self.rows = rows
        self.aggregation = aggregation
        self.above = above
        self.offered = np.arange(first, len(paths[0].penalties))
        self.floors = np.full(n_entries, first)
        self.numbers = np.arange(n_entries)
        self.deviations = rows.deviations[None, ...]  # (b, C, n)
        self._known: dict[bytes, Judged] = {}

    def errors(self, places: IntArray) -> Array:
        """Left-out errors of all members, each at its place, shape (t b, k, C, n)."""
        found = self.members(places)
        return namespace_of(found[0]).stack(found, axis=1)

    def members(self, places: IntArray) -> list[Array]:
        """The same as a list over members, shape (t b, C, n) each."""
        return [path.errors(own) for path, own in zip(self.paths, places.T, strict=True)]

    def among(self, **changed: Any) -> Self:
        """The same losses for other `paths`, with another `aggregation`, or for some `numbers`."""
        found = copy(self)
        vars(found).update(changed, _known={})
        return found

    def common(self, places: int | IntArray) -> IntArray:
        """The places of members that share a ridge, shape (b, k), or each of t ridges, (t b, k)."""
        return np.repeat(places, len(self.numbers))[:, None].repeat(len(self.paths), axis=1)

    def at(self, places: IntArray) -> Judged:
        """The loss at any places; with fitted weights it is the error to expect on new samples."""
        key = places.tobytes()
        if key not in self._known:
            b = len(self.numbers)
            size = b * len(self.paths) * int(np.prod(self.rows.targets.shape))
            step = b * max(1, self.at_once // size)
            parts = [self._judged(places[start : start + step]) for start in range(0, len(places), step)]
            joined: list[Any] = [
                each[0] if each[0] is None else np.concatenate(each) for each in zip(*parts, strict=True)
            ]
            self._known[key] = Judged(*joined)
        return self._known[key]

    def _judged(self, places: IntArray) -> Judged:
        rows, aggregation = self.rows, self.aggregation
        if aggregation.is_mean:
            mean = reduce(add, self.members(places)) / len(self.paths)
            loss = to_numpy(((mean * mean).sum(axis=1) @ rows.weights) / rows.total_weight)
            return Judged(loss, np.zeros(len(places)))
        if aggregation.is_linear:
            settled = aggregation.settle(self.moments(places, aggregation))
            loss = settled.expected.sum(axis=-1) if aggregation.per_target else settled.expected
            return Judged(loss, np.zeros(len(places)), settled.weights)
        return Judged(*np.array([aggregation.loss(each, rows.targets, rows.weights) for each in self.errors(places)]).T)

    def moments(self, places: IntArray, aggregation: Aggregation) -> MemberMoments:
        """Moments of the left-out errors of every member at its place, for a linear aggregation."""
        worth = np.array([path.independent[at] for path, at in zip(self.paths, places.T, strict=True)]).T  # (b, k)
        worth = worth[:, None, :] if aggregation.per_target else worth * self.rows.effective_targets
        deviations = select_rows(self.deviations, np.resize(self.numbers, len(places)))
        return aggregation.moments(self.errors(places), deviations, self.rows.weights, worth)

    def degrees(self, path: MemberPath, places: IntArray) -> FloatArray:
        """m of a member at its places, shape (t b,)."""
        return path.degrees[places]

    def criterion(self, places: IntArray) -> FloatArray:
        """The losses that a choice compares, and the ties that decide between equal ones; shape (2, t b).

        If sets of rows are left out, losses are multiplied by `caution`, except those of classes and of other scores.
        """
        judged = self.at(places)
        has_scores = self.aggregation.decides_classes or isinstance(self.aggregation, Scored)
        if has_scores or not self.is_cautious or self.rows.left_out is None:
            return np.stack([judged.loss, judged.tie])
        worth = [self.degrees(path, at) for path, at in zip(self.paths, places.T, strict=True)]
        return np.stack([judged.loss * caution(np.min(worth, axis=0)), judged.tie])


def caution(degrees: FloatArray) -> FloatArray:
    """The factor 1 + 2√(2/m) of an error if sets of rows are left out, from the degrees m of `residual_degrees`.

    Sets are few, and a small error may be due to chance. The squared error of noise varies like that of m independent
    sets: its relative standard deviation is √(2/m). Twice that is added, which rules out members near their
    interpolation thresholds, where m is small.
    """
    return 1 + _CAUTION * np.sqrt(2 / degrees)


def outputs_at(losses: Losses, places: IntArray, weights: FloatArray | None) -> Array:
    """Left-out outputs of the aggregate at some places, shape (b, C, n), with fitted weights as in `Judged`."""
    errors = losses.errors(places)
    aggregation = losses.aggregation
    targets = losses.rows.targets
    xp = namespace_of(targets)
    if not aggregation.is_linear:
        return xp.stack([aggregation.combine(targets - each) for each in errors])
    mixed: Array = errors.sum(axis=1) / errors.shape[1]
    if weights is not None:
        w = like(weights, errors)
        w = xp.matrix_transpose(w) if w.ndim == 3 else w[:, :, None]
        mixed = (errors * w[:, :, :, None]).sum(axis=1) + (1 - w.sum(axis=1))[:, :, None] * losses.deviations
    return targets - mixed


def squares_of(outputs: Array, losses: Losses) -> FloatArray:
    """Squared errors of outputs (b, C, n) times the rows' weights, summed over targets, or wrong classes; (b, n)."""
    rows = losses.rows
    if losses.aggregation.decides_classes:
        return to_numpy((first_largest(outputs) != first_largest(rows.targets)) * rows.weights).astype(float)
    return to_numpy(((rows.targets - outputs) ** 2).sum(axis=1) * rows.weights)


def squares_at(losses: Losses, places: IntArray) -> FloatArray:
    """Squared errors of left-out rows times their weights, summed over targets, or wrong classes; shape (b, n).

    With fitted weights they are scaled so that their mean is the error to expect.
    """
    rows = losses.rows
    judged = losses.at(places)
    if isinstance(rows, MomentRows):  # those of batches, in place of rows
        weights = 1 / places.shape[1] if judged.weights is None else judged.weights[0]
        table = np.broadcast_to(weights, (len(rows.targets), places.shape[1]))
        squares = rows.batch_squares(losses.paths, places[0], table)[None, :]
    else:
        squares = squares_of(outputs_at(losses, places, judged.weights), losses)
    if judged.weights is None:
        return squares
    apparent = squares.sum(axis=1) / rows.total_weight
    return squares * np.where(apparent > 0, judged.loss / np.where(apparent > 0, apparent, 1.0), 1.0)[:, None]


def paired(squares: FloatArray, others: FloatArray, rows: TrainingRows) -> tuple[FloatArray, FloatArray]:
    """By how much mean squared errors are less than others, and the standard error of it; (b, n) to (b,) each.

    Rows that are left out together count as one.
    """
    apart = rows.unit_sums(others - squares)
    N = rows.n_units
    total = apart.sum(axis=1)
    spread = np.maximum((apart**2).sum(axis=1) - total**2 / N, 0.0) * (N / max(N - 1, 1))
    return total / rows.total_weight, np.sqrt(spread) / rows.total_weight


def choose_ridges(losses: Losses, scope: Scope) -> IntArray:
    """A place on the path for every member, shape (b, k), by left-out losses; of equal ones the largest ridge is taken.

    "member" takes each member's own best, by its squared error, as ``BaggingRegressor(RidgeCV)`` does. "ensemble" takes
    one common value, the best for the aggregate. "joint" takes one value per member by coordinate descent from the best
    common value: it tries every ridge for one member while the others stay fixed, in turn, until nothing changes. The
    loss never rises; a joint optimum is not guaranteed.
    """
    k = len(losses.paths)
    offered = losses.offered
    if scope == "member" and k > 1:
        alone = (losses.among(paths=[path], aggregation=Mean()) for path in losses.paths)
        return np.concatenate([choose_ridges(each, "ensemble") for each in alone], axis=1)
    floors = np.minimum(losses.floors, offered[-1])

    def best(asked: Losses, own: IntArray, trials: IntArray) -> IntArray:
        """The best of the places (L, b) that trials (L b, k) differ in, the last of equal ones; shape (b,)."""
        found = asked.criterion(trials).reshape(2, *own.shape)
        least = last_minimum(*np.where(own < floors[asked.numbers], np.inf, found))
        return own[least, np.arange(len(least))]

    every = offered[:, None].repeat(len(floors), axis=1)
    places = best(losses, every, losses.common(offered))[:, None].repeat(k, axis=1)
    changed = np.zeros(len(places))  # by entry, the last step that changed it
    for step in range(k * _MOST_SWEEPS if scope == "joint" else 0):
        r = step % k
        some = np.flatnonzero(changed > step - k)  # entries that have not changed for k steps are finished
        if not len(some):
            break
        own = np.vstack([every[::-1, some], places[some, r]])  # of equal ones the present place stays
        trials = np.tile(places[some], (len(own), 1))
        trials[:, r] = own.ravel()
        found = best(losses.among(numbers=some), own, trials)
        changed[some[found != places[some, r]]] = step
        places[some, r] = found
    return places


def search_ridges(
    rows: TrainingRows,
    plan: SubsetPlan,
    aggregation: Aggregation,
    scope: Scope,
    given: ArrayLike | None,
    noise: Array | None = None,
    row_sets: Sequence[IntArray] | None = None,
    scoring: str | None = None,
) -> tuple[FloatArray, Losses, IntArray]:
    """Choose ridges for the members of a plan, from `given` ones or from a path that fits the data.

    The default path goes down to the scale of small columns. It is extended if its best ridge is at an end, and a
    `RidgePathWarning` is given if it still is. Ridges below 1e-3 times the mean square of a feature are taken only if
    they are surely better than the others: where columns are rare, tiny ridges look good by accident. With `row_sets`
    each member sees only some rows. Returns the path (L,), without the tiny ridges if they are not taken, the losses of
    the members along it, and the place of each member on it, shape (k,).
    """
    g = rows.centred_targets[0]
    judged = scored(aggregation, scoring, rows)
    spread = float((g * g).sum()) / (rows.total_weight * g.shape[0])
    plain = (1 - MATERIAL) * 10.0 ** (_LEAST / 2) * rows.column_squares.mean() if given is None else 0.0

    def evaluate(path: FloatArray) -> Outcome:
        losses = Losses(member_paths(rows, plan, path, noise, row_sets), rows, judged)
        first = (path < plain).sum()
        places = choose_ridges(losses, scope)
        if first and judged is aggregation:
            above = Losses(losses.paths, rows, judged, first)
            others = choose_ridges(above, scope)
            gain, noise_of_gain = paired(squares_at(losses, places), squares_at(above, others), rows)
            if not gain[0] > _SURE_BELOW * noise_of_gain[0]:
                losses = above
                places = others
        outcome = outcome_of(
            (losses, places[0]), places[0], len(path), spread, lambda at: losses.criterion(at[None, :])[:, 0]
        )
        if outcome.end == "upper" and not (outcome.is_falling or any(each.hides_directions for each in losses.paths)):
            return replace(outcome, end=None)  # far smaller ridges would change nothing
        return outcome

    if given is None:
        start = default_ridges(rows.column_squares, rows.n_samples, plan.subset_sizes.max())
        ((path, outcome),) = extended_searches(start, lambda longer, _: [evaluate(longer)], 1)
    else:
        path = given_ridges(given)
        outcome = evaluate(path)
    warn_once([ridge_at_end(path, outcome.end, outcome.is_falling)], stacklevel=5)  # at the line that called fit
    losses, places = outcome.found
    first = losses.offered[0]
    return path[first:], Losses([each.beyond(first) for each in losses.paths], rows, judged), places - first


# -- scores other than the aggregation's own ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scored(Aggregation):
    """An aggregation whose left-out rows are judged by one of scikit-learn's scores, turned into a loss."""

    aggregation: Aggregation
    scoring: str
    rows: TrainingRows

    name: ClassVar[str] = "scored"

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        return self.aggregation.combine(outputs, weights)

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        rows, aggregation = self.rows, self.aggregation
        if aggregation.decides_classes:  # cross-entropy of calibrated probabilities
            decision = aggregation.combine(rows.targets - errors) / errors.shape[0]
            return log_loss(
                decision, fit_temperature(decision, rows.targets, rows.weights), rows.targets, rows.weights
            ), 0.0
        if aggregation.is_linear:
            w = aggregation.weights(aggregation.moments(errors, rows.deviations, rows.weights))
            left_out = aggregation.combine(errors, w) + like(1.0 - w.sum(axis=-1), errors)[..., None] * rows.deviations
        else:
            left_out = aggregation.combine(errors)
        if self.scoring == "neg_mean_absolute_error":
            return float((abs(left_out).sum(axis=0) * rows.weights).sum() / rows.total_weight), 0.0
        spread = rows.centred_targets[0]  # 1 - R², averaged over targets: each in units of its own variance
        power = ((spread * spread).sum(axis=1) / rows.total_weight)[:, None] + TINY
        return squared_error(left_out / power**0.5, rows.weights) / errors.shape[1], 0.0


def scored(aggregation: Aggregation, scoring: str | None, rows: TrainingRows) -> Aggregation:
    """The aggregation with the loss of a score, or unchanged for None and for its own score.

    >>> from subridge.ridge.rows import training_rows
    >>> rows = training_rows(np.eye(2), np.array([[1.0, 2.0]]), None, False)
    >>> scored(Mean(), "neg_mean_absolute_error", rows).loss(np.array([[[1.0, -2.0]]]), rows.targets, rows.weights)
    (1.5, 0.0)
    """
    known: tuple[str, ...] = "neg_mean_squared_error", "neg_mean_absolute_error", "r2"
    if aggregation.decides_classes:
        known = "accuracy", "neg_log_loss"
    if scoring is None or one_of("scoring", scoring, known) == known[0]:
        return aggregation
    return Scored(aggregation, scoring, rows)

"""What a choice costs: the error on rows that had no part in it.

Ridges, weights and ensembles that are chosen by left-out errors look better on these than on new rows. It is not enough
to choose by the errors of the other rows: the output of a member for a left-out row j was still learnt from row i, so
the choice knows i through it. Here row i is left out of everything: of the members, of the weights and of every choice.
The formula for pairs makes that possible without refitting: this is exact leave-one-out of the whole procedure, except
for the path of ridges and, where weights are fitted, for how many rows their left-out errors are worth. If groups are
left out, these are pairs of groups.

Pairs cost n² times the rank of a member for each ridge. If that is too much, there are so many rows that the choice of
a ridge costs next to nothing, and it is not judged. Weights and candidates are then judged on some rows, drawn at
random, and the ratio of their errors stands for that of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import like, namespace_of, take_last
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, first_largest, misclassified_share, squared_error
from subridge.model.checks import Scope
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.ridge.choose import Losses, choose_ridges, outputs_at, paired, squares_at
from subridge.ridge.member import MemberPath
from subridge.ridge.row_subsets import fractions_of_rows
from subridge.ridge.rows import TrainingRows

_MOST_WORK = 1e8  # multiplications for all pairs: a small part of a fit with thousands of rows or features
_LEAST_JUDGED = 8  # rows or groups
_NUMBERS = 4_000_000  # of left-out errors held at once: 32 MB
_ROUNDING = 1e-9  # relative; candidates that differ by less are the same


# -- one more row left out ------------------------------------------------------------------------


class PairLosses(Losses):
    """Losses with one more unit left out, a row or a set of rows: one entry for each of b units.

    Rows that are left out with the unit count nothing. If sets overlap, as windows in time do, neither do rows whose
    own set has a row in common with the unit's. Ridges at which the formula for pairs keeps no digits are not
    offered, but those at the given `places` are. `tables` has what is known of members without these units.
    """

    def __init__(
        self, plain: Losses, units: IntArray, floors: IntArray, places: IntArray, tables: dict[tuple[int, int], Array]
    ) -> None:
        rows, offered = plain.rows, range(int(floors.min()), len(plain.paths[0].penalties))
        resolved = [at for at in offered if all(path.resolves_pairs(at) for path in plain.paths)]
        self.paths, self.rows, self.aggregation, self.floors = plain.paths, rows, plain.aggregation, floors
        self.offered = sorted({*resolved, *places.tolist()})
        self._units, self._known, self._errors = units, {}, tables
        self._counted = like(np.ones((len(units), 1, rows.n_samples)), rows.targets)
        if rows.left_out is None:  # sets that are left out have no errors
            self._counted[np.arange(len(units)), 0, units] = 0.0
        self.deviations = plain.paths[0].pair_deviations(units) * self._counted

    def errors(self, places: IntArray) -> Array:
        xp, found = namespace_of(self.rows.targets), []
        for path, own in zip(self.paths, places.T, strict=True):
            tables = {int(place): self._table(path, int(place)) for place in np.unique(own)}
            several = [tables[int(place)][number, ...] for number, place in enumerate(own)] if len(tables) > 1 else []
            found.append(xp.stack(several) if several else tables[int(own[0])])
        return xp.stack(found, axis=1)

    def degrees(self, path: MemberPath, places: IntArray) -> FloatArray:
        key = id(path), -1
        if key not in self._errors:
            self._errors[key] = path.degrees_without(self._units)
        return np.asarray(self._errors[key][places, np.arange(len(places))])

    def _table(self, path: MemberPath, place: int) -> Array:
        """Errors of a member at one place, shape (b, C, n)."""
        key = id(path), place
        if key not in self._errors:
            self._errors[key] = path.pair_errors(place, self._units) * self._counted
        return self._errors[key]


# -- candidates -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Offer:
    """Drawn subsets: their name, the strategy that drew them, and how unequal they are (kσ before scaling)."""

    name: str
    strategy: str  # "single", "equal", "dirichlet", "overlapping", "projection" or "given"
    plan: SubsetPlan
    fraction_spread: float = 0.0
    row_sets: tuple[IntArray, ...] | None = None  # the rows that each member sees; None for all


@dataclass(frozen=True, eq=False)
class Candidate:
    """An ensemble with the ridges and weights that left-out errors ask for; make it by `tuned`.

    `offer` has the subsets, `ridges` the path, shape (L,), or (L, k) with a column for each member. `chooser` has the
    losses by which ridges are chosen, `losses` those of the aggregation itself: the same unless another score was asked
    for. `places` are those of the members on their path, shape (k,); `squares` the squared errors of left-out rows
    times their weights, shape (n,), whose mean is the error to expect. By `needed` standard errors it must be better
    than the reference to be taken.
    """

    offer: Offer
    name: str
    ridges: FloatArray
    chooser: Losses
    losses: Losses
    scope: Scope
    places: IntArray
    squares: FloatArray
    needed: float = 0.0

    @property
    def ensemble(self) -> Ensemble:
        """Its subsets, ridges and aggregation."""
        L, k, sets = len(self.ridges), len(self.places), self.offer.row_sets
        own = np.broadcast_to(self.ridges.reshape(L, -1), (L, k))[self.places, np.arange(k)]
        fractions = None if sets is None else fractions_of_rows(sets, self.losses.rows.n_samples)
        return Ensemble(self.offer.plan, own, aggregation=self.losses.aggregation, row_fractions=fractions)

    @property
    def weights(self) -> FloatArray:
        """Of the members, shape (k,) or (C, k)."""
        weights, k = self.losses.at(self.places[None, :]).weights, len(self.places)
        return np.full(k, 1 / k) if weights is None else weights[0]

    @property
    def error(self) -> float:
        """The mean of the squared left-out errors."""
        return float(self.squares.sum() / self.losses.rows.total_weight)


def tuned(
    offer: Offer,
    name: str,
    ridges: FloatArray,
    chooser: Losses,
    scope: Scope,
    aggregation: Aggregation,
    needed: float = 0.0,
) -> Candidate:
    """Choose the ridges of a candidate by left-out losses."""
    losses = chooser if aggregation is chooser.aggregation else chooser.among(chooser.paths, aggregation)
    places = choose_ridges(chooser, scope)
    return Candidate(offer, name, ridges, chooser, losses, scope, places[0], squares_at(losses, places)[0], needed)


def take(pool: Sequence[Candidate], squares: Sequence[FloatArray], rows: TrainingRows) -> IntArray:
    """The candidate to take for each of b, from squares of shape (b, n): the first is the simplest.

    It is taken unless others err less by more than the standard errors of the difference, row by row, that they need;
    then the one of largest gain.
    """
    gains, noise = zip(*(paired(each, squares[0], rows) for each in squares), strict=True)
    rounding = _ROUNDING * squares[0].sum(axis=1) / rows.total_weight
    needed = np.array([each.needed for each in pool])[:, None]
    sure = np.array(gains) > needed * np.array(noise) + rounding
    sure[0] = True
    return np.asarray(np.argmax(np.where(sure, np.array(gains), -np.inf), axis=0))


# -- what the choice costs ------------------------------------------------------------------------


class Verdict(NamedTuple):
    """Outputs for left-out rows, shape (C, n), and their error."""

    outputs: Array
    error: float


def judge(pool: Sequence[Candidate], taken: int = 0) -> Verdict:
    """The left-out outputs and the error of the candidate that was taken from a pool, after all choices.

    Candidates that are far from being taken need not be in the pool. The first is the simplest.
    """
    chosen, rows = pool[taken], pool[0].losses.rows
    places, n_units = chosen.places[None, :], rows.n_units
    weights = chosen.losses.at(places).weights
    outputs = outputs_at(chosen.losses, places, weights)[0, ...]
    apparent = _error(outputs, chosen.losses)
    offered = {path: len(each.chooser.offered) for each in pool for path in each.losses.paths}
    # A set of m rows is solved for in m² steps a row, and windows hold every row m times.
    m = 0 if rows.left_out is None else rows.left_out.largest
    copies = 1 if rows.left_out is None or rows.left_out.is_partition else m
    steps = sum(number * copies * (path.rank + int(rows.targets.shape[0]) + m**2) for path, number in offered.items())
    affordable = int(_MOST_WORK / (rows.n_samples * max(steps, 1)))
    only_ridges = len(pool) == 1 and weights is None
    is_fixed = only_ridges and len(chosen.chooser.offered) == 1
    if n_units < 3 or is_fixed or (only_ridges and affordable < n_units):
        return Verdict(outputs, apparent)
    units = np.sort(np.random.default_rng(0).permutation(n_units)[: max(_LEAST_JUDGED, affordable)])
    size = max(1, _NUMBERS // (sum(offered.values()) * int(rows.targets.shape[0]) * rows.n_samples))
    honest, owners, judged_rows = namespace_of(outputs).asarray(outputs, copy=True), rows.owners, []
    for start in range(0, len(units), size):
        block = units[start : start + size]
        tables = dict[tuple[int, int], Array]()
        again = [_again(each, block, tables) for each in pool]
        picks = take(pool, [each.squares for each in again], rows)
        for number, (unit, pick) in enumerate(zip(block.tolist(), picks, strict=True)):
            own, one = np.flatnonzero(owners == unit), slice(number, number + 1)
            judged_rows.append(own)
            fitted = None if again[pick].weights is None else again[pick].weights[one]
            honest[:, own] = take_last(outputs_at(pool[pick].losses, again[pick].places[one], fitted)[0, ...], own)
    part = np.concatenate(judged_rows)
    before, after = (_error(take_last(each, part), chosen.losses, part) for each in (outputs, honest))
    return Verdict(honest, apparent * (after / before) if before > 0 else apparent + after)


class _Again(NamedTuple):
    """A candidate chosen again without each of b units: places (b, k), weights as in `Judged`, squares (b, n)."""

    places: IntArray
    weights: FloatArray | None
    squares: FloatArray


def _again(candidate: Candidate, units: IntArray, tables: dict[tuple[int, int], Array]) -> _Again:
    plain = candidate.chooser
    floors = np.full(len(units), plain.offered[0])
    if plain.above is not None:
        lowest = np.full(len(units), plain.above.offered[0])
        floors = choose_ridges(PairLosses(plain.above, units, lowest, floors, tables), candidate.scope).max(axis=1)
    pairs = PairLosses(plain, units, floors, candidate.places, tables)
    places = choose_ridges(pairs, candidate.scope)
    own = pairs.among(pairs.paths, candidate.losses.aggregation)
    return _Again(places, own.at(places).weights, squares_at(own, places))


def _error(outputs: Array, losses: Losses, part: IntArray | None = None) -> float:
    """The squared error of outputs (C, m) for all rows or some, or the share of wrong classes."""
    rows = losses.rows
    targets, weights = (each if part is None else take_last(each, part) for each in (rows.targets, rows.weights))
    if losses.aggregation.decides_classes:
        return misclassified_share(first_largest(outputs), targets, weights)
    return squared_error(targets - outputs, weights)

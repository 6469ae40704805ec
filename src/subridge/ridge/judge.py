"""The error of the whole procedure, `loo_error_` and `loo_predictions_`: every choice is made again without each row.

Ridges, weights and ensembles that are chosen by left-out errors have smaller errors on these rows than on new ones. To
choose by the errors of the other rows is not enough: the output of a member for a left-out row j still depends on row
i, so the choice does too. Here row i is left out of everything: of the members, of the weights and of every choice. The
formula for pairs makes that possible without refitting. This is exact leave-one-out of the whole procedure, except for
the path of ridges and, where weights are fitted, for the effective number of independent rows behind left-out errors.
If groups are left out, these are pairs of groups.

Pairs take n² times the rank of a member operations for each ridge. Where that is too much, there are so many rows that
the choice of a ridge has almost no effect on the error, and only weights and candidates are judged: on some rows, drawn
at random, whose ratio of errors is applied to the error of all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import like, namespace_of, select_rows, take_last
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.aggregation import Aggregation, first_largest, misclassified_share, squared_error
from subridge.model.checks import Scope
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.ridge.choose import Losses, choose_ridges, outputs_at, paired, squares_at
from subridge.ridge.member import MemberPath, pair_deviations
from subridge.ridge.rows import TrainingRows

_MOST_WORK = 1e8  # multiplications for all pairs: a small part of a fit with thousands of rows or features
_LEAST_JUDGED = 8  # fewest rows or groups that are judged
_NUMBERS = 4_000_000  # of left-out errors held at once: 32 MB
ROUNDING = 1e-9  # relative; candidates that differ by less are the same


# -- one more row left out ------------------------------------------------------------------------


class Units:
    """Some units, rows or sets of rows, and the errors of members without each of these b.

    Rows that are left out with a unit do not count. If sets overlap, as windows in time do, neither do rows whose own
    set has a row in common with that of the unit.
    """

    def __init__(self, rows: TrainingRows, numbers: IntArray) -> None:
        self.numbers = numbers
        self.counted = like(rows.apart_from(numbers)[:, None, :], rows.targets)
        self.deviations = pair_deviations(rows, numbers) * self.counted
        self._tables: dict[MemberPath, tuple[IntArray, Array]] = {}  # errors (l b, C, n), and where each place begins
        self._degrees: dict[MemberPath, FloatArray] = {}
        self.floors: dict[Losses | None, IntArray] = {}  # by the losses that choose them

    def see(self, path: MemberPath, places: IntArray) -> None:
        """Compute the left-out errors of a member at those of some places where they are not known yet."""
        targets = path.rows.targets
        b = len(self.numbers)
        lines, table = self._tables.get(path, (np.full(len(path.penalties), -1), targets[None, ...][:0, ...]))
        new = places[lines[places] < 0]
        if len(new):
            # In parts that fit into the cache of a CPU together with their intermediate results.
            size = max(1, Losses.at_once // (2 * b * int(np.prod(targets.shape))))
            found = (
                path.pair_errors(new[at : at + size], self.numbers) * self.counted for at in range(0, len(new), size)
            )
            lines[new] = len(table) + b * np.arange(len(new))
            flat = [table, *(each.reshape(-1, *targets.shape) for each in found)]
            self._tables[path] = lines, namespace_of(table).concat(flat)

    def errors(self, path: MemberPath, places: IntArray, units: IntArray) -> Array:
        """Left-out errors of a member at known places (t,), without one of the units (t,) each; shape (t, C, n)."""
        lines, table = self._tables[path]
        index = lines[places] + units
        run = index[0] + np.arange(len(index))  # which needs no copy
        return table[run[0] : run[-1] + 1, ...] if (index == run).all() else select_rows(table, index)

    def degrees(self, path: MemberPath, places: IntArray, units: IntArray) -> FloatArray:
        """`residual_degrees` of a member at known places (t,), without one of the units (t,) each; shape (t,)."""
        if path not in self._degrees:
            self._degrees[path] = path.degrees_without(self.numbers)
        return self._degrees[path][places, units]


class PairLosses(Losses):
    """Losses with one more unit left out: one entry for each of b units.

    Ridges at which the formula for pairs loses all digits are not offered, except those at the given `places`.
    """

    def __init__(self, plain: Losses, units: Units, floors: IntArray, places: IntArray) -> None:
        super().__init__(plain.paths, plain.rows, plain.aggregation, n_entries=len(floors))
        resolved = np.all([path.resolves_pairs for path in plain.paths], axis=0)
        resolved[: floors.min()] = False
        resolved[places] = True
        self.offered = np.flatnonzero(resolved)
        self.floors = floors
        self.deviations = units.deviations
        self._units = units
        for path in plain.paths:
            units.see(path, self.offered)

    def members(self, places: IntArray) -> list[Array]:
        units = np.resize(self.numbers, len(places))
        return [self._units.errors(path, own, units) for path, own in zip(self.paths, places.T, strict=True)]

    def degrees(self, path: MemberPath, places: IntArray) -> FloatArray:
        return self._units.degrees(path, places, np.resize(self.numbers, len(places)))


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
    """An ensemble with the ridges and weights of least left-out error; make it by `tuned`.

    `offer` has the subsets, `ridges` the path, shape (L,), or (L, k) with a column for each member. `chooser` has the
    losses by which ridges are chosen, `losses` those of the aggregation itself: the same unless another score was asked
    for. `places` are those of the members on their path, shape (k,); `squares` the squared errors of left-out rows
    times their weights, shape (n,), whose mean is the error to expect. To be taken, it must be better than the
    reference by `needed` standard errors.
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
        k = len(self.places)
        sets = self.offer.row_sets
        columns = self.ridges.reshape(len(self.ridges), -1)
        own = columns[self.places, np.arange(k) % columns.shape[1]]
        # Rows that members see and share are counted as features are.
        fractions = None if sets is None else SubsetPlan.from_indices(sets, self.losses.rows.n_samples).fractions
        return Ensemble(self.offer.plan, own, aggregation=self.losses.aggregation, row_fractions=fractions)

    @property
    def weights(self) -> FloatArray:
        """Of the members, shape (k,) or (C, k)."""
        weights = self.losses.at(self.places[None, :]).weights
        k = len(self.places)
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
    losses = chooser if aggregation is chooser.aggregation else chooser.among(aggregation=aggregation)
    places = choose_ridges(chooser, scope)
    return Candidate(offer, name, ridges, chooser, losses, scope, places[0], squares_at(losses, places)[0], needed)


def take(pool: Sequence[Candidate], squares: Sequence[FloatArray], rows: TrainingRows) -> IntArray:
    """The candidate to take for each of b, from squares of shape (b, n): the first is the simplest.

    It is taken unless the errors of others are lower by more standard errors of the difference, paired by rows, than
    they need. Then the one with the largest gain is taken.
    """
    gains, noise = map(np.array, zip(*(paired(each, squares[0], rows) for each in squares), strict=True))
    needed = np.array([each.needed for each in pool])[:, None]
    sure = gains > needed * noise + ROUNDING * squares[0].sum(axis=1) / rows.total_weight
    sure[0] = True
    return np.asarray(np.where(sure, gains, -np.inf).argmax(axis=0))


# -- the error of the whole procedure -------------------------------------------------------------


def judge(pool: Sequence[Candidate], taken: int = 0) -> tuple[Array, float]:
    """Left-out outputs, shape (C, n), and error of a choice from a pool that is made again without each left-out row.

    `taken` is the place of the candidate that was taken. Candidates that are far from being taken need not be in the
    pool. The first is the simplest.
    """
    chosen = pool[taken]
    rows = pool[0].losses.rows
    places = chosen.places[None, :]
    n_units = rows.n_units
    weights = chosen.losses.at(places).weights
    outputs = outputs_at(chosen.losses, places, weights)[0, ...]
    apparent = _error(outputs, chosen.losses)
    offered = {path: len(each.chooser.offered) for each in pool for path in each.losses.paths}
    C, n = rows.targets.shape
    # To solve for a set of m rows takes m² operations a row, and m windows hold each row.
    sets = rows.left_out
    m = 0 if sets is None else sets.largest
    copies = 1 if sets is None or sets.is_partition else m
    steps = copies * sum(number * (path.rank + C + m**2) for path, number in offered.items())
    affordable = int(_MOST_WORK / (n * max(steps, 1)))
    only_ridges = len(pool) == 1 and weights is None
    if n_units < 3 or (only_ridges and (affordable < n_units or len(chosen.chooser.offered) == 1)):
        return outputs, apparent
    units = np.sort(np.random.default_rng(0).permutation(n_units)[: max(_LEAST_JUDGED, affordable)])
    size = max(1, _NUMBERS // (sum(offered.values()) * C * n))
    honest = namespace_of(outputs).asarray(outputs, copy=True)
    for start in range(0, len(units), size):
        block = Units(rows, units[start : start + size])
        again = [_again(each, block) for each in pool]
        picks = take(pool, [squares for _, _, squares in again], rows)
        for pick in np.unique(picks):
            which = picks == pick
            numbers = block.numbers[which]
            places, fitted, _ = again[pick]
            found = outputs_at(pool[pick].losses, places[which], None if fitted is None else fitted[which])
            own = np.flatnonzero(np.isin(rows.owners, numbers))
            honest[:, own] = found[numbers.searchsorted(rows.owners[own]), :, own].T
    part = np.flatnonzero(np.isin(rows.owners, units))
    before, after = (_error(take_last(each, part), chosen.losses, part) for each in (outputs, honest))
    return honest, apparent * (after / before) if before > 0 else apparent + after


def _again(candidate: Candidate, units: Units) -> tuple[IntArray, FloatArray | None, FloatArray]:
    """A candidate chosen again without each of b units: places (b, k), weights as in `Judged`, squares (b, n)."""
    plain = candidate.chooser
    b = len(units.numbers)
    first = np.full(b, plain.offered[0])
    if plain.above is not None and plain.above not in units.floors:
        above = PairLosses(plain.above, units, np.full(b, plain.above.offered[0]), first)
        units.floors[plain.above] = choose_ridges(above, candidate.scope).max(axis=1)
    pairs = PairLosses(plain, units, units.floors.get(plain.above, first), candidate.places)
    places = choose_ridges(pairs, candidate.scope)
    own = pairs.among(aggregation=candidate.losses.aggregation)
    return places, own.at(places).weights, squares_at(own, places)


def _error(outputs: Array, losses: Losses, part: IntArray | None = None) -> float:
    """The squared error of outputs (C, m) for all rows or some, or the share of wrong classes."""
    rows = losses.rows
    targets, weights = (each if part is None else take_last(each, part) for each in (rows.targets, rows.weights))
    if losses.aggregation.decides_classes:
        return misclassified_share(first_largest(outputs), targets, weights)
    return squared_error(targets - outputs, weights)

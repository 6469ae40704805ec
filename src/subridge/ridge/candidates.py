"""Choose between one ridge on all features and ensembles of members that see parts of them, by left-out errors.

`offers` lists the candidates, in families of the same kind with more and more members. `choose_ensemble` gives each its
ridge and weights by exact left-out errors. It takes the first, one ridge, unless another is surely better: an ensemble
by 2.75 standard errors of the paired difference, one ridge with a scaled output by 1.25 (`SURE` and `SURE_OF_SCALE` in
`choose`). Of those that are, the one with the largest gain is taken (`judge.take`). The estimators and `advise` both
choose in this way.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray
from subridge.model.aggregation import Aggregation, Mean
from subridge.model.checks import Scope, Shown, html_table, stream
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import FewSamplesWarning, ParameterError
from subridge.model.subsets import Dirichlet, Equal, Overlapping, Strategy
from subridge.ridge.choose import MATERIAL, SURE, SURE_OF_SCALE, Losses, paired, scored, search_ridges
from subridge.ridge.judge import Candidate, Offer, take, tuned
from subridge.ridge.member import MemberPath, member_paths
from subridge.ridge.rows import TrainingRows

SINGLE = "one ridge"
MEMBERS, SPREAD, FRACTION = (2, 4, 8, 16), 0.75, 0.5
_LEAST_SAMPLES = 10  # with fewer, weights follow single samples


def offers(
    varying: BoolArray,
    n_members: Sequence[int] = MEMBERS,
    fraction_spreads: Sequence[float] = (0.0, SPREAD),
    overlapping_fractions: Sequence[float] = (FRACTION,),
    seed: int | tuple[int, ...] | None = 0,
) -> Iterator[list[Offer]]:
    """One ridge on all features, then every kind of subsets for every k that leaves each member a feature that varies.

    `varying`, shape (M,), is true for features that vary. The strategy draws from these only. Constant features are
    dealt out to the members in turn: in a larger sample they may vary. A smaller overlapping
    ensemble has the first members of a larger one.

    >>> [each.name for family in offers(np.ones(6, dtype=bool), [2, 8], [0.0, 0.75]) for each in family]
    ['one ridge', '2 equal', '2 heterogeneous (0.75)', '2 overlapping (0.5 each)']
    """
    some = np.flatnonzero(varying)
    others = np.flatnonzero(~varying)
    yield [Offer(SINGLE, "single", Equal(1).draw(len(varying), stream(seed)))]
    members = sorted({k for k in n_members if 1 < k <= len(some)})

    def drawn(strategy: Strategy, k: int, *key: int) -> SubsetPlan:
        plan = strategy.draw(len(some), stream(seed, *key))
        if not len(others):
            return plan
        return SubsetPlan.from_indices(
            [np.append(some[np.asarray(plan.measurements[r])], others[r::k]) for r in range(k)], len(varying)
        )

    for spread in {f"{abs(each):g}": each for each in fraction_spreads}.values():  # one for each name
        kind, word = ("dirichlet", f"heterogeneous ({spread:g})") if spread else ("equal", "equal")
        plans = [drawn(Dirichlet(k, spread) if spread else Equal(k), k, k) for k in members]
        yield [Offer(f"{plan.n_members} {word}", kind, plan, float(spread)) for plan in plans]
    for fraction in {f"{abs(each):g}": each for each in overlapping_fractions}.values():
        size = max(1, round(fraction * len(some)))
        yield [
            Offer(f"{k} overlapping ({fraction:g} each)", "overlapping", drawn(Overlapping((size,) * k), k))
            for k in members
        ]


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate that was tried.

    Attributes
    ----------
    name : str
        One ridge, or how many members of which kind, and how they are combined.
    error : float
        Squared error of left-out rows.
    gain, standard_error : float
        By how much that is less than the first candidate's, and the standard error of this difference, row by row.
    seconds : float
        Time to factorise and judge it.
    offer : Offer
        Its subsets.
    ensemble : Ensemble
        Its subsets with ridges and aggregation.
    weights : ndarray, shape (k,) or (n_targets, k)
        Of the members.
    needed : float
        Standard errors that the gain must exceed for the candidate to be taken.
    """

    name: str
    error: float
    gain: float
    standard_error: float
    seconds: float
    offer: Offer
    ensemble: Ensemble
    weights: FloatArray
    needed: float = SURE


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Shown):
    """The candidates that were tried, and the one that was taken; ``print`` and notebooks show them as a table.

    Attributes
    ----------
    trials : tuple of Trial
        Name, squared error of left-out rows, gain over the first candidate, its standard error and the time it took.
    taken : int
        The place of the candidate that was taken.
    """

    trials: tuple[Trial, ...]
    taken: int
    kept: dict[int, Candidate] = field(repr=False, default_factory=dict)  # for choices without a row

    @property
    def name(self) -> str:
        """The name of the candidate that was taken."""
        return self.trials[self.taken].name

    def _shown(self) -> dict[str, str]:
        return {"name": repr(self.name), "n_candidates": str(len(self.trials))}

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """Headings, then the candidates by their errors; an arrow is before the one that was taken."""
        yield "  candidate", "left-out error", "gain", "± s.e.", "seconds"
        scale = self.trials[0].error or 1.0
        for place in sorted(range(len(self.trials)), key=lambda each: self.trials[each].error):
            each = self.trials[place]
            mark = "→ " if place == self.taken else "  "
            gains = (f"{each.gain / scale:.1%}", f"{each.standard_error / scale:.1%}") if place else ("–", "")
            yield mark + each.name, f"{each.error:.4g}", *gains, f"{each.seconds:.3f}"

    @property
    def _rule(self) -> str:
        is_offered = any(each.needed == SURE_OF_SCALE for each in self.trials[1:])
        scaled = f", {SURE_OF_SCALE:g} if only scaled," if is_offered else ""
        return f"Gains over {self.trials[0].name!r}; more than {SURE:g} s.e.{scaled} replace it."

    def __str__(self) -> str:
        lines = (f"{row[0]:34}{row[1]:>15}" + "".join(f"{cell:>9}" for cell in row[2:]) for row in self._rows())
        return "\n".join([*lines, self._rule])

    def _repr_html_(self) -> str:
        return html_table(self._rule, self._rows())


def affordable(aggregations: Sequence[Aggregation], n_samples: int) -> list[Aggregation]:
    """The aggregations that so many samples are enough for; the mean, with a warning, if there is none."""
    found = [each for each in aggregations if not each.fits_weights or n_samples >= _LEAST_SAMPLES]
    if not found:
        warnings.warn(
            FewSamplesWarning(
                f"aggregation={aggregations[0].name!r} fits weights, for which n_samples={n_samples} are too few "
                f"(at least {_LEAST_SAMPLES}); the mean is taken"
            ),
            stacklevel=3,
        )
    return found or [Mean()]


def choose_ensemble(
    rows: TrainingRows,
    families: Iterable[Sequence[Offer]],
    aggregations: Sequence[Aggregation],
    ridges: ArrayLike | None,
    scope: Scope,
    scoring: str | None = None,
    fixed: FloatArray | None = None,
    noise_of: Callable[[int], Array | None] = lambda k: None,
) -> Choice:
    """Give every candidate its ridges and weights, and take one.

    The first offer is the reference: one ridge, whose ridge is searched on the whole path. To scale its output is a
    single choice, which needs fewer standard errors than the choice of one of many ensembles. More members of a kind
    are tried as long as fewer of them lower the left-out error by a thousandth. Ensembles are offered ridges of at
    least that of the reference: smaller ones look good by accident where columns are rare. `fixed` ridges, shape () or
    (k,), replace the search. `noise_of` draws the readout noise of k members.
    """
    if scope == "member" and scored(aggregations[0], scoring, rows) is not aggregations[0]:
        raise ParameterError(
            f"scoring={scoring!r} judges the aggregate, but ridge_scope='member' chooses by each member's squared "
            "error; use ridge_scope='ensemble' or 'joint'"
        )
    trials = list[Trial]()
    kept = dict[int, Candidate]()
    reference = list[Candidate]()
    known = dict[bytes, MemberPath]()
    path = np.empty(0) if fixed is None else fixed.reshape(1, -1)
    searched = None
    first = 0
    for family in families:
        for offer in family:
            started = time.perf_counter()
            found = list[Candidate]()
            noise = noise_of(offer.plan.n_members)
            if path.size:
                members = _members(rows, offer, path, noise, known)
            else:
                path, searched, places = search_ridges(
                    rows, offer.plan, aggregations[0], scope, ridges, noise, offer.row_sets, scoring
                )
                first = places.max()
                members = searched.paths
            for aggregation in aggregations:
                if offer.plan.n_members == 1 and found and not aggregation.equal_weights:
                    continue  # one member has one weight
                start = (first, searched) if reference or found else (0, None)
                chooser = Losses(members, rows, scored(aggregation, scoring, rows), *start)
                suffix = "" if aggregation.is_mean or len(aggregations) == 1 else f", {aggregation.name}"
                needed = SURE_OF_SCALE if aggregation.equal_weights and not reference else SURE
                found.append(tuned(offer, offer.name + suffix, path, chooser, scope, aggregation, needed))
            reference = reference or found[:1]
            lapse = (time.perf_counter() - started) / len(found)
            for each in found:
                gain, noise_of_gain = (
                    value.item() for value in paired(each.squares[None, :], reference[0].squares[None, :], rows)
                )
                trial = Trial(
                    each.name,
                    each.error,
                    gain,
                    noise_of_gain,
                    lapse,
                    each.offer,
                    each.ensemble,
                    each.weights,
                    each.needed,
                )
                if each is reference[0] or trial.gain > (trial.needed - 1) * trial.standard_error:
                    kept[len(trials)] = each
                trials.append(trial)
            worth_more = min(each.error for each in found) < (1 - MATERIAL) * reference[0].error
            if not worth_more and reference[0] not in found:
                break
    pool = list(kept.values())
    taken = take(pool, [each.squares[None, :] for each in pool], rows)
    return Choice(tuple(trials), list(kept)[int(taken[0])], kept)


def _members(
    rows: TrainingRows, offer: Offer, path: FloatArray, noise: Array | None, known: dict[bytes, MemberPath]
) -> Sequence[MemberPath]:
    """The members of an offer along a path; those `known` from the last offer are used again.

    Members with noise, or with a ridge for each of them, are not.
    """
    plan, sets = offer.plan, offer.row_sets
    if noise is not None or path[0].size > 1:
        return member_paths(rows, plan, path, noise, sets)
    keys = [
        np.asarray(A).tobytes() + (b"" if sets is None else sets[r].tobytes()) for r, A in enumerate(plan.measurements)
    ]
    for key in known.keys() - set(keys):
        del known[key]
    new = [r for r, key in enumerate(keys) if key not in known]
    if new:
        part = SubsetPlan(tuple(plan.measurements[r] for r in new), plan.n_features)
        seen = None if sets is None else [sets[r] for r in new]
        known |= dict(zip([keys[r] for r in new], member_paths(rows, part, path, None, seen), strict=True))
    return [known[key] for key in keys]

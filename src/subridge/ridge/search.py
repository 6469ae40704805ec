"""The search for the ridges of an ensemble: a path that reaches far enough, every member on it, and the choice."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from subridge.arrays.types import Array, ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation
from subridge.model.checks import Scope
from subridge.model.plan import SubsetPlan
from subridge.ridge.rows.diagnostics import ridge_at_end
from subridge.ridge.rows.path import MemberPath, member_paths
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import Outcome, default_ridges, extended_search, given_ridges
from subridge.ridge.selection import RidgeChoice, choose_ridges, end_of_path


@dataclass(frozen=True, eq=False)
class RidgeSearch:
    """A path (L,), every member along it, and where each member stands."""

    ridges: FloatArray
    paths: Sequence[MemberPath]
    choice: RidgeChoice


def search_ridges(
    rows: TrainingRows,
    plan: SubsetPlan,
    aggregation: Aggregation,
    scope: Scope,
    given: ArrayLike | None,
    noise: Array | None = None,
) -> RidgeSearch:
    """Choose ridges for the members of a plan, from `given` ones or from a path that fits the data.

    The path of the package goes further where its best ridge is at an end; `RidgePathWarning` tells where it still is.
    """

    def evaluate(path: FloatArray) -> Outcome[RidgeSearch]:
        paths = member_paths(rows, plan, path, noise, pairs=aggregation.fits_weights)
        choice = choose_ridges(paths, rows, aggregation, scope)
        place = end_of_path(paths, rows, aggregation, choice)
        return Outcome(RidgeSearch(path, paths, choice), place.error, place.end, place.is_falling)

    if given is None:
        largest = int(plan.subset_sizes.max())
        path, outcome = extended_search(default_ridges(rows.column_squares(), rows.n_samples, largest), evaluate)
    else:
        path = given_ridges(given)
        outcome = evaluate(path)
    if outcome.end is not None and outcome.is_falling and not (outcome.end == "lower" and path[0] == 0):
        warnings.warn(ridge_at_end(outcome.end, float(path[0 if outcome.end == "lower" else -1])), stacklevel=4)
    return outcome.found

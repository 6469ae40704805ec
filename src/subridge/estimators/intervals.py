"""Intervals and sets of classes that cover a new label with a wanted probability.

Jackknife+ (Barber, Candès, Ramdas and Tibshirani 2021): with left-out errors e_i and the ensemble μ^(-i) trained
without row i, the interval for x goes from a low quantile of ``μ^(-i)(x) - |e_i|`` to a high one of ``μ^(-i)(x) +
|e_i|``. Where groups are left out, μ^(-i) is trained without the group of i and every group has the same share in the
quantile (Lee, Barber and Willett 2023), so that groups rather than rows need be exchangeable. Sets of classes take the
score ``1 - p(class)`` in place of |e| (CV+, Romano, Sesia and Candès 2020).

At fixed ridge and weights the coverage is at least 2·level - 1, whatever the distribution.
"""

import numpy as np

from subridge.arrays.namespace import is_numpy, like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray
from subridge.estimators.inputs import Features
from subridge.estimators.left_out_ensemble import LeftOutEnsemble
from subridge.model.checks import one_number, within
from subridge.model.errors import ParameterError
from subridge.ridge.calibration import softmax

_SLACK = 1e-9  # of a share of groups, whose sum is rounded


def checked_level(level: float, ensemble: LeftOutEnsemble) -> float:
    """A level that the number of left-out sets allows: without 1/(1 - level) of them every interval is infinite."""
    checked = one_number("level", within("level", level, 0.0, 1.0))
    if not checked > 0:
        raise ParameterError(f"level must be positive, got {level}; 0.9 covers nine of ten new labels")
    sets = int(ensemble.owners.max()) + 1
    if not checked < 1 or (1 - checked) * (sets + 1) < 1 - _SLACK:
        raise ParameterError(
            f"level={level} needs more rows or groups to leave out than the {sets} there are; "
            f"give a level of at most {sets / (sets + 1):.3g}"
        )
    return checked


def jackknife_bounds(ensemble: LeftOutEnsemble, X: Features, level: float) -> tuple[Array, Array]:
    """Lower and upper bounds for new rows, each of shape (C, m)."""
    level = checked_level(level, ensemble)
    masses, owners, errors = _masses(ensemble), ensemble.owners, abs(ensemble.errors)
    together = ensemble.kept.rows.left_out is not None
    beyond = len(owners) - int(np.ceil(level * (len(owners) + 1) - _SLACK))
    sizes, lower, upper = to_numpy(errors)[0], [], []

    def that_matter(changes: FloatArray) -> IntArray:
        """Rows that can be among the outermost, whatever the change; the quantile is one of these."""
        reach = changes * (1 + _SLACK)
        least = np.partition(sizes - reach, -1 - beyond)[-1 - beyond]
        return np.flatnonzero(sizes + reach >= least)

    for wanted, outputs in ensemble.outputs(X, None if together else that_matter):
        widths = like(errors if wanted is None else take_last(errors, wanted), outputs)[:, None, :]
        centres = take_last(outputs, owners) if together else outputs
        upper.append(_outermost(centres + widths, beyond, level, masses))
        lower.append(-_outermost(widths - centres, beyond, level, masses))
    xp = namespace_of(upper[0])
    return xp.concat(lower, axis=1), xp.concat(upper, axis=1)


def _masses(ensemble: LeftOutEnsemble) -> FloatArray | None:
    """Share of every row in a quantile where groups were left out, shape (n,); None where all rows count the same."""
    sets = ensemble.kept.rows.left_out
    if sets is None or not sets.is_partition:
        return None
    return sets.row_masses() * sets.n_sets / (sets.n_sets + 1)


def _outermost(values: Array, beyond: int, level: float, masses: FloatArray | None) -> Array:
    """The least value that a share `level` of n + 1, the last one infinite, does not exceed; (C, m, n) to (C, m).

    Without masses so many values are `beyond` it, and values that cannot be need not be there. Values are reordered.
    """
    xp = namespace_of(values)
    if masses is None:
        rank = values.shape[-1] - 1 - beyond
        if is_numpy(values):
            values.partition(rank, axis=-1)
            return values[..., rank].copy()
        return xp.sort(values, axis=-1)[..., rank]
    order = xp.argsort(values, axis=-1)
    shares = xp.take_along_axis(xp.broadcast_to(like(masses, values), values.shape), order, axis=-1)
    reached = xp.cumulative_sum(shares, axis=-1) >= level - _SLACK
    first = xp.argmax(xp.astype(reached, xp.int8), axis=-1)[..., None]
    return xp.take_along_axis(values, xp.take_along_axis(order, first, axis=-1), axis=-1)[..., 0]


def conformal_sets(ensemble: LeftOutEnsemble, X: Features, level: float, temperature: float) -> BoolArray:
    """Classes that belong to the set of each new row, shape (m, C).

    A class is not in it where its score, with μ^(-i), exceeds that of row i's own class for a share `level` of rows.
    """
    level = checked_level(level, ensemble)
    sets = ensemble.kept.rows.left_out
    owners, n = ensemble.owners, len(ensemble.owners)
    masses = _masses(ensemble)
    shares = np.full(n, 1 / (n + 1)) if masses is None else masses
    k = 1 if ensemble.is_weighted else ensemble.kept.errors.shape[0]  # decisions are shares of votes, or mean scores
    own_decisions = to_numpy(ensemble.kept.rows.targets - ensemble.errors) / k
    labels = to_numpy(ensemble.kept.rows.targets).argmax(axis=0)
    own = 1 - softmax(own_decisions, temperature)[labels, np.arange(n)]
    found = []
    for _, outputs in ensemble.outputs(X):
        decisions = to_numpy(outputs) / k
        C, m, S = decisions.shape
        scores = 1 - softmax(decisions.reshape(C, m * S), temperature).reshape(C, m, S)
        beyond = scores[:, :, owners if sets is not None else slice(None)] > own
        found.append((beyond @ shares < level - _SLACK).T)
    return np.concatenate(found)

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
from subridge.arrays.types import Array, BoolArray, FloatArray
from subridge.estimators.inputs import Features
from subridge.estimators.left_out_ensemble import LeftOutEnsemble
from subridge.ridge.calibration import softmax
from subridge.spec.checks import within
from subridge.spec.errors import ParameterError

_SLACK = 1e-9  # of a share of groups, whose sum is rounded


def checked_level(level: float, ensemble: LeftOutEnsemble) -> float:
    """A level that the number of left-out sets allows: without 1/(1 - level) of them every interval is infinite."""
    checked = float(within("level", level, 0.0, 1.0))
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
    masses, owners = _masses(ensemble), ensemble.owners
    lower, upper, errors = [], [], ensemble.errors
    for _, outputs in ensemble.outputs(X):
        widths = abs(like(errors, outputs))[:, None, :]
        centres = take_last(outputs, owners) if ensemble.kept.rows.left_out is not None else outputs
        # The low quantile is minus the high one of what is turned around.
        upper.append(_high_quantile(centres + widths, level, masses))
        lower.append(-_high_quantile(widths - centres, level, masses))
    xp = namespace_of(upper[0])
    return xp.concat(lower, axis=1), xp.concat(upper, axis=1)


def _masses(ensemble: LeftOutEnsemble) -> FloatArray | None:
    """Share of every row in a quantile where groups were left out, shape (n,); None where all rows count the same."""
    sets = ensemble.kept.rows.left_out
    if sets is None or not sets.is_partition:
        return None
    return sets.row_masses() * sets.n_sets / (sets.n_sets + 1)


def _high_quantile(values: Array, level: float, masses: FloatArray | None) -> Array:
    """The least value that a share `level` of n + 1, the last one infinite, does not exceed; (C, m, n) to (C, m)."""
    n = values.shape[-1]
    if masses is None:
        rank = int(np.ceil(level * (n + 1) - _SLACK)) - 1
        if is_numpy(values):
            values.partition(rank, axis=-1)
            return values[..., rank].copy()
        return namespace_of(values).sort(values, axis=-1)[..., rank]
    host = to_numpy(values)
    order = np.argsort(host, axis=-1)
    reached = np.cumsum(masses[order], axis=-1) >= level - _SLACK
    first = np.take_along_axis(order, reached.argmax(axis=-1)[..., None], axis=-1)
    return like(np.take_along_axis(host, first, axis=-1)[..., 0], values)


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

"""Checks of rows that are not independent draws: copies, order in time, groups that are too large, single heavy rows.

Each returns a warning, or None. The limits are chosen so that clean data rarely meet them; the rate of false alarms is
measured in ``benchmarks/false_alarms.py``.
"""

import numpy as np

from subridge.arrays.namespace import is_numpy, is_sparse, like, select_rows, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.checks import counted
from subridge.model.errors import (
    CorrelatedRowsWarning,
    DuplicateRowsWarning,
    HeavyTailWarning,
    LargeGroupWarning,
    SubridgeWarning,
)
from subridge.ridge.rows.training import TrainingRows

_LEAST_ROWS = 30
_PROJECTIONS = 8  # rows that agree in so many random directions are the same
_COLUMNS = 256  # that are looked at: rows that agree in so many are copies, or nearly
_SAME = 1e-4  # distance of copies, in standard deviations
_COPIES = 0.05  # share of rows with a copy that is worth a word
_CONTINUOUS = 3  # columns that must take many values, or equal rows are no surprise
_HEAVY, _HEAVY_SQUARE = 0.1, 30.0  # share of a sum of squares in one row; square of a deviation in standard deviations
_CORRELATION, _SIGNIFICANCE = 0.1, 4.0  # of neighbours' errors; in standard errors


def repeated_rows(rows: TrainingRows) -> SubridgeWarning | None:
    """Rows that are copies, or nearly, of rows that are not left out together with them."""
    n = rows.n_samples
    if n < _LEAST_ROWS or is_sparse(rows.features):
        return None
    scales = rows.column_squares() ** 0.5
    varying = np.flatnonzero(scales > 0)
    if not _takes_many_values(rows.features, rows.root_weights, varying):
        return None
    rng = np.random.default_rng(0)
    some = varying if len(varying) <= _COLUMNS else np.sort(rng.choice(varying, _COLUMNS, replace=False))
    directions = rng.standard_normal((_PROJECTIONS, len(some))) / scales[some] / len(some) ** 0.5
    features = select_rows(rows.features, some)
    seen = to_numpy(like(directions, features) @ features / rows.root_weights)  # (8, n)
    order = np.argsort(seen[0])
    owners = np.arange(n) if rows.left_out is None else rows.left_out.owners
    has_copy = np.zeros(n, dtype=bool)
    for step in (1, 2, 3):
        one, other = order[:-step], order[step:]
        same = (np.abs(seen[:, one] - seen[:, other]) < _SAME).all(axis=0) & (owners[one] != owners[other])
        has_copy[one[same]] = has_copy[other[same]] = True
    share = float(has_copy.mean())
    if share <= _COPIES:
        return None
    return DuplicateRowsWarning(
        f"{share:.0%} of the rows of X are copies, or nearly, of other rows, so that rows which are left out are still "
        "known and errors come out too small; drop the copies, or give groups= that hold them together"
    )


def _takes_many_values(features: Array, root_weights: Array, varying: IntArray) -> bool:
    """Whether some columns take so many values that equal rows are no coincidence; a part of the rows is looked at."""
    found = 0
    for j in varying[: 10 * _CONTINUOUS]:
        some = to_numpy((features[int(j), :] / root_weights)[:500])
        found += len(np.unique(some)) > 0.25 * len(some)
        if found == _CONTINUOUS:
            return True
    return False


def large_group(rows: TrainingRows) -> SubridgeWarning | None:
    """A group that holds more than half of all rows."""
    sets = rows.left_out
    if sets is None or not sets.is_partition or 2 * sets.largest <= rows.n_samples:
        return None
    return LargeGroupWarning(
        f"one group holds {sets.largest} of {counted(rows.n_samples, 'row')}; without it little is left to "
        "train on, so that its left-out errors say little of the fit on all rows; split that group, or gather more of "
        "the others"
    )


def heavy_rows(rows: TrainingRows) -> SubridgeWarning | None:
    """A single row that carries much of the variance of X, or of y."""
    if rows.n_samples < _LEAST_ROWS or is_sparse(rows.features):
        return None
    for name, squares in (("X", _squares_of_rows(rows.features)), ("y", _squares_of_labels(rows))):
        if _is_heavy(squares):
            share = float(squares.max()) / float(squares.sum())
            return HeavyTailWarning(
                f"row {int(squares.argmax())} alone carries {share:.0%} of the variance of {name}, so that left-out "
                f"errors depend on it; look at that row, or transform {name} (for example by its logarithm)"
            )
    return None


def has_heavy_label(rows: TrainingRows) -> bool:
    """Whether a single row carries much of the variance of y."""
    return rows.n_samples >= _LEAST_ROWS and _is_heavy(_squares_of_labels(rows))


def _is_heavy(squares: FloatArray) -> bool:
    """Whether the largest of the squares (n,) is much of their sum."""
    return float(squares.max()) > max(_HEAVY, _HEAVY_SQUARE / len(squares)) * float(squares.sum())


def _squares_of_labels(rows: TrainingRows) -> FloatArray:
    return np.asarray((to_numpy(rows.centred_targets[0]) ** 2).sum(axis=0))


def _squares_of_rows(features: Array) -> FloatArray:
    """Sums of squares over the features of each row, shape (n,), read in the order in which they lie in memory."""
    if is_numpy(features):
        return np.asarray(np.einsum("mi,mi->i", features, features))
    return to_numpy((features * features).sum(axis=0))


def correlated_rows(errors: Array, rows: TrainingRows) -> SubridgeWarning | None:
    """Left-out errors, shape (C, n), of neighbours in the order of the rows that are alike.

    Neighbours are the nearest rows that were not left out together. Rows that are sorted by their labels are passed
    over: their order is not that of time.
    """
    n, sets = rows.n_samples, rows.left_out
    if n < _LEAST_ROWS or _is_sorted(to_numpy(rows.targets)):
        return None
    lag = 1 if sets is None or sets.is_partition else (sets.largest + 1) // 2
    apart = np.ones(n - lag, dtype=bool)
    if sets is not None and sets.is_partition:
        apart = sets.owners[:-lag] != sets.owners[lag:]
    if apart.sum() < _LEAST_ROWS:
        return None
    e = to_numpy(errors * rows.root_weights)
    e = e - e.mean(axis=1, keepdims=True)
    power = (e**2).mean(axis=1, keepdims=True)
    kept = power[:, 0] > 0
    if not kept.any():
        return None
    products = (e[kept, :-lag] * e[kept, lag:] / power[kept])[:, apart].mean(axis=0)
    correlation, spread = float(products.mean()), float(products.std()) / len(products) ** 0.5
    if correlation < _CORRELATION or correlation < _SIGNIFICANCE * max(spread, len(products) ** -0.5):
        return None
    remedy = f"a larger gap than {lag - 1}" if lag > 1 else "gap=, or groups= for rows that belong together"
    return CorrelatedRowsWarning(
        f"left-out errors of neighbouring rows are correlated by {correlation:.2f}, as rows in time order are, so that "
        f"errors come out too small and the ridge too weak; give {remedy}"
    )


def _is_sorted(targets: FloatArray) -> bool:
    """Whether rows are in the order of one target or of classes, up or down."""
    column = targets.argmax(axis=0) if len(targets) > 1 else targets[0]
    steps = np.diff(column)
    return bool((steps >= 0).all() or (steps <= 0).all())

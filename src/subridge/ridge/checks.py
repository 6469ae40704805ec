"""Warnings about training rows: scales, copies, order in time, groups that are too large, single influential rows.

A check is a function that returns a warning, or None. The limits are chosen so that clean data rarely exceed them;
``benchmarks/false_alarms.py`` measures the rate of false alarms.
"""

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csc_array

from subridge.arrays.namespace import is_numpy, is_sparse, like, select_rows, to_numpy
from subridge.arrays.types import Array, FloatArray
from subridge.model.checks import refuse_large
from subridge.model.errors import (
    CorrelatedRowsWarning,
    DuplicateRowsWarning,
    HeavyTailWarning,
    LargeGroupWarning,
    RareColumnsWarning,
    ScaleWarning,
    SubridgeWarning,
    agreeing,
    counted,
    require,
)
from subridge.ridge.rows import TrainingRows

_WIDE_SCALES = 1e3  # ratio of standard deviations above which one penalty cannot suit all columns
_SMALLEST = 1e-150  # of a sum of squares; its own square is still a float
_RARE = 5  # rows in which a column must vary to be of use
_LEAST_ROWS = 30  # for most checks
_PROJECTIONS = 8  # rows that agree in so many random directions are the same
_COLUMNS = 256  # that are compared: rows that agree in so many are copies, or nearly
_SAME = 1e-4  # distance of copies, in standard deviations
_COPIES = 0.05  # share of rows with a copy above which the user is warned
_CONTINUOUS = 3  # columns that must take many values, or equal rows are no surprise
_HEAVY, _HEAVY_SQUARE = 0.1, 30.0  # share of a sum of squares in one row; square of a deviation in standard deviations
_CORRELATION, _SIGNIFICANCE = 0.1, 4.0  # of neighbours' errors; in standard errors


def warn_of_rows(rows: TrainingRows, names: Sequence[str] | None, stacklevel: int) -> None:
    """Give the warnings of all checks of these rows, whose columns may have names; refuse numbers out of range."""
    refuse_out_of_range(rows)
    warn_once(
        (unequal_scales(rows.column_squares, names), repeated_rows(rows), large_group(rows), heavy_rows(rows)),
        stacklevel + 1,
    )


def refuse_out_of_range(rows: TrainingRows) -> None:
    """Refuse numbers so large or so small that their squares leave the range of floats."""
    with np.errstate(over="ignore"):
        of_X = rows.column_squares.sum(keepdims=True) * rows.n_samples
        of_y = to_numpy((rows.targets * rows.targets).sum(axis=1))
    for name, values, squares in (("X", rows.features, of_X), ("y", rows.targets, of_y)):
        refuse_large(name, squares.sum())
        if squares.min() < _SMALLEST**2 and not is_sparse(values):
            peaks = abs(to_numpy(values)).reshape(len(squares), -1).max(axis=1)
            require(
                not ((peaks > 0) & (peaks < _SMALLEST)).any(),
                f"{name} holds numbers so small that their squares vanish; multiply {name} by a constant",
            )


def warn_once(found: Iterable[SubridgeWarning | None], stacklevel: int = 2) -> None:
    """Give every warning that was found, each of them once."""
    for warning in {str(each): each for each in found if each is not None}.values():
        warnings.warn(warning, stacklevel=stacklevel + 1)


def unequal_scales(squares: FloatArray, names: Sequence[str] | None = None) -> SubridgeWarning | None:
    """Columns whose standard deviations differ by a factor above 10³; `squares`, (M,), are variances, 0 if constant."""
    large = int(squares.argmax())
    small = int(np.where(squares > 0, squares, np.inf).argmin())
    ratio = squares[large] ** 0.5 / squares[small] ** 0.5 if squares.any() else 1.0
    if ratio <= _WIDE_SCALES:
        return None
    called = [f"column {place if names is None else repr(names[place])}" for place in (large, small)]
    return ScaleWarning(
        f"columns of X differ in scale by a factor of {ratio:.1g} ({called[0]} against {called[1]}), but one "
        "ridge penalises them all alike; divide every column by its standard deviation, for example with "
        "make_pipeline(StandardScaler(), ...)"
    )


def repeated_rows(rows: TrainingRows) -> SubridgeWarning | None:
    """Rows that are copies, or nearly, of rows that are not left out with them."""
    n = rows.n_samples
    if n < _LEAST_ROWS or is_sparse(rows.features):
        return None
    scales = (rows.column_squares * n / rows.total_weight) ** 0.5
    varying = np.flatnonzero(scales > 0)
    part = to_numpy(select_rows(rows.features, varying[: 10 * _CONTINUOUS]) / rows.root_weights)[:, :500]
    if sum(len(np.unique(column)) > 0.25 * len(column) for column in part) < _CONTINUOUS:
        return None
    rng = np.random.default_rng(0)
    some = varying if len(varying) <= _COLUMNS else np.sort(rng.choice(varying, _COLUMNS, replace=False))
    directions = rng.standard_normal((_PROJECTIONS, len(some))) / scales[some] / len(some) ** 0.5
    features = select_rows(rows.features, some)
    seen = to_numpy(like(directions, features) @ features / rows.root_weights)  # (8, n)
    order = seen[0].argsort()
    owners = rows.owners
    has_copy = np.zeros(n, dtype=bool)
    for step in (1, 2, 3):
        one = order[:-step]
        other = order[step:]
        same = (abs(seen[:, one] - seen[:, other]) < _SAME).all(axis=0) & (owners[one] != owners[other])
        has_copy[one[same]] = has_copy[other[same]] = True
    if has_copy.mean() <= _COPIES:
        return None
    return DuplicateRowsWarning(
        f"{has_copy.mean():.0%} of the rows of X are copies, or nearly, of other rows: leaving one out does not remove "
        "it, and errors come out too small; drop the copies, or give groups= that hold them together"
    )


def large_group(rows: TrainingRows) -> SubridgeWarning | None:
    """A group that holds more than half of all rows."""
    sets = rows.left_out
    if sets is None or not sets.is_partition or 2 * sets.largest <= rows.n_samples:
        return None
    return LargeGroupWarning(
        f"one group holds {sets.largest} of {counted(rows.n_samples, 'row')}; without it few rows are left to train "
        "on, and its left-out errors say little about the fit on all rows; split it, or gather more of the others"
    )


def heavy_rows(rows: TrainingRows) -> SubridgeWarning | None:
    """A single row that makes up much of the variance of X, or of y."""
    if rows.n_samples < _LEAST_ROWS or is_sparse(rows.features):
        return None
    features = rows.features  # NumPy reads them in the order in which they lie in memory
    of_rows = np.einsum("mi,mi->i", features, features) if is_numpy(features) else to_numpy((features**2).sum(axis=0))
    for name, squares in (("X", of_rows), ("y", to_numpy((rows.centred_targets[0] ** 2).sum(axis=0)))):
        if is_heavy(squares):
            return HeavyTailWarning(
                f"row {squares.argmax()} alone makes up {squares.max() / squares.sum():.0%} of the variance of {name}, "
                f"so left-out errors depend on it; check that row, or transform {name} (for example take its logarithm)"
            )
    return None


def is_heavy(squares: FloatArray) -> bool:
    """Whether a single one of some squares makes up much of their sum."""
    return bool(squares.max() > max(_HEAVY, _HEAVY_SQUARE / len(squares)) * squares.sum())


def correlated_rows(errors: Array, rows: TrainingRows) -> SubridgeWarning | None:
    """Left-out errors, shape (C, n), that are correlated between neighbours in the order of the rows.

    Neighbours are the nearest rows that were not left out together. Rows that are sorted by their labels are not
    checked: their order is not that of time.
    """
    sets = rows.left_out
    targets = to_numpy(rows.targets)
    steps = np.diff(targets.argmax(axis=0) if len(targets) > 1 else targets[0])
    if rows.n_samples < _LEAST_ROWS or (steps >= 0).all() or (steps <= 0).all():
        return None
    lag = 1 if sets is None or sets.is_partition else (sets.largest + 1) // 2
    apart = rows.owners[:-lag] != rows.owners[lag:]
    if apart.sum() < _LEAST_ROWS:
        return None
    e = to_numpy(errors * rows.root_weights)
    e = e - e.mean(axis=1, keepdims=True)
    scales = np.sqrt((e**2).mean(axis=1, keepdims=True))
    e = e / np.where(scales > 0, scales, 1.0)  # targets without errors do not count
    products = (e[:, :-lag] * e[:, lag:])[:, apart].sum(axis=0) / max(np.count_nonzero(scales), 1)
    correlation = products.mean()
    error = max(products.std(), 1.0) / len(products) ** 0.5
    if correlation < max(_CORRELATION, _SIGNIFICANCE * error):
        return None
    remedy = f"a larger gap than {lag - 1}" if lag > 1 else "gap=, or groups= for rows that belong together"
    return CorrelatedRowsWarning(
        f"left-out errors of neighbouring rows are correlated by {correlation:.2f}, as in time order: "
        f"errors come out too small and the ridge too weak; give {remedy}"
    )


def rare_columns(rows: TrainingRows) -> SubridgeWarning | None:
    """Columns that take their usual value in all but a few rows, so that a larger sample changes them much."""
    if is_sparse(rows.features):
        varying = np.diff(csc_array(rows.features.tocsc()).indptr)
    else:
        features = to_numpy(rows.features)
        varying = np.count_nonzero(features != np.median(features, axis=1, keepdims=True), axis=1)
    rare = int(np.count_nonzero((varying > 0) & (varying < _RARE)))
    if not rare:
        return None
    return RareColumnsWarning(
        f"{rare:,} of {counted(len(varying), 'column')} of X {agreeing(rare, 'varies', 'vary')} in fewer than {_RARE} "
        f"rows, too few to learn from; leave such columns out, or join rare levels"
    )

"""What is said of training rows before and after they are used: the one place where warnings about data are made.

A check of the rows is a function from `TrainingRows` to a warning, or None; it is listed in ``CHECKS``. What can only
be said after a fit, such as a ridge at the end of its path, is a function of its own below.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.sparse import csc_array

from subridge.arrays.namespace import is_sparse
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.checks import agreeing, counted
from subridge.model.errors import (
    CopiedRowsWarning,
    DataError,
    DominantRowsWarning,
    RareColumnsWarning,
    RidgePathWarning,
    ScaleWarning,
    SubridgeWarning,
)
from subridge.ridge.rows.dependence import correlated_rows, heavy_rows, large_group, repeated_rows
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import End

# Ratio of standard deviations beyond which one penalty cannot suit all columns.
WIDE_SCALES = 1e3
_SMALLEST = 1e-150
_LARGEST = 1e150  # of a sum of squares; its own square is still a float


def unequal_scales(squares: FloatArray, names: Sequence[str] | None = None) -> SubridgeWarning | None:
    """Columns whose standard deviations differ by more than 10³, from their mean squares (M,), 0 for constant ones.

    They are called by their names where those are known, else by their numbers.
    """
    varying = np.flatnonzero(squares > 0)
    if not varying.size:
        return None
    small, large = varying[np.argmin(squares[varying])], varying[np.argmax(squares[varying])]
    ratio = float(squares[large] / squares[small]) ** 0.5
    if ratio <= WIDE_SCALES:
        return None
    called = [f"column {place if names is None else repr(names[place])}" for place in (large, small)]
    return ScaleWarning(
        f"columns of X differ in scale by a factor of {ratio:.1g} ({called[0]} against {called[1]}), and one "
        " ridge penalises them all alike; divide every column by its standard deviation, for example with "
        "make_pipeline(StandardScaler(), ...)"
    )


CHECKS: tuple[Callable[[TrainingRows], SubridgeWarning | None], ...] = (repeated_rows, large_group, heavy_rows)


def refuse_extremes(squares: FloatArray, target_square: float) -> None:
    """Refuse numbers whose squares, or the squares of those, leave the range of floats."""
    for name, value in (("X", float(squares.sum())), ("y", target_square)):
        if not value < _LARGEST:
            raise DataError(
                f"{name} holds numbers of about {value**0.5:.0e}, whose squares leave the range of floats; divide "
                f"{name} by a constant"
            )


RARE = 5  # rows in which a column must vary to tell anything


def rare_columns(rows: TrainingRows) -> SubridgeWarning | None:
    """Columns that take their usual value in all but a few rows, of which a larger sample will have others."""
    features = rows.features
    varying = np.diff(csc_array(features.tocsc()).indptr) if is_sparse(features) else _varying_rows(features)
    rare = int(np.count_nonzero((varying > 0) & (varying < RARE)))
    if not rare:
        return None
    return RareColumnsWarning(
        f"{rare:,} of {counted(len(varying), 'column')} of X {agreeing(rare, 'varies', 'vary')} in fewer than {RARE} "
        f"rows: what {agreeing(rare, 'it does', 'they do')} elsewhere cannot be known from these; leave such columns "
        "out or join rare levels, or trust the self-test and the wider intervals"
    )


def _varying_rows(features: FloatArray) -> IntArray:
    """Rows in which every column differs from its median, as far as they are fewer than `RARE`; shape (M,).

    A column that varies in fewer than five rows has its usual value in six of any ten: most columns need no other look.
    """
    first = np.sort(features[:, : 2 * RARE], axis=1)
    few = first.shape[1] < 2 * RARE
    same = np.arange(len(features)) if few else np.flatnonzero(first[:, RARE - 1] == first[:, RARE])
    varying = np.full(len(features), RARE)
    some = features[same]
    varying[same] = np.count_nonzero(some != np.median(some, axis=1)[:, None], axis=1)
    return varying


def copied_rows(copies: int, n: int) -> CopiedRowsWarning:
    """Rows of X that occur again with the same label."""
    return CopiedRowsWarning(
        f"{copies:,} of {counted(n, 'row')} {agreeing(copies, 'is a copy of another', 'are copies of others')}, "
        "label included; leaving one of them out leaves its label in, and errors look too small: they are not used here"
    )


def dominant_rows(share: float) -> DominantRowsWarning:
    """Few rows with much of the leverage."""
    return DominantRowsWarning(
        f"few rows dominate this pilot: the most influential one has leverage {share:.2f}, so that only a part of the "
        "forecast change is believed and intervals are wider; look for rare columns and outliers in X"
    )


PILOT_CHECKS: tuple[Callable[[TrainingRows], SubridgeWarning | None], ...] = (rare_columns,)


def warn_of_pilot(rows: TrainingRows, stacklevel: int = 2) -> None:
    """Say what a forecast from these rows must know of them."""
    for check in PILOT_CHECKS:
        found = check(rows)
        if found is not None:
            warnings.warn(found, stacklevel=stacklevel + 1)


def warn_of_rows(rows: TrainingRows, names: Sequence[str] | None = None, stacklevel: int = 2) -> None:
    """Say everything that the checks find in these rows, whose columns may have names; refuse unworkable numbers."""
    with np.errstate(over="ignore"):
        squares = rows.column_squares() * rows.n_samples
        refuse_extremes(squares, float((rows.targets * rows.targets).sum()))
    if not squares.any() and not is_sparse(rows.features) and 0 < float(abs(rows.features).max()) < _SMALLEST:
        raise DataError("X holds numbers so small that their squares vanish; multiply X by a constant")
    warn_of_scales(rows.column_squares(), names, stacklevel + 1)
    for check in CHECKS:
        found = check(rows)
        if found is not None:
            warnings.warn(found, stacklevel=stacklevel + 1)


def warn_of_scales(squares: FloatArray, names: Sequence[str] | None = None, stacklevel: int = 2) -> None:
    """Say that columns of these mean squares differ too much in scale, where only moments of the rows are known."""
    found = unequal_scales(squares, names)
    if found is not None:
        warnings.warn(found, stacklevel=stacklevel + 1)


def warn_of_order(errors: Array, rows: TrainingRows, stacklevel: int = 2) -> None:
    """Say that left-out errors of the aggregate, shape (C, n), are alike for neighbouring rows."""
    found = correlated_rows(errors, rows)
    if found is not None:
        warnings.warn(found, stacklevel=stacklevel + 1)


def ridge_at_end(end: End, ridge: float | None = None) -> RidgePathWarning:
    """The best of the ridges is the first or the last, so that one beyond may err less."""
    which, beyond = ("smallest", "smaller") if end == "lower" else ("largest", "larger")
    number = "" if ridge is None else f" ({ridge:.3g})"
    return RidgePathWarning(
        f"the best ridge is the {which} of those considered{number}, and the error still falls there: a {beyond} "
        f"one may err less; give {beyond} ones as ridges, or look at the scales of the columns"
    )


def tell_once(found: Iterable[SubridgeWarning], stacklevel: int = 2) -> None:
    """Give every warning that was found for one ensemble or another, each of them once."""
    for warning in {str(each): each for each in found}.values():
        warnings.warn(warning, stacklevel=stacklevel + 1)

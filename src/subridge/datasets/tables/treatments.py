"""What is done to a table before it is used: missing and infinite values, constant and repeated columns, scale.

Every function goes over the rows in blocks or column by column, so that none needs a second table in memory unless it
returns one.
"""

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.datasets.tables.columns import counted, listed
from subridge.spec.errors import DataError

# A block of a wide table should stay in the cache while several operations pass over it.
_ROWS_AT_A_TIME = 64


def missing_cells(X: FloatArray, names: tuple[str, ...]) -> dict[int, BoolArray]:
    """Columns with missing values, each with a flag per row; infinite values are an error."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum with NaN or infinity in it is never finite: this finds the columns to look at without a table of flags.
        suspects = np.flatnonzero(~np.isfinite(X.sum(axis=0)))
    infinite = [int(i) for i in suspects if np.isinf(X[:, i]).any()]
    if infinite:
        raise DataError(
            f"infinite values in {counted(len(infinite), 'column')}: {listed(names[i] for i in infinite)}; correct "
            "them, or leave the columns out with drop=[...]"
        )
    flags = {int(i): np.isnan(X[:, i]) for i in suspects}
    return {i: flag for i, flag in flags.items() if flag.any()}


def refuse_missing(cells: dict[int, BoolArray], names: tuple[str, ...]) -> None:
    """The error for missing features that nobody asked to treat."""
    if cells:
        total = sum(int(flag.sum()) for flag in cells.values())
        where = listed(f"{names[i]} ({int(flag.sum())})" for i, flag in cells.items())
        raise DataError(
            f"{counted(total, 'cell')} missing in {counted(len(cells), 'column')}: {where}; missing='drop' leaves out "
            "their rows, missing='mean' fills in column means, drop=[...] leaves out columns"
        )


def fill_means(X: FloatArray, cells: dict[int, BoolArray]) -> None:
    """Put the mean of a column's observed values where it has none, in place."""
    for i, flag in cells.items():
        observed = X[~flag, i]
        # A mean can round past the values it is taken of, and a constant column would not be constant any more.
        X[flag, i] = np.clip(observed.mean(), observed.min(), observed.max())


def constant_columns(X: FloatArray) -> BoolArray:
    """Which columns hold one value only.

    Examples
    --------
    >>> constant_columns(np.array([[1.0, 2.0], [1.0, 3.0]])).tolist()
    [True, False]
    """
    return X.min(axis=0) == X.max(axis=0)


def repeated_columns(X: FloatArray) -> list[tuple[int, int]]:
    """Columns that equal an earlier one.

    Returns
    -------
    list of (int, int)
        A column, and the first one that it repeats.

    Examples
    --------
    >>> repeated_columns(np.array([[1.0, 2.0, 1.0], [3.0, 2.0, 3.0]]))
    [(2, 0)]
    """
    # A sum of products modulo 2^64 does not depend on the order of summation, so equal columns have equal keys.
    keys = np.zeros(X.shape[1], dtype=np.uint64)
    weights = np.random.default_rng(0).integers(2**64, size=(len(X), 1), dtype=np.uint64)
    for start in range(0, len(X), _ROWS_AT_A_TIME):
        bits = (X[start : start + _ROWS_AT_A_TIME] + 0.0).view(np.uint64)  # + 0.0 gives 0 and -0 the same bits
        bits ^= bits >> np.uint64(32)  # the low bits of whole numbers are all zero, and products keep low bits only
        bits *= weights[start : start + _ROWS_AT_A_TIME]
        keys += bits.sum(axis=0, dtype=np.uint64)
    first: dict[int, int] = {}
    pairs = [(i, first.setdefault(int(key), i)) for i, key in enumerate(keys)]
    return [(i, j) for i, j in pairs if i != j and np.array_equal(X[:, i], X[:, j])]


def standard_deviations(X: FloatArray, names: tuple[str, ...]) -> FloatArray:
    """Of every column, about its mean; shape (M,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, squares = X.mean(axis=0), np.zeros(X.shape[1])
        for start in range(0, len(X), _ROWS_AT_A_TIME):
            block = X[start : start + _ROWS_AT_A_TIME] - mean
            block *= block
            squares += block.sum(axis=0)
    spread = np.sqrt(squares / len(X))
    useless = np.flatnonzero(~((spread > 0) & np.isfinite(spread)))
    if useless.size:
        raise DataError(
            f"the standard deviation of {listed(names[i] for i in useless)} is beyond the range of floats; rescale "
            "these columns, or leave them out with drop=[...]"
        )
    return spread

"""What is done to a table before it is used: missing and infinite values, constant and repeated columns, scale."""

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from subridge.arrays.types import BoolArray, FloatArray, IntArray
from subridge.datasets.tables.sources import RawTable
from subridge.datasets.tables.targets import missing_targets
from subridge.model.checks import agreeing, counted, listed
from subridge.model.errors import DataError

Missing: TypeAlias = Literal["error", "drop", "mean"]
Unlabelled: TypeAlias = Literal["error", "drop"]

# Fewer rows say next to nothing about a covariance or a residual.
LEAST_ROWS = 20

# Rows or columns of a large table that are copied at a time.
_BLOCK = 64


def labelled(raw: RawTable, unlabelled: Unlabelled) -> RawTable:
    """Without rows that have no target, where that is asked for."""
    n, without_target = len(raw.X), missing_targets(raw.target)
    if not without_target.any():
        return raw
    if unlabelled == "error":
        raise DataError(
            f"the target is missing in {counted(int(without_target.sum()), 'row')} of {n}; "
            "unlabelled='drop' leaves them out, as missing='drop' does with every gap"
        )
    return raw.of_rows(~without_target, f"dropped {without_target.sum():,} of {counted(n, 'row')} without target")


def complete(raw: RawTable, missing: Missing) -> RawTable:
    """Without missing values, and with enough rows."""
    n, without_target = len(raw.X), missing_targets(raw.target)
    places, cells = _gaps(raw)
    if missing == "error" and places.size:
        where = listed(f"{raw.feature_names[i]} ({count})" for i, count in zip(places, cells.sum(axis=0), strict=True))
        raise DataError(
            f"{counted(int(cells.sum()), 'cell')} missing in {counted(len(places), 'column')}: {where}; missing='drop' "
            "leaves out their rows, missing='mean' fills in column means, drop=[...] leaves out columns"
        )
    empty = places[cells.all(axis=0)]
    if empty.size and n:
        is_empty = np.isin(np.arange(raw.X.shape[1]), empty)
        raw = raw.without_features(is_empty, f"{counted(len(empty), 'column')} without any value")
        places, cells = _gaps(raw)
    lost = without_target | cells.any(axis=1)
    if missing == "drop" and lost.any():
        raw = raw.of_rows(~lost, f"dropped {lost.sum():,} of {counted(n, 'row')} with missing values")
    elif places.size:
        raw = _filled(raw, places, int(cells.sum()))
    if len(raw.X) < LEAST_ROWS:
        dropped = f" ({n - len(raw.X)} of {n} were dropped for missing values)" if len(raw.X) < n else ""
        raise DataError(f"a pilot needs at least {LEAST_ROWS} rows, got {len(raw.X)}{dropped}; bring more data")
    return raw


def varying(raw: RawTable) -> RawTable:
    """Without constant columns, and with a note on repeated ones.

    A column is constant when all its values are equal. VarianceThreshold of scikit-learn asks whether the variance is
    zero, which it also is for small numbers whose squares vanish.
    """
    constant = raw.X.min(axis=0) == raw.X.max(axis=0)
    if constant.any():
        raw = raw.without_features(constant, counted(int(constant.sum()), "constant column"))
    if not raw.feature_names:
        told = f" ({'; '.join(raw.notes)})" if raw.notes else ""
        raise DataError(f"no features are left{told}; bring columns of numbers that vary")
    pairs = repeated_columns(raw.X)
    if not pairs:
        return raw
    equal = listed(f"{raw.feature_names[i]} = {raw.feature_names[j]}" for i, j in pairs)
    shares = agreeing(len(pairs), "shares", "share")
    note = f"kept {counted(len(pairs), 'column')} equal to another, which {shares} its weight: {equal}"
    return replace(raw, notes=(*raw.notes, note))


def repeated_columns(X: FloatArray) -> list[tuple[int, int]]:
    """Columns that equal an earlier one, each with the first one that it repeats."""
    first: dict[int, int] = {}
    pairs = []
    for block in gen_batches(X.shape[1], _BLOCK):
        columns = np.ascontiguousarray(X[:, block].T) + 0.0  # + 0.0 gives 0 and -0 the same bytes
        pairs += [(i, first.setdefault(hash(column.tobytes()), i)) for i, column in enumerate(columns, block.start)]
    return [(i, j) for i, j in pairs if i != j and np.array_equal(X[:, i], X[:, j])]


def standardised(raw: RawTable) -> RawTable:
    """Every feature divided by its standard deviation."""
    scaler = StandardScaler()
    with np.errstate(over="ignore", invalid="ignore"):
        for block in gen_batches(len(raw.X), _BLOCK):
            scaler.partial_fit(raw.X[block])
    spread = np.sqrt(scaler.var_)
    useless = np.flatnonzero(~((spread > 0) & np.isfinite(spread)))
    if useless.size:
        raise DataError(
            f"the standard deviation of {listed(raw.feature_names[i] for i in useless)} is beyond the range of floats; "
            "rescale these columns, or leave them out with drop=[...]"
        )
    X = np.divide(raw.X, spread, out=raw.X if raw.owned else None)
    note = "divided every feature by its standard deviation; standardise=False leaves them as they are"
    return raw.with_features(X, note)


def _gaps(raw: RawTable) -> tuple[IntArray, BoolArray]:
    """Columns with missing values, and where they lack them, shape (n, columns); infinite values are an error."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum with NaN or infinity in it is never finite: this finds the columns to look at without a table of flags.
        suspects = np.flatnonzero(~np.isfinite(raw.X.sum(axis=0)))
    values = raw.X[:, suspects]
    infinite = suspects[np.isinf(values).any(axis=0)]
    if infinite.size:
        raise DataError(
            f"infinite values in {counted(len(infinite), 'column')}: {listed(raw.feature_names[i] for i in infinite)}; "
            "correct them, or leave the columns out with drop=[...]"
        )
    cells = np.isnan(values)
    some = cells.any(axis=0)
    return suspects[some], cells[:, some]


def _filled(raw: RawTable, places: IntArray, n_cells: int) -> RawTable:
    """With the mean of a column's observed values where it has none."""
    X = raw.X if raw.owned else raw.X.copy()
    gaps = X[:, places]
    # A mean can round past the values it is taken of, and a constant column would not be constant any more.
    X[:, places] = np.clip(SimpleImputer().fit_transform(gaps), np.nanmin(gaps, axis=0), np.nanmax(gaps, axis=0))
    note = (
        f"filled {counted(n_cells, 'missing cell')} in {counted(len(places), 'column')} with column means, which any "
        f"forecast takes for data: {listed(raw.feature_names[i] for i in places)}"
    )
    return raw.with_features(X, note)

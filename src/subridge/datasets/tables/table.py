"""A user's own table as features and targets, with a note on everything that was done to it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.datasets.tables.columns import counted, is_frame, listed
from subridge.datasets.tables.files import read_path
from subridge.datasets.tables.sources import RawTable, read_frame, read_pair
from subridge.datasets.tables.targets import class_targets, missing_targets, number_targets
from subridge.datasets.tables.treatments import (
    constant_columns,
    fill_means,
    missing_cells,
    refuse_missing,
    repeated_columns,
    standard_deviations,
)
from subridge.spec.errors import DataError, ParameterError

# Fewer rows say next to nothing about a covariance or a residual.
LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Table:
    """Features and targets of a sample.

    Attributes
    ----------
    X : ndarray, shape (n, M)
        float64 by rows; finite, and no column constant. The caller's own array where nothing had to be changed.
    targets : ndarray, shape (C, n)
        The target, or one row per target; for classes one row each, 1 for its members and 0 for the others.
    feature_names : tuple of str
    class_names : tuple of str or None
        In the order of ``targets``; None for regression.
    notes : tuple of str
        One sentence per treatment.
    """

    X: FloatArray
    targets: FloatArray
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def y(self) -> np.ndarray:
        """As scikit-learn has it: numbers, shape (n,) or (n, C); or positions in ``class_names``, shape (n,)."""
        if self.class_names is not None:
            return self.targets.argmax(axis=0)
        return self.targets[0] if len(self.targets) == 1 else self.targets.T

    @property
    def n_samples(self) -> int:
        """n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """M."""
        return int(self.X.shape[1])


def read_table(
    source: Any,
    target: Any = None,
    *,
    drop: Iterable[Any] = (),
    missing: Literal["error", "drop", "mean"] = "error",
    task: Literal["auto", "classification", "regression"] = "auto",
    standardise: bool = False,
) -> Table:
    """Read a table and make it fit for use.

    Constant columns are left out, since nothing of them remains after centring; repeated ones are kept, since ridge
    regression shares the weight among them. The notes of the result tell.

    Parameters
    ----------
    source : DataFrame, pair of arrays or path
        A DataFrame of pandas or polars; a pair (X, y) of shapes (n, M) and (n,) or (n, C); or a path that ends in
        .csv, .tsv, .parquet, .npz (arrays ``X`` and ``y``, and ``feature_names`` if there) or .zarr (a store of
        `subridge features`, of which the training images are taken, or a group with arrays ``X`` and ``y``).
    target : str or sequence of str, optional
        The column to predict, required for frames and their files; several columns of numbers for several regressions.
        In .npz and .zarr the array to take in place of ``y``.
    drop : iterable of str
        Columns to leave out. Features without names are called x0, x1, and so on.
    missing : {"error", "drop", "mean"}
        What to do about missing features: refuse, leave out their rows, or put in the mean of the column's observed
        values. A row without target is left out by "drop" and refused otherwise.
    task : {"auto", "classification", "regression"}
        "auto" takes strings, categories and booleans for classes and numbers for numbers.
    standardise : bool
        Divide every feature by its standard deviation.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        When the data cannot be used as they are; the message says what to do.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 3)) * [1, 1, 0]
    >>> table = read_table((X, np.where(X[:, 0] > 0, "up", "down")))
    >>> table.X.shape, table.targets.shape, table.class_names
    ((30, 2), (2, 30), ('down', 'up'))
    >>> table.notes
    ('dropped 1 constant column: x2',)
    """
    _one_of("missing", missing, ("error", "drop", "mean"))
    _one_of("task", task, ("auto", "classification", "regression"))
    drop = [drop] if isinstance(drop, str) else list(drop)
    if is_frame(source):
        raw = read_frame(source, target, drop)
    elif isinstance(source, str | Path):
        raw = read_path(Path(source), target, drop)
    elif isinstance(source, tuple | list) and len(source) == 2:
        if target is not None:
            raise DataError(f"a pair (X, y) has its target in y, got target={target!r} as well; leave target out")
        raw = read_pair(*source, drop)
    else:
        raise DataError(
            f"source must be a DataFrame of pandas or polars, a pair (X, y) or a path, got {type(source).__name__}"
        )
    raw = _without_constants(_complete(raw, missing))
    targets, class_names, notes = (number_targets if _is_regression(raw, task) else class_targets)(raw.target, task)
    raw = replace(raw, notes=raw.notes + notes)
    if standardise:
        raw = _standardised(raw)
    return Table(raw.X, targets, raw.feature_names, class_names, raw.notes)


def _one_of(argument: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"{argument} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def _is_regression(raw: RawTable, task: str) -> bool:
    return raw.target.dtype != object if task == "auto" else task == "regression"


def _complete(raw: RawTable, missing: str) -> RawTable:
    """Without missing values, and with enough rows."""
    without_target = missing_targets(raw.target)
    if without_target.any() and missing != "drop":
        raise DataError(
            f"the target is missing in {counted(int(without_target.sum()), 'row')} of {len(without_target)}; "
            "missing='drop' leaves them out"
        )
    n = len(raw.X)
    cells = missing_cells(raw.X, raw.feature_names)
    if missing == "error":
        refuse_missing(cells, raw.feature_names)
    empty = [i for i, flag in cells.items() if flag.all()]
    if empty and n:
        raw = _without(raw, np.isin(np.arange(raw.X.shape[1]), empty), "without any value")
        cells = missing_cells(raw.X, raw.feature_names)
    lost = without_target.copy()
    if missing == "drop":
        for flag in cells.values():
            lost |= flag
        if lost.any():
            note = f"dropped {lost.sum()} of {n} rows with missing values"
            raw = replace(raw, X=raw.X[~lost], owned=True, target=raw.target[~lost], notes=(*raw.notes, note))
    elif cells:
        X = raw.X if raw.owned else raw.X.copy()
        fill_means(X, cells)
        total = sum(int(flag.sum()) for flag in cells.values())
        note = (
            f"filled {counted(total, 'missing cell')} in {counted(len(cells), 'column')} with column means, which any "
            f"forecast takes for data: {listed(raw.feature_names[i] for i in cells)}"
        )
        raw = replace(raw, X=X, owned=True, notes=(*raw.notes, note))
    if len(raw.X) < LEAST_ROWS:
        dropped = f" ({lost.sum()} of {n} were dropped for missing values)" if lost.any() else ""
        raise DataError(f"a pilot needs at least {LEAST_ROWS} rows, got {len(raw.X)}{dropped}; bring more data")
    return raw


def _without_constants(raw: RawTable) -> RawTable:
    """Without constant columns, and with a note on repeated ones."""
    constant = constant_columns(raw.X)
    if constant.any():
        raw = _without(raw, constant, "constant")
    if not raw.feature_names:
        told = f" ({'; '.join(raw.notes)})" if raw.notes else ""
        raise DataError(f"no features are left{told}; bring columns of numbers that vary")
    pairs = repeated_columns(raw.X)
    if not pairs:
        return raw
    equal = listed(f"{raw.feature_names[i]} = {raw.feature_names[j]}" for i, j in pairs)
    note = f"kept {counted(len(pairs), 'column')} equal to another, which share its weight: {equal}"
    return replace(raw, notes=(*raw.notes, note))


def _without(raw: RawTable, which: Any, why: str) -> RawTable:
    names = np.array(raw.feature_names, dtype=object)
    count = int(which.sum())
    what = counted(count, f"{why} column") if why == "constant" else f"{counted(count, 'column')} {why}"
    note = f"dropped {what}: {listed(names[which])}"
    return replace(
        raw, X=raw.X.compress(~which, axis=1), owned=True, feature_names=tuple(names[~which]), notes=(*raw.notes, note)
    )


def _standardised(raw: RawTable) -> RawTable:
    spread = standard_deviations(raw.X, raw.feature_names)
    X = np.divide(raw.X, spread, out=raw.X if raw.owned else None)
    return replace(raw, X=X, owned=True, notes=(*raw.notes, "divided every feature by its standard deviation"))

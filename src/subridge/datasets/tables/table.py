"""A user's own table as features and targets, with a note on everything that was done to it."""

from codecs import lookup
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from narwhals.typing import IntoDataFrame
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.datasets.tables.columns import Categories, Dates, Features, is_frame, open_frame, position, read_features
from subridge.datasets.tables.files import ColumnName, TargetName, TextFormat, read_file
from subridge.datasets.tables.targets import Target, TargetLike, Task, missing_targets, read_target, target_rows
from subridge.spec.checks import items_of
from subridge.spec.errors import DataError, ParameterError
from subridge.spec.wording import agreeing, counted, listed

Source: TypeAlias = IntoDataFrame | tuple[ArrayLike | IntoDataFrame, TargetLike] | str | Path
Missing: TypeAlias = Literal["error", "drop", "mean"]
Unlabelled: TypeAlias = Literal["error", "drop"]

LEAST_ROWS = 20  # fewer rows say next to nothing about a covariance or a residual
_ROWS, _COLUMNS = 4096, 64  # of a large table that are looked at together


@dataclass(frozen=True, eq=False)
class Table:
    """Features and targets of a sample.

    Attributes
    ----------
    X : ndarray, shape (n, M)
        float64 by rows; finite, no column constant. The caller's own array if nothing had to be changed.
    targets : ndarray, shape (C, n)
        The target, or one row per target; for classes one row each, 1 for its members and 0 for the others.
    feature_names : tuple of str
        Of the columns of X.
    class_names : tuple of str or None
        In the order of ``targets``; None for regression.
    notes : tuple of str
        One sentence per treatment.
    groups : ndarray of int or None
        The number of every row's group, shape (n,), where a column of groups was named.

    See Also
    --------
    read_table : makes one.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> table = sr.datasets.read_table((np.random.default_rng(0).standard_normal((30, 2)), ["a", "b"] * 15))
    >>> isinstance(table, Table), table.n_samples, table.n_features
    (True, 30, 2)
    >>> table.y[:4], table.class_names
    (array([0, 1, 0, 1]), ('a', 'b'))
    """

    X: FloatArray
    targets: FloatArray
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    groups: IntArray | None = None

    @property
    def y(self) -> FloatArray | IntArray:
        """What scikit-learn calls y: numbers, shape (n,) or (n, C); or positions in ``class_names``, shape (n,)."""
        if self.class_names is not None:
            codes: IntArray = self.targets.argmax(axis=0)
            return codes
        return self.targets[0] if len(self.targets) == 1 else self.targets.T

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, M."""
        return int(self.X.shape[1])


def read_table(
    source: Source,
    target: TargetName | None = None,
    *,
    drop: Iterable[ColumnName] = (),
    missing: Missing = "error",
    task: Task = "auto",
    standardise: bool = False,
    unlabelled: Unlabelled = "error",
    categories: Categories = "error",
    dates: Dates = "error",
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    missing_values: Iterable[str] = (),
    groups: ColumnName | None = None,
) -> Table:
    """Read a table and make it fit for use.

    Constant columns are dropped, because nothing of them remains after centring. Repeated columns are kept, because
    ridge regression shares the weight among them. The notes of the result say what was done.

    Parameters
    ----------
    source : DataFrame, pair of arrays or path
        A DataFrame of pandas, polars or another library that narwhals reads; a pair (X, y) of shapes (n, M)
        and (n,) or (n, C); or a path that ends in .csv, .tsv, .txt (also with .gz), .parquet (needs pyarrow), .npz
        (arrays ``X`` and ``y``, and ``feature_names`` if there) or .zarr (a group with arrays ``X`` and ``y``, or a
        store of `subridge features`, of which the training images are taken).
    target : str or sequence of str, optional
        The column to predict, required for frames and their files; several columns of numbers for several regressions.
        In .npz and .zarr the array to take in place of ``y``.
    drop : iterable of str
        Columns to leave out. Features without names are called x0, x1, and so on.
    missing : {"error", "drop", "mean"}
        What to do about missing features: refuse, drop their rows, or fill in the mean of the column.
    task : {"auto", "classification", "regression"}
        "auto" takes strings, categories and booleans for classes and numbers for numbers.
    standardise : bool
        Divide every feature by its standard deviation.
    unlabelled : {"error", "drop"}
        Rows without target: refuse, or drop; ``missing="drop"`` drops them too.
    categories : {"error", "one-hot"}
        Columns of text or categories: refuse, or make a column of 0 and 1 for every value.
    dates : {"error", "days"}
        Columns of dates: refuse, or count the days since the first.
    separator, decimal, encoding : str
        Form of a file of text: what stands between cells (default by its ending), the decimal sign ("." or ","), and
        its encoding.
    missing_values : iterable of str
        What else stands for a missing value in a file of text, for example "?".
    groups : str, optional
        The column that says to which group a row belongs, such as a subject; it is not a feature. In .npz and .zarr an
        array.

    Returns
    -------
    Table
        Features and targets that are finite numbers, and notes on what was done to them.

    Raises
    ------
    DataError
        If the data cannot be used as they are; the message says what to do.
    ParameterError
        If an option has a value that does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 3)) * [1, 1, 0]
    >>> table = read_table((X, np.where(X[:, 0] > 0, "up", "down")))
    >>> table.X.shape, table.targets.shape, table.class_names
    ((30, 2), (2, 30), ('down', 'up'))
    >>> table.notes
    ('dropped 1 constant column: x2',)
    """
    for argument, value, choices in (
        ("missing", missing, get_args(Missing)),
        ("task", task, get_args(Task)),
        ("unlabelled", unlabelled, get_args(Unlabelled)),
        ("categories", categories, get_args(Categories)),
        ("dates", dates, get_args(Dates)),
        ("decimal", decimal, (".", ",")),
    ):
        if not isinstance(value, str) or value not in choices:
            raise ParameterError(f"{argument} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    if (
        separator is not None
        and separator not in ("tab", "\\t")
        and (not isinstance(separator, str) or len(separator) != 1)
    ):
        raise ParameterError(f"separator must be one character, or 'tab', got {separator!r}")
    if separator == decimal:
        raise ParameterError(f"separator and decimal are both {decimal!r}; they must differ")
    try:
        lookup(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError(f"encoding must be one that Python knows, such as 'latin-1', got {encoding!r}") from error
    gaps = [missing_values] if isinstance(missing_values, str) else items_of("missing_values", missing_values)
    if not all(isinstance(text, str) for text in gaps):
        raise ParameterError(f"missing_values must be text, got {missing_values!r}")
    raw = _read(
        source,
        target,
        [drop] if isinstance(drop, str) else items_of("drop", drop),
        groups,
        TextFormat("\t" if separator in ("tab", "\\t") else separator, decimal, encoding, tuple(gaps)),
        partial(read_features, categories=categories, dates=dates),
    )
    _treat_missing(raw, missing, unlabelled)
    _treat_constant(raw)
    if raw.groups is not None:
        if lacking := int((raw.groups < 0).sum()):
            raise DataError(
                f"groups must name the group of every row, but {str(groups)!r} lacks {lacking} of {len(raw.X)}; "
                "fill it in"
            )
        if len(np.unique(raw.groups)) < 2:
            raise DataError(
                f"groups must differ, but {str(groups)!r} is the same in all rows; name one with several groups"
            )
    targets = target_rows(raw.target, task)
    if standardise:
        _standardise(raw)
    notes = (*raw.notes, *targets.notes)
    return Table(raw.X, targets.rows, tuple(raw.names), targets.class_names, notes, raw.groups)


@dataclass
class _RawTable:
    """A table before its treatment: X with NaN where missing, groups numbered from 0 with -1 where missing."""

    X: FloatArray
    is_own: bool  # X may be changed in place; otherwise it is the caller's array
    names: Sequence[str]
    target: Target
    groups: IntArray | None
    notes: list[str]

    def keep_rows(self, kept: BoolArray, note: str) -> None:
        self.X, self.target, self.is_own = self.X[kept], self.target[kept], True
        self.groups = None if self.groups is None else self.groups[kept]
        self.notes.append(note)

    def drop_columns(self, dropped: BoolArray, what: str) -> None:
        names = np.array(self.names, dtype=object)
        self.X, self.names, self.is_own = self.X.compress(~dropped, axis=1), tuple(names[~dropped]), True
        self.notes.append(f"dropped {what}: {listed(names[dropped])}")


def _read(
    source: Source,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    groups: ColumnName | None,
    text: TextFormat,
    read_columns: Callable[[pd.DataFrame], Features],
) -> _RawTable:
    """Any source as features and target, before any treatment."""
    if isinstance(source, str | Path):
        found, notes = read_file(Path(source), target, groups, text)
        if isinstance(found, pd.DataFrame):
            raw = _read_frame(found, target, drop, groups, read_columns)
        else:
            raw = _read_pair(found["X"], found["y"], drop, found.get("feature_names"), read_columns)
            raw.is_own = True  # nobody else holds what was read from disk
            raw.groups = pd.factorize(found["groups"])[0] if "groups" in found else None
        raw.notes[:0] = notes
        return raw
    if is_frame(source):
        return _read_frame(source, target, drop, groups, read_columns)
    if not isinstance(source, tuple | list) or len(source) != 2:
        raise DataError(
            f"source must be a DataFrame of pandas or polars, a pair (X, y) or a path, got {type(source).__name__}"
        )
    if groups is not None:
        raise DataError(f"groups={groups!r} names a column, which a pair (X, y) has not; give forecast the labels")
    if target is not None:
        raise DataError(f"a pair (X, y) has its target in y, got target={target!r} as well; leave target out")
    return _read_pair(*source, drop, None, read_columns)


def _read_frame(
    native: IntoDataFrame,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    groups: ColumnName | None,
    read_columns: Callable[[pd.DataFrame], Features],
) -> _RawTable:
    """A data frame: one column or several are the target, one may name groups, the others are features."""
    frame = open_frame(native)
    names = list(frame.columns)
    if target is None:
        raise DataError(f"target is missing: name the column to predict, one of {listed(names)}")
    wanted = [target] if isinstance(target, str | int) else list(target)
    if not wanted or len(set(map(str, wanted))) < len(wanted):
        raise DataError(f"target must be a column, or several that differ, got {target!r}")
    targets = [names[position(name, names, "target")] for name in wanted]
    kept, notes = _kept(names, drop)
    if not set(targets) <= {names[place] for place in kept}:
        raise DataError(f"drop contains the target {target!r}; take it out of one of them")
    labels = None if groups is None else names[position(groups, names, "groups")]
    if labels in targets:
        raise DataError(f"groups {labels!r} is the target; name the column that says whose row it is")
    features = frame.iloc[:, kept].drop(columns=[*targets, labels], errors="ignore")
    X, features_names, more = read_columns(features)
    numbers = None if labels is None else pd.factorize(frame[labels])[0]
    return _RawTable(X, True, features_names, read_target(frame[targets]), numbers, [*notes, *more])


def _read_pair(
    X: ArrayLike | IntoDataFrame,
    y: TargetLike,
    drop: Sequence[ColumnName],
    names: Iterable[str] | None,
    read_columns: Callable[[pd.DataFrame], Features],
) -> _RawTable:
    """Features, an array or a frame of shape (n, M), and a target of shape (n,) or (n, C)."""
    target = read_target(y)
    if is_frame(X):
        frame = open_frame(X)
        kept, notes = _kept(list(frame.columns), drop)
        features, names, more = read_columns(frame.iloc[:, kept])
        raw = _RawTable(features, True, names, target, None, [*notes, *more])
    else:
        array = np.asanyarray(X)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise DataError(
                f"X must be a dense array of numbers of shape (n, number of features), got shape {array.shape} of type "
                f"{array.dtype}"
            )
        names = [f"x{i}" for i in range(array.shape[1])] if names is None else [str(name) for name in names]
        if len(names) != array.shape[1]:
            raise DataError(
                f"feature_names has {counted(len(names), 'entry', 'entries')}, "
                f"but X has {counted(array.shape[1], 'column')}"
            )
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(np.float64), np.nan)
        kept, notes = _kept(names, drop)
        features = np.ascontiguousarray(array.take(kept, axis=1) if drop else array, dtype=np.float64)
        is_own = not np.may_share_memory(features, array)
        raw = _RawTable(features, is_own, [names[place] for place in kept], target, None, notes)
    if len(raw.X) != len(target):
        raise DataError(f"X has {counted(len(raw.X), 'row')} but y has {len(target):,}; give one target per row")
    return raw


def _kept(names: Sequence[str], drop: Sequence[ColumnName]) -> tuple[list[int], list[str]]:
    """Places of the columns that are not dropped, and a note."""
    dropped = {position(name, names, "drop") for name in drop}
    note = f"left out {counted(len(drop), 'column')} as asked: {listed(drop)}"
    return [place for place in range(len(names)) if place not in dropped], [note] if drop else []


def _treat_missing(raw: _RawTable, missing: Missing, unlabelled: Unlabelled) -> None:
    """Refuse, drop or fill gaps, and see that enough rows are left."""
    n, without_target = len(raw.X), missing_targets(raw.target)
    if missing != "drop" and without_target.any():
        if unlabelled == "error":
            raise DataError(
                f"the target is missing in {counted(int(without_target.sum()), 'row')} of {n}; "
                "unlabelled='drop' leaves them out, as missing='drop' does with every gap"
            )
        raw.keep_rows(~without_target, f"dropped {without_target.sum():,} of {counted(n, 'row')} without target")
        without_target = without_target[~without_target]
    n_labelled, (places, cells) = len(raw.X), _gaps(raw)
    if missing == "error" and places.size:
        where = listed(f"{raw.names[i]} ({count})" for i, count in zip(places, cells.sum(axis=0), strict=True))
        raise DataError(
            f"{counted(int(cells.sum()), 'cell')} missing in {counted(len(places), 'column')}: {where}; missing='drop' "
            "leaves out their rows, missing='mean' fills in column means, drop=[...] leaves out columns"
        )
    empty = places[cells.all(axis=0)]
    if empty.size and n_labelled:
        is_empty = np.isin(np.arange(raw.X.shape[1]), empty)
        raw.drop_columns(is_empty, f"{counted(len(empty), 'column')} without any value")
        places, cells = _gaps(raw)
    lost = cells.any(axis=1) | without_target
    if missing == "drop" and lost.any():
        raw.keep_rows(~lost, f"dropped {lost.sum():,} of {counted(n, 'row')} with missing values")
    elif places.size:
        raw.X, raw.is_own = raw.X if raw.is_own else raw.X.copy(), True
        gaps = raw.X[:, places]
        # A mean can round past the values it is taken of, and a constant column would not be constant any more.
        filled = SimpleImputer().fit_transform(gaps)
        raw.X[:, places] = np.clip(filled, np.nanmin(gaps, axis=0), np.nanmax(gaps, axis=0))
        raw.notes.append(
            f"filled {counted(int(cells.sum()), 'missing cell')} in {counted(len(places), 'column')} with column "
            f"means, which a forecast takes for data: {listed(raw.names[i] for i in places)}"
        )
    if len(raw.X) < LEAST_ROWS:
        dropped = n_labelled - len(raw.X)
        told = f" ({dropped} of {n_labelled} were dropped for missing values)" if dropped else ""
        raise DataError(f"a pilot needs at least {LEAST_ROWS} rows, got {len(raw.X)}{told}; bring more data")


def _gaps(raw: _RawTable) -> tuple[IntArray, BoolArray]:
    """Columns with missing values, and where they miss them, shape (n, columns); infinite values are an error."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum with NaN or infinity in it is not finite: this finds the columns to look at without a table of flags.
        suspects = np.flatnonzero(~np.isfinite(raw.X.sum(axis=0)))
    values = raw.X[:, suspects]
    infinite = suspects[np.isinf(values).any(axis=0)]
    if infinite.size:
        raise DataError(
            f"infinite values in {counted(len(infinite), 'column')}: {listed(raw.names[i] for i in infinite)}; "
            "correct them, or leave the columns out with drop=[...]"
        )
    cells = np.isnan(values)
    some = cells.any(axis=0)
    return suspects[some], cells[:, some]


def _treat_constant(raw: _RawTable) -> None:
    """Drop constant columns, and note repeated ones.

    VarianceThreshold of scikit-learn asks whether the variance is zero, which it also is for small numbers whose
    squares vanish.
    """
    constant = raw.X.min(axis=0) == raw.X.max(axis=0)
    if constant.any():
        raw.drop_columns(constant, counted(int(constant.sum()), "constant column"))
    if not len(raw.names):
        told = f" ({'; '.join(raw.notes)})" if raw.notes else ""
        raise DataError(f"no features are left{told}; bring columns of numbers that vary")
    pairs = repeated_columns(raw.X)
    if pairs:
        equal = listed(f"{raw.names[i]} = {raw.names[j]}" for i, j in pairs)
        shares = agreeing(len(pairs), "shares", "share")
        raw.notes.append(f"kept {counted(len(pairs), 'column')} equal to another, which {shares} its weight: {equal}")


def repeated_columns(X: FloatArray) -> list[tuple[int, int]]:
    """Columns that equal an earlier one, each with the first one that it repeats."""
    first: dict[int, int] = {}
    pairs = []
    for block in gen_batches(X.shape[1], _COLUMNS):
        columns = np.ascontiguousarray(X[:, block].T) + 0.0  # + 0.0 gives 0 and -0 the same bytes
        pairs += [(i, first.setdefault(hash(column.tobytes()), i)) for i, column in enumerate(columns, block.start)]
    return [(i, j) for i, j in pairs if i != j and np.array_equal(X[:, i], X[:, j])]


def _standardise(raw: _RawTable) -> None:
    """Divide every feature by its standard deviation."""
    scaler = StandardScaler()
    with np.errstate(over="ignore", invalid="ignore"):
        for block in gen_batches(len(raw.X), _ROWS):
            scaler.partial_fit(raw.X[block])
    spread = np.sqrt(scaler.var_)
    useless = np.flatnonzero(~((spread > 0) & np.isfinite(spread)))
    if useless.size:
        raise DataError(
            f"the standard deviation of {listed(raw.names[int(i)] for i in useless)} is beyond the range of floats; "
            "rescale these columns, or leave them out with drop=[...]"
        )
    raw.X = np.divide(raw.X, spread, out=raw.X if raw.is_own else None)
    raw.notes.append("divided every feature by its standard deviation; standardise=False leaves them as they are")

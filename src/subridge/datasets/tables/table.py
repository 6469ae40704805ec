"""A user's own table as features and targets, with a note on everything that was done to it."""

from codecs import lookup
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from narwhals.typing import IntoDataFrame

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.datasets.tables.columns import (
    Categories,
    Dates,
    frame_of_array,
    is_frame,
    open_frame,
    position,
    read_features,
    require,
)
from subridge.datasets.tables.files import ColumnName, TargetName, TextOptions, read_file
from subridge.datasets.tables.targets import LEAST_ROWS, TargetLike, Task, missing_targets, read_target, target_rows
from subridge.model.checks import items_of
from subridge.model.errors import DataError, ParameterError, agreeing, counted, listed

Source: TypeAlias = IntoDataFrame | tuple[ArrayLike | IntoDataFrame, TargetLike] | str | Path
Missing: TypeAlias = Literal["error", "drop", "mean"]
Unlabelled: TypeAlias = Literal["error", "drop"]


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
    if isinstance(separator, str) and separator in ("tab", "\\t"):
        separator = "\t"
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1):
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
    options = {"sep": separator, "decimal": decimal, "encoding": encoding, "na_values": gaps}
    dropped = [drop] if isinstance(drop, str) else items_of("drop", drop)
    frame, y, labels, notes = _read(source, target, dropped, groups, options)
    features, encoded = read_features(frame, categories, dates)
    notes += encoded
    goal, numbers = read_target(y), None if labels is None else pd.factorize(labels)[0]
    told = f"X has {counted(len(features), 'row')} but y has {len(goal):,}; give one target per row"
    require(len(goal) == len(features), told)
    features = _without_gaps(features, missing_targets(goal), missing, unlabelled, notes)
    goal, kept = goal[features.index], features.index
    features = _without_constants(features, notes)
    if numbers is not None:
        numbers = numbers[kept]
        lacking, by = int((numbers < 0).sum()), repr(str(groups))
        require(
            not lacking, f"groups must name the group of every row, but {by} lacks {lacking} of {len(goal)}; fill it in"
        )
        differ = (numbers != numbers[0]).any()
        require(differ, f"groups must differ, but {by} is the same in all rows; name one with several groups")
    targets = target_rows(goal, task)
    X = np.ascontiguousarray(features.to_numpy())
    with suppress(ValueError):  # pandas hands out views that cannot be written; a caller's array may be so itself
        X.setflags(write=True)
    if standardise:
        with np.errstate(over="ignore", invalid="ignore"):
            spread = X.std(axis=0)
        useless = listed(features.columns[~((spread > 0) & (spread < np.inf))])
        require(
            not useless,
            f"the standard deviation of {useless} is beyond the range of floats; rescale these columns, or leave them "
            "out with drop=[...]",
        )
        X = X / spread
        notes.append("divided every feature by its standard deviation; standardise=False leaves them as they are")
    return Table(X, targets.rows, tuple(features.columns), targets.class_names, (*notes, *targets.notes), numbers)


def _read(
    source: Source,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    groups: ColumnName | None,
    options: TextOptions,
) -> tuple[pd.DataFrame, TargetLike, ArrayLike | None, list[str]]:
    """Columns of features, the target, labels of groups, and notes, from any source."""
    labels, is_file = None, isinstance(source, str | Path)
    notes: list[str] = []
    if isinstance(source, str | Path):
        source, labels, notes = read_file(Path(source), target, groups, options)
    targets, taken = [], []
    if is_frame(source):
        frame = open_frame(source)
        names = list(frame.columns)
        if target is None:
            raise DataError(f"target is missing: name the column to predict, one of {listed(names)}")
        wanted = [target] if isinstance(target, str | int) else list(target)
        targets = taken = list(dict.fromkeys(names[position(name, names, "target")] for name in wanted))
        differ = 0 < len(wanted) == len(targets)
        require(differ, f"target must be a column, or several that differ, got {target!r}")
        if groups is not None:
            by = names[position(groups, names, "groups")]
            require(by not in targets, f"groups {by!r} is the target; name the column that says whose row it is")
            labels, taken = frame[by], [*targets, by]
        y = frame[targets]
    elif isinstance(source, tuple | list) and len(source) == 2:
        told = "a pair (X, y) has its target in y and no column of groups; leave target and groups out"
        require(is_file or target is None is groups, told)
        X, y = source
        frame = open_frame(X) if is_frame(X) else frame_of_array(X)
        names = list(frame.columns)
    else:
        raise DataError(
            f"source must be a DataFrame of pandas or polars, a pair (X, y) or a path, got {type(source).__name__}"
        )
    dropped = [position(name, names, "drop") for name in drop]
    if drop:
        notes.append(f"left out {counted(len(drop), 'column')} as asked: {listed(drop)}")
    has_target = any(names[place] in targets for place in dropped)
    require(not has_target, f"drop contains the target {target!r}; take it out of one of them")
    kept = [place for place, name in enumerate(names) if place not in dropped and name not in taken]
    return frame if len(kept) == len(names) else frame.iloc[:, kept], y, labels, notes


def _without_gaps(
    features: pd.DataFrame, unlabelled_rows: BoolArray, missing: Missing, unlabelled: Unlabelled, notes: list[str]
) -> pd.DataFrame:
    """Refuse, drop or fill missing values; the index of what is left has the numbers of the rows."""
    n, lacking = len(features), int(unlabelled_rows.sum())
    if lacking and missing != "drop":
        require(
            unlabelled == "drop",
            f"the target is missing in {counted(lacking, 'row')} of {n}; unlabelled='drop' leaves them out, as "
            "missing='drop' does with every gap",
        )
        notes.append(f"dropped {lacking:,} of {counted(n, 'row')} without target")
    features = features[~unlabelled_rows] if lacking else features
    infinite = _columns_where(np.isinf(features).any())
    require(
        not infinite,
        f"infinite values in {counted(len(infinite), 'column')}: {listed(infinite)}; correct them, or leave the "
        "columns out with drop=[...]",
    )
    gaps = features.isna().sum()
    gaps = gaps[gaps > 0]
    require(
        missing != "error" or gaps.empty,
        f"{counted(int(gaps.sum()), 'cell')} missing in {counted(len(gaps), 'column')}: "
        f"{listed(f'{name} ({count})' for name, count in gaps.items())}; missing='drop' leaves out their rows, "
        "missing='mean' fills in column means, drop=[...] leaves out columns",
    )
    if empty := _columns_where(gaps == len(features)):
        notes.append(f"dropped {counted(len(empty), 'column')} without any value: {listed(empty)}")
        features, gaps = features.drop(columns=empty), gaps.drop(empty)
    if missing == "drop":
        features = features.dropna() if len(gaps) else features
        if len(features) < n:
            notes.append(f"dropped {n - len(features):,} of {counted(n, 'row')} with missing values")
    elif len(gaps):
        # A mean can round past the values it is taken of, and a constant column would not be constant any more.
        features = features.fillna(features.mean().clip(features.min(), features.max()))
        notes.append(
            f"filled {counted(int(gaps.sum()), 'missing cell')} in {counted(len(gaps), 'column')} with column means, "
            f"which a forecast takes for data: {listed(gaps.index)}"
        )
    told = f" ({n - len(features)} of {n} were dropped for missing values)" if len(features) < n else ""
    few = f"a pilot needs at least {LEAST_ROWS} rows, got {len(features)}{told}; bring more data"
    require(len(features) >= LEAST_ROWS, few)
    return features


def _columns_where(chosen: "pd.Series[bool]") -> list[str]:
    return list(chosen.index[chosen])


def _without_constants(features: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Drop constant columns, and note repeated ones.

    VarianceThreshold of scikit-learn asks whether the variance is zero, which it also is for small numbers whose
    squares vanish.
    """
    if constant := _columns_where(features.min() == features.max()):
        notes.append(f"dropped {counted(len(constant), 'constant column')}: {listed(constant)}")
        features = features.drop(columns=constant)
    told = f" ({'; '.join(notes)})" if notes else ""
    require(not features.empty, f"no features are left{told}; bring columns of numbers that vary")
    if pairs := repeated_columns(features.to_numpy()):
        equal = listed(f"{features.columns[i]} = {features.columns[j]}" for i, j in pairs)
        shares = agreeing(len(pairs), "shares", "share")
        notes.append(f"kept {counted(len(pairs), 'column')} equal to another, which {shares} its weight: {equal}")
    return features


def repeated_columns(X: FloatArray) -> list[tuple[int, int]]:
    """Columns that equal an earlier one, each with the first one that it repeats."""
    first: dict[int, int] = {}
    columns = (hash((column + 0.0).tobytes()) for column in X.T)  # + 0.0 gives 0 and -0 the same bytes
    pairs = [(i, first.setdefault(column, i)) for i, column in enumerate(columns)]
    return [(i, j) for i, j in pairs if i != j and np.array_equal(X[:, i], X[:, j])]

"""A table as features and targets, with a note on everything that was done to it."""

from codecs import lookup
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from narwhals.dependencies import is_into_dataframe
from narwhals.typing import IntoDataFrame

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.datasets.tables.columns import Categories, Dates, frame_of_array, known_name, open_frame, read_features
from subridge.datasets.tables.files import ColumnName, TargetName, TextOptions, read_file
from subridge.datasets.tables.targets import LEAST_ROWS, TargetLike, Task, missing_targets, read_target, target_rows
from subridge.model.checks import items_of, one_of, truth
from subridge.model.errors import ParameterError, counted, listed, require

Source: TypeAlias = IntoDataFrame | tuple[ArrayLike | IntoDataFrame, TargetLike] | str | Path
Missing: TypeAlias = Literal["error", "drop", "mean"]
Unlabelled: TypeAlias = Literal["error", "drop"]


@dataclass(frozen=True, eq=False)
class Table:
    """Features and targets of a sample.

    Attributes
    ----------
    X : ndarray, shape (n, M)
        float64 in row order, finite, without constant columns. The caller's own array if nothing had to be changed.
    targets : ndarray, shape (C, n)
        One row per target, or one row per class with 1 for its samples and 0 for the others.
    feature_names : tuple of str
        Names of the columns of X.
    class_names : tuple of str or None
        Names of the classes, in the order of ``targets``; None for regression.
    notes : tuple of str
        What was done to the table, in one note for each step.
    groups : ndarray of int or None
        The number of the group of every row, shape (n,), if a column of groups was named.
    scales : ndarray, shape (M,), or None
        What the columns of X were divided by, if they were standardised.

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
    scales: FloatArray | None = None

    @property
    def y(self) -> FloatArray | IntArray:
        """What scikit-learn calls y: numbers, shape (n,) or (n, C); or positions in ``class_names``, shape (n,)."""
        if self.class_names is not None:
            return np.asarray(self.targets.argmax(axis=0))
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

    Constant columns are dropped, because they are zero after centring. Repeated columns are kept, because ridge
    regression shares the weight among them. The notes of the result say what was done.

    Parameters
    ----------
    source : DataFrame, pair of arrays or path
        A DataFrame of pandas, polars or another library that narwhals reads; a pair (X, y) of shapes (n, M) and (n,)
        or (n, C); or a path. A path ends in .csv, .tsv, .txt (also with .gz), .parquet (needs pyarrow), .npz or .zarr.
        An .npz file has arrays ``X`` and ``y``, and ``feature_names`` if there are any. A .zarr path is a group with
        arrays ``X`` and ``y``, or a store of `subridge features`, of which the training images are taken.
    target : str or sequence of str, optional
        The column to predict, required for frames and their files; several columns of numbers for several regressions.
        In .npz and .zarr the name of the array with the target, if it is not ``y``.
    drop : iterable of str
        Columns to leave out. Features without names are called x0, x1, and so on.
    missing : {"error", "drop", "mean"}
        What to do about missing features: refuse, drop their rows, or fill in the mean of the column.
    task : {"auto", "classification", "regression"}
        "auto" treats strings, categories and booleans as classes, and numbers as numbers.
    standardise : bool
        Divide every feature by its standard deviation.
    unlabelled : {"error", "drop"}
        Rows without a target: refuse, or drop. ``missing="drop"`` drops them too.
    categories : {"error", "one-hot"}
        Columns of text or categories: refuse, or make a column of 0 and 1 for every value.
    dates : {"error", "days"}
        Columns of dates, also those written as text: refuse, or count the days since the first.
    separator, decimal, encoding : str
        Format of a text file: the separator of cells (by default chosen by the suffix), the decimal sign ("." or ","),
        and the encoding.
    missing_values : iterable of str
        Further text that stands for a missing value in a text file, for example "?".
    groups : str, optional
        The column with the group of every row, such as a subject; it is not a feature. In .npz and .zarr the name of an
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
        If an option has no such value.

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
        one_of(argument, value, choices)
    try:
        lookup(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError(f"encoding must be one that Python knows, such as 'latin-1', got {encoding!r}") from error
    if isinstance(separator, str) and separator in ("tab", "\\t"):
        separator = "\t"
    require(
        separator is None or (isinstance(separator, str) and len(separator) == 1 and separator != decimal),
        f"separator must be one character other than the decimal sign {decimal!r}, or 'tab', got {separator!r}",
        ParameterError,
    )
    gaps = [missing_values] if isinstance(missing_values, str) else items_of("missing_values", missing_values)
    require(
        all(isinstance(each, str | int | float) for each in gaps),
        f"missing_values must be text or numbers, such as '?' or -999, got {missing_values!r}",
        ParameterError,
    )
    dropped = [drop] if isinstance(drop, str) else items_of("drop", drop)
    options = {"sep": separator, "decimal": decimal, "encoding": encoding, "na_values": gaps}
    notes: list[str] = []
    frame, y, labels = _read(source, target, dropped, groups, options, notes)
    features = read_features(frame, categories, dates, decimal, notes)
    goal = read_target(y)
    require(
        len(goal) == len(features),
        f"X has {counted(len(features), 'row')} but y has {len(goal):,}; give one target per row",
    )
    features = _treated(features, missing_targets(goal), missing, unlabelled, notes)
    numbers = None if labels is None else pd.factorize(labels)[0][features.index]
    lacking = 0 if numbers is None else int((numbers < 0).sum())
    require(
        not lacking,
        f"groups must name the group of every row, but {str(groups)!r} lacks {lacking} of {len(features)}; fill it in",
    )
    X = np.ascontiguousarray(features.to_numpy())
    with suppress(ValueError):  # views of pandas are read-only, and a caller's array may be
        X.setflags(write=True)
    scales = None
    if truth("standardise", standardise):
        with np.errstate(over="ignore", invalid="ignore"):
            scales = X.std(axis=0)
        useless = listed(features.columns[~((scales > 0) & (scales < np.inf))])
        require(
            not useless,
            f"the standard deviation of {useless} is beyond the range of floats; rescale these columns, or leave them "
            "out with drop=[...]",
        )
        X = X / scales
        notes.append("divided every feature by its standard deviation; standardise=False leaves them as they are")
    targets, class_names = target_rows(goal[features.index], task, notes)
    return Table(X, targets, tuple(features.columns), class_names, tuple(notes), numbers, scales)


def _read(
    source: Source,
    target: TargetName | None,
    drop: Sequence[ColumnName],
    groups: ColumnName | None,
    options: TextOptions,
    notes: list[str],
) -> tuple[pd.DataFrame, TargetLike, ArrayLike | None]:
    """Columns of features, the target and labels of groups, from any source."""
    X: Any = source
    y: Any = None
    labels = None
    wanted = [target] if isinstance(target, str | int) else items_of("target", () if target is None else target)
    if isinstance(source, str | Path):
        X, y, labels = read_file(Path(source), wanted, groups, options, notes)
    elif isinstance(source, tuple | list) and len(source) == 2:
        require(
            target is None is groups,
            "a pair (X, y) has its target in y and no column of groups; leave target and groups out",
        )
        X, y = source
    require(
        y is not None or is_into_dataframe(X),
        f"source must be a DataFrame of pandas or polars, a pair (X, y) or a path, got {type(source).__name__}",
    )
    frame = open_frame(X) if is_into_dataframe(X) else frame_of_array(X)
    targets = []
    if y is None:
        require(len(wanted) > 0, f"target is missing: name the column to predict, one of {listed(frame.columns)}")
        targets = [known_name(name, frame.columns, "target") for name in wanted]
        y = frame[targets]
    others = [known_name(name, frame.columns, "drop") for name in drop]
    if drop:
        notes.append(f"left out {counted(len(drop), 'column')} as requested: {listed(drop)}")
    if groups is not None and labels is None:
        others.append(known_name(groups, frame.columns, "groups"))
        labels = frame[others[-1]]
    twice = listed(name for i, name in enumerate(targets) if name in (*others, *targets[:i]))
    require(not twice, f"target {twice} is named twice; name it once in target=, and not in drop= or groups=")
    unused = [*targets, *others]
    return frame.drop(columns=unused) if unused else frame, y, labels


def _treated(
    features: pd.DataFrame, unlabelled_rows: BoolArray, missing: Missing, unlabelled: Unlabelled, notes: list[str]
) -> pd.DataFrame:
    """Refuse, drop or fill missing values, and drop constant columns.

    The index of what is left has the numbers of the rows.
    """
    n = len(features)
    lacking = unlabelled_rows.sum()
    require(
        not lacking or "drop" in (missing, unlabelled),
        f"the target is missing in {counted(lacking, 'row')} of {n}; unlabelled='drop' leaves them out, as "
        "missing='drop' does with every gap",
    )
    features = features[~unlabelled_rows] if lacking else features
    infinite = features.columns[np.isinf(features).any()]
    require(
        infinite.empty,
        f"infinite values in {counted(len(infinite), 'column')}: {listed(infinite)}; correct them, or leave the "
        "columns out with drop=[...]",
    )
    gaps = features.isna().sum()
    gaps = gaps[gaps > 0]
    read = gaps.groupby(lambda name: features.attrs.get(name, name), sort=False).max()  # as they were in the file
    require(
        missing != "error" or gaps.empty,
        f"{counted(read.sum(), 'cell')} missing in {counted(len(read), 'column')}: "
        f"{listed(f'{name} ({count})' for name, count in read.items())}; missing='drop' leaves out their rows, "
        "missing='mean' fills in column means, drop=[...] leaves out columns",
    )
    if len(empty := gaps.index[gaps == len(features)]):
        notes.append(f"dropped {counted(len(empty), 'column')} without any value: {listed(empty)}")
        features = features.drop(columns=empty)
        gaps = gaps.drop(empty)
    if missing == "drop" and len(gaps):
        features = features.dropna()
    if len(features) < n:
        notes.append(f"dropped {n - len(features):,} of {counted(n, 'row')} with missing values")
    if missing == "mean" and len(gaps):
        # Rounding may move a mean beyond its values, so that a constant column would not stay constant.
        features = features.fillna(features.mean().clip(features.min(), features.max()))
        notes.append(
            f"filled {counted(gaps.sum(), 'missing cell')} in {counted(len(gaps), 'column')} with column means, "
            f"which a forecast treats as data: {listed(gaps.index)}"
        )
    # Not VarianceThreshold of scikit-learn: it treats tiny numbers as constant, because their squares underflow.
    if len(constant := features.columns[features.min() == features.max()]):
        notes.append(f"dropped {counted(len(constant), 'constant column')}: {listed(constant)}")
        features = features.drop(columns=constant)
    told = f" ({'; '.join(notes)})" if notes else ""
    require(
        len(features) >= LEAST_ROWS,
        f"a pilot needs at least {LEAST_ROWS} rows, got {len(features)}{told}; bring more data",
    )
    require(features.shape[1] > 0, f"no features are left{told}; bring columns of numbers that vary")
    first: dict[int, str] = {}
    contents = (hash((column.to_numpy() + 0.0).tobytes()) for _, column in features.items())  # 0 and -0 are equal
    pairs = [(name, first.setdefault(content, name)) for name, content in zip(features, contents, strict=True)]
    if equal := [f"{name} = {other}" for name, other in pairs if name != other]:
        notes.append(f"kept {counted(len(equal), 'column')} equal to another, sharing its weight: {listed(equal)}")
    return features

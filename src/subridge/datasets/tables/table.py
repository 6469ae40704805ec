"""A user's own table as features and targets, with a note on everything that was done to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, get_args

import numpy as np
from narwhals.typing import IntoDataFrame

from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.datasets.tables.columns import is_frame
from subridge.datasets.tables.files import read_path
from subridge.datasets.tables.reading_form import Categories, Dates, Encoding, ReadingForm
from subridge.datasets.tables.sources import ColumnName, RawTable, TargetName, read_frame, read_pair
from subridge.datasets.tables.target_rows import Task, target_rows
from subridge.datasets.tables.targets import TargetLike
from subridge.datasets.tables.text_format import TextFormat
from subridge.datasets.tables.treatments import Missing, Unlabelled, complete, labelled, standardised, varying
from subridge.model.checks import items_of
from subridge.model.errors import DataError, ParameterError

Source: TypeAlias = IntoDataFrame | tuple[ArrayLike | IntoDataFrame, TargetLike] | str | Path


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

    Constant columns are left out, since nothing of them remains after centring; repeated ones are kept, since ridge
    regression shares the weight among them. The notes of the result tell.

    Parameters
    ----------
    source : DataFrame, pair of arrays or path
        A DataFrame of pandas, polars or another library that narwhals reads; a pair (X, y) of shapes (n, M)
        and (n,) or (n, C); or a path that ends in .csv, .tsv, .txt (also with .gz), .parquet, .npz (arrays ``X`` and
        ``y``, and ``feature_names`` if there) or .zarr (a store of `subridge features`, of which the training
        images are taken, or a group with arrays ``X`` and ``y``).
    target : str or sequence of str, optional
        The column to predict, required for frames and their files; several columns of numbers for several regressions.
        In .npz and .zarr the array to take in place of ``y``.
    drop : iterable of str
        Columns to leave out. Features without names are called x0, x1, and so on.
    missing : {"error", "drop", "mean"}
        What to do about missing features: refuse, leave out their rows, or put in the mean of the column's observed
        values.
    task : {"auto", "classification", "regression"}
        "auto" takes strings, categories and booleans for classes and numbers for numbers.
    standardise : bool
        Divide every feature by its standard deviation.
    unlabelled : {"error", "drop"}
        Rows without target: refuse, or leave out; ``missing="drop"`` leaves them out too.
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
        The column that says whose row it is, such as a subject; it is no feature. In .npz and .zarr an array.

    Returns
    -------
    Table
        Features and targets that are finite numbers, and notes on what was done to them.

    Raises
    ------
    DataError
        When the data cannot be used as they are; the message says what to do.
    ParameterError
        When a treatment is asked for that does not exist.

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
    ):
        if not isinstance(value, str) or value not in choices:
            raise ParameterError(f"{argument} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    form = ReadingForm(TextFormat.checked(separator, decimal, encoding, missing_values), Encoding(categories, dates))
    raw = _read(source, target, [drop] if isinstance(drop, str) else items_of("drop", drop), form, groups)
    raw = varying(complete(raw if missing == "drop" else labelled(raw, unlabelled), missing))
    if raw.groups is not None:
        _check_groups(raw.groups, groups)
    targets = target_rows(raw.target, task)
    if standardise:
        raw = standardised(raw)
    return Table(raw.X, targets.rows, raw.feature_names, targets.class_names, raw.notes + targets.notes, raw.groups)


def _check_groups(numbers: IntArray, name: ColumnName | None) -> None:
    """Refuse groups that say nothing: labels that are missing, or the same in all rows."""
    lacking = int((numbers < 0).sum())
    if lacking:
        raise DataError(
            f"groups must name the group of every row, but {str(name)!r} lacks {lacking} of {len(numbers)}; fill it in"
        )
    if len(np.unique(numbers)) < 2:
        raise DataError(
            f"groups must differ, but {str(name)!r} is the same in all rows; name a column with at least two groups"
        )


def _read(
    source: Source, target: TargetName | None, drop: list[ColumnName], form: ReadingForm, groups: ColumnName | None
) -> RawTable:
    if is_frame(source):
        return read_frame(source, target, drop, form.encoding, groups)
    if isinstance(source, str | Path):
        return read_path(Path(source), target, drop, form, groups)
    if isinstance(source, tuple | list) and len(source) == 2:
        if groups is not None:
            raise DataError(f"groups={groups!r} names a column, which a pair (X, y) has not; give forecast the labels")
        if target is not None:
            raise DataError(f"a pair (X, y) has its target in y, got target={target!r} as well; leave target out")
        return read_pair(*source, drop, encoding=form.encoding)
    raise DataError(
        f"source must be a DataFrame of pandas or polars, a pair (X, y) or a path, got {type(source).__name__}"
    )

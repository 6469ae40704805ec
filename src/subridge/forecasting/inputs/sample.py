"""The pilot sample that a user hands over: checked, its labels turned into targets, both centred."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from subridge.arrays.namespace import is_sparse
from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, Json, MatrixLike, SparseMatrix
from subridge.datasets.tables.odd_values import refuse_odd_table
from subridge.datasets.tables.target_rows import Task, target_rows
from subridge.datasets.tables.targets import TargetLike, missing_targets, read_target
from subridge.datasets.tables.treatments import LEAST_ROWS
from subridge.model.checks import counted, truth
from subridge.model.errors import ClassCodesWarning, DataError, ParameterError
from subridge.ridge.rows.diagnostics import copied_rows, warn_of_pilot, warn_of_rows
from subridge.ridge.rows.left_out_sets import left_out_groups
from subridge.ridge.rows.training import TrainingRows, training_rows

_LOOKED_AT = 8  # columns that may show at once that no row is a copy
_SMALLEST = 1e-140  # of a sum of squared labels
TASKS: tuple[Task, ...] = ("auto", "regression", "classification")


@dataclass(frozen=True, eq=False)
class Sample:
    """A checked pilot sample."""

    rows: TrainingRows
    class_names: tuple[str, ...] | None  # of one-hot targets; None for regression

    @property
    def n_samples(self) -> int:
        """n, the rows of the pilot."""
        return self.rows.n_samples

    @property
    def n_features(self) -> int:
        """M."""
        return int(self.rows.feature_means.shape[0])

    def attributes(self) -> dict[str, Json]:
        """What results say of the pilot; the variance of the labels is summed over targets."""
        names: dict[str, Json] = {} if self.class_names is None else {"class_names": ", ".join(self.class_names)}
        return names | {
            "n_pilot": self.n_samples,
            "n_features": self.n_features,
            "n_targets": len(self.rows.targets),
            "target_variance": float(self.rows.targets.var(axis=1).sum()),
            "fit_intercept": self.rows.fit_intercept,
        }


def read_sample(
    X: MatrixLike,
    y: TargetLike,
    task: Task,
    fit_intercept: bool,
    groups: ArrayLike | None = None,
    *,
    standardise: bool = False,
) -> Sample:
    """Check X (n, M) and y (n,) or (n, C) and centre them; rows with equal labels in `groups` are left out together.

    With `standardise` every column is divided by its standard deviation.

    `task` "auto" takes text, categories and booleans for labels and numbers for numbers.
    """
    if not isinstance(task, str) or task not in TASKS:
        raise ParameterError(f"task must be one of {TASKS}, got {task!r}")
    fit_intercept = truth("fit_intercept", fit_intercept)
    table = _read_features(X)
    if truth("standardise", standardise):
        table = StandardScaler(with_mean=False).fit_transform(table)
    n, target = table.shape[0], read_target(y)
    if len(target) != n:
        raise DataError(f"y must have an entry or a row for each of the {counted(n, 'row')} of X, got {len(target)}")
    if n < LEAST_ROWS:
        raise DataError(f"X has {counted(n, 'row')}; a pilot needs at least {LEAST_ROWS} to say anything")
    lacking = int(missing_targets(target).sum())
    if lacking:
        raise DataError(f"y lacks {lacking} labels; drop those rows")
    targets = target_rows(target, task)
    if targets.class_names is None and targets.notes:
        warnings.warn(ClassCodesWarning(f"y: {'; '.join(targets.notes)}"), stacklevel=3)
    together, label_rows = None, targets.rows
    if groups is not None:
        together = left_out_groups(groups, n)
    else:
        kept, label_rows = _without_copies(table, targets.rows)
        table = table if kept.all() else table[np.flatnonzero(kept)]
    rows = training_rows(table, label_rows, None, fit_intercept, together)
    if 0 < float((rows.centred_targets[0] ** 2).sum()) < _SMALLEST:
        raise DataError("y holds numbers so small that the squares of its squares vanish; multiply y by a constant")
    columns = getattr(X, "columns", None)  # of a frame
    warn_of_rows(rows, None if columns is None else [str(name) for name in columns], stacklevel=3)
    warn_of_pilot(rows, stacklevel=3)
    return Sample(rows, targets.class_names)


def _read_features(X: MatrixLike) -> FloatArray | SparseMatrix:
    """X as float64, shape (n, M): what scikit-learn refuses is refused here by the package's own error."""
    refuse_odd_table("X", X)
    try:
        table: FloatArray | SparseMatrix = check_array(
            X, accept_sparse=("csr", "csc"), dtype=np.float64, input_name="X", ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(":.")
        raise DataError(f"X must be a table of numbers, shape (n, M): {reason}") from error
    values = csr_array(table).data if is_sparse(table) else table
    for odd, found in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
        if found.any():
            raise DataError(
                f"X contains {odd} in {counted(int(found.sum()), 'place')}; drop those rows or fill them in, for "
                "example with sr.datasets.read_table(..., missing='drop')"
            )
    return table


def _without_copies(table: FloatArray | SparseMatrix, targets: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Which rows to keep, shape (n,), and their targets (C, kept): copies are left out where they can be nothing else.

    They can where rows with the same features always have the same label, and either the label or a feature hardly ever
    repeats in the other rows, or there are more features than rows.
    """
    n = table.shape[0]
    dense = table.toarray() if is_sparse(table) else np.ascontiguousarray(table)
    if any(len(np.unique(column)) == n for column in dense[:, :_LOOKED_AT].T):  # no row repeats
        return np.ones(n, dtype=bool), targets
    features: set[bytes] = set()
    both: set[bytes] = set()
    first, same = np.ones(n, dtype=bool), 0
    for i in range(n):
        key = dense[i].tobytes()
        labelled = key + np.ascontiguousarray(targets[:, i]).tobytes()
        same += key in features
        first[i] = labelled not in both
        features.add(key)
        both.add(labelled)
    copies = int(n - first.sum())
    if not copies:
        return first, targets
    distinct = n - copies
    measured = (column for block in (targets, dense.T) for column in block)
    rarely_equal = table.shape[1] >= distinct or any(2 * len(np.unique(column)) > distinct for column in measured)
    dropped = same == copies and rarely_equal and distinct >= LEAST_ROWS
    if not dropped:
        return np.ones(n, dtype=bool), targets
    warnings.warn(copied_rows(copies, n), stacklevel=4)
    return first, targets[:, first]

"""Tables of features in memory that hold something else than real numbers, told by name before they are converted."""

import narwhals as nw
import numpy as np
import numpy.typing as npt

from subridge.arrays.namespace import is_sparse, is_tensor
from subridge.arrays.types import ArrayLike, MatrixLike
from subridge.datasets.tables.columns import is_frame, open_frame
from subridge.model.checks import agreeing, counted, listed, refuse_odd_values
from subridge.model.errors import DataError

_WORDS = (nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime, nw.Duration, nw.Time, nw.Binary)


def refuse_odd_table(name: str, table: MatrixLike | ArrayLike) -> None:
    """Refuse columns of text, categories or dates, repeated names, hidden values, numbers written as text.

    Complex numbers and what has no type of its own are left to scikit-learn's own checks.

    Examples
    --------
    >>> refuse_odd_table("X", [[1.0, 2.0]])
    """
    if is_tensor(table) or is_sparse(table):
        return
    if not is_frame(table):
        if not (isinstance(table, np.ndarray) and table.dtype.kind in "biufcO"):
            if isinstance(table, list | tuple | np.ndarray):
                refuse_odd_values(name, _as_array(name, table))
        elif isinstance(table, np.ma.MaskedArray) or table.dtype.kind == "O":
            refuse_odd_values(name, table)
        return
    frame = open_frame(table)
    odd = [f"{column} ({kind})" for column, kind in frame.schema.items() if isinstance(kind, _WORDS) or kind in _WORDS]
    if odd:
        raise DataError(
            f"{counted(len(odd), 'column')} of {name} {agreeing(len(odd), 'holds', 'hold')} no numbers: {listed(odd)}; "
            "leave out such columns or encode them, for example with sklearn.preprocessing.OneHotEncoder"
        )


def _as_array(name: str, table: ArrayLike) -> npt.NDArray[np.generic]:
    try:
        return np.asarray(table)
    except ValueError as error:
        raise DataError(f"{name} must be a table with rows of equal length: {error}") from error

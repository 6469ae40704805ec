"""The ridges among which a forecast chooses."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import default_ridges, given_ridges
from subridge.spec.errors import ParameterError


def ridge_path(ridges: ArrayLike, rows: TrainingRows) -> FloatArray:
    """Ascending path of ridges; "auto" has the range of the one that the estimators search. Shape (L,).

    Examples
    --------
    >>> from subridge.ridge.rows.training import training_rows
    >>> rows = training_rows(np.eye(3), np.zeros((1, 3)), None, False)
    >>> ridge_path([1.0, 0.0], rows), len(ridge_path("auto", rows))
    (array([0., 1.]), 49)
    """
    if isinstance(ridges, str):
        if ridges != "auto":
            raise ParameterError(f"ridges must be numbers or 'auto', got {ridges!r}")
        coarse = default_ridges(rows.mean_square())
        # Which ridges are in reach changes along a curve: steps of a half decade would show as teeth.
        return np.geomspace(coarse[0], coarse[-1], 3 * len(coarse) - 2)
    return given_ridges(ridges)

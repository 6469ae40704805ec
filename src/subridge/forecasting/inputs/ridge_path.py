"""The ridges that a forecast chooses from."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.errors import ParameterError, RidgeError
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.search_path import EXTENSIONS, End, default_ridges, given_ridges

_FINER = 3  # steps for each half decade
_DEEPER = 24  # half decades
_LEAST = 1e-60  # of a given ridge that is not 0, beside the mean square of a column


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ascending ridges, shape (L,), and what may be added where the best of them is at an end, in half decades."""

    ridges: FloatArray
    extensions: tuple[int, ...] = ()

    def extended(self, ends: tuple[End, ...]) -> "RidgePath":
        """A path that goes further at some of its ends, as far as floats allow.

        >>> RidgePath(np.array([1.0, 10.0]), (4, 8)).extended(("upper",)).ridges[[0, -1]]
        array([   1., 1000.])
        """
        return self._grown(ends, self.extensions[0], self.extensions[1:])

    def deeper(self) -> "RidgePath":
        """A path that goes twelve decades further down: what there is to learn may lie in a very small direction."""
        return self._grown(("lower",), _DEEPER, self.extensions)

    def _grown(self, ends: tuple[End, ...], half_decades: int, left: tuple[int, ...]) -> "RidgePath":
        steps = np.arange(1, _FINER * half_decades + 1) / (2 * _FINER)
        with np.errstate(over="ignore"):
            below = self.ridges[0] * 10.0 ** -steps[::-1] if "lower" in ends else np.empty(0)
            above = self.ridges[-1] * 10.0**steps if "upper" in ends else np.empty(0)
        path = np.concatenate([below[below > 1e-100], self.ridges, above[above < 1e100]])
        return RidgePath(path, left)


def read_ridges(ridges: ArrayLike, rows: TrainingRows) -> RidgePath:
    """Given ridges, or for "auto" a path that starts with the range of the estimators' and may grow as theirs does.

    >>> from subridge.ridge.rows.training import training_rows
    >>> rows = training_rows(np.eye(3), np.zeros((1, 3)), None, False)
    >>> read_ridges([1.0, 0.0], rows).ridges, len(read_ridges("auto", rows).ridges)
    (array([0., 1.]), 49)
    """
    if isinstance(ridges, str):
        if ridges != "auto":
            raise ParameterError(f"ridges must be numbers or 'auto', got {ridges!r}")
        coarse = default_ridges(rows.column_squares(), rows.n_samples, len(rows.feature_means))
        # Which ridges are in reach changes along a curve: steps of a half decade would show as teeth.
        return RidgePath(np.geomspace(coarse[0], coarse[-1], _FINER * (len(coarse) - 1) + 1), EXTENSIONS)
    given = given_ridges(ridges)
    refuse_vanishing("ridges", given, rows)
    return RidgePath(given)


def refuse_vanishing(name: str, ridges: FloatArray, rows: TrainingRows) -> None:
    """Refuse ridges that are not 0 and yet nothing beside the columns: powers of them leave the range of floats."""
    least = _LEAST * float(rows.column_squares().mean())
    vanishing = ridges[(ridges > 0) & (ridges < least)]
    if vanishing.size:
        raise RidgeError(
            f"{name} must be 0 or at least {least:.0e}, which is already nothing beside these columns, got "
            f"{vanishing.min():g}; use 0"
        )

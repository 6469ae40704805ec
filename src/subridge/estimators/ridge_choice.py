"""Read the ``ridge`` and ``ridges`` parameters of an estimator."""

from typing import Any

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.streaming.moments import RowMoments
from subridge.spec.checks import finite_array
from subridge.spec.errors import ParameterError, RidgeError

COMMON, OWN, JOINT = "auto", "auto-member", "auto-joint"

# Half-decade steps around the mean square of a feature, the paper's s: 1e-3 s is ridgeless for all purposes, and λ*
# grows like the noise-to-signal ratio over the subset fraction, hence more room above than below.
_DEFAULT_PATH = np.logspace(-3, 5, 17)


def is_searched(ridge: Any) -> bool:
    """Whether ridges are to be chosen from a path; refuses unknown words."""
    if not isinstance(ridge, str):
        return False
    if ridge not in (COMMON, OWN, JOINT):
        raise ParameterError(f"ridge must be a number, one per member, {COMMON!r}, {OWN!r} or {JOINT!r}, got {ridge!r}")
    return True


def fixed_ridges(ridge: Any, n_members: int) -> FloatArray:
    """One ridge per member from a number or a sequence; shape (k,)."""
    lam = _non_negative("ridge", ridge)
    if lam.shape not in ((), (1,), (n_members,)):
        raise ParameterError(f"ridge must be a number or one per member ({n_members}), got shape {lam.shape}")
    return np.broadcast_to(lam, (n_members,)).copy()


def searched_ridges(ridges: Any, data: TrainingRows | RowMoments, fit_intercept: bool = True) -> FloatArray:
    """The path, ascending; shape (L,). By default it is scaled to the data.

    Examples
    --------
    >>> from subridge.ridge.streaming.moments import moments_of
    >>> moments = moments_of(np.array([[-2.0], [2.0]]), np.array([[0.0, 1.0]]))
    >>> searched_ridges([10, 0.1], moments)
    array([ 0.1, 10. ])
    >>> searched_ridges(None, moments)[[0, -1]]
    array([4.e-03, 4.e+05])
    """
    if ridges is None:
        scale = data.mean_square(fit_intercept) if isinstance(data, RowMoments) else data.mean_square()
        return _DEFAULT_PATH * (scale if scale > 0 else 1.0)
    path = np.unique(_non_negative("ridges", ridges))
    if path.ndim != 1 or not path.size:
        raise ParameterError(f"ridges must be a sequence of numbers, got {ridges!r}")
    return path


def common_value(chosen: FloatArray) -> float | FloatArray:
    """A number where all members share their ridge, else one per member."""
    return float(chosen[0]) if (chosen == chosen[0]).all() else chosen


def _non_negative(name: str, value: Any) -> FloatArray:
    array = finite_array(name, value)
    if (array < 0).any():
        raise RidgeError(f"{name} must be at least 0 to train, got {array.min():g}")
    return array

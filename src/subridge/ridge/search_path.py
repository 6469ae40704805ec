"""The ridges among which a choice is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import finite_array
from subridge.model.errors import ParameterError, RidgeError

# Half-decade steps around the mean square of a feature, the paper's s: 1e-3 s is ridgeless for all purposes, and λ*
# grows like the noise-to-signal ratio over the subset fraction, hence more room above than below.
_LEAST, _MOST = -6, 10  # in half decades
_RIDGELESS = 1e-3  # a penalty this small beside n s leaves a direction of variance s alone
_REMOVING = 1e3  # one this large leaves nothing of it
_DEEPEST = 60  # half decades below the mean square; the rounding of a float ends there

_LARGEST = 1e100  # of a ridge; its square must be a number

# How much further a path goes where the best ridge is at its end, in half decades: one try after the other.
EXTENSIONS = (4, 8, 16)
PROBES = np.array([1e-12, 1e-9, 1e-6, 1e-3])  # of the smallest ridge: tried where the largest is best

# A smaller share of the error, or of the labels' variance, is not worth another ridge.
MATERIAL, _VANISHING = 1e-3, 1e-9

End: TypeAlias = Literal["lower", "upper"]
Found = TypeVar("Found")


def default_ridges(column_squares: ArrayLike, n_samples: int = 1, subset_size: int = 1) -> FloatArray:
    """Ridges for features of given mean squares (centred), ascending by half decades; shape (L,).

    They reach from 1e-3 to 1e5 times the mean of the mean squares, and further down where a feature is so much smaller
    than the others that these would all but remove it: to a penalty ``λ N`` of a thousandth of that feature's n s.
    Where there are many samples for each feature they reach further up: to a penalty of a thousand times n s.

    Parameters
    ----------
    column_squares : array_like, shape (M,)
        ``s_j``, zero for constant columns.
    n_samples : int
    subset_size : int
        Features of the largest member.

    Examples
    --------
    >>> default_ridges([4.0, 4.0])[[0, -1]]
    array([4.e-03, 4.e+05])
    >>> float(default_ridges([1.0, 1e-10])[0] <= 1e-12)
    1.0
    """
    squares = np.asarray(column_squares, dtype=np.float64)
    scale = float(squares.mean()) if squares.size else 0.0
    if not 0 < scale < np.inf:
        return np.asarray(10.0 ** (np.arange(_LEAST, _MOST + 1) / 2))
    needed = float(squares[squares > 0].min()) / scale * max(1e-3, _RIDGELESS * n_samples / subset_size)
    lowest = max(min(_LEAST, int(np.floor(2 * np.log10(needed)))), -_DEEPEST)
    highest = max(_MOST, int(np.ceil(2 * np.log10(_REMOVING * n_samples / subset_size))))
    return np.asarray(scale * 10.0 ** (np.arange(lowest, highest + 1) / 2))


@dataclass(frozen=True)
class Outcome(Generic[Found]):
    """What was found on a path: the error of its best ridge, the end at which that stands, and whether it falls there.

    An end at which the error does not fall is as good as any ridge beyond it: no ridge at all, or an infinite one.
    """

    found: Found
    error: float
    end: End | None
    is_falling: bool


def extended_search(
    path: FloatArray, evaluate: Callable[[FloatArray], Outcome[Found]]
) -> tuple[FloatArray, Outcome[Found]]:
    """Evaluate a path by half decades, and longer ones while the best ridge is at an end and the error falls there.

    Where the largest ridge is best nothing was learnt. What there is to learn may lie in a direction whose variance is
    far below that of any column, so a few ridges far below the path are tried as well.

    Returns
    -------
    path : ndarray
    outcome : Outcome
        On that path.
    """
    outcome = evaluate(path)
    if outcome.end == "upper":
        probed = evaluate(np.concatenate([path[0] * PROBES, path]))
        if probed.error < (1 - MATERIAL) * outcome.error:
            deep = np.arange(round(2 * float(np.log10(PROBES[0]))), 0)
            path = np.concatenate([path[0] * 10.0 ** (deep / 2), path])
            outcome = evaluate(path)
    for steps in EXTENSIONS:
        if not outcome.is_falling:
            break
        factors = 10.0 ** (np.arange(1, steps + 1) / 2)
        further = path[0] / factors[::-1] if outcome.end == "lower" else path[-1] * factors
        if not (np.isfinite(further).all() and (further > 0).all()):
            break
        path = np.concatenate([further, path] if outcome.end == "lower" else [path, further])
        outcome = evaluate(path)
    return path, outcome


def is_material(error: float, other: float, spread: float) -> bool:
    """Whether an error exceeds another by more than a thousandth, and by more than nothing beside the labels' spread.

    Examples
    --------
    >>> is_material(1.0, 1.01, 2.0), is_material(1.0, 1.0001, 2.0), is_material(1e-15, 2e-15, 2.0)
    (True, False, False)
    """
    return other - error > max(MATERIAL * abs(error), _VANISHING * spread)


def given_ridges(ridges: ArrayLike) -> FloatArray:
    """A user's ridges, checked, ascending and each once; shape (L,)."""
    path = np.unique(trainable("ridges", ridges))
    if not path.size:
        raise ParameterError(f"ridges must be a sequence of numbers, got {ridges!r}")
    return path


def trainable(name: str, ridges: ArrayLike) -> FloatArray:
    """Ridges that can be trained with: finite numbers of at least 0."""
    array = finite_array(name, ridges)
    if (array < 0).any():
        raise RidgeError(f"{name} must be at least 0 to train, got {array.min():g}")
    if (array > _LARGEST).any():
        raise RidgeError(f"{name} must be at most {_LARGEST:g} to train, got {array.max():g}; what is left is the mean")
    return array

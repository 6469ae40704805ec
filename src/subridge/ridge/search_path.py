"""The ridges among which a choice is made."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.spec.checks import finite_array
from subridge.spec.errors import ParameterError, RidgeError

# Half-decade steps around the mean square of a feature, the paper's s: 1e-3 s is ridgeless for all purposes, and λ*
# grows like the noise-to-signal ratio over the subset fraction, hence more room above than below.
_DEFAULT = np.logspace(-3, 5, 17)


def default_ridges(mean_square: float) -> FloatArray:
    """Ridges around the mean square of a (centred) feature, ascending; shape (17,)."""
    return _DEFAULT * (mean_square if mean_square > 0 else 1.0)


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
    return array

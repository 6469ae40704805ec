"""Where the boundary of the noise-dominated phase leaves for infinite sample ratios, whatever the grid of a diagram."""

from collections.abc import Callable

import numpy as np

from subridge.arrays.types import FloatArray

_HALVINGS = 50


def boundary_end(
    boundary: Callable[[FloatArray], FloatArray], lowest: float, highest: float, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """The noise at which a boundary becomes infinite, and the boundary just before it.

    Parameters
    ----------
    boundary : callable
        From noises of a shape to sample ratios of that shape, infinite above some noise.
    lowest, highest : float
        The range of the noise.
    shape : tuple of int

    Returns
    -------
    noise, before : ndarray, of that shape
        NaN where the boundary is finite in all of the range.

    Examples
    --------
    >>> noise, before = boundary_end(lambda H: np.where(H < 2, 0.0, np.inf), 0.0, 2.5, ())
    >>> float(noise.round(9)), float(before)
    (2.0, 0.0)
    """
    low, high = np.full(shape, lowest), np.full(shape, highest)
    ends = np.isinf(boundary(high))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        beyond = np.isinf(boundary(middle))
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.where(ends, high, np.nan), np.where(ends, boundary(low), np.nan)

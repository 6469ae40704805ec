"""Where curves are evaluated: sample ratios of theory, training-set sizes of experiments."""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray

# Distances from a threshold, in sample ratio, at which a curve with a sharp peak is drawn besides the regular grid.
_AROUND = np.geomspace(1e-4, 2e-2, 12)


def ratios_with_peaks(low: float, high: float, count: int, thresholds: ArrayLike) -> FloatArray:
    """A regular grid of sample ratios, the thresholds themselves, and points closing in on them.

    >>> ratios = ratios_with_peaks(0.05, 1.0, 20, [0.2])
    >>> bool((ratios == 0.2).any()), float(ratios.min())
    (True, 0.05)
    """
    peaks = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    close = np.concatenate([peaks, *(peaks + distance for distance in _AROUND), *(peaks - d for d in _AROUND)])
    regular = np.linspace(low, high, count)
    # A regular point that is a threshold but for rounding would sit beside its own spike.
    regular = regular[np.abs(regular[:, None] - peaks).min(axis=1) > 1e-9]
    everything = np.unique(np.concatenate([regular, close]))
    return everything[(everything >= low) & (everything <= high)]


def sample_sizes(n_features: int, count: int, offset: int = 0) -> tuple[int, ...]:
    """The authors' training-set sizes: P = M/20, 2M/20, ..., M less an offset, the last always M.

    >>> sample_sizes(1000, 20, offset=5)[:2], sample_sizes(1000, 20, offset=5)[-2:]
    ((45, 95), (945, 1000))
    """
    sizes = np.round(np.linspace(n_features / count, n_features, count) - offset).astype(int)
    return (*map(int, sizes[:-1]), n_features)


def log_sizes(low: int, high: int, count: int, extra: Sequence[int] = ()) -> tuple[int, ...]:
    """Training-set sizes, evenly spaced on a logarithmic scale, and some more.

    >>> log_sizes(100, 400, 3, [320])
    (100, 200, 320, 400)
    """
    grid = np.round(np.geomspace(low, high, count)).astype(int)
    return tuple(int(P) for P in np.unique(np.concatenate([grid, np.asarray(extra, dtype=int)])))

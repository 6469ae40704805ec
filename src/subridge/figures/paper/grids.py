"""Training-set sizes of experiments."""

from collections.abc import Sequence

import numpy as np


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

"""Random streams addressed by coordinates, so that order of work can never change what is drawn."""

import numpy as np

Seed = int | tuple[int, ...]


def seed_sequence(seed: Seed, *coordinates: int) -> np.random.SeedSequence:
    """Return the seed sequence at a grid coordinate.

    Parameters
    ----------
    seed : int or tuple of int
        Entropy chosen by the user.
    *coordinates : int
        Where in the grid the stream lives, e.g. ``(trial, purpose)``. Distinct coordinates give independent streams.

    Examples
    --------
    >>> seed_sequence(0, 3, 1).spawn_key
    (3, 1)
    """
    return np.random.SeedSequence(seed, spawn_key=coordinates)


def stream(seed: Seed | np.random.Generator | None, *coordinates: int) -> np.random.Generator:
    """Return a NumPy generator at a grid coordinate; a generator is passed through.

    Examples
    --------
    >>> bool(stream(0, 1).random() == stream(0, 1).random())
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    return np.random.default_rng(seed_sequence(seed, *coordinates))

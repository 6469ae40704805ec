"""Random streams addressed by coordinates, so that order of work can never change what is drawn."""

import numpy as np

Seed = int | tuple[int, ...]


def seed_sequence(seed: Seed, *coordinates: int) -> np.random.SeedSequence:
    """The seed sequence at a grid coordinate such as ``(trial, purpose)``; distinct ones give independent streams."""
    return np.random.SeedSequence(seed, spawn_key=coordinates)


def stream(seed: Seed | np.random.Generator | None, *coordinates: int) -> np.random.Generator:
    """Return a NumPy generator at a grid coordinate; a generator is passed through."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    return np.random.default_rng(seed_sequence(seed, *coordinates))

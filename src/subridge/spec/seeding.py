"""Seeds as users give them: checked, and drawn once where none is given."""

import numpy as np

from subridge.arrays import streams
from subridge.arrays.streams import Seed
from subridge.model.errors import ParameterError


def checked_seed(name: str, seed: Seed | None) -> Seed:
    """A seed that names one draw for good: an integer of at least 0, or several; None is drawn afresh, here and once.

    Examples
    --------
    >>> checked_seed("seed", (1, 2)), isinstance(checked_seed("seed", None), int)
    ((1, 2), True)
    """
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    parts = seed if isinstance(seed, tuple | list) else (seed,)
    if not parts or not all(isinstance(part, int | np.integer) and part >= 0 for part in parts):
        raise ParameterError(f"{name} must be an integer of at least 0, or a tuple of them, got {seed!r}")
    whole = tuple(int(part) for part in parts)
    return whole if isinstance(seed, tuple | list) else whole[0]


def stream(seed: Seed | np.random.Generator | None, *coordinates: int) -> np.random.Generator:
    """A generator at a grid coordinate from a user's seed, or a fresh one for None; a generator is passed through.

    Examples
    --------
    >>> bool(stream(0, 1).random() == stream(0, 1).random())
    True
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return streams.stream(seed)
    return streams.stream(checked_seed("seed", seed), *coordinates)

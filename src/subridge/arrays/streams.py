"""Random streams addressed by coordinates, so that the order of work cannot change what is drawn."""

import numpy as np

from subridge.arrays.machine import empty_on
from subridge.arrays.types import Array

Seed = int | tuple[int, ...]


def stream(seed: Seed | np.random.Generator | None, *coordinates: int) -> np.random.Generator:
    """A NumPy generator at a grid coordinate such as ``(trial, purpose)``; a generator is returned as it is.

    Distinct coordinates give independent streams.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=coordinates))


def standard_normals(
    seed: Seed, coordinates: tuple[int, ...], shape: tuple[int, ...], device: str, dtype: str
) -> Array:
    """Standard normals at a grid coordinate, drawn on the device.

    The draw depends on seed, coordinates, shape and device only. CPU and GPU draw different samples.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=coordinates)
    if device == "cpu":
        return np.random.default_rng(sequence).standard_normal(shape).astype(dtype, copy=False)
    import torch

    place = "cpu" if device == "torch" else device
    generator = torch.Generator(device=place)
    generator.manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
    return torch.randn(shape, generator=generator, device=place, dtype=getattr(torch, dtype))


def stacked_normals(
    seed: Seed, coordinates: list[tuple[int, ...]], shape: tuple[int, ...], device: str, dtype: str
) -> Array:
    """Standard normals at several coordinates, each as if drawn alone, along a new first axis."""
    if len(coordinates) == 1:
        return standard_normals(seed, coordinates[0], shape, device, dtype)[None, ...]
    drawn = empty_on((len(coordinates), *shape), device, dtype)
    for place, where in enumerate(coordinates):
        drawn[place, ...] = standard_normals(seed, where, shape, device, dtype)
    return drawn

"""Where arrays live: devices by name, and how much memory is free there."""

from types import ModuleType

import numpy as np

from subridge.arrays.machine import available_memory
from subridge.arrays.streams import Seed, seed_sequence
from subridge.arrays.types import Array


def torch_module() -> ModuleType:
    import torch

    module: ModuleType = torch
    return module


def device_name_problem(device: str) -> str | None:
    """Say what is wrong with the name of a device, or None; whether the device is there is another question.

    Names are "cpu" (NumPy and LAPACK), "torch" (PyTorch on the CPU), "cuda" and "cuda:<number>".

    >>> print(device_name_problem("abacus"))
    device must be "cpu", "torch", "cuda" or "cuda:<number>", got 'abacus'
    >>> device_name_problem("cuda:1") is None
    True
    """
    kind, _, number = device.partition(":")
    if device in ("cpu", "torch", "cuda") or (kind == "cuda" and number.isdecimal()):
        return None
    return f'device must be "cpu", "torch", "cuda" or "cuda:<number>", got {device!r}'


def device_problem(device: str) -> str | None:
    """Say why a device cannot be used on this machine, or None."""
    if device == "cpu":
        return None
    if (problem := device_name_problem(device)) is not None:
        return problem
    try:
        torch = torch_module()
    except ImportError:
        return f"device {device!r} needs PyTorch, which is not installed; pip install 'subridge[gpu]'"
    if device != "torch" and not torch.cuda.is_available():
        return f'device {device!r} needs a CUDA card that PyTorch can see; use device="cpu"'
    return None


def free_memory(device: str) -> int:
    """Bytes free on a device."""
    if device.startswith("cuda"):
        return int(torch_module().cuda.mem_get_info(device)[0])
    return available_memory()


def standard_normals(
    seed: Seed, coordinates: tuple[int, ...], shape: tuple[int, ...], device: str, dtype: str
) -> Array:
    """Standard normals at a grid coordinate, drawn on the device.

    The draw depends on seed, coordinates, shape and device alone. CPU and GPU draw different samples of one law.
    """
    sequence = seed_sequence(seed, *coordinates)
    if device == "cpu":
        normals = np.random.default_rng(sequence).standard_normal(shape)
        return normals.astype(dtype, copy=False)
    torch = torch_module()
    place = "cpu" if device == "torch" else device
    generator = torch.Generator(device=place)
    generator.manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
    drawn: Array = torch.randn(shape, generator=generator, device=place, dtype=getattr(torch, dtype))
    return drawn


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


def empty_on(shape: tuple[int, ...], device: str, dtype: str) -> Array:
    """An uninitialised array on the device."""
    if device == "cpu":
        return np.empty(shape, dtype=dtype)
    torch = torch_module()
    fresh: Array = torch.empty(shape, device="cpu" if device == "torch" else device, dtype=getattr(torch, dtype))
    return fresh


def release(device: str) -> None:
    """Give cached blocks back, so that the next reading of free memory is right."""
    if device.startswith("cuda"):
        torch_module().cuda.empty_cache()

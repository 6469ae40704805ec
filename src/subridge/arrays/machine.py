"""Cores, memory and devices of the machine this runs on."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import numpy as np

from subridge.arrays.types import Array

# What is assumed where nothing can be asked: a system without psutil, /proc and sysconf. Run(memory=) says otherwise.
_ASSUMED = 2**32
_HERE = Path("/")


def cores() -> int:
    """Cores this process may use: affinity and limits of containers count, where the system has them."""
    import joblib

    return int(joblib.cpu_count())


def available_memory(root: Path = _HERE) -> int:
    """Bytes that this process may still take; `root` is where ``proc`` and ``sys`` are found."""
    return max(0, min([_of_machine(root), *_of_containers(root), *_of_addresses(root)]))


def _of_machine(root: Path) -> int:
    if root == _HERE:
        try:
            import psutil
        except ImportError:
            pass
        else:
            return int(psutil.virtual_memory().available)
    try:
        return 1024 * _entries(root / "proc/meminfo")["MemAvailable:"]
    except (OSError, KeyError):  # not Linux: all of the memory is the best that is known
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else _ASSUMED


def _of_containers(root: Path) -> Iterator[int]:
    """What control groups leave, of version 2 (one hierarchy) and version 1 (one of its own for memory)."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    tree = root / "sys/fs/cgroup"
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _of_groups(tree, path, ("memory.max", "memory.current", "inactive_file"))
            yield from _of_groups(tree / "unified", path, ("memory.max", "memory.current", "inactive_file"))
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _of_groups(tree / "memory", path, names)


def _of_groups(tree: Path, path: str, names: tuple[str, str, str]) -> Iterator[int]:
    """What a group and those above it leave: the limit less what is used and could not be dropped.

    Inside a container the path may be that of the host, of which only the end of the tree is seen.
    """
    limit, usage, droppable = names
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for place in (tree.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)):
        try:
            most = int((place / limit).read_text())
            used = int((place / usage).read_text())
        except (OSError, ValueError):  # no such group, or "max"
            continue
        with suppress(OSError):
            used -= _entries(place / "memory.stat").get(droppable, 0)
        yield most - used


def _of_addresses(root: Path) -> Iterator[int]:
    """What the limit on a process's addresses leaves; Windows has none."""
    try:
        import resource
    except ImportError:
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY:
        yield most - _addresses_used(root)


def _addresses_used(root: Path) -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * int((root / "proc/self/statm").read_text().split()[0])
    except OSError:
        try:
            import psutil
        except ImportError:
            return 0
        return int(psutil.Process().memory_info().vms)


def _entries(table: Path) -> dict[str, int]:
    """Numbers of a table with a name and a number in every line."""
    lines = (line.split() for line in table.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


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

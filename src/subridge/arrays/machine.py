"""Memory, threads and devices of the machine this runs on, and random numbers drawn on a device.

Memory is what this process may still take before it reaches the limit of the machine, of a container (control groups of
either version, at every level above the process) or of the addresses of a process (``ulimit -v``).
"""

import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from subridge.arrays.types import Array, Seed

# Assumed on a system without /proc, psutil and sysconf. Run(memory=) overrides it.
_ASSUMED = 2**32
# Control groups of version 2 and version 1, by controller: their folders, and the names of their limit, of their usage
# and of the part of the usage that the kernel can drop.
_GROUPS = {
    "": (("", "unified"), "memory.max", "memory.current", "inactive_file"),
    "memory": (("memory",), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def available_memory(root: Path = Path("/")) -> int:
    """Bytes that this process may still take; `root` is where ``proc`` and ``sys`` are found."""
    return max(0, min([_of_machine(root), *_of_containers(root), *_of_addresses(root)]))


_limits_lock = threading.Lock()
_limits: list[Any] = []  # limits in force; the first one holds the original numbers of threads
_libraries = cache(ThreadpoolController)  # finding them takes longer than a small task


@contextmanager
def blas_threads(n_threads: int | None) -> Iterator[None]:
    """Limit the threads of BLAS in this process, unless None. The last of several users restores the original."""
    if n_threads is None:
        yield
        return
    with _limits_lock:
        _limits.append(_libraries().limit(limits=n_threads))
    try:
        yield
    finally:
        with _limits_lock:
            last = _limits.pop()
            if not _limits:
                _release_control()
                last.restore_original_limits()
                _release_control()


def _release_control() -> None:
    """Let any thread set limits: since threadpoolctl 3.8 only the thread that set them may change them."""
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def forget_pages(array: object) -> None:
    """Release the pages of a memory map that were read; the file keeps the data.

    Otherwise they stay resident until memory is short, and a pass over a file seems to take memory for all of it.
    """
    pages: Any = getattr(array, "_mmap", None)
    if isinstance(array, np.memmap) and array.mode != "c" and hasattr(pages, "madvise"):  # Windows has none
        pages.madvise(mmap.MADV_DONTNEED)


def _of_machine(root: Path) -> int:
    try:
        return 1024 * _entries(root / "proc/meminfo")["MemAvailable:"]
    except (OSError, KeyError):  # not Linux
        try:
            import psutil
        except ImportError:  # the free part is not known
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else _ASSUMED
        return psutil.virtual_memory().available


def _of_containers(root: Path) -> Iterator[int]:
    """What every control group of the process leaves: its limit less what is used and cannot be dropped."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        # Inside a container this may be the path on the host, of which only the end of the tree is visible.
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for controller in _GROUPS.keys() & controllers.split(","):
            folders, limit, usage, droppable = _GROUPS[controller]
            trees = [root / "sys/fs/cgroup" / folder for folder in folders]
            for place in (tree.joinpath(*parts[:depth]) for tree in trees for depth in range(len(parts) + 1)):
                try:
                    left = int((place / limit).read_text()) - int((place / usage).read_text())
                except (OSError, ValueError):  # no such group, or "max"
                    continue
                with suppress(OSError):
                    left += _entries(place / "memory.stat").get(droppable, 0)
                yield left


def _of_addresses(root: Path) -> Iterator[int]:
    """What the limit on the addresses of a process leaves; Windows has no such limit."""
    with suppress(ImportError):
        import resource

        used = 0
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            with suppress(OSError):  # only Linux has this file
                used = os.sysconf("SC_PAGE_SIZE") * int((root / "proc/self/statm").read_text().split()[0])
            yield most - used


def _entries(table: Path) -> dict[str, int]:
    """Numbers of a table with a name and a number in every line."""
    lines = (line.split() for line in table.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def device_problem(device: str, *, here: bool = True) -> str | None:
    """Say why a device cannot be used on this machine, or None. If it is not `here`, only its name is checked.

    Names are "cpu" (NumPy and LAPACK), "torch" (PyTorch on the CPU), "cuda" and "cuda:<number>".

    >>> print(device_problem("abacus"))
    device must be "cpu", "torch", "cuda" or "cuda:<number>", got 'abacus'
    >>> device_problem("cuda:1", here=False) is None
    True
    """
    kind, _, number = device.partition(":")
    if device not in ("cpu", "torch", "cuda") and not (kind == "cuda" and number.isdecimal()):
        return f'device must be "cpu", "torch", "cuda" or "cuda:<number>", got {device!r}'
    if device == "cpu" or not here:
        return None
    try:
        import torch
    except ImportError:
        return f"device {device!r} needs PyTorch, which is not installed; pip install 'subridge[gpu]'"
    if device != "torch" and not torch.cuda.is_available():
        return f'device {device!r} needs a CUDA card that PyTorch can see; use device="cpu"'
    return None


def free_memory(device: str) -> int:
    """Bytes free on a device, after the release of cached blocks."""
    if not device.startswith("cuda"):
        return available_memory()
    import torch

    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info(device)[0]


def empty_on(shape: tuple[int, ...], device: str, dtype: str) -> Array:
    """An uninitialised array on the device."""
    if device == "cpu":
        return np.empty(shape, dtype=dtype)
    import torch

    return torch.empty(shape, device="cpu" if device == "torch" else device, dtype=getattr(torch, dtype))


def stacked_normals(
    seed: Seed, coordinates: list[tuple[int, ...]], shape: tuple[int, ...], device: str, dtype: str
) -> Array:
    """Standard normals at several grid coordinates, along a new first axis, drawn on the device.

    Each draw depends on the seed, its coordinates, shape and device only. CPU and GPU draw different samples.
    """
    drawn = empty_on((len(coordinates), *shape), device, dtype)
    for own, where in zip(drawn, coordinates, strict=True):
        sequence = np.random.SeedSequence(seed, spawn_key=where)
        if device == "cpu":
            own[...] = np.random.default_rng(sequence).standard_normal(shape)
        else:
            import torch

            generator = torch.Generator(device=own.device)
            generator.manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
            torch.randn(shape, generator=generator, out=own)
    return drawn

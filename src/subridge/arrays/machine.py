"""Cores and memory of the machine this runs on, counted here for the whole package and on every system."""

import os

# What is assumed where nothing can be asked: a system without psutil, /proc and sysconf. Run(memory=) says otherwise.
_ASSUMED = 2**32


def cores() -> int:
    """Cores this process may use: affinity and limits of containers count, where the system has them."""
    import joblib

    return int(joblib.cpu_count())


def available_memory() -> int:
    """Bytes that programs may still take in the host's memory."""
    try:
        import psutil
    except ImportError:
        return _available_without_psutil()
    return int(psutil.virtual_memory().available)


def _available_without_psutil() -> int:
    try:
        with open("/proc/meminfo") as table:
            return 1024 * next(int(line.split()[1]) for line in table if line.startswith("MemAvailable"))
    except (OSError, StopIteration):  # not Linux: all of the memory is the best that is known
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else _ASSUMED

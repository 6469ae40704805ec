"""Cores and memory are counted on every system, with psutil and without."""

import builtins
import os
import sys

import pytest

from subridge.arrays import machine


def test_no_more_cores_are_counted_than_the_machine_has():
    assert 1 <= machine.cores() <= (os.cpu_count() or 1)


def test_memory_without_psutil_is_memory_with_it(monkeypatch):
    pytest.importorskip("psutil")
    if not os.path.exists("/proc/meminfo"):
        pytest.skip("without psutil only Linux says what is available")
    known = machine.available_memory()
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert machine.available_memory() == pytest.approx(known, rel=0.5)


def test_memory_is_counted_on_systems_without_proc_and_without_sysconf(monkeypatch):
    def missing(*_args, **_options):
        raise FileNotFoundError("/proc/meminfo")

    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.setattr(builtins, "open", missing)
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    assert whole is None or machine.available_memory() == whole
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert machine.available_memory() == 2**32

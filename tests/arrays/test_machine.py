"""Memory is counted as whoever limits it counts it; the files of the system are given under another root."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from subridge.arrays import machine
from subridge.arrays.machine import available_memory

GIB = 2**30


@pytest.fixture
def root(tmp_path):
    """A system with 20 GiB available and no limits."""
    write(tmp_path, "proc/meminfo", f"MemTotal: {64 * GIB // 1024} kB\nMemAvailable: {20 * GIB // 1024} kB\n")
    write(tmp_path, "proc/self/statm", "1000 500 100 1 0 300 0\n")
    return tmp_path


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(str(text))


def group(root, path, limit, usage, droppable=None, names=("memory.max", "memory.current", "inactive_file")):
    write(root, f"{path}/{names[0]}", limit)
    write(root, f"{path}/{names[1]}", usage)
    if droppable is not None:
        write(root, f"{path}/memory.stat", f"anon 5\n{names[2]} {droppable}\n")


FIRST = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def test_without_limits_it_is_the_memory_of_the_machine(root):
    assert available_memory(root) == 20 * GIB
    assert available_memory() > 0


def test_a_container_of_version_two_leaves_what_its_files_say(root):
    write(root, "proc/self/cgroup", "0::/box\n")
    group(root, "sys/fs/cgroup/box", int(1.5 * GIB), GIB, GIB // 4)
    assert available_memory(root) == int(0.75 * GIB)


def test_a_container_of_version_one_leaves_what_its_files_say(root):
    write(root, "proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/box\n0::/\n")
    group(root, "sys/fs/cgroup/memory/box", int(1.5 * GIB), GIB, 0, FIRST)
    group(root, "sys/fs/cgroup/memory", 2**63 - 4096, 3 * GIB, 0, FIRST)
    assert available_memory(root) == GIB // 2


def test_the_tightest_of_nested_groups_counts(root):
    write(root, "proc/self/cgroup", "0::/pod/box\n")
    group(root, "sys/fs/cgroup/pod", 2 * GIB, GIB)
    group(root, "sys/fs/cgroup/pod/box", "max", GIB // 2)
    assert available_memory(root) == GIB


def test_inside_a_container_the_path_of_the_host_is_not_there_and_its_own_root_counts(root):
    write(root, "proc/self/cgroup", "4:memory:/docker/0123abc\n")
    group(root, "sys/fs/cgroup/memory", GIB, GIB // 4, 0, FIRST)
    assert available_memory(root) == 3 * GIB // 4


def test_a_mixed_system_is_understood(root):
    write(root, "proc/self/cgroup", "3:cpu:/\n0::/box\n")
    group(root, "sys/fs/cgroup/unified/box", 4 * GIB, GIB)
    assert available_memory(root) == 3 * GIB


def test_a_full_container_leaves_nothing(root):
    write(root, "proc/self/cgroup", "0::/box\n")
    group(root, "sys/fs/cgroup/box", GIB, 2 * GIB)
    assert available_memory(root) == 0


@pytest.mark.slow
def test_a_limit_on_addresses_counts_and_a_run_keeps_to_it():
    resource = pytest.importorskip("resource")
    body = """
    import resource, sys
    import numpy as np
    import subridge as sr
    from subridge.arrays.machine import available_memory
    limit = int(1.5 * 2**30)
    problem = sr.EquicorrelatedProblem(label_noise=0.1)
    def attempt(M, **options):
        ensemble = sr.Ensemble(sr.subsets.Equal(2), ridge=0.1)
        return sr.simulate(problem, ensemble, [M], 2, n_features=M, run=sr.Run(**options), progress=False)
    attempt(50)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    used = 4096 * int(open("/proc/self/statm").read().split()[0])
    print(abs(available_memory() - (limit - used)) < 2**24)
    print(attempt(500).sizes["trial"])
    for options in ({}, {"memory": 2**36}):
        try:
            attempt(12000, **options)
        except sr.errors.BudgetError as error:
            print(error)
    """
    if sys.platform != "linux":
        pytest.skip("addresses are limited on Linux")
    assert resource
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(body)], capture_output=True, text=True)
    right, trials, planned, hit = done.stdout.splitlines()
    assert (right, trials) == ("True", "2"), done.stderr
    assert "one trial needs about" in planned
    assert "memory ran out" in hit


def test_psutil_is_not_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert available_memory() > 0


def test_a_path_with_colons_and_steps_up_is_read(root):
    if os.name == "nt":
        pytest.skip("no folder has such a name")
    write(root, "proc/self/cgroup", "4:hugetlb,memory:/../a:b\n")
    group(root, "sys/fs/cgroup/memory/a:b", 3 * GIB, GIB, 0, FIRST)
    assert available_memory(root) == 2 * GIB


def test_controllers_of_other_kinds_and_hierarchies_do_not_count(root):
    write(root, "proc/self/cgroup", "4:memoryless:/box\n3:cpu:/box\n")
    for tree in ("memory", "memoryless", "cpu", "."):
        group(root, f"sys/fs/cgroup/{tree}/box", 2 * GIB, GIB, 0, FIRST)
        group(root, f"sys/fs/cgroup/{tree}/box", 2 * GIB, GIB)
    assert available_memory(root) == 20 * GIB


def test_usage_without_a_table_or_with_an_odd_one_counts_whole(root):
    write(root, "proc/self/cgroup", "0::/box\n")
    group(root, "sys/fs/cgroup/box", 2 * GIB, GIB)
    assert available_memory(root) == GIB
    write(root, "sys/fs/cgroup/box/memory.stat", "inactive_file\nanon x\nfile 7\n")
    assert available_memory(root) == GIB
    write(root, "sys/fs/cgroup/box/memory.stat", "anon x\ninactive_file 4096 kB\n")
    assert available_memory(root) == GIB + 4096


def test_of_a_tight_group_above_and_a_tighter_one_below_the_tighter_counts(root):
    write(root, "proc/self/cgroup", "0::/pod/box/inner\n")
    group(root, "sys/fs/cgroup/pod", 8 * GIB, GIB)
    group(root, "sys/fs/cgroup/pod/box", 4 * GIB, GIB)
    group(root, "sys/fs/cgroup/pod/box/inner", 3 * GIB, GIB)
    assert available_memory(root) == 2 * GIB


def test_a_limit_on_addresses_leaves_what_is_not_used(root, monkeypatch):
    resource = pytest.importorskip("resource")
    limited = {resource.RLIMIT_AS: (GIB, 2 * GIB)}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limited.get(kind, (resource.RLIM_INFINITY,) * 2))
    assert available_memory(root) == GIB - 1000 * os.sysconf("SC_PAGE_SIZE")
    limited.clear()
    assert available_memory(root) == 20 * GIB


def test_addresses_without_a_table_of_them_are_limited(root, monkeypatch):
    resource = pytest.importorskip("resource")
    (root / "proc/self/statm").unlink()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (GIB, GIB))
    assert available_memory(root) == GIB


@pytest.mark.skipif(sys.platform != "linux", reason="the table is that of Linux")
def test_the_table_of_linux_and_psutil_agree(root, monkeypatch):
    psutil = pytest.importorskip("psutil")
    # Both read the table of one moment: what is available changes from one to the next.
    write(root, "proc/meminfo", Path("/proc/meminfo").read_text())
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(root / "proc"))
    assert psutil.virtual_memory().available == machine._of_machine(root)


def test_without_tables_psutil_is_asked_then_the_system_then_a_number_is_assumed(root, monkeypatch):
    (root / "proc/meminfo").unlink()
    psutil = pytest.importorskip("psutil")
    total = psutil.virtual_memory().total
    assert 0 < machine._of_machine(root) <= total
    monkeypatch.setitem(sys.modules, "psutil", None)
    if hasattr(os, "sysconf"):
        assert abs(machine._of_machine(root) - total) <= total // 100
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert machine._of_machine(root) == 4 * GIB

"""Real processes that die, and disks that fail, in the middle of a run."""

import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pytest

import subridge as sr
from scripts import script, started, tasks_done, wait_for, when
from subridge.store.tasks import TaskStore

pytestmark = pytest.mark.slow

# Scripts and this file share the experiment by its text, because a script in another process cannot import a test.
# Tasks of some ten milliseconds each.
EXPERIMENT = """
import os, sys
import numpy as np
import subridge as sr

def experiment(store=None, n_trials=40, **options):
    problem = sr.Problem(sr.covariance.autoregressive(300, 0.5), np.ones(300), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(3, 300, seed=0), readout_noise=0.1)
    run = sr.Run(store=store, block=1, threads=1, **options)
    return sr.simulate(problem, ensemble, [50, 150, 400], n_trials, ridges=[0.0, 0.01], run=run, progress=False)
"""
exec(EXPERIMENT)


@pytest.fixture(scope="module")
def uninterrupted():
    return experiment()  # noqa: F821


def test_a_run_killed_in_the_middle_resumes_to_the_same_bits(tmp_path, uninterrupted):
    # However late it is killed, it is in the middle of its work: the last tasks, in whatever order, are never written.
    body = """
    import time
    from subridge.store.tasks import TaskStore
    write, written = TaskStore.write, []
    def write_but_the_last(self, trials, arrays):
        if len(written) >= 35:
            time.sleep(600)
        write(self, trials, arrays)
        written.append(trials)
    TaskStore.write = write_but_the_last
    experiment(sys.argv[1])
    """
    store = tmp_path / "run.zarr"
    with started([*script(tmp_path, EXPERIMENT, body), str(store)]) as child:
        wait_for(lambda: tasks_done(store) >= 1)
        child.kill()
        child.wait()
    assert 1 <= tasks_done(store) < 40
    assert experiment(store).identical(uninterrupted)  # noqa: F821


def test_processes_give_the_same_bits_as_one(uninterrupted):
    assert experiment(executor=2).identical(uninterrupted)  # noqa: F821


def test_a_worker_process_that_dies_is_reported_with_the_remedy(tmp_path):
    body = """
    from subridge.simulation.executors import perform
    try:
        list(perform(die, [range(1), range(2)], 1, None))
    except sr.errors.ClusterError as error:
        print(error)
    """
    head = "def die(task):\n    import os\n    os._exit(1)\n" + EXPERIMENT
    out = subprocess.run(script(tmp_path, head, body), capture_output=True, text=True, check=True).stdout
    assert "worker process died" in out
    assert "use fewer processes" in out


def test_a_cluster_that_loses_a_worker_gives_the_serial_result(tmp_path, monkeypatch, uninterrupted):
    distributed = pytest.importorskip("distributed")
    address, store = tmp_path / "scheduler.json", tmp_path / "run.zarr"
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    place = ["--scheduler-file", str(address)]
    commands = [
        [*dask, "scheduler", *place, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        *[[*dask, "worker", *place, "--nthreads", "1", "--no-nanny", "--no-dashboard"] for _ in range(2)],
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    write = TaskStore.write
    with ExitStack() as stack:
        _, victim, _ = [stack.enter_context(started(command, cwd=tmp_path, **quiet)) for command in commands]
        wait_for(lambda: address.exists() and address.read_text().rstrip().endswith("}"))  # and is written whole
        client = stack.enter_context(distributed.Client(scheduler_file=str(address)))
        client.wait_for_workers(2, timeout=240)
        killed = stack.enter_context(when(lambda: tasks_done(store) >= 5, victim.kill))

        def write_in_time(self, trials, arrays):  # the worker dies before the last tasks are done
            assert tasks_done(store) < 20 or killed.wait(240)
            write(self, trials, arrays)

        monkeypatch.setattr(TaskStore, "write", write_in_time)
        curves = experiment(store, executor=client)  # noqa: F821
        wait_for(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == 1)
    np.testing.assert_allclose(curves.risk, uninterrupted.risk, rtol=1e-10)


def test_a_cluster_that_cannot_be_reached_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("subridge.simulation.dask._PATIENCE", "0.2s")
    with pytest.raises(sr.errors.ClusterError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        experiment(scheduler="tcp://127.0.0.1:9")  # noqa: F821


def test_an_address_that_needs_certificates_says_so():
    pytest.importorskip("distributed")
    with pytest.raises(sr.errors.ClusterError, match=r"no Dask scheduler answers at 'tls://.*distributed\.comm\.tls"):
        experiment(scheduler="tls://127.0.0.1:9")  # noqa: F821


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(sr.errors.ClusterError, match="subridge\\[cluster\\]"):
        experiment(scheduler="tcp://127.0.0.1:9")  # noqa: F821


def test_a_write_that_fails_is_a_clear_error_and_the_run_goes_on_later(tmp_path, uninterrupted):
    # Files may not grow beyond a limit that the chunks of results exceed: writing fails as on a full disk.
    pytest.importorskip("resource")
    body = """
    import resource
    from subridge.store.tasks import TaskStore
    written = []
    original = TaskStore.write
    def write(self, trials, arrays):
        if len(written) == 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8, resource.RLIM_INFINITY))
        original(self, trials, arrays)
        written.append(trials)
    TaskStore.write = write
    try:
        experiment(sys.argv[1])
    except sr.errors.StoreError as error:
        print(len(written), error)
    """
    store = tmp_path / "run.zarr"
    done = subprocess.run([*script(tmp_path, EXPERIMENT, body), str(store)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("4 store ")
    assert "cannot be read or written (File too large)" in done.stdout
    assert tasks_done(store) == 4
    assert experiment(store).identical(uninterrupted)  # noqa: F821


def can_mount():
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    try:
        return subprocess.run(probe, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount a small disk")
def test_full_and_read_only_disks_are_clear_errors_and_corrupt_nothing(tmp_path):
    body = """
    import subprocess
    store = sys.argv[1] + "/run.zarr"
    def attempt():
        try:
            return experiment(store)
        except sr.errors.StoreError as error:
            print(error)
    attempt()
    subprocess.run(["mount", "-o", "remount,ro,size=8m", sys.argv[1]], check=True)
    attempt()
    subprocess.run(["mount", "-o", "remount,rw,size=8m", sys.argv[1]], check=True)
    print("identical", attempt().identical(experiment()))
    """
    disk = tmp_path / "disk"
    disk.mkdir()
    run = f"mount -t tmpfs -o size=96k tmpfs {disk} && exec " + " ".join(
        [*script(tmp_path, EXPERIMENT, body), str(disk)]
    )
    done = subprocess.run(["unshare", "-m", "sh", "-c", run], capture_output=True, text=True, check=True)
    full, read_only, verdict = done.stdout.splitlines()
    assert "No space left on device" in full
    assert "read-only" in read_only.lower()
    assert verdict == "identical True"

"""Real processes that die, and disks that fail, in the middle of a run."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import subridge as sr

pytest.importorskip("zarr")

# Scripts and this file share the experiment by its text, because a script in another process cannot import a test.
# Tasks of some ten milliseconds each, enough of them that a run is caught in the middle.
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


def script(tmp_path, body):
    """Write a script that knows the experiment, its work under the usual guard."""
    path = tmp_path / "script.py"
    path.write_text(EXPERIMENT + "\nif __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(body), "    "))
    return [sys.executable, str(path)]


def tasks_done(store):
    flags = Path(store) / "done" / "c"
    return len(list(flags.iterdir())) if flags.is_dir() else 0


def wait_for(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("what a test waited for did not happen")
        time.sleep(0.005)


@pytest.fixture(scope="module")
def uninterrupted():
    return experiment()  # noqa: F821


def test_a_run_killed_in_the_middle_resumes_to_the_same_bits(tmp_path, uninterrupted):
    store = tmp_path / "run.zarr"
    child = subprocess.Popen(script(tmp_path, f"experiment({str(store)!r})"), env=os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        wait_for(lambda: tasks_done(store) >= 5)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert 5 <= tasks_done(store) < 40
    assert experiment(store).identical(uninterrupted)  # noqa: F821


def test_processes_give_the_same_bits_as_one(uninterrupted):
    assert experiment(executor=2).identical(uninterrupted)  # noqa: F821


def test_a_worker_process_that_dies_is_reported_with_the_remedy(tmp_path):
    body = """
    from subridge.simulation.executors.processes import Processes
    try:
        list(Processes(1).perform(die, [0, 1]))
    except sr.errors.ClusterError as error:
        print(error)
    """
    command = script(tmp_path, body)
    path = Path(command[1])
    path.write_text("def die(number):\n    import os\n    os._exit(1)\n" + path.read_text())
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "worker process died" in out
    assert "use fewer processes" in out


def test_a_cluster_that_loses_a_worker_gives_the_serial_result(tmp_path, uninterrupted):
    distributed = pytest.importorskip("distributed")
    address = tmp_path / "scheduler.json"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    place = ["--scheduler-file", str(address)]
    commands = [
        [*dask, "scheduler", *place, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        *[[*dask, "worker", *place, "--nthreads", "1", "--no-nanny", "--no-dashboard"] for _ in range(2)],
    ]
    started = [
        subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    store = tmp_path / "run.zarr"

    def kill_one_worker():
        wait_for(lambda: tasks_done(store) >= 5)
        started[1].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one_worker)
    try:
        wait_for(lambda: address.exists() and address.read_text().rstrip().endswith("}"))  # and is written whole
        with distributed.Client(scheduler_file=str(address)) as client:
            client.wait_for_workers(2, timeout=240)
            killer.start()
            curves = experiment(store, executor=client)  # noqa: F821
            killer.join()
            assert len(client.scheduler_info(n_workers=-1)["workers"]) == 1
    finally:
        for process in started:
            process.kill()
            process.wait()
    np.testing.assert_allclose(curves.risk, uninterrupted.risk, rtol=1e-10)


def test_a_cluster_that_cannot_be_reached_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("subridge.simulation.executors.dask._PATIENCE", "0.2s")
    with pytest.raises(sr.errors.ClusterError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        experiment(scheduler="tcp://127.0.0.1:9")  # noqa: F821


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(sr.errors.ClusterError, match="subridge\\[cluster\\]"):
        experiment(scheduler="tcp://127.0.0.1:9")  # noqa: F821


def test_a_write_that_fails_is_a_clear_error_and_the_run_goes_on_later(tmp_path, uninterrupted):
    # Files may not grow beyond a limit that the chunks of results exceed: writing fails as on a full disk.
    body = """
    import resource
    from subridge.store.resumable import ResumableStore
    written = []
    original = ResumableStore.write
    def write(self, number, arrays):
        if len(written) == 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8, resource.RLIM_INFINITY))
        original(self, number, arrays)
        written.append(number)
    ResumableStore.write = write
    try:
        experiment(sys.argv[1])
    except sr.errors.StoreError as error:
        print(len(written), error)
    """
    store = tmp_path / "run.zarr"
    done = subprocess.run([*script(tmp_path, body), str(store)], capture_output=True, text=True, check=True)
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
    run = f"mount -t tmpfs -o size=192k tmpfs {disk} && exec " + " ".join([*script(tmp_path, body), str(disk)])
    done = subprocess.run(["unshare", "-m", "sh", "-c", run], capture_output=True, text=True, check=True)
    full, read_only, verdict = done.stdout.splitlines()
    assert "No space left on device" in full
    assert "read-only" in read_only.lower()
    assert verdict == "identical True"

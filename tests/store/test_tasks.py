"""A store is resumed by the same experiment only, tells every damage, and may be shared."""

import os
import random
import shutil
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.simulation import simulate as driver
from subridge.simulation.training import run_trials
from subridge.store.tasks import TaskStore

DAMAGED = sr.errors.DamagedStoreWarning


def simulate(store=None, n_trials=7, block=3, **options):
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    settings = {"ridges": [0.1, 1.0], "progress": False} | options
    return sr.simulate(problem, ensemble, [4, 9], n_trials, run=sr.Run(store=store, block=block), **settings)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished store and what it holds."""
    place = tmp_path_factory.mktemp("stores") / "finished"
    return place, simulate(place)


@pytest.fixture
def store(finished, tmp_path):
    return shutil.copytree(finished[0], tmp_path / "a")


def running(monkeypatch, work):
    monkeypatch.setattr(driver, "GAUSSIAN", driver.GAUSSIAN._replace(run_trials=work))


@pytest.fixture
def ran(monkeypatch):
    """The trials that are run from now on."""
    seen = []

    def watched(experiment, trials, plan):
        seen.append(trials)
        return run_trials(experiment, trials, plan)

    running(monkeypatch, watched)
    return seen


def names(store):
    return sorted(file.name for file in store.iterdir())


def test_a_stored_run_is_the_run_and_every_task_is_a_file(finished):
    assert finished[1].identical(simulate())
    assert names(finished[0]) == ["0-3.npz", "3-6.npz", "6-7.npz", "store.npz"]


def test_a_finished_run_is_read_not_repeated(store, finished, ran):
    assert simulate(store).identical(finished[1])
    assert not ran


def test_only_missing_tasks_are_run(store, finished, ran):
    (store / "3-6.npz").unlink()
    assert simulate(store).identical(finished[1])
    assert ran == [[3, 4, 5]]


def test_a_store_keeps_the_block_it_was_created_with(store, finished, ran):
    assert simulate(store, block=5).identical(finished[1])
    assert not ran


def test_more_trials_redo_only_a_short_last_block(store, ran):
    assert simulate(store, 11).identical(simulate(n_trials=11, block=11))
    assert sorted(ran[:-1]) == [[6, 7, 8], [9, 10]]


def test_fewer_trials_are_read_from_a_store_that_has_more(store, ran):
    assert simulate(store, 5).identical(simulate(n_trials=5, block=5))
    assert ran == [[0, 1, 2, 3, 4]]  # the truth


@pytest.mark.parametrize("change", [{"dtype": "float32"}, {"seed": 1}, {"ridges": [0.1, 2.0]}, {"nested": False}])
def test_a_store_of_another_grid_is_refused_and_left_alone(store, finished, change):
    with pytest.raises(sr.errors.StoreError, match="another grid"):
        simulate(store, **change)
    assert simulate(store).identical(finished[1])


def test_a_simulation_store_of_0_2_0_is_refused_by_name_and_left_alone(tmp_path):
    (tmp_path / "zarr.json").write_text('{"attributes": {"schema": "subridge-curves", "subridge_version": "0.2.0"}}')
    with pytest.raises(sr.errors.StoreError, match=r"written by subridge 0\.2 .* give another path, or use that"):
        simulate(tmp_path)
    assert names(tmp_path) == ["zarr.json"]


def test_what_is_no_store_is_refused_and_left_alone(tmp_path):
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(sr.errors.StoreError, match="not a store"):
        simulate(tmp_path)
    with pytest.raises(sr.errors.StoreError, match="not a store but a file"):
        simulate(tmp_path / "keep.txt")
    assert (tmp_path / "keep.txt").read_text() == "mine"
    assert names(tmp_path) == ["keep.txt"]


def test_a_full_disk_is_named_and_leaves_no_half_file(store, finished, monkeypatch):
    (store / "3-6.npz").unlink()

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(sr.errors.StoreError, match=r"No space left on device.*free space"):
        simulate(store)
    assert names(store) == ["0-3.npz", "6-7.npz", "store.npz"]
    monkeypatch.undo()
    assert simulate(store).identical(finished[1])


def flip(path, bit=0, place=-1):
    contents = bytearray(path.read_bytes())
    contents[place] ^= 1 << bit
    path.write_bytes(contents)


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: flip(path, place=200),
        lambda path: flip(path, place=len(path.read_bytes()) // 2),
        lambda path: path.write_bytes(path.read_bytes()[:90]),
        lambda path: path.write_bytes(b""),
        lambda path: shutil.copy(path.parent / "0-3.npz", path),  # another task's: every checksum is right
    ],
    ids=["flipped early", "flipped in the middle", "cut", "emptied", "exchanged"],
)
def test_a_damaged_task_is_run_again_alone_and_that_is_said(store, finished, ran, harm):
    harm(store / "3-6.npz")
    with pytest.warns(DAMAGED, match=r"damaged in 3-6\.npz; these tasks are computed again"):
        assert simulate(store).identical(finished[1])
    assert ran == [[3, 4, 5]]
    assert simulate(store).identical(finished[1])  # and is whole again, without a warning


def test_a_task_copied_from_another_experiment_is_told(store, finished, tmp_path):
    simulate(tmp_path / "b", seed=1)
    shutil.copy(tmp_path / "b" / "0-3.npz", store / "0-3.npz")
    with pytest.warns(DAMAGED, match=r"0-3\.npz"):
        assert simulate(store).identical(finished[1])


@pytest.mark.parametrize("harm", [flip, Path.unlink, lambda path: shutil.copy(path.parent / "0-3.npz", path)])
def test_a_damaged_head_is_mended_from_the_tasks(store, finished, ran, harm):
    flip_place = {"place": 200} if harm is flip else {}
    harm(store / "store.npz", **flip_place)
    with pytest.warns(DAMAGED, match=r"store\.npz of store"):
        assert simulate(store, block=5).identical(finished[1])
    assert not ran
    assert simulate(store).identical(finished[1])


def test_no_flipped_bit_of_the_head_is_an_error(store):
    whole, block = (store / "store.npz").read_bytes(), []
    fingerprint = str(np.load(store / "store.npz")["fingerprint"])
    for place in range(0, len(whole), 7):
        flip(store / "store.npz", place % 8, place)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DAMAGED)
            block.append(TaskStore(store, fingerprint, 5, "").block)
        (store / "store.npz").write_bytes(whole)
    assert set(block) == {3}


def test_a_head_of_another_experiment_is_an_error(store, tmp_path):
    simulate(tmp_path / "b", seed=1)
    shutil.copy(tmp_path / "b" / "store.npz", store / "store.npz")
    with pytest.raises(sr.errors.StoreError, match="another grid"):
        simulate(store)


def test_a_flipped_bit_of_a_large_task_is_told(tmp_path):
    # Members of the archive that are longer than what is read at once; numpy.load alone would not reach the checksum.
    store = TaskStore(tmp_path, "f", 1, "")
    values = np.random.default_rng(0).standard_normal(40_000)
    store.write(range(0, 1), {"risk": values[None]})
    whole = (tmp_path / "0-1.npz").read_bytes()
    rng = random.Random(0)
    for _ in range(20):
        flip(tmp_path / "0-1.npz", rng.randrange(8), rng.randrange(len(whole)))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = list(store.sound([range(0, 1)], ["risk"]))
        assert said or np.array_equal(found[0][1]["risk"][0], values)
        (tmp_path / "0-1.npz").write_bytes(whole)


def test_random_damage_is_never_silent(finished, tmp_path):
    rng, told = random.Random(0), 0
    for number in range(25):  # benchmarks/trust/damage.py does the same a thousand times
        store = shutil.copytree(finished[0], tmp_path / str(number))
        path = rng.choice(sorted(store.iterdir()))
        kind, size = rng.choice(["flip", "cut"]), path.stat().st_size
        if kind == "flip":
            flip(path, rng.randrange(8), rng.randrange(size))
        else:
            path.write_bytes(path.read_bytes()[: rng.randrange(size)])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert simulate(store).identical(finished[1])
        told += bool(said)
    assert told >= 15


def test_a_store_removed_in_the_middle_is_named(tmp_path, monkeypatch):
    place, calls = tmp_path / "a", []

    def removing(experiment, trials, plan):
        calls.append(trials)
        if len(calls) == 2:
            shutil.rmtree(place)
        return run_trials(experiment, trials, plan)

    running(monkeypatch, removing)
    with pytest.raises(sr.errors.StoreError, match="was removed while it was in use"):
        simulate(place)
    assert not place.exists()


def test_runs_that_share_a_store_skip_what_has_appeared_and_agree(tmp_path, ran):
    place, found = tmp_path / "a", []
    runs = [threading.Thread(target=lambda: found.append(simulate(place, 40, 1))) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    n_run, truth = len(ran), simulate(n_trials=40)
    assert len(found) == 3
    assert all(each.identical(truth) for each in found)
    assert 40 <= n_run < 80  # tasks may be repeated
    assert simulate(place, 40).identical(truth)


def test_a_task_that_appears_during_a_run_is_read(store, finished, tmp_path, monkeypatch):
    place, calls = tmp_path / "b", []

    def overtaken(experiment, trials, plan):
        if not calls:
            shutil.copytree(store, place, dirs_exist_ok=True)  # another run finishes everything
        calls.append(trials)
        return run_trials(experiment, trials, plan)

    running(monkeypatch, overtaken)
    assert simulate(place).identical(finished[1])
    assert len(calls) == 1


def test_an_empty_folder_may_be_the_place_of_a_store(tmp_path):
    (tmp_path / ".leftover.tmp").write_text("of a run that was killed")
    assert simulate(tmp_path).identical(simulate())


@pytest.fixture
def read_only(monkeypatch):
    """Directories cannot be written, whoever runs the tests."""
    access, opened = os.access, Path.open

    def refused(self, mode="r", *rest, **options):
        if "w" in mode:
            raise OSError(30, "Read-only file system")
        return opened(self, mode, *rest, **options)

    def freeze():
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
        monkeypatch.setattr(Path, "open", refused)

    return freeze


def test_stores_on_read_only_media_are_read_and_what_they_lack_is_said(store, finished, tmp_path, read_only):
    unfinished, damaged = (shutil.copytree(store, tmp_path / name) for name in "bc")
    (unfinished / "3-6.npz").unlink()
    (damaged / "3-6.npz").write_bytes(b"")
    read_only()
    assert simulate(store).identical(finished[1])
    with pytest.raises(sr.errors.StoreError, match="is read-only; make it writable"):
        simulate(unfinished)
    with pytest.raises(sr.errors.StoreError, match=r"damaged in 3-6\.npz and read-only"):
        simulate(damaged)


@pytest.mark.parametrize("path", ["s3://bucket/run", "file:///data/run", Path("gs://bucket/x"), "", "a\0b"])
def test_what_is_no_directory_of_this_machine_is_refused_at_once(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sr.errors.SubridgeError, match=r"is an address|is not a path|must be a path"):
        sr.Run(store=path)
    assert not list(tmp_path.iterdir())


def test_a_tilde_is_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    simulate("~/a")
    assert (tmp_path / "home" / "a" / "store.npz").exists()
    with pytest.raises(sr.errors.StoreError, match="no such home"):
        sr.Run(store="~nobody_of_this_name/a")


def pretend_version(monkeypatch):
    monkeypatch.setattr("subridge.store.tasks.__version__", "0.0.1")
    monkeypatch.setattr("subridge.simulation.run.__version__", "0.0.1")


def test_a_store_of_another_version_whose_numbers_are_equal_is_gone_on_with(tmp_path, ran, monkeypatch):
    with monkeypatch.context() as patched:
        pretend_version(patched)
        whole = simulate(tmp_path / "a")
    (tmp_path / "a" / "6-7.npz").unlink()
    ran.clear()
    assert simulate(tmp_path / "a").identical(whole)
    assert ran == [[0, 1, 2], [6]]  # the proof, and what was missing


def test_a_store_of_another_version_whose_numbers_differ_is_refused(tmp_path, monkeypatch):
    def otherwise(experiment, trials, plan):
        return {name: values * (1 + 1e-15) for name, values in run_trials(experiment, trials, plan).items()}

    with monkeypatch.context() as patched:
        pretend_version(patched)
        running(patched, otherwise)
        simulate(tmp_path / "a")
    with pytest.raises(sr.errors.StoreError, match=r"subridge 0\.0\.1, and this version .* gives other numbers"):
        simulate(tmp_path / "a")


def test_results_that_are_not_finite_are_not_kept(tmp_path, monkeypatch):
    def broken(experiment, trials, plan):
        values = run_trials(experiment, trials, plan)
        return values | {"training_error": values["training_error"] + np.inf}

    running(monkeypatch, broken)
    with pytest.raises(sr.errors.ConvergenceError, match="training_error of trials"):
        simulate(tmp_path / "a")
    assert names(tmp_path / "a") == ["store.npz"]


@pytest.mark.slow
def test_the_rooms_load_and_runs_are_kept_without_zarr_and_dask(tmp_path):
    body = f"""
    import pkgutil, sys
    for name in ("zarr", "dask", "distributed", "psutil"):
        sys.modules[name] = None
    import subridge, subridge.simulation, subridge.store
    for room in (subridge.simulation, subridge.store):
        for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
            __import__(module.name)
    problem = subridge.EquicorrelatedProblem(label_noise=0.1)
    ensemble = subridge.Ensemble(subridge.subsets.Equal(2), ridge=0.1)
    run = subridge.Run(store={str(tmp_path / "a")!r})
    print(subridge.simulate(problem, ensemble, [4, 9], 3, n_features=12, run=run, progress=False).risk.shape)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(body)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(3, 2)"


@pytest.mark.parametrize("name", ["loop", "x" * 400])
def test_a_path_that_leads_nowhere_has_its_own_remedy(tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "loop")
    with pytest.raises(sr.errors.StoreError, match="too long a name, or a link that leads nowhere; give another path"):
        TaskStore(tmp_path / name, "f", 1, "another")

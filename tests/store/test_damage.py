"""Whatever happens to the files of a store, no number of it is ever taken for a result that is not one."""

import json
import random
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest

import subridge as sr
from subridge.simulation.gaussian import simulate as driver
from subridge.simulation.gaussian.trials import run_trials
from subridge.store.resumable import ResumableStore
from subridge.store.tasks import KIND

pytest.importorskip("zarr")
DAMAGED = sr.errors.DamagedStoreWarning


def simulate(store=None, n_trials=7, **options):
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    settings = {"ridges": [0.1, 1.0], "progress": False} | options
    return sr.simulate(problem, ensemble, [4, 9], n_trials, run=sr.Run(store=store, block=3), **settings)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished store and what it holds."""
    place = tmp_path_factory.mktemp("stores") / "finished.zarr"
    return place, simulate(place)


@pytest.fixture
def store(finished, tmp_path):
    return shutil.copytree(finished[0], tmp_path / "a.zarr")


@pytest.fixture
def ran(monkeypatch):
    """The trials that are run from now on."""
    seen = []

    def watched(experiment, trials, plan):
        seen.extend(trials)
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=watched))
    return seen


def flip(path, bit=0, place=-1):
    contents = bytearray(path.read_bytes())
    contents[place] ^= 1 << bit
    path.write_bytes(contents)


CHUNK = "risk/c/1/0/0"


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: flip(path),
        lambda path: flip(path, place=len(path.read_bytes()) // 2),
        lambda path: path.write_bytes(path.read_bytes()[:9]),
        lambda path: path.write_bytes(b""),
        lambda path: path.unlink(),
        lambda path: shutil.copy(path.parents[2] / "0" / "0" / "0", path),  # another task's: every checksum is right
    ],
    ids=["flipped at the end", "flipped in the middle", "cut", "emptied", "deleted", "exchanged"],
)
@pytest.mark.parametrize("variable", ["risk", "training_error"])
def test_a_damaged_task_is_run_again_alone_and_that_is_said(store, finished, ran, harm, variable):
    harm(store / variable / "c" / "1" / "0" / "0")
    with pytest.warns(DAMAGED, match="task 1; what they held is computed again"):
        assert simulate(store).identical(finished[1])
    assert ran == [3, 4, 5]
    assert simulate(store).identical(finished[1])  # and is whole again, without a warning


def test_a_damaged_flag_means_that_its_task_is_run_again(store, finished, ran):
    flip(store / "done" / "c" / "2")
    (store / "done" / "c" / "0").write_bytes(b"")
    assert simulate(store).identical(finished[1])
    assert sorted(ran) == [0, 1, 2, 6]


def test_every_damage_to_a_coordinate_is_noticed(store):
    (chunk,) = [file for file in (store / "ridge" / "c").rglob("*") if file.is_file()]
    whole = chunk.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 12)):
        flip(chunk, place % 8, place)
        with pytest.raises(sr.errors.StoreError, match="description of store"):
            ResumableStore.open(store, KIND)
        chunk.write_bytes(whole)
    ResumableStore.open(store, KIND)


@pytest.mark.parametrize("name", ["ridge", "n_samples"])
def test_a_damaged_coordinate_is_written_anew(store, finished, ran, name):
    import xarray

    flip(next(file for file in (store / name / "c").rglob("*") if file.is_file()))
    with pytest.warns(DAMAGED, match="description"):
        assert simulate(store).identical(finished[1])
    assert not ran
    with xarray.open_zarr(store, consolidated=False) as opened:
        np.testing.assert_array_equal(opened[name], finished[1][name])


def test_a_damaged_layout_is_written_anew(store, finished, ran):
    layout = store / "risk" / "zarr.json"
    layout.write_text(layout.read_text()[:40])
    with pytest.warns(DAMAGED, match="description"):
        assert simulate(store).identical(finished[1])
    assert not ran


def test_an_altered_shape_is_noticed(store, finished):
    layout = store / "risk" / "zarr.json"
    described = json.loads(layout.read_text())
    described["shape"][0] = 6
    layout.write_text(json.dumps(described))
    with pytest.warns(DAMAGED, match="description"):
        assert simulate(store).identical(finished[1])


def test_altered_attributes_are_an_error(store):
    head = store / "zarr.json"
    head.write_text(head.read_text().replace('"n_rows": 7', '"n_rows": 5'))
    with pytest.raises(sr.errors.StoreError, match=r"description of store .* is damaged"):
        simulate(store)
    head.write_text("{")
    with pytest.raises(sr.errors.StoreError, match="damaged"):
        simulate(store)


def test_random_damage_is_never_silent(finished, tmp_path):
    rng = random.Random(0)
    outcomes = {"error": 0, "said": 0, "harmless": 0}
    for number in range(25):
        store = shutil.copytree(finished[0], tmp_path / f"{number}.zarr")
        harm_somewhere(store, rng)
        outcomes[verdict(store, finished[1])] += 1
    assert outcomes["said"] >= 5, outcomes


def harm_somewhere(store, rng):
    """Flip a bit of, cut or delete a random file; benchmarks/trust/damage.py does the same a thousand times."""
    path = rng.choice(sorted(file for file in store.rglob("*") if file.is_file() and file.stat().st_size))
    kind = rng.choice(["flip", "cut", "delete"])
    if kind == "flip":
        flip(path, rng.randrange(8), rng.randrange(path.stat().st_size))
    elif kind == "cut":
        path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])
    else:
        path.unlink()


def verdict(store, truth):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            assert simulate(store).identical(truth)
        except sr.errors.StoreError:
            return "error"
    return "said" if said else "harmless"


def test_a_store_removed_in_the_middle_is_named(tmp_path, monkeypatch):
    place, calls = tmp_path / "a.zarr", []

    def removing(experiment, trials, plan):
        calls.append(trials)
        if len(calls) == 2:
            shutil.rmtree(place)
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=removing))
    with pytest.raises(sr.errors.StoreError, match="was removed while it was in use"):
        simulate(place)
    assert not place.exists()


def test_a_store_removed_after_the_last_task_is_named(tmp_path, monkeypatch):
    write = ResumableStore.write

    def removing(self, number, arrays):
        write(self, number, arrays)
        if number == 2:
            shutil.rmtree(self.path)

    monkeypatch.setattr(ResumableStore, "write", removing)
    with pytest.raises(sr.errors.StoreError, match="was removed while"):
        simulate(tmp_path / "a.zarr")


def test_a_disk_that_damages_every_time_is_blamed(tmp_path, monkeypatch, ran):
    write = ResumableStore.write

    def spoiling(self, number, arrays):
        write(self, number, arrays)
        flip(self.path / "risk" / "c" / "0" / "0" / "0")

    monkeypatch.setattr(ResumableStore, "write", spoiling)
    blamed = pytest.raises(sr.errors.StoreError, match="damaged 3 times while it was filled; use another disk")
    with blamed, pytest.warns(DAMAGED):
        simulate(tmp_path / "a.zarr", n_trials=3)
    assert ran == [0, 1, 2] * 3

"""A store is resumed by the same experiment only, and nothing half-written is ever taken for a result."""

import json
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
import xarray

import subridge as sr
from subridge.simulation.gaussian import simulate as driver
from subridge.simulation.gaussian.trials import run_trials

pytest.importorskip("zarr")


def simulate(store=None, n_trials=7, **options):
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    settings = {"ridges": [0.1, 1.0], "progress": False} | options
    return sr.simulate(problem, ensemble, [4, 9], n_trials, run=sr.Run(store=store, block=3), **settings)


def test_a_stored_run_is_the_run(tmp_path):
    assert simulate(tmp_path / "a.zarr").identical(simulate())


def test_a_finished_run_is_read_not_repeated(tmp_path, monkeypatch):
    first = simulate(tmp_path / "a.zarr")
    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=None))
    assert simulate(tmp_path / "a.zarr").identical(first)


def test_only_missing_tasks_are_run_and_a_chunk_without_its_flag_counts_as_missing(tmp_path, monkeypatch):
    whole = simulate(tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / "done" / "c" / "1").unlink()
    (tmp_path / "a.zarr" / "risk" / "c" / "1" / "0" / "0").write_bytes(b"half a chunk")
    ran = []

    def watched(experiment, trials, plan):
        ran.append(trials)
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=watched))
    assert simulate(tmp_path / "a.zarr").identical(whole)
    assert ran == [[3, 4, 5]]


def test_a_store_keeps_the_block_it_was_created_with(tmp_path):
    simulate(tmp_path / "a.zarr")
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    again = sr.simulate(
        problem, ensemble, [4, 9], 7, ridges=[0.1, 1.0], run=sr.Run(store=tmp_path / "a.zarr", block=5), progress=False
    )
    assert again.identical(simulate())


@pytest.mark.parametrize("change", [{"dtype": "float32"}, {"seed": 1}, {"ridges": [0.1, 2.0]}, {"nested": False}])
def test_a_store_of_another_grid_is_refused_and_left_alone(tmp_path, change):
    whole = simulate(tmp_path / "a.zarr")
    with pytest.raises(sr.errors.StoreError, match="another grid"):
        simulate(tmp_path / "a.zarr", **change)
    assert simulate(tmp_path / "a.zarr").identical(whole)


def test_a_store_of_another_version_is_refused(tmp_path):
    simulate(tmp_path / "a.zarr")
    head = tmp_path / "a.zarr" / "zarr.json"
    metadata = json.loads(head.read_text())
    metadata["attributes"]["schema_version"] = 99
    head.write_text(json.dumps(metadata))
    with pytest.raises(sr.errors.StoreError, match="version 99"):
        simulate(tmp_path / "a.zarr")


def test_a_directory_that_is_no_store_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "keep.txt").write_text("mine")
    with pytest.raises(sr.errors.StoreError, match="not a store"):
        simulate(tmp_path / "notes")
    assert (tmp_path / "notes" / "keep.txt").read_text() == "mine"
    with pytest.raises(sr.errors.StoreError, match="not a store"):
        simulate(tmp_path / "notes" / "keep.txt")


def test_a_creation_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    import zarr

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zarr.Group, "create_array", full)
    with pytest.raises(sr.errors.StoreError, match="No space left on device"):
        simulate(tmp_path / "a.zarr")
    assert list(tmp_path.iterdir()) == []


def test_xarray_reads_the_store_and_finds_its_description(tmp_path):
    whole = simulate(tmp_path / "a.zarr")
    with xarray.open_zarr(tmp_path / "a.zarr", consolidated=False) as opened:
        np.testing.assert_array_equal(opened.risk, whole.risk)
        assert opened.attrs["experiment"] == whole.attrs["experiment"]
        assert opened.attrs["subridge_version"] == sr.__version__
        assert opened.done.values.all()


def test_every_task_owns_one_chunk_of_every_variable(tmp_path):
    simulate(tmp_path / "a.zarr")
    chunks = sorted(p.name for p in (tmp_path / "a.zarr" / "risk" / "c").iterdir())
    flags = sorted(p.name for p in (tmp_path / "a.zarr" / "done" / "c").iterdir())
    assert chunks == flags == ["0", "1", "2"]


def test_without_zarr_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(sr.errors.StoreError, match="cluster"):
        simulate(tmp_path / "a.zarr")
    assert list(tmp_path.iterdir()) == []


def test_the_rooms_load_and_simulate_without_zarr_and_dask():
    body = """
    import pkgutil, sys
    for name in ("zarr", "dask", "distributed", "psutil"):
        sys.modules[name] = None
    import subridge, subridge.simulation, subridge.store
    for room in (subridge.simulation, subridge.store):
        for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
            __import__(module.name)
    problem = subridge.EquicorrelatedProblem(label_noise=0.1)
    ensemble = subridge.Ensemble(subridge.subsets.Equal(2), ridge=0.1)
    print(subridge.simulate(problem, ensemble, [4, 9], 3, n_features=12, progress=False).risk.shape)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(body)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(3, 2)"

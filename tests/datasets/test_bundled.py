import hashlib
from dataclasses import replace

import numpy as np
import pytest

import subridge as sr
from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.quantised import read_quantised, write_quantised


@pytest.fixture(scope="module")
def fashion():
    return sr.datasets.load_fashion_features()


def test_the_bundled_set_is_small_and_says_where_it_comes_from(fashion):
    from importlib.resources import files

    assert len(files("subridge.datasets").joinpath("data/fashion_lite0.npz").read_bytes()) < 8e6
    assert fashion.X.shape == (4000, 1269)
    assert fashion.X_test.shape == (2000, 1269)
    assert "MIT" in fashion.attributes["images"]
    assert "Apache-2.0" in fashion.attributes["network"]
    assert np.bincount(fashion.y).min() > 300


def test_equal_classifiers_spike_at_their_threshold_and_heterogeneous_ones_do_not(fashion):
    """The paper's effect on real images, at a quarter of the features so that it takes seconds."""
    data = fashion.with_features(320).with_sizes(None, 500)
    grid = {"n_members": [8], "ridges": [0.0, 0.1], "n_samples": [20, 40, 100], "n_trials": 6, "progress": False}
    equal, spread = (
        sr.simulate_classification(*data, strategy=name, **grid).misclassification.mean("trial").isel(ridge=0).squeeze()
        for name in ("equal", "dirichlet")
    )
    assert float(equal.sel(n_samples=40)) > float(equal.sel(n_samples=20)) + 0.1
    assert float(spread.sel(n_samples=40)) < float(spread.sel(n_samples=20))
    assert float(spread.sel(n_samples=40)) < float(equal.sel(n_samples=40)) - 0.15


def test_a_byte_per_entry_is_off_by_half_a_step(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 7)) * np.arange(1, 8), rng.integers(2, size=50)
    data = FeatureSet(X[:40], y[:40], X[40:], y[40:], ("a", "b"), "toy", {"images": "none"})
    error = write_quantised(tmp_path / "toy.npz", data)
    back = read_quantised(tmp_path / "toy.npz", "toy")
    steps = (X.max(axis=0) - X.min(axis=0)) / 255
    assert (np.abs(back.X - data.X) <= 0.501 * steps).all()
    assert error["rms"] < error["worst"] < 0.005
    assert back.class_names == ("a", "b")
    assert back.attributes == {"images": "none"}
    np.testing.assert_array_equal(back.y_test, data.y_test)


def test_features_and_labels_that_do_not_fit_are_refused():
    with pytest.raises(sr.errors.DataError, match="do not fit together"):
        FeatureSet(np.eye(3), np.zeros(2), np.eye(3), np.zeros(3), ("a",), "toy")


def test_an_absent_set_names_the_command_that_builds_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SUBRIDGE_CACHE", str(tmp_path))
    with pytest.raises(sr.errors.DataError, match="make data"):
        sr.datasets.load_set("cifar10")
    with pytest.raises(sr.errors.DataError, match="bundled, cifar10, fashion"):
        sr.datasets.load_set("mnist")


def test_a_cached_set_is_checked_when_read(tmp_path, monkeypatch):
    from subridge.datasets.images.cache import save_set

    monkeypatch.setenv("SUBRIDGE_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    arrays = [rng.random((9, 4)), np.arange(9), rng.random((3, 4)), np.arange(3)]
    path = save_set("cifar10", arrays)
    np.testing.assert_array_equal(sr.datasets.load_set("cifar10").X, arrays[0])
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(sr.errors.DataError, match="checksum"):
        sr.datasets.load_set("cifar10")


def test_an_interrupted_build_goes_on_and_a_finished_one_leaves_only_its_set(tmp_path, monkeypatch):
    from subridge.datasets.images import cache

    pixels = {"train": np.arange(20, dtype=np.uint8).reshape(5, 2, 2), "test": np.ones((3, 2, 2), dtype=np.uint8)}
    recipe = replace(
        cache.SETS["cifar10"],
        read=lambda folder, part: (pixels[part], np.arange(len(pixels[part]))),
        counts=(5, 3),
        digests=tuple(hashlib.sha256(array.tobytes()).hexdigest() for array in pixels.values()),
    )
    seen = []

    def features(images, name, *, size):
        seen.append(len(images))
        if len(seen) == 3:
            raise KeyboardInterrupt
        return images.reshape(len(images), -1).astype(np.float32)

    monkeypatch.setenv("SUBRIDGE_CACHE", str(tmp_path))
    monkeypatch.setitem(cache.SETS, "cifar10", recipe)
    monkeypatch.setattr(cache, "_PART", 2)
    monkeypatch.setattr(cache, "features_of_arrays", features)
    with pytest.raises(KeyboardInterrupt):
        cache.build_set("cifar10", tmp_path)
    assert cache.finished_set("cifar10") is None
    path = cache.build_set("cifar10", tmp_path)
    assert seen == [2, 2, 1, 1, 2, 1]  # four images of the first try are not extracted again
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["cifar10.json", "cifar10.npz"]
    assert cache.finished_set("cifar10") == path
    assert cache.finished_set("cifar10", 4) is None
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert cache.finished_set("cifar10") is None


def test_images_that_are_not_the_published_ones_are_refused(tmp_path):
    import gzip

    from subridge.datasets.images.cache import build_set

    for stem in ("train", "t10k"):
        (tmp_path / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16 + 784)))
        (tmp_path / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(9)))
    with pytest.raises(sr.errors.DataError, match="not those published"):
        build_set("fashion", tmp_path)

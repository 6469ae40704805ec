"""Sets in the cache, with stand-ins: a collection of eight images, and a network whose features are their pixels."""

import gzip
import hashlib
from dataclasses import replace

import numpy as np
import pytest

import subridge as sr
from subridge.datasets.images import extraction
from subridge.datasets.images.networks import Network
from subridge.datasets.images.published import COLLECTIONS, build_set, finished_set

pytest.importorskip("PIL")
pytest.importorskip("zarr")

PIXELS = {"train": np.arange(20, dtype=np.uint8).reshape(5, 2, 2), "test": np.ones((3, 2, 2), dtype=np.uint8)}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SUBRIDGE_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def seen(cache, monkeypatch):
    """How many images the network was given, batch by batch; the third batch of all is interrupted."""
    collection = replace(
        COLLECTIONS["cifar10"],
        read=lambda folder, part: (PIXELS[part], np.arange(len(PIXELS[part]))),
        extraction=extraction.Extraction("efficientnet-lite0", size=2),
        counts=(5, 3),
        digests=tuple(hashlib.sha256(array.tobytes()).hexdigest() for array in PIXELS.values()),
    )
    counts = []

    def build(self, weights=None, device="cpu"):
        def compute(images):
            counts.append(len(images))
            if len(counts) == 3:
                raise KeyboardInterrupt
            rows = np.zeros((len(images), self.n_features), dtype=np.float32)
            rows[:, :12] = images.reshape(len(images), -1)
            return rows

        return compute

    monkeypatch.setitem(COLLECTIONS, "cifar10", collection)
    monkeypatch.setattr(extraction, "_BATCH", 2)
    monkeypatch.setattr(Network, "build", build)
    return counts


def built(folder, *sizes):
    """Build the set, and go on once when interrupted."""
    with pytest.raises(KeyboardInterrupt):
        build_set("cifar10", folder, *sizes)
    return build_set("cifar10", folder, *sizes)


def test_an_absent_set_names_the_command_that_builds_it(cache):
    with pytest.raises(sr.errors.DataError, match="make data"):
        sr.datasets.load_set("cifar10")
    with pytest.raises(sr.errors.DataError, match="bundled, cifar10, fashion"):
        sr.datasets.load_set("mnist")


def test_an_interrupted_build_goes_on_and_a_finished_one_leaves_only_its_set(cache, seen):
    with pytest.raises(KeyboardInterrupt):
        build_set("cifar10", cache)
    assert finished_set("cifar10") is None
    path = build_set("cifar10", cache)
    assert seen == [2, 2, 2, 2, 2]  # four images of the first try are not extracted again
    assert [entry.name for entry in cache.iterdir()] == ["cifar10.zarr"]
    assert finished_set("cifar10") == path
    assert finished_set("cifar10", 4) is None


def test_a_cached_set_has_the_published_split_and_says_how_it_was_made(cache, seen):
    built(cache)
    data = sr.datasets.load_set("cifar10")
    assert data.name == "cifar10 x efficientnet-lite0"
    assert data.class_names == COLLECTIONS["cifar10"].class_names
    assert (len(data.X), len(data.X_test)) == (5, 3)
    np.testing.assert_array_equal(data.y, np.arange(5))
    np.testing.assert_array_equal(data.y_test, np.arange(3))
    assert data.X.dtype == np.float64
    assert (np.diff(data.X[:, 0]) > 0).all()  # the order of the images is kept
    assert data.attributes["preprocessing"]["crop"] == 2
    assert "CIFAR-10" in data.attributes["images"][0]


def test_another_number_of_images_is_another_set_that_takes_the_place_of_the_first(cache, seen):
    first = built(cache)
    second = build_set("cifar10", cache, 3, 1)
    assert first == second
    assert len(sr.datasets.load_set("cifar10").X) == 3
    assert finished_set("cifar10", 3, 1) == second
    assert [entry.name for entry in cache.iterdir()] == ["cifar10.zarr"]


def test_a_cached_set_is_checked_when_read(cache, seen):
    path = built(cache)
    for array in ("features", "labels", "is_test", "usable"):
        chunk = next(entry for entry in sorted((path / array / "c").rglob("*")) if entry.is_file())
        whole = chunk.read_bytes()
        for damage in ("altered", "lost"):
            if damage == "altered":
                chunk.write_bytes(whole[:-1] + b"x")
            else:
                chunk.unlink()
            with pytest.raises(sr.errors.DataError, match=r"run `make data` again"):
                sr.datasets.load_set("cifar10")
            assert finished_set("cifar10") is None, (array, damage)
            chunk.write_bytes(whole)
            assert finished_set("cifar10") == path


def test_images_that_are_not_the_published_ones_are_refused(tmp_path):
    for stem in ("train", "t10k"):
        (tmp_path / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16 + 784)))
        (tmp_path / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(9)))
    with pytest.raises(sr.errors.DataError, match="not those published"):
        build_set("fashion", tmp_path)

"""The store of extracted features: what it gives back, what damage does to it, and how extractions share it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.store.features import FeatureStore, read_features

pytest.importorskip("zarr")
OLD = Path(__file__).parent / "data" / "features-0.2.0.zarr"
DAMAGED = sr.errors.DamagedStoreWarning


def flip(path):
    contents = bytearray(path.read_bytes())
    contents[-1] ^= 1
    path.write_bytes(contents)


def feature_store(path, n=10, version=None):
    labels, is_test = np.arange(n) % 2, np.arange(n) > 6
    return FeatureStore(path, labels, is_test, 3, {"fingerprint": "f", "class_names": ["a", "b"]}, batch=4)


def fill(store):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((10, 3)).astype(np.float32)
    filled = []
    for images in store.claimed():
        usable = np.ones(len(images), dtype=np.uint8)
        store.write(images, values[images.start : images.stop], usable)
        filled.append(images)
    return filled


@pytest.mark.parametrize("name", ["features", "usable"])
def test_damaged_features_are_an_error_to_read_and_mended_by_the_extraction(tmp_path, name):
    place = tmp_path / "f.zarr"
    fill(feature_store(place))
    whole = read_features(place)
    flip(
        next(file for file in (place / name / "c" / "1").rglob("*") if file.is_file())
        if name == "features"
        else place / name / "c" / "1"
    )
    with pytest.raises(sr.errors.StoreError, match="damaged in 1 of its batches; run the same extraction again"):
        read_features(place)
    with pytest.warns(DAMAGED, match="damaged in batches 1"):
        store = feature_store(place)
    assert fill(store) == [range(4, 8)]
    np.testing.assert_array_equal(read_features(place).features, whole.features)


@pytest.mark.parametrize("name", ["labels", "is_test"])
def test_damaged_labels_are_an_error_to_read_and_written_anew(tmp_path, name):
    place = tmp_path / "f.zarr"
    fill(feature_store(place))
    whole = read_features(place)
    flip(place / name / "c" / "0")
    with pytest.raises(sr.errors.StoreError, match=r"description of store .* is damaged"):
        read_features(place)
    with pytest.warns(DAMAGED, match=f"{name} of store"):
        feature_store(place)
    np.testing.assert_array_equal(read_features(place).labels, whole.labels)


def test_an_unfinished_feature_store_says_so(tmp_path):
    feature_store(tmp_path / "f.zarr")
    with pytest.raises(sr.errors.StoreError, match="3 batches are missing"):
        read_features(tmp_path / "f.zarr")


def test_features_begun_by_another_version_are_not_finished_by_this_one(tmp_path, monkeypatch):
    place = tmp_path / "f.zarr"
    monkeypatch.setattr("subridge.store.features.__version__", "0.0.1")
    feature_store(place)
    monkeypatch.undo()
    with pytest.raises(sr.errors.StoreError, match=r"begun by subridge 0\.0\.1"):
        feature_store(place)


def test_a_feature_store_gives_back_what_was_written_without_what_could_not_be_read(tmp_path):
    place = tmp_path / "f.zarr"
    store = feature_store(place)
    assert store.missing() == [range(0, 4), range(4, 8), range(8, 10)]
    values = np.arange(30, dtype=np.float32).reshape(10, 3)
    for images in store.claimed():
        usable = np.array([image != 5 for image in images], dtype=np.uint8)
        store.write(images, values[images.start : images.stop], usable)
    assert store.missing() == []
    assert store.unusable().tolist() == [5]
    found, kept = read_features(place), [image for image in range(10) if image != 5]
    np.testing.assert_array_equal(found.features, values[kept])
    assert found.labels.tolist() == [image % 2 for image in kept]
    assert found.labels.dtype == np.int64
    assert found.is_test.tolist() == [image > 6 for image in kept]
    assert found.class_names == ("a", "b")
    assert found.n_unreadable == 1
    assert found.attributes["fingerprint"] == "f"
    assert "class_names" not in found.attributes


def test_an_extraction_that_stops_leaves_the_rest_to_the_next(tmp_path):
    claimed = feature_store(tmp_path / "f.zarr").claimed()
    assert next(claimed) == range(0, 4)
    claimed.close()
    assert fill(feature_store(tmp_path / "f.zarr")) == [range(0, 4), range(4, 8), range(8, 10)]


def test_an_extraction_skips_what_another_has_finished(tmp_path):
    place = tmp_path / "f.zarr"
    one, other = feature_store(place), feature_store(place)
    claimed = one.claimed()
    assert next(claimed) == range(0, 4)
    fill(other)
    assert list(claimed) == []
    assert read_features(place).features.shape == (10, 3)


def test_a_finished_feature_store_of_another_version_is_read(tmp_path, monkeypatch):
    place = tmp_path / "f.zarr"
    monkeypatch.setattr("subridge.store.features.__version__", "0.0.1")
    fill(feature_store(place))
    monkeypatch.undo()
    assert feature_store(place).missing() == []
    assert read_features(place).features.shape == (10, 3)


def test_a_store_that_version_0_2_0_wrote_is_read(tmp_path):
    place = shutil.copytree(OLD, tmp_path / "f.zarr")
    found, kept = read_features(place), [image for image in range(10) if image != 5]
    np.testing.assert_array_equal(found.features, np.arange(30, dtype=np.float32).reshape(10, 3)[kept])
    assert found.labels.tolist() == [image % 2 for image in kept]
    assert feature_store(place).missing() == []
    flip(place / "usable" / "c" / "0")
    with pytest.raises(sr.errors.StoreError, match="damaged in 1 of its batches"):
        read_features(place)

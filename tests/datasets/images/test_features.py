"""The store of extracted features: what it gives back, and what damage does to it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.datasets.images.features import read_features, write_features

zarr = pytest.importorskip("zarr")
OLD = Path(__file__).parent / "data" / "features-0.2.0.zarr"
StoreError = sr.errors.StoreError
KEPT = [image for image in range(10) if image != 5]
VALUES = np.arange(30, dtype=np.float32).reshape(10, 3)


@pytest.fixture(params=["new", "old"])
def place(request, tmp_path):
    """A store of this version, and one that version 0.2.0 wrote; image 5 could not be read."""
    path = tmp_path / "f.zarr"
    if request.param == "old":
        return shutil.copytree(OLD, path)
    numbers = np.arange(10)
    usable, is_test = (numbers != 5).astype(np.uint8), (numbers > 6).astype(np.uint8)
    arrays = {"features": VALUES, "usable": usable, "labels": numbers % 2, "is_test": is_test}
    write_features(path, arrays, {"fingerprint": "f", "class_names": ["a", "b"]}, block=4)
    return path


def test_a_store_gives_back_what_was_written_without_what_could_not_be_read(place):
    found = read_features(place)
    np.testing.assert_array_equal(found.features, VALUES[KEPT])
    assert found.labels.tolist() == [image % 2 for image in KEPT]
    assert found.labels.dtype == np.int64
    assert found.is_test.tolist() == [image > 6 for image in KEPT]
    assert found.class_names == ("a", "b")
    assert found.unreadable.tolist() == [5]
    assert found.attributes["fingerprint"] == "f"
    assert "class_names" not in found.attributes
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def chunks(place):
    return sorted(path for path in place.glob("*/c/**/*") if path.is_file() and "claims" not in path.parts)


@pytest.mark.slow
def test_every_flipped_bit_of_a_chunk_and_of_a_description_is_told(place):
    for path in [*chunks(place), place / "zarr.json", *(place.glob("*/zarr.json"))]:
        whole = path.read_bytes()
        for position in (0, len(whole) // 3, len(whole) // 2, len(whole) - 1):
            harmed = bytearray(whole)
            harmed[position] ^= 1
            path.write_bytes(harmed)
            try:
                found = read_features(place)
            except StoreError:
                continue
            finally:
                path.write_bytes(whole)
            np.testing.assert_array_equal(found.features, VALUES[KEPT])  # white space of a text


def test_deleted_and_exchanged_chunks_are_told(place):
    for path in chunks(place):
        whole = path.read_bytes()
        path.unlink()
        with pytest.raises(StoreError, match="is damaged or not finished"):
            read_features(place)
        path.write_bytes(whole)
    first, second = place / "features" / "c" / "0" / "0", place / "features" / "c" / "1" / "0"
    shutil.copy(first, second)
    with pytest.raises(StoreError, match="damaged or not finished; remove it, and extract the features again"):
        read_features(place)


def test_a_store_that_an_older_version_did_not_finish_says_so(tmp_path):
    place = shutil.copytree(OLD, tmp_path / "f.zarr")
    group = zarr.open_group(str(place), mode="r+")
    group["done"][1] = np.uint64(0)
    with pytest.raises(StoreError, match="damaged or not finished; remove it"):
        read_features(place)


def test_what_is_no_store_of_features_is_named(tmp_path):
    with pytest.raises(StoreError, match="not a store of features, or damaged; check the path"):
        read_features(tmp_path / "absent.zarr")
    group = zarr.create_group(store=str(tmp_path / "other.zarr"), zarr_format=3)
    with pytest.raises(StoreError, match=r"a zarr group but not a store of features .*\(schema None"):
        read_features(tmp_path / "other.zarr")
    group.attrs.update({"schema": "subridge-features", "schema_version": 1, "subridge_version": "0.1.0"})
    with pytest.raises(StoreError, match=r"version 1; it reads subridge-features, 2.* extract the features again"):
        read_features(tmp_path / "other.zarr")

"""A table is the same wherever it comes from."""

import sys

import numpy as np
import pandas as pd
import pytest

from subridge.datasets import read_table
from subridge.datasets.images.features import write_features
from subridge.model.errors import DataError


@pytest.fixture
def source(tmp_path, columns, expected):
    """One table in any form that `read_table` takes, given its target; skips where an extra is absent."""

    def made(form, y):
        data, names = columns | {"y": y}, ["a", "b", "c"]
        frame, path = pd.DataFrame(data), tmp_path / f"t.{form}"
        if form == "polars":
            return pytest.importorskip("polars").DataFrame(data), "y"
        if form in ("csv", "tsv"):
            frame.to_csv(path, sep="," if form == "csv" else "\t", index=False)
        elif form == "parquet":
            pytest.importorskip("pyarrow")
            frame.to_parquet(path)
        elif form == "npz":
            np.savez(path, X=expected, y=np.asarray(y), feature_names=names)
        elif form == "zarr":
            group = pytest.importorskip("zarr").create_group(store=str(path))
            group.attrs["feature_names"] = names
            group.create_array("X", data=expected)
            group.create_array("y", data=np.asarray(y))
        in_memory = {
            "pandas": (frame, "y"),
            "pair": ((expected, y), None),
            "pair of frames": ((frame[names], pd.Series(y)), None),
        }
        return in_memory.get(form, (path, None if form in ("npz", "zarr") else "y"))

    return made


FORMS = ("pandas", "polars", "pair", "pair of frames", "csv", "tsv", "parquet", "npz", "zarr")


@pytest.mark.parametrize("form", FORMS)
def test_every_source_gives_the_same_regression_table(source, columns, expected, form):
    y = columns["y"]
    table = read_table(*source(form, y))
    np.testing.assert_array_equal(table.X, expected)
    np.testing.assert_array_equal(table.targets, y[None])
    np.testing.assert_array_equal(table.y, y)
    assert table.X.flags.c_contiguous
    assert table.X.dtype == table.targets.dtype == np.float64
    assert table.feature_names == (("x0", "x1", "x2") if form == "pair" else ("a", "b", "c"))
    assert table.class_names is None
    assert table.notes == ()


# Strings of fixed width are not yet in the specification of zarr, and it warns.
@pytest.mark.parametrize("form", [form for form in FORMS if form != "zarr"])
def test_every_source_gives_the_same_classification_table(source, labels, form):
    table = read_table(*source(form, labels))
    assert table.class_names == ("high", "low", "mid")
    assert [table.class_names[i] for i in table.y] == labels
    np.testing.assert_array_equal(table.targets.sum(axis=0), np.ones(len(labels)))
    assert table.targets[1, 0] == 1


@pytest.mark.parametrize(
    ("form", "absent", "remedy"), [("parquet", ["pyarrow", "fastparquet"], "tables"), ("zarr", ["zarr"], "cluster")]
)
def test_an_absent_library_is_an_error_with_the_command_that_installs_it(
    source, columns, monkeypatch, form, absent, remedy
):
    found = source(form, columns["y"])
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DataError, match=rf"pip install 'subridge\[{remedy}\]'"):
        read_table(*found)


def test_text_is_read_alike_with_gaps_quotes_and_blanks(tmp_path):
    rows = [f'{i * i % 17}, {i % 5}.5,{("True", "False")[i % 2]},"{i}"' for i in range(30)]
    rows[3] = "NA,,,3"
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "\n".join(rows))
    table = read_table(tmp_path / "t.csv", "y", missing="drop")
    kept = np.array([i for i in range(30) if i != 3])
    np.testing.assert_array_equal(table.y, kept)
    np.testing.assert_array_equal(table.X, np.column_stack([kept * kept % 17, kept % 5 + 0.5, kept % 2 == 0]))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_row_numbers_that_pandas_wrote_are_no_feature(tmp_path, columns, suffix):
    frame = pd.DataFrame(columns, index=np.arange(len(columns["y"])) + 5)
    if suffix == "csv":
        frame.to_csv(tmp_path / "t.csv")
    else:
        pytest.importorskip("pyarrow")
        frame.reset_index(names="__index_level_0__").to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / f"t.{suffix}", "y")
    assert table.feature_names == ("a", "b", "c")
    assert table.notes[0].startswith("dropped a column of row numbers")


def test_a_first_column_without_a_name_is_kept_unless_it_numbers_or_names_rows(tmp_path, columns, expected):
    path = tmp_path / "t.csv"
    for labels in ([f"car {i}" for i in range(40)], range(40, 0, -1)):
        pd.DataFrame(columns, index=labels).to_csv(path)
        assert read_table(path, "y").feature_names == ("a", "b", "c")
    pd.DataFrame(columns, index=columns["a"] * 2).to_csv(path)
    table = read_table(path, "y")
    np.testing.assert_allclose(table.X[:, 1:], expected)
    assert table.notes == ("named 1 column whose name is repeated or empty: Unnamed: 0",)


def test_two_columns_with_the_name_of_the_target_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("y,a,y,g,g\n" + "1,2,3,4,5\n" * 30)
    with pytest.raises(DataError, match="has 2 columns named 'y'; rename"):
        read_table(tmp_path / "t.csv", "y")
    with pytest.raises(DataError, match="has 2 columns named 'g'"):
        read_table(tmp_path / "t.csv", "a", groups="g")


def store_of_features(path, X, is_test):
    names = {"class_names": ["cat", "dog"], "paths": [f"{i}.png" for i in range(len(X))], "fingerprint": "f"}
    numbers = np.arange(len(X))
    usable, is_test = (each.astype(np.uint8) for each in (numbers != 5, is_test))
    write_features(path, {"features": X, "usable": usable, "labels": numbers % 2, "is_test": is_test}, names, 16)


def test_a_features_store_gives_its_training_images(tmp_path, sample):
    pytest.importorskip("zarr")
    X = sample[0].astype(np.float32)
    store_of_features(tmp_path / "s.zarr", X, np.arange(len(X)) >= 30)
    table = read_table(tmp_path / "s.zarr")
    kept = [i for i in range(30) if i != 5]
    np.testing.assert_array_equal(table.X, X[kept].astype(np.float64))
    np.testing.assert_array_equal(table.y, np.array(kept) % 2)
    assert table.class_names == ("cat", "dog")
    assert table.notes == (
        "left out 1 image of the store that could not be read",
        "left out 10 of 39 images that the store keeps for testing",
    )


def test_another_array_can_be_the_target(tmp_path, sample):
    X, y = sample
    np.savez(tmp_path / "t.npz", X=X, y=y, other=2 * y)
    np.testing.assert_array_equal(read_table(tmp_path / "t.npz", "other").y, 2 * y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_several_targets_are_rows(library, columns, sample):
    data = columns | {"z": sample[0][:, 2]}
    table = read_table(pytest.importorskip(library).DataFrame(data), ["z", "y"])
    np.testing.assert_array_equal(table.targets, [data["z"], data["y"]])
    np.testing.assert_array_equal(table.y, table.targets.T)
    assert table.feature_names == ("a", "b", "c")


def test_a_wide_frame_keeps_the_order_of_its_columns():
    X, y = np.random.default_rng(1).standard_normal((25, 150)), np.arange(25.0)
    frame = pd.DataFrame(X)
    frame["y"] = y
    np.testing.assert_array_equal(read_table(frame, "y").X, X)
    np.testing.assert_array_equal(read_table(frame.drop(columns="y"), 3).y, X[:, 3])


def test_arrays_that_need_no_change_are_not_copied(sample):
    X, y = sample
    table = read_table((X, y))
    assert np.shares_memory(table.X, X)
    assert table.X.flags.writeable
    X.setflags(write=False)
    np.testing.assert_array_equal(read_table((X, y)).X, X)


@pytest.mark.parametrize("treatment", [{"missing": "mean"}, {"standardise": True, "missing": "drop"}])
def test_the_callers_array_stays_as_it_is(treatment, sample):
    X, y = sample
    if treatment["missing"] == "mean":
        X[0, 0] = np.nan
    before = X.copy()
    read_table((X, y), **treatment)
    np.testing.assert_array_equal(X, before)


def test_broken_files_are_refused(tmp_path, sample, labels):
    X, y = sample
    for name, content in (("e.csv", b""), ("e.npz", b""), ("cut.npz", b"PK\3\4")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=name):
            read_table(tmp_path / name, "y")
    np.savez(tmp_path / "objects.npz", X=X, y=np.array(labels, dtype=object))
    with pytest.raises(DataError, match="labels as strings"):
        read_table(tmp_path / "objects.npz")
    np.savez(tmp_path / "names.npz", X=X, y=y, feature_names=["a"])
    with pytest.raises(DataError, match="feature_names has 1 different names, but X has 3 columns"):
        read_table(tmp_path / "names.npz")
    np.savez(tmp_path / "other.npz", Z=X, y=y)
    with pytest.raises(DataError, match="has no array 'X', only Z, y"):
        read_table(tmp_path / "other.npz")
    with pytest.raises(DataError, match="has no array"):
        read_table(tmp_path / "other.npz", ["y"])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_damaged_byte_of_an_archive_is_noticed(tmp_path, sample, save):
    X, y = sample
    save(tmp_path / "t.npz", X=X, y=y)
    whole = (tmp_path / "t.npz").read_bytes()
    for place in range(0, len(whole), 29):
        damaged = bytearray(whole)
        damaged[place] ^= 8
        (tmp_path / "t.npz").write_bytes(damaged)
        try:
            table = read_table(tmp_path / "t.npz")
        except DataError:
            continue
        np.testing.assert_array_equal(table.X, X)  # a byte that says nothing about the numbers, such as a date
        np.testing.assert_array_equal(table.y, y)


def test_a_zarr_group_that_lacks_arrays_or_chunks_is_refused(tmp_path, sample):
    zarr = pytest.importorskip("zarr")
    (tmp_path / "e.zarr").write_bytes(b"")
    with pytest.raises(DataError, match=r"e\.zarr cannot be read"):
        read_table(tmp_path / "e.zarr")
    group = zarr.create_group(store=str(tmp_path / "t.zarr"))
    with pytest.raises(DataError, match="has no array 'X' and 'y', only none"):
        read_table(tmp_path / "t.zarr")
    group.create_array("X", data=sample[0], chunks=(10, 3))
    group.create_array("y", data=sample[1])
    np.testing.assert_array_equal(read_table(tmp_path / "t.zarr").X, sample[0])
    (tmp_path / "t.zarr" / "X" / "c" / "2" / "0").unlink()
    with pytest.raises(DataError, match="lacks 1 of the 4 chunks of X, which would be read as 0"):
        read_table(tmp_path / "t.zarr")


def test_a_broken_parquet_file_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "e.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"e\.parquet cannot be read"):
        read_table(tmp_path / "e.parquet", "y")

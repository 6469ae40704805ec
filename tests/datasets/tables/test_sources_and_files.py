"""A table is the same wherever it comes from."""

import sys

import numpy as np
import pytest
from subridge.model.errors import DataError, StoreError

from subridge.datasets import read_table
from subridge.store.features import FeatureStore

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
zarr = pytest.importorskip("zarr")


@pytest.fixture
def sources(tmp_path, columns, expected):
    """One table in every form that `read_table` takes, given its target."""
    return lambda y: forms_of(tmp_path, columns | {"y": y}, expected)


def forms_of(folder, data, X):
    y = data["y"]
    frame, names = pl.DataFrame(data), ["a", "b", "c"]
    frame.write_csv(folder / "t.csv")
    frame.write_csv(folder / "t.tsv", separator="\t")
    frame.write_parquet(folder / "t.parquet")
    np.savez(folder / "t.npz", X=X, y=np.asarray(y), feature_names=names)
    group = zarr.create_group(store=str(folder / "t.zarr"))
    group.attrs["feature_names"] = names
    group.create_array("X", data=X)
    # zarr's strings of fixed width are not yet in its specification, and it warns; numbers stand for them.
    group.create_array("y", data=np.asarray(y) if np.asarray(y).dtype.kind == "f" else np.zeros(len(X)))
    found = {"pandas": (pd.DataFrame(data), "y"), "polars": (frame, "y"), "pair": ((X, y), None)}
    found["pair of frames"] = ((pd.DataFrame(data)[names], pd.Series(y)), None)
    found |= {suffix: (folder / f"t.{suffix}", "y") for suffix in ("csv", "tsv", "parquet")}
    return found | {suffix: (folder / f"t.{suffix}", None) for suffix in ("npz", "zarr")}


FORMS = ("pandas", "polars", "pair", "pair of frames", "csv", "tsv", "parquet", "npz", "zarr")


@pytest.mark.parametrize("form", FORMS)
def test_every_source_gives_the_same_regression_table(sources, columns, expected, form):
    y = columns["y"]
    table = read_table(*sources(y)[form])
    np.testing.assert_array_equal(table.X, expected)
    np.testing.assert_array_equal(table.targets, y[None])
    np.testing.assert_array_equal(table.y, y)
    assert table.X.flags.c_contiguous
    assert table.X.dtype == table.targets.dtype == np.float64
    assert table.feature_names == (("x0", "x1", "x2") if form == "pair" else ("a", "b", "c"))
    assert table.class_names is None
    assert table.notes == ()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "zarr"])
def test_every_source_gives_the_same_classification_table(sources, labels, form):
    table = read_table(*sources(labels)[form])
    assert table.class_names == ("high", "low", "mid")
    assert [table.class_names[i] for i in table.y] == labels
    np.testing.assert_array_equal(table.targets.sum(axis=0), np.ones(len(labels)))
    assert table.targets[1, 0] == 1


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_pandas_reads_files_where_polars_is_absent(sources, columns, expected, monkeypatch, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    source = sources(columns["y"])[suffix]
    monkeypatch.setitem(sys.modules, "polars", None)
    table = read_table(*source)
    np.testing.assert_array_equal(table.X, expected)
    np.testing.assert_array_equal(table.y, columns["y"])


@pytest.mark.parametrize(
    ("suffix", "absent", "remedy"),
    [
        ("csv", ["polars", "pandas"], "tables"),
        ("parquet", ["polars", "pandas"], "tables"),
        ("zarr", ["zarr"], "cluster"),
    ],
)
def test_an_absent_library_is_an_error_with_the_command_that_installs_it(
    sources, columns, monkeypatch, suffix, absent, remedy
):
    source = sources(columns["y"])[suffix]
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DataError, match=rf"pip install 'subridge\[{remedy}\]'"):
        read_table(*source)


@pytest.mark.parametrize("reader", ["polars", "pandas"])
def test_text_with_gaps_quotes_and_blanks_is_read_alike(tmp_path, monkeypatch, reader):
    rows = [f'{i * i % 17}, {i % 5}.5,{("True", "False")[i % 2]},"{i}"' for i in range(30)]
    rows[3] = "NA,,,3"
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "\n".join(rows))
    if reader == "pandas":
        monkeypatch.setitem(sys.modules, "polars", None)
    table = read_table(tmp_path / "t.csv", "y", missing="drop")
    kept = np.array([i for i in range(30) if i != 3])
    np.testing.assert_array_equal(table.y, kept)
    np.testing.assert_array_equal(table.X, np.column_stack([kept * kept % 17, kept % 5 + 0.5, kept % 2 == 0]))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("reader", ["polars", "pandas"])
def test_row_numbers_that_pandas_wrote_are_no_feature(tmp_path, columns, monkeypatch, suffix, reader):
    numbers = np.arange(len(columns["y"]))
    frame = pd.DataFrame(columns, index=numbers + 5)
    if suffix == "csv":
        frame.to_csv(tmp_path / "t.csv")
    else:
        pl.DataFrame(columns | {"__index_level_0__": numbers}).write_parquet(tmp_path / "t.parquet")
        if reader == "pandas":
            pytest.importorskip("pyarrow")
    if reader == "pandas":
        monkeypatch.setitem(sys.modules, "polars", None)
    table = read_table(tmp_path / f"t.{suffix}", "y")
    assert table.feature_names == ("a", "b", "c")
    assert table.notes[0].startswith("dropped a column of row numbers")


def store_of_features(path, X, is_test):
    names = {"class_names": ["cat", "dog"], "paths": [f"{i}.png" for i in range(len(X))], "fingerprint": "f"}
    store = FeatureStore(path, np.arange(len(X)) % 2, is_test, 3, names, 16)
    for batch in store.missing():
        store.write(batch, X[batch.start : batch.stop], np.array([i != 5 for i in batch], dtype=np.uint8))


def test_a_features_store_gives_its_training_images(tmp_path, sample):
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


def test_an_unfinished_features_store_is_refused(tmp_path):
    names = {"class_names": ["cat"], "paths": [], "fingerprint": "f"}
    FeatureStore(tmp_path / "s.zarr", np.zeros(40, int), np.zeros(40), 3, names, 16)
    with pytest.raises(StoreError, match="not finished"):
        read_table(tmp_path / "s.zarr")


def test_another_array_can_be_the_target(tmp_path, sample):
    X, y = sample
    np.savez(tmp_path / "t.npz", X=X, y=y, other=2 * y)
    np.testing.assert_array_equal(read_table(tmp_path / "t.npz", "other").y, 2 * y)


@pytest.mark.parametrize("library", [pd, pl])
def test_several_targets_are_rows(library, columns, sample):
    data = columns | {"z": sample[0][:, 2]}
    table = read_table(library.DataFrame(data), ["z", "y"])
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
    assert np.shares_memory(read_table((X, y)).X, X)


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
    for name, content in (("e.csv", b""), ("e.parquet", b""), ("e.npz", b""), ("cut.npz", b"PK\3\4"), ("e.zarr", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=name):
            read_table(tmp_path / name, "y")
    np.savez(tmp_path / "objects.npz", X=X, y=np.array(labels, dtype=object))
    with pytest.raises(DataError, match="labels as strings"):
        read_table(tmp_path / "objects.npz")
    np.savez(tmp_path / "names.npz", X=X, y=y, feature_names=["a"])
    with pytest.raises(DataError, match="feature_names has 1 entry, but X has 3"):
        read_table(tmp_path / "names.npz")
    np.savez(tmp_path / "other.npz", Z=X, y=y)
    with pytest.raises(DataError, match="has no array 'X', only Z, y"):
        read_table(tmp_path / "other.npz")
    with pytest.raises(DataError, match="name of one array"):
        read_table(tmp_path / "other.npz", ["y"])
    zarr.create_group(store=str(tmp_path / "group.zarr"))
    with pytest.raises(DataError, match="has no array 'X' and 'y', only none"):
        read_table(tmp_path / "group.zarr")


def test_broken_text_is_refused_by_pandas_too(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataError, match=r"empty.csv is not a table of text"):
        read_table(tmp_path / "empty.csv", "y")

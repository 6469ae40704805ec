"""A table is the same wherever it comes from, and every treatment is told or refused."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from subridge.datasets import read_table
from subridge.datasets.tables.targets import read_target
from subridge.datasets.tables.treatments import repeated_columns
from subridge.spec.errors import DataError, ParameterError, StoreError
from subridge.store.features import FeatureStore

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
zarr = pytest.importorskip("zarr")

N = 40


def sample(n=N):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 3)), rng.standard_normal(n)


def columns(y=None):
    """A dict for either frame library: floats, integers, booleans and the target in between."""
    X, numbers = sample()
    whole = np.arange(N) * 7 % 11
    return {"a": X[:, 0], "b": whole, "y": numbers if y is None else y, "c": X[:, 1] > 0}


def expected():
    X, _ = sample()
    return np.column_stack([X[:, 0], np.arange(N) * 7 % 11, X[:, 1] > 0]).astype(float)


LABELS = [("low", "high", "mid")[i % 3] for i in range(N)]


def sources(folder, y):
    """One table in every form that `read_table` takes."""
    data, X = columns(y), expected()
    frame, names = pl.DataFrame(data), ["a", "b", "c"]
    frame.write_csv(folder / "t.csv")
    frame.write_csv(folder / "t.tsv", separator="\t")
    frame.write_parquet(folder / "t.parquet")
    np.savez(folder / "t.npz", X=X, y=np.asarray(y), feature_names=names)
    group = zarr.create_group(store=str(folder / "t.zarr"))
    group.attrs["feature_names"] = names
    group.create_array("X", data=X)
    # zarr's strings of fixed width are not yet in its specification, and it warns; numbers stand for them.
    group.create_array("y", data=np.asarray(y) if np.asarray(y).dtype.kind == "f" else np.zeros(N))
    found = {"pandas": (pd.DataFrame(data), "y"), "polars": (frame, "y"), "pair": ((X, y), None)}
    found["pair of frames"] = ((pd.DataFrame(data)[names], pd.Series(y)), None)
    found |= {suffix: (folder / f"t.{suffix}", "y") for suffix in ("csv", "tsv", "parquet")}
    return found | {suffix: (folder / f"t.{suffix}", None) for suffix in ("npz", "zarr")}


FORMS = ("pandas", "polars", "pair", "pair of frames", "csv", "tsv", "parquet", "npz", "zarr")


@pytest.mark.parametrize("form", FORMS)
def test_every_source_gives_the_same_regression_table(tmp_path, form):
    X, y = expected(), sample()[1]
    table = read_table(*sources(tmp_path, y)[form])
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.targets, y[None])
    np.testing.assert_array_equal(table.y, y)
    assert table.X.flags.c_contiguous
    assert table.X.dtype == table.targets.dtype == np.float64
    assert table.feature_names == (("x0", "x1", "x2") if form == "pair" else ("a", "b", "c"))
    assert table.class_names is None
    assert table.notes == ()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "zarr"])
def test_every_source_gives_the_same_classification_table(tmp_path, form):
    table = read_table(*sources(tmp_path, LABELS)[form])
    assert table.class_names == ("high", "low", "mid")
    assert [table.class_names[i] for i in table.y] == LABELS
    np.testing.assert_array_equal(table.targets.sum(axis=0), np.ones(N))
    assert table.targets[1, 0] == 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_pandas_reads_files_where_polars_is_absent(tmp_path, monkeypatch, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    y = sample()[1]
    sources(tmp_path, y)
    monkeypatch.setitem(sys.modules, "polars", None)
    table = read_table(tmp_path / f"t{suffix}", "y")
    np.testing.assert_array_equal(table.X, expected())
    np.testing.assert_array_equal(table.y, y)


@pytest.mark.parametrize(
    ("suffix", "absent", "remedy"),
    [
        ("csv", ["polars", "pandas"], "tables"),
        ("parquet", ["polars", "pandas"], "tables"),
        ("zarr", ["zarr"], "cluster"),
    ],
)
def test_an_absent_library_is_an_error_with_the_command_that_installs_it(tmp_path, monkeypatch, suffix, absent, remedy):
    sources(tmp_path, sample()[1])
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DataError, match=rf"pip install 'subridge\[{remedy}\]'"):
        read_table(tmp_path / f"t.{suffix}", "y")


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
def test_row_numbers_that_pandas_wrote_are_no_feature(tmp_path, monkeypatch, suffix, reader):
    frame = pd.DataFrame(columns(), index=np.arange(N) + 5)
    if suffix == "csv":
        frame.to_csv(tmp_path / "t.csv")
    else:
        pl.DataFrame(columns() | {"__index_level_0__": np.arange(N)}).write_parquet(tmp_path / "t.parquet")
        if reader == "pandas":
            pytest.importorskip("pyarrow")
    if reader == "pandas":
        monkeypatch.setitem(sys.modules, "polars", None)
    table = read_table(tmp_path / f"t.{suffix}", "y")
    assert table.feature_names == ("a", "b", "c")
    assert table.notes[0].startswith("dropped a column of row numbers")


def store_of_features(path, is_test):
    X = sample()[0].astype(np.float32)
    names = {"class_names": ["cat", "dog"], "paths": [f"{i}.png" for i in range(N)], "fingerprint": "f"}
    store = FeatureStore(path, np.arange(N) % 2, is_test, 3, names, 16)
    for batch in store.missing():
        store.write(batch, X[batch.start : batch.stop], np.array([i != 5 for i in batch], dtype=np.uint8))
    return X


def test_a_features_store_gives_its_training_images(tmp_path):
    is_test = np.arange(N) >= 30
    X = store_of_features(tmp_path / "s.zarr", is_test)
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
    FeatureStore(tmp_path / "s.zarr", np.zeros(N, int), np.zeros(N), 3, names, 16)
    with pytest.raises(StoreError, match="not finished"):
        read_table(tmp_path / "s.zarr")


def test_another_array_can_be_the_target(tmp_path):
    X, y = sample()
    np.savez(tmp_path / "t.npz", X=X, y=y, other=2 * y)
    np.testing.assert_array_equal(read_table(tmp_path / "t.npz", "other").y, 2 * y)


@pytest.mark.parametrize("library", [pd, pl])
def test_several_targets_are_rows(library):
    data = columns() | {"z": sample()[0][:, 2]}
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


def test_arrays_that_need_no_change_are_not_copied():
    X, y = sample()
    assert np.shares_memory(read_table((X, y)).X, X)


@pytest.mark.parametrize("treatment", [{"missing": "mean"}, {"standardise": True, "missing": "drop"}])
def test_the_callers_array_stays_as_it_is(treatment):
    X, y = sample()
    if treatment["missing"] == "mean":
        X[0, 0] = np.nan
    before = X.copy()
    read_table((X, y), **treatment)
    np.testing.assert_array_equal(X, before)


# Targets


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (pd.Series([i % 2 == 0 for i in range(N)]), ("False", "True")),
        (pl.Series([i % 2 == 0 for i in range(N)]), ("False", "True")),
        (np.arange(N) % 2 == 0, ("False", "True")),
        (pd.Series([(10, 9)[i % 2] for i in range(N)], dtype="category"), ("9", "10")),
        (pl.Series([("v", "u")[i % 2] for i in range(N)], dtype=pl.Enum(["v", "u"])), ("u", "v")),
        (pl.Series([("v", "u")[i % 2] for i in range(N)], dtype=pl.Categorical), ("u", "v")),
        (np.array([b"v", b"u"] * (N // 2)), ("u", "v")),
        (np.array(["v", "u"] * (N // 2), dtype=np.dtypes.StringDType()), ("u", "v")),
    ],
    ids=["pandas bool", "polars bool", "bool", "category", "enum", "categorical", "bytes", "strings"],
)
def test_booleans_categories_and_strings_are_classes_in_order(y, names):
    table = read_table((sample()[0], y))
    assert table.class_names == names
    np.testing.assert_array_equal(table.y, (np.arange(N) + 1) % 2)


def test_numbers_become_classes_when_asked_and_are_mentioned_when_not():
    X, y = sample()[0], np.arange(N) % 3 * 5.0
    assert read_table((X, y), task="classification").class_names == ("0", "5", "10")
    table = read_table((X, y))
    assert table.class_names is None
    assert "3 whole values" in table.notes[0]
    assert read_table((X, y), task="regression").notes == ()
    assert read_table((X, np.arange(N) % 2 + 0.5), task="classification").class_names == ("0.5", "1.5")


def test_booleans_become_numbers_when_asked():
    y = np.arange(N) % 2 == 0
    np.testing.assert_array_equal(read_table((sample()[0], y), task="regression").targets, y[None].astype(float))


def test_a_missing_label_in_a_list_is_not_the_class_nan():
    assert read_target(["a", np.nan, None]).tolist() == ["a", None, None]


@pytest.mark.parametrize(
    ("y", "options", "match"),
    [
        (np.arange(N), {"task": "classification"}, "40 distinct values in 40 rows"),
        ([f"id{i}" for i in range(N)], {}, "40 distinct values"),
        (["a"] * (N - 1) + ["b"], {}, "at least 2 rows, these have one: b"),
        (["a"] * N, {}, "'a' in every row"),
        (np.ones(N), {}, "is 1 in every row"),
        (np.column_stack([np.arange(N), np.ones(N)]), {}, "target 1 is 1 in every row"),
        (np.column_stack([np.arange(N)] * 2), {"task": "classification"}, "one column of labels"),
        (LABELS, {"task": "regression"}, "labels such as 'low'"),
        (np.r_[np.inf, np.arange(N - 1)], {}, "infinite in 1 row of 40"),
        (np.r_[[np.inf] * 2, np.arange(N - 2) % 2], {"task": "classification"}, "infinite in 2 rows"),
        (np.arange(N).astype("M8[D]"), {}, "has type datetime64"),
        (np.arange(N) * 1j, {}, "has type complex128"),
        (np.array(["a", 1] * (N // 2), dtype=object), {}, "type int, str"),
        (np.arange(N - 1), {}, "X has 40 rows but y has 39"),
        (np.zeros((N, 0)), {}, r"got \(40, 0\)"),
        (np.r_[np.nan, np.arange(N - 1)], {}, "target is missing in 1 row of 40"),
        (np.r_[np.nan, np.arange(N - 1)], {"missing": "mean"}, "target is missing in 1 row of 40"),
        ([None, *LABELS[1:]], {}, "target is missing in 1 row of 40"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(y, options, match):
    with pytest.raises(DataError, match=match):
        read_table((sample()[0], y), **options)


# Features


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (pd.DataFrame(columns() | {"s": LABELS}), r"1 column .*: s \(str"),
        (pl.DataFrame(columns() | {"s": LABELS}), r"1 column .*: s \(String\)"),
        (pd.DataFrame(columns() | {"s": pd.Series(LABELS, dtype="category")}), r"s \(category\)"),
        (pd.DataFrame(columns() | {"s": pd.Series([True, False] * 20, dtype="category")}), r"s \(category\)"),
        (pd.DataFrame(columns() | {"d": pd.date_range("2020", periods=N)}), r"d \(datetime64"),
        (pl.DataFrame(columns()).with_columns(d=pl.lit("2020-01-01").str.to_date()), r"d \(Date\)"),
        (pd.DataFrame(columns() | {"o": pd.Series([object()] * N)}), r"o \(object\)"),
        (pd.DataFrame(columns() | {"o": np.arange(N) * 1j}), r"o \(complex128\)"),
        (pd.DataFrame(columns() | {f"s{i}": LABELS for i in range(7)}), r"7 columns .*s4 \(\w+\) and 2 more; .*drop="),
    ],
)
def test_columns_without_numbers_are_refused_by_name_and_can_be_dropped(frame, match):
    with pytest.raises(DataError, match=match):
        read_table(frame, "y")
    others = [name for name in frame.columns if name not in columns()]
    table = read_table(frame, "y", drop=others)
    assert table.feature_names == ("a", "b", "c")
    assert table.notes[0].startswith(f"left out {len(others)} column")


def with_gaps():
    data = columns()
    a, y = data["a"].copy(), data["y"].copy()
    a[[2, 4]] = np.nan
    y[7] = np.nan
    whole, flags = data["b"].tolist(), data["c"].tolist()
    whole[4] = flags[5] = None
    return {"a": a, "b": whole, "y": y, "c": flags}


def nullable():
    data = with_gaps()
    kinds = {"a": "Float64", "b": "Int64", "y": "Float64", "c": "boolean"}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds[name]) for name, values in data.items()})


@pytest.mark.parametrize("frame", [nullable(), pl.DataFrame(with_gaps())], ids=["pandas", "polars"])
def test_missing_values_are_refused_dropped_or_filled(frame):
    X, y = expected(), sample()[1]
    with pytest.raises(DataError, match="target is missing in 1 row"):
        read_table(frame, "y")
    dropped = read_table(frame, "y", missing="drop")
    kept = np.setdiff1d(np.arange(N), [2, 4, 5, 7])
    np.testing.assert_array_equal(dropped.X, X[kept])
    np.testing.assert_array_equal(dropped.y, y[kept])
    assert dropped.notes == ("dropped 4 of 40 rows with missing values",)
    complete = frame.assign(y=y) if isinstance(frame, pd.DataFrame) else frame.with_columns(y=y)
    with pytest.raises(DataError, match=r"4 cells missing in 3 columns: a \(2\), b \(1\), c \(1\); missing='drop'"):
        read_table(complete, "y")
    filled = read_table(complete, "y", missing="mean")
    gaps = np.zeros(X.shape, dtype=bool)
    gaps[[2, 4], 0] = gaps[4, 1] = gaps[5, 2] = True
    means = np.ma.masked_array(X, gaps).mean(axis=0)
    np.testing.assert_allclose(filled.X, np.where(gaps, means, X), rtol=1e-14)
    assert filled.notes[0].startswith("filled 4 missing cells in 3 columns with column means")


def test_masked_arrays_have_missing_values():
    X, y = sample()
    masked = np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == 0)
    with pytest.raises(DataError, match=r"1 cell missing in 1 column: x0 \(1\)"):
        read_table((masked, y))
    assert read_table((X, np.ma.masked_array(y, np.arange(N) < 3)), missing="drop").n_samples == N - 3


@pytest.mark.parametrize("missing", ["drop", "mean"])
@pytest.mark.parametrize("library", [pd, pl])
def test_a_column_without_any_value_does_not_cost_the_rows(library, missing):
    frame = library.DataFrame(columns() | {"e": [None] * N})
    table = read_table(frame, "y", missing=missing)
    np.testing.assert_array_equal(table.X, expected())
    assert table.notes == ("dropped 1 column without any value: e",)
    with pytest.raises(DataError, match="40 cells missing"):
        read_table(frame, "y")


def test_constant_columns_are_dropped_even_where_they_were_filled():
    X, y = sample()
    X = np.column_stack([np.full(N, 0.1), X, np.full(N, 3.0)])
    X[27:, 0] = np.nan  # the mean of 27 times 0.1 rounds to something else
    table = read_table((X, y), missing="mean")
    assert table.feature_names == ("x1", "x2", "x3")
    assert table.notes[1] == "dropped 2 constant columns: x0, x4"
    assert table.X.flags.c_contiguous


def test_repeated_columns_are_kept_and_told():
    X, y = sample()
    table = read_table((np.column_stack([X, X[:, 1], X[:, 0]]), y))
    assert table.n_features == 5
    assert table.notes == ("kept 2 columns equal to another, which share its weight: x3 = x1, x4 = x0",)


def test_repeated_columns_are_found_among_indicators_and_signed_zeros():
    X = np.eye(300)[:, np.r_[:300, 17]]
    X[5, 17] = -0.0
    assert repeated_columns(X) == [(300, 17)]


def test_standardising_divides_by_the_standard_deviation():
    X, y = sample(3000)
    X = X * [1, 1e3, 1e-3] + [1e6, 0, 5]
    table = read_table((X, y), standardise=True)
    np.testing.assert_allclose(table.X, X / X.std(axis=0), rtol=1e-9)
    assert table.notes == ("divided every feature by its standard deviation",)
    with pytest.raises(DataError, match="standard deviation of x1 is beyond"):
        read_table((X * [1, 1e-250, 1], y), standardise=True)


def test_large_but_finite_values_are_not_taken_for_infinite():
    X, y = sample()
    assert read_table((np.abs(X) * [1, 5e307, 1], y)).n_features == 3


# Everything else that is refused

X0, Y0 = sample()


@pytest.mark.parametrize(
    ("source", "options", "match"),
    [
        (pd.DataFrame(columns()), {}, "target is missing: name the column to predict, one of a, b, y, c"),
        (pd.DataFrame({"price": X0[:, 0], "y": Y0}), {"target": "prise"}, "did you mean 'price'"),
        (pl.DataFrame({"price": X0[:, 0], "y": Y0}), {"target": "nothing"}, "the columns are price, y"),
        (pd.DataFrame(columns()), {"target": "y", "drop": ["aa"]}, "drop 'aa' is not a column; did you mean 'a'"),
        (pd.DataFrame(columns()), {"target": "y", "drop": "y"}, "drop contains the target"),
        (pd.DataFrame(columns()), {"target": []}, "or several that differ"),
        (pd.DataFrame(columns()), {"target": ["y", "y"]}, "or several that differ"),
        (pd.DataFrame(columns() | {"s": LABELS}), {"target": ["y", "s"]}, "these are labels: s"),
        (pd.DataFrame(np.column_stack([X0, Y0]), columns=list("aaby")), {"target": "y"}, "these are repeated: a"),
        (pd.DataFrame({"y": Y0}), {"target": "y"}, "no features are left;"),
        ((np.ones((N, 2)), Y0), {}, r"no features are left \(dropped 2 constant columns: x0, x1\)"),
        ((X0[:19], Y0[:19]), {}, "a pilot needs at least 20 rows, got 19;"),
        ((X0, np.r_[[np.nan] * 25, Y0[25:]]), {"missing": "drop"}, r"got 15 \(25 of 40 were dropped"),
        ((np.where(X0 > 2, np.inf, X0) + 0 * X0, Y0), {}, "infinite values in"),
        ((np.where(X0 > 1, -np.inf, X0), Y0), {"missing": "mean"}, "infinite values in 3 columns: x0, x1, x2"),
        ((X0[:, 0], Y0), {}, r"X must be a dense array .* got shape \(40,\)"),
        ((X0.astype(str), Y0), {}, "X must be a dense array of numbers"),
        ((X0, Y0), {"target": "y"}, "leave target out"),
        ((X0, Y0, Y0), {}, "got tuple"),
        (SimpleNamespace(), {}, "got SimpleNamespace"),
        ("table.xlsx", {}, r"must end in .csv, .tsv, .parquet, .npz, .zarr, got 'table.xlsx'"),
        ("nowhere.csv", {"target": "y"}, "'nowhere.csv' does not exist"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(source, options, match):
    with pytest.raises(DataError, match=match):
        read_table(source, **options)


@pytest.mark.parametrize("options", [{"missing": "median"}, {"task": "ranking"}])
def test_unknown_options_are_a_parameter_error(options):
    with pytest.raises(ParameterError, match="must be one of"):
        read_table(sample(), **options)


def test_broken_files_are_refused(tmp_path):
    X, y = sample()
    for name, content in (("e.csv", b""), ("e.parquet", b""), ("e.npz", b""), ("cut.npz", b"PK\3\4"), ("e.zarr", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=name):
            read_table(tmp_path / name, "y")
    np.savez(tmp_path / "objects.npz", X=X, y=np.array(LABELS, dtype=object))
    with pytest.raises(DataError, match="labels as strings"):
        read_table(tmp_path / "objects.npz")
    np.savez(tmp_path / "names.npz", X=X, y=y, feature_names=["a"])
    with pytest.raises(DataError, match="feature_names has 1 entries, but X has 3"):
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

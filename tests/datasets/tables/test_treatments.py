"""Every treatment of features is told or refused."""

import numpy as np
import pandas as pd
import pytest

from subridge.datasets import read_table
from subridge.model.errors import DataError

N = 40
DATES = pd.date_range("2020", periods=N)


@pytest.mark.parametrize(
    ("frame_of", "match"),
    [
        (lambda data, words: pd.DataFrame(data | {"s": words}), r"1 column .*: s \(text such as 'low'\)"),
        (lambda data, words: pd.DataFrame(data | {"s": pd.Series(words, dtype="category")}), r"s \(category\)"),
        (
            lambda data, _: pd.DataFrame(data | {"s": pd.Series([True, False] * 20, dtype="category")}),
            r"s \(category\)",
        ),
        (lambda data, _: pd.DataFrame(data | {"d": DATES}), r"d \(dates\)"),
        (lambda data, _: pd.DataFrame(data | {"o": pd.Series([object()] * N)}), r"o \(object\)"),
        (lambda data, _: pd.DataFrame(data | {"o": np.arange(N) * 1j}), r"o \(complex128\)"),
        (
            lambda data, words: pd.DataFrame(data | {f"s{i}": words for i in range(7)}),
            r"7 columns .*s4 \([\w ']+\) and 2 more; .*drop=",
        ),
    ],
)
def test_columns_without_numbers_are_refused_by_name_and_can_be_dropped(columns, labels, frame_of, match):
    frame = frame_of(columns, labels)
    with pytest.raises(DataError, match=match):
        read_table(frame, "y")
    others = [name for name in frame.columns if name not in columns]
    table = read_table(frame, "y", drop=others)
    assert table.feature_names == ("a", "b", "c")
    assert table.notes[0].startswith(f"left out {len(others)} column")


def test_columns_of_polars_without_numbers_are_refused(columns, labels):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(columns | {"s": labels}).with_columns(d=pl.lit("2020-01-01").str.to_date())
    with pytest.raises(DataError, match=r"2 columns .*: s \(text such as 'low'\), d \(dates\)"):
        read_table(frame, "y")


def test_sparse_columns_of_pandas_are_numbers(columns, expected):
    frame = pd.DataFrame(columns)
    frame["b"], frame["c"] = frame["b"].astype("Sparse[int]"), frame["c"].astype("Sparse[bool]")
    np.testing.assert_array_equal(read_table(frame, "y").X, expected)


@pytest.fixture
def with_gaps(columns):
    data = columns
    a, y = data["a"].copy(), data["y"].copy()
    a[[2, 4]] = np.nan
    y[7] = np.nan
    whole, flags = data["b"].tolist(), data["c"].tolist()
    whole[4] = flags[5] = None
    return {"a": a, "b": whole, "y": y, "c": flags}


def nullable(data):
    kinds = {"a": "Float64", "b": "Int64", "y": "Float64", "c": "boolean"}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds[name]) for name, values in data.items()})


def of_polars(data):
    return pytest.importorskip("polars").DataFrame(data)


@pytest.mark.parametrize("frame_of", [nullable, of_polars], ids=["pandas", "polars"])
def test_missing_values_are_refused_dropped_or_filled(frame_of, with_gaps, expected, sample):
    frame, X, y = frame_of(with_gaps), expected, sample[1]
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


def test_masked_arrays_have_missing_values(sample):
    X, y = sample
    masked = np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == 0)
    with pytest.raises(DataError, match=r"1 cell missing in 1 column: x0 \(1\)"):
        read_table((masked, y))
    assert read_table((X, np.ma.masked_array(y, np.arange(N) < 3)), missing="drop").n_samples == N - 3


@pytest.mark.parametrize("missing", ["drop", "mean"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_without_any_value_does_not_cost_the_rows(library, missing, columns, expected):
    frame = pytest.importorskip(library).DataFrame(columns | {"e": [None] * N})
    table = read_table(frame, "y", missing=missing)
    np.testing.assert_array_equal(table.X, expected)
    assert table.notes == ("dropped 1 column without any value: e",)
    with pytest.raises(DataError, match="40 cells missing"):
        read_table(frame, "y")


def test_constant_columns_are_dropped_even_where_they_were_filled(sample):
    X, y = sample
    X = np.column_stack([np.full(N, 0.1), X, np.full(N, 3.0)])
    X[27:, 0] = np.nan  # the mean of 27 times 0.1 rounds to something else
    table = read_table((X, y), missing="mean")
    assert table.feature_names == ("x1", "x2", "x3")
    assert table.notes[1] == "dropped 2 constant columns: x0, x4"
    assert table.X.flags.c_contiguous


def test_repeated_columns_are_kept_and_told(sample):
    X, y = sample
    table = read_table((np.column_stack([X, X[:, 1], X[:, 0]]), y))
    assert table.n_features == 5
    assert table.notes == ("kept 2 columns equal to another, sharing its weight: x3 = x1, x4 = x0",)


def test_repeated_columns_are_found_among_indicators_and_signed_zeros():
    X = np.eye(300)[:, np.r_[:300, 17]]
    X[5, 17] = -0.0
    table = read_table((X, np.arange(300.0)))
    assert table.notes == ("kept 1 column equal to another, sharing its weight: x300 = x17",)


def test_standardising_divides_by_the_standard_deviation():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 3)), rng.standard_normal(3000)
    X = X * [1, 1e3, 1e-3] + [1e6, 0, 5]
    table = read_table((X, y), standardise=True)
    np.testing.assert_allclose(table.X, X / X.std(axis=0), rtol=1e-9)
    (note,) = table.notes
    assert note == "divided every feature by its standard deviation; standardise=False leaves them as they are"
    with pytest.raises(DataError, match="standard deviation of x1 is beyond"):
        read_table((X * [1, 1e-250, 1], y), standardise=True)


def test_large_but_finite_values_are_not_taken_for_infinite(sample):
    X, y = sample
    assert read_table((np.abs(X) * [1, 5e307, 1], y)).n_features == 3

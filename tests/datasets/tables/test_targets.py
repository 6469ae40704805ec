"""Targets of every kind become rows of numbers, or are refused with a remedy."""

import numpy as np
import pandas as pd
import pytest

from subridge.datasets import read_table
from subridge.datasets.tables.targets import read_target
from subridge.model.errors import DataError

N = 40


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (pd.Series([i % 2 == 0 for i in range(N)]), ("False", "True")),
        (np.arange(N) % 2 == 0, ("False", "True")),
        (pd.Series([(10, 9)[i % 2] for i in range(N)], dtype="category"), ("9", "10")),
        (np.array([b"v", b"u"] * (N // 2)), ("u", "v")),
        (np.array(["v", "u"] * (N // 2), dtype=np.dtypes.StringDType()), ("u", "v")),
    ],
    ids=["pandas bool", "bool", "category", "bytes", "strings"],
)
def test_booleans_categories_and_strings_are_classes_in_order(sample, y, names):
    table = read_table((sample[0], y))
    assert table.class_names == names
    np.testing.assert_array_equal(table.y, (np.arange(N) + 1) % 2)


def test_series_of_polars_are_classes_in_order(sample):
    pl = pytest.importorskip("polars")
    words = ["v", "u"] * (N // 2)
    for y, names in (
        (pl.Series([word == "v" for word in words]), ("False", "True")),
        (pl.Series(words, dtype=pl.Enum(["v", "u"])), ("u", "v")),
        (pl.Series(words, dtype=pl.Categorical), ("u", "v")),
    ):
        table = read_table((sample[0], y))
        assert table.class_names == names
        np.testing.assert_array_equal(table.y, (np.arange(N) + 1) % 2)


def test_numbers_become_classes_when_asked_and_are_mentioned_when_not(sample):
    X, y = sample[0], np.arange(N) % 3 * 5.0
    assert read_table((X, y), task="classification").class_names == ("0", "5", "10")
    table = read_table((X, y))
    assert table.class_names is None
    assert "3 whole values" in table.notes[0]
    assert read_table((X, y), task="regression").notes == ()
    assert read_table((X, np.arange(N) % 2 + 0.5), task="classification").class_names == ("0.5", "1.5")


def test_booleans_become_numbers_when_asked(sample):
    y = np.arange(N) % 2 == 0
    np.testing.assert_array_equal(read_table((sample[0], y), task="regression").targets, y[None].astype(float))


def test_a_missing_label_in_a_list_is_not_the_class_nan():
    assert read_target(["a", np.nan, None]).tolist() == ["a", None, None]


@pytest.mark.parametrize(
    ("y", "options", "match"),
    [
        (np.arange(N), {"task": "classification"}, "40 distinct values in 40 rows"),
        ([f"id{i}" for i in range(N)], {}, "40 distinct values"),
        (["a"] * (N - 1) + ["b"], {}, "at least 2 rows, these have one: b"),
        (["a"] * N, {}, "is a in every row"),
        (np.ones(N), {}, "is 1.0 in every row"),
        (np.column_stack([np.arange(N), np.ones(N)]), {}, "the target is 1.0 in every row"),
        (np.column_stack([np.arange(N)] * 2), {"task": "classification"}, "one column of labels"),
        (["low", "high"] * (N // 2), {"task": "regression"}, "labels such as 'low'"),
        (np.r_[np.inf, np.arange(N - 1)], {}, "infinite in 1 row of 40"),
        (np.r_[[np.inf] * 2, np.arange(N - 2) % 2], {"task": "classification"}, "infinite in 2 rows"),
        (np.arange(N).astype("M8[D]"), {}, "has type datetime64"),
        (np.arange(N) * 1j, {}, "has type complex128"),
        (np.array(["a", 1] * (N // 2), dtype=object), {}, "type int, str"),
        (np.arange(N - 1), {}, "X has 40 rows but y has 39"),
        (np.zeros((N, 0)), {}, r"got \(40, 0\)"),
        (np.r_[np.nan, np.arange(N - 1)], {}, "target is missing in 1 row of 40"),
        (np.r_[np.nan, np.arange(N - 1)], {"missing": "mean"}, "target is missing in 1 row of 40"),
        ([None, *["low", "high"] * (N // 2)][:N], {}, "target is missing in 1 row of 40"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(sample, y, options, match):
    with pytest.raises(DataError, match=match):
        read_table((sample[0], y), **options)


def test_repeated_names_of_targets_are_refused():
    with pytest.raises(DataError, match="column names of y must differ"):
        read_target(pd.DataFrame(np.eye(2), columns=["a", "a"]))

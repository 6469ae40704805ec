"""What `read_table` refuses, with a remedy in the message."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from subridge.datasets import read_table
from subridge.model.errors import DataError, ParameterError

N = 40
X0, Y0 = np.random.default_rng(0).standard_normal((N, 3)), np.random.default_rng(1).standard_normal(N)
FRAME = pd.DataFrame(X0, columns=list("abc")).assign(y=Y0)


@pytest.mark.parametrize(
    ("source", "options", "match"),
    [
        (FRAME, {}, "target is missing: name the column to predict, one of a, b, c, y"),
        (pd.DataFrame({"price": X0[:, 0], "y": Y0}), {"target": "prise"}, "did you mean 'price'"),
        (pd.DataFrame({"age": X0[:, 0], "target": Y0}), {"target": "targe"}, r"did you mean 'target'\?"),
        (pd.DataFrame({"price": X0[:, 0], "y": Y0}), {"target": "nothing"}, "the columns are price, y"),
        (FRAME, {"target": "y", "drop": ["aa"]}, "drop 'aa' is not a column; did you mean 'a'"),
        (FRAME, {"target": "y", "drop": "y"}, "target y is named twice; name it once in target=, and not in drop="),
        (FRAME, {"target": []}, "target is missing: name the column to predict"),
        (FRAME, {"target": ["y", "y"]}, "target y is named twice"),
        (FRAME.assign(s=["low", "high"] * (N // 2)), {"target": ["y", "s"]}, "these are labels: s"),
        (pd.DataFrame(np.column_stack([X0, Y0]), columns=list("aaby")), {"target": "y"}, "these are repeated: a"),
        (pd.DataFrame({"y": Y0}), {"target": "y"}, "no features are left;"),
        ((np.ones((N, 2)), Y0), {}, r"no features are left \(dropped 2 constant columns: x0, x1\)"),
        ((X0[:19], Y0[:19]), {}, "a pilot needs at least 20 rows, got 19;"),
        (
            (X0, np.r_[[np.nan] * 25, Y0[25:]]),
            {"missing": "drop"},
            r"got 15 \(dropped 25 of 40 rows with missing values\)",
        ),
        ((np.where(X0 > 2, np.inf, X0) + 0 * X0, Y0), {}, "infinite values in"),
        ((np.where(X0 > 1, -np.inf, X0), Y0), {"missing": "mean"}, "infinite values in 3 columns: x0, x1, x2"),
        ((X0[:, 0], Y0), {}, r"X must be a dense array .* got shape \(40,\)"),
        ((X0.astype(str), Y0), {}, "X must be a dense array of numbers"),
        ((X0, Y0), {"target": "y"}, "leave target and groups out"),
        ((X0, Y0, Y0), {}, "got tuple"),
        (SimpleNamespace(), {}, "got SimpleNamespace"),
        ("table.xlsx", {}, r"must end in .csv, .tsv, .txt, .parquet, .npz, .zarr or .csv.gz, got 'table.xlsx'"),
        ("nowhere.csv", {"target": "y"}, "'nowhere.csv' does not exist"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(source, options, match):
    with pytest.raises(DataError, match=match):
        read_table(source, **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"missing": "median"}, 'missing must be "error", "drop" or "mean", got \'median\''),
        ({"task": "ranking"}, "task must be"),
        ({"separator": "; "}, "separator must be one character other than the decimal sign"),
        ({"separator": ",", "decimal": ","}, "separator must be one character other than the decimal sign ','"),
    ],
)
def test_unknown_options_are_a_parameter_error(options, match):
    with pytest.raises(ParameterError, match=match):
        read_table((X0, Y0), **options)

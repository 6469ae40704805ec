"""Values that people hand over by mistake, by name."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd

ODD = {
    "None": None,
    "text": "abc",
    "a number as text": "0.5",
    "no text": "",
    "bytes": b"x",
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "minus one": -1,
    "zero": 0,
    "a half": 0.5,
    "a huge float": 1e308,
    "a huge integer": 10**30,
    "a large integer": 10**12,
    "complex": 1 + 2j,
    "no list": [],
    "a ragged list": [[1.0], [1.0, 2.0]],
    "a list with None": [1.0, None],
    "a list with NaN": [1.0, float("nan")],
    "a list of text": ["a", "b"],
    "a mapping": {"a": 1},
    "a set": {1, 2},
    "a function": abs,
    "a type": int,
    "an object": object(),
    "a date": date(2024, 1, 1),
    "a time": datetime(2024, 1, 1, tzinfo=UTC),
    "a duration": timedelta(1),
    "complex array": np.array([1 + 1j, 2.0]),
    "masked array": np.ma.masked_array([0.5, 0.7], [False, True]),
    "array of dates": np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
    "array of text": np.array(["1", "2"]),
    "array of objects": np.array([1.0, "x"], dtype=object),
    "three axes": np.ones((2, 2, 2)),
    "an empty table": np.empty((0, 3)),
    "a table of text": pd.DataFrame({"a": ["x", "y"]}),
    "a range": range(3),
    "a generator": (i for i in ()),
}

"""Feature spaces by name: which columns of a table belong to each."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from subridge.arrays.types import ArrayLike, IntArray
from subridge.model.ensemble import feature_indices
from subridge.model.errors import SubsetError, listed

# Columns of a space: integers, a mask, a slice, names of columns, or ... for all that no other space names.
Columns: TypeAlias = "ArrayLike | slice[int | None, int | None, int | None] | EllipsisType"
Spaces: TypeAlias = Mapping[str, Columns]

REST = "rest"


def read_spaces(spaces: Spaces, n_features: int, names: Sequence[str] | None = None) -> dict[str, IntArray]:
    """The columns of every space, each of shape (N_s,); `names` are those of the columns of a data frame.

    A space that is ``...`` or "rest" takes the columns that no other space names.

    >>> {name: columns.tolist() for name, columns in read_spaces({"a": slice(0, 2), "b": ...}, 4).items()}
    {'a': [0, 1], 'b': [2, 3]}
    """
    if not isinstance(spaces, Mapping) or not spaces:
        raise SubsetError(f"spaces must be a mapping from names to columns with at least one space, got {spaces!r}")
    words = {REST}.difference([] if names is None else names)  # a column of that name is that column
    rest = [name for name, value in spaces.items() if value is ... or (isinstance(value, str) and value in words)]
    if len(rest) > 1:
        raise SubsetError(f"only one space can be all the rest, got {listed(rest)}")
    found = {
        name: read_columns(f"space {name!r}", value, n_features, names)
        for name, value in spaces.items()
        if name not in rest
    }
    for name in rest:
        left = np.isin(np.arange(n_features), np.concatenate([[], *found.values()]), invert=True)
        found[name] = feature_indices(f"space {name!r} (all the rest)", left, n_features)
    return {name: found[name] for name in spaces}


def read_columns(label: str, columns: Columns, n_features: int, names: Sequence[str] | None = None) -> IntArray:
    """Indices of columns that are given by integers, a mask, a slice or names; `label` names them in messages.

    >>> read_columns("space 'a'", ["age", "size"], 3, ["size", "weight", "age"])
    array([2, 0])
    """
    array = np.arange(n_features)[columns] if isinstance(columns, slice) else np.atleast_1d(np.asarray(columns))
    if array.dtype.kind in "UO" and array.size and all(isinstance(each, str) for each in array.flat):
        known = [] if names is None else list(names)
        places = {name: place for place, name in enumerate(known)}
        absent = [repr(str(each)) for each in array.flat if each not in places]
        if absent:
            columns_of_X = f"its columns are {listed(known)}" if known else "it has no column names; give integers"
            raise SubsetError(f"{label} names {listed(absent)}, which X lacks: {columns_of_X}")
        array = np.array([places[str(each)] for each in array.flat])
    return feature_indices(label, array, n_features)


def refuse_overlaps(spaces: Mapping[str, IntArray], names: Sequence[str] | None = None) -> None:
    """Refuse a column that belongs to two spaces: one penalty would hide the other."""
    for one, other in combinations(spaces, 2):
        shared = np.intersect1d(spaces[one], spaces[other])
        if shared.size:
            called = shared[0] if names is None else repr(names[shared[0]])
            raise SubsetError(f"spaces {one!r} and {other!r} both hold column {called}; give every column to one space")

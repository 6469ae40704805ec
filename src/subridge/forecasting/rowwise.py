"""Tables of several columns whose rows are taken and joined together."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from subridge.arrays.types import BoolArray


@dataclass(frozen=True, eq=False)
class RowWise:
    """A dataclass of arrays, or of other tables, that have one row each for every forecast."""

    def __getitem__(self, rows: slice | BoolArray) -> Self:
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, one after the other."""
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        return cls(
            **{
                name: type(column[0]).joined(column) if isinstance(column[0], RowWise) else np.concatenate(column)
                for name, column in columns.items()
            }
        )

"""What a source holds, before any treatment."""

from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.datasets.tables.targets import Target
from subridge.datasets.tables.wording import listed


@dataclass(frozen=True, eq=False)
class RawTable:
    """Features X of shape (n, M) with NaN where missing, a target as `read_target` gives it, a note per treatment.

    X may be changed in place where it is ``owned``; otherwise it is the caller's own array.
    """

    X: FloatArray
    owned: bool
    feature_names: tuple[str, ...]
    target: Target
    notes: tuple[str, ...] = ()

    def with_features(self, X: FloatArray, note: str) -> "RawTable":
        """The same with new values of the features, which nobody else holds."""
        return replace(self, X=X, owned=True, notes=(*self.notes, note))

    def without_features(self, dropped: BoolArray, what: str) -> "RawTable":
        """The same without some columns, told by what they are and their names."""
        names = np.array(self.feature_names, dtype=object)
        left = self.with_features(self.X.compress(~dropped, axis=1), f"dropped {what}: {listed(names[dropped])}")
        return replace(left, feature_names=tuple(names[~dropped]))

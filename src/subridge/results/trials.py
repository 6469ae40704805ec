"""Results of repeated trials, before they hold numbers: names, dimensions, coordinates and attributes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray, IntArray
from subridge.results.schemas import Attribute


@dataclass(frozen=True, eq=False)
class TrialSchema:
    """What a dataset of trials will look like; runs and stores fill the arrays that it lays out.

    `sizes` are lengths of dimensions, `dimensions` those of every variable, "trial" the first of each; `coordinates`
    are (dimensions, values), `attributes` as `result_attributes` makes them.
    """

    sizes: Mapping[str, int]
    dimensions: Mapping[str, tuple[str, ...]]
    coordinates: Mapping[str, tuple[tuple[str, ...], FloatArray | IntArray]]
    attributes: Mapping[str, Attribute]

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a variable."""
        return tuple(self.sizes[dimension] for dimension in self.dimensions[name])

    def empty(self) -> dict[str, FloatArray]:
        """Arrays of the right shapes, full of NaN."""
        return {name: np.full(self.shape(name), np.nan) for name in self.dimensions}

    def without_single_axes(self, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Arrays of some trials in the shape of the schema: what is not swept has an axis of length one to lose."""
        return {name: values.reshape(-1, *self.shape(name)[1:]) for name, values in arrays.items()}

    def dataset(self, arrays: Mapping[str, FloatArray]) -> xr.Dataset:
        """Put the arrays of all trials under their names."""
        variables = {name: (dimensions, arrays[name]) for name, dimensions in self.dimensions.items()}
        return xr.Dataset(variables, dict(self.coordinates), dict(self.attributes))

"""The schema of classification errors: names, dimensions, coordinates and attributes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from subridge.arrays.types import FloatArray


@dataclass(frozen=True, eq=False)
class ErrorSchema:
    """What a dataset of classification errors looks like, before it holds numbers.

    Attributes
    ----------
    n_trials : int
    n_members, n_samples : tuple of int
    ridges, readout_noises : ndarray, one-dimensional
    attributes : dict
        JSON values; those that are not scalars are stored as JSON text.
    """

    n_trials: int
    n_members: tuple[int, ...]
    ridges: FloatArray
    readout_noises: FloatArray
    n_samples: tuple[int, ...]
    attributes: dict[str, Any]

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of every variable."""
        return {"error": ("trial", "n_members", "ridge", "readout_noise", "n_samples")}

    @property
    def coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]:
        """Coordinates as (dimensions, values)."""
        values = {
            "trial": np.arange(self.n_trials),
            "n_members": np.asarray(self.n_members),
            "ridge": np.asarray(self.ridges),
            "readout_noise": np.asarray(self.readout_noises),
            "n_samples": np.asarray(self.n_samples),
        }
        return {name: ((name,), array) for name, array in values.items()}

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a variable."""
        return tuple(len(self.coordinates[dimension][1]) for dimension in self.dimensions[name])

    def empty(self) -> dict[str, FloatArray]:
        """Arrays of the right shapes, full of NaN."""
        return {name: np.full(self.shape(name), np.nan) for name in self.dimensions}

    def without_single_axes(self, arrays: dict[str, FloatArray]) -> dict[str, FloatArray]:
        """Arrays as they are: every axis of a classification experiment is kept."""
        return arrays


def best_ensemble_sizes(error: xr.DataArray, tolerance: float) -> xr.Dataset:
    """Which number of members is best, and which are nearly so.

    Parameters
    ----------
    error : xarray.DataArray
        Mean errors with a dimension ``n_members``.
    tolerance : float
        ε, how far above the best an error may be.

    Returns
    -------
    xarray.Dataset
        ``optimal_n_members`` (the smallest k with the least error), ``smallest`` and ``largest`` k within ε of it,
        ``best_error``.

    Examples
    --------
    >>> error = xr.DataArray([0.3, 0.2, 0.205], {"n_members": [1, 4, 16]}, "n_members")
    >>> best = best_ensemble_sizes(error, 0.01)
    >>> int(best.optimal_n_members), int(best.smallest), int(best.largest)
    (4, 4, 16)
    """
    best = error.min("n_members")
    near = error <= best + tolerance
    k = error.n_members
    return xr.Dataset(
        {
            "optimal_n_members": k.where(error == best).min("n_members"),
            "smallest": k.where(near).min("n_members"),
            "largest": k.where(near).max("n_members"),
            "best_error": best,
        }
    )

"""The schema of simulated learning curves: names, dimensions, coordinates and attributes."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray

from subridge.arrays.types import FloatArray


@dataclass(frozen=True, eq=False)
class CurveSchema:
    """What a learning-curve dataset looks like, before it holds numbers.

    Attributes
    ----------
    n_trials : int
    n_samples : tuple of int
    ridges : ndarray, shape (n_ridges, k), or None
        None when the ridge is not swept; then the dimension is absent.
    readout_noises : ndarray, shape (n_noises, k), or None
        Likewise.
    n_members : int
    pairs : bool
    attributes : dict
        JSON values; those that are not scalars are stored as JSON text.
    """

    n_trials: int
    n_samples: tuple[int, ...]
    ridges: FloatArray | None
    readout_noises: FloatArray | None
    n_members: int
    pairs: bool
    attributes: dict[str, Any]

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of every variable."""
        swept = ("ridge",) * (self.ridges is not None) + ("readout_noise",) * (self.readout_noises is not None)
        curve = ("trial", *swept, "n_samples")
        variables = {"risk": curve, "training_error": curve}
        return variables | ({"pairs": (*curve, "member", "other_member")} if self.pairs else {})

    @property
    def sizes(self) -> dict[str, int]:
        """Length of every dimension."""
        return {
            "trial": self.n_trials,
            "ridge": 1 if self.ridges is None else len(self.ridges),
            "readout_noise": 1 if self.readout_noises is None else len(self.readout_noises),
            "n_samples": len(self.n_samples),
            "member": self.n_members,
            "other_member": self.n_members,
        }

    @property
    def coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]:
        """Coordinates as (dimensions, values); a sweep that differs by member is numbered, its values lie beside it."""
        found: dict[str, tuple[tuple[str, ...], Any]] = {
            "trial": (("trial",), np.arange(self.n_trials)),
            "n_samples": (("n_samples",), np.asarray(self.n_samples)),
        }
        for name, table in (("ridge", self.ridges), ("readout_noise", self.readout_noises)):
            if table is None:
                continue
            if (table == table[:, :1]).all():
                found[name] = ((name,), table[:, 0].copy())
            else:
                found[name] = ((name,), np.arange(len(table)))
                found[f"member_{name}"] = ((name, "member"), table.copy())
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a variable."""
        return tuple(self.sizes[dimension] for dimension in self.dimensions[name])

    def empty(self) -> dict[str, FloatArray]:
        """Arrays of the right shapes, full of NaN."""
        return {name: np.full(self.shape(name), np.nan) for name in self.dimensions}

    def without_single_axes(self, curves: dict[str, FloatArray]) -> dict[str, FloatArray]:
        """Drop the axes of what is not swept from arrays of shape (trials, n_ridges, n_noises, n_samples, ...)."""
        dropped = tuple(axis for axis, table in ((1, self.ridges), (2, self.readout_noises)) if table is None)
        return {name: np.squeeze(values, axis=dropped) for name, values in curves.items()}


def curve_dataset(schema: Any, arrays: dict[str, FloatArray]) -> xarray.Dataset:
    """Put arrays into an `xarray.Dataset` under the schema.

    Returns
    -------
    xarray.Dataset
        ``attrs["experiment"]`` is the full description as JSON text, ``attrs["subridge_version"]`` the version.
    """
    from subridge import __version__

    attributes: dict[str, Any] = {"subridge_version": __version__}
    for name, value in schema.attributes.items():
        attributes[name] = value if isinstance(value, str | int | float) else json.dumps(value)
    variables = {name: (dimensions, arrays[name]) for name, dimensions in schema.dimensions.items()}
    return xarray.Dataset(variables, coords=schema.coordinates, attrs=attributes)

"""The schema of the demo: theory beside experiment for a few ensembles on one problem."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike
from subridge.results.attributes import result_attributes

_DIMENSIONS = {
    "theory": ("ensemble", "dense_samples"),
    "theory_at_points": ("ensemble", "n_samples"),
    "experiment": ("ensemble", "trial", "n_samples"),
    "subset_sizes": ("ensemble", "member"),
}


def demo_curves(
    variables: Mapping[str, Sequence[ArrayLike]],
    ensembles: Sequence[str],
    dense_samples: ArrayLike,
    n_samples: ArrayLike,
    *,
    n_features: int,
    command: str,
) -> xr.Dataset:
    """Put the curves of several ensembles side by side.

    Parameters
    ----------
    variables : mapping of str to sequence of array_like
        For every ensemble ``theory`` (dense_samples), ``theory_at_points`` (n_samples), ``experiment`` (trial,
        n_samples) and ``subset_sizes`` (member).
    ensembles : sequence of str
        Names.
    dense_samples, n_samples : array_like of int
        P of the lines, and of the points.
    n_features : int
    command : str
        What made it.

    Returns
    -------
    xarray.Dataset
    """
    return xr.Dataset(
        {name: (dimensions, np.array(variables[name])) for name, dimensions in _DIMENSIONS.items()},
        {"ensemble": list(ensembles), "dense_samples": np.asarray(dense_samples), "n_samples": np.asarray(n_samples)},
        result_attributes(
            "demo", 1, "Risks of ridge ensembles, predicted and trained.", n_features=n_features, command=command
        ),
    )

"""The schema of the demo: theory beside experiment for a few ensembles on one problem."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike
from subridge.results.attributes import result_attributes

# Risks by theory along a line and at the points of the experiment, risks of trained ensembles, features of members.
_DIMENSIONS = {
    "theory": ("ensemble", "dense_samples"),
    "theory_at_points": ("ensemble", "n_samples"),
    "experiment": ("ensemble", "trial", "n_samples"),
    "subset_sizes": ("ensemble", "member"),
}


def demo_curves(
    variables: Mapping[str, Sequence[ArrayLike]],
    coordinates: Mapping[str, ArrayLike],
    *,
    n_features: int,
    command: str,
) -> xr.Dataset:
    """Put the curves of several ensembles side by side: for each variable one array per ensemble."""
    return xr.Dataset(
        {name: (dimensions, np.array(variables[name])) for name, dimensions in _DIMENSIONS.items()},
        {name: np.asarray(values) for name, values in coordinates.items()},
        result_attributes(
            "demo", 1, "Risks of ridge ensembles, predicted and trained.", n_features=n_features, command=command
        ),
    )

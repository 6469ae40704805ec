"""The schema of the demo: theory beside experiment for a few ensembles on one problem."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike
from subridge.results.schemas import result_attributes

# Risks of trained ensembles, risks by theory at the same points and along a line, features of members.
_DIMENSIONS = {
    "experiment": ("ensemble", "trial", "n_samples"),
    "theory_at_points": ("ensemble", "n_samples"),
    "theory": ("ensemble", "dense_samples"),
    "subset_sizes": ("ensemble", "member"),
}


def demo_curves(
    variables: Mapping[str, Sequence[ArrayLike]], coordinates: Mapping[str, ArrayLike], *, n_features: int, command: str
) -> xr.Dataset:
    """Put the curves of several ensembles side by side: for each variable one array per ensemble."""
    return xr.Dataset(
        {name: (dimensions, np.array(variables[name])) for name, dimensions in _DIMENSIONS.items()},
        {name: np.asarray(values) for name, values in coordinates.items()},
        result_attributes(
            "demo", 1, "Risks of ridge ensembles, predicted and trained.", n_features=n_features, command=command
        ),
    )

"""The schema of advice: ensembles ranked by what they are forecast to err."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from subridge.arrays.types import Json
from subridge.results.schemas import result_attributes


def advice_table(
    names: Sequence[str], columns: Mapping[str, Sequence[float | str]], attributes: dict[str, Json]
) -> xr.Dataset:
    """Lay out one row per candidate, best first; every column becomes a variable (candidate)."""
    return xr.Dataset(
        {name: ("candidate", np.array(values)) for name, values in columns.items()},
        {"candidate": list(names)},
        result_attributes("advice", 1, "Ridge ensembles ranked by the errors forecast for them.", **attributes),
    )

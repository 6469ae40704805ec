"""The store of an experiment: one array per variable and coordinate, named and dimensioned as in the result.

``xarray.open_zarr`` reads the directory. A task is a block of trials.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from subridge.store.resumable import Contents, Kind, ResumableStore, Variable

KIND = Kind(
    schema="subridge-curves",
    version=2,
    holds="curves",
    another="another grid: problem, ensemble, n_samples, ridges, seed, device, dtype and the other options "
    "must be the same to resume",
    remedy="give another Run(store=)",
    extra="cluster",
)


class Schema(Protocol):
    """What a store needs to know of a result; `subridge.results.schemas.TrialSchema` is one."""

    @property
    def attributes(self) -> Mapping[str, str | int | float]: ...

    @property
    def dimensions(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def coordinates(self) -> Mapping[str, tuple[tuple[str, ...], npt.NDArray[np.generic]]]: ...

    def shape(self, name: str) -> tuple[int, ...]: ...


def open_task_store(path: str | Path, schema: Schema, fingerprint: str, block: int) -> ResumableStore:
    """Open the store of an experiment, or create it with so many trials per task.

    The fingerprint is that of a trial: a store may have fewer trials than the schema, and gets the others, or more.
    """
    contents = Contents(
        {name: Variable(dimensions, schema.shape(name)) for name, dimensions in schema.dimensions.items()},
        {name: (dimensions, np.asarray(values)) for name, (dimensions, values) in schema.coordinates.items()},
        schema.attributes,
    )
    return ResumableStore.open_or_create(path, KIND, contents, fingerprint, block)

"""A zarr directory that a run fills task by task.

Layout, version 1: one array per variable and coordinate, named and dimensioned as in the result (``xarray.open_zarr``
reads the directory), and ``done`` of shape (n_tasks,). A task owns exactly one chunk of every variable and one chunk of
``done``, which is written last: chunks shared between writers lose data silently, and NaN is a value, not a flag.
"""

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.spec.errors import StoreError

SCHEMA = "subridge-curves"
SCHEMA_VERSION = 1


class Schema(Protocol):
    """What a store needs to know of a result; `subridge.results.trials.TrialSchema` is one."""

    @property
    def n_trials(self) -> int: ...

    @property
    def attributes(self) -> dict[str, Any]: ...

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]: ...

    @property
    def coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]: ...

    def shape(self, name: str) -> tuple[int, ...]: ...


class TaskStore:
    """An open store; build one by `open_or_create`."""

    def __init__(self, path: Path, group: Any, variables: list[str]) -> None:
        self.path, self._group, self._variables = path, group, variables
        self.block = int(group.attrs["block"])

    @classmethod
    def open_or_create(cls, path: str | Path, schema: Schema, fingerprint: str, block: int) -> "TaskStore":
        """Open the store of this experiment, or create it.

        Parameters
        ----------
        path : path
        schema : Schema
        fingerprint : str
            Identity of the experiment; a store of another one is refused.
        block : int
            Trials per task, of a new store. An existing one keeps its own.

        Raises
        ------
        StoreError
            When the directory belongs to something else, or cannot be written.
        """
        zarr, path = _zarr(), Path(path)
        with _clear_errors(path):
            if not path.exists() or (path.is_dir() and not any(path.iterdir())):
                _create(zarr, path, schema, fingerprint, block)
            group = _open(zarr, path)
            _check_identity(path, dict(group.attrs), fingerprint)
            if not os.access(path, os.W_OK):
                raise StoreError(f"store {path} is read-only; make it writable or give another Run(store=)")
        return cls(path, group, list(schema.dimensions))

    def missing(self) -> list[int]:
        """Numbers of the tasks that are not done."""
        with _clear_errors(self.path):
            return [int(number) for number in np.flatnonzero(self._group["done"][:] == 0)]

    def write(self, number: int, arrays: dict[str, FloatArray]) -> None:
        """Write the chunk of a task, then its flag."""
        start = number * self.block
        with _clear_errors(self.path):
            for name in self._variables:
                self._group[name][start : start + len(arrays[name])] = arrays[name]
            self._group["done"][number] = 1

    def read(self) -> dict[str, FloatArray]:
        """All variables."""
        with _clear_errors(self.path):
            return {name: np.asarray(self._group[name][:]) for name in self._variables}


def is_store(path: str | Path) -> bool:
    """Whether something is at the path already."""
    return Path(path).exists() and (not Path(path).is_dir() or any(Path(path).iterdir()))


def _create(zarr: Any, path: Path, schema: Schema, fingerprint: str, block: int) -> None:
    """Build the empty store beside its place and move it there: a run killed meanwhile leaves no half store."""
    from subridge import __version__

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        group = zarr.create_group(store=str(scratch), zarr_format=3)
        identity = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "fingerprint": fingerprint, "block": block}
        plain = {k: v if isinstance(v, str | int | float) else json.dumps(v) for k, v in schema.attributes.items()}
        group.attrs.update(plain | identity | {"subridge_version": __version__})
        for name, dimensions in schema.dimensions.items():
            shape = schema.shape(name)
            chunks = (block, *shape[1:])
            group.create_array(
                name, shape=shape, chunks=chunks, dtype="float64", fill_value=np.nan, dimension_names=dimensions
            )
        for name, (dimensions, values) in schema.coordinates.items():
            values = np.asarray(values)
            group.create_array(name, data=values, chunks=values.shape, dimension_names=dimensions)
        n_tasks = -(-schema.n_trials // block)
        group.create_array(
            "done", shape=(n_tasks,), chunks=(1,), dtype="uint8", fill_value=0, dimension_names=("task",)
        )
        if path.exists():
            path.rmdir()  # empty, as the caller made sure
        scratch.rename(path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _open(zarr: Any, path: Path) -> Any:
    try:
        return zarr.open_group(str(path), mode="r+", use_consolidated=False)
    except (FileNotFoundError, FileExistsError, NotADirectoryError, ValueError, KeyError) as error:
        raise StoreError(f"{path} exists but is not a store of curves; give another Run(store=)") from error


def _check_identity(path: Path, found: dict[str, Any], fingerprint: str) -> None:
    if found.get("schema") != SCHEMA:
        raise StoreError(f"{path} is a zarr group but not a store of curves; give another Run(store=)")
    if found.get("schema_version") != SCHEMA_VERSION:
        raise StoreError(
            f"store {path} has schema version {found.get('schema_version')} (written by subridge "
            f"{found.get('subridge_version')}), this version reads {SCHEMA_VERSION}; give another Run(store=)"
        )
    if found.get("fingerprint") != fingerprint:
        raise StoreError(
            f"store {path} belongs to another grid: problem, ensemble, n_samples, n_trials, ridges, seed, device, "
            "dtype and the other options must be the same to resume; give another Run(store=), or remove the old one"
        )


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise StoreError("Run(store=) needs zarr, which is not installed; pip install 'subridge[cluster]'") from error
    return zarr


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(
            f"store {path} cannot be read or written ({error.strerror or error}); what was finished before is kept: "
            "free space or fix the permissions, then run again to go on"
        ) from error

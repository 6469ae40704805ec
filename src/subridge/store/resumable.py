"""A zarr directory that is filled task by task, so that interrupted work goes on where it stopped.

The rows of the arrays to fill are divided into blocks, one for each task. A task owns exactly one chunk of every such
array and one chunk of the flags ``done``, which is written last: chunks shared between writers lose data silently, and
NaN is a value, not a flag.
"""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Array, Json
from subridge.spec.errors import StoreError

if TYPE_CHECKING:
    import zarr
    from zarr.types import AnyArray


@dataclass(frozen=True)
class Kind:
    """What a store is for, and the words of its errors."""

    schema: str
    version: int
    holds: str  # what is in it
    another: str  # what is in one whose fingerprint differs
    remedy: str  # where a user says the path
    extra: str  # of the package, that brings zarr


class Variable(NamedTuple):
    """An array to fill; its first axis is divided among the tasks."""

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str = "float64"
    fill_value: float = np.nan


class Contents(NamedTuple):
    """What a new store is made with: arrays to fill, arrays known beforehand with their dimensions, attributes."""

    variables: Mapping[str, Variable]
    coordinates: Mapping[str, tuple[tuple[str, ...], npt.NDArray[np.generic]]]
    attributes: Mapping[str, Json]


class ResumableStore:
    """An open store; build one by `open_or_create` or `open`."""

    def __init__(self, path: Path, group: "zarr.Group") -> None:
        self.path, self._group = path, group
        self.attributes: dict[str, Json] = dict(group.attrs)

    @classmethod
    def open_or_create(
        cls, path: str | Path, kind: Kind, contents: Contents, fingerprint: str, block: int
    ) -> "ResumableStore":
        """Open the store of this work to go on with it, or create it with so many rows per task.

        A store of another fingerprint, or of something else, is refused. An existing one keeps its own block.
        """
        path = Path(path)
        if not is_store(path):
            _require_zarr(kind)
            head: dict[str, Json] = {"schema": kind.schema, "schema_version": kind.version, "fingerprint": fingerprint}
            with _clear_errors(path):
                _create(path, contents, head, block)
        store = cls.open(path, kind, "r+")
        if store.attributes.get("fingerprint") != fingerprint:
            raise StoreError(f"store {path} belongs to {kind.another}; {kind.remedy}, or remove the old one")
        if not os.access(path, os.W_OK):
            raise StoreError(f"store {path} is read-only; make it writable, or {kind.remedy}")
        return store

    @classmethod
    def open(cls, path: str | Path, kind: Kind, mode: Literal["r", "r+"] = "r") -> "ResumableStore":
        """Open an existing store."""
        _require_zarr(kind)
        import zarr

        with _clear_errors(Path(path)):
            try:
                store = cls(Path(path), zarr.open_group(str(path), mode=mode, use_consolidated=False))
            except (FileNotFoundError, FileExistsError, NotADirectoryError, ValueError, KeyError) as error:
                raise StoreError(f"{path} is not a store of {kind.holds}; {kind.remedy}") from error
        found = store.attributes
        if found.get("schema") != kind.schema:
            raise StoreError(f"{path} is a zarr group but not a store of {kind.holds}; {kind.remedy}")
        if found.get("schema_version") != kind.version:
            raise StoreError(
                f"store {path} has schema version {found.get('schema_version')} (written by subridge "
                f"{found.get('subridge_version')}), this version reads {kind.version}; {kind.remedy}"
            )
        return store

    def block_of(self, name: str) -> int:
        """Rows that a task has of an array to fill."""
        return int(self._array(name).chunks[0])

    def missing(self) -> list[int]:
        """Numbers of the tasks that are not done."""
        return [int(number) for number in np.flatnonzero(self.read(["done"])["done"] == 0)]

    def write(self, number: int, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Write the chunk that a task has of every array to fill, then its flag."""
        with _clear_errors(self.path):
            for name, values in arrays.items():
                start = number * self.block_of(name)
                self._array(name)[start : start + len(values)] = values
            self._array("done")[number] = 1

    def read(self, names: Sequence[str]) -> dict[str, Array]:
        """Whole arrays by name."""
        with _clear_errors(self.path):
            try:
                return {name: np.asarray(self._array(name)[:]) for name in names}
            except RuntimeError as error:  # what zarr raises for a chunk that was cut or altered
                raise StoreError(f"store {self.path} does not match its checksums ({error}); remove it") from error

    def _array(self, name: str) -> "AnyArray":
        import zarr

        found = self._group[name]
        assert isinstance(found, zarr.Array)
        return found


def is_store(path: str | Path) -> bool:
    """Whether something is at the path already."""
    return Path(path).exists() and (not Path(path).is_dir() or any(Path(path).iterdir()))


def _create(path: Path, contents: Contents, head: Mapping[str, Json], block: int) -> None:
    """Build the empty store beside its place and move it there: a run killed meanwhile leaves no half store."""
    import zarr
    from zarr.codecs import ZstdCodec

    from subridge import __version__

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    n_tasks = {-(-new.shape[0] // block) for new in contents.variables.values()}
    flags = Variable(("task",), (n_tasks.pop(),), "uint8", 0)
    codec = ZstdCodec(checksum=True)
    try:
        group = zarr.create_group(store=str(scratch), zarr_format=3)
        group.attrs.update({**contents.attributes, **head, "block": block, "subridge_version": __version__})
        for name, (dimensions, shape, dtype, empty) in {**contents.variables, "done": flags}.items():
            group.create_array(
                name,
                shape=shape,
                chunks=(1 if name == "done" else block, *shape[1:]),
                dtype=dtype,
                fill_value=empty,
                dimension_names=dimensions,
                compressors=codec,
            )
        for name, (dimensions, values) in contents.coordinates.items():
            group.create_array(name, data=values, chunks=values.shape, dimension_names=dimensions, compressors=codec)
        if path.exists():
            path.rmdir()  # empty, as the caller made sure
        scratch.rename(path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _require_zarr(kind: Kind) -> None:
    try:
        import zarr  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"a store of {kind.holds} needs zarr, which is not installed; pip install 'subridge[{kind.extra}]'"
        ) from error


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

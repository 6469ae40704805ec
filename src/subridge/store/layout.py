"""What a store looks like before it holds results, how it comes to its place, and how its description is renewed."""

import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Json
from subridge.model.errors import StoreError
from subridge.store.claims import Claims
from subridge.store.digests import digest_of_text, digest_of_values
from subridge.store.places import is_store

if TYPE_CHECKING:
    import zarr

# The file of claims, in the array of flags, where readers of zarr do not look.
CLAIMS = ("done", "claims")
# A creation whose folder another run takes for a leftover begins again.
_ATTEMPTS = 5
# Seconds after which a creation without a claim cannot be one that has just begun.
_BEGINNING = 60.0


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

    @property
    def n_rows(self) -> int:
        return next(iter(self.variables.values())).shape[0]


def create(path: Path, contents: Contents, head: Mapping[str, Json], block: int) -> None:
    """Build the empty store beside its place and move it there; when another run was faster, its store stays.

    A run killed meanwhile leaves no half store, and the next creation removes what it did leave.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path)
    for _ in range(_ATTEMPTS):
        with _built_beside(path, contents, head, block) as scratch:
            try:
                if os.name == "nt" and path.exists():  # pragma: no cover
                    path.rmdir()  # an empty one, which other systems replace
                scratch.rename(path)
            except OSError:
                if scratch.exists() and not is_store(path):
                    raise
        if is_store(path):
            return
    raise StoreError(f"store {path} could not be created: what was made beside it kept vanishing; try again")


def renew(path: Path, contents: Contents, head: Mapping[str, Json], block: int) -> None:
    """Write coordinates and descriptions of a store anew, the group's own last; finished tasks stay."""
    with _built_beside(path, contents, head, block) as scratch:
        files = [file for file in scratch.rglob("*") if file.is_file() and file.name != CLAIMS[-1]]
        for file in sorted(files, key=lambda file: file.parent == scratch):
            target = path / file.relative_to(scratch)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, target)


def remove_leftovers(path: Path) -> None:
    """Remove what killed creations of this store left beside it; one under way holds a claim, until it is in place."""
    for scratch in path.parent.glob(f".{path.name}.*.creating"):
        with suppress(OSError):
            if scratch.joinpath(*CLAIMS).exists():
                claims = Claims(scratch.joinpath(*CLAIMS))
                dead = claims.take(0)
                claims.close()
            else:  # begun this moment, or killed in its first
                dead = time.time() - scratch.stat().st_mtime > _BEGINNING
            if dead:
                shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _built_beside(path: Path, contents: Contents, head: Mapping[str, Json], block: int) -> Iterator[Path]:
    """An empty store in a folder of its own, which is gone afterwards unless it was moved.

    The file of claims gets its name when it is claimed already, so that nobody finds it free while this run lives.
    """
    scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}.creating")
    place = scratch.joinpath(*CLAIMS)
    fresh = place if os.name == "nt" else place.with_name("new")
    try:
        place.parent.mkdir(parents=True)
        claims = Claims(fresh)
        try:
            claims.take(0)
            os.rename(fresh, place)
            _lay_out(scratch, contents, head, block)
            if os.name != "nt":
                yield scratch
        finally:
            claims.close()
        if os.name == "nt":  # pragma: no cover
            yield scratch  # no folder is moved there while a file of it is open
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _lay_out(place: Path, contents: Contents, head: Mapping[str, Json], block: int) -> None:
    import zarr
    from zarr.codecs import Crc32cCodec, ZstdCodec

    from subridge import __version__

    flags = Variable(("task",), (-(-contents.n_rows // block),), "uint64", 0)
    codecs = (ZstdCodec(), Crc32cCodec())
    group = zarr.create_group(store=str(place), zarr_format=3)
    for name, (dimensions, shape, dtype, empty) in {**contents.variables, "done": flags}.items():
        group.create_array(
            name,
            shape=shape,
            chunks=(1 if name == "done" else block, *shape[1:]),
            dtype=dtype,
            fill_value=empty,
            dimension_names=dimensions,
            compressors=codecs,
        )
    for name, (dimensions, values) in contents.coordinates.items():
        group.create_array(name, data=values, chunks=values.shape, dimension_names=dimensions, compressors=codecs)
    attributes: dict[str, Json] = {"subridge_version": __version__, **contents.attributes, **head, "block": block}
    attributes |= {"n_rows": contents.n_rows, "known_beforehand": list(contents.coordinates)}
    attributes["contents_digest"] = contents_digest(group, list(contents.coordinates))
    group.attrs.update({**attributes, "attributes_digest": digest_of_text(attributes)})


def contents_digest(group: "zarr.Group", coordinates: list[str]) -> str:
    """Digest of what is known before any task: the layout of every array, and the coordinates."""
    import zarr

    layouts: dict[str, Json] = {}
    values = {}
    for name in sorted(group.array_keys()):
        array = group[name]
        assert isinstance(array, zarr.Array)
        layouts[name] = repr(array.metadata.to_dict())
        if name in coordinates:
            values[name] = np.asarray(array[...])
    return digest_of_text({"layouts": layouts, "values": str(digest_of_values(values))})

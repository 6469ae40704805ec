"""Reading a store of tasks: which are done, which are damaged, and what the sound ones hold."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Array, Json
from subridge.model.errors import StoreError
from subridge.store.complaints import clear_errors, require_zarr
from subridge.store.digests import digest_of_text, digest_of_values
from subridge.store.layout import Kind, contents_digest

if TYPE_CHECKING:
    import zarr
    from zarr.types import AnyArray


class Look(NamedTuple):
    """What one look at a store found; other runs may change it at any moment, so that two looks need not agree.

    Rows of tasks in neither list were compared with their digest. Those of the others mean nothing.
    """

    arrays: dict[str, Array]
    damaged: list[int]  # tasks that count as done and are not what was written
    missing: list[int]  # tasks that do not count as done

    @property
    def is_whole(self) -> bool:
        """Whether every row is what a task wrote."""
        return not self.damaged and not self.missing


class ReadableStore:
    """An open store, of which nothing is changed."""

    def __init__(self, path: Path, kind: Kind, group: "zarr.Group") -> None:
        self.path, self.kind, self._group = path, kind, group
        self.attributes: dict[str, Json] = dict(group.attrs)
        self._arrays: dict[str, AnyArray] = {}

    @classmethod
    def _read_head(cls, path: Path, kind: Kind) -> Self:
        """Open a store that says of itself what it is."""
        require_zarr(kind)
        import zarr

        mode: Literal["r", "r+"] = "r+" if os.access(path, os.W_OK) else "r"
        with clear_errors(path):
            try:
                store = cls(path, kind, zarr.open_group(str(path), mode=mode, use_consolidated=False))
            except OSError as error:
                if isinstance(error, FileNotFoundError | FileExistsError | NotADirectoryError):
                    raise StoreError(f"{path} is not a store of {kind.holds}; {kind.remedy}") from error
                raise
            except Exception as error:  # whatever reading altered text can raise
                raise StoreError(f"{path} is not a store of {kind.holds}, or damaged; {kind.remedy}") from error
        found = store.attributes
        if found.get("schema") != kind.schema:
            raise StoreError(f"{path} is a zarr group but not a store of {kind.holds}; {kind.remedy}")
        if found.get("schema_version") != kind.version:
            raise StoreError(
                f"store {path} has schema version {found.get('schema_version')} (written by subridge "
                f"{found.get('subridge_version')}), this version reads {kind.version}; {kind.remedy}"
            )
        rest = {name: value for name, value in found.items() if name != "attributes_digest"}
        if digest_of_text(rest) != found.get("attributes_digest"):
            raise StoreError(f"the description of store {path} is damaged; {kind.remedy}, or remove it")
        return store

    @property
    def block(self) -> int:
        """Rows of a task."""
        return self._integer("block")

    @property
    def n_rows(self) -> int:
        """Rows of all tasks."""
        return self._integer("n_rows")

    @property
    def _cut_short(self) -> int | None:
        """Number of the last task where it has fewer rows than the others."""
        return self.n_rows // self.block if self.n_rows % self.block else None

    def has_grown(self) -> bool:
        """Whether another run gave the store more rows since it was opened here."""
        return self._read_head(self.path, self.kind).n_rows != self.n_rows

    def missing(self, n_rows: int | None = None) -> list[int]:
        """Numbers of the tasks that are not done, of those that hold the first rows."""
        n_tasks = -(-(self.n_rows if n_rows is None else n_rows) // self.block)
        return [number for number, digest in enumerate(self._digests()[:n_tasks]) if not digest]

    def done(self) -> list[int]:
        """Numbers of the tasks that are done."""
        return [number for number, digest in enumerate(self._digests()) if digest]

    def gather(self, names: Sequence[str], n_rows: int | None = None) -> Look:
        """First rows of the arrays to fill, all of which must be named, each task compared with its digest.

        Digests are read first: a task that another run finishes meanwhile counts as missing, whatever its rows hold.
        """
        self._require_place()
        n_rows = self.n_rows if n_rows is None else n_rows
        digests = self._digests()[: -(-n_rows // self.block)]
        with clear_errors(self.path):
            whole = self._readable(names, slice(None))
            arrays = whole or {name: np.zeros(self._array(name).shape, self._array(name).dtype) for name in names}
            damaged = []
            for number, digest in enumerate(digests):
                rows = slice(number * self.block, min((number + 1) * self.block, self.n_rows))
                found = {name: arrays[name][rows] for name in names} if whole else self._readable(names, rows)
                if digest and (found is None or self._digest_of(number, found) != digest):
                    damaged.append(number)
                elif not whole and found is not None:
                    for name, values in found.items():
                        arrays[name][rows] = values
        missing = [number for number, digest in enumerate(digests) if not digest]
        if self._cut_short in damaged and self.has_grown():  # its digest is of more rows
            damaged.remove(self._cut_short)
            missing.append(self._cut_short)
        return Look({name: values[:n_rows] for name, values in arrays.items()}, damaged, missing)

    def read(self, names: Sequence[str]) -> dict[str, Array]:
        """Whole arrays that were known beforehand; `open` has compared them with their digest."""
        with clear_errors(self.path):
            return {name: np.asarray(self._array(name)[...]) for name in names}

    def _is_whole(self) -> bool:
        """Whether layout and coordinates are as they were made."""
        names = self.attributes.get("known_beforehand")
        assert isinstance(names, list)
        try:
            return contents_digest(self._group, [str(name) for name in names]) == self.attributes["contents_digest"]
        except Exception:  # whatever reading damaged files can raise
            return False

    def _digests(self) -> list[int]:
        self._require_place()
        n_tasks, flags = -(-self.n_rows // self.block), self.path / "done" / "c"
        with clear_errors(self.path):
            names = os.listdir(flags) if flags.is_dir() else []
        last = min(n_tasks, 1 + max((int(name) for name in names if name.isdecimal()), default=-1))
        whole = self._readable(["done"], slice(0, last))
        found = [self._digest(number) for number in range(last)] if whole is None else whole["done"].tolist()
        return [*found, *([0] * (n_tasks - last))]

    def _digest(self, number: int) -> int:
        """The digest of a finished task, or 0."""
        if not (self.path / "done" / "c" / str(number)).exists():
            return 0
        found = self._readable(["done"], slice(number, number + 1))
        return 0 if found is None else int(found["done"][0])

    def _digest_of(self, number: int, values: Mapping[str, npt.NDArray[np.generic]]) -> int:
        return digest_of_values(values, str(self.attributes["fingerprint"]), number)

    def _readable(self, names: Sequence[str], rows: slice) -> dict[str, Array] | None:
        """Rows of arrays, or None where a chunk cannot be decoded."""
        with clear_errors(self.path):
            try:
                return {name: np.asarray(self._array(name)[rows]) for name in names}
            except (OSError, MemoryError):
                raise
            except Exception:  # whatever decoding altered bytes can raise
                return None

    def _array(self, name: str) -> "AnyArray":
        import zarr

        if name not in self._arrays:
            found = self._group[name]
            assert isinstance(found, zarr.Array)
            self._arrays[name] = found
        return self._arrays[name]

    def _integer(self, name: str) -> int:
        value = self.attributes[name]
        assert isinstance(value, int)
        return value

    def _require_place(self) -> None:
        if not (self.path / "zarr.json").exists():
            raise StoreError(f"store {self.path} was removed while it was in use; run again to begin anew")

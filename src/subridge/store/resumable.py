"""A zarr directory that is filled task by task, so that interrupted work goes on where it stopped.

The rows of the arrays to fill are divided into blocks, one for each task. A task owns exactly one chunk of every such
array and one chunk of ``done``, which is written last and holds a digest of the others: what does not match it is
damaged, and done again. Chunks shared between writers lose data silently, and NaN is a value, not a flag.
"""

import os
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Array, Json
from subridge.spec.errors import DamagedStoreWarning, StoreError, WaitingWarning
from subridge.store.claims import Claims
from subridge.store.complaints import clear_errors, listed, require_zarr
from subridge.store.digests import digest_of_text, digest_of_values
from subridge.store.layout import CLAIMS, Contents, Kind, Variable, contents_digest, create, renew
from subridge.store.places import is_store, place_of

if TYPE_CHECKING:
    import zarr
    from zarr.types import AnyArray

# Seconds between looks at what another run has finished, and looks before a wait is spoken of.
_PAUSE, _SILENT = 0.05, 100

__all__ = ["Contents", "Kind", "ResumableStore", "Variable", "is_store"]


class ResumableStore:
    """An open store; build one by `open_or_create` or `open`."""

    def __init__(self, path: Path, kind: Kind, group: "zarr.Group") -> None:
        self.path, self.kind, self._group = path, kind, group
        self.attributes: dict[str, Json] = dict(group.attrs)
        self._arrays: dict[str, AnyArray] = {}
        self._claims: Claims | None = None
        self._waited = 0

    @classmethod
    def open_or_create(
        cls, path: str | Path, kind: Kind, contents: Contents, fingerprint: str, block: int
    ) -> "ResumableStore":
        """Open the store of this work to go on with it, or create it with so many rows per task.

        A store of another fingerprint, or of something else, is refused. An existing one keeps its own block; it gets
        more rows when the contents have more, and a damaged description is written anew.
        """
        path = place_of(path)
        require_zarr(kind)
        head: dict[str, Json] = {"schema": kind.schema, "schema_version": kind.version, "fingerprint": fingerprint}
        if not is_store(path):
            with clear_errors(path):
                create(path, contents, head, block)
        store = cls._read_head(path, kind)
        if store.attributes.get("fingerprint") != fingerprint:
            raise StoreError(f"store {path} belongs to {kind.another}; {kind.remedy}, or remove the old one")
        return store._fitted(contents, head)

    @classmethod
    def open(cls, path: str | Path, kind: Kind) -> "ResumableStore":
        """Open an existing store to read it."""
        store = cls._read_head(place_of(path), kind)
        if not store._is_whole():
            raise StoreError(f"the description of store {path} is damaged; do the same work again to mend it")
        return store

    @classmethod
    def _read_head(cls, path: Path, kind: Kind) -> "ResumableStore":
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

    def missing(self, n_rows: int | None = None) -> list[int]:
        """Numbers of the tasks that are not done, of those that hold the first rows."""
        n_tasks = -(-(self.n_rows if n_rows is None else n_rows) // self.block)
        return [number for number, digest in enumerate(self._digests()[:n_tasks]) if not digest]

    def done(self) -> list[int]:
        """Numbers of the tasks that are done."""
        return [number for number, digest in enumerate(self._digests()) if digest]

    def claimed(self, numbers: Iterable[int]) -> Iterator[int]:
        """Those of the tasks that no other run is working on or has finished; `write` or `release` gives each back."""
        self._require_place()
        if not os.access(self.path, os.W_OK):
            raise StoreError(f"store {self.path} is read-only; make it writable, or {self.kind.remedy}")
        with clear_errors(self.path):
            if self._claims is None:
                self._claims = Claims(self.path.joinpath(*CLAIMS))
            for number in numbers:
                if self._claims.take(number):
                    if self._digest(number):
                        self._claims.release(number)
                    else:
                        yield number

    def until_done(self, n_rows: int | None = None) -> Iterator[int]:
        """Claimed tasks, one after the other, until none is missing; waits for those of other runs."""
        while missing := self.missing(n_rows):
            if not (yield from self._counted(missing)):
                self.wait(len(missing))

    def _counted(self, numbers: Sequence[int]) -> Generator[int, None, int]:
        count = 0
        for number in self.claimed(numbers):
            count += 1
            yield number
        return count

    def wait(self, n_tasks: int) -> None:
        """Let another run work on its tasks; say so when that takes long."""
        self._waited += 1
        if self._waited == _SILENT:
            warnings.warn(
                f"waiting for {n_tasks} tasks of another run that fills store {self.path}", WaitingWarning, stacklevel=2
            )
        time.sleep(_PAUSE)

    def release(self) -> None:
        """Give back every claim."""
        if self._claims is not None:
            self._claims.close()
            self._claims = None

    def write(self, number: int, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Write the chunk that a task has of every array to fill, then the digest that makes it done."""
        self._require_place()
        with clear_errors(self.path):
            start, stored = number * self.block, {}
            for name, values in arrays.items():
                stored[name] = np.asarray(values, dtype=self._array(name).dtype)
                self._array(name)[start : start + len(values)] = stored[name]
            self._array("done")[number] = np.uint64(self._digest_of(number, stored))
        if self._claims is not None:
            self._claims.release(number)

    def forget(self, numbers: Sequence[int]) -> None:
        """Count tasks as not done, and say that they were damaged."""
        if not os.access(self.path, os.W_OK):
            raise StoreError(f"store {self.path} is damaged in {listed(numbers)} and read-only; copy and mend it")
        self._require_place()
        with clear_errors(self.path):
            for number in numbers:
                self._array("done")[number] = np.uint64(0)
        warnings.warn(
            f"store {self.path} is damaged in {listed(numbers)}; what they held is computed again",
            DamagedStoreWarning,
            stacklevel=2,
        )

    def gather(self, names: Sequence[str], n_rows: int | None = None) -> tuple[dict[str, Array], list[int]]:
        """First rows of the arrays to fill, all of which must be named, and the finished tasks that are damaged."""
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
        return {name: values[:n_rows] for name, values in arrays.items()}, damaged

    def read(self, names: Sequence[str]) -> dict[str, Array]:
        """Whole arrays that were known beforehand; `open` has compared them with their digest."""
        with clear_errors(self.path):
            return {name: np.asarray(self._array(name)[...]) for name in names}

    def _fitted(self, contents: Contents, head: Mapping[str, Json]) -> "ResumableStore":
        """The store with a sound description and at least as many rows as the contents."""
        if contents.n_rows <= self.n_rows and self._is_whole():
            return self
        if not os.access(self.path, os.W_OK):
            raise StoreError(f"store {self.path} must be extended or mended but is read-only; {self.kind.remedy}")
        with clear_errors(self.path):
            claims = Claims(self.path.joinpath(*CLAIMS))
            try:
                with claims.description():
                    now = self._read_head(self.path, self.kind)
                    if now._is_whole():
                        if contents.n_rows <= now.n_rows:
                            return now  # another run was faster
                        if now.n_rows % now.block:  # the last task gets more rows
                            now._array("done")[now.n_rows // now.block] = np.uint64(0)
                    elif contents.n_rows < now.n_rows:
                        raise StoreError(
                            f"the description of store {self.path} is damaged; ask for its {now.n_rows} rows to mend it"
                        )
                    else:
                        words = f"the description of store {self.path} is damaged; it is written anew"
                        warnings.warn(words, DamagedStoreWarning, stacklevel=4)
                    head = {**head, "subridge_version": now.attributes["subridge_version"]}
                    renew(self.path, contents, head, now.block)
            finally:
                claims.close()
        return self._read_head(self.path, self.kind)

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

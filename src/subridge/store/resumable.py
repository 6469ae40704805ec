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
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Json
from subridge.model.checks import counted
from subridge.model.errors import DamagedStoreWarning, StoreError, WaitingWarning
from subridge.store.claims import Claims
from subridge.store.complaints import clear_errors, listed, require_zarr
from subridge.store.layout import CLAIMS, Contents, Kind, Variable, create, renew
from subridge.store.places import is_store, place_of
from subridge.store.readable import ReadableStore

if TYPE_CHECKING:
    import zarr

# Seconds between looks at what another run has finished, and looks before a wait is spoken of.
_PAUSE, _SILENT = 0.05, 100

__all__ = ["Contents", "Kind", "ResumableStore", "Variable", "is_store"]


class ResumableStore(ReadableStore):
    """An open store to fill; build one by `open_or_create` or `open`."""

    def __init__(self, path: Path, kind: Kind, group: "zarr.Group") -> None:
        super().__init__(path, kind, group)
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

    def claimed(self, numbers: Iterable[int]) -> Iterator[int]:
        """Those of the tasks that no other run is working on or has finished; `write` or `release` gives each back.

        A last task that has more rows by now is left out: this run does not know them.
        """
        self._require_place()
        if not os.access(self.path, os.W_OK):
            raise StoreError(f"store {self.path} is read-only; make it writable, or {self.kind.remedy}")
        with clear_errors(self.path):
            if self._claims is None:
                self._claims = Claims(self.path.joinpath(*CLAIMS))
            for number in numbers:
                if self._claims.take(number):
                    if self._digest(number) or (number == self._cut_short and self.has_grown()):
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
                f"waiting for {counted(n_tasks, 'task')} of another run that fills store {self.path}",
                WaitingWarning,
                stacklevel=2,
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
                        if now._cut_short is not None:  # the last task gets more rows
                            while not claims.take(now._cut_short):
                                self.wait(1)
                            now._array("done")[now._cut_short] = np.uint64(0)
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

"""The tables that `build.py` wrote: rows of pilots and of trials, and the ensembles that are forecast on them."""

import json
import multiprocessing
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data"
MOST_TESTED = 2000
SHARE = 0.7  # of the rows or groups that may be trained on
GROWTHS = (2, 4, 8)
ROWS_OF_GROUPS, LEAST_GROUPS = 300, 20  # of a pilot of whole groups


@dataclass(frozen=True, eq=False)
class Table:
    """Features (N, M), labels as given, groups of rows where the table has them, and the sizes of its pilots."""

    name: str
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None
    pilots: tuple[int, ...]

    @property
    def classes(self):
        return self.y.dtype.kind in "iu"

    @property
    def task(self):
        return "classification" if self.classes else "regression"

    @cached_property
    def targets(self):
        """Shape (N, C): one-hot for classes."""
        return np.eye(int(self.y.max()) + 1)[self.y] if self.classes else self.y[:, None].astype(float)

    def pilot(self, n, number):
        """Rows of one pilot."""
        return np.random.default_rng((7, n, number)).permutation(len(self.X))[:n]

    def sizes(self, n):
        return [factor * n for factor in GROWTHS if factor * n <= SHARE * len(self.X)]

    @property
    def all_sizes(self):
        """Every size that a pilot of the table is forecast at."""
        return sorted({size for n in self.pilots for size in self.sizes(n)})

    def split(self, size, draw):
        """Rows that are trained on and rows that judge."""
        order = np.random.default_rng((11, size, draw)).permutation(len(self.X))
        return order[:size], order[size : size + MOST_TESTED]

    @cached_property
    def group_names(self):
        return np.unique(self.groups)

    @property
    def pilot_groups(self):
        """Groups of a pilot, about 300 rows."""
        return max(LEAST_GROUPS, round(ROWS_OF_GROUPS * len(self.group_names) / len(self.X)))

    @property
    def group_sizes(self):
        return [f * self.pilot_groups for f in GROWTHS if f * self.pilot_groups <= SHARE * len(self.group_names)]

    def group_pilot(self, number):
        return np.flatnonzero(np.isin(self.groups, self._groups(7, number)[: self.pilot_groups]))

    def group_split(self, size, draw):
        order = self._groups(11, draw)
        train, test = (np.flatnonzero(np.isin(self.groups, part)) for part in (order[:size], order[size:]))
        return train, np.random.default_rng(draw).permutation(test)[:MOST_TESTED]

    def _groups(self, purpose, number):
        return np.random.default_rng((purpose, number)).permutation(self.group_names)


def names(folder=FOLDER):
    """The tables in a folder, in the order of the sets."""
    return [name for name in about(folder) if (folder / f"{name}.npz").exists()]


def about(folder=FOLDER):
    """Role, kind and pilots of every set, by name."""
    return json.loads((folder / "about.json").read_text())


def load(name, folder=FOLDER):
    with np.load(folder / f"{name}.npz") as data:
        pilots = tuple(about(folder)[name]["pilots"])
        return Table(name, data["X"].astype(float), data["y"], data.get("groups"), pilots)


def within(minutes, results, count):
    """As many results of a pool's `imap_unordered` as come within so many minutes."""
    end = time.monotonic() + 60 * minutes
    with suppress(multiprocessing.TimeoutError):
        for _ in range(count):
            yield results.next(max(end - time.monotonic(), 0.0) if minutes < np.inf else None)

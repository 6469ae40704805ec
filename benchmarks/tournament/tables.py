"""A set as it was built, its ensembles, and what they truly err: plain fits, no code of the forecast."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sets import SOURCES

import subridge as sr

FOLDER = Path(__file__).parent / "data"
PATH = np.logspace(-4, 5, 37)  # ridges at which truth is measured, in units of a standardised feature
DRAWS = 8
MOST_TESTED = 2000
SHARE = 0.7  # of the rows that may be trained on


@dataclass(frozen=True, eq=False)
class Table:
    """Features (N, M), labels as given, and targets (N, C): one-hot for classes."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def classes(self):
        return self.y.dtype.kind in "iu"

    @property
    def task(self):
        return "classification" if self.classes else "regression"

    @cached_property
    def targets(self):
        return np.eye(int(self.y.max()) + 1)[self.y] if self.classes else self.y[:, None].astype(float)

    def pilot(self, n, number):
        """Rows of one pilot."""
        return np.random.default_rng((7, n, number)).permutation(len(self.X))[:n]

    def sizes(self, n):
        return [factor * n for factor in (2, 4, 8) if factor * n <= SHARE * len(self.X)]

    def plans(self):
        M = self.X.shape[1]
        return {
            "one ridge": sr.subsets.equal(1, M, seed=0),
            "8 equal": sr.subsets.equal(8, M, seed=0),
            "8 heterogeneous": sr.subsets.dirichlet(8, M, 0.75, seed=0),
        }


def load(name, folder=FOLDER):
    with np.load(folder / f"{name}.npz") as data:
        return Table(name, data["X"].astype(float), data["y"])


def path_outputs(F, G, subset, Y):
    """Outputs on rows G of one member trained on rows F at every ridge of the path; shape (L, C, rows of G)."""
    A, mean = F[:, subset] - F[:, subset].mean(axis=0), Y.mean(axis=0)
    B, centred = G[:, subset] - F[:, subset].mean(axis=0), Y - mean
    penalties = PATH * len(subset)
    if A.shape[0] >= A.shape[1]:
        d, V = np.linalg.eigh(A.T @ A)
        left, right = B @ V, V.T @ (A.T @ centred)
    else:
        d, V = np.linalg.eigh(A @ A.T)
        left, right = (B @ A.T) @ V, V.T @ centred
    gains = 1 / (np.maximum(d, 0) + penalties[:, None])
    scaled = (gains[:, :, None] * right).transpose(1, 0, 2).reshape(len(d), -1)
    outputs = (left @ scaled).reshape(len(B), len(PATH), -1) + mean
    return outputs.transpose(1, 2, 0)


def members_outputs(table, train, test, plan):
    """Outputs of all members, shape (k, L, C, test rows)."""
    F, G, Y = table.X[train], table.X[test], table.targets[train]
    return np.array([path_outputs(F, G, plan.measurements[r], Y) for r in range(plan.n_members)])


def split(table, size, draw):
    order = np.random.default_rng((11, size, draw)).permutation(len(table.X))
    return order[:size], order[size : size + MOST_TESTED]


def truth(table, size, draws=DRAWS):
    """Mean squared error and share of wrong votes of every ensemble at every ridge, each (ensembles, L)."""
    errors, wrong = [], []
    for draw in range(draws):
        train, test = split(table, size, draw)
        Y, one, two = table.targets[test].T, [], []
        for plan in table.plans().values():
            outputs = members_outputs(table, train, test, plan)
            one.append(((outputs.mean(axis=0) - Y) ** 2).sum(axis=1).mean(axis=1))
            two.append(_wrong(outputs, table.y[test]) if table.classes else np.full(len(PATH), np.nan))
        errors.append(one)
        wrong.append(two)
    errors = np.array(errors)
    return errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(draws), np.mean(wrong, axis=0)


def _wrong(outputs, labels):
    """Share of wrong majority votes; a tie goes to the larger sum of scores."""
    votes = outputs.argmax(axis=2)
    counts = np.array([(votes == c).sum(axis=0) for c in range(outputs.shape[2])], float)
    sums = outputs.sum(axis=0).transpose(1, 0, 2)
    scale = np.abs(sums).max() + 1
    return ((counts + sums / (10 * scale * len(outputs))).argmax(axis=0) != labels).mean(axis=1)


def wanted_sizes(name, folder=FOLDER):
    """Every size that a pilot of the set is forecast at."""
    table = load(name, folder)
    return sorted({size for n in SOURCES[name].pilots for size in table.sizes(n)})


def truth_at(name, size, folder=FOLDER):
    """Truth at one size, from a file beside the table where it is there; shape (3, ensembles, L)."""
    file = folder / f"{name}.truth{size}.npy"
    if not file.exists():
        np.save(file, np.array(truth(load(name, folder), size)))
    return np.load(file)


def truths(name, folder=FOLDER):
    """Truth at every size forecast."""
    return {size: truth_at(name, size, folder) for size in wanted_sizes(name, folder)}


def at_ridge(values, ridge):
    """Log-linear interpolation along the path."""
    return float(np.exp(np.interp(np.log(max(ridge, PATH[0])), np.log(PATH), np.log(values))))

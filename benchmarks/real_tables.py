"""Real data for benchmarks/forecast_real.py, and what ensembles err on it, measured by plain fits."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn import datasets as bundled
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import subridge as sr

IMAGES = {"bundled": (4000, 2000), "cifar10": (16000, 4000), "fashion": (16000, 4000)}  # rows taken of each file
TABLES = ("digits", "digits_relu", "diabetes", "breast_cancer")
N_TEST = 4000  # rows predicted in each trial, at most


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in random order: features, targets (one-hot for classes), labels of classes or None."""

    name: str
    X: np.ndarray
    Y: np.ndarray
    labels: np.ndarray | None
    pilots: tuple[int, ...]
    note: str

    @property
    def task(self):
        return "regression" if self.labels is None else "classification"

    def rows(self, pilot, n):
        """Pilot j is the j-th n rows."""
        return np.arange(pilot * n, (pilot + 1) * n)

    def given(self, rows):
        """X and y as `sr.forecast` takes them."""
        return self.X[rows], self.Y[rows] if self.labels is None else self.labels[rows]


def load(name):
    X, y, pilots, note = _images(name) if name in IMAGES else _small(name)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    if name == "diabetes":
        return Table(name, X, y[:, None], None, pilots, note)
    return Table(name, X, np.eye(int(y.max()) + 1)[y], y, pilots, note)


def _images(name):
    data, (train, test) = sr.datasets.load_set(name), IMAGES[name]
    X = np.concatenate([data.X[:train], data.X_test[:test]]).astype(float)
    y = np.concatenate([data.y[:train], data.y_test[:test]]).astype(int)
    there = f"{len(data.X):,} + {len(data.X_test):,} rows there, first {train:,} + {test:,} taken and pooled"
    return X, y, (250, 500, 1000), f"deep features of images; {there}"


def _small(name):
    if name == "digits":
        X, y = bundled.load_digits(return_X_y=True)
        return X / 16, y, (200, 400), "8 × 8 pixels"
    if name == "digits_relu":
        X, y = bundled.load_digits(return_X_y=True)
        rng, M = np.random.default_rng(1), 600
        X = np.maximum(X / 16 @ rng.standard_normal((64, M)) / 8 + 0.1 * rng.standard_normal(M), 0)
        return X, y, (200, 400), "600 random ReLU features of 8 × 8 pixels"
    if name == "diabetes":
        X, y = bundled.load_diabetes(return_X_y=True)
        X = StandardScaler().fit_transform(PolynomialFeatures(3, include_bias=False).fit_transform(X / X.std(axis=0)))
        return X, y / y.std(), (80, 160), "all monomials up to degree 3, standardised"
    X, y = bundled.load_breast_cancer(return_X_y=True)
    X = PolynomialFeatures(2, include_bias=False).fit_transform(StandardScaler().fit_transform(X))
    return StandardScaler().fit_transform(X), y, (100, 200), "all monomials up to degree 2, standardised"


class Losses:
    """Sums over trials of every row's squared error and wrong votes while it was not trained on."""

    def __init__(self, n_rows):
        self.squares, self.wrong, self.counts = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
        self.trials = []

    def add(self, rows, squares, wrong):
        self.squares[rows] += squares
        self.wrong[rows] += wrong
        self.counts[rows] += 1
        self.trials.append(float(squares.mean()))

    def without(self, rows):
        """Error, its standard error and the share of wrong votes on rows that are not among the given ones."""
        seen = self.counts > 0
        seen[rows] = False
        each = self.squares[seen] / self.counts[seen]
        between = np.std(self.trials, ddof=1) / np.sqrt(len(self.trials))
        return {
            "measured": float(each.mean()),
            "measured_error": float(max(between, each.std() / np.sqrt(len(each)))),
            "votes_measured": float((self.wrong[seen] / self.counts[seen]).mean()),
        }


def measure(table, size, wanted, n_trials, seed):
    """Train on random rows, predict others; plain ridge fits with intercept, penalty λ N_r.

    `wanted` maps names to (subsets, ridges). Returns {(name, ridge): Losses}.
    """
    losses = {(name, ridge): Losses(len(table.X)) for name, (_, ridges) in wanted.items() for ridge in ridges}
    for trial in range(n_trials):
        train, test = split(len(table.X), size, (seed, size, trial))
        X, Y, X_test = table.X[train], table.Y[train], table.X[test]
        for name, (subsets, ridges) in wanted.items():
            scores = np.stack([fits(X[:, s], Y, X_test[:, s], ridges) for s in subsets])
            for i, ridge in enumerate(ridges):
                losses[name, ridge].add(test, *judged(scores[:, i], table, test))
    return losses


def official(name, size, wanted, n_trials):
    """Mean error on the file of test rows after training on the file of training rows; {(name, ridge): error}."""
    data, (n_train, n_test) = sr.datasets.load_set(name), IMAGES[name]
    X, y = data.X[:n_train], data.y[:n_train]
    X_test, Y_test = data.X_test[:n_test], np.eye(10)[data.y_test[:n_test]]
    found = {}
    for trial in range(n_trials):
        train, _ = split(n_train, size, (9, size, trial))
        for kind, (subsets, ridges) in wanted.items():
            scores = np.stack([fits(X[train][:, s], np.eye(10)[y[train]], X_test[:, s], ridges) for s in subsets])
            errors = ((scores.mean(axis=0) - Y_test) ** 2).sum(axis=-1).mean(axis=-1)
            for ridge, error in zip(ridges, errors, strict=True):
                found.setdefault((kind, ridge), []).append(float(error))
    return {key: float(np.mean(errors)) for key, errors in found.items()}


def split(n_rows, size, seed):
    order = np.random.default_rng(seed).permutation(n_rows)
    return order[:size], order[size : size + N_TEST]


def judged(scores, table, test):
    """Squared error of the mean and wrongness of the majority vote; scores of shape (k, rows, C)."""
    squares = ((scores.mean(axis=0) - table.Y[test]) ** 2).sum(axis=1)
    if table.labels is None:
        return squares, np.full(len(test), np.nan)
    C = table.Y.shape[1]
    votes = np.eye(C)[scores.argmax(axis=2)].sum(axis=0)
    total = scores.sum(axis=0)
    tied = np.where(votes == votes.max(axis=1, keepdims=True), total, -np.inf)
    return squares, (tied.argmax(axis=1) != table.labels[test]).astype(float)


def fits(X, Y, X_test, ridges):
    """Predictions of ridge regressions with intercept; shape (ridges, rows, C)."""
    centre, level = X.mean(axis=0), Y.mean(axis=0)
    F, T, N = X - centre, Y - level, X.shape[1]
    wide = len(X) < N
    gram = F @ F.T if wide else F.T @ F
    right = T if wide else F.T @ T
    weights = []
    for ridge in ridges:
        penalised = gram.copy()
        penalised.flat[:: len(gram) + 1] += ridge * N
        solved = cho_solve(cho_factor(penalised, lower=True, overwrite_a=True, check_finite=False), right)
        weights.append(F.T @ solved if wide else solved)
    flat = (X_test - centre) @ np.concatenate(weights, axis=1)
    return flat.reshape(len(X_test), len(ridges), -1).transpose(1, 0, 2) + level

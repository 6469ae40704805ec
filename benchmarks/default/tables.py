"""Which tables choose the constants of the default, and which judge it; fixed before either was run.

Real tables are those of the tournament (`../tournament`). They are ordered by the SHA-256 of their names: the first
third of the tables with numbers to predict, and of those with classes, is for development, the rest judges. The number
of training rows follows from the same digest. Generated tables are listed below with their laws.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

SIZES = (60, 120, 250, 500, 1000, 2000)
DRAWS = 5
MOST_TEST_ROWS = 3000
WITH_CLASSES = [
    "austen",
    "caravan",
    "census",
    "chinese",
    "credit",
    "dna",
    "drawings",
    "drugs",
    "fruit",
    "glosses",
    "glyphs",
    "mails",
    "modules",
    "news",
    "nouns",
    "pd_speech",
    "peoples",
    "proteins",
    "samples",
    "sayings",
    "scripts",
    "segments",
    "spam",
    "stops",
    "strikes",
    "tissues",
    "tongues",
    "voices",
    "watch",
]
WITH_NUMBERS = [
    "ames_log",
    "bikes",
    "cancer",
    "chains",
    "check_log",
    "cheese",
    "counties",
    "delays",
    "diabetes",
    "diamonds",
    "doses",
    "ferment",
    "glucose",
    "incomes",
    "items",
    "lectures",
    "letter_relu",
    "metro",
    "mnist_px",
    "nations",
    "notes",
    "players",
    "ratings",
    "reactions",
    "schools",
    "spending",
    "storms",
    "timings",
    "visits",
    "wage_panel",
    "words",
]


class Draw(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def digest(name: str) -> int:
    return int(sha256(name.encode()).hexdigest(), 16)


def split(names: list[str]) -> dict[str, list[str]]:
    ordered = sorted(names, key=digest)
    third = len(ordered) // 3
    return {"develop": ordered[:third], "judge": ordered[third:]}


def training_rows(name: str, n_rows: int, n_features: int) -> int:
    """A size of the list that leaves two fifths of the rows for the test and p/n between .05 and 20."""
    fitting = [n for n in SIZES if n <= 0.6 * n_rows and 0.05 <= n_features / n <= 20]
    return fitting[digest(name + " rows") % len(fitting)]


def read_draw(folder: Path, name: str, draw: int) -> Draw:
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    n = training_rows(name, *X.shape)
    order = np.random.default_rng([digest(name) % 2**32, draw]).permutation(len(X))
    train, test = order[:n], order[n : n + MOST_TEST_ROWS]
    return Draw(X[train], y[train], X[test], y[test])


# -- generated tables -------------------------------------------------------------------------------


def normal(rng, n, scales, mixing=None):
    Z = rng.standard_normal((n, len(scales))) * scales
    return Z if mixing is None else Z @ mixing


def linear(M, n, scales, teacher, noise, shared=0.0):
    """Features with these standard deviations (and a common factor), labels X @ teacher of unit variance + noise."""

    def make(rng, rows):
        X = rng.standard_normal((rows, M)) * scales + shared * rng.standard_normal((rows, 1))
        w = np.asarray(teacher) / np.sqrt(
            (scales**2 * np.asarray(teacher) ** 2).sum() + shared**2 * np.sum(teacher) ** 2
        )
        return X, X @ w + noise * rng.standard_normal(rows)

    return n, make


def autoregressive(M, n, rho, teacher, noise):
    L = np.linalg.cholesky(rho ** abs(np.subtract.outer(np.arange(M), np.arange(M))))

    def make(rng, rows):
        X = rng.standard_normal((rows, M)) @ L.T
        return X, X @ teacher / np.linalg.norm(L.T @ teacher) + noise * rng.standard_normal(rows)

    return n, make


def factors(M, n, q, level, noise):
    def make(rng, rows):
        loads = np.random.default_rng(7).standard_normal((q, M))
        F = rng.standard_normal((rows, q))
        return F @ loads + level * rng.standard_normal((rows, M)), F.sum(axis=1) / q**0.5 + noise * rng.standard_normal(
            rows
        )

    return n, make


def friedman(M, n, noise):
    def make(rng, rows):
        U = rng.random((rows, M))
        f = 10 * np.sin(np.pi * U[:, 0] * U[:, 1]) + 20 * (U[:, 2] - 0.5) ** 2 + 10 * U[:, 3] + 5 * U[:, 4]
        return U - 0.5, f + noise * rng.standard_normal(rows)

    return n, make


def pure_noise(M, n):
    return n, lambda rng, rows: (rng.standard_normal((rows, M)), rng.standard_normal(rows))


def heavy(M, n, freedom):
    return n, lambda rng, rows: (
        (X := rng.standard_normal((rows, M))),
        X[:, : M // 2].sum(axis=1) / (M / 2) ** 0.5 + rng.standard_t(freedom, rows),
    )


def one_hot(M, n, classes, level):
    def make(rng, rows):
        centres = np.random.default_rng(3).standard_normal((classes, M)) * level
        labels = rng.integers(0, classes, rows)
        return centres[labels] + rng.standard_normal((rows, M)), np.eye(classes)[labels]

    return n, make


def power(M, exponent):
    return np.arange(1, M + 1) ** (-exponent / 2)


def signs(M):
    return np.random.default_rng(5).choice([-1.0, 1.0], M)


GENERATED: dict[str, dict[str, tuple[int, Callable]]] = {
    "develop": {
        "power law 1.5, 1,000 features": linear(1000, 60, power(1000, 1.5), signs(1000), 0.7),
        "20 relevant of 200": linear(200, 300, np.ones(200), np.r_[np.ones(20), np.zeros(180)], 1.0),
        "Friedman, 30 features": friedman(30, 400, 2.0),
        "common factor .5": linear(150, 120, np.ones(150), signs(150), 0.5, 0.7),
        "autoregressive .5": autoregressive(100, 250, 0.5, np.ones(100), 1.0),
        "2 factors of 200": factors(200, 60, 2, 2.0, 0.5),
        "noise, 200 features": pure_noise(200, 60),
        "t4 noise": heavy(30, 250, 4),
        "4 classes, one-hot": one_hot(300, 120, 4, 0.2),
        "isotropic, 300 features": linear(300, 150, np.ones(300), signs(300), 0.5),
    },
    "judge": {
        "power law 1, 400 features": linear(400, 120, power(400, 1.0), signs(400), 0.7),
        "5 relevant of 100": linear(100, 150, np.ones(100), np.r_[np.ones(5), np.zeros(95)], 1.0),
        "Friedman, 60 features": friedman(60, 150, 1.0),
        "common factor 1": linear(300, 100, np.ones(300), signs(300), 0.5, 1.0),
        "autoregressive .9": autoregressive(200, 250, 0.9, np.sin(np.arange(200) / 10), 0.7),
        "two scales": linear(200, 120, np.r_[np.ones(50), np.full(150, 0.05)], np.r_[np.zeros(50), np.ones(150)], 0.5),
        "5 factors of 1,000": factors(1000, 100, 5, 3.0, 0.5),
        "noise, 50 features": pure_noise(50, 100),
        "t3 noise": heavy(50, 500, 3),
        "3 classes, one-hot, 5,000 features": one_hot(5000, 250, 3, 0.05),
        "isotropic, 100 features": linear(100, 500, np.ones(100), signs(100), 0.5),
        "power law 2, 2,000 features": linear(2000, 500, power(2000, 2.0), signs(2000), 0.3),
    },
}


def generate_draw(part: str, name: str, draw: int) -> Draw:
    n, make = GENERATED[part][name]
    rng = np.random.default_rng([digest(name) % 2**32, draw])
    X, y = make(rng, n)
    return Draw(X, y, *make(rng, MOST_TEST_ROWS))


if __name__ == "__main__":
    for kind, names in (("numbers", WITH_NUMBERS), ("classes", WITH_CLASSES)):
        for part, chosen in split(names).items():
            print(kind, part, len(chosen), *chosen)

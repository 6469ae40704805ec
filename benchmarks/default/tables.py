"""Which tables choose the constants of the default, and which judge it; fixed before either was run.

Real tables are those of the tournament (`../tournament`). They are ordered by the SHA-256 of their names: the first
third of the tables with numbers to predict, and of those with classes, is for development, the rest judges. The number
of training rows follows from the same digest. Generated tables are listed below with their laws.

The fresh tables (`fresh.py`) and the later ones (`later.py`) are others, all of them to judge: they and the laws that
go with them were fixed before anything was run on them.
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
FRESH_CLASSES = [
    "collagen",
    "blood",
    "yeast",
    "livers",
    "reductases",
    "musks",
    "dementia",
    "breeds",
    "outlines",
    "appliances",
    "gunpoint",
    "speakers",
    "wires",
    "votes",
    "soybeans",
    "chess",
    "traits",
    "churn",
    "leavers",
    "mortgages",
    "moods",
    "satellites",
    "radar",
    "vehicles",
    "oils",
    "pima",
    "vowels",
    "sonar",
    "cells",
    "leaves",
    "textures",
    "gestures",
]
FRESH_NUMBERS = [
    "meats",
    "permeability",
    "barrier",
    "inhibition",
    "myoblasts",
    "mice",
    "influenza",
    "altitudes",
    "epidemic",
    "pixels",
    "speeches",
    "valences",
    "artworks",
    "tweets",
    "films",
    "hotels",
    "loans",
    "fares",
    "matches",
    "classrooms",
    "languages",
    "farms",
    "offences",
    "roads",
    "radon",
    "mileages",
    "boston",
    "concrete",
    "bodies",
    "ozone",
    "cars",
    "colleges",
    "homes",
    "houses",
    "computers",
    "medicines",
    "averages",
    "exhausts",
    "yields",
    "transit",
    "hitters",
    "schooling",
    "wages",
    "arrests",
    "sleepers",
    "newborns",
    "children",
    "quitters",
    "rain",
]
LATER_NUMBERS = [
    "panels",
    "solubilities",
    "hydrations",
    "secretases",
    "densities",
    "orbitals",
    "refractions",
    "birds",
    "soils",
    "mosaics",
    "halfhours",
    "demands",
    "calls",
    "sunspots",
    "rings",
    "gusts",
    "volumes",
    "smog",
    "istanbul",
    "lanes",
    "cheers",
    "episodes",
    "titles",
    "wines",
    "grosses",
    "polls",
    "blocks",
    "birthdays",
    "exams",
    "grades",
    "attainments",
    "pupils",
    "careers",
    "hours",
    "lifespans",
    "contagion",
    "elections",
    "listings",
    "rodents",
    "runners",
    "cigarettes",
    "cows",
    "pigs",
    "fries",
    "stays",
    "companies",
    "professors",
    "faculty",
    "fourths",
    "feelings",
    "districts",
    "fuels",
    "dealers",
    "abalone",
    "windsor",
    "athletes",
    "machines",
    "hawks",
    "imports",
    "pulp",
    "seas",
    "baltimore",
    "metals",
    "learners",
    "savings",
    "physicians",
    "developers",
    "quarrels",
    "leagues",
    "injuries",
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


TABLES = {
    "numbers": split(WITH_NUMBERS) | {"fresh": FRESH_NUMBERS, "later": LATER_NUMBERS},
    "classes": split(WITH_CLASSES) | {"fresh": FRESH_CLASSES},
}


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


def uneven(M, n, noise):
    """Normal features; a product, a kink, a step and a line of the first five."""

    def make(rng, rows):
        X = rng.standard_normal((rows, M))
        f = X[:, 0] * X[:, 1] + abs(X[:, 2]) + np.tanh(2 * X[:, 3]) + X[:, 4]
        return X, f + noise * rng.standard_normal(rows)

    return n, make


def pure_noise(M, n):
    return n, lambda rng, rows: (rng.standard_normal((rows, M)), rng.standard_normal(rows))


def heavy(M, n, freedom):
    return n, lambda rng, rows: (
        (X := rng.standard_normal((rows, M))),
        X[:, : M // 2].sum(axis=1) / (M / 2) ** 0.5 + rng.standard_t(freedom, rows),
    )


def waves(M, n, noise):
    """Uniform features; waves and a product of the first four, and lines of the next four."""

    def make(rng, rows):
        U = rng.uniform(-1, 1, (rows, M))
        f = np.sin(3 * U[:, 0]) + np.cos(5 * U[:, 1]) + 2 * U[:, 2] * U[:, 3] + U[:, 4:8].sum(axis=1)
        return U, f + noise * rng.standard_normal(rows)

    return n, make


def rare(M, n, noise):
    """Columns of 0 and 1, the k-th with 1 in a share 1 / (k + 1) of rows, each with an effect of its own."""

    def make(rng, rows):
        X = (rng.random((rows, M)) < 1 / np.arange(2, M + 2)).astype(float)
        effects = np.random.default_rng(11).standard_normal(M)
        return X, X @ effects + noise * rng.standard_normal(rows)

    return n, make


def blocks(M, n, size, level, noise):
    """Blocks of columns that are noisy copies of one variable each; every third variable has an effect."""

    def make(rng, rows):
        Z = rng.standard_normal((rows, M // size))
        f = Z[:, ::3].sum(axis=1) / len(Z[0, ::3]) ** 0.5
        return np.repeat(Z, size, axis=1) + level * rng.standard_normal((rows, M)), f + noise * rng.standard_normal(
            rows
        )

    return n, make


def unequal(M, n, noise):
    """Normal features with effects of either sign; the noise grows with the first feature."""

    def make(rng, rows):
        X = rng.standard_normal((rows, M))
        return X, X @ signs(M) / M**0.5 + noise * np.exp(X[:, 0] / 2) * rng.standard_normal(rows)

    return n, make


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
    "fresh": {
        "power law 1.2, 800 features": linear(800, 200, power(800, 1.2), signs(800), 0.5),
        "10 relevant of 500": linear(500, 250, np.ones(500), np.r_[np.ones(10), np.zeros(490)], 0.7),
        "product, kink and step, 40 features": uneven(40, 300, 1.0),
        "common factor .3": linear(250, 180, np.ones(250), signs(250), 0.8, 0.3),
        "autoregressive .7": autoregressive(150, 90, 0.7, np.cos(np.arange(150) / 5), 0.5),
        "two scales, all relevant": linear(240, 100, np.r_[np.ones(40), np.full(200, 0.2)], np.ones(240), 0.7),
        "8 factors of 600": factors(600, 150, 8, 1.5, 0.7),
        "noise, 400 features": pure_noise(400, 250),
        "t2.5 noise": heavy(80, 200, 2.5),
        "6 classes, one-hot, 3,000 features": one_hot(3000, 120, 6, 0.08),
        "isotropic, 40 features": linear(40, 400, np.ones(40), signs(40), 1.5),
        "3 factors of 100": factors(100, 300, 3, 0.5, 1.0),
    },
    "later": {
        "power law 1.8, 600 features": linear(600, 400, power(600, 1.8), signs(600), 1.0),
        "60 relevant of 150": linear(150, 200, np.ones(150), np.r_[np.ones(60), np.zeros(90)], 0.8),
        "waves and a product, 20 features": waves(20, 250, 0.5),
        "rare columns, 300": rare(300, 500, 0.7),
        "40 blocks of 10 copies": blocks(400, 150, 10, 0.7, 0.5),
        "unequal noise, 60 features": unequal(60, 300, 0.8),
        "common factor .8": linear(500, 120, np.ones(500), signs(500), 1.0, 0.8),
        "autoregressive .97": autoregressive(300, 120, 0.97, np.sin(np.arange(300) / 25), 0.3),
        "12 factors of 400": factors(400, 250, 12, 2.5, 0.6),
        "noise, 1,000 features": pure_noise(1000, 120),
    },
}


def generate_draw(part: str, name: str, draw: int) -> Draw:
    n, make = GENERATED[part][name]
    rng = np.random.default_rng([digest(name) % 2**32, draw])
    X, y = make(rng, n)
    return Draw(X, y, *make(rng, MOST_TEST_ROWS))


if __name__ == "__main__":
    for kind, parts in TABLES.items():
        for part, chosen in parts.items():
            print(kind, part, len(chosen), *chosen)

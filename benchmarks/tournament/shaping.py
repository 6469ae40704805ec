"""How a frame becomes a table of numbers, and what is said of every set."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

FEW, MANY = 6000, 12_000  # most rows of a table


@dataclass(frozen=True)
class Source:
    """A set: its table, the pilots drawn from it, its package and that package's licence."""

    role: str  # "development" or "judgement"
    kind: str  # "dense", "rare columns", "heavy tails", "wide" (more features than a pilot has rows)
    package: str
    licence: str
    pilots: tuple[int, ...]
    table: Callable[[], tuple[np.ndarray, np.ndarray]]
    what: str
    most_rows: int = FEW


def columns(frame):
    """Numbers as they are, missing ones as the mean; every level of a category a column of its own."""
    numbers = frame.select_dtypes("number").astype(float)
    parts = [numbers.fillna(numbers.mean())]
    for name in frame.columns.difference(numbers.columns, sort=False):
        parts.append(pd.get_dummies(frame[name].astype(str), prefix=name, dtype=float))
    return pd.concat(parts, axis=1).to_numpy()


def levels(*series, least=1):
    """A column of 0 and 1 for every level of every series; levels of fewer than `least` rows share one, "other"."""
    named = [each.astype(str) for each in series]
    kept = [each.mask(each.map(each.value_counts()) < least, "other") for each in named]
    return np.hstack([pd.get_dummies(each, dtype=float).to_numpy() for each in kept])


def counts(counters, most, skipped=0):
    """A column for each of the `most` keys found in most counters, less the `skipped` commonest; ties by the key."""
    total = Counter(key for each in counters for key in each)
    kept = [key for key, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[skipped:most]]
    return np.array([[each[key] for key in kept] for each in counters], float)


def grams(text, *lengths):
    """How often every run of so many letters is in a text."""
    return Counter(text[i : i + n] for n in lengths for i in range(len(text) - n + 1))


def distinct(X, y):
    """Without exact copies of a row and its target, in the order of first appearance."""
    first = np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1]
    return X[np.sort(first)], y[np.sort(first)]


def standard(X):
    X = X[:, X.std(axis=0) > 0]
    return StandardScaler().fit_transform(X)


def monomials(X, degree=2):
    return PolynomialFeatures(degree, include_bias=False).fit_transform(standard(X))


def classes(labels):
    return np.unique(np.asarray(labels).astype(str), return_inverse=True)[1]


def glyph(font, letter, size=24):
    """Grey values of a letter that fills a square as its shape allows; None where the font has no such letter."""
    from PIL import Image, ImageDraw  # for building alone: who runs the tournament need not have it

    picture = Image.new("L", (400, 400))
    ImageDraw.Draw(picture).text((100, 100), letter, fill=255, font=font)
    box = picture.getbbox()
    if box is None:
        return None
    picture = picture.crop(box)
    picture.thumbnail((size, size))
    square = Image.new("L", (size, size))
    square.paste(picture, ((size - picture.width) // 2, (size - picture.height) // 2))
    return np.asarray(square, float).ravel() / 255

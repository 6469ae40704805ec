"""sr.advise: which ensemble, how many members, which ridge, and why; or one ridge, well tuned.

`candidates` lists what is tried, `advise` gives each its ridge, weights and left-out errors, `_ranked` orders them, and
`Advice` holds the table, two sentences (`reasons`), an estimator and the line of Python to paste (`code_of`).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, Json, MatrixLike, Seed
from subridge.datasets.tables.targets import TargetLike, Task
from subridge.estimators.classifier import RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor
from subridge.forecasting.forecast import read_sizes
from subridge.forecasting.metrics import metrics_of
from subridge.forecasting.pilot import Pilot, factorise_pilot, label_noise, read_ensembles, read_sample, side_by_side
from subridge.forecasting.rule import RULE, AtPilot, Curve, doubts, forecast_curve, read_ridges, search_ridges
from subridge.model.aggregation import Aggregation, Free, LinearAggregation, Mean, Scaled, Simplex
from subridge.model.checks import items_of, non_negative, one_number, positive_integer, stream, truth, within
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import ParameterError, SubridgeWarning, counted
from subridge.model.subsets import Dirichlet, Equal, Overlapping, Strategy
from subridge.results.numbers import interval, percent, plain
from subridge.results.schemas import result_attributes
from subridge.ridge.checks import warn_once
from subridge.ridge.choose import Losses
from subridge.ridge.member import MemberPath
from subridge.ridge.weights import judge

SINGLE = "one ridge"
_HEAVY, _HEAVY_SQUARE = 0.1, 30.0  # share of a sum of squares in one label; its square in variances
SCALER = "StandardScaler(with_mean=False)"  # sparse columns and fits without intercept must not be centred
_AGGREGATIONS: dict[str, LinearAggregation] = {
    "": Mean(),
    ", weighted": Simplex(),
    ", scaled": Scaled(),
    ", free": Free(),
}


@dataclass(frozen=True, eq=False)
class Advice:
    """Ensembles ranked by what they are forecast to err at most, and why.

    Attributes
    ----------
    table : xarray.Dataset
        One row per candidate, best first: ``prediction_error``, ``prediction_error_lower``,
        ``prediction_error_upper`` and ``in_reach`` at the planned size, as in a forecast; ``pilot_prediction_error`` at
        the pilot's size; ``ridge``, ``n_members``, ``strategy``, ``fraction_spread``, ``subset_fraction`` (its mean),
        ``aggregation``; ``gain`` over
        one tuned ridge as a share of its error and ``gain_standard_error``; ``effective_members`` (1/Σw²);
        ``nearest_threshold`` (the N_r nearest to the planned size, over that size); for classes
        ``misclassification`` by majority vote with its bounds (NaN for weighted members).
    reasons : tuple of str
        Two sentences; ``str`` of an advice joins them.
    ensembles : dict of str to Ensemble
        Subsets, readout noise and aggregation of every candidate, and the ridge that the pilot asks for.
    weights : dict of str to ndarray, shape (k,)
        Weights of the members of every candidate, fitted to the pilot.

    See Also
    --------
    subridge.advise : gives one.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> advice = sr.advise(X, X[:, 0] + rng.standard_normal(60), n_members=[2], weighted=False)
    >>> isinstance(advice, Advice), advice.best
    (True, 'one ridge')
    >>> advice.code
    'RidgeEnsembleRegressor(1, ridge=...)...'
    >>> advice.estimator().fit(X, X[:, 0]).n_estimators_
    1
    """

    table: xarray.Dataset
    reasons: tuple[str, ...]
    ensembles: dict[str, Ensemble]
    weights: dict[str, FloatArray]

    @property
    def best(self) -> str:
        """Name of the first candidate."""
        return str(self.table.candidate.values[0])

    def estimator(self, name: str | None = None) -> RidgeEnsembleRegressor | RidgeEnsembleClassifier | Pipeline:
        """An unfitted estimator with the subsets and the aggregation of a candidate, the best by default.

        Its ridge is the candidate's if the rows at hand are all there will be. Where the planned size is larger it
        chooses its own by leave-one-out, because the rows it is trained on say more of it than the pilot did. With
        readout noise, which rows do not show, it has the candidate's too.

        A regressor, or for labels of classes a classifier by majority vote, which has no weights: then the best
        candidate without weights is the default. Where `advise` standardised the columns, a pipeline that does so too.

        Parameters
        ----------
        name : str, optional
            A candidate of the table.

        Returns
        -------
        RidgeEnsembleRegressor, RidgeEnsembleClassifier or Pipeline
            Ready to be fitted.

        Raises
        ------
        ParameterError
            If there is no candidate of that name, or votes were to be weighted.
        """
        attributes, path = self.table.attrs, _path_to_search(self.table)
        name = str(_advised(self.table).candidate.values) if name is None else name
        if name not in self.ensembles:
            raise ParameterError(f"name must be one of {tuple(self.ensembles)}, got {name!r}")
        ensemble, has_classes = self.ensembles[name], "class_names" in attributes
        if has_classes and not ensemble.aggregation.is_mean:
            raise ParameterError(f"{name!r} weighs scores, not votes; fit a RidgeEnsembleRegressor on one-hot labels")
        options: dict[str, Any] = {"subsets": ensemble.plan, "fit_intercept": bool(attributes["fit_intercept"])}
        is_fixed = path is False or ensemble.readout_noise.any()
        options |= {"ridge": float(ensemble.ridge[0])} if is_fixed else {"ridges": path}
        if has_classes:
            found: RidgeEnsembleClassifier | RidgeEnsembleRegressor = RidgeEnsembleClassifier(**options)
        else:
            found = RidgeEnsembleRegressor(aggregation=ensemble.aggregation.name, **options)
        return make_pipeline(StandardScaler(with_mean=False), found) if attributes.get("standardised") else found

    @property
    def code(self) -> str | None:
        """The best candidate as a line of Python; None for ensembles of your own. Its subsets are drawn anew."""
        return code_of(self.table)

    def __str__(self) -> str:
        return " ".join(self.reasons)


def advise(
    X: MatrixLike,
    y: TargetLike,
    n_samples: int | None = None,
    *,
    n_members: Sequence[int] = (2, 4, 8, 16, 32),
    fraction_spreads: Sequence[float] = (0.0, 0.75, 1.5),
    overlapping_fractions: Sequence[float] = (0.5,),
    ridges: ArrayLike = "auto",
    readout_noise: float = 0.0,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    ensembles: Mapping[str, Ensemble] | None = None,
    weighted: bool = True,
    standardise: bool = False,
    seed: Seed | None = 0,
) -> Advice:
    """Rank ridge ensembles by their error at a planned sample size.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    n_samples : int, optional
        The planned size n′; default the pilot's n.
    n_members, fraction_spreads, overlapping_fractions : sequence
        Numbers of members k; spreads of heterogeneous subsets, 0 for equal ones; share of the features that each of
        overlapping members sees.
    ridges : array_like, shape (L,), or "auto"
        Ridges to consider: every candidate takes the one of least left-out error. "auto" is a path scaled to the data.
        For a planned size beyond the pilot's, `Advice.estimator` chooses from them again.
    readout_noise : float
        η of every member, known beforehand.
    level : float
        Probability of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" takes text, categories and booleans for labels of classes.
    fit_intercept : bool
        Ensembles with an unpenalised intercept.
    ensembles : mapping of str to Ensemble, optional
        Further candidates with their own readout noise, for example subsets that belong together; their ridges are
        chosen, and both equal and fitted weights of members are tried, as for the others.
    weighted : bool
        Also try fitted weights of members ("simplex", in the table "weighted"; "scaled"; "free"); False leaves them
        out.
    standardise : bool
        Divide every column by its standard deviation; `Advice.estimator` and `Advice.code` then do so too.
    seed : int or tuple of int, optional
        Draws the subsets of candidates.

    Returns
    -------
    Advice
        One tuned ridge comes first, unless a candidate errs less on left-out rows by more than twice the standard
        error of the difference, row by row, and is forecast to at the planned size; of several the one of largest gain.
        The rest is ranked by the upper bound of the squared error (of one-hot scores for classes), those known only by
        a bound last.

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.
    RidgeError
        If a ridge is negative, or positive and negligible beside the columns.
    SubsetError
        If a plan is for another number of features.

    See Also
    --------
    forecast : whole learning curves of ensembles of your own.

    Notes
    -----
    Nothing is refitted. Ridges, weights and gains come from exact left-out errors at the present size, because on the
    same rows those of two candidates differ by far less noise than two forecasts do. Fitted weights are judged on rows
    that had no part in them. The forecast of the mean of a candidate's members moves its error to the planned size.

    Examples
    --------
    One block of features has all the signal; members that see other blocks are weighed down:

    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 80))
    >>> y = X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(120)
    >>> blocks = sr.Ensemble(sr.SubsetPlan.from_indices(np.arange(80).reshape(4, 20), 80))
    >>> advice = sr.advise(X, y, n_members=[2, 4], ensembles={"blocks": blocks})
    >>> advice.best, bool(advice.weights["blocks, weighted"][0] > 0.9)
    ('blocks, weighted', True)
    """
    sample = read_sample(X, y, task, fit_intercept, standardise=standardise)
    rows, said = sample.rows, list[SubridgeWarning]()
    try:
        size = rows.n_samples if n_samples is None else positive_integer("n_samples", n_samples)
        planned = read_sizes("n_samples", size)
    except ParameterError:
        message = f"n_samples must be one integer of at least 2 and below 1e15, got {n_samples!r}"
        raise ParameterError(message) from None
    aggregations = _AGGREGATIONS if truth("weighted", weighted) else {"": Mean()}
    level = one_number("level", within("level", level, 0.5, 0.999))
    eta = one_number("readout_noise", non_negative("readout_noise", readout_noise))
    members = [positive_integer("n_members", k) for k in items_of("n_members", n_members)]
    spreads = non_negative("fraction_spreads", items_of("fraction_spreads", fraction_spreads))
    shares = within("overlapping_fractions", items_of("overlapping_fractions", overlapping_fractions), 0.0, 1.0)
    varying = np.asarray(rows.column_squares > 0)
    pool = list(candidates(varying, members, spreads.ravel().tolist(), shares.ravel().tolist(), eta, seed))
    if ensembles is not None:
        given = read_ensembles(ensembles, sample.n_features, seed)
        pool += [Candidate(name, "given", ensemble) for name, ensemble in given.items()]
    taken = [each.name + word for each in pool for word in (_AGGREGATIONS if len(each.ensemble.ridge) > 1 else [""])]
    ((name, times),) = Counter(taken).most_common(1)
    if times > 1:
        raise ParameterError(f"ensembles may not use the name {name!r}, which is that of another candidate")
    path, noise, metrics = read_ridges(ridges, rows), label_noise(rows), metrics_of(sample)

    def judged(candidate: Candidate) -> list[Judged]:
        pilot = factorise_pilot(rows, candidate.ensemble.plan)
        has_several = len(pilot.members) > 1
        seen = pilot.with_constant() if has_several else pilot
        mean = replace(candidate.ensemble, aggregation=Mean())
        table = search_ridges(seen, mean, path, said, may_grow=isinstance(ridges, str))
        curve, found = forecast_curve(pilot, mean, planned, table), list[Judged]()
        if candidate.name == SINGLE:
            said.extend(doubts(pilot, curve))
        for word, aggregation in (aggregations if has_several else {"": Mean()}).items():
            own = table.weighted(aggregation)
            tuned = replace(mean, ridge=own.ridges[own.best], aggregation=aggregation)
            weights, squares = own.weights[own.best], _squares(seen, aggregation, own)
            # Weights change the error of the same members now; the change to another size is that of their mean.
            factor = squares.mean() / (found[0].squares if found else squares).mean()
            moved = curve._replace(error=curve.error * factor, standard_error=curve.standard_error * factor)
            columns = _columns(candidate, tuned, weights, moved) | {"pilot_prediction_error": float(squares.mean())}
            for metric in metrics:
                if aggregation.is_mean or not metric.of_votes:
                    values = metric.variables(sample, pilot, moved, level)
                    columns |= {name: float(value[0]) for name, value in values.items()}
            found.append(Judged(candidate.name + word, tuned, weights, squares, columns))
        return found

    powers = (rows.centred_targets[0] ** 2).sum(axis=0)
    is_heavy = bool(powers.max() > max(_HEAVY, _HEAVY_SQUARE / len(powers)) * powers.sum())
    ranked = _ranked([each for found in side_by_side(judged, pool) for each in found], can_be_sure=not is_heavy)
    warn_once(said)
    attributes: dict[str, Json] = {
        "n_samples": float(planned[0]),
        "level": level,
        "readout_noise": eta,
        "standardised": int(standardise),
        "ridges": "auto" if isinstance(ridges, str) else np.asarray(path).tolist(),
    }
    names = max((each.columns for each in ranked), key=len)
    table = xarray.Dataset(
        {name: ("candidate", np.array([each.columns.get(name, np.nan) for each in ranked])) for name in names},
        {"candidate": [each.name for each in ranked]},
        result_attributes(
            "advice",
            1,
            "Ridge ensembles ranked by the errors forecast for them.",
            **(attributes | sample.attributes() | {**noise}),
        ),
    )
    tuned = {each.name: each.ensemble for each in ranked}
    return Advice(table, reasons(table), tuned, {each.name: each.weights for each in ranked})


class Candidate(NamedTuple):
    """A drawn ensemble; its ridge and its aggregation are chosen later."""

    name: str
    strategy: str  # "single", "equal", "dirichlet", "overlapping" or "given"
    ensemble: Ensemble
    fraction_spread: float = 0.0  # kσ before scaling; 0 for members of equal size


def candidates(
    varying: BoolArray,
    n_members: Sequence[int],
    fraction_spreads: Sequence[float],
    overlapping_fractions: Sequence[float],
    readout_noise: float,
    seed: Seed | None,
) -> Iterator[Candidate]:
    """One ridge on all features, then every strategy for every k that leaves each member a feature that varies.

    `varying` says which features do in the pilot, shape (M,). Where some are constant, the strategy draws from those
    that vary, and the others are dealt out to the members in turn: in a larger sample they may vary.

    >>> [each.name for each in candidates(np.ones(6, dtype=bool), [2, 8], [0.0, 0.75], [0.5], 0.0, 0)]
    ['one ridge', '2 equal', '2 heterogeneous (0.75)', '2 overlapping (0.5 each)']
    """
    some, others = np.flatnonzero(varying), np.flatnonzero(~varying)

    def drawn(strategy: Strategy, k: int) -> Ensemble:
        plan = strategy.draw(len(some), stream(seed, k))
        if len(others):
            subsets = [np.append(some[np.asarray(plan.measurements[r])], others[r::k]) for r in range(k)]
            plan = SubsetPlan.from_indices(subsets, len(varying))
        return Ensemble(plan, np.zeros(k), np.full(k, readout_noise))

    single = Equal(1).draw(len(varying), stream(seed))
    yield Candidate(SINGLE, "single", Ensemble(single, np.zeros(1), np.full(1, readout_noise)))
    for k in sorted({k for k in n_members if 1 < k <= len(some)}):
        for spread in {f"{abs(each):g}": each for each in fraction_spreads}.values():  # one for each name
            if spread == 0:
                yield Candidate(f"{k} equal", "equal", drawn(Equal(k), k))
            else:
                name = f"{k} heterogeneous ({spread:g})"
                yield Candidate(name, "dirichlet", drawn(Dirichlet(k, spread), k), float(spread))
        for fraction in {f"{abs(each):g}": each for each in overlapping_fractions}.values():
            sizes = (max(1, round(fraction * len(some))),) * k
            yield Candidate(f"{k} overlapping ({fraction:g} each)", "overlapping", drawn(Overlapping(sizes), k))


class Judged(NamedTuple):
    """A candidate with one aggregation, at the pilot's size and forecast at the planned one."""

    name: str
    ensemble: Ensemble  # at its ridge
    weights: FloatArray  # of the members, fitted to the pilot, shape (k,)
    squares: FloatArray  # squared left-out errors, summed over targets, with readout noise; shape (n,)
    columns: dict[str, float | str]  # of the table


def _squares(pilot: Pilot, aggregation: Aggregation, table: AtPilot) -> FloatArray:
    """Squared left-out errors (n,) of an ensemble at the best ridge of its table.

    Fitted weights look better on the rows that they were fitted to than on new ones: squares are raised to the error
    on rows that had no part in them, which `judge` measures without refitting.
    """
    rows, weights, noise = pilot.rows, table.weights[table.best], table.noise[table.best]
    penalties, k = pilot.penalties(table.ridges[[table.best]]), len(weights)
    (block,) = pilot.left_out(penalties)
    mixed = np.tensordot(weights, block.errors[0, :k], 1) + (1 - weights.sum()) * rows.deviations
    squares = (mixed**2).sum(axis=0)
    if aggregation.fits_weights:
        paths = [MemberPath(fit, penalties[:, r]) for r, fit in enumerate(pilot.members[:k])]
        error = judge(Losses(paths, rows, aggregation), np.zeros(k, dtype=np.intp), is_common=False).error
        squares = squares * max(error / max(float(squares.mean()), 1e-300), 1.0)
    return np.asarray(squares + float(weights**2 @ noise))


def _columns(candidate: Candidate, ensemble: Ensemble, weights: FloatArray, curve: Curve) -> dict[str, float | str]:
    """What the table says of a candidate, errors apart."""
    plan = ensemble.plan
    return {
        "in_reach": bool(curve.in_reach[0]),
        "is_bound": bool(curve.is_bound[0]),
        "ridge": float(ensemble.ridge[0]),
        "n_members": plan.n_members,
        "strategy": candidate.strategy,
        "fraction_spread": candidate.fraction_spread,
        "subset_fraction": float(plan.subset_sizes.mean() / plan.n_features),
        "aggregation": ensemble.aggregation.name,
        "effective_members": float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300)),
        "nearest_threshold": float(min(plan.subset_sizes / curve.sizes[0], key=lambda ratio: abs(np.log(ratio)))),
    }


def _ranked(found: Sequence[Judged], *, can_be_sure: bool) -> list[Judged]:
    """Candidates in the order of advice, with their gains over one ridge.

    Candidates that are surely better than one ridge come first, by their gain: both errors are forecast, and the gain
    on the pilot's rows exceeds `Rule.sure` of its standard errors, from the differences row by row. Then comes one
    ridge, then the rest by the upper bound of the error, those known only by a bound last. Nothing is sure where a
    single label carries much of their variance: rows like it decide which error is smaller, and the pilot has one.
    """
    (single,) = (each for each in found if each.name == SINGLE)
    places: dict[str, tuple[int, bool, float]] = {}
    for each in found:
        columns, squares = each.columns, each.squares / each.squares.mean()
        are_known = [bool(of.columns["in_reach"]) and not of.columns["is_bound"] for of in (each, single)]
        gain = 1 - float(columns["prediction_error"]) / float(single.columns["prediction_error"])
        present = 1 - float(each.squares.mean() / single.squares.mean())
        apart = squares - single.squares / single.squares.mean()
        noise = float(apart.std(ddof=1)) / len(apart) ** 0.5 * (1 - present)
        sure = can_be_sure and all(are_known) and gain > 0 and present > RULE.sure * noise
        upper = float(
            f"{np.nan_to_num(float(columns['prediction_error_upper']), nan=np.inf):.9e}"
        )  # ties stay in order
        rest = (1, False, 0.0) if each is single else (2, not are_known[0], upper)
        places[each.name] = (0, False, -present) if sure else rest
        error = 0.0 if each is single else float(np.hypot(noise, 0.5 * (gain - present)))
        columns |= {"gain": gain, "gain_standard_error": error, "surely_better": sure}
    return sorted(found, key=lambda each: places[each.name])


def _advised(table: xarray.Dataset) -> xarray.Dataset:
    """The first candidate of a table, for classes the first without weights, because a classifier votes."""
    usable = (table.aggregation.values == "mean") | ("class_names" not in table.attrs)
    return table.isel(candidate=int(usable.argmax()))


def _path_to_search(table: xarray.Dataset) -> list[float] | Literal[False] | None:
    """The ridges among which an estimator should choose again, None for its own path; False if it should not.

    It should where there will be more rows, unless there is readout noise, which rows do not show.
    """
    given, attributes = table.attrs.get("ridges", "auto"), table.attrs
    path = None if given == "auto" else [float(ridge) for ridge in json.loads(given)]
    more_rows = attributes["n_samples"] > attributes["n_pilot"]
    return path if more_rows and attributes["readout_noise"] == 0 and (path is None or len(path) > 1) else False


def code_of(table: xarray.Dataset) -> str | None:
    """The estimator that a table of advice puts first, as Python to paste; None for ensembles of a user's own.

    The subsets are drawn anew. Where columns were divided by their standard deviations, the line has a scaler.
    """
    best, attributes, path = _advised(table), table.attrs, _path_to_search(table)
    strategy, ridge, M = str(best.strategy.values), float(best.ridge), int(attributes["n_features"])
    is_weighted, is_scaled = str(best.aggregation.values) != "mean", bool(attributes.get("standardised"))
    centred = "" if attributes["fit_intercept"] else ", fit_intercept=False"
    words = {
        "single": "",
        "equal": ', subsets="equal"',
        "dirichlet": f', subsets="dirichlet", fraction_spread={float(best.fraction_spread):g}',
        "overlapping": f', subsets="overlapping", subset_sizes={round(float(best.subset_fraction) * M)}',
    }
    if strategy not in words:
        return None
    line = f"{int(best.n_members)}{words[strategy]}"
    line += f", ridge={ridge:.4g}" if path is False else ""
    line += f", ridges=[{', '.join(f'{each:.4g}' for each in path)}]" if path else ""
    line += f', aggregation="{best.aggregation.values}"' if is_weighted else ""
    remarks = [] if path is False else [f"chooses λ by the rows it is trained on; this pilot says {ridge:.4g}"]
    if path is False and strategy == "single" and "class_names" not in attributes:
        remarks.append(f"the same as Ridge(alpha={ridge * M:.4g}{centred}){' after the scaler' if is_scaled else ''}")
    if str(best.candidate.values) != str(table.candidate.values[0]):
        remarks.append("classifiers vote without weights: the first candidate that has none")
    line = f"RidgeEnsemble{'Classifier' if 'class_names' in attributes else 'Regressor'}({line}{centred})"
    return "  # ".join([f"make_pipeline({SCALER}, {line})" if is_scaled else line, *filter(None, ["; ".join(remarks)])])


def reasons(table: xarray.Dataset) -> tuple[str, str]:
    """Two sentences: what to do, and what the data are like that make it so."""
    best, attributes, k = table.isel(candidate=0), table.attrs, int(table.n_members[0])
    name, others = str(best.candidate.values), table.isel(candidate=table.candidate.values != SINGLE)
    size, M = counted(round(attributes["n_samples"]), "sample"), int(attributes["n_features"])
    said = f"with {size}, {name} (λ = {plain(float(best.ridge))}) is forecast to err by {_error(best)}"
    if name != SINGLE:
        single = float(table.prediction_error.sel(candidate=SINGLE))
        what = f"Ensemble: {said}, {_gain(best)} less than one ridge ({plain(single)})."
    elif not others.prediction_error.notnull().any():
        what = f"Take one ridge: {said}."
    else:
        least = others.isel(candidate=int(np.nanargmin(others.prediction_error.values)))
        what = f"Do not ensemble: {said}, and the best ensemble, {least.candidate.values}, {_gain(least, -1)} more."
        if float(least.gain) >= 0.0005:  # a smaller one is told as 0.0 %
            less = f"{least.candidate.values} may err {_gain(least)} less, but this pilot cannot tell"
            what = f"Do not ensemble: {said}; {less}."
    noise, variance, eta = attributes["label_noise"] ** 2, attributes["target_variance"], attributes["readout_noise"]
    share = 100 * min(noise / variance, 1.0) if variance > 0 else 100.0
    parts = [f"Noise of the labels (ζ² = {plain(noise)}, {share:.0f} % of their variance) stays in every forecast"]
    if eta > 0:
        parts.append(f"readout noise (η² = {plain(eta**2)}) counts once for one ridge and 1/{k} in a mean of {k}")
    if k > 1:
        near = plain(float(best.nearest_threshold), 2)
        parts.append(f"the member nearest to its threshold has {near} features for each sample")
    parts.append(f"there are {plain(attributes['n_samples'] / M, 2)} samples for each feature")
    return what, f"{', '.join(parts[:-1])}, and {parts[-1]}."


def _gain(row: xarray.Dataset, sign: int = 1) -> str:
    """The gain of a candidate over one ridge in words, or with sign -1 its loss."""
    return percent(sign * float(row.gain), float(row.gain_standard_error))


def _error(row: xarray.Dataset) -> str:
    """The forecast error of a candidate in words."""
    error, lower, upper = (float(row[f"prediction_error{end}"]) for end in ("", "_lower", "_upper"))
    if np.isnan(error):
        return "an amount that this pilot cannot tell"
    return f"at most {plain(upper)}" if bool(row.is_bound) else interval(error, lower, upper)

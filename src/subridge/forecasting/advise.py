"""sr.advise: which ensemble, how many members, which ridge, and why; or one ridge, well tuned.

`choose_ensemble` takes a candidate by left-out errors, as a fit does. `advise` forecasts every candidate at the planned
size, `_ranked` orders them, and `Advice` holds the table, two sentences (`reasons`), an estimator and a line of Python
for it (`code_of`).
"""

import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import xarray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from subridge.arrays.types import ArrayLike, FloatArray, MatrixLike, Seed
from subridge.datasets.tables.targets import TargetLike, Task
from subridge.estimators.classifier import RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor
from subridge.forecasting.metrics import forecast_metrics, metrics_of
from subridge.forecasting.pilot import (
    factorise_pilot,
    noise_of_targets,
    read_ensembles,
    read_sample,
    read_sizes,
    refuse_large_pilots,
    side_by_side,
    together,
)
from subridge.forecasting.rule import choose_ridges, doubts, forecast_curve, read_ridges, search_ridges
from subridge.model.aggregation import Aggregation, Free, Mean, Scaled
from subridge.model.checks import Shown, html_table, items_of, non_negative, one_number, positive_integer, truth, within
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError, RidgePathWarning, SubridgeWarning, counted, require
from subridge.results.numbers import interval, percent, plain
from subridge.results.schemas import result_attributes
from subridge.ridge.candidates import FRACTION, MEMBERS, SPREAD, Trial, affordable, choose_ensemble, offers
from subridge.ridge.checks import is_heavy, warn_once
from subridge.ridge.choose import last_minimum
from subridge.ridge.judge import ROUNDING, Offer
from subridge.ridge.moments import MomentBatches

SCALER = "StandardScaler(with_mean=False)"  # sparse columns and fits without intercept must not be centred
_AGGREGATIONS: tuple[Aggregation, ...] = (Mean(), Scaled(), Free())
_ROWS = 12  # of the table in a notebook

# A candidate at its ridge, with readout noise, and its columns of the table.
Judged: TypeAlias = tuple[Trial, dict[str, Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
    """Ensembles ranked by the upper bounds of their forecast errors, with reasons.

    Attributes
    ----------
    table : xarray.Dataset
        One row per candidate, best first.

        - ``prediction_error``, ``prediction_error_lower``, ``prediction_error_upper``, ``in_reach``: at the planned
          size, as in a forecast; ``pilot_prediction_error``: at the pilot's size.
        - ``ridge``, ``n_members``, ``strategy``, ``fraction_spread``, ``subset_fraction`` (the mean), ``aggregation``.
        - ``gain``, ``gain_standard_error``: over one tuned ridge (the attribute ``reference``), as a share of its
          error; ``surely_better``.
        - ``effective_members``: 1/Σw². ``nearest_threshold``: the N_r nearest to the planned size, over that size.
        - ``misclassification``, for classes: by majority vote, with its bounds (NaN for weighted members).
    reasons : tuple of str
        Two sentences; ``str`` of an advice joins them.
    ensembles : dict of str to Ensemble
        Subsets, readout noise and aggregation of every candidate, and its best ridge on the pilot.
    weights : dict of str to ndarray, shape (k,)
        Weights of the members of every candidate, fitted to the pilot.

    See Also
    --------
    subridge.advise : makes an advice.

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

        Its ridge is the candidate's if the pilot is as large as the planned size. If the planned size is larger, it
        chooses its own ridge by leave-one-out, because the larger sample determines it better than the pilot. With
        readout noise, which rows do not show, its ridge is always the candidate's.

        It is a regressor, or for labels of classes a classifier that adds scores. If `advise` standardised the columns,
        it is a pipeline that standardises them too.

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
            If there is no candidate of that name.
        """
        attributes = self.table.attrs
        path = _path_to_search(self.table)
        name = self.best if name is None else name
        if not isinstance(name, str) or name not in self.ensembles:
            raise ParameterError(f"name must be one of {tuple(self.ensembles)}, got {name!r}")
        ensemble = self.ensembles[name]
        options: dict[str, Any] = {"subsets": ensemble.plan, "fit_intercept": bool(attributes["fit_intercept"])}
        is_fixed = path is False or ensemble.readout_noise.any()
        options |= {"ridge": float(ensemble.ridge[0])} if is_fixed else {"ridges": path}
        found = (
            RidgeEnsembleClassifier(score_weights=ensemble.aggregation, **options)
            if "class_names" in attributes
            else RidgeEnsembleRegressor(aggregation=ensemble.aggregation.name, **options)
        )
        return make_pipeline(StandardScaler(with_mean=False), found) if attributes.get("standardised") else found

    @property
    def code(self) -> str | None:
        """The best candidate as a line of Python that draws its subsets again; None for ensembles of your own."""
        return code_of(self.table)

    def __str__(self) -> str:
        return " ".join(self.reasons)

    def _shown(self) -> dict[str, str]:
        size = self.table.attrs["n_samples"]
        return {"best": repr(self.best), "n_samples": f"{size:.0f}", "n_candidates": str(len(self.ensembles))}

    def _repr_html_(self) -> str:
        rows = self.table.to_pandas().head(_ROWS).iterrows()
        cells = [(str(name), plain(row.ridge), _error(row), _gain(row)) for name, row in rows]
        return html_table(str(self), [("candidate", "λ", "squared error", "gain"), *cells])


def advise(
    X: MatrixLike,
    y: TargetLike,
    n_samples: int | None = None,
    *,
    n_members: Sequence[int] = MEMBERS,
    fraction_spreads: Sequence[float] = (0.0, SPREAD),
    overlapping_fractions: Sequence[float] = (FRACTION,),
    ridges: ArrayLike = "auto",
    readout_noise: float = 0.0,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    ensembles: Mapping[str, Ensemble] | None = None,
    weighted: bool = True,
    standardise: bool = False,
    seed: Seed | None = 0,
    groups: ArrayLike | None = None,
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
        Ridges to consider: every candidate takes the one with the least left-out error. "auto" is a path scaled to the
        data. For a planned size beyond the pilot's, `Advice.estimator` chooses from them again.
    readout_noise : float
        η of every member, known beforehand.
    level : float
        Nominal coverage of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" treats text, categories and booleans as labels of classes.
    fit_intercept : bool
        Fit ensembles with an unpenalised intercept.
    ensembles : mapping of str to Ensemble, optional
        Further candidates with their own readout noise, for example subsets that belong together. Their ridges are
        chosen, and both equal and fitted weights of members are tried, as for the others.
    weighted : bool
        Also try fitted weights of members ("scaled", "free").
    standardise : bool
        Divide every column by its standard deviation; `Advice.estimator` and `Advice.code` then do so too.
    seed : int or tuple of int, optional
        Seed of the subsets of candidates.
    groups : array_like, shape (n,), optional
        Labels of groups whose rows depend on each other, such as subjects. Candidates are then ranked by their errors
        on left-out groups, as in `forecast`. Readout noise is not supported then, and label noise is not estimated.

    Returns
    -------
    Advice
        The candidate that a fit takes comes first. This is one tuned ridge unless the left-out error of another is
        lower by more than 2.75 standard errors of the difference, or by 1.25 if it only scales the output of that
        ridge; of several such candidates it is the one with the largest gain. At another size than the pilot's, both
        must have forecasts, and the gain there must be as many standard errors. The rest is ranked by the upper bound
        of the squared error (of one-hot scores for classes). Candidates whose error has only a bound come last.

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
    Nothing is refitted. Candidates, ridges, weights and gains are those of ``RidgeEnsembleRegressor().fit``, by exact
    left-out errors at the pilot's size: the difference of two candidates on the same rows has far less noise than the
    difference of two forecasts. More members of a kind are tried as long as fewer of them lower the error. The forecast
    for the mean of a candidate's members transfers its error to the planned size. Readout noise, which left-out rows do
    not show, is added to the errors, and ridges and weights are chosen with it.

    Examples
    --------
    One block of features has all the signal; members that see other blocks get small weights:

    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 80))
    >>> y = X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(120)
    >>> blocks = sr.Ensemble(sr.SubsetPlan.from_indices(np.arange(80).reshape(4, 20), 80))
    >>> advice = sr.advise(X, y, n_members=[2, 4], ensembles={"blocks": blocks})
    >>> advice.best, bool(advice.weights["blocks, free"][0] > 0.9)
    ('blocks, free', True)
    """
    require(not isinstance(X, MomentBatches), "advice needs rows; sr.forecast accepts moments")
    sample = read_sample(X, y, task, fit_intercept, groups, standardise=standardise)
    rows = sample.rows
    try:
        size = rows.n_samples if n_samples is None else positive_integer("n_samples", n_samples)
        planned = read_sizes("n_samples", size)
    except ParameterError:
        raise ParameterError(f"n_samples must be one integer of at least 2 and below 1e15, got {n_samples!r}") from None
    level = one_number("level", within("level", level, 0.5, 0.999))
    eta = one_number("readout_noise", non_negative("readout_noise", readout_noise))
    members = [positive_integer("n_members", k) for k in items_of("n_members", n_members)]
    spreads = non_negative("fraction_spreads", items_of("fraction_spreads", fraction_spreads)).ravel().tolist()
    shares = within("overlapping_fractions", items_of("overlapping_fractions", overlapping_fractions), 0.0, 1.0)
    drawn = list(offers(rows.column_squares > 0, members, spreads, shares.ravel().tolist(), seed))
    given = {} if ensembles is None else read_ensembles(ensembles, sample.n_features, seed)
    noises = {name: each.readout_noise for name, each in given.items()}
    if groups is not None and (eta or any(noise.any() for noise in noises.values())):
        raise ParameterError("readout_noise cannot be forecast with groups; use 0, or leave groups out")
    drawn += [[Offer(name, "given", each.plan)] for name, each in given.items()]
    offered = [offer for family in drawn for offer in family]
    refuse_large_pilots(rows, [offer.plan for offer in offered])
    suffixes = ["" if each.is_mean else f", {each.name}" for each in _AGGREGATIONS]
    ((name, times),) = Counter(offer.name + word for offer in offered for word in suffixes).most_common(1)
    if times > 1:
        raise ParameterError(f"ensembles may not use the name {name!r}, which is that of another candidate")
    if eta > 0:  # its effect falls with the number of members, so all numbers are tried
        drawn = [[offer] for offer in offered]
    path = read_ridges(ridges, rows)
    may_grow = isinstance(ridges, str)
    aggregations = affordable(_AGGREGATIONS[: 3 if truth("weighted", weighted) else 1], rows.n_samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RidgePathWarning)  # the search below has a finer path and gives this warning
        choice = choose_ensemble(rows, drawn, aggregations, None if may_grow else path, "ensemble")
    said = list[SubridgeWarning | None]()
    metrics = metrics_of(sample)

    def judged(trials: list[Trial]) -> list[Judged]:
        offer = trials[0].offer
        sizes = offer.plan.subset_sizes
        noise = noises.get(offer.name, np.full(len(sizes), eta))
        mean = Ensemble(offer.plan, np.zeros(len(sizes)), noise)
        pilot = factorise_pilot(rows, offer.plan)
        ((_, table),) = search_ridges(
            pilot.with_constant() if noise.any() else pilot, mean, path, said, may_grow=may_grow
        )
        present = table.losses[table.counted.argmin()]
        curve = forecast_curve(pilot, mean, planned, choose_ridges(pilot, table, planned))
        if offer.strategy == "single" and groups is None:
            said.extend(doubts(pilot, curve))
        found = []
        for trial in trials:
            aggregation = trial.ensemble.aggregation
            ridge = trial.ensemble.ridge
            weights = trial.weights
            error = trial.error
            if noise.any():  # left-out rows do not show it, and it changes the best ridges and weights
                own = table.weighted(aggregation)
                best = last_minimum(own.losses, own.losses)
                ridge = own.ridges[best]
                weights = own.weights[best]
                error = float(own.losses[best])
            # Weights change the error at the pilot's size; its ratio to another size is that of the members' mean.
            factor = error / present if present > 0 else 1.0
            moved = curve._replace(error=curve.error * factor, standard_error=curve.standard_error * factor)
            columns = {
                "in_reach": moved.in_reach[0],
                "is_bound": moved.is_bound[0],
                "ridge": ridge[0],
                "n_members": len(sizes),
                "strategy": offer.strategy,
                "fraction_spread": offer.fraction_spread,
                "subset_fraction": sizes.mean() / offer.plan.n_features,
                "aggregation": aggregation.name,
                "effective_members": weights.sum() ** 2 / max((weights**2).sum(), 1e-300),
                "nearest_threshold": min(sizes / size, key=lambda ratio: abs(np.log(ratio))),
                "pilot_prediction_error": error,
            }
            known = (each for each in metrics if aggregation.is_mean or not each.of_votes)
            columns |= {name: one for name, (one,) in forecast_metrics(known, sample, pilot, moved, level).items()}
            tuned = replace(mean, ridge=ridge, aggregation=aggregation)
            found.append((replace(trial, ensemble=tuned, weights=weights), columns))
        return found

    tried = [list(trials) for _, trials in groupby(choice.trials, key=lambda trial: trial.offer)]
    judgements = [each for found in side_by_side(judged, tried) for each in found]
    powers = rows.unit_sums((rows.centred_targets[0] ** 2).sum(axis=0))
    ranked = _ranked(judgements, is_present=size == rows.n_samples, can_be_sure=not is_heavy(powers))
    warn_once(said)
    attributes = {
        "n_samples": float(size),
        "reference": choice.trials[0].name,
        "level": level,
        "readout_noise": eta,
        "standardised": int(standardise),
        "ridges": "auto" if may_grow else np.asarray(path).tolist(),
        **sample.attributes(),
        **(together(noise_of_targets(rows)) if groups is None else {"n_groups": rows.n_units}),
    }
    names = max((columns for _, columns in ranked), key=len)
    table = xarray.Dataset(
        {name: ("candidate", np.array([columns.get(name, np.nan) for _, columns in ranked])) for name in names},
        {"candidate": [trial.name for trial, _ in ranked]},
        result_attributes("advice", 1, "Ridge ensembles ranked by the errors forecast for them.", **attributes),
    )
    for metric in metrics:
        table[metric.name].attrs = metric.attributes
    tuned = {trial.name: trial.ensemble for trial, _ in ranked}
    return Advice(table, reasons(table), tuned, {trial.name: trial.weights for trial, _ in ranked})


@np.errstate(invalid="ignore")
def _ranked(found: Sequence[Judged], *, is_present: bool, can_be_sure: bool) -> list[Judged]:
    """Candidates in the order of advice, with their gains over the first, which is the reference.

    The candidate that a fit takes comes first: the one with the largest gain among those whose left-out error is lower
    by the number of standard errors that they need, else the reference. For another size than the pilot's, both must
    have forecasts, and the gain there must be sure in the same sense; half of the change of the gain between the sizes
    is added to its standard error. No gain is sure there if a single label makes up much of the variance: rows like it
    decide which error is smaller, and the pilot has only one. The rest is ranked by the upper bound of the error; those
    that have only a bound come last.
    """
    left_out, leads, noise, needed = np.array(
        [(each.error, each.gain, each.standard_error, each.needed) for each, _ in found]
    ).T
    present, forecast, upper = (
        np.array([columns[name] for _, columns in found])
        for name in ("pilot_prediction_error", "prediction_error", "prediction_error_upper")
    )
    known = np.array([columns["in_reach"] and not columns["is_bound"] for _, columns in found])
    # Readout noise adds to the errors, and left-out rows do not show it.
    leads = leads + left_out - present + present[0] - left_out[0]
    sure = leads > needed * noise + ROUNDING * left_out[0]
    scale = present[0] or 1.0
    gain = 1 - forecast / (forecast[0] or np.nan)
    error = np.hypot(noise / scale, 0.5 * (gain - leads / scale))
    is_better = sure & (is_present | (can_be_sure & known[0] & known & (gain > needed * error)))
    error[0] = 0.0
    taken = np.where(sure, leads, 0.0).argmax()
    first = taken if is_better[taken] else 0
    for place, (_, columns) in enumerate(found):
        columns |= {"gain": gain[place], "gain_standard_error": error[place], "surely_better": is_better[place]}
    bounds = [float(f"{each:.9e}") for each in np.nan_to_num(upper, nan=np.inf)]  # ties stay in order
    order = sorted(range(len(found)), key=lambda place: (place != first, not known[place], bounds[place]))
    return [found[place] for place in order]


def _path_to_search(table: xarray.Dataset) -> list[float] | Literal[False] | None:
    """The ridges from which an estimator chooses again, None for its default path; False if it keeps its ridge.

    It chooses again if there will be more rows, unless there is readout noise, which rows do not show.
    """
    attributes = table.attrs
    given = attributes.get("ridges", "auto")
    path = None if given == "auto" else json.loads(given)
    has_choice = path is None or len(path) > 1
    has_more_rows = attributes["n_samples"] > attributes["n_pilot"]
    return path if has_choice and has_more_rows and attributes["readout_noise"] == 0 else False


def code_of(table: xarray.Dataset) -> str | None:
    """The first candidate of a table of advice as a line of Python; None for ensembles that a user gave.

    The line draws the subsets again. If columns were divided by their standard deviations, it has a scaler.
    """
    attributes = table.attrs
    best = table.drop_dims("sentence", errors="ignore").to_pandas().iloc[0]
    path = _path_to_search(table)
    M = attributes["n_features"]
    has_classes = "class_names" in attributes
    is_scaled = bool(attributes.get("standardised"))
    centred = "" if attributes["fit_intercept"] else ", fit_intercept=False"
    words = {
        "single": "",
        "equal": ', subsets="equal"',
        "dirichlet": f', subsets="dirichlet", fraction_spread={best.fraction_spread:g}',
        "overlapping": f', subsets="overlapping", subset_sizes={round(best.subset_fraction * M)}',
    }
    if best.strategy not in words:
        return None
    line = f"{best.n_members}{words[best.strategy]}"
    line += f", ridge={best.ridge:.4g}" if path is False else ""
    line += f", ridges=[{', '.join(f'{each:.4g}' for each in path)}]" if path else ""
    line += "" if has_classes else f', aggregation="{best.aggregation}"'
    line = f"RidgeEnsemble{'Classifier' if has_classes else 'Regressor'}({line}{centred})"
    line = f"make_pipeline({SCALER}, {line})" if is_scaled else line
    is_single = best.strategy == "single"
    is_plain = is_single and best.aggregation == "mean" and path is False and not has_classes
    equal = f"the same as Ridge(alpha={best.ridge * M:.4g}{centred}){' after the scaler' * is_scaled}"
    remarks = {
        f"chooses λ on its training rows; on this pilot it is {best.ridge:.4g}": path is not False,
        equal: is_plain,
        "chooses the weights of scores by left-out rows": has_classes and not is_single,
        "give groups= to fit, too": "n_groups" in attributes,
    }
    said = "; ".join(text for text, holds in remarks.items() if holds)
    return f"{line}  # {said}" if said else line


def reasons(table: xarray.Dataset) -> tuple[str, str]:
    """Two sentences: what to do, and the properties of the data that explain it."""
    frame = table.to_pandas()
    attributes = table.attrs
    best = frame.iloc[0]
    k = best.n_members
    size = counted(round(attributes["n_samples"]), "sample")
    said = f"with {size}, the forecast error of {best.name} (λ = {plain(best.ridge)}) is {_error(best)}"
    others = frame[frame.strategy != "single"]
    if best.strategy != "single":
        single = frame.prediction_error[attributes["reference"]]
        what = f"Ensemble: {said}, {_gain(best)} less than that of {attributes['reference']} ({plain(single)})."
    elif others.prediction_error.isna().all():
        what = f"Take one ridge: {said}."
    else:
        least = others.loc[others.prediction_error.idxmin()]
        what = f"Do not ensemble: {said}, and that of the best ensemble, {least.name}, is {_gain(least, -1)} more."
        if least.gain >= 0.0005:  # a smaller one is printed as 0.0 %
            what = f"Do not ensemble: {said}; {least.name} may have {_gain(least)} less, which is not sure."
    if "n_groups" in attributes:
        parts = [f"Errors are those on new groups, from {counted(attributes['n_groups'], 'left-out group')}"]
    else:
        variance = attributes["target_variance"]
        noise = attributes["label_noise"] ** 2
        share = 100 * min(noise / variance, 1.0) if variance > 0 else 100.0
        parts = [f"Noise of the labels (ζ² = {plain(noise)}, {share:.0f} % of their variance) stays in every forecast"]
    eta = attributes["readout_noise"]
    if eta > 0:
        parts.append(f"readout noise (η² = {plain(eta**2)}) counts once for one ridge and 1/{k} in a mean of {k}")
    if k > 1:
        parts.append(
            f"the member nearest to its threshold has {plain(best.nearest_threshold, 2)} features for each sample"
        )
    ratio = plain(attributes["n_samples"] / attributes["n_features"], 2)
    return what, f"{', '.join(parts)}, and there are {ratio} samples for each feature."


def _gain(row: pd.Series, sign: int = 1) -> str:
    """The gain of a candidate over one ridge in words, or with sign -1 its loss."""
    return percent(sign * row.gain, row.gain_standard_error)


def _error(row: pd.Series) -> str:
    """The forecast error of a candidate in words."""
    if np.isnan(row.prediction_error):
        return "unknown (out of reach of this pilot)"
    if row.is_bound:
        return f"at most {plain(row.prediction_error_upper)}"
    return interval(row.prediction_error, row.prediction_error_lower, row.prediction_error_upper)

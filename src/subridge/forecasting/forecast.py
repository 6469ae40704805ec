"""sr.forecast: the learning curves that named ensembles will have, from a pilot sample."""

from collections.abc import Mapping

import numpy as np
import xarray

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, MatrixLike
from subridge.datasets.tables.target_rows import Task
from subridge.datasets.tables.targets import TargetLike
from subridge.forecasting.curve.curve import forecast_curve
from subridge.forecasting.inputs.request import DrawnEnsemble, default_ensembles, read_ensembles
from subridge.forecasting.inputs.ridge_path import read_ridges, refuse_vanishing
from subridge.forecasting.inputs.sample import read_sample
from subridge.forecasting.metrics import metrics_of
from subridge.forecasting.of_groups import asked_sizes, forecast_of_groups
from subridge.forecasting.pilot.shared import Pilots
from subridge.forecasting.self_test.doubts import doubts
from subridge.forecasting.self_test.self_test import self_test
from subridge.forecasting.side_by_side import side_by_side
from subridge.forecasting.transfer.any_sum import seen_by, with_silence
from subridge.model.checks import one_number, truth, within
from subridge.model.ensemble import Ensemble
from subridge.model.errors import SubridgeWarning
from subridge.results.forecasts import EnsembleForecast, forecasts
from subridge.ridge.rows.diagnostics import tell_once


def forecast(
    X: MatrixLike,
    y: TargetLike,
    n_samples: ArrayLike | None = None,
    ensembles: Mapping[str, Ensemble] | None = None,
    *,
    ridges: ArrayLike | None = None,
    extrapolate: bool = False,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    label_noise: bool = True,
    seed: Seed | None = 0,
    groups: ArrayLike | None = None,
    n_groups: ArrayLike | None = None,
) -> xarray.Dataset:
    """Forecast the error of ridge ensembles at other sample sizes from one pilot sample, without held-out data.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features. They are not scaled; with `fit_intercept` they are centred.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    n_samples : array_like of int, shape (S,)
        Sizes n′ to forecast at, smaller or larger than n; ``inf`` gives the limit. With `n_groups` leave it out.
    ensembles : mapping of str to Ensemble, optional
        Default: one ridge on all features, and up to 8 equal and 8 overlapping members (half of the features each), at
        the best ridge for every size. Subsets are a `SubsetPlan` for M features, or a strategy that draws one here. The
        aggregation is a weighted sum of members: "mean", or "scaled", "simplex" and "free" for weights that minimise
        the forecast error at each size.
    ridges : array_like, shape (L,), or "auto", optional
        Ridges to consider: every ensemble takes, at each size, the best of them for all its members in place of its
        own, i.e. of those in reach the one with the least error, that which the pilot shows counting for more than
        that which it forecasts; or one beyond reach with `extrapolate`. "auto" is a path scaled to the data.
    extrapolate : bool
        Also forecast beyond reach, by power-law tails; such points have ``in_reach`` False.
    level : float
        Probability of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" takes text, categories and booleans for labels of classes.
    fit_intercept : bool
        Forecast ensembles with an unpenalised intercept; it counts as one degree of freedom.
    label_noise : bool
        Estimate the label noise ζ for the attributes; it needs a factorisation of all features unless an ensemble has
        them in one member.
    seed : int or tuple of int, optional
        Draws the subsets of strategies.
    groups : array_like, shape (n,), optional
        Labels of groups whose rows depend on each other, such as subjects. Errors are then those on new groups, from
        left-out groups, and sizes mean more groups of the same kind: the coordinate ``n_groups`` says how many, and
        ``effective_samples`` how many independent rows the pilot is worth. See ``docs/groups.md`` for the model.
    n_groups : array_like of int, shape (S,), optional
        Sizes as numbers of groups, of the mean size of those in `groups`, in place of `n_samples`.

    Returns
    -------
    xarray.Dataset
        With dimensions (ensemble, n_samples):

        - ``prediction_error``: expected squared error on new noisy labels, E_g + ζ², summed over targets, with readout
          noise where the ensemble has it; NaN where out of reach;
        - ``prediction_error_lower``, ``prediction_error_upper``, ``standard_error``: for that expectation;
        - ``in_reach``: False where extrapolated, or where it would have to be, and where the standard error exceeds 40
          % of the error: the pilot cannot tell;
        - ``ridge``: NaN where members differ in theirs;
        - ``is_bound``, for chosen ridges: the ridge is the smallest that the pilot can judge and a smaller one may err
          less, so that `prediction_error_upper` bounds the best from above;
        - ``misclassification`` and its bounds, for classes: the share of wrong majority votes of the members.

        ``reach`` (ensemble, member) is the largest n′ in reach of each member at its ridge (a chosen one: that of the
        largest size), infinite for members with fewer features than n. ``irreducible_error`` (ensemble) is the limit of
        `prediction_error` for n′ → ∞. Attributes hold the label noise ζ, whose lower bound is the floor of every error.
        ``self_test_rows``, ``self_test_forecast`` and ``self_test_shown`` (ensemble, part): from halves and quarters of
        the pilot, what the rule forecasts for n and what the pilot shows on the same rows.

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.
    RidgeError
        If a ridge is negative, or not 0 and yet nothing beside the columns.

    See Also
    --------
    advise : which ensemble to take, and why.
    risk_matrix : how members err together at the present size.

    Notes
    -----
    A member's bias and variance factor depend on data only through its effective ridge κ̄ = p/(n - df). The pilot ridge
    with the κ̄ of (n′, λ′) is found by a root; the leave-one-out risk matrix there, taken apart by γ_rr′, gives
    ``Ê_rr′(n′) + ζ² = (Ê_rr′ + ζ²)(1 - γ_rr′)/(1 - γ_rr′ n/n′)`` (deterministic equivalents of Prop. 1). In reach means
    κ̄(n′, λ′) ≥ κ̄(n, 0), and a standard error of at most 40 % of the error. Before the forecast speaks it is tried on
    parts of the pilot. Where few rows dominate, the law that these parts follow is blended with the rule, and the
    scatter of the misses widens the intervals.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 60))
    >>> y = X @ rng.standard_normal(60) + rng.standard_normal(200)
    >>> curve = sr.forecast(X, y, [400, 1600], {"ridge": sr.Ensemble(sr.subsets.equal(1, 60, seed=0), ridge=0.1)})
    >>> curve.prediction_error.dims, bool(curve.in_reach.all())
    (('ensemble', 'n_samples'), True)
    >>> bool((curve.prediction_error_upper > 1).all())  # the label noise is 1, and nothing errs less
    True
    """
    extrapolate, label_noise = truth("extrapolate", extrapolate), truth("label_noise", label_noise)
    level = one_number("level", within("level", level, 0.5, 0.999))
    wanted = asked_sizes(n_samples, n_groups, groups, extrapolate)
    sample = read_sample(X, y, task, fit_intercept, groups)
    if ensembles is None:
        ensembles, ridges = default_ensembles(sample.n_features), "auto" if ridges is None else ridges
    drawn = read_ensembles(ensembles, sample.n_features, seed)
    for name, each in drawn.items():
        refuse_vanishing(f"ridge of ensembles[{name!r}]", each.ridges, sample.rows)
    pilots = Pilots(sample, [each.plan for each in drawn.values()])
    path = None if ridges is None else read_ridges(ridges, sample.rows)
    metrics = metrics_of(sample)

    if groups is not None:
        named = forecast_of_groups(sample, drawn, wanted, path, level, counts_groups=n_samples is None)
        labels = {metric.name: metric.label for metric in metrics}
        dataset = forecasts(named.found, named.sizes, labels, sample.attributes() | {"level": level})
        return dataset.assign_coords(n_groups=("n_samples", named.n_groups))
    sizes = wanted

    said, leading = list[SubridgeWarning](), next(iter(drawn.values()))

    def one(ensemble: DrawnEnsemble) -> EnsembleForecast:
        is_leading, k = ensemble is leading, ensemble.plan.n_members
        members = pilots.of(ensemble.plan)
        name, ensemble = ensemble.aggregation.name, with_silence(ensemble)
        pilot = seen_by(ensemble, members)
        silent = pilot is not members
        # No power law is known of what members miss of the target.
        noise = pilots.label_noise if extrapolate and not silent else None
        curve = forecast_curve(pilot, ensemble, np.append(sizes, np.inf), path, noise, tell=said.append)
        curve = curve.where_known() if silent else curve
        test = self_test(pilot, curve.wanted.ridges, curve.weights, silent=silent)
        floor = pilots.label_noise().lower if label_noise else 0.0
        curve = curve.judged(sample.n_samples, test.evidence(), floor)
        shown = curve[:-1]
        if is_leading:
            steadiness = float(shown.steadiness.min())
            said.extend(doubts(sample.rows, pilot, shown.wanted.ridges[0], shown.weights[0], steadiness))
        variables: dict[str, FloatArray | BoolArray] = {}
        for metric in metrics:
            variables |= metric.variables(sample, members, shown.of_members(k), level)
        variables |= {
            "standard_error": shown.standard_error,
            "in_reach": shown.trusted(sample.n_samples),
            "is_bound": shown.is_bound,
        }
        ridges, limit = shown.wanted.ridges[:, :k], float(curve.prediction_error[-1])
        return EnsembleForecast(name, variables, ridges, members.reach(ridges[np.argmax(sizes)]), limit, test.hits())

    found = dict(zip(drawn, side_by_side(one, drawn.values()), strict=True))
    tell_once(said)
    attributes = sample.attributes() | {"level": level}
    if label_noise:
        attributes |= pilots.label_noise().attributes()
    return forecasts(found, sizes, {metric.name: metric.label for metric in metrics}, attributes)

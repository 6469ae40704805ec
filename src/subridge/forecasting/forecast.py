"""Public functions on a pilot sample.

They estimate errors at other sizes (`forecast`), the number of rows for a wanted error (`samples_needed`), and the
products of members' errors at the present size (`risk_matrix`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, MatrixLike, Seed
from subridge.datasets.tables.targets import TargetLike, Task, read_target
from subridge.forecasting.metrics import ENDS, forecast_metrics, metrics_of
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
from subridge.forecasting.rule import doubts, forecast_curve, read_ridges, refuse_vanishing, search_and_choose
from subridge.model.aggregation import MemberMoments
from subridge.model.checks import non_negative, one_number, truth, within
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError, SubridgeWarning, counted
from subridge.model.subsets import Equal, Overlapping, Strategy
from subridge.results.numbers import interval, plain
from subridge.results.schemas import forecasts, result_attributes
from subridge.ridge.checks import warn_once
from subridge.ridge.member import member_paths
from subridge.ridge.moments import MomentBatches

_STEPS = 25  # sizes of the curve that `samples_needed` searches
_FARTHEST = 1024  # times the pilot's rows, the largest size of that curve
_FURTHEST, _SIZES = 16, 12  # by default, twelve sizes from n to 16 n


def forecast(
    X: "MatrixLike | MomentBatches",
    y: TargetLike | None = None,
    n_samples: ArrayLike | None = None,
    ensembles: Mapping[str, Ensemble] | None = None,
    *,
    ridges: ArrayLike | None = None,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    label_noise: bool = True,
    seed: Seed | None = 0,
    groups: ArrayLike | None = None,
    n_groups: ArrayLike | None = None,
    per_target: bool = False,
) -> xarray.Dataset:
    """Forecast the error of ridge ensembles at other sample sizes from one pilot sample, without held-out data.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features. They are not scaled; with `fit_intercept` they are centred. Or `MomentBatches`, which
        include y: left-out errors are then those of the trace form, and standard errors come from the batches.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    n_samples : array_like of int, shape (S,), optional
        Sizes n′ of the forecast, smaller or larger than n; ``inf`` gives the limit. Default: twelve from n to 16 n, or
        `n_groups`.
    ensembles : mapping of str to Ensemble, optional
        Default: one ridge on all features, and up to 8 equal and 8 overlapping members (half of the features each), at
        the best ridge. Subsets are a `SubsetPlan` for M features, or a strategy that draws one here. The aggregation
        is a weighted sum of members: "mean", or "scaled", "simplex" and "free" for weights that are fitted at each
        size.
    ridges : array_like, shape (L,), or "auto", optional
        Ridges to consider in place of the ensembles' own. Every ensemble takes the one with the least left-out error on
        the pilot among those in reach of the size. "auto" is a path scaled to the data.
    level : float
        Nominal coverage of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" treats text, categories and booleans as labels of classes.
    fit_intercept : bool
        Forecast ensembles with an unpenalised intercept; it counts as one degree of freedom.
    label_noise : bool
        Estimate the label noise ζ for the attributes, which takes a factorisation of all features.
    seed : int or tuple of int, optional
        Seed of the subsets of strategies.
    groups : array_like, shape (n,), optional
        Labels of groups whose rows depend on each other, such as subjects. Errors are then those on new groups, from
        left-out groups, and a larger size means more groups of the same kind. The coordinate ``n_groups`` has their
        number, and ``effective_samples`` is the effective number of independent rows of the pilot. See
        ``docs/groups.md`` for the model.
    n_groups : array_like of int, shape (S,), optional
        Sizes as numbers of groups, of the mean size of those in `groups`, in place of `n_samples`.
    per_target : bool
        Forecast every target separately, with its own ridges and fitted weights. Members are factorised once for all
        targets, which are processed in blocks. Needs rows and numeric targets.

    Returns
    -------
    xarray.Dataset
        With dimensions (ensemble, n_samples), or with `per_target` (ensemble, target, n_samples):

        - ``prediction_error``: expected squared error on new noisy labels, E_g + ζ², summed over targets, with readout
          noise where the ensemble has it; NaN where out of reach;
        - ``prediction_error_lower``, ``prediction_error_upper``, ``standard_error``: for that expectation;
        - ``in_reach``: False where the pilot does not determine the error: no ridge of the pilot has the needed
          effective ridge, or (without groups) the standard error at a larger size exceeds 40 % of the error;
        - ``ridge``: NaN where members have different ridges;
        - ``is_bound``, for chosen ridges: the ridge is the smallest that the pilot can evaluate and a smaller one may
          be better, so that `prediction_error_upper` is an upper bound of the error at the best ridge;
        - ``misclassification`` and its bounds, for classes: the share of wrong majority votes of the members.

        ``reach`` (ensemble, member) is the largest n′ in reach of each member at its ridge (if chosen, that of the
        largest size), infinite for members with fewer features than n. ``irreducible_error`` (ensemble) is the limit of
        `prediction_error` for n′ → ∞. The label noise ζ and its bounds are attributes. With `per_target` they are
        coordinates of the dimension target, and ``reach`` and ``irreducible_error`` have that dimension too. Targets
        are named like the columns of a data frame y, or numbered. A constant target has no forecast: its values are
        NaN, and False in ``in_reach``.

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
    advise : which ensemble to take, and why.
    risk_matrix : the errors of pairs of members at the present size.

    Notes
    -----
    A member's bias and variance factor depend on data only through its effective ridge κ̄ = p/(n - df). A root search
    finds the pilot's ridge with the κ̄ of (n′, λ′). There the leave-one-out risk matrix gives
    ``E_rr′(n′) + ζ² = (E_rr′ + ζ²)(1 - γ_rr′)/(1 - γ_rr′ n/n′)`` (deterministic equivalents of Prop. 1). A size is in
    reach if κ̄(n′, λ′) ≥ κ̄(n, 0). Intervals come from the spread of the pilot's left-out errors.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 60))
    >>> y = X @ rng.standard_normal(60) + rng.standard_normal(200)
    >>> curve = sr.forecast(X, y, [400, 1600], {"ridge": sr.Ensemble(sr.subsets.equal(1, 60, seed=0), ridge=0.1)})
    >>> curve.prediction_error.dims, bool(curve.in_reach.all())
    (('ensemble', 'n_samples'), True)
    >>> bool((curve.prediction_error_upper > 1).all())  # the label noise is 1, and no error is below it
    True

    Two targets separately, one of them three times as large:

    >>> Y = np.column_stack([y, 3 * y])
    >>> own = sr.forecast(X, Y, [400], {"ridge": sr.Ensemble(sr.subsets.Equal(1))}, ridges="auto", per_target=True)
    >>> own.prediction_error.dims, bool(np.allclose(own.prediction_error[:, 1], 9 * own.prediction_error[:, 0]))
    (('ensemble', 'target', 'n_samples'), True)
    """
    level = one_number("level", within("level", level, 0.5, 0.999))
    if n_samples is not None and n_groups is not None:
        raise ParameterError(
            "n_samples are sizes as numbers of rows, n_groups sizes as numbers of groups; give one of them"
        )
    if n_groups is not None and groups is None:
        raise ParameterError("n_groups needs groups=, with the group of every row; or give n_samples")
    name, given = ("n_samples", n_samples) if n_groups is None else ("n_groups", n_groups)
    wanted = None if given is None else read_sizes(name, given)
    if truth("per_target", per_target):
        names, varies, y = _read_targets(X, y, task)
    sample = read_sample(X, y, task, fit_intercept, groups)
    rows = sample.rows
    metrics = metrics_of(sample)
    if wanted is None:
        wanted = np.unique((rows.n_samples * np.geomspace(1, _FURTHEST, _SIZES)).round())
    if ensembles is None:
        ensembles = {name: Ensemble(each) for name, each in default_strategies(sample.n_features).items()}
        ridges = "auto" if ridges is None else ridges
    drawn = read_ensembles(ensembles, sample.n_features, seed)
    for name, each in drawn.items():
        refuse_vanishing(f"ridge of ensembles[{name!r}]", each.ridge, rows)
        if groups is not None and each.readout_noise.any():
            raise ParameterError(
                "readout_noise of an ensemble cannot be forecast with groups; use 0, or leave groups out"
            )
        if groups is not None and not each.aggregation.sums_to_one:
            raise ParameterError(
                f"aggregation={each.aggregation.name!r} of an ensemble cannot be forecast with groups; use 'mean' or "
                "'simplex', or leave groups out"
            )
    refuse_large_pilots(rows, [each.plan for each in drawn.values()], (len(wanted) + 1) * per_target)
    path = read_ridges(ridges, rows)
    noise = noise_of_targets(rows) if truth("label_noise", label_noise) and groups is None else {}
    per_group = rows.n_samples / rows.n_units
    sizes = wanted if n_groups is None else np.maximum((wanted * per_group).round(), 2.0)
    ends = np.append(sizes, np.inf)
    most = max(each.plan.n_members for each in drawn.values())
    said = list[SubridgeWarning | None]()

    def one(name: str) -> dict[str, FloatArray | BoolArray]:
        ensemble = drawn[name]
        pilot = replace(factorise_pilot(rows, ensemble.plan), per_target=per_target)
        seen = pilot.with_constant() if ensemble.aggregation.fits_weights else pilot
        chosen = search_and_choose(seen, ensemble, path, ends, said, may_grow=isinstance(ridges, str))
        curve = forecast_curve(seen, ensemble, ends, chosen)
        if name == next(iter(drawn)) and groups is None and rows.knows_leverages:
            said.extend(doubts(pilot, curve))
        found = forecast_metrics(metrics, sample, pilot, curve, level) | {
            "standard_error": curve.standard_error,
            "in_reach": curve.in_reach,
            "is_bound": curve.is_bound,
            "ridge": np.where(np.ptp(curve.ridges, axis=-1) == 0, curve.ridges[..., 0], np.nan),
        }
        if groups is not None:
            found["effective_samples"] = curve.effective_samples
        reach = pilot.reach(curve.ridges[..., sizes.argmax(), :])
        others = [(0, 0)] * (reach.ndim - 1)
        return {name: values[..., :-1] for name, values in found.items()} | {
            "reach": np.pad(reach, [*others, (0, most - reach.shape[-1])], constant_values=np.nan),
            "irreducible_error": curve.error[..., -1],
        }

    found = dict(zip(drawn, side_by_side(one, drawn), strict=True))
    warn_once(said)
    coordinates = {
        "n_samples": sizes.astype(int) if np.isfinite(sizes).all() else sizes,
        "aggregation": ("ensemble", [each.aggregation.name for each in drawn.values()]),
    }
    if groups is not None:
        coordinates["n_groups"] = ("n_samples", sizes / per_group)
    attributes_of = {metric.name: metric.attributes for metric in metrics}
    attributes = sample.attributes() | {"level": level}
    if not per_target:
        return forecasts(found, coordinates, attributes_of, {**attributes, **together(noise)})
    coordinates |= {"target": np.flatnonzero(varies)} | {name: ("target", each) for name, each in noise.items()}
    own = forecasts(found, coordinates, attributes_of, attributes)
    unknown = {name: False if own[name].dtype == bool else np.nan for name in own.data_vars}
    return own.reindex(target=np.arange(len(names)), fill_value=unknown).assign_coords(target=names)


def _read_targets(X: Any, y: Any, task: Task) -> tuple[Sequence[Any], BoolArray, FloatArray]:
    """Names of all targets (C,), which of them vary (C,), and the labels of those, shape (n, targets)."""
    table = np.atleast_2d((np.array([None]) if isinstance(X, MomentBatches) else read_target(y)).T).T
    if table.dtype == object or task == "classification":
        raise ParameterError(
            "per_target=True needs rows and numeric targets, because errors from moments are summed over targets, and "
            "classes are judged together; use per_target=False"
        )
    varies = (table != table[:1]).any(axis=0)
    varies |= not varies.any()  # a table of constants is refused later
    return (
        [str(each) if isinstance(each, tuple) else each for each in getattr(y, "columns", range(table.shape[1]))],
        varies,
        table[:, varies],
    )


def default_strategies(n_features: int, n_members: int = 8) -> dict[str, Strategy]:
    """One ridge, and equal and overlapping members, at most one for each feature.

    >>> list(default_strategies(100))
    ['one ridge', '8 equal', '8 overlapping']
    """
    k = min(n_members, n_features)
    found = dict[str, Strategy]({"one ridge": Equal(1)})
    halves = Overlapping((max(1, n_features // 2),) * k)
    return found if k == 1 else found | {f"{k} equal": Equal(k), f"{k} overlapping": halves}


def samples_needed(
    X: "MatrixLike | MomentBatches",
    y: TargetLike | None,
    error: ArrayLike,
    ensembles: Mapping[str, Ensemble] | None = None,
    *,
    ridges: ArrayLike | None = None,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    seed: Seed | None = 0,
    per_target: bool = False,
) -> xarray.Dataset:
    """Find the smallest sample size at which the forecast error of ensembles is at most `error`.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features; or `MomentBatches`, with None for y.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    error : float, or array_like of shape (C,) with `per_target`
        Wanted squared error on new labels, summed over targets, in the units of `forecast`'s ``prediction_error``.
    ensembles : mapping of str to Ensemble, optional
        The ensembles; default a few, as for `forecast`.
    ridges : array_like, shape (L,), or "auto", optional
        Ridges to consider, in place of the ensembles' own.
    level : float
        Nominal coverage of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" treats text, categories and booleans as labels of classes.
    fit_intercept : bool
        Forecast ensembles with an unpenalised intercept.
    seed : int or tuple of int, optional
        Seed of the subsets of strategies.
    per_target : bool
        Find the size of every target separately, as in `forecast`.

    Returns
    -------
    xarray.Dataset
        With the dimension ensemble, or with `per_target` dimensions (ensemble, target):

        - ``n_samples``: the smallest n′ with a forecast of at most `error`. It is infinite if no size up to 1,024 n, or
          within the pilot's reach, is enough, and n/4 (at least 10) if fewer rows may be enough.
        - ``n_samples_lower``, ``n_samples_upper``: the same for the lower and the upper bound of the interval.
        - ``in_reach``: False if there is no answer.
        - ``irreducible_error``: the limit for n′ → ∞.
        - ``answer``: a sentence.

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.
    SubsetError
        If a plan is for another number of features.

    See Also
    --------
    forecast : the curves that are searched.

    Notes
    -----
    The curve is forecast at 25 sizes from n/4 to 1,024 n with equal factors, and log n′ is interpolated in log error:
    the answer solves ``E_g(n′) + ζ² = error``.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> y = X @ rng.standard_normal(30) + rng.standard_normal(100)
    >>> one = {"one ridge": sr.Ensemble(sr.subsets.Equal(1), ridge=0.03)}
    >>> needed = sr.samples_needed(X, y, error=1.8, ensembles=one)
    >>> bool(150 < needed.n_samples[0] < 300)
    True
    >>> str(sr.samples_needed(X, y, error=0.1, ensembles=one).answer.values[0])[:13]
    'not reachable'

    Two targets separately, the second half as large:

    >>> own = sr.samples_needed(X, np.column_stack([y, y / 2]), [1.8, 0.45], one, per_target=True)
    >>> own.n_samples.dims, bool((own.n_samples == needed.n_samples).all())
    (('ensemble', 'target'), True)
    """
    wanted = non_negative("error", error)
    wanted = wanted if per_target else np.array(one_number("error", wanted))
    if not (wanted > 0).all():
        raise ParameterError("error must be positive, got 0; labels with noise cannot be predicted without error")
    n = X.n_samples if isinstance(X, MomentBatches) else max(1, len(read_target(y)))
    sizes = np.unique(np.geomspace(max(n / 4, 10), _FARTHEST * n, _STEPS).round())
    curves = forecast(
        X,
        y,
        sizes,
        ensembles,
        ridges=ridges,
        level=level,
        task=task,
        fit_intercept=fit_intercept,
        seed=seed,
        per_target=per_target,
    )
    limits = curves.irreducible_error
    if wanted.size not in (1, limits[0].size):
        raise ParameterError(f"error must be one number, or one for each target, got {counted(wanted.size, 'number')}")
    asked = limits.copy(data=np.broadcast_to(wanted.ravel(), limits.shape))
    noise = [(curves if per_target else curves.attrs)[f"label_noise{end}"] ** 2 for end in ENDS]
    found = [
        xarray.apply_ufunc(
            _crossing,
            curves[f"prediction_error{end}"],
            asked,
            input_core_dims=[["n_samples"], []],
            kwargs={"sizes": sizes},
            vectorize=True,
        )
        for end in ENDS
    ]
    is_known = np.isfinite(found[0])
    reached = curves.in_reach.sel(n_samples=found[0].where(is_known, sizes[-1]), method="bfill") & is_known
    answers = xarray.apply_ufunc(_answer, asked, limits, *noise, *found, kwargs={"least": sizes[0]}, vectorize=True)
    variables = dict(zip((f"n_samples{end}" for end in ENDS), found, strict=True)) | {
        "in_reach": reached,
        "irreducible_error": limits,
        "answer": answers,
    }
    return xarray.Dataset(
        {name: (limits.dims, each.values) for name, each in variables.items()},
        {name: curves[name].values for name in limits.dims},
        result_attributes(
            "samples_needed",
            1,
            "Sample sizes at which an error is reached.",
            **({} if per_target else {"error": float(wanted), "label_noise": curves.attrs["label_noise"]}),
        ),
    )


def _crossing(errors: FloatArray, wanted: float, sizes: FloatArray) -> float:
    """The smallest size at which a curve is known to be at or below the wanted error; infinite if there is none."""
    known = np.isfinite(errors)
    lowest = np.minimum.accumulate(errors[known])
    if not known.any() or lowest[-1] > wanted:
        return float("inf")
    size = np.exp(np.interp(-np.log(wanted), -np.log(lowest), np.log(sizes[known])))
    return float(np.ceil(size * (1 - 1e-12)))


def _answer(
    wanted: float,
    limit: float,
    noise: float,
    least_noise: float,
    most_noise: float,
    size: float,
    lower: float,
    upper: float,
    least: float,
) -> str:
    """The answer as a sentence; `noise` is the variance of the noise, and `least` the smallest size of the curve."""
    end = f"{upper:,.0f}" if np.isfinite(upper) else "∞"
    told = f"the label noise alone is {interval(noise, least_noise, most_noise)}"
    if np.isfinite(size) and size <= least:
        return f"{size:,.0f} rows or fewer" + ("" if upper <= least else f" (up to {end})")
    if np.isfinite(size):
        return f"{size:,.0f} rows ({lower:,.0f} to {end})"
    if wanted < least_noise:
        return f"not reachable: {told}"
    if wanted < most_noise and limit <= most_noise:
        return f"may not be reachable: {told}"
    if np.isnan(limit):
        return "not within the reach of this pilot"
    if limit <= wanted:
        return f"not within {_FARTHEST:,} times as many rows, though the limit is {plain(limit)}"
    return f"not reachable: with infinitely many rows the error of this ensemble is {plain(limit)}"


def risk_matrix(
    X: MatrixLike,
    y: TargetLike,
    ensemble: Ensemble,
    *,
    label_noise: float = 0.0,
    task: Task = "auto",
    fit_intercept: bool = True,
    seed: Seed | None = 0,
) -> FloatArray:
    """Estimate ``E_rr′ + ζ²`` from exact leave-one-out errors, without held-out data.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        Features, one sample per row.
    y : array_like, shape (n,) or (n, C)
        Numbers, or labels of classes, which become one-hot targets.
    ensemble : Ensemble
        Ridges are at least 0; 0 gives the minimum-norm solution, with fewer or more features than samples. The
        aggregation does not matter.
    label_noise : float
        ζ, if it is known: ζ² is subtracted, so that the matrix estimates ``sr.risk(...).pairs``. Errors on noisy labels
        are those plus ζ². For several targets ζ² is the sum over them.
    task : {"auto", "regression", "classification"}
        "auto" treats text, categories and booleans as labels of classes.
    fit_intercept : bool
        Train members with an unpenalised intercept.
    seed : int or tuple of int, optional
        Seed of the subsets of strategies.

    Returns
    -------
    ndarray, shape (k, k)
        Summed over targets. Its mean is the squared error of the averaged ensemble on new labels (without the given
        label noise), and ``member_weights`` computes optimal weights from it. It does not include readout noise η_r,
        which training data do not show.

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.
    RidgeError
        If a ridge is negative.
    SubsetError
        If a plan is for another number of features.

    See Also
    --------
    risk : the same matrix by theory, without label noise.
    member_weights : weights from it.
    forecast : the error at other sample sizes; it estimates the label noise too.

    Notes
    -----
    On Gaussian data it agrees with ``sr.risk(...).pairs + label_noise**2`` (Prop. 1).

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> pairs = sr.risk_matrix(X, X[:, 0], sr.Ensemble(sr.subsets.equal(2, 20, seed=0), ridge=0.1))
    >>> pairs.shape, bool(np.allclose(pairs, pairs.T))
    ((2, 2), True)
    """
    zeta = one_number("label_noise", non_negative("label_noise", label_noise))
    sample = read_sample(X, y, task, fit_intercept)
    if isinstance(ensemble, Ensemble):
        ensemble = Ensemble(ensemble.subsets, ensemble.ridge, row_fractions=ensemble.row_fractions)
    (drawn,) = read_ensembles({"ensemble": ensemble}, sample.n_features, seed).values()
    errors = np.stack([path.errors(0) for path in member_paths(sample.rows, drawn.plan, drawn.ridge[None, :])])
    return MemberMoments.of_errors(errors, errors[0], sample.rows.weights).pairs - zeta**2

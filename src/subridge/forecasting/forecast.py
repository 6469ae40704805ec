"""sr.forecast: the learning curves that named ensembles will have, from a pilot sample."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray
from scipy.stats import norm

import subridge
from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike, FloatArray
from subridge.ensemble.ensemble import Ensemble
from subridge.forecasting.curve import AGGREGATIONS, ForecastCurve, forecast_curve
from subridge.forecasting.inputs import Sample, read_ensembles, read_sample, read_sizes
from subridge.forecasting.label_noise import LabelNoise
from subridge.forecasting.pilots import Pilots, side_by_side
from subridge.forecasting.ridge_path import ridge_path
from subridge.forecasting.votes import vote_errors
from subridge.spec.checks import within
from subridge.spec.errors import ParameterError
from subridge.spec.plan import SubsetPlan


def forecast(
    X: Any,
    y: Any,
    n_samples: ArrayLike,
    ensembles: Mapping[str, Ensemble],
    *,
    ridges: ArrayLike | str | None = None,
    aggregation: str = "mean",
    extrapolate: bool = False,
    level: float = 0.9,
    task: str = "auto",
    fit_intercept: bool = True,
    label_noise: bool = True,
    seed: Seed | None = 0,
) -> xarray.Dataset:
    """Forecast the error of ridge ensembles at other sample sizes from one pilot sample, without held-out data.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features. They are not scaled; with `fit_intercept` they are centred.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    n_samples : array_like of int, shape (S,)
        Sizes n′ to forecast at, smaller or larger than n; ``inf`` gives the limit.
    ensembles : mapping of str to Ensemble
        Subsets are a `SubsetPlan` for M features, or a strategy that draws one here.
    ridges : array_like, shape (L,), or "auto", optional
        Give every ensemble, at each size, the best common ridge on this path in place of its own: the one with the
        least upper bound of those in reach, or beyond reach with `extrapolate`. "auto" is a path scaled to the data.
    aggregation : {"mean", "optimal"}
        "optimal" weighs the members to minimise the forecast error at each size.
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

    Returns
    -------
    xarray.Dataset
        With dimensions (ensemble, n_samples):

        - ``error``: expected squared error on new noisy labels, E_g + ζ², summed over targets, with readout noise where
          the ensemble has it; NaN where out of reach;
        - ``error_lower``, ``error_upper``, ``standard_error``: for that expectation;
        - ``in_reach``: False where extrapolated, or where it would have to be;
        - ``ridge``: NaN where members differ in theirs;
        - ``is_bound``, for chosen ridges: the ridge is the smallest that the pilot can judge and a smaller one may err
          less, so that `error` bounds the best from above;
        - ``misclassification`` and its bounds, for classes: the share of wrong majority votes.

        ``reach`` (ensemble, member) is the largest n′ in reach of each member at its ridge (a chosen one: that of the
        largest size), infinite for members with fewer features than n. ``irreducible_error`` (ensemble) is the limit of
        `error` for n′ → ∞. Attributes hold the label noise ζ.

    Notes
    -----
    A member's bias and variance factor depend on data only through its effective ridge κ̄ = p/(n - df). The pilot ridge
    with the κ̄ of (n′, λ′) is found by a root; the leave-one-out risk matrix there, taken apart by γ_rr′, gives
    ``Ê_rr′(n′) + ζ² = (Ê_rr′ + ζ²)(1 - γ_rr′)/(1 - γ_rr′ n/n′)`` (deterministic equivalents of Prop. 1). In reach means
    κ̄(n′, λ′) ≥ κ̄(n, 0).

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 60))
    >>> y = X @ rng.standard_normal(60) + rng.standard_normal(200)
    >>> curve = sr.forecast(X, y, [400, 1600], {"ridge": sr.Ensemble(sr.subsets.equal(1, 60, seed=0), ridge=0.1)})
    >>> curve.error.dims, bool(curve.in_reach.all())
    (('ensemble', 'n_samples'), True)
    >>> bool((curve.error_lower < curve.error).all())  # the label noise is 1, the limit of both sizes
    True
    """
    if aggregation not in AGGREGATIONS:
        raise ParameterError(f"aggregation must be one of {tuple(AGGREGATIONS)}, got {aggregation!r}")
    level = float(within("level", level, 0.5, 0.999))
    sizes = read_sizes(n_samples)
    sample = read_sample(X, y, task, fit_intercept)
    named = read_ensembles(ensembles, sample.n_features, seed)
    pilots = Pilots(sample, [plan for plan, _, _ in named.values()])
    path = None if ridges is None else ridge_path(ridges, sample.rows)
    with_limit = np.append(sizes, np.inf)

    def one(plan: SubsetPlan, own: FloatArray, noise: FloatArray) -> tuple[ForecastCurve, FloatArray, Any]:
        pilot = pilots.of(plan)
        curve = forecast_curve(
            pilot,
            with_limit,
            own[None, :] if path is None else np.repeat(path[:, None], plan.n_members, axis=1),
            noise,
            aggregation=aggregation,
            level=level,
            tuned=path is not None,
            beyond=pilots.label_noise if extrapolate else None,
        )
        reach = pilot.reach(curve.ridges[int(np.argmax(sizes))])
        if sample.class_names is None:
            return curve, reach, None
        shown = curve.in_reach[:-1]
        at = (curve.ridges[:-1][shown], curve.penalties[:-1][shown], sizes[shown])
        votes = vote_errors(pilot, *at, sample.rows.targets)
        return curve, reach, (shown, *votes)

    found = dict(zip(named, side_by_side(one, named.values()), strict=True))
    curves = {name: curve for name, (curve, _, _) in found.items()}
    reaches = {name: reach for name, (_, reach, _) in found.items()}
    votes = {name: vote for name, (_, _, vote) in found.items() if vote is not None}
    attributes = _attributes(sample, pilots.label_noise() if label_noise else None, level, aggregation, fit_intercept)
    return _dataset(sizes, curves, reaches, votes, attributes)


def _attributes(
    sample: Sample, noise: LabelNoise | None, level: float, aggregation: str, fit_intercept: bool
) -> dict[str, Any]:
    known: dict[str, Any] = {} if sample.class_names is None else {"class_names": ", ".join(sample.class_names)}
    if noise is not None:
        variances = {"": noise.variance, "_lower": noise.lower, "_upper": noise.upper}
        known |= {f"label_noise{end}": float(np.sqrt(value)) for end, value in variances.items()}
    return {
        "version": subridge.__version__,
        "n_pilot": sample.n,
        "n_features": sample.n_features,
        "n_targets": len(sample.rows.targets),
        "target_variance": float(sample.rows.targets.var(axis=1).sum()),
        "level": level,
        "aggregation": aggregation,
        "fit_intercept": int(fit_intercept),
        **known,
    }


def _dataset(
    sizes: FloatArray,
    curves: dict[str, ForecastCurve],
    reaches: dict[str, FloatArray],
    votes: dict[str, Any],
    attributes: dict[str, Any],
) -> xarray.Dataset:
    names, S = list(curves), len(sizes)
    fields = {
        "error": "error",
        "error_lower": "lower",
        "error_upper": "upper",
        "standard_error": "standard_error",
        "in_reach": "in_reach",
        "is_bound": "is_bound",
    }
    plane = ("ensemble", "n_samples")
    variables: dict[str, Any] = {
        variable: (plane, np.stack([getattr(curves[name], field)[:S] for name in names]))
        for variable, field in fields.items()
    }
    variables["ridge"] = (plane, np.stack([_common(curves[name].ridges[:S]) for name in names]))
    most = max(len(reach) for reach in reaches.values())
    padded = np.full((len(names), most), np.nan)
    for row, name in enumerate(names):
        padded[row, : len(reaches[name])] = reaches[name]
    variables["reach"] = (("ensemble", "member"), padded)
    variables["irreducible_error"] = ("ensemble", np.array([curves[name].error[S] for name in names]))
    if votes:
        tables = _vote_tables(votes, S, attributes["level"])
        variables |= {variable: (plane, table) for variable, table in tables.items()}
    whole = sizes.astype(np.int64) if np.isfinite(sizes).all() else sizes
    return xarray.Dataset(variables, {"ensemble": names, "n_samples": whole}, attributes)


def _vote_tables(votes: dict[str, Any], S: int, level: float) -> dict[str, FloatArray]:
    """Shares of wrong votes with their bounds, NaN out of reach; each of shape (ensembles, S)."""
    shares, spreads = np.full((len(votes), S), np.nan), np.full((len(votes), S), np.nan)
    for row, (shown, share, spread) in enumerate(votes.values()):
        shares[row, shown], spreads[row, shown] = share, spread
    width = norm.ppf(0.5 + level / 2) * spreads
    return {
        "misclassification": shares,
        "misclassification_lower": np.maximum(shares - width, 0.0),
        "misclassification_upper": np.minimum(shares + width, 1.0),
    }


def _common(ridges: FloatArray) -> FloatArray:
    """The members' ridge where they share it, else NaN; shape (S, k) to (S,)."""
    return np.where((ridges == ridges[:, :1]).all(axis=1), ridges[:, 0], np.nan)

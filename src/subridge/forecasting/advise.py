"""sr.advise: which ensemble, how many members, which ridge, and why; or one ridge, well tuned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray

import subridge
from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike, FloatArray
from subridge.ensemble.ensemble import Ensemble
from subridge.forecasting.candidates import SINGLE, Candidate, candidates
from subridge.forecasting.curve import AGGREGATIONS, ForecastCurve, forecast_curve
from subridge.forecasting.inputs import Sample, read_ensembles, read_sample, read_sizes
from subridge.forecasting.jackknife import Jackknife
from subridge.forecasting.label_noise import LabelNoise
from subridge.forecasting.pilots import Pilots, side_by_side
from subridge.forecasting.reasons import reasons
from subridge.forecasting.ridge_path import ridge_path
from subridge.forecasting.votes import vote_errors
from subridge.spec.checks import non_negative, positive_integer, within
from subridge.spec.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Advice:
    """Ensembles ranked by what they are forecast to err at most, and why.

    Attributes
    ----------
    table : xarray.Dataset
        One row per candidate, best first: ``error``, ``error_lower``, ``error_upper`` at the planned size,
        ``error_now`` at the pilot's, ``ridge``, ``n_members``, ``strategy``, ``fraction_spread``, ``aggregation``,
        ``gain`` over one tuned ridge as a share of its error and ``gain_error``, ``effective_members`` (1/Σw²),
        ``nearest_threshold`` (the N_r nearest to the planned size, over that size), for classes
        ``misclassification`` by majority vote (NaN for weighted members).
    reasons : tuple of str
        Two sentences.
    ensembles : dict of str to Ensemble
        Subsets and ridge of every candidate.
    weights : dict of str to ndarray, shape (k,)
    """

    table: xarray.Dataset
    reasons: tuple[str, ...]
    ensembles: dict[str, Ensemble]
    weights: dict[str, FloatArray]

    @property
    def best(self) -> str:
        """Name of the first."""
        return str(self.table.candidate.values[0])

    def estimator(self, name: str | None = None) -> Any:
        """An unfitted estimator with the subsets, ridge and aggregation of a candidate, the best by default.

        A regressor, or for labels of classes a classifier by majority vote, which has no weights: then the best
        candidate without weights is the default.
        """
        classes = "class_names" in self.table.attrs
        if name is None:
            usable = self.table.candidate.values[self.table.aggregation.values == "mean"] if classes else [self.best]
            name = str(usable[0])
        if name not in self.ensembles:
            raise ParameterError(f"name must be one of {tuple(self.ensembles)}, got {name!r}")
        ensemble, row = self.ensembles[name], self.table.sel(candidate=name)
        options = {
            "subsets": ensemble.plan,
            "ridge": float(row.ridge),
            "fit_intercept": bool(self.table.attrs["fit_intercept"]),
        }
        aggregation = str(row.aggregation.values)
        if classes and aggregation != "mean":
            raise ParameterError(f"{name!r} weighs scores, not votes; fit a RidgeEnsembleRegressor on one-hot labels")
        if classes:
            return subridge.RidgeEnsembleClassifier(**options)
        return subridge.RidgeEnsembleRegressor(aggregation="mean" if aggregation == "mean" else "simplex", **options)

    def __str__(self) -> str:
        return " ".join(self.reasons)


def advise(
    X: Any,
    y: Any,
    n_samples: int | None = None,
    *,
    n_members: Sequence[int] = (2, 4, 8, 16, 32),
    fraction_spreads: Sequence[float] = (0.0, 0.75, 1.5),
    overlapping_fractions: Sequence[float] = (0.5,),
    ridges: ArrayLike | str = "auto",
    readout_noise: float = 0.0,
    level: float = 0.9,
    task: str = "auto",
    fit_intercept: bool = True,
    ensembles: Mapping[str, Ensemble] | None = None,
    seed: Seed | None = 0,
) -> Advice:
    """Rank ridge ensembles by what they are forecast to err at a planned sample size.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
    y : array_like, shape (n,) or (n, C)
    n_samples : int, optional
        The planned size n′; default the pilot's n.
    n_members, fraction_spreads, overlapping_fractions : sequence
        Numbers of members k; spreads of heterogeneous subsets, 0 for equal ones; share of the features that each of
        overlapping members sees.
    ridges : array_like, shape (L,), or "auto"
        Path from which every candidate takes its best ridge, at each of the two sizes.
    readout_noise : float
        η of every member, known beforehand.
    level : float
        Probability of the intervals.
    task, fit_intercept, seed
        As for `forecast`.
    ensembles : mapping of str to Ensemble, optional
        Further candidates with their own readout noise, for example subsets that belong together; their ridges are
        chosen like those of the others.

    Returns
    -------
    Advice
        Ranked by the upper bound of the squared error (of one-hot scores for classes).

    Notes
    -----
    Nothing is refitted: every candidate is factorised once and evaluated by the forecast. The least of many noisy
    numbers is too good, so that upper bounds are compared, of ridges as of candidates; ``gain_error`` tells how much of
    a lead is noise.

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
    sample = read_sample(X, y, task, fit_intercept)
    planned = float(sample.n) if n_samples is None else float(read_sizes(positive_integer("n_samples", n_samples))[0])
    level = float(within("level", level, 0.5, 0.999))
    noise = float(non_negative("readout_noise", readout_noise))
    path = ridge_path(ridges, sample.rows)
    pool = list(
        candidates(
            sample.n_features,
            [positive_integer("n_members", k) for k in n_members],
            [float(spread) for spread in non_negative("fraction_spreads", list(fraction_spreads))],
            [float(share) for share in within("overlapping_fractions", list(overlapping_fractions), 0.0, 1.0)],
            seed,
        )
    )
    own = read_ensembles(ensembles, sample.n_features, seed) if ensembles else {}
    clash = [name for name in own if name in {each.name for each in pool}]
    if clash:
        raise ParameterError(f"ensembles may not use the name {clash[0]!r}, which is that of another candidate")
    pool += [Candidate(name, "given", plan, 0.0, eta) for name, (plan, _, eta) in own.items()]
    pilots = Pilots(sample, [each.plan for each in pool])
    sizes = np.array([planned, float(sample.n)])

    def one(candidate: Candidate) -> list[tuple[str, ForecastCurve, float]]:
        pilot, k = pilots.of(candidate.plan), candidate.plan.n_members
        found = []
        for aggregation in ("mean",) if k == 1 else AGGREGATIONS:
            curve = forecast_curve(
                pilot,
                sizes,
                np.repeat(path[:, None], k, axis=1),
                np.full(k, noise) if candidate.readout_noise is None else candidate.readout_noise,
                aggregation=aggregation,
                level=level,
                tuned=True,
                beyond=pilots.label_noise,
            )
            wrong = np.nan
            if sample.class_names is not None and aggregation == "mean" and curve.in_reach[0]:
                at = (curve.ridges[:1], curve.penalties[:1], sizes[:1])
                wrong = float(vote_errors(pilot, *at, sample.rows.targets)[0][0])
            found.append((aggregation, curve, wrong))
        return found

    results = side_by_side(one, [(each,) for each in pool])
    rows = [
        _Row(candidate, aggregation, curve, wrong)
        for candidate, found in zip(pool, results, strict=True)
        for aggregation, curve, wrong in found
    ]
    rows.sort(key=lambda row: row.curve.upper[0])
    attributes = {
        "version": subridge.__version__,
        "n_pilot": sample.n,
        "n_samples": planned,
        "level": level,
        "readout_noise": noise,
        "fit_intercept": int(fit_intercept),
    }
    return _advice(rows, sample, pilots.label_noise(), attributes)


@dataclass(frozen=True, eq=False)
class _Row:
    candidate: Candidate
    aggregation: str
    curve: ForecastCurve
    wrong: float

    @property
    def name(self) -> str:
        return self.candidate.name + (", weighted" if self.aggregation == "optimal" else "")

    def nearest_threshold(self, planned: float) -> float:
        N = self.candidate.plan.subset_sizes
        return float(N[np.argmin(abs(np.log(N / planned)))] / planned)


def _advice(rows: list[_Row], sample: Sample, noise: LabelNoise, attributes: dict[str, Any]) -> Advice:
    planned, eta = attributes["n_samples"], attributes["readout_noise"]
    single = next(row for row in rows if row.candidate.name == SINGLE)
    columns: dict[str, Any] = {
        "error": [row.curve.error[0] for row in rows],
        "error_lower": [row.curve.lower[0] for row in rows],
        "error_upper": [row.curve.upper[0] for row in rows],
        "in_reach": [bool(row.curve.in_reach[0]) for row in rows],
        "error_now": [row.curve.error[1] for row in rows],
        "ridge": [row.curve.ridges[0, 0] for row in rows],
        "n_members": [row.candidate.plan.n_members for row in rows],
        "strategy": [row.candidate.strategy for row in rows],
        "fraction_spread": [row.candidate.fraction_spread for row in rows],
        "aggregation": [row.aggregation for row in rows],
        "gain": [1 - row.curve.error[0] / single.curve.error[0] for row in rows],
        "gain_error": [_gain_error(row.curve, single.curve) for row in rows],
        "effective_members": [1 / float((row.curve.weights[0] ** 2).sum()) for row in rows],
        "nearest_threshold": [row.nearest_threshold(planned) for row in rows],
    }
    attributes |= {
        "n_features": sample.n_features,
        "label_noise": float(np.sqrt(noise.variance)),
        "target_variance": float(sample.rows.targets.var(axis=1).sum()),
    }
    if sample.class_names is not None:
        columns["misclassification"] = [row.wrong for row in rows]
        attributes["class_names"] = ", ".join(sample.class_names)
    names = [row.name for row in rows]
    table = xarray.Dataset({key: ("candidate", np.array(values)) for key, values in columns.items()}, attrs=attributes)
    table = table.assign_coords(candidate=names)
    ensembles = {
        row.name: Ensemble(
            row.candidate.plan,
            float(row.curve.ridges[0, 0]),
            eta if row.candidate.readout_noise is None else row.candidate.readout_noise,
        )
        for row in rows
    }
    weights = {row.name: row.curve.weights[0] for row in rows}
    return Advice(table, reasons(table), ensembles, weights)


def _gain_error(curve: ForecastCurve, single: ForecastCurve) -> float:
    """Standard error of ``1 - E/E_single`` from the influences of the same rows on both."""
    if curve is single:
        return 0.0
    one, other = (each.spread.influence[:1] / each.error[0] for each in (curve, single))
    shrink = np.sqrt(curve.spread.shrink[:1] * single.spread.shrink[:1])
    allowance = np.hypot(*(each.spread.allowance[:1] / each.error[0] for each in (curve, single)))
    relative = Jackknife(one - other, shrink, allowance).standard_error[0]
    return float(relative * curve.error[0] / single.error[0])

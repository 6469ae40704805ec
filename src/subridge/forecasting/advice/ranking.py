"""Candidates in the order of what they are forecast to err at most."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation import LinearAggregation, Mean, Simplex
from subridge.ensemble.ensemble import Ensemble
from subridge.forecasting.advice.candidates import SINGLE, Candidate
from subridge.forecasting.curve.curve import ForecastCurve, forecast_curve
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.metrics import metrics_of
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.shared import Pilots
from subridge.forecasting.side_by_side import side_by_side
from subridge.forecasting.uncertainty.spread import Spread

_AGGREGATIONS: tuple[LinearAggregation, ...] = (Mean(), Simplex())


@dataclass(frozen=True, eq=False)
class Ranked:
    """A candidate with one aggregation, forecast at the planned size and at the pilot's."""

    candidate: Candidate
    curve: ForecastCurve  # of the two sizes
    metrics: dict[str, float]  # at the planned size, with bounds

    @property
    def name(self) -> str:
        """Of the candidate, with a word on its weights."""
        return self.candidate.name + (", weighted" if self.candidate.ensemble.fits_weights else "")

    @property
    def ridge(self) -> float:
        """λ of all members at the planned size."""
        return float(self.curve.wanted.ridges[0, 0])

    @property
    def weights(self) -> FloatArray:
        """Of the members at the planned size; shape (k,)."""
        return np.asarray(self.curve.weights[0])

    def ensemble(self) -> Ensemble:
        """The candidate at its ridge for the planned size."""
        drawn = self.candidate.ensemble
        return Ensemble(drawn.plan, self.ridge, drawn.readout_noise, drawn.aggregation)


def rank(
    sample: Sample, candidates: Sequence[Candidate], n_samples: float, path: FloatArray, level: float
) -> tuple[list[Ranked], LabelNoise]:
    """Forecast every candidate with every aggregation; the least upper bound of the prediction error comes first."""
    pilots = Pilots(sample, [each.ensemble.plan for each in candidates])
    sizes = np.array([n_samples, float(sample.n_samples)])
    metrics = metrics_of(sample)

    def judge(candidate: Candidate) -> list[Ranked]:
        pilot, found = pilots.of(candidate.ensemble.plan), []
        for aggregation in _AGGREGATIONS[:1] if pilot.n_members == 1 else _AGGREGATIONS:
            ensemble = replace(candidate.ensemble, aggregation=aggregation)
            curve = forecast_curve(pilot, ensemble, sizes, path, level, pilots.label_noise)
            values: dict[str, float] = {}
            for metric in metrics:
                if not (metric.of_votes and ensemble.fits_weights):
                    variables = metric.variables(sample, pilot, curve[:1], level)
                    values |= {name: float(value[0]) for name, value in variables.items()}
            found.append(Ranked(replace(candidate, ensemble=ensemble), curve, values))
        return found

    ranked = [each for found in side_by_side(judge, candidates) for each in found]
    return sorted(ranked, key=lambda each: each.metrics["prediction_error_upper"]), pilots.label_noise()


def ranking_columns(ranked: Sequence[Ranked]) -> dict[str, list[float | str]]:
    """What the table of advice says of every candidate, by column."""
    single = next(each for each in ranked if each.candidate.name == SINGLE)
    rows = [_row(each, single) for each in ranked]
    return {name: [row.get(name, np.nan) for row in rows] for name in max(rows, key=len)}


def _row(ranked: Ranked, single: Ranked) -> dict[str, float | str]:
    candidate, curve = ranked.candidate, ranked.curve
    sizes, planned = candidate.ensemble.plan.subset_sizes, curve.wanted.sizes[0]
    nearest = sizes[np.argmin(abs(np.log(sizes / planned)))]
    return {
        **ranked.metrics,
        "in_reach": bool(curve.wanted.in_reach[0]),
        "pilot_prediction_error": float(curve.prediction_error[1]),
        "ridge": ranked.ridge,
        "n_members": candidate.ensemble.plan.n_members,
        "strategy": candidate.strategy,
        "fraction_spread": candidate.fraction_spread,
        "subset_fraction": float(sizes.mean() / candidate.ensemble.plan.n_features),
        "aggregation": candidate.ensemble.aggregation.name,
        "gain": float(1 - curve.prediction_error[0] / single.curve.prediction_error[0]),
        "gain_standard_error": _gain_standard_error(curve, single.curve),
        "effective_members": 1 / float((ranked.weights**2).sum()),
        "nearest_threshold": float(nearest / planned),
    }


def _gain_standard_error(curve: ForecastCurve, single: ForecastCurve) -> float:
    """Standard error of ``1 - E/E_single`` from the influences of the same rows on both."""
    if curve is single:
        return 0.0
    one, other = (each.spread[:1].scaled(1 / each.prediction_error[:1]) for each in (curve, single))
    relative = Spread(
        one.influence - other.influence, np.sqrt(one.shrink * other.shrink), np.hypot(one.allowance, other.allowance)
    )
    return float(relative.standard_error[0] * curve.prediction_error[0] / single.prediction_error[0])

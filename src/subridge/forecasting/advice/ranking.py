"""Candidates in the order of advice: one tuned ridge first, unless another surely errs less."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation import LinearAggregation, Mean, Simplex
from subridge.ensemble.ensemble import Ensemble
from subridge.forecasting.advice.candidates import SINGLE, Candidate
from subridge.forecasting.curve.curve import ForecastCurve, forecast_curve
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.metrics import metrics_of
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.shared import Pilots
from subridge.forecasting.self_test.evidence import Evidence
from subridge.forecasting.self_test.self_test import self_test
from subridge.forecasting.side_by_side import side_by_side
from subridge.forecasting.uncertainty.spread import Spread

AGGREGATIONS: tuple[LinearAggregation, ...] = (Mean(), Simplex())
# A gain must exceed this many of its standard errors, and this share of the error, to speak against one ridge.
_SURE, _LEAST_GAIN = 2.0, 0.01
_SELF_TESTED = 1000  # rows up to which one ridge is tried on parts of the pilot


@dataclass(frozen=True, eq=False)
class Ranked:
    """A candidate with one aggregation, forecast at the planned size and at the pilot's."""

    candidate: Candidate
    curve: ForecastCurve  # of the two sizes
    metrics: dict[str, float]  # at the planned size, with bounds
    n_rows: int  # of the pilot it was forecast from

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

    def gain(self, single: "Ranked", at: int = 0) -> float:
        """Gain over one ridge as a share of its error, at the planned (0) or the pilot's size (1)."""
        return float(1 - self.curve.prediction_error[at] / single.curve.prediction_error[at])

    def gain_standard_error(self, single: "Ranked") -> float:
        """From the influences of the same rows on both, and half of what planned and present gain differ by."""
        if self is single:
            return 0.0
        one, other = (each.curve.spread[:1].scaled(1 / each.curve.prediction_error[:1]) for each in (self, single))
        if one.influence.shape != other.influence.shape:  # forecast from fewer rows
            relative = float(np.hypot(one.standard_error[0], other.standard_error[0]))
        else:
            relative = float(
                Spread(
                    one.influence - other.influence,
                    np.sqrt(one.shrink * other.shrink),
                    np.hypot(one.allowance, other.allowance),
                    np.minimum(one.freedom, other.freedom),
                ).standard_error[0]
            )
        apart = 0.5 * (self.gain(single) - self.gain(single, 1))
        return float(np.hypot(relative * (1 - self.gain(single)), apart))

    def surely_better(self, single: "Ranked") -> bool:
        """Whether it is in reach and gains more over one ridge than the pilot's noise can feign."""
        gain, reached = self.gain(single), bool(self.curve.wanted.in_reach[0])
        return reached and gain > max(_SURE * self.gain_standard_error(single), _LEAST_GAIN)


def rank(
    sample: Sample,
    candidates: Sequence[Candidate],
    n_samples: float,
    path: RidgePath,
    level: float,
    aggregations: Sequence[LinearAggregation],
) -> tuple[list[Ranked], LabelNoise]:
    """Forecast every candidate with every aggregation.

    Those that are surely better than one ridge come first, then one ridge, then the rest; among each other by the upper
    bound of the prediction error.
    """
    pilots = Pilots(sample, [each.ensemble.plan for each in candidates])
    sizes = np.array([n_samples, float(sample.n_samples)])
    metrics, scatter = metrics_of(sample), [float("nan")]

    def judge(candidate: Candidate) -> list[Ranked]:
        pilot, found = pilots.of(candidate.ensemble.plan), list[Ranked]()
        for aggregation in aggregations[:1] if pilot.n_members == 1 else aggregations:
            ensemble = replace(candidate.ensemble, aggregation=aggregation)
            # Weights are fitted at the ridges that are best for equal ones: choosing both at once fits more noise.
            given = found[0].curve.wanted.ridges if found else None
            curve = forecast_curve(pilot, ensemble, sizes, None if found else path, level, pilots.label_noise, given)
            if candidate.name == SINGLE and sample.n_samples <= _SELF_TESTED:
                test = self_test(sample.rows, pilot, ensemble, curve.wanted.ridges[:1], curve.weights[:1])
                scatter[0] = test.scatter
            evidence = Evidence.of_scatter(scatter[0], len(sizes))
            curve = curve.judged(sample.n_samples, evidence, pilots.label_noise().lower)
            values: dict[str, float] = {}
            for metric in metrics:
                if not (metric.of_votes and ensemble.fits_weights):
                    variables = metric.variables(sample, pilot, curve[:1], level)
                    values |= {name: float(value[0]) for name, value in variables.items()}
            found.append(Ranked(replace(candidate, ensemble=ensemble), curve, values, sample.n_samples))
        return found

    ranked = judge(candidates[0])  # one ridge, whose self-test serves all
    ranked += [each for found in side_by_side(judge, candidates[1:]) for each in found]
    return ordered(ranked), pilots.label_noise()


def ordered(ranked: Sequence[Ranked]) -> list[Ranked]:
    """In the order of advice."""
    single = next(each for each in ranked if each.candidate.name == SINGLE)

    def place(each: Ranked) -> tuple[int, float]:
        group = 1 if each is single else 0 if each.surely_better(single) else 2
        return group, each.metrics["prediction_error_upper"]

    return sorted(ranked, key=place)


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
        "gain": ranked.gain(single),
        "gain_standard_error": ranked.gain_standard_error(single),
        "surely_better": ranked is not single and ranked.surely_better(single),
        "effective_members": 1 / float((ranked.weights**2).sum()),
        "nearest_threshold": float(nearest / planned),
        "rows_used": ranked.n_rows,
    }

"""Candidates in the order of advice: one tuned ridge first, unless another surely errs less."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.advice.candidates import SINGLE, Candidate
from subridge.forecasting.advice.fitted import fitted_weights
from subridge.forecasting.advice.present import Present, equal_weights
from subridge.forecasting.curve.curve import ForecastCurve, forecast_curve
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.metrics import metrics_of
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.forecasting.pilot.shared import Pilots
from subridge.forecasting.self_test.doubts import doubts
from subridge.forecasting.self_test.evidence import Evidence
from subridge.forecasting.self_test.self_test import self_test
from subridge.forecasting.side_by_side import side_by_side
from subridge.forecasting.uncertainty.spread import of_order_one
from subridge.model.aggregation import Free, LinearAggregation, Mean, Scaled, Simplex
from subridge.model.ensemble import Ensemble
from subridge.model.errors import SubridgeWarning
from subridge.ridge.rows.dependence import has_heavy_label

AGGREGATIONS: tuple[LinearAggregation, ...] = (Mean(), Simplex(), Scaled(), Free())
_WORDS = {"mean": "", "simplex": ", weighted", "scaled": ", scaled", "free": ", free"}
# A present gain must exceed this many of its standard errors, and this share of the error, to speak against one ridge.
# Fitted weights adapt to the rows that judge them, and there are three times as many of them to be lucky.
_SURE, _SURE_OF_WEIGHTS, _LEAST_GAIN = 2.0, 2.5, 0.01
_SELF_TESTED = 1000  # rows up to which one ridge is tried on parts of the pilot


def possible_names(candidate: Candidate) -> list[str]:
    """Names of a candidate with any aggregation."""
    several = candidate.ensemble.plan.n_members > 1
    return [candidate.name + words for words in (_WORDS.values() if several else [""])]


@dataclass(frozen=True, eq=False)
class Ranked:
    """A candidate with one aggregation, at the pilot's size and forecast at the planned one."""

    candidate: Candidate
    present: Present
    curve: ForecastCurve  # of the planned size and the pilot's
    metrics: dict[str, float]  # at the planned size, with bounds
    is_heavy: bool = False  # whether a single label carries so much that no gain is sure
    doubts: tuple[SubridgeWarning, ...] = ()  # what its ridge path, and one ridge of all, show of the pilot

    @property
    def name(self) -> str:
        """Of the candidate, with a word on its weights."""
        return self.candidate.name + _WORDS[self.candidate.ensemble.aggregation.name]

    @property
    def n_rows(self) -> int:
        """Of the pilot it was judged by."""
        return len(self.present.squares)

    def ensemble(self) -> Ensemble:
        """The candidate at its ridge."""
        drawn = self.candidate.ensemble
        return Ensemble(drawn.plan, self.present.ridge, drawn.readout_noise, drawn.aggregation)

    def gain(self, single: "Ranked") -> float:
        """Gain over one ridge at the planned size, as a share of its error."""
        return float(1 - self.curve.prediction_error[0] / single.curve.prediction_error[0])

    def present_gain(self, single: "Ranked") -> tuple[float, float]:
        """Gain over one ridge at its best on the pilot's rows, and its standard error from the differences row by row.

        Where few rows make the gain, differences are skewed by G, and their standard error counts 1 + G/√n times.
        """
        error = self.present.error + self.present.overshoot
        own = (self.present.squares + self.present.overshoot) / error
        rival = single.present.strongest
        other, gain = rival / rival.mean(), 1 - error / float(rival.mean())
        if self.n_rows == single.n_rows:
            relative = float((own - other).std(ddof=1)) / self.n_rows**0.5
            relative *= 1 + max(_skewness(rival - self.present.squares), 0.0) / self.n_rows**0.5
        else:  # judged by fewer rows
            relative = float(np.hypot(*(each.std(ddof=1) / len(each) ** 0.5 for each in (own, other))))
        return gain, relative * (1 - gain)

    def gain_standard_error(self, single: "Ranked") -> float:
        """Of the present gain, and half of what planned and present gain differ by."""
        if self is single:
            return 0.0
        present, error = self.present_gain(single)
        return float(np.hypot(error, 0.5 * (self.gain(single) - present)))

    def surely_better(self, single: "Ranked") -> bool:
        """Whether it is in reach and gains more over one ridge than the pilot's noise can feign.

        Not where a single label carries much of their variance: rows like it decide which error is smaller, and the
        pilot has one of them.
        """
        reached = bool(self.curve.wanted.in_reach[0]) and self.n_rows == single.n_rows and not self.is_heavy
        least = self.present_gain(single)[0] > _LEAST_GAIN
        return reached and least and self.gain(single) > 0 and self.sure_gain(single) > 0

    def sure_gain(self, single: "Ranked") -> float:
        """What is left of the present gain after twice its standard error, 2.5 times that of fitted weights."""
        present, error = self.present_gain(single)
        return present - (_SURE_OF_WEIGHTS if self.candidate.ensemble.fits_weights else _SURE) * error


def rank(
    sample: Sample,
    candidates: Sequence[Candidate],
    n_samples: float,
    path: RidgePath,
    level: float,
    aggregations: Sequence[LinearAggregation],
) -> tuple[list[Ranked], LabelNoise]:
    """Judge every candidate with every aggregation.

    Those that are surely better than one ridge come first, by their gain; then one ridge, then the rest by the upper
    bound of the prediction error.
    """
    pilots = Pilots(sample, [each.ensemble.plan for each in candidates])
    sizes = np.array([n_samples, float(sample.n_samples)])
    metrics, scatter, is_heavy = metrics_of(sample), [float("nan")], has_heavy_label(sample.rows)

    def judge(candidate: Candidate) -> list[Ranked]:
        pilot, found = pilots.of(candidate.ensemble.plan), list[Ranked]()
        said = list[SubridgeWarning]()
        equal = equal_weights(pilot, candidate.ensemble, path, said.append)
        ridges = np.full((2, pilot.n_members), equal.ridge)
        moved = forecast_curve(pilot, candidate.ensemble, sizes, None, pilots.label_noise, ridges)
        if candidate.name == SINGLE:
            steadiness = float(moved.steadiness.min())
            said += doubts(sample.rows, pilot, ridges[0], moved.weights[0], steadiness)
        if candidate.name == SINGLE and sample.n_samples <= _SELF_TESTED:
            test = self_test(pilot, moved.wanted.ridges[:1], moved.weights[:1])
            scatter[0] = test.scatter
        for aggregation in aggregations[:1] if pilot.n_members == 1 else aggregations:
            ensemble = replace(candidate.ensemble, aggregation=aggregation)
            weighted = ensemble.fits_weights
            present = fitted_weights(sample.rows, pilot, ensemble, path, equal, n_samples) if weighted else equal
            # Weights and their ridge change what the same members err at present; the way to another size is theirs.
            errors = present.error + np.array([present.overshoot, 0.0])
            curve = moved.scaled(errors / equal.error) if weighted else moved
            evidence = Evidence.of_scatter(scatter[0], len(sizes))
            curve = curve.judged(sample.n_samples, evidence, pilots.label_noise().lower)
            values: dict[str, float] = {}
            for metric in metrics:
                if not (metric.of_votes and weighted):
                    variables = metric.variables(sample, pilot, curve[:1], level)
                    values |= {name: float(value[0]) for name, value in variables.items()}
            found.append(Ranked(replace(candidate, ensemble=ensemble), present, curve, values, is_heavy, tuple(said)))
        return found

    ranked = judge(candidates[0])  # one ridge, whose self-test serves all
    ranked += [each for found in side_by_side(judge, candidates[1:]) for each in found]
    return ordered(ranked), pilots.label_noise()


def ordered(ranked: Sequence[Ranked]) -> list[Ranked]:
    """In the order of advice."""
    single = next(each for each in ranked if each.candidate.name == SINGLE)

    def place(each: Ranked) -> tuple[int, float]:
        if each is single:
            return 1, 0.0
        if each.surely_better(single):
            return 0, -each.present_gain(single)[0]
        return 2, each.metrics["prediction_error_upper"]

    return sorted(ranked, key=place)


def _skewness(values: FloatArray) -> float:
    centred = of_order_one(values - values.mean())
    spread = float(centred.std())
    return float((centred**3).mean()) / spread**3 if spread > 0 else 0.0


def ranking_columns(ranked: Sequence[Ranked]) -> dict[str, list[float | str]]:
    """What the table of advice says of every candidate, by column."""
    single = next(each for each in ranked if each.candidate.name == SINGLE)
    rows = [_row(each, single) for each in ranked]
    return {name: [row.get(name, np.nan) for row in rows] for name in max(rows, key=len)}


def _row(ranked: Ranked, single: Ranked) -> dict[str, float | str]:
    candidate, curve = ranked.candidate, ranked.curve
    weights = ranked.present.weights
    sizes, planned = candidate.ensemble.plan.subset_sizes, curve.wanted.sizes[0]
    nearest = sizes[np.argmin(abs(np.log(sizes / planned)))]
    return {
        **ranked.metrics,
        "in_reach": bool(curve.wanted.in_reach[0]),
        "pilot_prediction_error": ranked.present.error,
        "ridge": ranked.present.ridge,
        "n_members": candidate.ensemble.plan.n_members,
        "strategy": candidate.strategy,
        "fraction_spread": candidate.fraction_spread,
        "subset_fraction": float(sizes.mean() / candidate.ensemble.plan.n_features),
        "aggregation": candidate.ensemble.aggregation.name,
        "gain": ranked.gain(single),
        "gain_standard_error": ranked.gain_standard_error(single),
        "surely_better": ranked is not single and ranked.surely_better(single),
        "effective_members": float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300)),
        "nearest_threshold": float(nearest / planned),
        "rows_used": ranked.n_rows,
    }

"""Many candidates on a large pilot: a first look from some of its rows, a second at the few that may be best.

Pairs of members cost n (Σ_r ρ_r)²/2 multiplications, which for 32 overlapping members of 1,000 features on 5,000 rows
is hundreds of Gram matrices.
"""

from collections.abc import Sequence

import numpy as np

from subridge.arrays.namespace import is_sparse
from subridge.forecasting.advice.candidates import SINGLE, Candidate
from subridge.forecasting.advice.ranking import Ranked, ordered, rank
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.pilot.label_noise import LabelNoise
from subridge.model.aggregation import LinearAggregation
from subridge.ridge.rows.training import training_rows

_AFFORDABLE = 2e11  # multiplications for all candidates: seconds
_SCREENED = 400  # rows of the first look
_FINALISTS = 3
_ONE = 5e10  # multiplications for a finalist


def screened_rank(
    sample: Sample,
    candidates: Sequence[Candidate],
    n_samples: float,
    path: RidgePath,
    level: float,
    aggregations: Sequence[LinearAggregation],
) -> tuple[list[Ranked], LabelNoise]:
    """As `rank`; where that would take long, candidates that look worse from 400 rows are judged by those alone."""
    n = sample.n_samples
    if n <= _SCREENED or sum(_cost(each, n) for each in candidates) <= _AFFORDABLE:
        return rank(sample, candidates, n_samples, path, level, aggregations)
    first, _ = rank(_some_rows(sample), candidates, n_samples, path, level, aggregations)
    by_name = {each.name: each for each in candidates}
    names = [each.candidate.name for each in sorted(first, key=lambda each: each.metrics["prediction_error_upper"])]
    affordable = [name for name in dict.fromkeys(names) if name != SINGLE and _cost(by_name[name], n) <= _ONE]
    finalists = [by_name[SINGLE], *(by_name[name] for name in affordable[:_FINALISTS])]
    second, noise = rank(sample, finalists, n_samples, path, level, aggregations)
    seen = {each.name for each in second}
    return [*second, *(each for each in ordered(first) if each.name not in seen)], noise


def _cost(candidate: Candidate, n: int) -> float:
    return n * float(np.minimum(candidate.ensemble.plan.subset_sizes, n).sum()) ** 2 / 2


def _some_rows(sample: Sample) -> Sample:
    rows = sample.rows
    some = np.sort(np.random.default_rng(0).permutation(sample.n_samples)[:_SCREENED])
    table = rows.features[some] if is_sparse(rows.features) else rows.features[:, some].T
    return Sample(training_rows(table, rows.targets[:, some], None, rows.fit_intercept), sample.class_names)

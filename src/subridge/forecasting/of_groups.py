"""Named ensembles on rows that come in groups: what the dataset of a forecast says of each."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.forecasting.by_groups import forecast_groups, group_pilot
from subridge.forecasting.inputs.request import DrawnEnsemble, read_sizes
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.inputs.sample import Sample
from subridge.forecasting.transfer.any_sum import with_silence
from subridge.forecasting.votes_of_groups import misclassification_of_groups
from subridge.model.errors import DataError, ParameterError
from subridge.results.forecasts import EnsembleForecast


@dataclass(frozen=True, eq=False)
class GroupForecasts:
    """Forecasts by name, at S sizes in rows and in groups of the mean size."""

    found: dict[str, EnsembleForecast]
    sizes: FloatArray
    n_groups: FloatArray


def asked_sizes(
    n_samples: ArrayLike | None, n_groups: ArrayLike | None, groups: ArrayLike | None, extrapolate: bool
) -> FloatArray:
    """Sizes in rows or in groups, shape (S,); refuses what cannot be asked for together."""
    if groups is not None and extrapolate:
        raise ParameterError(
            "extrapolate has no forecast by groups: power laws of the tails are those of independent rows; leave it "
            "out and forecast within the reach of the pilot"
        )
    if n_groups is None and n_samples is not None:
        return read_sizes(n_samples)
    if n_groups is None or n_samples is not None:
        raise ParameterError(
            "n_samples says at which numbers of rows to forecast, n_groups at which numbers of groups; give one of them"
        )
    if groups is None:
        raise ParameterError("n_groups needs groups=, the label of the group of every row; or give n_samples")
    return read_sizes(n_groups, "n_groups")


def forecast_of_groups(
    sample: Sample,
    drawn: Mapping[str, DrawnEnsemble],
    wanted: FloatArray,
    path: RidgePath | None,
    level: float,
    *,
    counts_groups: bool,
) -> GroupForecasts:
    """Forecast every ensemble at the wanted sizes, which count rows or, with `counts_groups`, groups."""
    if sample.rows.left_out is None:
        raise DataError("groups must name a group for each row")
    per_group = sample.n_samples / sample.rows.left_out.n_sets
    sizes = np.maximum(np.round(wanted * per_group), 2.0) if counts_groups else wanted
    found = {name: _one(sample, ensemble, sizes, path, level) for name, ensemble in drawn.items()}
    return GroupForecasts(found, sizes, wanted if counts_groups else sizes / per_group)


def _one(
    sample: Sample, ensemble: DrawnEnsemble, sizes: FloatArray, path: RidgePath | None, level: float
) -> EnsembleForecast:
    if ensemble.readout_noise.any():
        raise ParameterError("readout_noise of an ensemble has no forecast by groups; use 0, or leave groups out")
    if with_silence(ensemble) is not ensemble:
        raise ParameterError(
            f"aggregation={ensemble.aggregation.name!r} of an ensemble has no forecast by groups; use 'mean' or "
            "'simplex', or leave groups out"
        )
    pilot = group_pilot(sample.rows, ensemble.plan)
    curve = forecast_groups(pilot, ensemble, np.append(sizes, np.inf), path, level)
    variables = {name: values[:-1] for name, values in curve.variables().items()}
    shown = curve.wanted[:-1]
    if sample.class_names is not None:
        variables |= misclassification_of_groups(pilot, shown, sample.rows.targets, level)
    reach = pilot.pilot.reach(shown.ridges[np.argmax(sizes)])
    limit = float(curve.prediction_error[-1])
    return EnsembleForecast(ensemble.aggregation.name, variables, shown.ridges, reach, limit, {})

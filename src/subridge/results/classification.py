"""The schema of simulated classification: shares of wrong classes along learning curves."""

import numpy as np

from subridge.arrays.types import FloatArray, Json
from subridge.results.schemas import TrialSchema, result_attributes


def classification(
    n_trials: int,
    n_members: tuple[int, ...],
    ridges: FloatArray,
    readout_noises: FloatArray,
    n_samples: tuple[int, ...],
    attributes: dict[str, Json],
) -> TrialSchema:
    """Lay out ``misclassification`` (trial, n_members, ridge, readout_noise, n_samples); every axis is kept."""
    axes = {
        "trial": np.arange(n_trials),
        "n_members": np.asarray(n_members),
        "ridge": np.asarray(ridges),
        "readout_noise": np.asarray(readout_noises),
        "n_samples": np.asarray(n_samples),
    }
    return TrialSchema(
        {name: len(values) for name, values in axes.items()},
        {"misclassification": tuple(axes)},
        {name: ((name,), values) for name, values in axes.items()},
        result_attributes("classification", 1, "Shares of test samples that ensembles misclassify.", **attributes),
    )

"""The schema of simulated learning curves."""

import numpy as np

from subridge.arrays.types import FloatArray, IntArray, Json
from subridge.results.schemas import TrialSchema, result_attributes

_PER_MEMBER = {"pairs": ("member", "other_member"), "member_weights": ("member",)}


def simulated_curves(
    n_trials: int,
    n_samples: tuple[int, ...],
    ridges: FloatArray | None,
    readout_noises: FloatArray | None,
    n_members: int,
    also: tuple[str, ...],
    attributes: dict[str, Json],
) -> TrialSchema:
    """Lay out ``risk`` and ``training_error`` (trial, ridge, readout_noise, n_samples), and what `also` names.

    That may be ``pairs`` and ``member_weights``.

    Ridges and noises have shape (n, k); a sweep that is None has no dimension, and one that differs by member is
    numbered, with its values beside it as ``member_ridge`` or ``member_readout_noise``. The attributes describe the
    experiment.
    """
    swept = {name: table for name, table in (("ridge", ridges), ("readout_noise", readout_noises)) if table is not None}
    curve = ("trial", *swept, "n_samples")
    dimensions = {"risk": curve, "training_error": curve}
    coordinates: dict[str, tuple[tuple[str, ...], FloatArray | IntArray]] = {
        "trial": (("trial",), np.arange(n_trials)),
        "n_samples": (("n_samples",), np.asarray(n_samples)),
    }
    for name, table in swept.items():
        if (table == table[:, :1]).all():
            coordinates[name] = ((name,), table[:, 0].copy())
        else:
            coordinates[name] = ((name,), np.arange(len(table)))
            coordinates[f"member_{name}"] = ((name, "member"), table.copy())
    return TrialSchema(
        {"trial": n_trials, "n_samples": len(n_samples), "member": n_members, "other_member": n_members}
        | {name: len(table) for name, table in swept.items()},
        dimensions | {name: (*curve, *_PER_MEMBER[name]) for name in also},
        coordinates,
        result_attributes("simulated_curves", 1, "Exact risks of trained ridge ensembles by trial.", **attributes),
    )

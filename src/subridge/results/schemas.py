"""Datasets of results: their attributes, dimensions and variables.

A simulation lays out its dataset first, with arrays of NaN that take no memory, and fills it later. Other functions
return the complete dataset.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import xarray as xr

from subridge import __version__
from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, Json
from subridge.model.checks import of_kind
from subridge.model.errors import ParameterError, listed

# Attributes that every file format can hold; netCDF has neither booleans nor lists of texts.
Attribute: TypeAlias = str | int | float

# Further dimensions of optional variables of a simulation.
_PER_MEMBER = {"pairs": ("member", "other_member"), "member_weights": ("member",)}
# Variables of the demo: risks of trained ensembles, risks by theory at the same points and along a line, and sizes of
# members.
_DEMO = {
    "experiment": ("ensemble", "trial", "n_samples"),
    "theory_at_points": ("ensemble", "n_samples"),
    "theory": ("ensemble", "dense_samples"),
    "subset_sizes": ("ensemble", "member"),
}


def result_attributes(schema: str, schema_version: int, description: str, /, **values: Json) -> dict[str, Attribute]:
    """Make the attributes of a result: a schema such as "phase_diagram", its version, and a description in a sentence.

    The version grows when names or meanings of variables change. Further values are converted to types that every file
    format can hold: a boolean becomes 0 or 1; None and nested values become JSON text.
    """
    found: dict[str, Attribute] = {
        "schema": schema,
        "schema_version": schema_version,
        "subridge_version": __version__,
        "description": description,
    }
    for name, value in values.items():
        plain = int(value) if isinstance(value, bool) else value
        found[name] = plain if isinstance(plain, str | int | float) else json.dumps(plain, ensure_ascii=False)
    return found


def mean_and_error(values: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Mean over trials and its standard error."""
    return values.mean("trial"), values.std("trial", ddof=1) / values.sizes["trial"] ** 0.5


def require_variables(name: str, dataset: xr.Dataset, *variables: str) -> None:
    """Refuse anything but a dataset with these variables or coordinates.

    >>> require_variables("curves", xr.Dataset(), "risk")
    Traceback (most recent call last):
    subridge.model.errors.ParameterError: curves has no risk; give the dataset that a function of subridge returned
    """
    if hasattr(dataset, "to_dataset"):  # a `Risk`, or a DataArray
        raise ParameterError(
            f"{name} must be a Dataset, got {type(dataset).__name__}; its method to_dataset makes one, given the names "
            "of its axes"
        )
    of_kind(name, dataset, xr.Dataset)
    if lacking := [each for each in variables if each not in dataset.variables]:
        raise ParameterError(f"{name} has no {listed(lacking)}; give the dataset that a function of subridge returned")


def simulated_curves(
    n_trials: int,
    n_samples: tuple[int, ...],
    ridges: FloatArray | None,
    readout_noises: FloatArray | None,
    n_members: int,
    also: tuple[str, ...],
    attributes: dict[str, Json],
) -> xr.Dataset:
    """Lay out ``risk`` and ``training_error`` (trial, ridge, readout_noise, n_samples), and the variables in `also`.

    `also` may hold ``pairs`` and ``member_weights``. Ridges and noises have shape (n, k). A sweep that is None has no
    dimension. A sweep whose values differ by member is numbered, and its values are the coordinate ``member_ridge`` or
    ``member_readout_noise``. The attributes describe the experiment.
    """
    swept = {name: table for name, table in (("ridge", ridges), ("readout_noise", readout_noises)) if table is not None}
    coordinates: dict[str, object] = {"trial": np.arange(n_trials), "n_samples": np.asarray(n_samples)}
    shape = [n_trials, *map(len, swept.values()), len(n_samples)]
    for name, table in swept.items():
        coordinates[name] = table[:, 0]
        if (table != table[:, :1]).any():
            coordinates |= {name: np.arange(len(table)), f"member_{name}": ((name, "member"), table)}
    variables = {}
    for name in ("risk", "training_error", *also):
        further = _PER_MEMBER.get(name, ())
        empty = np.broadcast_to(np.nan, shape + [n_members] * len(further))
        variables[name] = (("trial", *swept, "n_samples", *further), empty)
    return xr.Dataset(
        variables,
        coordinates,
        result_attributes("simulated_curves", 1, "Exact risks of trained ridge ensembles by trial.", **attributes),
    )


def classification(
    n_trials: int,
    n_members: tuple[int, ...],
    ridges: FloatArray,
    readout_noises: FloatArray,
    n_samples: tuple[int, ...],
    attributes: dict[str, Json],
) -> xr.Dataset:
    """Lay out ``misclassification`` (trial, n_members, ridge, readout_noise, n_samples); every axis is kept."""
    axes = {
        "trial": np.arange(n_trials),
        "n_members": np.asarray(n_members),
        "ridge": ridges,
        "readout_noise": readout_noises,
        "n_samples": np.asarray(n_samples),
    }
    return xr.Dataset(
        {"misclassification": (tuple(axes), np.broadcast_to(np.nan, [len(values) for values in axes.values()]))},
        axes,
        result_attributes("classification", 1, "Shares of test samples that ensembles misclassify.", **attributes),
    )


def demo_curves(
    variables: Mapping[str, Sequence[ArrayLike]], coordinates: Mapping[str, ArrayLike], *, n_features: int, command: str
) -> xr.Dataset:
    """Theory and experiment for several ensembles on one problem; each variable has one array per ensemble."""
    return xr.Dataset(
        {name: (dimensions, variables[name]) for name, dimensions in _DEMO.items()},
        coordinates,
        result_attributes(
            "demo", 1, "Risks of ridge ensembles, predicted and trained.", n_features=n_features, command=command
        ),
    )


def forecasts(
    rows: Mapping[str, Mapping[str, FloatArray | BoolArray]],
    coordinates: Mapping[str, object],
    own: Mapping[str, Mapping[str, str]],
    attributes: dict[str, Json],
) -> xr.Dataset:
    """Put the forecasts of several ensembles side by side. All have the same variables of the same shapes.

    Variables are (ensemble, n_samples), but ``reach`` is (ensemble, member) and ``irreducible_error`` (ensemble). If
    there is a coordinate ``target``, it is the second dimension. `own` are attributes of variables.
    """
    first = ("ensemble", "target") if "target" in coordinates else ("ensemble",)
    other = {"reach": (*first, "member"), "irreducible_error": first}
    return xr.Dataset(
        {
            name: (
                other.get(name, (*first, "n_samples")),
                np.stack([row[name] for row in rows.values()]),
                own.get(name, {}),
            )
            for name in next(iter(rows.values()))
        },
        {"ensemble": list(rows), **coordinates},
        result_attributes("forecast", 1, "Errors of ridge ensembles at other sample sizes.", **attributes),
    )


def best_ensemble_sizes(errors: xr.DataArray, tolerance: float) -> xr.Dataset:
    """Find the best number of members from mean errors with a dimension ``n_members``, and those nearly as good.

    The dataset has ``optimal_n_members`` (the smallest k with the least error), ``smallest`` and ``largest`` k whose
    error is within `tolerance` of the best, and ``best_error``.

    >>> errors = xr.DataArray([0.3, 0.2, 0.205], {"n_members": [1, 4, 16]}, "n_members")
    >>> best = best_ensemble_sizes(errors, 0.01)
    >>> int(best.optimal_n_members), int(best.smallest), int(best.largest)
    (4, 4, 16)
    """
    best = errors.min("n_members")
    k = errors.n_members
    near = k.where(errors <= best + tolerance)
    return xr.Dataset(
        {
            "optimal_n_members": k.where(errors == best).min("n_members"),
            "smallest": near.min("n_members"),
            "largest": near.max("n_members"),
            "best_error": best,
        }
    )


def feature_statistics(X: ArrayLike, y: ArrayLike, n_images: int, n_fitted: int) -> xr.Dataset:
    """Statistics of centred features of images X, shape (n, M), with classes y, shape (n,).

    The dataset has ``gram`` (image, other_image), Φ Φᵀ/M of centred features Φ of `n_images` spread evenly over the
    list sorted by class; ``label`` (image); ``covariance`` (feature, other_feature); ``eigenvalue`` (rank); and the
    scalars ``power`` and ``prefactor`` of eigenvalue ≈ prefactor · rank^power, by least squares of logarithms of the
    `n_fitted` largest.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 50)) * np.arange(1, 51) ** -0.5
    >>> stats = feature_statistics(X, np.arange(4000) % 2, 10, 40)
    >>> abs(float(stats.power) + 1) < 0.1
    True
    """
    labels = np.asarray(y)
    centred = np.array(X, dtype=float)
    centred -= centred.mean(axis=0)
    covariance = centred.T @ centred / len(centred)
    eigenvalues = np.linalg.eigvalsh(covariance)[::-1]
    order = labels.argsort(kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(n_images, len(order))).astype(int)]
    ranks = np.arange(1, len(eigenvalues) + 1)
    n = min(n_fitted, int((eigenvalues > 0).sum()))
    power, offset = np.polyfit(np.log(ranks[:n]), np.log(eigenvalues[:n]), 1)
    return xr.Dataset(
        {
            "gram": (("image", "other_image"), centred[chosen] @ centred[chosen].T / centred.shape[1]),
            "label": ("image", labels[chosen]),
            "covariance": (("feature", "other_feature"), covariance),
            "eigenvalue": ("rank", eigenvalues),
            "power": float(power),
            "prefactor": float(np.exp(offset)),
            "n_fitted": n,
        },
        {"rank": ranks},
        result_attributes("feature_statistics", 1, "Gram matrix, covariance and spectrum of centred features."),
    )

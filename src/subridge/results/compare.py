"""Does the theory agree with the experiment? Point by point, with error bars and a finite-size allowance."""

import json

import numpy as np
import xarray

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.errors import DataError, ParameterError
from subridge.model.risk import Risk
from subridge.results.schemas import Attribute, result_attributes

# |Δ| ≤ 4 SE + 1.5 E/min_r |P - N_r|: theory is asymptotic; near a threshold its finite-size bias is about E/|P - N_r|.
_STANDARD_ERRORS = 4.0
_FINITE_SIZE = 1.5
# Samples from a threshold at which a point is listed apart: there the mean over trials may not even exist.
_NEAR = 2
# Of the signal's power: two risks that differ by less are both what rounding leaves of a perfect fit.
_ROUNDING = 1e-14
# A standard error above this share of the risk cannot refute much.
_PRECISE = 0.02


def compare(theory: Risk | xarray.DataArray | ArrayLike, experiment: xarray.Dataset) -> xarray.Dataset:
    """Compare predicted risks with simulated ones.

    Parameters
    ----------
    theory : Risk, xarray.DataArray or array_like, shape (...)
        Predicted E_g, broadcastable to the experiment's grid (ridge, readout_noise, n_samples).
    experiment : xarray.Dataset
        From `simulate`, with at least two trials.

    Returns
    -------
    xarray.Dataset
        On the experiment's grid: ``theory``, ``mean``, ``standard_error``, ``deviation`` = mean - theory, ``z`` =
        deviation/standard_error, ``allowance`` (``4 SE + 1.5 E/min_r |P - N_r|``, and rounding: 1e-14 of the signal's
        power), ``agrees``, and ``near_threshold``
        where ``|P - N_r|`` ≤ 2 for some member: such points are listed but not judged. Points of one curve share
        samples, so ``correlation`` (n_samples × other_n_samples) is estimated over trials, and ``curve_z``, the mean
        deviation of each curve in units of its standard error, takes it into account. Attributes: ``verdict`` ("agree",
        "disagree", or "undecided" when most standard errors exceed 2 %), ``largest_deviation`` (in units of the
        allowance) and where it is, ``n_judged``, ``n_outside``.

    Raises
    ------
    ParameterError
        If there is one trial only, or the theory is on another grid than the experiment.
    DataError
        If risks of the experiment are NaN.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> ensemble = sr.Ensemble(sr.subsets.equal(1, 100, seed=0), ridge=1.0)
    >>> problem = sr.EquicorrelatedProblem()
    >>> curves = sr.simulate(problem, ensemble, [50, 200], 80, redraw=("data", "teacher"), progress=False)
    >>> theory = sr.risk(problem, ensemble, [0.5, 2.0])
    >>> sr.compare(theory, curves).attrs["verdict"]
    'agree'
    """
    risk = experiment["risk"]
    if experiment.sizes["trial"] < 2:
        raise ParameterError("an experiment needs at least two trials to have error bars, got 1; raise n_trials")
    if bool(risk.isnull().any()):
        raise DataError("the experiment's risks contain NaN; drop the trials that failed")
    mean = risk.mean("trial")
    predicted = _on_grid(theory, mean)
    standard_error = risk.std("trial", ddof=1) / np.sqrt(risk.sizes["trial"])
    distance = _distance_to_threshold(experiment)
    near = distance <= _NEAR
    rounding = _rounding(experiment)
    with np.errstate(divide="ignore", invalid="ignore"):  # exact points have no error, thresholds no distance
        allowance = _STANDARD_ERRORS * standard_error + _FINITE_SIZE * abs(predicted) / distance + rounding
        deviation = mean - predicted
        z = deviation / standard_error
        relative = abs(deviation) / allowance
    # An infinite prediction has an infinite allowance; away from thresholds it is simply wrong.
    agrees = (abs(deviation) <= allowance) & np.isfinite(predicted)
    judged = ~near.broadcast_like(mean)
    correlation, curve_z = _along_curve(risk, deviation, judged)
    outside = int((judged & ~agrees).sum())
    is_precise = standard_error <= _PRECISE * abs(mean) + rounding
    precise = float(is_precise.where(judged).mean()) if bool(judged.any()) else 0.0
    verdict = "disagree" if outside else ("agree" if precise >= 0.5 else "undecided")
    return xarray.Dataset(
        {
            "theory": predicted,
            "mean": mean,
            "standard_error": standard_error,
            "deviation": deviation,
            "z": z,
            "allowance": allowance,
            "agrees": agrees,
            "near_threshold": near,
            "correlation": correlation,
            "curve_z": curve_z,
        },
        attrs=result_attributes(
            "comparison",
            1,
            "Predicted risks against simulated ones, point by point.",
            verdict=verdict,
            n_judged=int(judged.sum()),
            n_outside=outside,
            share_precise=precise,
            **_largest(relative.where(judged)),
        ),
    )


def _rounding(experiment: xarray.Dataset) -> float:
    """What is left of a perfect fit: rounding of the signal or of the largest finite risk, below which all is equal."""
    risk = experiment["risk"]
    largest = float(abs(risk.where(np.isfinite(risk))).max().fillna(0.0))
    return _ROUNDING * max(largest, float(experiment.attrs.get("signal_power", 0.0)))


def _on_grid(theory: Risk | xarray.DataArray | ArrayLike, mean: xarray.DataArray) -> xarray.DataArray:
    values = theory.total if isinstance(theory, Risk) else theory
    if isinstance(values, xarray.DataArray):
        if not set(values.dims) <= set(mean.dims):
            raise ParameterError(f"theory has dimensions {values.dims} but the experiment has {mean.dims}")
        try:
            xarray.align(values, mean, join="exact")
        except ValueError as error:
            raise ParameterError("theory is on other coordinates; predict at the experiment's") from error
        return values.broadcast_like(mean).transpose(*mean.dims).astype(float)
    try:
        table = np.broadcast_to(np.asarray(values, dtype=np.float64), mean.shape)
    except ValueError as error:
        raise ParameterError(
            f"theory of shape {np.shape(values)} does not fit the experiment's grid {dict(mean.sizes)}"
        ) from error
    return mean.copy(data=table.copy())


def _distance_to_threshold(experiment: xarray.Dataset) -> xarray.DataArray:
    """min_r |P - N_r| for every P."""
    if "subset_sizes" not in experiment.attrs:
        raise ParameterError("experiment has no attribute subset_sizes; pass a Dataset as returned by simulate")
    thresholds = np.asarray(json.loads(experiment.attrs["subset_sizes"]))
    P = experiment["n_samples"]
    return P.copy(data=np.abs(P.values[:, None] - thresholds).min(axis=1).astype(np.float64))


def _along_curve(
    risk: xarray.DataArray, deviation: xarray.DataArray, judged: xarray.DataArray
) -> tuple[xarray.DataArray, xarray.DataArray]:
    """Correlation of the points of each curve, and the z of the curve's mean deviation, over judged points."""
    order = [d for d in risk.dims if d not in ("trial", "n_samples")]
    values: FloatArray = risk.transpose(*order, "trial", "n_samples").values
    centred = values - values.mean(axis=-2, keepdims=True)
    covariance = np.swapaxes(centred, -1, -2) @ centred / (values.shape[-2] - 1)
    scale = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / (scale[..., :, None] * scale[..., None, :])
    keep = judged.transpose(*order, "n_samples").values.astype(np.float64)
    gap = np.where(keep > 0, deviation.transpose(*order, "n_samples").values, 0.0).sum(axis=-1)
    variance = np.einsum("...p,...pq,...q->...", keep, covariance, keep) / values.shape[-2]
    with np.errstate(divide="ignore", invalid="ignore"):
        curve_z = gap / np.sqrt(variance)
    coordinates = {name: risk.coords[name] for name in (*order, "n_samples") if name in risk.coords}
    matrix = xarray.DataArray(correlation, dims=(*order, "n_samples", "other_n_samples"), coords=coordinates)
    swept = {name: values for name, values in coordinates.items() if name != "n_samples"}
    return matrix, xarray.DataArray(curve_z, dims=tuple(order), coords=swept)


def _largest(relative: xarray.DataArray) -> dict[str, Attribute]:
    """The worst judged point, as attributes."""
    if not bool(relative.notnull().any()):
        return {"largest_deviation": 0.0, "largest_deviation_at": "{}"}
    place = relative.fillna(-1.0).argmax(...)
    worst = relative.isel(place)
    where = {str(name): float(worst.coords[name]) for name in relative.dims if name in worst.coords}
    return {"largest_deviation": float(worst), "largest_deviation_at": json.dumps(where)}

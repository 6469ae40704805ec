"""Whether theory agrees with an experiment, point by point, with error bars and a finite-size allowance."""

import json

import numpy as np
import xarray

from subridge.arrays.types import ArrayLike
from subridge.model.checks import extended_non_negative
from subridge.model.errors import DataError, ParameterError
from subridge.model.risk import Risk
from subridge.results.schemas import mean_and_error, require_variables, result_attributes

# |Δ| ≤ 4 SE + 1.5 E/min_r |P - N_r|: theory is asymptotic; near a threshold its finite-size bias is about E/|P - N_r|.
_STANDARD_ERRORS = 4.0
_FINITE_SIZE = 1.5
# Points within this many samples of a threshold are not judged, because the mean over trials may not exist there.
_NEAR = 2
# Share of the signal's power: risks that differ by less are both rounding error of a perfect fit.
_ROUNDING = 1e-14
# Relative standard error above which a point is too uncertain for the verdict "agree".
_PRECISE = 0.02


def compare(theory: Risk | xarray.DataArray | ArrayLike, experiment: xarray.Dataset) -> xarray.Dataset:
    """Compare predicted risks with simulated ones.

    Parameters
    ----------
    theory : Risk, xarray.DataArray or array_like, shape (...)
        Predicted E_g, broadcastable to the experiment's grid (ridge, readout_noise, n_samples).
    experiment : xarray.Dataset
        Result of `simulate`, with at least two trials.

    Returns
    -------
    xarray.Dataset
        On the experiment's grid: ``theory``, ``mean``, ``standard_error``, ``deviation`` = mean - theory, ``z`` =
        deviation/standard_error and ``agrees``. The ``allowance`` is ``4 SE + 1.5 E/min_r |P - N_r|``, and 1e-14 of the
        signal's power for rounding. Points with ``|P - N_r|`` ≤ 2 for some member are not judged
        (``near_threshold``).
        Points of one curve share samples, so ``correlation`` (n_samples × other_n_samples) is estimated over trials.
        ``curve_z``, the mean deviation of each curve in units of its standard error, accounts for it. Attributes:
        ``verdict`` ("agree", "disagree", or "undecided" when most standard errors exceed 2 %), ``largest_deviation``
        (in units of the allowance) and where it is, ``n_judged``, ``n_outside``.

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
    require_variables("experiment", experiment, "risk")
    risk = experiment["risk"] if "n_samples" in experiment.dims else experiment["risk"].expand_dims("n_samples", -1)
    if risk.sizes.get("trial", 1) < 2:
        raise ParameterError("an experiment needs at least two trials to have error bars, got 1; raise n_trials")
    if risk.isnull().any():
        raise DataError("the experiment's risks contain NaN; drop the trials that failed")
    mean, standard_error = mean_and_error(risk)
    predicted = _on_grid(theory, mean)
    if "subset_sizes" not in experiment.attrs:
        raise ParameterError("experiment has no attribute subset_sizes; pass a Dataset as returned by simulate")
    thresholds = xarray.DataArray(json.loads(experiment.attrs["subset_sizes"]), dims="r")
    seen = xarray.DataArray(json.loads(experiment.attrs.get("row_fractions", "[1]")), dims="s")
    distance = abs(risk["n_samples"] * seen - thresholds).min(("r", "s"))  # min_r |P_r - N_r|
    near = distance <= _NEAR
    largest = float(abs(risk.where(np.isfinite(risk))).max().fillna(0.0))
    rounding = _ROUNDING * max(largest, float(experiment.attrs.get("signal_power", 0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):  # a standard error or a distance may be zero
        allowance = (
            _STANDARD_ERRORS * standard_error
            + (_FINITE_SIZE * abs(predicted) / distance).where(distance > 0, np.inf)
            + rounding
        )
        deviation = mean - predicted
        z = deviation / standard_error
        relative = (abs(deviation) / allowance).where(~near)
    # An infinite prediction has an infinite allowance, but is wrong away from thresholds.
    agrees = (abs(deviation) <= allowance) & np.isfinite(predicted)
    judged = ~near.broadcast_like(mean)
    correlation, curve_z = _along_curve(risk, deviation, judged)
    outside = int((judged & ~agrees).sum())
    is_precise = standard_error <= _PRECISE * abs(mean) + rounding
    precise = float(is_precise.where(judged).mean()) if judged.any() else 0.0
    worst = 0.0
    place = {}
    if relative.notnull().any():
        at = relative.isel(relative.fillna(-1.0).argmax(...))
        worst = float(at)
        place = {str(name): float(at[name]) for name in relative.dims if name in at.coords}
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
            verdict="disagree" if outside else ("agree" if precise >= 0.5 else "undecided"),
            n_judged=int(judged.sum()),
            n_outside=outside,
            share_precise=precise,
            largest_deviation=worst,
            largest_deviation_at=place,
        ),
    )


def _on_grid(theory: Risk | xarray.DataArray | ArrayLike, mean: xarray.DataArray) -> xarray.DataArray:
    """The prediction, broadcast to the grid of the experiment."""
    checked = extended_non_negative("theory", theory.total if isinstance(theory, Risk) else theory)
    values = theory if isinstance(theory, xarray.DataArray) else checked
    try:
        if isinstance(values, np.ndarray):
            values = mean.copy(data=np.broadcast_to(values, mean.shape))
        xarray.align(values, mean, join="exact")
        return values.broadcast_like(mean).transpose(*mean.dims).astype(float)
    except ValueError as error:
        raise ParameterError(
            f"theory of shape {np.shape(values)} does not fit the experiment's grid {dict(mean.sizes)}; predict at the "
            "experiment's coordinates"
        ) from error


@np.errstate(divide="ignore", invalid="ignore")
def _along_curve(
    risk: xarray.DataArray, deviation: xarray.DataArray, judged: xarray.DataArray
) -> tuple[xarray.DataArray, xarray.DataArray]:
    """Correlation of the points of each curve, and z of the curve's mean deviation over judged points."""
    other = {"n_samples": "other_n_samples"}
    beside = risk.rename(other)
    keep = judged.astype(float)
    covariance = xarray.cov(risk, beside, dim="trial")
    variance = xarray.dot(covariance, keep, keep.rename(other), dim=("n_samples", "other_n_samples"))
    gap = deviation.where(judged, 0.0).sum("n_samples", skipna=False)
    correlation = xarray.corr(risk, beside, dim="trial").drop_vars("other_n_samples")
    return correlation, gap / np.sqrt(variance / risk.sizes["trial"])

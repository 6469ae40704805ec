"""Two sentences that say what a ranking of ensembles means."""

import numpy as np
import xarray

from subridge.forecasting.advice.candidates import SINGLE
from subridge.model.checks import counted
from subridge.results.numbers import interval, percent, plain

_MANY = 2.0  # beyond this share more, the error is told as a multiple


def reasons(table: xarray.Dataset) -> tuple[str, str]:
    """Say what to do, and what the data are like that make it so, with numbers from the table of `Advice`."""
    return _what(table), _why(table)


def _what(table: xarray.Dataset) -> str:
    best, single = table.isel(candidate=0), table.sel(candidate=SINGLE)
    size = counted(round(table.attrs["n_samples"]), "sample")
    features = counted(int(table.attrs["n_features"]), "feature")
    one = f"one ridge on {'its' if features.startswith('1 ') else 'all'} {features}"
    if str(best.candidate.values) == SINGLE:
        others = table.isel(candidate=table.candidate.values != SINGLE)
        if not others.sizes["candidate"]:
            return f"With {size}, {one} (λ = {plain(float(single.ridge))}) is forecast to err by {_interval(single)}."
        second = others.isel(candidate=0)
        leading = others.isel(candidate=int(np.nanargmin(others.prediction_error.values)))
        if float(leading.gain) >= 0.0005:  # else it is told as 0.0 %
            ahead = percent(float(leading.gain), float(leading.gain_standard_error))
            return (
                f"Do not ensemble: with {size}, {one} (λ = {plain(float(single.ridge))}) is forecast to err by "
                f"{_interval(single)}; {leading.candidate.values} may err {ahead} less, but this pilot cannot tell."
            )
        return (
            f"Do not ensemble: with {size}, {one} (λ = {plain(float(single.ridge))}) is forecast to err by "
            f"{_interval(single)}, and the best ensemble, {second.candidate.values}, {_more(second)}."
        )
    lead = percent(float(best.gain), float(best.gain_standard_error))
    choice = f"{best.candidate.values} (λ = {plain(float(best.ridge))})"
    return (
        f"Ensemble: with {size}, {choice} is forecast to err by {_interval(best)}, {lead} less than {one} "
        f"({plain(float(single.prediction_error))})."
    )


def _why(table: xarray.Dataset) -> str:
    best, attributes = table.isel(candidate=0), table.attrs
    noise, variance = attributes["label_noise"] ** 2, attributes["target_variance"]
    share = f", {100 * min(noise / variance, 1.0):.0f} % of their variance" if variance > 0 else ""
    parts = [f"Noise of the labels (ζ² = {plain(noise)}{share}) stays in every forecast"]
    eta = attributes["readout_noise"]
    if eta > 0:
        k = int(best.n_members)
        parts.append(f"readout noise (η² = {plain(eta**2)}) counts once for one ridge and 1/{k} in a mean of {k}")
    place = attributes["n_samples"] / attributes["n_features"]
    parts.append(f"there are {plain(place, 2)} samples for each feature")
    if int(best.n_members) > 1:
        near = plain(float(best.nearest_threshold), 2)
        parts.append(f"the member nearest to its threshold has {near} features for each sample")
    if str(best.aggregation.values) != "mean":
        k, effective = int(best.n_members), float(best.effective_members)
        parts.append(f"the weights leave {plain(effective, 2)} of {k} members in effect")
    return ", ".join(parts[:-1]) + (", and " if len(parts) > 1 else "") + parts[-1] + "."


def _more(row: xarray.Dataset) -> str:
    """How much more a candidate errs than one ridge."""
    share = -float(row.gain)
    if share > _MANY:
        return f"{plain(1 + share, 2)} times as much"
    return f"{percent(share, float(row.gain_standard_error))} more"


def _interval(row: xarray.Dataset) -> str:
    told = interval(*(float(row[f"prediction_error{end}"]) for end in ("", "_lower", "_upper")))
    return told if bool(row.in_reach) else f"{told[:-1]}, extrapolated)"

"""Two sentences that say what a ranking of ensembles means."""

import xarray

from subridge.forecasting.advice.candidates import SINGLE


def reasons(table: xarray.Dataset) -> tuple[str, str]:
    """Say what to do, and what the data are like that make it so, with numbers from the table of `Advice`."""
    return _what(table), _why(table)


def _what(table: xarray.Dataset) -> str:
    best, single = table.isel(candidate=0), table.sel(candidate=SINGLE)
    size = f"{table.attrs['n_samples']:.0f} samples"
    one = f"one ridge on all {table.attrs['n_features']} features at λ = {float(single.ridge):.2g}"
    if str(best.candidate.values) == SINGLE:
        others = table.isel(candidate=table.candidate.values != SINGLE)
        if not others.sizes["candidate"]:
            return f"With {size}, {one} is forecast to err {_interval(single)}."
        second = others.isel(candidate=0)
        behind = _percent(-float(second.gain), float(second.gain_standard_error))
        return (
            f"Do not ensemble, tune the ridge: with {size}, {one} is forecast to err {_interval(single)}, "
            f"the best ensemble ({second.candidate.values}) {behind} more."
        )
    lead = _percent(float(best.gain), float(best.gain_standard_error))
    choice = f"{best.candidate.values} at λ = {float(best.ridge):.2g}"
    if float(best.gain) < 2 * float(best.gain_standard_error):
        return (
            f"Ensembling hardly matters here: with {size}, {choice} is forecast to err {_interval(best)}, {lead} less "
            f"than {one}, which is within the uncertainty of that difference."
        )
    return (
        f"Ensemble: with {size}, {choice} is forecast to err {_interval(best)}, {lead} less than {one} "
        f"({float(single.prediction_error):.3g})."
    )


def _why(table: xarray.Dataset) -> str:
    best, attributes = table.isel(candidate=0), table.attrs
    noise = attributes["label_noise"] ** 2
    signal = max(attributes["target_variance"] - noise, 0.0)
    ratio = f"{noise / signal:.2g} of the signal" if signal > 0 else "all there is"
    parts = [f"Label noise is estimated at ζ² = {noise:.3g} ({ratio})"]
    eta = attributes["readout_noise"]
    if eta > 0:
        k = int(best.n_members)
        parts.append(
            f"readout noise of η² = {eta**2:.3g} per member counts once for one ridge and 1/{k} in a mean of {k}"
        )
    place = attributes["n_samples"] / attributes["n_features"]
    parts.append(f"the planned size is {place:.2g} times the interpolation threshold of all features")
    if int(best.n_members) > 1:
        parts.append(
            f"the member's threshold nearest to it lies at {float(best.nearest_threshold):.2g} times that size"
        )
    if str(best.aggregation.values) != "mean":
        parts.append(
            f"the weights amount to {float(best.effective_members):.2g} members of {int(best.n_members)}, the fewer "
            "the more unequal their subsets are in what they tell"
        )
    return "; ".join(parts) + "."


def _interval(row: xarray.Dataset) -> str:
    beyond = "" if bool(row.in_reach) else ", extrapolated"
    bounds = f"{float(row.prediction_error_lower):.3g} to {float(row.prediction_error_upper):.3g}"
    return f"{float(row.prediction_error):.3g} ({bounds}{beyond})"


def _percent(share: float, error: float) -> str:
    return f"{100 * share:.1f} ± {100 * error:.1f} %"

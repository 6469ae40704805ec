"""What is advised as a line of Python."""

import json

import xarray

SCALER = "StandardScaler(with_mean=False)"  # sparse columns and fits without intercept must not be centred
_STRATEGIES = {"equal": 'subsets="equal"', "dirichlet": 'subsets="dirichlet"', "overlapping": 'subsets="overlapping"'}


def code_of(table: xarray.Dataset) -> str | None:
    """The estimator that a table of advice puts first, as Python to paste; None for ensembles of a user's own.

    For labels of classes it is the first without weights, as a classifier votes. The subsets are drawn anew. Where
    columns were divided by their standard deviations, the line has a scaler.
    """
    classes = "class_names" in table.attrs
    usable = table.aggregation.values == "mean" if classes else table.aggregation.values != ""
    best = table.isel(candidate=int(usable.argmax()))
    strategy, k = str(best.strategy.values), int(best.n_members)
    words = [f"{k}"]
    if strategy == "given":
        return None
    if strategy != "single":
        words.append(_STRATEGIES[strategy])
    if strategy == "dirichlet":
        words.append(f"fraction_spread={float(best.fraction_spread):g}")
    if strategy == "overlapping":
        words.append(f"subset_sizes={_share(float(best.subset_fraction), int(table.attrs['n_features']))}")
    ridge, anew = float(best.ridge), chosen_anew(table)
    if not anew:
        words.append(f"ridge={ridge:.4g}")
    elif (path := given_path(table)) is not None:
        words.append(f"ridges=[{', '.join(f'{each:.4g}' for each in path)}]")
    if not classes and str(best.aggregation.values) != "mean":
        words.append(f'aggregation="{best.aggregation.values}"')
    if not table.attrs["fit_intercept"]:
        words.append("fit_intercept=False")
    line = f"RidgeEnsemble{'Classifier' if classes else 'Regressor'}({', '.join(words)})"
    if table.attrs.get("standardised"):
        line = f"make_pipeline({SCALER}, {line})"
    remarks = []
    if anew:
        remarks.append(f"chooses λ by the rows it is trained on; this pilot says {ridge:.4g}")
    elif strategy == "single" and not classes:
        after = " after the scaler" if table.attrs.get("standardised") else ""
        centred = "" if table.attrs["fit_intercept"] else ", fit_intercept=False"
        remarks.append(f"the same as Ridge(alpha={ridge * int(table.attrs['n_features']):.4g}{centred}){after}")
    if classes and not usable[0]:
        remarks.append("classifiers vote without weights: the first candidate that has none")
    return f"{line}  # {'; '.join(remarks)}" if remarks else line


def _share(fraction: float, n_features: int) -> str:
    """The share of the features that a member sees, or their number where three digits are not enough to tell it.

    >>> _share(0.5, 40), _share(1.0, 40), _share(1000 / 3001, 3001)
    ('0.5', '40', '1000')
    """
    share, size = f"{fraction:.3g}", round(fraction * n_features)
    return share if fraction < 1 and "." in share and round(float(share) * n_features) == size else str(size)


def given_path(table: xarray.Dataset) -> list[float] | None:
    """The ridges that advice was asked to choose from; None where it was free to, or where an old file does not say."""
    given = table.attrs.get("ridges", "auto")
    return None if given == "auto" else [float(ridge) for ridge in json.loads(given)]


def chosen_anew(table: xarray.Dataset) -> bool:
    """Whether an estimator should choose its ridge again: there will be more rows, and they tell all it takes.

    Readout noise is not in the rows, and of one ridge there is no choice.
    """
    more_rows = table.attrs["n_samples"] > table.attrs["n_pilot"]
    path = given_path(table)
    return bool(more_rows and table.attrs["readout_noise"] == 0 and (path is None or len(path) > 1))

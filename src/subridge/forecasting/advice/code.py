"""What is advised as a line of Python."""

import xarray

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
        words.append(f"subset_sizes={float(best.subset_fraction):.3g}")
    ridge = float(best.ridge)
    words.append(f"ridge={ridge:.4g}")
    if not classes and str(best.aggregation.values) != "mean":
        words.append(f'aggregation="{best.aggregation.values}"')
    if not table.attrs["fit_intercept"]:
        words.append("fit_intercept=False")
    line = f"RidgeEnsemble{'Classifier' if classes else 'Regressor'}({', '.join(words)})"
    if table.attrs.get("standardised"):
        line = f"make_pipeline(StandardScaler(), {line})"
    if strategy == "single" and not classes:
        after = " after the scaler" if table.attrs.get("standardised") else ""
        line += f"  # the same as Ridge(alpha={ridge * int(table.attrs['n_features']):.4g}){after}"
    if classes and not usable[0]:
        line += "  # classifiers vote without weights: the first candidate that has none"
    return line

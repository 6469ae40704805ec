"""sr.samples_needed: how many rows until an ensemble errs as little as wanted."""

from collections.abc import Mapping

import numpy as np
import xarray

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike, FloatArray, MatrixLike
from subridge.datasets.tables.target_rows import Task
from subridge.datasets.tables.targets import TargetLike, read_target
from subridge.forecasting.forecast import forecast
from subridge.model.checks import non_negative, one_number
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError
from subridge.results.schemas import result_attributes

_STEPS = 25  # sizes of the curve that is searched
_FARTHEST = 1024  # times the pilot's rows


def samples_needed(
    X: MatrixLike,
    y: TargetLike,
    error: float,
    ensembles: Mapping[str, Ensemble] | None = None,
    *,
    ridges: ArrayLike | None = None,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    seed: Seed | None = 0,
) -> xarray.Dataset:
    """Find the smallest sample size at which ensembles are forecast to err no more than `error`.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    error : float
        Wanted squared error on new labels, summed over targets, in the units of `forecast`'s ``prediction_error``.
    ensembles : mapping of str to Ensemble, optional
        Whom to ask about; default a few, as for `forecast`.
    ridges : array_like, shape (L,), or "auto", optional
        Ridges to consider, in place of the ensembles' own.
    level : float
        Probability of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" takes text, categories and booleans for labels of classes.
    fit_intercept : bool
        Ensembles with an unpenalised intercept.
    seed : int or tuple of int, optional
        Draws the subsets of strategies.

    Returns
    -------
    xarray.Dataset
        With the dimension ensemble: ``n_samples``, the smallest n′ with a forecast of at most `error`, and
        ``n_samples_lower``, ``n_samples_upper``, those of the lower and the upper bound of the interval; infinite where
        none up to 1,024 n is enough, and n/4 where fewer may be; ``in_reach``, False where the answer is extrapolated;
        ``irreducible_error``, the limit for n′ → ∞; ``answer``, a sentence.

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.

    See Also
    --------
    forecast : the curves this reads from.

    Notes
    -----
    The curve is forecast at 25 sizes from n/4 to 1,024 n with equal factors, extrapolated where it must be, and log n′
    is interpolated in log error: the answer solves ``E_g(n′) + ζ² = error``.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> y = X @ rng.standard_normal(30) + rng.standard_normal(100)
    >>> one = {"one ridge": sr.Ensemble(sr.subsets.Equal(1), ridge=0.03)}
    >>> needed = sr.samples_needed(X, y, error=1.8, ensembles=one)
    >>> bool(150 < needed.n_samples[0] < 300)
    True
    >>> str(sr.samples_needed(X, y, error=0.1, ensembles=one).answer.values[0])[:13]
    'not reachable'
    """
    wanted = one_number("error", non_negative("error", error), most=np.inf)
    if wanted == 0:
        raise ParameterError("error must be positive, got 0; no labels with noise are predicted without error")
    n = len(read_target(y))
    sizes = np.unique(np.geomspace(max(n / 4, 10), _FARTHEST * n, _STEPS).round())
    curves = forecast(
        X,
        y,
        sizes,
        ensembles,
        ridges=ridges,
        extrapolate=True,
        level=level,
        task=task,
        fit_intercept=fit_intercept,
        seed=seed,
    )
    bounds = {"": "", "_lower": "_lower", "_upper": "_upper"}
    found = {
        f"n_samples{end}": np.array([_crossing(sizes, line, wanted) for line in curves[f"prediction_error{of}"].values])
        for end, of in bounds.items()
    }
    reached = np.array(
        [
            bool(np.isfinite(size)) and bool(line[min(int(np.searchsorted(sizes, size)), len(sizes) - 1)])
            for size, line in zip(found["n_samples"], curves.in_reach.values, strict=True)
        ]
    )
    noise = float(curves.attrs["label_noise"]) ** 2
    sentences = [
        _answer(
            wanted, noise, float(limit), float(sizes[0]), *(float(found[f"n_samples{end}"][place]) for end in bounds)
        )
        for place, limit in enumerate(curves.irreducible_error.values)
    ]
    return xarray.Dataset(
        {name: ("ensemble", values) for name, values in found.items()}
        | {
            "in_reach": ("ensemble", reached),
            "irreducible_error": ("ensemble", curves.irreducible_error.values),
            "answer": ("ensemble", sentences),
        },
        {"ensemble": curves.ensemble.values},
        result_attributes(
            "samples_needed", 1, "Sample sizes at which an error is reached.", error=wanted, label_noise=noise**0.5
        ),
    )


def _crossing(sizes: FloatArray, errors: FloatArray, wanted: float) -> float:
    """The smallest size from which a curve is known to lie at or below the wanted error; infinite where none does."""
    known = np.isfinite(errors)
    sizes, errors = sizes[known], errors[known]
    below = np.flatnonzero(errors <= wanted)
    if not below.size:
        return float("inf")
    first = int(below[0])
    if first == 0 or errors[first - 1] <= errors[first]:
        return float(sizes[first])
    share = np.log(errors[first - 1] / wanted) / np.log(errors[first - 1] / errors[first])
    logs = np.log(sizes[first - 1 : first + 1])
    return float(np.ceil(np.exp(logs[0] + share * (logs[1] - logs[0]))))


def _answer(wanted: float, noise: float, limit: float, least: float, size: float, lower: float, upper: float) -> str:
    """The sentence; `least` is the smallest size of the curve."""
    if not np.isfinite(size):
        if wanted < noise:
            return f"not reachable: the label noise alone is {noise:.3g}"
        if limit <= wanted:
            return f"not within {_FARTHEST:,} times as many rows, though the limit is {limit:.3g}"
        return f"not reachable: with any number of rows this ensemble errs {limit:.3g}"
    end = f"{upper:,.0f}" if np.isfinite(upper) else "∞"
    if size <= least:
        return f"{size:,.0f} rows or fewer" + ("" if upper <= least else f" (up to {end})")
    return f"{size:,.0f} rows ({lower:,.0f} to {end})"

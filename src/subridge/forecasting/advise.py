"""sr.advise: which ensemble, how many members, which ridge, and why; or one ridge, well tuned."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike, Json, MatrixLike
from subridge.datasets.tables.target_rows import Task
from subridge.datasets.tables.targets import TargetLike
from subridge.forecasting.advice.advice import Advice
from subridge.forecasting.advice.candidates import Candidate, candidates
from subridge.forecasting.advice.ranking import AGGREGATIONS, possible_names, ranking_columns
from subridge.forecasting.advice.reasons import reasons
from subridge.forecasting.advice.screening import screened_rank
from subridge.forecasting.inputs.request import read_ensembles, read_sizes
from subridge.forecasting.inputs.ridge_path import read_ridges
from subridge.forecasting.inputs.sample import read_sample
from subridge.model.checks import items_of, non_negative, one_number, positive_integer, truth, within
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError
from subridge.results.advice import advice_table
from subridge.ridge.rows.diagnostics import tell_once


def advise(
    X: MatrixLike,
    y: TargetLike,
    n_samples: int | None = None,
    *,
    n_members: Sequence[int] = (2, 4, 8, 16, 32),
    fraction_spreads: Sequence[float] = (0.0, 0.75, 1.5),
    overlapping_fractions: Sequence[float] = (0.5,),
    ridges: ArrayLike = "auto",
    readout_noise: float = 0.0,
    level: float = 0.9,
    task: Task = "auto",
    fit_intercept: bool = True,
    ensembles: Mapping[str, Ensemble] | None = None,
    weighted: bool = True,
    standardise: bool = False,
    seed: Seed | None = 0,
) -> Advice:
    """Rank ridge ensembles by what they are forecast to err at a planned sample size.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, M)
        The pilot's features.
    y : array_like, shape (n,) or (n, C)
        Numbers, several columns for several targets; or labels of classes, which become one-hot targets.
    n_samples : int, optional
        The planned size n′; default the pilot's n.
    n_members, fraction_spreads, overlapping_fractions : sequence
        Numbers of members k; spreads of heterogeneous subsets, 0 for equal ones; share of the features that each of
        overlapping members sees.
    ridges : array_like, shape (L,), or "auto"
        Ridges to consider: every candidate takes the one of least left-out error. "auto" is a path scaled to the data.
        For a planned size beyond the pilot's, `Advice.estimator` chooses from them again.
    readout_noise : float
        η of every member, known beforehand.
    level : float
        Probability of the intervals.
    task : {"auto", "regression", "classification"}
        "auto" takes text, categories and booleans for labels of classes.
    fit_intercept : bool
        Ensembles with an unpenalised intercept.
    ensembles : mapping of str to Ensemble, optional
        Further candidates with their own readout noise, for example subsets that belong together; their ridges are
        chosen, and both equal and fitted weights of members are tried, as for the others.
    weighted : bool
        Also try fitted weights of members ("simplex", in the table "weighted"; "scaled"; "free"); False leaves them
        out.
    standardise : bool
        Divide every column by its standard deviation; `Advice.estimator` and `Advice.code` then do so too.
    seed : int or tuple of int, optional
        Draws the subsets of candidates.

    Returns
    -------
    Advice
        One tuned ridge comes first, unless a candidate in reach errs less on left-out rows by more than twice the
        standard error of the difference (2.5 times for fitted weights) and is forecast to at the planned size; of
        several the one of largest gain. The rest is ranked by the upper bound of the squared error (of one-hot scores
        for classes).

    Raises
    ------
    DataError
        If the data hold NaN or infinity, or cannot be used as given.
    ParameterError
        If a parameter lies outside its range.

    See Also
    --------
    forecast : whole learning curves of ensembles of your own.

    Notes
    -----
    Nothing is refitted. Ridges, weights and what is surely better come from exact left-out errors at the present
    size: on the same rows those of two candidates differ by far less noise than two forecasts, and the best penalty
    of a given prior does not depend on the sample size. Where few rows make a gain, its standard error counts more.
    Fitted weights are judged on rows that had no part in them; weights of any sum also by how far they overshoot at
    the planned size, where the same ridge shrinks less. The forecast of equal weights moves errors to the planned
    size. ``gain_standard_error`` tells how much of a lead is noise. On large pilots candidates get a first look
    from 400 rows and only the best of them a second from all (``rows_used``).

    Examples
    --------
    One block of features has all the signal; members that see other blocks are weighed down:

    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 80))
    >>> y = X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(120)
    >>> blocks = sr.Ensemble(sr.SubsetPlan.from_indices(np.arange(80).reshape(4, 20), 80))
    >>> advice = sr.advise(X, y, n_members=[2, 4], ensembles={"blocks": blocks})
    >>> advice.best, bool(advice.weights["blocks, weighted"][0] > 0.9)
    ('blocks, weighted', True)
    """
    sample = read_sample(X, y, task, fit_intercept, standardise=standardise)
    n = sample.n_samples
    planned = float(n) if n_samples is None else _planned(n_samples)
    weighted = truth("weighted", weighted)
    level = one_number("level", within("level", level, 0.5, 0.999))
    noise = one_number("readout_noise", non_negative("readout_noise", readout_noise))
    pool = list(
        candidates(
            np.asarray(sample.rows.column_squares() > 0),
            [positive_integer("n_members", k) for k in items_of("n_members", n_members)],
            [
                float(spread)
                for spread in non_negative("fraction_spreads", items_of("fraction_spreads", fraction_spreads)).ravel()
            ],
            [
                float(share)
                for share in within(
                    "overlapping_fractions", items_of("overlapping_fractions", overlapping_fractions), 0.0, 1.0
                ).ravel()
            ],
            noise,
            seed,
        )
    )
    given = read_ensembles(ensembles, sample.n_features, seed) if ensembles is not None else {}
    pool += [Candidate(name, "given", ensemble) for name, ensemble in given.items()]
    taken = Counter(name for each in pool for name in possible_names(each))
    clash = next((name for name, times in taken.items() if times > 1), None)
    if clash is not None:
        raise ParameterError(f"ensembles may not use the name {clash!r}, which is that of another candidate")
    path, aggregations = read_ridges(ridges, sample.rows), AGGREGATIONS if weighted else AGGREGATIONS[:1]
    ranked, label_noise = screened_rank(sample, pool, planned, path, level, aggregations)
    tell_once(warning for each in ranked for warning in each.doubts)
    attributes: dict[str, Json] = {"n_samples": planned, "level": level, "readout_noise": noise}
    attributes["standardised"] = int(standardise)
    attributes["ridges"] = "auto" if path.extensions else path.ridges.tolist()
    attributes |= sample.attributes() | label_noise.attributes()
    table = advice_table([each.name for each in ranked], ranking_columns(ranked), attributes)
    return Advice(
        table,
        reasons(table),
        {each.name: each.ensemble() for each in ranked},
        {each.name: each.present.weights for each in ranked},
    )


def _planned(n_samples: int) -> float:
    try:
        return float(read_sizes(positive_integer("n_samples", n_samples))[0])
    except ParameterError:
        raise ParameterError(f"n_samples must be one integer of at least 2 and below 1e15, got {n_samples!r}") from None

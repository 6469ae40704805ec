"""How members' outputs become one: the ways by name, and the one place where text becomes an aggregation.

To add one, subclass `Aggregation` (or `LinearAggregation`) in a file of its own and list it in `AGGREGATIONS`.
"""

from subridge.model.aggregation import (
    Aggregation,
    FittedAggregation,
    Free,
    LinearAggregation,
    Loss,
    Majority,
    Mean,
    Median,
    Scaled,
    Settled,
    Simplex,
    Summed,
    WeightedMajority,
)
from subridge.model.errors import ParameterError

AGGREGATIONS: dict[str, Aggregation] = {
    each.name: each for each in (Mean(), Scaled(), Simplex(), Free(), Median(), Majority(), Summed())
}

__all__ = [
    "AGGREGATIONS",
    "Aggregation",
    "FittedAggregation",
    "Free",
    "LinearAggregation",
    "Loss",
    "Majority",
    "Mean",
    "Median",
    "Scaled",
    "Settled",
    "Simplex",
    "Summed",
    "WeightedMajority",
    "read_aggregation",
]


def read_aggregation(value: str | Aggregation) -> Aggregation:
    """The aggregation of that name; an aggregation is passed through.

    Parameters
    ----------
    value : str or Aggregation
        "mean", "scaled", "simplex", "free" or "median"; for classes "majority" or "sum".

    Returns
    -------
    Aggregation
        As an `Ensemble` holds it.

    Raises
    ------
    ParameterError
        If there is no aggregation of that name.

    Examples
    --------
    >>> read_aggregation("median").is_linear
    False
    """
    if isinstance(value, Aggregation):
        return value
    if not isinstance(value, str) or value not in AGGREGATIONS:
        raise ParameterError(f"aggregation must be one of {', '.join(AGGREGATIONS)} or an Aggregation, got {value!r}")
    return AGGREGATIONS[value]

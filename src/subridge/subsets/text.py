"""Strategies by name: the one place where text becomes a strategy."""

from typing import ClassVar, Protocol

from subridge.model.checks import positive_integer
from subridge.model.errors import ParameterError
from subridge.model.subsets import Dirichlet, Equal, Overlapping, Projection, Strategy, StrategyOptions


class _Named(Protocol):
    name: ClassVar[str]

    @classmethod
    def from_options(cls, options: StrategyOptions) -> Strategy: ...


_CLASSES: tuple[type[_Named], ...] = (Equal, Dirichlet, Overlapping, Projection)
STRATEGIES: dict[str, type[_Named]] = {each.name: each for each in _CLASSES}


def read_strategy(name: str, options: StrategyOptions) -> Strategy:
    """The strategy of that name.

    Parameters
    ----------
    name : str
        "equal", "dirichlet", "overlapping" or "projection".
    options : StrategyOptions
        What the strategy is built from; each takes what it needs.

    Returns
    -------
    Strategy
        A way to draw subsets.

    Raises
    ------
    ParameterError
        If there is no strategy of that name.

    Examples
    --------
    >>> read_strategy("dirichlet", StrategyOptions(n_members=8, n_features=100)).n_members
    8
    """
    if name not in STRATEGIES:
        raise ParameterError(f"subsets must be one of {', '.join(STRATEGIES)} when it is text, got {name!r}")
    positive_integer("n_members", options.n_members)
    return STRATEGIES[name].from_options(options)

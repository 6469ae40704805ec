"""Equal disjoint subsets."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from subridge.model.checks import positive_integer
from subridge.model.fingerprint import Fingerprinted, stream
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import MOST_MEMBERS, RandomState, StrategyOptions, disjoint_plan


@dataclass(frozen=True, eq=False)
class Equal(Fingerprinted):
    """Disjoint subsets, as equal as integers allow; every feature is used.

    Parameters
    ----------
    n_members : int
        k.

    Raises
    ------
    ParameterError
        If `n_members` is no positive integer.

    Examples
    --------
    >>> Equal(3).draw(10, seed=0).subset_sizes
    array([4, 3, 3])
    >>> Equal.from_options(StrategyOptions(n_members=3, n_features=10)).n_members
    3
    """

    n_members: int
    name: ClassVar[str] = "equal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_members", positive_integer("n_members", self.n_members, MOST_MEMBERS))

    @classmethod
    def from_options(cls, options: StrategyOptions) -> "Equal":
        """The strategy that options of text ask for.

        Parameters
        ----------
        options : StrategyOptions
            Those that this strategy has no use for are left alone.

        Returns
        -------
        Equal
            A strategy.
        """
        return cls(options.n_members)

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        """Draw who sees which of M features.

        Parameters
        ----------
        n_features : int
            M.
        seed : int or numpy.random.Generator, optional
            Where the subsets are drawn from; None draws others every time.

        Returns
        -------
        SubsetPlan
            k members that share nothing and leave nothing out.

        Raises
        ------
        SubsetError, ParameterError
            If there are fewer features than members.
        """
        return disjoint_plan(np.full(self.n_members, 1.0), n_features, stream(seed))


def equal(n_members: int, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw disjoint subsets, as equal as integers allow, that use every feature.

    Parameters
    ----------
    n_members, n_features : int
        k and M, k ≤ M.
    seed : int or numpy.random.Generator, optional
        Where the subsets are drawn from; None draws others every time.

    Returns
    -------
    SubsetPlan
        k members that share nothing and leave nothing out.

    Raises
    ------
    SubsetError, ParameterError
        If there are fewer features than members, or a number is no positive integer.

    See Also
    --------
    dirichlet : disjoint subsets of unequal size.
    overlapping : members that share features.

    Examples
    --------
    >>> equal(3, 10, seed=0).subset_sizes
    array([4, 3, 3])
    """
    return Equal(n_members).draw(n_features, seed)

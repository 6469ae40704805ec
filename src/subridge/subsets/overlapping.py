"""Members that draw their features independently of each other."""

from typing import ClassVar

import numpy as np

from subridge.arrays.types import ArrayLike
from subridge.model.checks import positive_integer
from subridge.model.errors import SubsetError
from subridge.model.fingerprint import stream
from subridge.model.plan import MOST_FEATURES, SubsetPlan
from subridge.model.subsets import RandomState, Sized, whole_sizes


class Overlapping(Sized):
    """Each member draws its features independently of the others, without repeats inside a member.

    Parameters
    ----------
    subset_sizes : tuple of int
        N_r, one per member.

    Examples
    --------
    >>> from subridge.subsets import StrategyOptions
    >>> Overlapping.from_options(StrategyOptions(n_members=2, n_features=10, subset_sizes=0.3)).subset_sizes
    (3, 3)
    >>> strategy = Overlapping((2, 3))
    >>> strategy.n_members
    2
    >>> strategy.draw(5, seed=0).subset_sizes
    array([2, 3])
    """

    name: ClassVar[str] = "overlapping"

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
            k members that may share features.

        Raises
        ------
        SubsetError, ParameterError
            If a member is to see more features than there are, or a size is no positive integer.
        """
        M, rng = positive_integer("n_features", n_features, MOST_FEATURES), stream(seed)
        if max(self.subset_sizes) > M:
            raise SubsetError(f"subset_sizes up to {max(self.subset_sizes)} exceed n_features={M}; shrink the subsets")
        return SubsetPlan.from_indices([np.sort(rng.permutation(M)[:N]) for N in self.subset_sizes], M)


def overlapping(subset_sizes: ArrayLike, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw each member's features independently, without repeats inside a member.

    Parameters
    ----------
    subset_sizes : array_like of int, shape (k,)
        N_r.
    n_features : int
        M.
    seed : int or numpy.random.Generator, optional
        Where the subsets are drawn from; None draws others every time.

    Returns
    -------
    SubsetPlan
        k members that may share features.

    Raises
    ------
    SubsetError, ParameterError
        If a member is to see more features than there are, or a size is no positive integer.

    See Also
    --------
    equal : subsets that share nothing.

    Examples
    --------
    >>> overlapping([2, 3], 5, seed=0).subset_sizes
    array([2, 3])
    """
    return Overlapping(whole_sizes(subset_sizes)).draw(n_features, seed)

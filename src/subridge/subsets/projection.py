"""Members that see Gaussian projections of all features."""

from typing import ClassVar

import numpy as np

from subridge.arrays.types import ArrayLike
from subridge.model.checks import positive_integer
from subridge.model.errors import SubsetError
from subridge.model.fingerprint import stream
from subridge.model.plan import MOST_FEATURES, SubsetPlan
from subridge.model.subsets import RandomState, Sized, whole_sizes


class Projection(Sized):
    """Gaussian projections with entries N(0, 1/M), so that ``A_r A_rᵀ`` is close to the identity.

    Parameters
    ----------
    subset_sizes : tuple of int
        N_r, one per member.

    Examples
    --------
    >>> from subridge.subsets import StrategyOptions
    >>> Projection.from_options(StrategyOptions(n_members=2, n_features=10, subset_sizes=0.3)).subset_sizes
    (3, 3)
    >>> strategy = Projection((2, 3))
    >>> strategy.n_members
    2
    >>> strategy.draw(5, seed=0).measurements[1].shape
    (3, 5)
    """

    name: ClassVar[str] = "projection"

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
            k members with dense measurements.

        Raises
        ------
        SubsetError, ParameterError
            If the matrices would be too large for any machine, or a size is no positive integer.
        """
        M, rng = positive_integer("n_features", n_features, MOST_FEATURES), stream(seed)
        if sum(self.subset_sizes) * M > MOST_FEATURES:
            raise SubsetError(f"projections of {sum(self.subset_sizes):,} × {M:,} numbers are too large; shrink them")
        return SubsetPlan.from_matrices(rng.standard_normal((N, M)) / np.sqrt(M) for N in self.subset_sizes)


def projection(subset_sizes: ArrayLike, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw Gaussian projections of the features, entries N(0, 1/M).

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
        k members with dense measurements.

    Raises
    ------
    SubsetError, ParameterError
        If the matrices would be too large for any machine, or a size is no positive integer.

    See Also
    --------
    overlapping : plain subsets, drawn independently as well.

    Examples
    --------
    >>> projection([2, 3], 5, seed=0).measurements[1].shape
    (3, 5)
    """
    return Projection(whole_sizes(subset_sizes)).draw(n_features, seed)

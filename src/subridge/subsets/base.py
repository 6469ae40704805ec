"""What every way to draw subsets offers, kept apart from any particular draw."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike
from subridge.model.plan import SubsetPlan

# k of a strategy: an ensemble of more members is a slip of the pen.
MOST_MEMBERS = 10**6

RandomState: TypeAlias = Seed | np.random.Generator | None


@runtime_checkable
class Strategy(Protocol):
    """A way to draw subsets again and again.

    To add one, write a frozen dataclass with these three members in a file of its own; `fingerprint` comes from
    ``subridge.model.fingerprint.Fingerprinted``. To give it a name that can be written as text, add ``name`` and
    ``from_options`` and list the class in ``subridge.model.subsets``.

    Examples
    --------
    >>> import subridge as sr
    >>> strategy = sr.subsets.Equal(3)
    >>> isinstance(strategy, Strategy), strategy.n_members
    (True, 3)
    >>> strategy.draw(9, seed=0).subset_sizes
    array([3, 3, 3])
    >>> strategy.fingerprint() == sr.subsets.Equal(4).fingerprint()
    False
    """

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        ...

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
            One draw; the same for the same seed.
        """
        ...

    def fingerprint(self) -> str:
        """Digest of type and contents; equal strategies have equal fingerprints."""
        ...


@dataclass(frozen=True, eq=False)
class StrategyOptions:
    """What text-named strategies are built from; each takes what it needs.

    Parameters
    ----------
    n_members, n_features : int
        k and M.
    fraction_spread : float
        kσ of heterogeneous subsets.
    subset_sizes : array_like, shape () or (k,), optional
        Features (integers) or share of the features (floats in (0, 1]) of a member, one for all or one per member;
        None is an even share, 1/k.

    Examples
    --------
    >>> import subridge as sr
    >>> options = StrategyOptions(n_members=2, n_features=10, subset_sizes=0.3)
    >>> sr.subsets.Overlapping.from_options(options).subset_sizes
    (3, 3)
    """

    n_members: int
    n_features: int
    fraction_spread: float = 0.75
    subset_sizes: ArrayLike | None = None

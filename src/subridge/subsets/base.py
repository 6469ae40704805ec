"""What every way to draw subsets offers, kept apart from any particular draw."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from subridge.arrays.streams import Seed
from subridge.arrays.types import ArrayLike
from subridge.spec.plan import SubsetPlan

# k of a strategy: an ensemble of more members is a slip of the pen.
MOST_MEMBERS = 10**6

RandomState: TypeAlias = Seed | np.random.Generator | None


@runtime_checkable
class Strategy(Protocol):
    """A way to draw subsets again and again.

    To add one, write a frozen dataclass with these three members in a file of its own; `fingerprint` comes from
    ``subridge.spec.fingerprint.Fingerprinted``. To give it a name that can be written as text, add ``name`` and
    ``from_options`` and list the class in ``subridge.subsets.text``.
    """

    @property
    def n_members(self) -> int:
        """k."""
        ...

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        """Draw who sees which of M features."""
        ...

    def fingerprint(self) -> str:
        """Digest of type and contents; equal strategies have equal fingerprints."""
        ...


@dataclass(frozen=True, eq=False)
class StrategyOptions:
    """What text-named strategies are built from; each takes what it needs.

    Attributes
    ----------
    n_members, n_features : int
        k and M.
    fraction_spread : float
        kσ of heterogeneous subsets.
    subset_sizes : array_like, optional
        Features (integers) or share of the features (floats in (0, 1]) of a member, one for all or one per member;
        None is an even share, 1/k.
    """

    n_members: int
    n_features: int
    fraction_spread: float = 0.75
    subset_sizes: ArrayLike | None = None

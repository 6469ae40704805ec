"""Sizes of members, for the strategies in which each member draws for itself."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from subridge.arrays.types import ArrayLike
from subridge.model.errors import ParameterError, SubsetError
from subridge.model.fingerprint import Fingerprinted
from subridge.model.subsets import StrategyOptions

SizedSubclass = TypeVar("SizedSubclass", bound="Sized")


@dataclass(frozen=True, eq=False)
class Sized(Fingerprinted):
    """Members of given sizes."""

    subset_sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "subset_sizes", whole_sizes(self.subset_sizes))

    @classmethod
    def from_options(cls: type[SizedSubclass], options: StrategyOptions) -> SizedSubclass:
        """The strategy that options of text ask for.

        Parameters
        ----------
        options : StrategyOptions
            Those that this strategy has no use for are left alone.

        Returns
        -------
        Overlapping or Projection
            A strategy.

        Raises
        ------
        ParameterError
            If the sizes are no sizes, or are neither one nor one per member.
        """
        return cls(sizes_of(options))

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        return len(self.subset_sizes)


def whole_sizes(subset_sizes: ArrayLike) -> tuple[int, ...]:
    """Checked sizes, one per member."""
    try:
        sizes = np.atleast_1d(np.asarray(subset_sizes))
    except ValueError as error:
        raise SubsetError(f"subset_sizes must be positive integers, one per member, got {subset_sizes!r}") from error
    numbers = sizes.dtype.kind in "iuf" and np.isfinite(sizes).all()
    if sizes.ndim != 1 or not sizes.size or not numbers or (sizes < 1).any() or (sizes != np.floor(sizes)).any():
        raise SubsetError(f"subset_sizes must be positive integers, one per member, got {subset_sizes!r}")
    return tuple(int(N) for N in sizes)


def sizes_of(options: StrategyOptions) -> tuple[int, ...]:
    """One size per member; a float is a fraction of the features, None an even share of them.

    >>> sizes_of(StrategyOptions(n_members=2, n_features=10, subset_sizes=0.3))
    (3, 3)
    """
    k, given = options.n_members, options.subset_sizes
    wanted = np.atleast_1d(np.asarray(1 / k if given is None else given))
    if wanted.dtype.kind == "f":
        if not ((wanted > 0) & (wanted <= 1)).all():
            raise ParameterError(f"subset_sizes must lie in (0, 1] as fractions of the features, got {given!r}")
        wanted = np.maximum(np.round(wanted * options.n_features), 1).astype(int)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or len(wanted) not in (1, k):
        raise ParameterError(f"subset_sizes must be one size or one per member ({k}), got {given!r}")
    return tuple(int(size) for size in np.broadcast_to(wanted, (k,)))

"""Strategies: how subsets are drawn, kept apart from any particular draw."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.streams import Seed, stream
from subridge.arrays.types import ArrayLike, FloatArray, IntArray
from subridge.spec.checks import non_negative, positive_integer
from subridge.spec.errors import ParameterError, SubsetError
from subridge.spec.fingerprint import Fingerprinted
from subridge.spec.plan import SubsetPlan

RandomState = Seed | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class Equal(Fingerprinted):
    """Disjoint subsets, as equal as integers allow; every feature is used."""

    n_members: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_members", positive_integer("n_members", self.n_members))

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        return _disjoint(_rounded(np.full(self.n_members, 1.0), n_features), n_features, stream(seed))


@dataclass(frozen=True, eq=False)
class Dirichlet(Fingerprinted):
    """Disjoint subsets with Gamma/Dirichlet fractions; every feature is used."""

    n_members: int
    fraction_spread: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_members", positive_integer("n_members", self.n_members))
        object.__setattr__(self, "fraction_spread", float(non_negative("fraction_spread", self.fraction_spread)))

    def fractions(self, seed: RandomState = None, size: int | None = None) -> FloatArray:
        """Draw ν_rr, shape (k,) or (size, k), summing to one."""
        shape = (self.n_members,) if size is None else (size, self.n_members)
        if self.fraction_spread < 1e-8:  # below any rounding to whole features; its inverse square overflows
            return np.full(shape, 1 / self.n_members)
        concentration = np.full(self.n_members, self.fraction_spread**-2)  # (σk)⁻², sec. HomHetEnsembling
        fractions = np.asarray(stream(seed).dirichlet(concentration, size))
        if np.isnan(fractions).any():
            raise ParameterError(f"fraction_spread={self.fraction_spread:g} leaves no member with features; lower it")
        return fractions

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        rng = stream(seed)
        return _disjoint(_rounded(self.fractions(rng), n_features), n_features, rng)


@dataclass(frozen=True, eq=False)
class _Sized(Fingerprinted):
    """Members of given sizes."""

    subset_sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "subset_sizes", _sizes(self.subset_sizes))

    @property
    def n_members(self) -> int:
        return len(self.subset_sizes)


class Overlapping(_Sized):
    """Each member draws its features independently of the others, without repeats inside a member."""

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        M, rng = positive_integer("n_features", n_features), stream(seed)
        if max(self.subset_sizes) > M:
            raise SubsetError(f"subset_sizes up to {max(self.subset_sizes)} exceed n_features={M}; shrink the subsets")
        return SubsetPlan.from_indices([np.sort(rng.permutation(M)[:N]) for N in self.subset_sizes], M)


class Projection(_Sized):
    """Gaussian projections with entries N(0, 1/M), so that ``A_r A_rᵀ`` is close to the identity."""

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        M, rng = positive_integer("n_features", n_features), stream(seed)
        return SubsetPlan.from_matrices([rng.standard_normal((N, M)) / np.sqrt(M) for N in self.subset_sizes])


def equal(n_members: int, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw disjoint subsets, as equal as integers allow, that use every feature.

    Parameters
    ----------
    n_members, n_features : int
        k and M, k ≤ M.
    seed : int or numpy.random.Generator, optional

    Returns
    -------
    SubsetPlan

    Examples
    --------
    >>> equal(3, 10, seed=0).subset_sizes
    array([4, 3, 3])
    """
    return Equal(n_members).draw(n_features, seed)


def dirichlet(n_members: int, n_features: int, fraction_spread: float, seed: RandomState = None) -> SubsetPlan:
    """Draw disjoint subsets of heterogeneous size that use every feature (sec. HomHetEnsembling).

    Parameters
    ----------
    n_members, n_features : int
        k and M, k ≤ M.
    fraction_spread : float
        kσ, the coefficient of variation of the Gamma draw before it is scaled to sum to one; the standard deviation
        afterwards is ``rescaled_spread(n_members, fraction_spread)``. 0 gives equal subsets.
    seed : int or numpy.random.Generator, optional

    Notes
    -----
    Sizes are rounded by largest remainder after every member got one feature, so none is empty and all sum to M.

    Examples
    --------
    >>> plan = dirichlet(4, 100, 0.75, seed=0)
    >>> int(plan.subset_sizes.sum()), bool(plan.subset_sizes.min() >= 1)
    (100, True)
    """
    return Dirichlet(n_members, fraction_spread).draw(n_features, seed)


def overlapping(subset_sizes: ArrayLike, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw each member's features independently, without repeats inside a member.

    Examples
    --------
    >>> overlapping([2, 3], 5, seed=0).subset_sizes
    array([2, 3])
    """
    return Overlapping(_sizes(subset_sizes)).draw(n_features, seed)


def projection(subset_sizes: ArrayLike, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw Gaussian projections of the features, entries N(0, 1/M).

    Examples
    --------
    >>> projection([2, 3], 5, seed=0).measurements[1].shape
    (3, 5)
    """
    return Projection(_sizes(subset_sizes)).draw(n_features, seed)


def _sizes(subset_sizes: ArrayLike) -> tuple[int, ...]:
    sizes = np.atleast_1d(np.asarray(subset_sizes))
    numbers = sizes.dtype.kind in "iuf" and np.isfinite(sizes).all()
    if sizes.ndim != 1 or not sizes.size or not numbers or (sizes < 1).any() or (sizes != np.floor(sizes)).any():
        raise SubsetError(f"subset_sizes must be positive integers, one per member, got {subset_sizes!r}")
    return tuple(int(N) for N in sizes)


def _rounded(weights: FloatArray, n_features: int) -> IntArray:
    """Integers proportional to the weights that sum to M, each at least 1: largest remainder after one apiece."""
    M, k = positive_integer("n_features", n_features), len(weights)
    if k > M:
        raise SubsetError(f"n_features={M} cannot serve n_members={k}: every member needs a feature; lower n_members")
    wanted = weights / weights.sum() * M
    sizes = np.maximum(np.floor(wanted).astype(np.int64), 1)
    while sizes.sum() > M:  # members lifted to one feature take it from the most over-served
        surplus = np.where(sizes > 1, sizes - wanted, -np.inf)
        sizes[int(np.argmax(surplus))] -= 1
    left = M - int(sizes.sum())
    sizes[np.argsort(sizes - wanted, kind="stable")[:left]] += 1
    return np.asarray(sizes)


def _disjoint(sizes: IntArray, n_features: int, rng: np.random.Generator) -> SubsetPlan:
    parts = np.split(rng.permutation(int(sizes.sum())), np.cumsum(sizes)[:-1])
    return SubsetPlan.from_indices([np.sort(part) for part in parts], n_features)

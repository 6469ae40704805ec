"""Ways to draw subsets of features.

A strategy draws plans again and again; a function of the same name in lower case draws one. To add a strategy, write a
frozen dataclass with `n_members`, `draw` and `fingerprint` (from `Fingerprinted`). If text is to name it, list it in
`STRATEGIES`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import (
    Fingerprinted,
    common_shape,
    extended_non_negative,
    non_negative,
    of_kind,
    one_number,
    positive_integer,
    refuse_odd_values,
    stream,
    within,
)
from subridge.model.ensemble import MOST_FEATURES, RandomState, Strategy, SubsetPlan
from subridge.model.errors import ParameterError, SubsetError

__all__ = [
    "STRATEGIES",
    "Dirichlet",
    "Equal",
    "Overlapping",
    "Projection",
    "Strategy",
    "StrategyOptions",
    "dirichlet",
    "equal",
    "fraction_density",
    "overlapping",
    "projection",
    "read_strategy",
    "rescaled_spread",
]

# k of a strategy; a larger number is a typing error.
MOST_MEMBERS = 10**6


@dataclass(frozen=True, eq=False)
class StrategyOptions:
    """Options of strategies that are named by text; each strategy uses those it needs.

    Parameters
    ----------
    n_members, n_features : int
        Numbers k of members and M of features.
    fraction_spread : float
        Spread kσ of heterogeneous subsets.
    subset_sizes : array_like, shape () or (k,), optional
        Features of a member, as a number (integer) or a share (float in (0, 1]); one for all or one per member. None is
        the share 1/k.

    Raises
    ------
    ParameterError
        If a number is not a positive integer, or the spread is negative.

    Examples
    --------
    >>> import subridge as sr
    >>> options = StrategyOptions(n_members=2, n_features=10, subset_sizes=0.3)
    >>> sr.subsets.read_strategy("overlapping", options).subset_sizes
    (3, 3)
    """

    n_members: int
    n_features: int
    fraction_spread: float = 0.75
    subset_sizes: ArrayLike | None = None

    def __post_init__(self) -> None:
        positive_integer("n_members", self.n_members)
        positive_integer("n_features", self.n_features)
        one_number("fraction_spread", non_negative("fraction_spread", self.fraction_spread))


class NamedStrategy(Fingerprinted, ABC):
    """A strategy of this package, which can be chosen by name."""

    @abstractmethod
    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        """Draw the features that each member sees.

        Parameters
        ----------
        n_features : int
            Number of features, M.
        seed : int or numpy.random.Generator, optional
            Source of randomness; None gives another draw every time.

        Returns
        -------
        SubsetPlan
            One draw; the same for the same seed.

        Raises
        ------
        SubsetError, ParameterError
            If there are too few features, or so many that no machine could hold the plan.
        """


@dataclass(frozen=True, eq=False)
class Equal(NamedStrategy):
    """The strategy of `equal`.

    Parameters
    ----------
    n_members : int
        Number of members, k.

    Raises
    ------
    ParameterError
        If `n_members` is not a positive integer.

    Examples
    --------
    >>> Equal(3).draw(10, seed=0).subset_sizes
    array([4, 3, 3])
    >>> Equal(4).expected_fractions
    array([0.25, 0.25, 0.25, 0.25])
    """

    n_members: int

    def __post_init__(self) -> None:
        self._set(n_members=positive_integer("n_members", self.n_members, MOST_MEMBERS))

    @property
    def expected_fractions(self) -> FloatArray:
        """The share 1/k of the features that each member sees, shape (k,)."""
        return np.full(self.n_members, 1.0 / self.n_members)

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        return _disjoint_plan(np.ones(self.n_members), n_features, stream(seed))


@dataclass(frozen=True, eq=False)
class Dirichlet(NamedStrategy):
    """The strategy of `dirichlet`.

    Parameters
    ----------
    n_members : int
        Number of members, k.
    fraction_spread : float
        Spread kσ; 0 gives equal subsets.

    Raises
    ------
    ParameterError
        If `n_members` is not a positive integer, or `fraction_spread` is negative.

    Examples
    --------
    >>> strategy = Dirichlet(4, 0.75)
    >>> strategy.fractions(seed=0).round(2)
    array([0.19, 0.28, 0.1 , 0.43])
    >>> strategy.draw(100, seed=0).subset_sizes
    array([19, 28, 10, 43])
    """

    n_members: int
    fraction_spread: float

    def __post_init__(self) -> None:
        self._set(
            n_members=positive_integer("n_members", self.n_members, MOST_MEMBERS),
            fraction_spread=one_number("fraction_spread", non_negative("fraction_spread", self.fraction_spread)),
        )

    def fractions(self, seed: RandomState = None, size: int | None = None) -> FloatArray:
        """Draw the subset fractions ν_rr, before they are rounded to whole features.

        Parameters
        ----------
        seed : int or numpy.random.Generator, optional
            Source of randomness; None gives another draw every time.
        size : int, optional
            Number of draws; None is one, without an axis.

        Returns
        -------
        ndarray, shape (k,) or (size, k)
            Fractions, each draw with sum one.

        Raises
        ------
        ParameterError
            If the spread is so large that no member is left with features.
        """
        shape = () if size is None else (positive_integer("size", size, MOST_FEATURES // self.n_members),)
        if self.fraction_spread < 1e-8:  # below any rounding to whole features; its inverse square overflows
            return np.full((*shape, self.n_members), 1 / self.n_members)
        # The concentration is (σk)⁻², sec. C (HomHetEnsemblingSection).
        fractions = stream(seed).dirichlet(np.full(self.n_members, self.fraction_spread**-2), shape)
        if not (abs(fractions.sum(axis=-1) - 1) < 1e-6).all():  # all fractions underflow to zero, or are NaN
            raise ParameterError(f"fraction_spread={self.fraction_spread:g} leaves no member with features; lower it")
        return fractions

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        rng = stream(seed)
        return _disjoint_plan(self.fractions(rng), n_features, rng)


@dataclass(frozen=True, eq=False)
class Sized(NamedStrategy):
    """Members of given sizes that draw independently of each other."""

    subset_sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        try:
            sizes = tuple(positive_integer("subset_sizes", N) for N in np.atleast_1d(self.subset_sizes).tolist())
        except ValueError:  # ragged, or not all are positive integers
            sizes = ()
        if not sizes:
            raise SubsetError(f"subset_sizes must be positive integers, one per member, got {self.subset_sizes!r}")
        self._set(subset_sizes=sizes)

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        return len(self.subset_sizes)


class Overlapping(Sized):
    """The strategy of `overlapping`.

    Parameters
    ----------
    subset_sizes : tuple of int
        Number of features N_r of each member.

    Raises
    ------
    SubsetError
        If a size is not a positive integer.

    Examples
    --------
    >>> Overlapping((2, 3)).n_members, Overlapping((2, 3)).draw(5, seed=0).subset_sizes
    (2, array([2, 3]))
    """

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        M = positive_integer("n_features", n_features, MOST_FEATURES)
        rng = stream(seed)
        if max(self.subset_sizes) > M:
            raise SubsetError(f"subset_sizes up to {max(self.subset_sizes)} exceed n_features={M}; shrink the subsets")
        return SubsetPlan.from_indices([np.sort(rng.permutation(M)[:N]) for N in self.subset_sizes], M)


class Projection(Sized):
    """The strategy of `projection`.

    Parameters
    ----------
    subset_sizes : tuple of int
        Number of features N_r of each member.

    Raises
    ------
    SubsetError
        If a size is not a positive integer.

    Examples
    --------
    >>> Projection((2, 3)).draw(5, seed=0).measurements[1].shape
    (3, 5)
    """

    def draw(self, n_features: int, seed: RandomState = None) -> SubsetPlan:
        M = positive_integer("n_features", n_features, MOST_FEATURES)
        rng = stream(seed)
        if sum(self.subset_sizes) * M > MOST_FEATURES:
            raise SubsetError(f"projections of {sum(self.subset_sizes):,} × {M:,} numbers are too large; shrink them")
        return SubsetPlan.from_matrices(rng.standard_normal((N, M)) / np.sqrt(M) for N in self.subset_sizes)


STRATEGIES: dict[str, Callable[[StrategyOptions], Strategy]] = {
    "equal": lambda options: Equal(options.n_members),
    "dirichlet": lambda options: Dirichlet(options.n_members, options.fraction_spread),
    "overlapping": lambda options: Overlapping(_sizes_of(options)),
    "projection": lambda options: Projection(_sizes_of(options)),
}


def read_strategy(name: str, options: StrategyOptions) -> Strategy:
    """The strategy of that name.

    Parameters
    ----------
    name : str
        "equal", "dirichlet", "overlapping" or "projection".
    options : StrategyOptions
        What the strategy is built from.

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
    if not isinstance(name, str) or name not in STRATEGIES:
        raise ParameterError(f"subsets must be one of {', '.join(STRATEGIES)} when it is text, got {name!r}")
    of_kind("options", options, StrategyOptions)
    return STRATEGIES[name](options)


def equal(n_members: int, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw disjoint subsets, as equal as integers allow, that use every feature.

    Parameters
    ----------
    n_members, n_features : int
        Numbers k of members and M of features, k ≤ M.
    seed : int or numpy.random.Generator, optional
        Source of randomness; None gives another draw every time.

    Returns
    -------
    SubsetPlan
        k members that share no feature and leave none out.

    Raises
    ------
    SubsetError, ParameterError
        If there are fewer features than members, or a number is not a positive integer.

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


def dirichlet(n_members: int, n_features: int, fraction_spread: float, seed: RandomState = None) -> SubsetPlan:
    """Draw disjoint subsets of heterogeneous size that use every feature (sec. C (HomHetEnsemblingSection)).

    Parameters
    ----------
    n_members, n_features : int
        Numbers k of members and M of features, k ≤ M.
    fraction_spread : float
        kσ, the coefficient of variation of the Gamma draw before it is scaled to sum to one; the standard deviation
        afterwards is ``rescaled_spread(n_members, fraction_spread)``. 0 gives equal subsets.
    seed : int or numpy.random.Generator, optional
        Source of randomness; None gives another draw every time.

    Returns
    -------
    SubsetPlan
        k members that share no feature and leave none out.

    Raises
    ------
    SubsetError, ParameterError
        If there are fewer features than members, or a number lies outside its range.

    See Also
    --------
    equal : subsets of equal size.
    rescaled_spread : the spread that is left after scaling.

    Notes
    -----
    Sizes are rounded by largest remainder, and each is at least one, so that no member is empty and the sizes sum to M.

    Examples
    --------
    >>> plan = dirichlet(4, 100, 0.75, seed=0)
    >>> int(plan.subset_sizes.sum()), bool(plan.subset_sizes.min() >= 1)
    (100, True)
    """
    return Dirichlet(n_members, fraction_spread).draw(n_features, seed)


def overlapping(subset_sizes: ArrayLike, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw each member's features independently, without repeats inside a member.

    Parameters
    ----------
    subset_sizes : array_like of int, shape (k,)
        Number of features N_r of each member.
    n_features : int
        Number of features, M.
    seed : int or numpy.random.Generator, optional
        Source of randomness; None gives another draw every time.

    Returns
    -------
    SubsetPlan
        k members that may share features.

    Raises
    ------
    SubsetError, ParameterError
        If a subset has more features than there are, or a size is not a positive integer.

    See Also
    --------
    equal : subsets that share nothing.

    Examples
    --------
    >>> overlapping([2, 3], 5, seed=0).subset_sizes
    array([2, 3])
    """
    return Overlapping(subset_sizes).draw(n_features, seed)  # type: ignore[arg-type]


def projection(subset_sizes: ArrayLike, n_features: int, seed: RandomState = None) -> SubsetPlan:
    """Draw Gaussian projections of the features with entries N(0, 1/M), so that ``A_r A_rᵀ`` is close to the identity.

    Parameters
    ----------
    subset_sizes : array_like of int, shape (k,)
        Number of features N_r of each member.
    n_features : int
        Number of features, M.
    seed : int or numpy.random.Generator, optional
        Source of randomness; None gives another draw every time.

    Returns
    -------
    SubsetPlan
        k members with dense measurements.

    Raises
    ------
    SubsetError, ParameterError
        If the matrices would be too large for any machine, or a size is not a positive integer.

    See Also
    --------
    overlapping : plain subsets, drawn independently as well.

    Examples
    --------
    >>> projection([2, 3], 5, seed=0).measurements[1].shape
    (3, 5)
    """
    return Projection(subset_sizes).draw(n_features, seed)  # type: ignore[arg-type]


def _disjoint_plan(shares: FloatArray, n_features: int, rng: np.random.Generator) -> SubsetPlan:
    """Draw disjoint subsets that use every feature, with sizes proportional to the shares, shape (k,).

    Sizes are integers of at least 1 that sum to M, rounded by largest remainder.

    >>> _disjoint_plan(np.array([0.5, 0.3, 0.2]), 8, np.random.default_rng(0)).subset_sizes
    array([4, 2, 2])
    """
    M = positive_integer("n_features", n_features, MOST_FEATURES)
    k = len(shares)
    if k > M:
        raise SubsetError(f"n_features={M} cannot serve n_members={k}: every member needs a feature; lower n_members")
    wanted = shares / shares.sum() * M
    sizes = np.maximum(np.floor(wanted).astype(int), 1)
    while sizes.sum() > M:  # members raised to one feature take it from the member furthest above its share
        sizes[np.where(sizes > 1, sizes - wanted, -np.inf).argmax()] -= 1
    sizes[(sizes - wanted).argsort(kind="stable")[: M - sizes.sum()]] += 1
    return SubsetPlan.from_indices([np.sort(part) for part in np.split(rng.permutation(M), sizes.cumsum()[:-1])], M)


def _sizes_of(options: StrategyOptions) -> tuple[int, ...]:
    """One size per member; a float is a fraction of the features, None an even share of them.

    >>> _sizes_of(StrategyOptions(n_members=2, n_features=10, subset_sizes=0.3))
    (3, 3)
    """
    k = int(options.n_members)
    given = 1 / k if options.subset_sizes is None else options.subset_sizes
    refuse_odd_values("subset_sizes", given)
    try:
        wanted = np.broadcast_to(given, (k,))
    except ValueError as error:
        raise ParameterError(f"subset_sizes must be one size or one per member ({k}), got {given!r}") from error
    if wanted.dtype.kind == "f":
        if not ((wanted > 0) & (wanted <= 1)).all():
            raise ParameterError(f"subset_sizes must lie in (0, 1] as fractions of the features, got {given!r}")
        wanted = np.maximum((wanted * int(options.n_features)).round(), 1).astype(int)
    return tuple(wanted.tolist())


def rescaled_spread(n_members: ArrayLike, fraction_spread: ArrayLike) -> FloatArray:
    """True standard deviation of one subset fraction after re-scaling.

    The paper draws Gamma fractions of mean 1/k and standard deviation σ = fraction_spread/k and then divides by
    their sum. The fluctuation of the sum lowers the spread to σ √[((k-1)/k) / (1 + kσ²)].

    Parameters
    ----------
    n_members : array_like, shape (...)
        Number of members k, at least 1.
    fraction_spread : array_like, shape (...)
        kσ, the coefficient of variation before re-scaling.

    Returns
    -------
    ndarray, shape (...)
        Standard deviation of a fraction, a share of all features.

    Raises
    ------
    ParameterError
        If there is less than one member, the spread is negative, or shapes do not broadcast together.

    Examples
    --------
    >>> float(rescaled_spread(10, 1.0).round(4))
    0.0905
    """
    k = extended_non_negative("n_members", n_members, 1.0)
    spread = within("fraction_spread", fraction_spread, 0.0, 1e100)
    common_shape(n_members=k.shape, fraction_spread=spread.shape)
    return spread / k * np.sqrt((1 - 1 / k) / (1 + spread**2 / k))


def fraction_density(fraction: ArrayLike, n_members: ArrayLike, fraction_spread: ArrayLike) -> FloatArray:
    """Density of the Gamma draw Γ_{k,σ}(ν) behind a subset fraction, not re-scaled; sec. C (HomHetEnsemblingSection).

    Parameters
    ----------
    fraction : array_like, shape (...)
        Subset fraction ν > 0.
    n_members : array_like, shape (...)
        Number of members k; the mean is 1/k.
    fraction_spread : array_like, shape (...)
        kσ, the coefficient of variation, at least 1e-4.

    Returns
    -------
    ndarray, shape (...)
        Density at ν.

    Raises
    ------
    ParameterError
        If a parameter is negative, the spread below 1e-4, or shapes do not broadcast together.

    Examples
    --------
    >>> float(fraction_density(0.1, 10, 1.0).round(4))  # an exponential of mean 1/10
    3.6788
    """
    from scipy.special import gammaln, xlogy

    nu = within("fraction", fraction, 0.0, 1e100)
    k = within("n_members", n_members, 0.0, 1e100)
    # Below the least spread the terms cancel to fewer than eight digits.
    shape = within("fraction_spread", fraction_spread, 1e-4, 1e100) ** -2
    common_shape(fraction=nu.shape, n_members=k.shape, fraction_spread=shape.shape)
    rate = shape * k  # shape over mean
    return np.asarray(np.exp(xlogy(shape, rate) + xlogy(shape - 1, nu) - rate * nu - gammaln(shape)))

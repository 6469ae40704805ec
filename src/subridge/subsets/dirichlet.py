"""Heterogeneous disjoint subsets."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.checks import non_negative, one_number, positive_integer
from subridge.model.errors import ParameterError
from subridge.model.fingerprint import Fingerprinted, stream
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import MOST_MEMBERS, RandomState, StrategyOptions, disjoint_plan


@dataclass(frozen=True, eq=False)
class Dirichlet(Fingerprinted):
    """Disjoint subsets with Gamma/Dirichlet fractions; every feature is used.

    Parameters
    ----------
    n_members : int
        k.
    fraction_spread : float
        kσ, as in `dirichlet`; 0 gives equal subsets.

    Raises
    ------
    ParameterError
        If `n_members` is no positive integer, or `fraction_spread` is negative.

    Examples
    --------
    >>> strategy = Dirichlet(4, 0.75)
    >>> strategy.fractions(seed=0).round(2)
    array([0.19, 0.28, 0.1 , 0.43])
    >>> strategy.draw(100, seed=0).subset_sizes
    array([19, 28, 10, 43])
    >>> Dirichlet.from_options(StrategyOptions(n_members=4, n_features=100)).fraction_spread
    0.75
    """

    n_members: int
    fraction_spread: float
    name: ClassVar[str] = "dirichlet"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_members", positive_integer("n_members", self.n_members, MOST_MEMBERS))
        object.__setattr__(
            self,
            "fraction_spread",
            one_number("fraction_spread", non_negative("fraction_spread", self.fraction_spread), most=np.inf),
        )

    @classmethod
    def from_options(cls, options: StrategyOptions) -> "Dirichlet":
        """The strategy that options of text ask for.

        Parameters
        ----------
        options : StrategyOptions
            Those that this strategy has no use for are left alone.

        Returns
        -------
        Dirichlet
            A strategy.
        """
        return cls(options.n_members, options.fraction_spread)

    def fractions(self, seed: RandomState = None, size: int | None = None) -> FloatArray:
        """Draw the subset fractions ν_rr, before they are rounded to whole features.

        Parameters
        ----------
        seed : int or numpy.random.Generator, optional
            Where the fractions are drawn from; None draws others every time.
        size : int, optional
            How many draws; None is one, without an axis.

        Returns
        -------
        ndarray, shape (k,) or (size, k)
            Fractions, each draw with sum one.

        Raises
        ------
        ParameterError
            If the spread is so large that no member is left with features.
        """
        shape = (self.n_members,) if size is None else (size, self.n_members)
        if self.fraction_spread < 1e-8:  # below any rounding to whole features; its inverse square overflows
            return np.full(shape, 1 / self.n_members)
        concentration = np.full(self.n_members, self.fraction_spread**-2)  # (σk)⁻², sec. C (HomHetEnsemblingSection)
        fractions = np.asarray(stream(seed).dirichlet(concentration, size))
        if not (abs(fractions.sum(axis=-1) - 1) < 1e-6).all():  # shares that underflow to nothing, or NaN
            raise ParameterError(f"fraction_spread={self.fraction_spread:g} leaves no member with features; lower it")
        return fractions

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
        rng = stream(seed)
        return disjoint_plan(self.fractions(rng), n_features, rng)


def dirichlet(n_members: int, n_features: int, fraction_spread: float, seed: RandomState = None) -> SubsetPlan:
    """Draw disjoint subsets of heterogeneous size that use every feature (sec. C (HomHetEnsemblingSection)).

    Parameters
    ----------
    n_members, n_features : int
        k and M, k ≤ M.
    fraction_spread : float
        kσ, the coefficient of variation of the Gamma draw before it is scaled to sum to one; the standard deviation
        afterwards is ``rescaled_spread(n_members, fraction_spread)``. 0 gives equal subsets.
    seed : int or numpy.random.Generator, optional
        Where the subsets are drawn from; None draws others every time.

    Returns
    -------
    SubsetPlan
        k members that share nothing and leave nothing out.

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
    Sizes are rounded by largest remainder after every member got one feature, so none is empty and all sum to M.

    Examples
    --------
    >>> plan = dirichlet(4, 100, 0.75, seed=0)
    >>> int(plan.subset_sizes.sum()), bool(plan.subset_sizes.min() >= 1)
    (100, True)
    """
    return Dirichlet(n_members, fraction_spread).draw(n_features, seed)

"""A ridge ensemble: which features its members see, their ridges and readout noise, and the aggregation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from subridge.arrays.namespace import add_at_last, rows_times, scatter_last, take_last
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, Seed
from subridge.model.aggregation import Aggregation, of_pairs, read_aggregation
from subridge.model.checks import (
    Fingerprinted,
    finite_array,
    in_short,
    items_of,
    non_negative,
    positive_integer,
    real_array,
)
from subridge.model.errors import ParameterError, SubsetError

Kind = TypeVar("Kind", IntArray, FloatArray)
RandomState: TypeAlias = Seed | np.random.Generator | None

MOST_FEATURES = 10**8  # of a plan; the indices of more do not fit into the memory of most machines
_MOST_MEMBERS = 10_000  # of an ensemble that is given by fractions, because their overlaps make a matrix


@dataclass(frozen=True, eq=False, repr=False)
class SubsetPlan(Fingerprinted):
    """The measurement A_r of every member: index arrays, or dense N_r × M matrices.

    Build one by `from_indices`, `from_matrices`, or a strategy in ``subridge.subsets``.

    Parameters
    ----------
    measurements : tuple of ndarray, each of shape (N_r,) or (N_r, M)
        A_r: the indices of the features that member r sees, or a matrix that measures combinations of them.
    n_features : int
        Number of all features, M.

    Raises
    ------
    SubsetError
        If there is no member, or one is empty, out of range, or names a feature twice.
    ParameterError
        If `n_features` is not a positive integer.

    Examples
    --------
    Two members of four features that share the third:

    >>> import numpy as np, subridge as sr
    >>> plan = sr.SubsetPlan.from_indices([[0, 1, 2], [2, 3]], n_features=4)
    >>> plan.n_members, plan.subset_sizes, plan.selects_features
    (2, array([3, 2]), True)
    >>> plan.fractions
    array([[0.75, 0.25],
           [0.25, 0.5 ]])

    What member 1 sees of a sample, and its weights put back in their places:

    >>> plan.measure(1, np.array([10.0, 20.0, 30.0, 40.0]))
    array([30., 40.])
    >>> plan.lift(1, np.array([0.5, 0.7]))
    array([0. , 0. , 0.5, 0.7])
    >>> total = np.zeros((1, 4))
    >>> plan.add_lifted(0, np.ones((1, 3)), into=total)
    >>> total + plan.lift_rows(1, np.ones((1, 2)))
    array([[1., 1., 2., 1.]])
    """

    # One-dimensional arrays of integers, or matrices.
    measurements: tuple[npt.NDArray[Any], ...]
    n_features: int

    def __post_init__(self) -> None:
        M = positive_integer("n_features", self.n_features)
        arrays = [_array(r, A) for r, A in enumerate(items_of("measurements", self.measurements))]
        checked = tuple(
            _matrix(r, A, M) if A.ndim == 2 else feature_indices(f"member {r}", A, M) for r, A in enumerate(arrays)
        )
        if not checked:
            raise SubsetError("a plan needs at least one member")
        self._set(n_features=M, measurements=checked)

    @classmethod
    def from_indices(cls, index_arrays: Iterable[ArrayLike], n_features: int) -> "SubsetPlan":
        """Plan from one array of feature indices per member.

        Parameters
        ----------
        index_arrays : iterable of array_like of int, each of shape (N_r,)
            The features of each member, counted from 0; or masks of bool, each of shape (M,).
        n_features : int
            Number of features, M.

        Returns
        -------
        SubsetPlan
            A plan with as many members as there are arrays.

        Raises
        ------
        SubsetError
            If there is no member, or one is empty, out of range, or names a feature twice.
        ParameterError
            If `n_features` is not a positive integer, or `index_arrays` is not a list.

        Examples
        --------
        >>> import subridge as sr
        >>> sr.SubsetPlan.from_indices([[0, 1, 2], [2, 3]], n_features=4).fractions
        array([[0.75, 0.25],
               [0.25, 0.5 ]])
        """
        M = positive_integer("n_features", n_features, MOST_FEATURES)
        arrays = [_array(r, index) for r, index in enumerate(items_of("index_arrays", index_arrays))]
        # The constructor checks indices, but would take an array with two axes for a matrix.
        return cls(tuple(feature_indices(f"member {r}", A, M) if A.ndim == 2 else A for r, A in enumerate(arrays)), M)

    @classmethod
    def from_matrices(cls, matrices: Iterable[ArrayLike]) -> "SubsetPlan":
        """Plan from one measurement matrix per member.

        Parameters
        ----------
        matrices : iterable of array_like, each of shape (N_r, M)
            A_r; row i is measurement i of member r. Each matrix is copied before the next one is requested, so that the
            matrices of a generator are not held twice.

        Returns
        -------
        SubsetPlan
            A plan with as many members as there are matrices.

        Raises
        ------
        SubsetError
            If there is no matrix, or they differ in their number of columns.
        ParameterError
            If `matrices` is not a list.

        Examples
        --------
        >>> import numpy as np, subridge as sr
        >>> sr.SubsetPlan.from_matrices([np.eye(4)[:2], np.ones((1, 4))]).subset_sizes
        array([2, 1])
        """
        each = matrices if isinstance(matrices, Iterator) else items_of("matrices", matrices)
        arrays = [_matrix(r, matrix, None) for r, matrix in enumerate(each)]
        return cls(tuple(arrays), arrays[0].shape[1] if arrays else 1)

    def banded(self, ridges: ArrayLike) -> "SubsetPlan":
        """One member that sees the features of all, with a ridge of its own for each space of features.

        A ridge λ_s on the features of member s is the same as a ridge of one on these features times ``λ_s^(-1/2)``.
        Prop. 1 therefore holds for a banded ridge too.

        Parameters
        ----------
        ridges : array_like, shape (k,)
            λ_s of each space, positive, in the convention of a member that sees all N features: the penalty on unscaled
            features, such as `BandedRidge.penalties_`, is ``N λ_s``. A space with ridge inf is left out.

        Returns
        -------
        SubsetPlan
            A plan with one member, for an ensemble with ``ridge=1``.

        Raises
        ------
        SubsetError
            If members share features, or measure combinations of features.
        ParameterError
            If the ridges are not k positive numbers.
        DataError
            If one is NaN or no real number.

        Examples
        --------
        Two spaces of two features; the ridge of the second is a hundred times as large:

        >>> import subridge as sr
        >>> spaces = sr.SubsetPlan.from_indices([[0, 1], [2, 3]], n_features=4)
        >>> spaces.banded([0.25, 25.0]).measurements[0].diagonal()
        array([2. , 2. , 0.2, 0.2])
        """
        given = np.atleast_1d(real_array("ridges", ridges))
        if given.shape != (self.n_members,) or not (given > 0).all():
            raise ParameterError(f"ridges must be {self.n_members} positive numbers, one per space, got {ridges!r}")
        features = np.concatenate([A.reshape(-1) for A in self.measurements])
        if not self.selects_features or len(np.unique(features)) < len(features):
            raise SubsetError("a banded ridge needs plain subsets of features, each in one space only")
        matrix = np.zeros((len(features), self.n_features))
        matrix[np.arange(len(features)), features] = (given**-0.5).repeat(self.subset_sizes)
        return SubsetPlan.from_matrices([matrix])

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        return len(self.measurements)

    def _shown(self) -> dict[str, str]:
        sizes = self.subset_sizes
        shown = in_short(sizes) if len(sizes) == 1 or np.ptp(sizes) else f"{sizes[0]} each"
        return {"n_members": str(self.n_members), "subset_sizes": shown, "n_features": str(self.n_features)}

    @property
    def selects_features(self) -> bool:
        """Whether every member sees a plain subset of the features."""
        return all(A.ndim == 1 for A in self.measurements)

    @cached_property
    def subset_sizes(self) -> IntArray:
        """Numbers N_r of features that the members see, shape (k,)."""
        return _read_only(np.array([len(A) for A in self.measurements]))

    @cached_property
    def fractions(self) -> FloatArray:
        """Subset fractions ν_rr on the diagonal, overlap fractions ν_rr′ beside it; shape (k, k).

        A plan with dense measurements has none, and raises `SubsetError`.
        """
        if not self.selects_features:
            raise SubsetError("overlap fractions exist for feature subsets only, and this plan has dense measurements")
        member = np.zeros((self.n_members, self.n_features))
        for r, index in enumerate(self.measurements):
            member[r, index] = 1.0
        return _read_only(member @ member.T / self.n_features)

    def measure(self, member: int, X: Array) -> Array:
        """What a member sees of samples: ``A_r x`` for every row x of X.

        Parameters
        ----------
        member : int
            Number r of the member, counted from 0.
        X : array, shape (..., M)
            Samples, in any supported array library.

        Returns
        -------
        array, shape (..., N_r)
            The measurements, in the library of X.
        """
        A = self.measurements[member]
        return take_last(X, A) if A.ndim == 1 else rows_times(X, A.T)

    def lift(self, member: int, weights: FloatArray) -> FloatArray:
        """Put the weights of a member in their places among all features, ``A_rᵀ w``.

        Parameters
        ----------
        member : int
            Number r of the member, counted from 0.
        weights : ndarray, shape (N_r,) or (N_r, n)
            One weight per feature that the member sees, or n columns of them.

        Returns
        -------
        ndarray, shape (M,) or (M, n)
            Zero for features that the member does not see.
        """
        return self.lift_rows(member, weights.T).T

    def lift_rows(self, member: int, rows: Array) -> Array:
        """Put rows of weights in their places, as `lift` does, in any supported array library.

        Parameters
        ----------
        member : int
            Number r of the member, counted from 0.
        rows : array, shape (..., N_r)
            Weights of the features that the member sees.

        Returns
        -------
        array, shape (..., M)
            Rows in the same library.
        """
        A = self.measurements[member]
        return scatter_last(rows, A, self.n_features) if A.ndim == 1 else rows_times(rows, A)

    def add_lifted(self, member: int, rows: Array, into: Array) -> None:
        """Add the result of `lift_rows` to an array, in place.

        Parameters
        ----------
        member : int
            Number r of the member, counted from 0.
        rows : array, shape (..., N_r)
            Weights of the features that the member sees.
        into : array, shape (..., M)
            The array that is changed.
        """
        A = self.measurements[member]
        if A.ndim == 1:
            add_at_last(into, A, rows)
        else:
            into += rows_times(rows, A)


def _array(member: int, value: ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.asanyarray(value)
    except ValueError as error:
        raise SubsetError(f"member {member} has rows of different lengths, got {value!r}; give a flat list") from error


def feature_indices(label: str, array: npt.NDArray[Any], n_features: int) -> IntArray:
    """Checked indices of features, or those of a mask, shape (N_r,); `label` names them in messages."""
    if array.dtype == np.bool_:
        if array.shape != (n_features,):
            raise SubsetError(f"mask of {label} must have shape ({n_features},), got {array.shape}")
        array = np.flatnonzero(array)
    if array.ndim != 1 or not array.size:
        raise SubsetError(f"{label} is empty or not one-dimensional; it needs at least one feature")
    if array.dtype.kind not in "iu":
        raise SubsetError(f"indices of {label} must be integers, got {array.dtype}")
    if array.min() < 0 or array.max() >= n_features:
        raise SubsetError(f"indices of {label} must lie in [0, {n_features - 1}], got {array.min()} to {array.max()}")
    if len(np.unique(array)) < len(array):
        raise SubsetError(f"{label} names a feature twice; use SubsetPlan.from_matrices for repeated rows")
    return _read_only(array.astype(int))


def _matrix(member: int, matrix: ArrayLike, n_features: int | None) -> FloatArray:
    A = finite_array(f"matrices[{member}]", matrix)
    if A.ndim != 2 or not A.size:
        raise SubsetError(f"matrices[{member}] must have shape (N_r, n_features) with N_r > 0, got {A.shape}")
    if n_features is not None and A.shape[1] != n_features:
        raise SubsetError(f"matrices[{member}] has {A.shape[1]} columns but the plan has n_features={n_features}")
    return A


def _read_only(array: Kind) -> Kind:
    array.setflags(write=False)
    return array


@runtime_checkable
class Strategy(Protocol):
    """A way to draw subsets again and again.

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
        """

    def fingerprint(self) -> str:
        """Digest of type and contents; equal strategies have equal fingerprints."""


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Fingerprinted):
    """An ensemble of k ridge predictors on subsets of features, and how their outputs are combined.

    Parameters
    ----------
    subsets : SubsetPlan, Strategy or array_like
        A plan; a strategy that draws plans (for simulations); the matrix of subset fractions ν_rr (diagonal) and
        overlap fractions ν_rr′, shape (..., k, k); or the fractions of k disjoint subsets, shape (k,).
    ridge, readout_noise : array_like, shape () or (..., k)
        λ_r and η_r. The last axis is the member (length k, or 1 for a common value); leading axes broadcast with
        sample ratios. Any finite ridge is accepted here; a negative one is checked where it is used.
    aggregation : str or Aggregation, default="mean"
        "mean"; "scaled", the mean times its best scale; "simplex", the best non-negative weights with sum one; "free",
        the best non-negative weights; "median"; or, for classes, "majority" and "sum".
    row_fractions : array_like, shape (k,) or (k, k), optional
        The fraction of the training rows that each member sees, drawn independently for each member. Or a matrix of
        these fractions (diagonal) and of the fractions that two members share. None: every member sees all rows.

    Raises
    ------
    SubsetError
        If fractions contradict each other, such as two members that see more than all features or rows.
    ParameterError
        If a ridge or a noise does not fit the number of members, or there is no such aggregation.
    DataError
        If something is NaN or infinite.

    See Also
    --------
    subridge.subsets : plans and strategies.
    subridge.Aggregation : what an aggregation of your own must define.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.Ensemble([0.1, 0.3, 0.5], ridge=1e-3, readout_noise=[0.1, 0.1, 0.2]).n_members
    3
    >>> ensemble = sr.Ensemble(sr.subsets.equal(2, n_features=10, seed=0))
    >>> ensemble.plan.subset_sizes
    array([5, 5])
    >>> ensemble.fractions
    array([[0.5, 0. ],
           [0. , 0.5]])

    Two members that each see a random 60 % of the rows share 36 % of them:

    >>> sr.Ensemble([0.5, 0.5], row_fractions=[0.6, 0.6]).row_fractions
    array([[0.6 , 0.36],
           [0.36, 0.6 ]])
    """

    subsets: "SubsetPlan | Strategy | FloatArray"
    ridge: FloatArray
    readout_noise: FloatArray
    aggregation: Aggregation
    row_fractions: FloatArray | None = None

    def __init__(
        self,
        subsets: "SubsetPlan | Strategy | ArrayLike",
        ridge: ArrayLike = 0.0,
        readout_noise: ArrayLike = 0.0,
        aggregation: str | Aggregation = "mean",
        row_fractions: ArrayLike | None = None,
    ) -> None:
        kept = subsets if isinstance(subsets, SubsetPlan | Strategy) else _fraction_matrix(subsets)
        self._set(subsets=kept, aggregation=read_aggregation(aggregation), row_fractions=None)
        if row_fractions is not None:
            self._set(row_fractions=_row_matrix(row_fractions, self.n_members))
        values = {"ridge": finite_array("ridge", ridge), "readout_noise": non_negative("readout_noise", readout_noise)}
        for name, each in values.items():
            if each.ndim and each.shape[-1] not in (1, self.n_members):
                raise ParameterError(
                    f"the last axis of {name} is the member and must have length {self.n_members} or 1, got shape "
                    f"{each.shape}; to sweep a common {name} put it on a leading axis: values[:, None]"
                    + (", or give ridges= to risk or simulate" if name == "ridge" else "")
                )
            self._set(**{name: np.atleast_1d(each)})

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        return int(self.subsets.shape[-1]) if isinstance(self.subsets, np.ndarray) else self.subsets.n_members

    @property
    def plan(self) -> SubsetPlan:
        """The subset plan; an ensemble of a strategy or of fractions has none, and raises `SubsetError`."""
        if isinstance(self.subsets, SubsetPlan):
            return self.subsets
        raise SubsetError(
            "the features that each member sees are not known, because the ensemble holds "
            f"{'fractions' if isinstance(self.subsets, np.ndarray) else 'a strategy'}; build it from a SubsetPlan, "
            "for example sr.subsets.equal(n_members, n_features, seed)"
        )

    @property
    def fractions(self) -> FloatArray:
        """Subset fractions ν_rr on the diagonal, overlap fractions ν_rr′ beside it; shape (..., k, k).

        A strategy that draws sizes at random has none, and raises `SubsetError`.
        """
        if isinstance(self.subsets, np.ndarray):
            return self.subsets
        known = getattr(self.subsets, "expected_fractions", None)
        return self.plan.fractions if known is None else _fraction_matrix(known)


def refuse_row_fractions(ensemble: Ensemble, who: str) -> None:
    """Refuse an ensemble whose members see only some of the rows."""
    if ensemble.row_fractions is not None:
        raise ParameterError(f"{who} needs members that see every row; give an Ensemble without row_fractions")


def _fraction_matrix(subsets: ArrayLike) -> FloatArray:
    nu = np.atleast_1d(real_array("subsets", subsets))
    if nu.shape[-1] > _MOST_MEMBERS:
        raise SubsetError(f"fractions of {nu.shape[-1]:,} members make too large a matrix; give fewer")
    nu = np.diag(nu) if nu.ndim == 1 else nu
    if nu.shape[-1] != nu.shape[-2] or not nu.size:
        raise SubsetError(f"fractions must have shape (k,) for disjoint subsets or (..., k, k), got {nu.shape}")
    return _consistent(nu, "subset fractions", "features")


def _row_matrix(row_fractions: ArrayLike, k: int) -> FloatArray:
    """Fractions of the rows and their overlaps, shape (k, k); independent draws share the product of two fractions."""
    f = np.atleast_1d(real_array("row_fractions", row_fractions))
    if f.shape not in ((k,), (k, k)):
        raise SubsetError(f"row_fractions must have shape ({k},) or ({k}, {k}), one row per member, got {f.shape}")
    if f.ndim == 1:
        f = np.where(np.eye(k) > 0, f, np.outer(f, f))
    own = f.diagonal()
    if (abs(own) < 1e-100).any():  # their products must not underflow
        raise SubsetError(f"row fractions must lie in (0, 1] and be at least 1e-100, got {own.min():g}")
    return _consistent(f, "row fractions", "rows")


def _consistent(nu: FloatArray, name: str, things: str) -> FloatArray:
    """Check fractions of features or rows, shape (..., k, k), against each other."""
    own = np.linalg.diagonal(nu)
    all_things = 1 + 1e-12  # fractions are often quotients of counts
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite fractions
        union = np.add(*of_pairs(own)) - nu
        # Things seen by at least one member are at least Σ ν_rr - Σ_{r<s} ν_rs of all (Bonferroni).
        seen = own.sum(axis=-1) - np.triu(nu, 1).sum(axis=(-2, -1))
        faults = {
            f"{name} must lie in (0, 1], got {own.min():g} to {own.max():g}": (own <= 0) | (own > all_things),
            "the matrix of fractions must be symmetric: the overlap of r and s is that of s and r": (
                abs(nu - nu.mT) > 1e-12
            ),
            f"an overlap fraction must lie between 0 and the smaller of the two {name}": (
                (nu < 0) | (nu > np.minimum(*of_pairs(own)) + 1e-12)
            ),
            f"two members together see more than all {things}; raise their overlap or shrink them": union > all_things,
            f"the members together would see {seen.max():g} of all {things}; shrink or overlap them": (
                seen > 1 + 1e-12 * nu.shape[-1]
            ),
        }
    for message, wrong in faults.items():
        if wrong.any():
            raise SubsetError(message)
    return _read_only(nu)

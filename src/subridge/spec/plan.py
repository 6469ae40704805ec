"""Which features each member sees."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from subridge.arrays.namespace import add_at_last, rows_times, scatter_last, take_last
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray
from subridge.model.checks import finite_array, items_of, positive_integer
from subridge.model.errors import SubsetError
from subridge.model.fingerprint import Fingerprinted

Kind = TypeVar("Kind", IntArray, FloatArray)

MOST_FEATURES = 10**8  # M; indices of more do not fit into the memory of most machines


@dataclass(frozen=True, eq=False)
class SubsetPlan(Fingerprinted):
    """The measurement A_r of every member: index arrays, or dense N_r × M matrices.

    Build one by `from_indices`, `from_matrices`, or a strategy in ``subridge.subsets``.

    Parameters
    ----------
    measurements : tuple of ndarray, each of shape (N_r,) or (N_r, M)
        A_r: the indices of the features that member r sees, or a matrix that measures combinations of them.
    n_features : int
        M.

    Raises
    ------
    SubsetError
        If there is no member, or one is empty, out of range, or names a feature twice.
    ParameterError
        If `n_features` is no positive integer.

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
        checked = tuple(
            _matrix(r, A, M) if np.ndim(A) == 2 else _indices(r, A, M) for r, A in enumerate(self.measurements)
        )
        if not checked:
            raise SubsetError("a plan needs at least one member")
        object.__setattr__(self, "n_features", M)
        object.__setattr__(self, "measurements", checked)

    @classmethod
    def from_indices(cls, index_arrays: Iterable[ArrayLike], n_features: int) -> "SubsetPlan":
        """Plan from one array of feature indices per member.

        Parameters
        ----------
        index_arrays : iterable of array_like of int, each of shape (N_r,)
            The features of each member, counted from 0; or masks of bool, each of shape (M,).
        n_features : int
            M.

        Returns
        -------
        SubsetPlan
            A plan with as many members as there are arrays.

        Raises
        ------
        SubsetError
            If there is no member, or one is empty, out of range, or names a feature twice.
        ParameterError
            If `n_features` is no positive integer, or `index_arrays` is no list.

        Examples
        --------
        >>> import subridge as sr
        >>> sr.SubsetPlan.from_indices([[0, 1, 2], [2, 3]], n_features=4).fractions
        array([[0.75, 0.25],
               [0.25, 0.5 ]])
        """
        M = positive_integer("n_features", n_features, MOST_FEATURES)
        return cls(tuple(_indices(r, index, M) for r, index in enumerate(items_of("index_arrays", index_arrays))), M)

    @classmethod
    def from_matrices(cls, matrices: Iterable[ArrayLike]) -> "SubsetPlan":
        """Plan from one measurement matrix per member.

        Parameters
        ----------
        matrices : iterable of array_like, each of shape (N_r, M)
            A_r; row i of it is measurement i of member r. Each is copied before the next is asked for, so that matrices
            made on the way are never all held twice.

        Returns
        -------
        SubsetPlan
            A plan with as many members as there are matrices.

        Raises
        ------
        SubsetError
            If there is no matrix, or they differ in their number of columns.
        ParameterError
            If `matrices` is no list.

        Examples
        --------
        >>> import numpy as np, subridge as sr
        >>> sr.SubsetPlan.from_matrices([np.eye(4)[:2], np.ones((1, 4))]).subset_sizes
        array([2, 1])
        """
        each = matrices if isinstance(matrices, Iterator) else items_of("matrices", matrices)
        arrays = [_matrix(r, matrix, None) for r, matrix in enumerate(each)]
        if not arrays:
            raise SubsetError("a plan needs at least one member")
        return cls(tuple(arrays), arrays[0].shape[1])

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        return len(self.measurements)

    @property
    def selects_features(self) -> bool:
        """True when every member sees a plain subset of the features."""
        return all(A.ndim == 1 for A in self.measurements)

    @cached_property
    def subset_sizes(self) -> IntArray:
        """Numbers N_r of features that the members see, shape (k,)."""
        return _read_only(np.array([len(A) for A in self.measurements]))

    @cached_property
    def fractions(self) -> FloatArray:
        """Subset fractions ν_rr on the diagonal, overlap fractions ν_rr′ beside it; shape (k, k).

        A plan with dense measurements has none, which is a SubsetError.
        """
        if not self.selects_features:
            raise SubsetError("overlap fractions exist for feature subsets only, and this plan has dense measurements")
        member = np.zeros((self.n_members, self.n_features))
        for r, index in enumerate(self.measurements):
            member[r, index] = 1.0
        return _read_only(np.asarray(member @ member.T / self.n_features))

    def measure(self, member: int, X: Array) -> Array:
        """What a member sees of samples: ``A_r x`` for every row x of X.

        Parameters
        ----------
        member : int
            r, counted from 0.
        X : array, shape (..., M)
            Samples, in any supported array library.

        Returns
        -------
        array, shape (..., N_r)
            In the library of X.
        """
        A = self.measurements[member]
        return take_last(X, A) if A.ndim == 1 else rows_times(X, A.T)

    def lift(self, member: int, weights: FloatArray) -> FloatArray:
        """Put the weights of a member in their places among all features, ``A_rᵀ w``.

        Parameters
        ----------
        member : int
            r, counted from 0.
        weights : ndarray, shape (N_r,) or (N_r, n)
            One weight per feature that the member sees; n of them side by side.

        Returns
        -------
        ndarray, shape (M,) or (M, n)
            Zero for features that the member does not see.
        """
        return np.asarray(self.lift_rows(member, weights.T).T)

    def lift_rows(self, member: int, rows: Array) -> Array:
        """Put rows of weights in their places, as `lift` does, in any supported array library.

        Parameters
        ----------
        member : int
            r, counted from 0.
        rows : array, shape (..., N_r)
            Weights of the features that the member sees.

        Returns
        -------
        array, shape (..., M)
            In the library of the rows.
        """
        A = self.measurements[member]
        return scatter_last(rows, A, self.n_features) if A.ndim == 1 else rows_times(rows, A)

    def add_lifted(self, member: int, rows: Array, into: Array) -> None:
        """Add what `lift_rows` gives to an array, in place.

        Parameters
        ----------
        member : int
            r, counted from 0.
        rows : array, shape (..., N_r)
            Weights of the features that the member sees.
        into : array, shape (..., M)
            Is changed.
        """
        A = self.measurements[member]
        if A.ndim == 1:
            add_at_last(into, A, rows)
        else:
            into += rows_times(rows, A)


def _indices(member: int, index: ArrayLike, n_features: int) -> IntArray:
    array = np.array(index)
    if array.dtype == np.bool_:
        if array.shape != (n_features,):
            raise SubsetError(f"mask of member {member} must have shape ({n_features},), got {array.shape}")
        array = np.flatnonzero(array)
    if array.ndim != 1 or not array.size:
        raise SubsetError(f"member {member} is empty or not one-dimensional; every member needs a feature")
    if array.dtype.kind not in "iu":
        raise SubsetError(f"indices of member {member} must be integers, got {array.dtype}")
    if array.min() < 0 or array.max() >= n_features:
        span = f"{array.min()} to {array.max()}"
        raise SubsetError(f"indices of member {member} must lie in [0, {n_features - 1}], got {span}")
    if len(np.unique(array)) < len(array):
        raise SubsetError(f"member {member} names a feature twice; use SubsetPlan.from_matrices for repeated rows")
    return _read_only(array.astype(np.int64))


def _matrix(member: int, matrix: ArrayLike, n_features: int | None) -> FloatArray:
    A = matrix if _is_kept(matrix) else finite_array(f"matrices[{member}]", matrix)
    if A.ndim != 2 or not A.size:
        raise SubsetError(f"matrices[{member}] must have shape (N_r, n_features) with N_r > 0, got {A.shape}")
    if n_features is not None and A.shape[1] != n_features:
        raise SubsetError(f"matrices[{member}] has {A.shape[1]} columns but the plan has n_features={n_features}")
    return A


def _is_kept(matrix: ArrayLike) -> TypeGuard[FloatArray]:
    """Whether a matrix is one that nobody can change any more, and needs no copy."""
    if not isinstance(matrix, np.ndarray) or matrix.dtype != np.float64 or matrix.flags.writeable:
        return False
    return matrix.base is None and bool(np.isfinite(matrix).all())


def _read_only(array: Kind) -> Kind:
    array.setflags(write=False)
    return array

"""Second moments of members and target, and the weights that minimise the error."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import namespace_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray, IntArray
from subridge.model.checks import real_array
from subridge.model.errors import ParameterError

_EPS = float(np.finfo(np.float64).eps)
# A non-negative minimum is found directly if every member has at least this share of its power to itself.
_APART = 1e-4
# Members whose outputs differ by less than this share of their power count as one and share its weight.
_ALIKE = 1e-12
# One or two steps are enough; a cycle is left to a slower search.
_MOST_STEPS = 20
# Rounding error of a slope, relative to the terms of its sum.
_ROUNDING = 1e-14


class Outputs(NamedTuple):
    """Moments of the outputs, if they are known directly and not as differences of the target's power and errors.

    Members shrunk to almost nothing then keep every digit. `c` has shape (..., k), `F` (..., k, k), and `dc` and `dF`
    bound their rounding; `dv`, shape (...), bounds that of the target's power, a sum whose terms may cancel.
    """

    c: FloatArray
    F: FloatArray
    dc: FloatArray
    dF: FloatArray
    dv: FloatArray


@dataclass(frozen=True, eq=False)
class MemberMoments:
    """Second moments of the members' errors e_r = y - f_r and of the target y, by theory or from left-out samples.

    If members have an intercept, outputs and target are measured from the target's mean. Weights that do not sum to one
    then scale what the features explain and leave the mean alone.

    Attributes
    ----------
    pairs : ndarray, shape (..., k, k)
        ``E_rr′``: mean product of the errors of two members. From data it includes the label noise ζ².
    missed : ndarray, shape (..., k), or None
        ``E[y e_r] = v - c_r``: what member r misses of the target's power. It stays finite if v is infinite.
    v : ndarray, shape (...), or None
        ``E[y²]``, the power of the target. None, as `missed`, if only weights of sum one are compared.
    outputs : Outputs or None
        c and F, which theory knows directly; None if they follow from the rest.
    behind : ndarray, shape (k,) or (..., k), or None
        Number of independent labels behind the moments of each member; None if the moments count as exact. Zero if too
        few rows determine a member to judge its weight.

    Examples
    --------
    Two members that each output half of a target of power one; with weights one they make no error together:

    >>> moments = MemberMoments(np.full((2, 2), 0.25), np.full(2, 0.5), np.ones(()))
    >>> moments.c, moments.F
    (array([0.5, 0.5]), array([[0.25, 0.25],
           [0.25, 0.25]]))
    >>> moments.risk_of(np.array([[0.5, 0.5], [1.0, 1.0]]))
    array([0.25, 0.  ])
    """

    pairs: FloatArray
    missed: FloatArray | None = None
    v: FloatArray | None = None
    outputs: Outputs | None = None
    behind: FloatArray | None = None

    @classmethod
    def of_errors(
        cls, errors: Array, targets: Array, sample_weights: Array, *, per_target: bool = False
    ) -> "MemberMoments":
        """Moments from left-out samples, summed over targets or of each target.

        Parameters
        ----------
        errors : array, shape (..., k, C, n)
            ``y_i - f_r^(-i)(x_i)``.
        targets : array, shape (..., C, n)
            ``y_i - ȳ^(-i)`` with an intercept, where ȳ^(-i) is the mean of the other samples, and y_i without one.
        sample_weights : array, shape (..., n)
        per_target : bool
            Keep an axis of C targets: shapes (..., C, k, k), (..., C, k) and (..., C).
        """
        xp, totals = namespace_of(errors), to_numpy(sample_weights.sum(axis=-1))
        if not bool((sample_weights == 1).all()):
            root = (sample_weights**0.5)[..., None, :]
            errors, targets = errors * root[..., None, :, :], targets * root
        if per_target:
            order = (*range(errors.ndim - 3), errors.ndim - 2, errors.ndim - 3, errors.ndim - 1)
            errors, targets, totals = xp.permute_dims(errors, order), targets[..., None, :], totals[..., None]
        else:
            errors = errors.reshape((*errors.shape[:-2], -1))
            targets = targets.reshape((*targets.shape[:-2], 1, -1))
        across = xp.matrix_transpose(errors)
        products = to_numpy(errors @ across) / totals[..., None, None]
        missed = to_numpy(targets @ across)[..., 0, :] / totals[..., None]
        v = to_numpy((targets * targets).sum(axis=-1))[..., 0] / totals
        return cls(0.5 * (products + np.swapaxes(products, -1, -2)), missed, np.asarray(v))

    def of_members(self, chosen: IntArray) -> "MemberMoments":
        """Moments of some of the members, by number.

        >>> MemberMoments(np.diag([1.0, 2.0, 3.0])).of_members(np.array([0, 2])).pairs
        array([[1., 0.],
               [0., 3.]])
        """
        missed = None if self.missed is None else self.missed[..., chosen]
        behind = None if self.behind is None else self.behind[..., chosen]
        return MemberMoments(self.pairs[..., chosen[:, None], chosen], missed, self.v, None, behind)

    @property
    def n_members(self) -> int:
        """k."""
        return int(self.pairs.shape[-1])

    @property
    def c(self) -> FloatArray:
        """Cross moments ``c_r = E[y f_r]`` of target and outputs, shape (..., k); infinite where v is."""
        if self.outputs is not None:
            return self.outputs.c
        missed, v = self.with_target()
        return np.asarray(v[..., None] - missed)

    @property
    def F(self) -> FloatArray:
        """Products ``F_rr′ = E[f_r f_r′] = E_rr′ - v + c_r + c_r′``, shape (..., k, k); infinite where v is."""
        if self.outputs is not None:
            return self.outputs.F
        missed, v = self.with_target()
        return np.asarray(self.pairs + (v[..., None, None] - missed[..., :, None] - missed[..., None, :]))

    def with_target(self) -> tuple[FloatArray, FloatArray]:
        """`missed` and v; `ParameterError` if they are not known."""
        if self.missed is None or self.v is None:
            raise ParameterError(
                "weights that do not sum to one need the moments of the target, which are not known here; "
                'use aggregation="mean" or "simplex"'
            )
        return self.missed, self.v

    def risk_of(self, weights: FloatArray) -> FloatArray:
        """``E(w) = v - 2wᵀc + wᵀFw``, shape (...); a member with infinite error and weight zero adds nothing.

        It is computed as ``(1-Σw)² v + 2(1-Σw) wᵀ(v - c) + wᵀEw``, in which nothing cancels. The other form is used
        where huge weights multiply tiny outputs whose moments are known directly.
        """
        value, size = self.by_errors(weights)
        if self.outputs is None:
            return value
        other, other_size = self.by_outputs(weights, self.outputs)
        return np.where(other_size < size, other, value)

    def by_errors(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The risk from `pairs` and `missed`, and the size of its terms."""
        products = weights[..., :, None] * weights[..., None, :]
        terms = products * np.where(products != 0, self.pairs, 0.0)
        own, size = terms.sum(axis=(-2, -1)), np.abs(terms).sum(axis=(-2, -1))
        rest = 1.0 - weights.sum(axis=-1)
        apart = np.abs(rest) > 4 * self.n_members * _EPS  # else the sum is one up to rounding
        if not apart.any():
            return np.asarray(own), np.asarray(size)
        missed, v = self.with_target()
        with np.errstate(invalid="ignore"):
            shared = weights * np.where(weights != 0, missed, 0.0)
            value = rest**2 * v + 2 * rest * shared.sum(axis=-1) + own
            total = rest**2 * v + 2 * np.abs(rest) * np.abs(shared).sum(axis=-1) + size
        return np.where(apart, value, own), np.where(apart, total, size)

    def by_outputs(self, weights: FloatArray, outputs: Outputs) -> tuple[FloatArray, FloatArray]:
        """The risk from the outputs' own moments, and the size of its terms, infinite where the target's power is."""
        products = weights[..., :, None] * weights[..., None, :]
        v = self.with_target()[1]
        with np.errstate(invalid="ignore"):
            terms = (products * np.where(products != 0, outputs.F, 0.0)).sum(axis=(-2, -1))
            explained = (weights * np.where(weights != 0, outputs.c, 0.0)).sum(axis=-1)
            size = v + 2 * np.abs(explained) + np.abs(terms)
            return np.asarray(v - 2 * explained + terms), np.where(np.isnan(size), np.inf, size)


def error_products(errors: Array, sample_weights: Array) -> FloatArray:
    """``Σ_i w_i e_ri e_r′i / Σ_i w_i`` from left-out errors, summed over targets: an estimate of ``E_rr′ + ζ²``.

    Errors ``y_i - f_r^(-i)(x_i)`` have shape (k, C, n), sample weights (n,). The products, shape (k, k), lie in host
    memory and include the label noise ζ², which training data alone cannot separate from the risk.
    """
    return MemberMoments.of_errors(errors, errors[0], sample_weights).pairs


def member_weights(pairs: ArrayLike, *, simplex: bool = True) -> FloatArray:
    """The weights w with sum one that minimise ``wᵀ E w``.

    Parameters
    ----------
    pairs : array_like, shape (..., k, k)
        E_rr′, from `risk` or estimated. Members with infinite error get weight zero.
    simplex : bool
        Keep every weight non-negative; otherwise w = E⁻¹1/(1ᵀE⁻¹1).

    Returns
    -------
    ndarray, shape (..., k)
        One weight per member.

    Raises
    ------
    ParameterError
        If `pairs` is no square matrix, or every member's error is infinite.
    DataError
        If it holds NaN.

    Examples
    --------
    >>> member_weights([[1.0, 0.0], [0.0, 3.0]])
    array([0.75, 0.25])
    """
    E = real_array("pairs", pairs)
    if E.ndim < 2 or E.shape[-1] != E.shape[-2]:
        raise ParameterError(f"pairs must have shape (..., k, k), got {E.shape}")
    own, unit = np.diagonal(E, axis1=-2, axis2=-1), np.eye(E.shape[-1])
    if not np.isfinite(own).any(axis=-1).all():
        raise ParameterError("every member has infinite error; no weighting makes it finite")
    perfect = own <= 0  # members without error share all of the weight
    usable = np.isfinite(own) & ~perfect
    # Pairs in units of the members' own errors, and the least unit over each. Other members are apart from these.
    size = np.sqrt(np.where(usable, own, 1.0))
    b = np.where(usable, size.min(axis=-1, where=usable, initial=np.inf, keepdims=True) / size, 0.0)
    A = np.where(usable[..., :, None] & usable[..., None, :], (E + np.swapaxes(E, -1, -2)) / 2, unit)
    A = A / size[..., :, None] / size[..., None, :]
    if simplex:
        # min yᵀAy over bᵀy = 1 lies along the minimum of yᵀAy + (bᵀy - 1)², which exists for any A.
        y = minimum_nonnegative(A + b[..., :, None] * b[..., None, :], b)
    else:
        # Members that duplicate each other make E singular; the solution of least norm shares their weight.
        inverse = np.linalg.pinv(A, rcond=len(unit) * _EPS, hermitian=True)
        y = np.asarray((inverse @ b[..., None])[..., 0], dtype=np.float64)
    weights = np.where(perfect.any(axis=-1, keepdims=True), perfect, y * b)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def minimum_nonnegative(A: FloatArray, b: FloatArray) -> FloatArray:
    """The minimum of ``yᵀAy - 2bᵀy`` over y ≥ 0, for semi-definite A of shape (..., k, k) and b (..., k)."""
    shape, k = b.shape, b.shape[-1]
    # In units of the diagonal, so that a shrunken member is as good as any other.
    size = np.sqrt(np.diagonal(A, axis1=-2, axis2=-1))
    A = (A / size[..., :, None] / size[..., None, :]).reshape(-1, k, k)
    A, b = (A + np.swapaxes(A, 1, 2)) / 2, (b / size).reshape(-1, k)
    found, known = least_nonnegative(A, b)
    for i in np.flatnonzero(~known):
        from scipy.optimize import nnls  # takes longer to import than all the rest

        values, vectors = np.linalg.eigh(A[i])
        # An estimated A may be slightly indefinite; what lies below rounding is noise.
        kept = values > _ALIKE * values[-1]
        root = np.sqrt(values[kept])
        design, answer = root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ b[i] / root
        # A trace of weight decay, far below rounding of the error, lets duplicates share and keeps opposites small.
        decay = np.sqrt(_ALIKE * values[-1]) * np.eye(k)
        found[i] = nnls(np.vstack([design, decay]), np.append(answer, np.zeros(k)))[0]
    return np.asarray(found.reshape(shape) / size)


def least_nonnegative(A: FloatArray, b: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The minimum of ``yᵀAy - 2bᵀy`` over y ≥ 0 for many small problems at once.

    A of unit diagonal has shape (m, k, k) and b (m, k). Returns solutions (m, k), and which of them were found (m,):
    only those are sought in which no member is explained by the others. If ``A⁻¹b`` is not negative, it is the answer.
    Otherwise negative entries are left out, and entries that would lower the sum are added, until nothing changes.

    >>> least_nonnegative(np.array([[[1.0, 0.5], [0.5, 1.0]]] * 2), np.array([[1.0, 1.0], [1.0, 0.2]]))[0].round(3)
    array([[0.667, 0.667],
           [1.   , 0.   ]])
    """
    try:
        solved: FloatArray = np.asarray(np.linalg.solve(A, b[:, :, None])[:, :, 0], dtype=np.float64)
        known = np.diagonal(np.linalg.cholesky(A), axis1=1, axis2=2).min(axis=1) ** 2 >= _APART
    except np.linalg.LinAlgError:  # at least one is singular or indefinite: solve each alone
        if len(A) == 1:
            return np.zeros(b.shape), np.zeros(1, dtype=bool)
        parts = [least_nonnegative(A[i : i + 1], b[i : i + 1]) for i in range(len(A))]
        return np.concatenate([found for found, _ in parts]), np.concatenate([known for _, known in parts])
    guess: BoolArray | None = None
    for i in np.flatnonzero(known & (solved < 0).any(axis=1)):
        # Problems solved together, one for each left-out sample or ridge, are much alike.
        counted = solved[i] > 0 if guess is None else guess
        solved[i], known[i], guess = 0.0, False, None
        for _ in range(_MOST_STEPS):
            inside = np.flatnonzero(counted)
            y = np.zeros(len(b[i]))
            y[inside] = np.linalg.solve(A[i][np.ix_(inside, inside)], b[i, inside])
            slope, terms = A[i] @ y - b[i], np.abs(y).max(initial=0.0) + np.abs(b[i])
            wrong = np.where(counted, y < 0, slope < -_ROUNDING * len(y) * terms)
            if not wrong.any():
                solved[i], known[i], guess = y, True, y > 0
                break
            counted = counted ^ wrong
    return solved, known

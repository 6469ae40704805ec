"""How the outputs of the members are combined: every aggregation, and its name.

To add one, subclass `Aggregation` (or `LinearAggregation` for a weighted sum) here and list it in `AGGREGATIONS`. Code
elsewhere asks the attributes of an aggregation, such as ``is_linear``, and never for its class.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subridge.arrays.namespace import device_of, like, namespace_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray, IntArray
from subridge.model.checks import Fingerprinted, non_negative, real_array, truth
from subridge.model.errors import ParameterError

__all__ = [
    "AGGREGATIONS",
    "Aggregation",
    "FittedAggregation",
    "Free",
    "LinearAggregation",
    "Loss",
    "Majority",
    "Mean",
    "Median",
    "Scaled",
    "Settled",
    "Simplex",
    "Summed",
    "WeightedMajority",
    "read_aggregation",
]

# The error to minimise, and the error that decides between equals.
Loss: TypeAlias = tuple[float, float]

EPS = float(np.finfo(np.float64).eps)
# Least eigenvalue of the scaled products of the members for which exchanges of members find a non-negative minimum.
_APART = 1e-4
_EXCHANGES = 20  # at most, for such a minimum; eight members took up to seven
# Members whose outputs differ by less than this share of their power count as one member and share one weight. It is 18
# roundings.
ALIKE = 4e-15
TINY = float(np.finfo(np.float64).tiny)
# If the outputs are known only as a difference of the target's power and the error, a power below this share of the
# target's is mostly rounding error. Such outputs count as zero.
SILENT = 1e-11
# Smallest share of a vote that makes the winner of a tie larger, in single precision too.
_LEAST = 4e-7
# Share of a vote that summed scores may add to weighted votes: it decides ties and nothing else.
_TIE = 1e-6


class Outputs(NamedTuple):
    """Moments of the outputs, if they are known directly and not as differences of the target's power and errors.

    They keep every digit even if the outputs are almost zero. `c` has shape (..., k) and `F` (..., k, k). `dc` and `dF`
    bound their rounding. `dv`, shape (...), bounds that of the target's power, a sum whose terms may cancel.
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
        ``E[y e_r] = v - c_r``: the part of the target's power that member r misses. It is finite even if v is not.
    v : ndarray, shape (...), or None
        ``E[y²]``, the power of the target. None, as `missed`, if only weights of sum one are compared.
    outputs : Outputs or None
        c and F, which theory knows directly; None if they follow from the rest.
    behind : ndarray, shape (k,) or (..., k), or None
        Number of independent labels behind the moments of each member; None if the moments count as exact. Zero if
        there are too few rows to judge the weight of a member.

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

        Errors ``y_i - f_r^(-i)(x_i)`` have shape (..., k, C, n). Targets, shape (..., C, n), are y_i, or with an
        intercept their differences from the mean of the other samples. Weights of samples have shape (..., n). Moments
        of each target have an axis of C targets before the members.
        """
        if per_target:  # one problem for each target
            one_each = namespace_of(errors).moveaxis(errors, -2, -3)[..., None, :]
            return cls.of_errors(one_each, targets[..., None, :], sample_weights[..., None, :])
        totals = to_numpy(sample_weights.sum(axis=-1))
        if not (sample_weights == 1).all():
            root = (sample_weights**0.5)[..., None, :]
            errors = errors * root[..., None, :, :]
            targets = targets * root
        errors = errors.reshape(*errors.shape[:-2], -1)
        targets = targets.reshape(*targets.shape[:-2], 1, -1)
        products = to_numpy(errors @ errors.mT) / totals[..., None, None]
        missed = to_numpy(targets @ errors.mT)[..., 0, :] / totals[..., None]
        v = to_numpy((targets * targets).sum(axis=-1))[..., 0] / totals
        return cls(0.5 * (products + products.mT), missed, np.asarray(v))

    def of_members(self, chosen: IntArray) -> "MemberMoments":
        """Moments of some of the members, by number.

        >>> MemberMoments(np.diag([1.0, 2.0, 3.0])).of_members(np.array([0, 2])).pairs
        array([[1., 0.],
               [0., 3.]])
        """
        missed = None if self.missed is None else self.missed[..., chosen]
        behind = None if self.behind is None else self.behind[..., chosen]
        return MemberMoments(self.pairs[..., chosen[:, None], chosen], missed, self.v, None, behind)

    def of_batch(self, place: int) -> "MemberMoments":
        """Moments at one place of the first axis, without those of the outputs."""
        return MemberMoments(
            **{name: each[place] for name, each in vars(self).items() if each is not None and name != "outputs"}
        )

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        return int(self.pairs.shape[-1])

    @property
    def c(self) -> FloatArray:
        """Cross moments ``c_r = E[y f_r]`` of target and outputs, shape (..., k); infinite where v is."""
        if self.outputs is not None:
            return self.outputs.c
        missed, v = self.with_target()
        return v[..., None] - missed

    @property
    def F(self) -> FloatArray:
        """Products ``F_rr′ = E[f_r f_r′] = E_rr′ - v + c_r + c_r′``, shape (..., k, k); infinite where v is."""
        if self.outputs is not None:
            return self.outputs.F
        missed, v = self.with_target()
        return self.pairs + (v[..., None, None] - missed[..., None] - missed[..., None, :])

    @property
    def silence(self) -> FloatArray:
        """Largest power of outputs that count as zero, shape (...); a power loses digits below the range of floats."""
        return np.asarray(TINY if self.outputs is not None else SILENT * self.with_target()[1])

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
        value = self.by_errors(weights)
        if self.outputs is None:
            return value
        other, size = self.by_outputs(weights, self.outputs)
        return np.where(size < self.by_errors(weights, absolute=True), other, value)

    def rest(self, weights: FloatArray) -> FloatArray:
        """One minus the sum of the weights, shape (...); zero if that is rounding error."""
        rest = 1.0 - weights.sum(axis=-1)
        return np.where(abs(rest) > 4 * self.n_members * EPS, rest, 0.0)

    @np.errstate(invalid="ignore", over="ignore")  # a large ridge may shrink outputs below 1e-150
    def by_errors(self, weights: FloatArray, absolute: bool = False) -> FloatArray:
        """The risk from `pairs` and `missed`, or the sum of the `absolute` values of its terms."""
        of = np.abs if absolute else np.positive
        w = of(weights)
        own = quadratic(w, of(self.pairs))
        rest = of(self.rest(weights))
        if not rest.any():
            return own
        missed, v = self.with_target()
        return weighted(rest**2, v) + 2 * weighted(rest, linear(w, of(missed))) + own

    @np.errstate(invalid="ignore", over="ignore")
    def by_outputs(self, weights: FloatArray, outputs: Outputs) -> tuple[FloatArray, FloatArray]:
        """The risk from the outputs' own moments, and the size of its terms, infinite where the target's power is."""
        v = self.with_target()[1]
        explained = linear(weights, outputs.c)
        spread = quadratic(weights, outputs.F)
        size = v + 2 * abs(explained) + abs(spread)
        return v - 2 * explained + spread, np.where(np.isnan(size), np.inf, size)


def weighted(weights: FloatArray, values: FloatArray) -> FloatArray:
    """``w_r x_r``, shape (..., k), where 0 · inf counts as 0."""
    return weights * np.where(weights != 0, values, 0.0)


def linear(weights: FloatArray, values: FloatArray) -> FloatArray:
    """``wᵀx``, shape (...)."""
    return np.asarray(weighted(weights, values).sum(axis=-1))


def quadratic(weights: FloatArray, pairs: FloatArray) -> FloatArray:
    """``wᵀXw``, shape (...)."""
    return np.asarray(weighted(outer(weights), pairs).sum(axis=(-2, -1)))


def of_pairs(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """x_r and x_s of every pair of members, shapes (..., k, 1) and (..., 1, k), from x of shape (..., k)."""
    return x[..., None], x[..., None, :]


def outer(x: NDArray[Any]) -> NDArray[Any]:
    """``x_r x_s`` of every pair of members, shape (..., k, k); of truth values, whether both are true."""
    return np.asarray(np.multiply(*of_pairs(x)))


def quotient(x: FloatArray, y: FloatArray) -> FloatArray:
    """x/y, and 0 where y is not positive; the shape of x includes that of y."""
    return np.divide(x, y, out=np.zeros_like(x), where=y > 0)


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
        If `pairs` is not a square matrix, or every member's error is infinite.
    DataError
        If it holds NaN.

    Examples
    --------
    >>> member_weights([[1.0, 0.0], [0.0, 3.0]])
    array([0.75, 0.25])
    """
    E = real_array("pairs", pairs)
    truth("simplex", simplex)
    if E.ndim < 2 or E.shape[-1] != E.shape[-2]:
        raise ParameterError(f"pairs must have shape (..., k, k), got {E.shape}")
    usable = np.isfinite(np.linalg.diagonal(E))
    if not usable.any(axis=-1).all():
        raise ParameterError("every member has infinite error; no weighting makes it finite")
    if not np.isfinite(E[outer(usable)]).all():
        raise ParameterError("pairs of two members with finite errors must be finite, by Cauchy and Schwarz")
    weights = least_along(E, np.ones(E.shape[:-1]), usable, simplex)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def least_along(A: FloatArray, b: FloatArray, usable: BoolArray, simplex: bool = True) -> FloatArray:
    """The w that minimises ``wᵀAw`` over ``bᵀw = 1``, up to a factor; non-negative if `simplex`.

    A has shape (..., k, k); b, and which members are `usable`, (..., k). The others have weight zero.
    """
    own = np.linalg.diagonal(A)
    k = A.shape[-1]
    perfect = usable & (own <= 0) & (b > 0)  # members without error share all of the weight
    usable = usable & (own > 0)
    # In units of the members' own errors; `relative` is the least unit over each. Other members get unit rows.
    size = np.sqrt(np.where(usable, own, 1.0))
    relative = np.where(usable, size.min(axis=-1, where=usable, initial=np.inf, keepdims=True) / size, 0.0)
    A = np.where(outer(usable), (A + A.mT) / 2, np.eye(k))
    A = A / size[..., None] / size[..., None, :]
    b = b * relative
    b = b / np.maximum(abs(b).max(axis=-1, keepdims=True), TINY)
    if simplex:
        # min yᵀAy over bᵀy = 1 lies along the minimum of yᵀAy + (bᵀy - 1)², which exists for any A.
        y = minimum_nonnegative(A + outer(b), b)
    else:
        # Members that duplicate each other make A singular; the solution of least norm shares their weight.
        y = (np.linalg.pinv(A, rcond=k * EPS, hermitian=True) @ b[..., None])[..., 0]
    return np.where(perfect.any(axis=-1, keepdims=True), perfect, y * relative)


def minimum_nonnegative(A: FloatArray, b: FloatArray) -> FloatArray:
    """The minimum of ``yᵀAy - 2bᵀy`` over y ≥ 0, for semi-definite A of shape (..., k, k) and b (..., k) of order one.

    For all problems at once, members with negative weight are dropped and others are taken back, until nothing changes.
    SciPy's `nnls` solves problems whose members are nearly dependent, or whose exchanges do not end.

    >>> minimum_nonnegative(np.array([[[1.0, 0.5], [0.5, 1.0]]] * 2), np.array([[1.0, 1.0], [1.0, 0.2]])).round(3)
    array([[0.667, 0.667],
           [1.   , 0.   ]])
    """
    apart = np.linalg.eigvalsh(A)[..., :1] >= _APART
    used = np.broadcast_to(apart, b.shape)
    for _ in range(_EXCHANGES):
        y = np.linalg.solve(np.where(outer(used), A, np.eye(b.shape[-1])), (used * b)[..., None])[..., 0]
        wrong = apart & np.where(used, y < 0, b - (A @ y[..., None])[..., 0] > ALIKE)
        if not wrong.any():
            break
        used = used ^ wrong
    hard = ~apart[..., 0] | wrong.any(axis=-1)
    if hard.any():
        from scipy.optimize import nnls  # takes longer to import than all the rest

        values, vectors = np.linalg.eigh(A[hard])
        # Below the floor eigenvalues are rounding error, and so is b. The floor lets duplicates share their weight.
        root = np.sqrt(np.maximum(values, ALIKE * values[:, -1:]))
        along = (vectors.mT @ b[hard][..., None])[..., 0]
        heard = np.where(abs(along) > ALIKE, along, 0.0)
        y[hard] = [nnls(*each)[0] for each in zip(root[..., None] * vectors.mT, heard / root, strict=True)]
    return np.asarray(y, dtype=float)


@dataclass(frozen=True, eq=False)
class Settled:
    """Weights chosen from moments, and their errors; every field has the leading axes (...) of the moments.

    Attributes
    ----------
    weights : ndarray, shape (..., k)
        Weights of the members.
    least : ndarray, shape (...)
        The least error that weights of this kind reach on the samples at hand.
    expected : ndarray, shape (...)
        The error expected of the weights on new samples.
    n_fitted : ndarray, shape (...)
        Number of values that were fitted.

    Examples
    --------
    >>> settled = Mean().settle(MemberMoments(np.eye(2)))
    >>> isinstance(settled, Settled), settled.weights, float(settled.expected)
    (True, array([0.5, 0.5]), 0.5)
    """

    weights: FloatArray
    least: FloatArray
    expected: FloatArray
    n_fitted: FloatArray


@dataclass(frozen=True, eq=False)
class Aggregation(Fingerprinted, ABC):
    """A way to combine the outputs of k members into one.

    Attributes
    ----------
    name : str
        As it is written in ``Ensemble(aggregation=...)``.
    is_linear : bool
        Whether the aggregate is a weighted sum of the outputs.
    fits_weights : bool
        Whether the weights are fitted to the members' errors.
    per_target : bool
        Whether every target has weights of its own.
    sums_to_one : bool
        Whether the weights always sum to one.
    equal_weights : bool
        Whether all members have the same weight.
    is_mean : bool
        Whether it is the plain mean.
    decides_classes : bool
        Whether it turns scores into a class rather than into a number.
    counts_votes : bool
        Whether every member votes for one class.
    adds_scores : bool
        Whether the scores of the members are summed.

    Examples
    --------
    An aggregation of your own defines how outputs combine. It may also define the `loss` that the choice of a ridge
    minimises, which is otherwise the squared error or the share of misclassified samples:

    >>> import numpy as np
    >>> class Largest(Aggregation):
    ...     name = "largest"
    ...
    ...     def combine(self, outputs, weights=None):
    ...         return outputs.max(axis=0)
    >>> Largest().combine(np.array([[[1.0, 2.0]], [[3.0, 0.0]]]))
    array([[3., 2.]])
    >>> Largest().loss(np.array([[[1.0, 0.0]], [[2.0, 2.0]]]), np.zeros((1, 2)), np.ones(2))
    (0.5, 0.0)

    Weights are chosen from the moments of left-out errors, here of two members, one target and two samples:

    >>> import subridge as sr
    >>> simplex = sr.aggregation.Simplex()
    >>> errors = np.array([[[1.0, 1.0]], [[1.0, -1.0]]])
    >>> moments = simplex.moments(errors, np.zeros((1, 2)), np.ones(2))
    >>> moments.pairs
    array([[1., 0.],
           [0., 1.]])
    >>> weights = simplex.weights(moments)
    >>> weights, float(simplex.n_fitted(weights)), float(simplex.settle(moments).expected.round(12))
    (array([0.5, 0.5]), 1.0, 0.5)
    >>> simplex.combine(np.array([[[4.0]], [[2.0]]]), weights)
    array([[3.]])
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False
    fits_weights: ClassVar[bool] = False
    sums_to_one: ClassVar[bool] = False
    equal_weights: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False
    decides_classes: ClassVar[bool] = False
    counts_votes: ClassVar[bool] = False
    adds_scores: ClassVar[bool] = False
    per_target = False  # a field of those that fit weights

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        """Error of the aggregate on left-out samples, which the choice of a ridge minimises.

        It is the squared error; if classes are decided, the share of misclassified samples, and the squared error of
        the mean decides between equals.

        Parameters
        ----------
        errors : array, shape (k, C, n)
            ``y_i - f_r^(-i)(x_i)`` of every member, target and sample.
        targets : array, shape (C, n)
            y_i. A linear aggregation gets their differences from the mean of the other samples if there is an
            intercept, because it must not scale the mean.
        sample_weights : array, shape (n,)
            How much each sample counts.

        Returns
        -------
        tuple of float
            The error to minimise, and the error that decides between equals.
        """
        weights = self.weights(self.moments(errors, targets, sample_weights)) if self.is_linear else None
        combined = self.combine(targets - errors, weights)
        if not self.decides_classes:
            return squared_error(targets - combined, sample_weights), 0.0
        mean = squared_error(errors.sum(axis=0) / errors.shape[0], sample_weights)
        return misclassified_share(first_largest(combined), targets, sample_weights), mean

    @abstractmethod
    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The aggregate of the members' outputs.

        Parameters
        ----------
        outputs : array, shape (k, C, n)
            Outputs of every member for C targets and n samples, in any supported array library.
        weights : ndarray, shape (k,) or (C, k), optional
            Needed by a linear aggregation; others ignore them.

        Returns
        -------
        array, shape (C, n)
            The aggregate, in the library of the outputs.
        """

    def weights(self, moments: MemberMoments) -> FloatArray:
        """The weights of the members, chosen from their moments.

        Parameters
        ----------
        moments : MemberMoments
            Second moments of the members and the target, with pairs of shape (..., k, k).

        Returns
        -------
        ndarray, shape (..., k)
            Weights of the members, not negative.

        Raises
        ------
        ParameterError
            If the aggregate is not a weighted sum of the outputs, such as the median.
        """
        raise ParameterError(
            f"aggregation={self.name!r} has neither weights nor a risk in theory, because it is not a weighted sum of "
            'the members; use "mean", "scaled", "simplex" or "free", or fit a RidgeEnsembleRegressor'
        )

    def moments(
        self, errors: Array, targets: Array, sample_weights: Array, independent: FloatArray | None = None
    ) -> MemberMoments:
        """The moments that weights are chosen from.

        Parameters
        ----------
        errors : array, shape (..., k, C, n)
            Left-out errors of every member, target and sample, as for `loss`.
        targets : array, shape (..., C, n)
            As for `loss`.
        sample_weights : array, shape (..., n)
            How much each sample counts.
        independent : ndarray, shape (k,), optional
            Number of independent labels behind the errors of each member; None treats the moments as exact.

        Returns
        -------
        MemberMoments
            With pairs of shape (..., k, k), or (..., C, k, k) if weights are fitted per target.
        """
        found = MemberMoments.of_errors(errors, targets, sample_weights, per_target=self.per_target)
        return replace(found, behind=independent)

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        """Number of values that were fitted to get these weights.

        Parameters
        ----------
        weights : ndarray, shape (..., k)
            The result of `weights`.

        Returns
        -------
        ndarray, shape (...)
            The number of weights that are not zero, less one if they sum to one. A common weight counts once.
        """
        if self.equal_weights:
            return np.full(weights.shape[:-1], float(self.fits_weights))
        return np.asarray(np.maximum((weights != 0).sum(axis=-1) - self.sums_to_one, 0.0))

    def settle(self, moments: MemberMoments) -> Settled:
        """Weights, and the error expected of them on new samples. The choice of a ridge uses this error.

        Parameters
        ----------
        moments : MemberMoments
            As for `weights`.

        Returns
        -------
        Settled
            For every leading axis of the moments.
        """
        weights = self.weights(moments)
        least = moments.risk_of(weights)
        return Settled(weights, least, least, self.n_fitted(weights))


class LinearAggregation(Aggregation):
    """A weighted sum of the members' outputs; a subclass defines its `weights`.

    Examples
    --------
    >>> import subridge as sr
    >>> isinstance(sr.aggregation.Mean(), LinearAggregation), sr.aggregation.Median().is_linear
    (True, False)
    """

    is_linear = True
    fits_weights = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if weights is None:
            raise TypeError("a linear aggregation needs weights, which `weights` gives")
        return namespace_of(outputs).sum(outputs * like(np.atleast_2d(weights).T, outputs)[:, :, None], axis=0)


class Mean(LinearAggregation):
    """Every member counts 1/k, as in the paper.

    Examples
    --------
    >>> Mean().weights(MemberMoments(np.eye(4)))
    array([0.25, 0.25, 0.25, 0.25])
    """

    name = "mean"
    fits_weights = False
    sums_to_one = True
    equal_weights = True
    is_mean = True

    def weights(self, moments: MemberMoments) -> FloatArray:
        return np.full(moments.pairs.shape[:-1], 1 / moments.n_members)


@dataclass(frozen=True, eq=False)
class FittedAggregation(LinearAggregation):
    """A weighted sum whose weights are fitted, to all targets together or to each target.

    Weights fitted to few left-out errors are mostly noise. They are therefore shrunk (James and Stein) towards those of
    a `simpler` aggregation with fewer fitted values. If the best weights lower the left-out error by G, and noise alone
    would lower it by N, the weights move by the share t = 1 - N/G towards the best ones. The gain expected on new
    samples is G t².

    Parameters
    ----------
    per_target : bool
        Fit weights to each target. Moments and weights then have an axis of C targets before the members.

    Raises
    ------
    ParameterError
        If `per_target` is neither True nor False.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> errors = np.array([[[1.0], [3.0]], [[1.0], [-1.0]]])  # two members, two targets, one sample
    >>> targets = np.array([[2.0], [3.0]])
    >>> isinstance(sr.aggregation.Free(), FittedAggregation)
    True
    >>> for each in sr.aggregation.Free(), sr.aggregation.Free(per_target=True):
    ...     print(each.weights(each.moments(errors, targets, np.ones(1))).round(2).tolist())
    [1.25, 0.75]
    [[1.0, 1.0], [0.0, 0.75]]

    With twelve independent labels per member the scale goes only part of the way from the mean to the best:

    >>> scaled = sr.aggregation.Scaled()
    >>> moments = MemberMoments(np.full((2, 2), 0.5), np.full(2, 0.6), np.ones(()), behind=np.full(2, 12.0))
    >>> scaled.best(moments), scaled.simpler.name, scaled.settle(moments).weights.round(2)
    (array([0.66666667, 0.66666667]), 'mean', array([0.5, 0.5]))
    """

    per_target: bool = False
    simpler: ClassVar[LinearAggregation] = Mean()  # that the weights are shrunk towards

    def __post_init__(self) -> None:
        truth("per_target", self.per_target)

    @abstractmethod
    def best(self, moments: MemberMoments) -> FloatArray:
        """The weights of least error if the moments were exact.

        Parameters
        ----------
        moments : MemberMoments
            As for `weights`.

        Returns
        -------
        ndarray, shape (..., k)
            Weights of the members, not negative.
        """

    def weights(self, moments: MemberMoments) -> FloatArray:
        return self.settle(moments).weights

    def _best_judged(self, moments: MemberMoments) -> FloatArray:
        """The best weights, with zero for members whose `behind` is zero.

        >>> moments = MemberMoments(np.diag([1.0, 3.0, 0.1]), behind=np.array([50.0, 50.0, 0.0]))
        >>> Simplex()._best_judged(moments)
        array([0.75, 0.25, 0.  ])
        """
        if self.equal_weights or moments.behind is None or (moments.behind > 0).all():
            return self.best(moments)
        known = np.flatnonzero((moments.behind > 0).reshape(-1, moments.n_members).all(axis=0))
        if not len(known):
            return self.simpler.settle(moments).weights
        found = np.zeros(moments.pairs.shape[:-1])
        found[..., known] = self.best(moments.of_members(known))
        return found

    def settle(self, moments: MemberMoments) -> Settled:
        best = self._best_judged(moments)
        apparent = moments.risk_of(best)
        d = self.n_fitted(best)
        if moments.behind is None:
            return Settled(best, apparent, apparent, d)
        start = self.simpler.settle(moments)
        gain = np.maximum(start.least - apparent, 0.0)
        extra = np.maximum(d - start.n_fitted, 1.0)  # all weight on one member is a choice, too
        # Labels behind the weighted sum: the weighted harmonic mean over members that have any.
        counted = np.where(moments.behind > 0, best, 0.0)
        n = counted.sum(axis=-1) / np.maximum(quotient(counted, moments.behind).sum(axis=-1), TINY)
        noise = gain_of_noise(apparent, moments.v, extra, n)
        share = np.where(gain > noise, 1 - quotient(np.minimum(noise, gain), gain), 0.0)
        weights = start.weights + share[..., None] * (best - start.weights)
        return Settled(weights, apparent, start.expected - gain * share**2, d)


def gain_of_noise(apparent: FloatArray, power: FloatArray | None, d: FloatArray, n: FloatArray) -> FloatArray:
    """By how much d values fitted to n labels of pure noise lower the error.

    For independent errors this is σ²d/n, and σ² exceeds the apparent error by the factor ((n + d)/(n - d))². Left-out
    errors are not independent: the noise of sample i enters the error of sample j, and vice versa. This doubles the
    variance of moments of the noise, which has the share σ²/v of the target's power v.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma2 = apparent * ((n + d) / (n - d)) ** 2
        doubled = 1.0 if power is None else np.where(power > sigma2, sigma2 / power, 1.0)
        noise = (1 + doubled) * sigma2 * d / n
    return np.where(n > d, noise, np.inf)


class Scaled(FittedAggregation):
    """Every member counts s/k with ``s = c̄/F̄``, the multiple of the mean with the least error.

    The mean of members that each see a part of the features is shrunk, and s undoes this. It is never negative. It is
    one if all outputs are zero or the target's power is infinite.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target.

    Examples
    --------
    Two members that each output half of the target, as in the example of `MemberMoments`:

    >>> Scaled().weights(MemberMoments(np.full((2, 2), 0.25), np.full(2, 0.5), np.ones(())))
    array([1., 1.])
    """

    name = "scaled"
    equal_weights = True

    @np.errstate(invalid="ignore", divide="ignore")
    def best(self, moments: MemberMoments) -> FloatArray:
        _, v = moments.with_target()
        c = moments.c.mean(axis=-1)
        F = moments.F.mean(axis=(-2, -1))
        # A ridgeless member at its threshold has F = ∞ and s = 0; at v = ∞ the error of any scale but one is infinite.
        scale = np.where(np.isinf(v) | (moments.silence >= F), 1.0, np.maximum(c, 0.0) / F)
        return np.full(moments.pairs.shape[:-1], scale[..., None] / moments.n_members)


class Simplex(FittedAggregation):
    """Weights w ≥ 0 with sum one that minimise ``wᵀEw``; equal weights if every member's error is infinite.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target.

    Examples
    --------
    If errors are uncorrelated, a member with three times the squared error gets a third of the weight:

    >>> Simplex().weights(MemberMoments(np.array([[1.0, 0.0], [0.0, 3.0]])))
    array([0.75, 0.25])
    """

    name = "simplex"
    sums_to_one = True

    def best(self, moments: MemberMoments) -> FloatArray:
        hopeless = ~np.isfinite(np.linalg.diagonal(moments.pairs)).any(axis=-1)[..., None, None]
        return member_weights(np.where(hopeless, np.eye(moments.n_members), moments.pairs))


class Free(FittedAggregation):
    """Weights w ≥ 0 of any sum that minimise ``v - 2wᵀc + wᵀFw``.

    A member with infinite error or zero output gets weight zero. If the target's power is infinite, the weights must
    sum to one and are those of "simplex".

    Parameters
    ----------
    per_target : bool
        Fit weights to each target.

    Examples
    --------
    Two uncorrelated members that each output their half of the target both count fully:

    >>> Free().weights(MemberMoments(np.array([[0.5, 0.0], [0.0, 0.5]]), np.full(2, 0.5), np.ones(())))
    array([1., 1.])
    """

    name = "free"
    simpler = Scaled()

    @np.errstate(invalid="ignore", divide="ignore", over="ignore")  # the target's power may be zero or infinite
    def best(self, moments: MemberMoments) -> FloatArray:
        missed, v = moments.with_target()
        E, F, c = moments.pairs, moments.F, moments.c
        power = np.asarray(v)[..., None]
        endless = np.isinf(power)  # only weights that sum to one have a finite error
        b = np.where(endless, 1.0, c / power)
        # Errors of the members apart from a multiple of the target, F - ccᵀ/v, in the form in which less cancels.
        lost = missed[..., None] * (missed / power)[..., None, :]
        kept = c[..., None] * b[..., None, :]
        # `missed` holds the rounding error of v, and `lost` holds that of `missed` and v together.
        smaller = ~endless[..., None] & (abs(F) + abs(kept) < abs(E) + np.add(*of_pairs(abs(missed))))
        apart = np.where(smaller, F - kept, E - np.where(endless[..., None], 0.0, lost))
        heard = endless | (np.linalg.diagonal(F) > moments.silence[..., None])
        usable = heard & (power > 0) & np.isfinite(np.linalg.diagonal(E))
        # With cᵀw = v given, the risk of the best multiple of w falls with wᵀ(F - ccᵀ/v)w.
        w = least_along(apart, np.where(usable, b, 0.0), usable)
        explained = linear(w, b)
        # By Cauchy and Schwarz this is not negative, but rounding may make it so.
        spread = np.maximum(quadratic(w, apart), 0.0)
        scale = np.where(explained > 0, 1 / (explained + spread / v / explained), 0.0)
        return w * scale[..., None]


class Median(Aggregation):
    """The median over the members, the mean of the middle two for even k.

    Examples
    --------
    >>> import numpy as np
    >>> Median().combine(np.array([1.0, 2.0, 6.0, 9.0])[:, None, None])
    array([[4.]])
    """

    name = "median"

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        k = outputs.shape[0]
        ordered = namespace_of(outputs).sort(outputs, axis=0)
        middle: Array = 0.5 * (ordered[(k - 1) // 2] + ordered[k // 2])
        return middle


def squared_error(errors: Array, sample_weights: Array) -> float:
    """Squared error summed over targets and averaged over samples; errors of shape (C, n)."""
    return float(((errors * errors).sum(axis=0) * sample_weights).sum() / sample_weights.sum())


# Votes. A member votes for its largest score, the lowest class if two are equal. The ensemble takes the class with most
# votes; ties are decided by the largest sum of all members' scores, then by the lowest class. The rule is the same in
# every array library and on every device.


def first_largest(scores: Array) -> Array:
    """The lowest class with the largest score; shape (..., n_classes, n) to (..., n).

    The first of equal entries, as the array standard and PyTorch promise.
    """
    return namespace_of(scores).argmax(scores, axis=-2)


def most_votes(votes: Array, sums: Array) -> Array:
    """The class with most votes, ties decided by summed scores; shapes (..., n_classes, n) to (..., n)."""
    xp = namespace_of(sums)
    leading = votes == xp.max(votes, axis=-2, keepdims=True)
    lowest = xp.asarray(-np.inf, dtype=sums.dtype, device=device_of(sums))
    return first_largest(xp.where(leading, sums, lowest))


def vote_counts(scores: Array, vote_weights: Array | None = None) -> Array:
    """Votes for each class, where that of member r may count w_r; scores (k, n_classes, n) to (n_classes, n)."""
    xp = namespace_of(scores)
    votes = first_largest(scores)
    each = (xp.astype(votes == c, scores.dtype) for c in range(scores.shape[1]))
    return xp.stack([xp.sum(one if vote_weights is None else one * vote_weights[:, None], axis=0) for one in each])


def misclassified_share(decided: Array, targets: Array, sample_weights: Array) -> float:
    """Share of samples whose class is not the largest target; one-hot targets of shape (n_classes, n)."""
    # Rounded, so that equal counts compare equal whatever the order of summation.
    return round(float((sample_weights * (decided != first_largest(targets))).sum() / sample_weights.sum()), 12)


class Majority(Aggregation):
    """The class with most votes; the largest sum of scores, then the lowest class, decides a tie.

    Examples
    --------
    Two members vote on one sample of two classes, and the larger sum of scores decides the tie:

    >>> import numpy as np
    >>> Majority().combine(np.array([[[0.9], [0.0]], [[0.0], [0.6]]])).round(3)
    array([[1.158],
           [1.125]])
    """

    name = "majority"
    decides_classes = True
    counts_votes = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The votes, plus a fraction of a vote that orders ties by the summed scores; the largest entry is the class.

        The fraction is ``s/(3(1+|s|))`` of the summed score s. It lies between -1/3 and 1/3, so that it never outvotes
        a member. If rounding hides a difference of sums, the winner is lifted by the least visible amount.

        Parameters
        ----------
        outputs : array, shape (k, n_classes, n)
            Scores of every member.
        weights : None
            Votes have none.

        Returns
        -------
        array, shape (n_classes, n)
            Votes of every class.
        """
        xp = namespace_of(outputs)
        votes = vote_counts(outputs)
        sums = xp.sum(outputs, axis=0)
        decision = votes + sums / (3 * (1 + abs(sums)))
        winner = most_votes(votes, sums)
        largest = xp.max(decision, axis=0)
        wins = xp.arange(decision.shape[0], dtype=winner.dtype, device=device_of(winner))[:, None] == winner
        return xp.where((first_largest(decision) != winner) & wins, largest + _LEAST * (1 + abs(largest)), decision)


@dataclass(frozen=True, eq=False)
class WeightedMajority(Majority):
    """The class with most votes, where the vote of member r counts w_r.

    Parameters
    ----------
    vote_weights : tuple of float
        w_r with sum k, so that a vote counts one on average.

    Raises
    ------
    ParameterError, DataError
        If the weights are not a list of non-negative numbers.

    Examples
    --------
    >>> votes = WeightedMajority((1.5, 0.5)).combine(np.array([[[0.5], [0.25]], [[0.0], [0.5]]]))
    >>> votes.round(3)
    array([[1.5],
           [0.5]])
    """

    vote_weights: tuple[float, ...]

    def __post_init__(self) -> None:
        weights = non_negative("vote_weights", self.vote_weights)
        if weights.ndim != 1 or not weights.size:
            raise ParameterError(f"vote_weights must be one number per member, got {self.vote_weights!r}")
        self._set(vote_weights=tuple(weights.tolist()))

    @classmethod
    def of_weights(cls, weights: FloatArray) -> "WeightedMajority":
        """Votes in proportion to weights.

        Parameters
        ----------
        weights : ndarray, shape (k,)
            Not negative; if all are zero, votes are equal.

        Returns
        -------
        WeightedMajority
            The aggregation, with weights of sum k.

        Examples
        --------
        >>> WeightedMajority.of_weights(np.array([0.6, 0.2])).vote_weights
        (1.5, 0.5)
        """
        total = weights.sum()
        return cls(tuple(weights * (len(weights) / total) if total > 0 else np.ones(len(weights))))

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if outputs.shape[0] != len(self.vote_weights):
            raise ParameterError(
                f"vote_weights has {len(self.vote_weights)} weights, but {outputs.shape[0]} members vote; "
                "use score_weights='equal' where members drop out"
            )
        sums = namespace_of(outputs).sum(outputs, axis=0)
        return vote_counts(outputs, like(np.array(self.vote_weights), outputs)) + _TIE * sums / (1 + abs(sums))


class Summed(Aggregation):
    """The class with the largest sum of scores, the lowest class among equals.

    Examples
    --------
    Two members judge one sample of two classes:

    >>> import numpy as np
    >>> Summed().combine(np.array([[[0.5], [0.25]], [[0.0], [0.5]]]))
    array([[0.5 ],
           [0.75]])
    """

    name = "sum"
    decides_classes = True
    adds_scores = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        return namespace_of(outputs).sum(outputs, axis=0)


AGGREGATIONS: dict[str, Aggregation] = {
    each.name: each for each in (Mean(), Scaled(), Simplex(), Free(), Median(), Majority(), Summed())
}


def read_aggregation(value: str | Aggregation) -> Aggregation:
    """The aggregation of that name; an aggregation is returned as it is.

    Parameters
    ----------
    value : str or Aggregation
        "mean", "scaled", "simplex", "free" or "median"; for classes "majority" or "sum".

    Returns
    -------
    Aggregation
        The aggregation, as an `Ensemble` holds it.

    Raises
    ------
    ParameterError
        If there is no aggregation of that name.

    Examples
    --------
    >>> read_aggregation("median").is_linear
    False
    """
    if isinstance(value, Aggregation):
        return value
    if not isinstance(value, str) or value not in AGGREGATIONS:
        raise ParameterError(f"aggregation must be one of {', '.join(AGGREGATIONS)} or an Aggregation, got {value!r}")
    return AGGREGATIONS[value]

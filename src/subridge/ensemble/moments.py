"""Second moments of members and target: all that a choice of weights, and the error of any weights, need to know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.namespace import namespace_of, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.errors import ParameterError


class Outputs(NamedTuple):
    """Moments of the outputs where they are known by themselves, not as differences of the target's power and errors.

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

    Where members have an intercept, outputs and target are measured from the target's mean, so that weights which do
    not sum to one scale what the features explain and leave the mean alone.

    Attributes
    ----------
    pairs : ndarray, shape (..., k, k)
        ``E_rr′``: mean product of the errors of two members. From data it includes the label noise ζ².
    missed : ndarray, shape (..., k), or None
        ``E[y e_r] = v - c_r``: what member r misses of the target's power. It stays finite where v does not.
    v : ndarray, shape (...), or None
        ``E[y²]``, the power of the target. None, as `missed`, where only weights of sum one are to be judged.
    outputs : Outputs or None
        c and F by themselves, which theory knows; None where they follow from the rest.
    behind : ndarray, shape (k,) or (..., k), or None
        Independent labels that stand behind the moments of each member; None where these are taken for exact. Zero
        where a member's weight cannot be judged by them, as few rows carry what it says.

    Examples
    --------
    Two members that each output half of a target of power one; together, with weights one, they make no error:

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

    @property
    def judged_members(self) -> IntArray:
        """Members with labels behind them, by number: all of them where moments are taken for exact."""
        if self.behind is None:
            return np.arange(self.n_members)
        return np.flatnonzero((self.behind > 0).reshape(-1, self.n_members).all(axis=0))

    def of_members(self, chosen: IntArray) -> "MemberMoments":
        """Moments of some of the members, by number.

        >>> MemberMoments(np.diag([1.0, 2.0, 3.0])).of_members(np.array([0, 2])).pairs
        array([[1., 0.],
               [0., 3.]])
        """
        missed = None if self.missed is None else self.missed[..., chosen]
        behind = None if self.behind is None else self.behind[..., chosen]
        return MemberMoments(self.pairs[..., chosen[:, None], chosen], missed, self.v, None, behind)

    @classmethod
    def of_errors(cls, errors: Array, targets: Array, sample_weights: Array) -> "MemberMoments":
        """Moments from left-out samples, summed over targets.

        Parameters
        ----------
        errors : array, shape (..., k, C, n)
            ``y_i - f_r^(-i)(x_i)``.
        targets : array, shape (..., C, n)
            Measured as the aggregate measures them: ``y_i - ȳ^(-i)`` with an intercept, where ȳ^(-i) is the mean of
            the others, and y_i without.
        sample_weights : array, shape (..., n)
        """
        errors, targets = _weighted(errors, targets, sample_weights)
        flat, target = (each.reshape((*each.shape[:-2], -1)) for each in (errors, targets))
        return cls._of_rows(flat, target[..., None, :], to_numpy(sample_weights.sum(axis=-1)))

    @classmethod
    def of_targets(cls, errors: Array, targets: Array, sample_weights: Array) -> "MemberMoments":
        """Moments of each target by itself, shapes (..., C, k, k), (..., C, k) and (..., C); see `of_errors`."""
        order = (*range(errors.ndim - 3), errors.ndim - 2, errors.ndim - 3, errors.ndim - 1)
        errors, targets = _weighted(errors, targets, sample_weights)
        flat = namespace_of(errors).permute_dims(errors, order)
        return cls._of_rows(flat, targets[..., None, :], to_numpy(sample_weights.sum(axis=-1))[..., None])

    @classmethod
    def _of_rows(cls, errors: Array, targets: Array, totals: FloatArray) -> "MemberMoments":
        """From weighted errors (..., k, n) and targets (..., 1, n), and the sums of weights."""
        across = namespace_of(errors).matrix_transpose(errors)
        products = to_numpy(errors @ across) / totals[..., None, None]
        missed = to_numpy(targets @ across)[..., 0, :] / totals[..., None]
        v = to_numpy((targets * targets).sum(axis=-1))[..., 0] / totals
        return cls(0.5 * (products + np.swapaxes(products, -1, -2)), missed, np.asarray(v))

    @classmethod
    def stacked(cls, several: Sequence["MemberMoments"]) -> "MemberMoments":
        """Moments from left-out samples with a new leading axis."""
        pairs = np.stack([each.pairs for each in several])
        missed, v = (np.stack(part) for part in zip(*(each.with_target() for each in several), strict=True))
        labels = [each.behind for each in several if each.behind is not None]
        axes = (len(several), *[1] * (pairs.ndim - 3), -1)
        return cls(pairs, missed, v, behind=np.stack(labels).reshape(axes) if labels else None)

    def at(self, index: int) -> "MemberMoments":
        """One of several that were `stacked`."""
        missed, v = self.with_target()
        labels = None if self.behind is None else self.behind[index]
        return MemberMoments(self.pairs[index], missed[index], np.asarray(v[index]), behind=labels)

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
        """`missed` and v, or an error that says that they are not known here."""
        if self.missed is None or self.v is None:
            raise ParameterError(
                "weights that do not sum to one need the moments of the target, which are not known here; "
                'use aggregation="mean" or "simplex"'
            )
        return self.missed, self.v

    def risk_of(self, weights: FloatArray) -> FloatArray:
        """``E(w) = v - 2wᵀc + wᵀFw``, shape (...); a member of infinite error and weight zero counts nothing.

        It is summed as ``(1-Σw)² v + 2(1-Σw) wᵀ(v - c) + wᵀEw``, in which nothing cancels, except where huge weights
        make up for outputs that are almost nothing and are known by themselves.
        """
        value, size = self.by_errors(weights)
        if self.outputs is None:
            return value
        other, other_size = self.by_outputs(weights, self.outputs)
        return np.where(other_size < size, other, value)

    def by_errors(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The risk from the pairs and what is missed, and the size of its terms."""
        products = weights[..., :, None] * weights[..., None, :]
        terms = products * np.where(products != 0, self.pairs, 0.0)
        own, size = terms.sum(axis=(-2, -1)), np.abs(terms).sum(axis=(-2, -1))
        rest = 1.0 - weights.sum(axis=-1)
        apart = np.abs(rest) > 4 * self.n_members * np.finfo(np.float64).eps  # else the sum is one up to rounding
        if not apart.any():
            return np.asarray(own), np.asarray(size)
        missed, v = self.with_target()
        with np.errstate(invalid="ignore"):
            shared = (weights * np.where(weights != 0, missed, 0.0)).sum(axis=-1)
            value = np.where(apart, rest**2 * v + 2 * rest * shared + own, own)
            return value, np.where(apart, rest**2 * v + 2 * np.abs(rest * shared) + size, size)

    def by_outputs(self, weights: FloatArray, outputs: Outputs) -> tuple[FloatArray, FloatArray]:
        """The risk from the outputs' own moments, and the size of its terms, infinite where the target's power is."""
        products = weights[..., :, None] * weights[..., None, :]
        v = self.with_target()[1]
        with np.errstate(invalid="ignore"):
            terms = (products * np.where(products != 0, outputs.F, 0.0)).sum(axis=(-2, -1))
            explained = (weights * np.where(weights != 0, outputs.c, 0.0)).sum(axis=-1)
            size = v + 2 * np.abs(explained) + np.abs(terms)
            return np.asarray(v - 2 * explained + terms), np.where(np.isnan(size), np.inf, size)


def _weighted(errors: Array, targets: Array, sample_weights: Array) -> tuple[Array, Array]:
    """Errors (..., k, C, n) and targets (..., C, n) times the roots of the weights; as they are where all are one."""
    if bool((sample_weights == 1).all()):
        return errors, targets
    root = (sample_weights**0.5)[..., None, :]
    return errors * root[..., None, :, :], targets * root


def error_products(errors: Array, sample_weights: Array) -> FloatArray:
    """``Σ_i w_i e_ri e_r′i / Σ_i w_i`` from left-out errors, summed over targets: an estimate of ``E_rr′ + ζ²``.

    Errors ``y_i - f_r^(-i)(x_i)`` have shape (k, C, n), sample weights (n,). The products, shape (k, k), lie in host
    memory and include the label noise ζ², which no training data can take apart from the risk.
    """
    flat = (errors * sample_weights**0.5).reshape((errors.shape[0], -1))
    products = to_numpy(flat @ flat.T) / float(sample_weights.sum())
    return 0.5 * (products + products.T)

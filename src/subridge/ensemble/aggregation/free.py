"""The best weights that are not negative."""

from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import SILENT, FittedAggregation, LinearAggregation, Scaled, Simplex
from subridge.model.moments import MemberMoments, least_nonnegative

# Members whose outputs differ by less than this share of their power count as one and share its weight.
_ALIKE = 1e-12


class Free(FittedAggregation):
    """Weights w ≥ 0 of any sum that minimise ``v - 2wᵀc + wᵀFw``.

    A member whose error is infinite, or that says nothing, gets weight zero. Where the target's power is infinite the
    weights must sum to one and are those of "simplex".

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself.

    Examples
    --------
    Of two uncorrelated members that each output their half of a target, both count fully:

    >>> Free().weights(MemberMoments(np.array([[0.5, 0.0], [0.0, 0.5]]), np.full(2, 0.5), np.ones(())))
    array([1., 1.])
    """

    name: ClassVar[str] = "free"

    @property
    def simpler(self) -> LinearAggregation:
        return Scaled()

    def best(self, moments: MemberMoments) -> FloatArray:
        _, v = moments.with_target()
        shape, k = moments.pairs.shape[:-1], moments.n_members
        pairs = moments.pairs.reshape(-1, k, k)
        with np.errstate(invalid="ignore"):
            F = np.broadcast_to(moments.F, (*shape, k)).reshape(-1, k, k)
        c = np.broadcast_to(moments.c, shape).reshape(-1, k)
        powers = np.broadcast_to(v, shape[:-1]).reshape(-1)
        own = np.diagonal(F, axis1=1, axis2=2)
        floor = SILENT * powers if moments.outputs is None else np.zeros(len(powers))
        if bool((np.isfinite(powers)[:, None] & np.isfinite(own) & (own > floor[:, None])).all()):
            return _weights(F, c).reshape(shape)
        found = np.zeros(c.shape)
        for i, power in enumerate(powers):
            if not np.isfinite(power):
                found[i] = Simplex().weights(MemberMoments(pairs[i]))
                continue
            # Outputs whose power exceeds the least that is taken for more than silence.
            usable = np.flatnonzero(np.isfinite(own[i]) & (own[i] > floor[i]))
            if len(usable):
                found[i, usable] = _weights(F[i][np.ix_(usable, usable)][None, ...], c[i, usable][None, :])[0]
        return found.reshape(shape)


def _weights(F: FloatArray, c: FloatArray) -> FloatArray:
    """Weights (m, k) of members that all say something: F (m, k, k) and c (m, k)."""
    # Outputs in units of their own size, so that a shrunken member is as good as any other.
    size = np.sqrt(np.diagonal(F, axis1=1, axis2=2))
    F, c = F / size[:, :, None] / size[:, None, :], c / size
    F = (F + np.swapaxes(F, 1, 2)) / 2
    found, known = least_nonnegative(F, c)
    for i in np.flatnonzero(~known):
        found[i] = _by_search(F[i], c[i])
    return np.asarray(found / size)


def _by_search(F: FloatArray, c: FloatArray) -> FloatArray:
    """Weights of members that may be alike, (k,), for F of unit diagonal."""
    values, vectors = np.linalg.eigh(F)
    # An estimated F may be slightly indefinite; what lies below rounding is noise.
    kept = values > _ALIKE * values[-1]
    root = np.sqrt(values[kept])
    design, answer = root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ c / root
    # A trace of weight decay, far below rounding of the error, lets duplicates share and keeps opposites small.
    decay = np.sqrt(_ALIKE * values[-1]) * np.eye(len(c))
    solution: FloatArray = nnls(np.vstack([design, decay]), np.append(answer, np.zeros(len(c))))[0]
    return solution

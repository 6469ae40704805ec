"""The best weights that are not negative."""

from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation.base import LinearAggregation
from subridge.ensemble.aggregation.fitted import FittedAggregation
from subridge.ensemble.aggregation.scaled import SILENT, Scaled
from subridge.ensemble.aggregation.simplex import Simplex
from subridge.ensemble.member_weights import interior
from subridge.ensemble.moments import MemberMoments

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
        least = SILENT if moments.outputs is None else 0.0
        found = [
            _weights(*own, least * float(power)) if np.isfinite(power) else Simplex().weights(MemberMoments(E))
            for E, power, own in zip(pairs, powers, zip(F, c, strict=True), strict=True)
        ]
        return np.array(found).reshape(shape)


def _weights(F: FloatArray, c: FloatArray, least: float) -> FloatArray:
    """Weights of outputs whose power exceeds the least that is taken for more than silence."""
    weights = np.zeros(len(F))
    power = np.diagonal(F)
    usable = np.flatnonzero(np.isfinite(power) & (power > least))
    if not len(usable):
        return weights
    # Outputs in units of their own size, so that a shrunken member is as good as any other.
    size = np.sqrt(power[usable])
    F = F[np.ix_(usable, usable)] / size[:, None] / size[None, :]
    F = (F + F.T) / 2
    inside = interior(F, c[usable] / size)
    if inside is not None:
        weights[usable] = inside / size
        return weights
    values, vectors = np.linalg.eigh(F)
    # An estimated F may be slightly indefinite; what lies below rounding is noise.
    kept = values > _ALIKE * values[-1]
    root = np.sqrt(values[kept])
    design, answer = root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ (c[usable] / size) / root
    # A trace of weight decay, far below rounding of the error, lets duplicates share and keeps opposites small.
    decay = np.sqrt(_ALIKE * values[-1]) * np.eye(len(usable))
    solution = nnls(np.vstack([design, decay]), np.append(answer, np.zeros(len(usable))))[0]
    weights[usable] = solution / size
    return weights

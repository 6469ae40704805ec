"""The best weights that are not negative."""

from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation.base import FittedAggregation
from subridge.ensemble.aggregation.scaled import SILENT
from subridge.ensemble.aggregation.simplex import Simplex
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

    def weights(self, moments: MemberMoments) -> FloatArray:
        missed, v = moments.with_target()
        shape, k = moments.pairs.shape[:-1], moments.n_members
        pairs = moments.pairs.reshape(-1, k, k)
        missed = np.broadcast_to(missed, shape).reshape(-1, k)
        powers = np.broadcast_to(v, shape[:-1]).reshape(-1)
        found = [
            _weights(E, d, float(power)) if np.isfinite(power) else Simplex().weights(MemberMoments(E))
            for E, d, power in zip(pairs, missed, powers, strict=True)
        ]
        return np.array(found).reshape(shape)


def _weights(E: FloatArray, missed: FloatArray, v: float) -> FloatArray:
    weights = np.zeros(len(E))
    with np.errstate(invalid="ignore"):
        power = np.diagonal(E) + (v - 2 * missed)
    usable = np.flatnonzero(np.isfinite(power) & (power > SILENT * v))
    if not len(usable):
        return weights
    d = missed[usable]
    # Outputs in units of their own size, so that a shrunken member is as good as any other.
    size = np.sqrt(power[usable])
    F = (E[np.ix_(usable, usable)] + (v - d[:, None] - d[None, :])) / (size[:, None] * size[None, :])
    values, vectors = np.linalg.eigh((F + F.T) / 2)
    # An estimated F may be slightly indefinite; what lies below rounding is noise.
    kept = values > _ALIKE * values[-1]
    root = np.sqrt(values[kept])
    design, answer = root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ ((v - d) / size) / root
    # A trace of weight decay, far below rounding of the error, lets duplicates share and keeps opposites small.
    decay = np.sqrt(_ALIKE * values[-1]) * np.eye(len(usable))
    solution = nnls(np.vstack([design, decay]), np.append(answer, np.zeros(len(usable))))[0]
    weights[usable] = solution / size
    return weights

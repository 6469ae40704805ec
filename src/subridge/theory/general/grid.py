"""The grid of a call on a general problem, flattened to one axis of G points."""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.ensemble import Ensemble
from subridge.model.problem import Problem
from subridge.theory.broadcasting import common_shape


class Grid(NamedTuple):
    """The grid's own shape, and α (G,), λ (G, k), η (G, k), ζ (G,) flattened over it."""

    shape: tuple[int, ...]
    alpha: FloatArray
    lam: FloatArray
    eta: FloatArray
    zeta: FloatArray

    @classmethod
    def of(cls, problem: Problem, ensemble: Ensemble, alpha: FloatArray) -> "Grid":
        """Broadcast every parameter to one leading shape, the member axis last."""
        k = ensemble.n_members
        shape = common_shape(
            sample_ratio=alpha.shape,
            label_noise=problem.label_noise.shape,
            ridge=ensemble.ridge.shape[:-1],
            readout_noise=ensemble.readout_noise.shape[:-1],
        )
        return cls(
            shape,
            np.broadcast_to(alpha, shape).reshape(-1),
            np.broadcast_to(ensemble.ridge, (*shape, k)).reshape(-1, k),
            np.broadcast_to(ensemble.readout_noise, (*shape, k)).reshape(-1, k),
            np.broadcast_to(problem.label_noise, shape).reshape(-1),
        )

    def part(self, rows: slice | BoolArray) -> "Grid":
        """Some of the points."""
        flat = tuple(field[rows] for field in self[1:])
        return Grid(flat[0].shape, *flat)

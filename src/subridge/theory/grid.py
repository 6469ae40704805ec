"""The points at which a proposition is evaluated: every parameter of a call, broadcast to one leading shape."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray, IntArray
from subridge.model.aggregation import outer
from subridge.model.checks import common_shape, of_kind
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem, Problem

# Entries of the temporary (grid × eigenvalues) arrays held at once, all members together: 64 MB.
_BLOCK = 8_000_000


def check_description(problem: Problem | EquicorrelatedProblem, ensemble: Ensemble) -> None:
    """Refuse anything else in place of a problem or an ensemble.

    Examples
    --------
    >>> check_description(EquicorrelatedProblem(), Ensemble([0.5]))
    """
    of_kind("problem", problem, Problem, EquicorrelatedProblem)
    of_kind("ensemble", ensemble, Ensemble)


def row_fractions(ensemble: Ensemble) -> FloatArray:
    """Fractions of the rows that members see and share, shape (k, k); all ones where every member sees every row."""
    k = ensemble.n_members
    return np.ones((k, k)) if ensemble.row_fractions is None else ensemble.row_fractions


def row_factors(f: FloatArray) -> FloatArray:
    """f_rs/(f_r f_s), the factor of γ_rs if members do not see all rows; shape (..., k, k)."""
    return np.asarray(f / outer(np.linalg.diagonal(f)))


def leading_shape(problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray) -> tuple[int, ...]:
    """The shape that the sample ratio and the leading axes of all other parameters broadcast to."""
    given = {"label_noise": problem.label_noise.shape}
    if isinstance(problem, EquicorrelatedProblem):
        given = {name: getattr(problem, name).shape for name in problem.__dataclass_fields__}
        given["fractions"] = ensemble.fractions.shape[:-2]
    return common_shape(
        sample_ratio=alpha.shape,
        ridge=ensemble.ridge.shape[:-1],
        readout_noise=ensemble.readout_noise.shape[:-1],
        **given,
    )


class GeneralGrid(NamedTuple):
    """Grid of Prop. 1: its shape, and α (G,), λ (G, k), η (G, k), ζ (G,) flattened over it; row fractions (k, k)."""

    shape: tuple[int, ...]
    alpha: FloatArray
    lam: FloatArray
    eta: FloatArray
    zeta: FloatArray
    rows: FloatArray

    @classmethod
    def of(cls, problem: Problem, ensemble: Ensemble, alpha: FloatArray) -> "GeneralGrid":
        """Broadcast every parameter to one leading shape, with the member as the last axis."""
        k = ensemble.n_members
        shape = leading_shape(problem, ensemble, alpha)
        # So many samples are infinitely many, and so few are none.
        alpha = np.where(alpha > 1e290, np.inf, np.where(alpha < 1e-100, 0.0, alpha))
        return cls(
            shape,
            np.broadcast_to(alpha, shape).reshape(-1),
            np.broadcast_to(ensemble.ridge, (*shape, k)).reshape(-1, k),
            np.broadcast_to(ensemble.readout_noise, (*shape, k)).reshape(-1, k),
            np.broadcast_to(problem.label_noise, shape).reshape(-1),
            row_fractions(ensemble),
        )

    def part(self, rows: slice | BoolArray | IntArray) -> "GeneralGrid":
        """Some of the points."""
        alpha, lam, eta, zeta = (field[rows] for field in self[1:5])
        return GeneralGrid(alpha.shape, alpha, lam, eta, zeta, self.rows)

    def in_blocks(self, errors: Callable[["GeneralGrid"], tuple[FloatArray, ...]], per_point: int) -> list[FloatArray]:
        """The arrays of `errors` on the whole grid, by blocks; it needs `per_point` temporary numbers at a point."""
        step = max(1, _BLOCK // max(1, per_point))
        starts = range(0, max(1, len(self.alpha)), step)
        parts = [errors(self.part(slice(start, start + step))) for start in starts]
        found = map(np.concatenate, zip(*parts, strict=True))
        return [field.reshape((*self.shape, *field.shape[1:])) for field in found]


class EquicorrelatedGrid(NamedTuple):
    """Grid of Prop. 2: scalars (...), members (..., k), pairs (..., k, k)."""

    alpha: FloatArray
    zeta: FloatArray
    omega2: FloatArray  # ω²
    rho: FloatArray  # ρ, but zero at c = 0 for M → ∞, where no direction is special
    b: FloatArray  # s(1-c), variance of the signal orthogonal to 1
    a: FloatArray  # s(1-c) + ω², eq. 15
    spike: FloatArray  # s c, variance along 1 per feature
    T: FloatArray  # s c M, infinite for M → ∞
    nu: FloatArray  # subset and overlap fractions, (..., k, k)
    lam: FloatArray  # (..., k)
    eta: FloatArray  # (..., k)
    rows: FloatArray  # fractions f_r of the rows and their overlaps, (..., k, k)

    @classmethod
    def of(
        cls, problem: EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray, n_features: int | None = None
    ) -> "EquicorrelatedGrid":
        """Broadcast every parameter to one leading shape, with the member as the last axis; None is M → ∞."""
        k = ensemble.n_members
        shape = leading_shape(problem, ensemble, alpha)
        s, c = problem.data_scale, problem.correlation
        omega2 = problem.feature_noise**2
        b = s * (1 - c)
        T = np.inf if n_features is None else s * c * n_features
        rho = np.where((c > 0) | np.isfinite(T), problem.alignment, 0.0)
        scalars = (alpha, problem.label_noise, omega2, rho, b, b + omega2, s * c, T)
        fields = [
            *(np.broadcast_to(scalar, shape) for scalar in scalars),
            np.broadcast_to(ensemble.fractions, (*shape, k, k)),
            np.broadcast_to(ensemble.ridge, (*shape, k)),
            np.broadcast_to(ensemble.readout_noise, (*shape, k)),
            np.broadcast_to(row_fractions(ensemble), (*shape, k, k)),
        ]
        return cls._make(fields)

    @property
    def own(self) -> FloatArray:
        """ν_rr, shape (..., k)."""
        return np.linalg.diagonal(self.nu)

    @property
    def seen(self) -> FloatArray:
        """f_r, shape (..., k)."""
        return np.linalg.diagonal(self.rows)

    @property
    def rho2(self) -> FloatArray:
        """ρ², for formulas in which 1 - ρ² may lose digits."""
        return self.rho**2

    def lean(self) -> "EquicorrelatedGrid":
        """The same grid for fast arithmetic: an axis along which a field is constant has length one in that field."""
        axes = range(self.alpha.ndim)
        return EquicorrelatedGrid(*(f[tuple(slice(None if f.strides[i] else 1) for i in axes)] for f in self))

    def flat(self) -> "EquicorrelatedGrid":
        """The same grid with one leading axis."""
        leading = self.alpha.ndim
        return EquicorrelatedGrid(*(field.reshape(-1, *field.shape[leading:]) for field in self))

    def take(self, rows: IntArray) -> "EquicorrelatedGrid":
        """Some points of a flat grid."""
        return EquicorrelatedGrid(*(field[rows] for field in self))


def readout(grid: GeneralGrid | EquicorrelatedGrid) -> FloatArray:
    """δ_rs η_r², shape (..., k, k)."""
    return np.eye(grid.eta.shape[-1]) * grid.eta[..., None] ** 2


def output_products(
    grid: GeneralGrid | EquicorrelatedGrid, D: FloatArray, gamma: FloatArray, E: FloatArray
) -> FloatArray:
    """F_rs = D_rs + γ_rs (E_rs + ζ²) + δ_rs η_r², where D_rs is the product of the mean outputs; shape (..., k, k)."""
    return D + np.where(gamma > 0, gamma * (E + grid.zeta[..., None, None] ** 2), 0.0) + readout(grid)

"""The error of Prop. 2 over the members' effective ridges."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.aggregation import LinearAggregation, Mean
from subridge.theory.equicorrelated.error import Pair, aligned, gamma, gamma_slope, orthogonal, orthogonal_slope
from subridge.theory.equicorrelated.grid import Grid
from subridge.theory.landscape import Landscape, OutputForms, PairForms


@dataclass(frozen=True, eq=False)
class EquicorrelatedLandscape(Landscape):
    """Prop. 2 on a flat grid, in σ_r = d_r/(κ̄_r + d_r), d_r = a/ν_rr."""

    grid: Grid

    @classmethod
    def of(cls, grid: Grid, aggregation: LinearAggregation) -> "EquicorrelatedLandscape":
        return cls(grid.eta, grid.zeta, aggregation, grid)

    @property
    def signal(self) -> FloatArray:
        return self.grid.signal

    @property
    def power(self) -> FloatArray:
        return np.where(self.grid.aligned > 0, np.inf, self.grid.signal)

    def scale(self) -> FloatArray:
        return np.asarray(self.grid.bulk_variance[:, None] / self.grid.own)

    def floor(self) -> FloatArray:
        return np.asarray(self.scale() * (np.sqrt(self.grid.own / self.grid.alpha[:, None]) - 1.0))

    def _sigma(self, kappa_bar: FloatArray) -> FloatArray:
        d = self.scale()
        return np.asarray(d / (kappa_bar + d))

    @property
    def sample_ratio(self) -> FloatArray:
        return self.grid.alpha

    def span(self) -> tuple[float, float]:
        d = self.scale()
        return float(d.min()), float(d.max())

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        sigma = self._sigma(kappa_bar)
        return np.asarray(kappa_bar * (self.grid.alpha[:, None] - self.grid.own * sigma))

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        return self.grid._replace(lam=lam).kappa_bar()

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        alpha = self.grid.alpha[:, None]
        return np.asarray(1.0 / (alpha - self.grid.own * self._sigma(kappa_bar) ** 2))

    def take(self, rows: IntArray) -> "EquicorrelatedLandscape":
        return self.of(self.grid.take(rows), self.aggregation)

    def of_member(self, member: int) -> "EquicorrelatedLandscape":
        return self.of(self.grid.of_member(member), Mean())

    def pair_forms(self, kappa_bar: FloatArray) -> PairForms:
        grid, fields = self.grid, (self.grid.alpha, self.grid.signal, self.grid.gain, self.grid.aligned)
        alpha, b, gain, rho2 = (field[:, None, None] for field in fields)
        d = self.scale()
        sigma = d / (kappa_bar + d)
        pair = Pair.of(grid, sigma)
        by_kappa_bar = (-(sigma**2) / d)[:, :, None]  # dσ_r/dκ̄_r
        along = aligned(b, grid.bulk_variance[:, None, None], pair)
        return PairForms(
            bias=(1 - rho2) * orthogonal(b, gain, pair) + rho2 * along,
            gamma=gamma(alpha, pair),
            bias_slope=(1 - rho2) * orthogonal_slope(gain, pair) * by_kappa_bar,
            gamma_slope=gamma_slope(alpha, pair) * by_kappa_bar,
        )

    def output_forms(self, kappa_bar: FloatArray) -> OutputForms:
        """Without a teacher along 1 every output is proportional to σ: nothing bends."""
        gain, d = self.grid.gain[:, None], self.scale()
        sigma = self._sigma(kappa_bar)
        D = gain[:, :, None] * self.grid.nu * (sigma[:, :, None] * sigma[:, None, :])
        return OutputForms(gain * (self.grid.own * sigma), -sigma / d, D, np.zeros(D.shape))

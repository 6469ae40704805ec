"""The ensemble's error as a function of its members' effective ridges, with its exact gradient.

Effective ridges κ̄_r, not ridges, are the natural coordinates: E_g is an explicit function of them, the physical branch
is the open half-line above a floor, and λ_r(κ̄_r) is explicit and increasing, negative ridges included.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.theory.equicorrelated import Grid
from subridge.theory.general import bilinear
from subridge.theory.spectrum import effective_ridge, floor
from subridge.theory.tables import Tables


class Landscape(Protocol):
    """E_g over G grid points and k members, everywhere differentiable on the physical branch."""

    @property
    def shape(self) -> tuple[int, int]:
        """(G, k)."""

    def floor(self) -> FloatArray:
        """Lower end of the branch per member, shape (G, k)."""

    def scale(self) -> FloatArray:
        """A typical size of κ̄ per member, shape (G, k)."""

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        """λ_r(κ̄_r), shape (G, k)."""

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        """The inverse of `ridge`."""

    def value_and_gradient(self, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E_g (G,) and ∂E_g/∂κ̄_r (G, k)."""

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        """dκ̄_r/dλ_r, shape (G, k)."""

    def error_scale(self) -> FloatArray:
        """Size of the terms of E_g, shape (G,)."""

    def take(self, rows: IntArray) -> "Landscape":
        """The landscape of some of the grid points."""

    def of_member(self, member: int) -> "Landscape":
        """The landscape of one member alone, k = 1."""


def _assemble(numerator: FloatArray, gamma: FloatArray, zeta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """E_rr′, its mean, and the common factor of its derivatives 1/(1 - γ); inf where rounding left the branch."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = 1.0 / (1.0 - gamma)
        pairs = weight * (numerator + gamma * zeta[:, None, None] ** 2)
    inside = (np.diagonal(gamma, axis1=-2, axis2=-1) < 1).all(axis=-1)
    return pairs, np.where(inside, pairs.mean(axis=(-2, -1)), np.inf), weight


@dataclass(frozen=True, eq=False)
class GeneralLandscape:
    """Prop. 1: α (G,), η (G, k), ζ (G,)."""

    tables: Tables
    alpha: FloatArray
    eta: FloatArray
    zeta: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.alpha), self.tables.n_members

    def floor(self) -> FloatArray:
        return np.stack([floor(spectrum, self.alpha)[0] for spectrum in self.tables.spectra], axis=-1)

    def scale(self) -> FloatArray:
        means = [float(s.counts @ s.values / s.counts.sum()) if len(s.values) else 1.0 for s in self.tables.spectra]
        return np.broadcast_to(np.array(means), self.shape)

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        return np.stack([s.ridge(self.alpha, kappa_bar[:, r]) for r, s in enumerate(self.tables.spectra)], axis=-1)

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        roots = [effective_ridge(s, self.alpha, lam[:, r]).kappa_bar for r, s in enumerate(self.tables.spectra)]
        return np.stack(roots, axis=-1)

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        gaps = [1 - s.gamma(self.alpha, kappa_bar[:, r]) for r, s in enumerate(self.tables.spectra)]
        return np.asarray(1.0 / (self.alpha[:, None] * np.stack(gaps, axis=-1)))

    def error_scale(self) -> FloatArray:
        return np.asarray(self.tables.signal_power + self.zeta**2 + (self.eta**2).mean(axis=1) + 1e-300)

    def take(self, rows: IntArray) -> "GeneralLandscape":
        return GeneralLandscape(self.tables, self.alpha[rows], self.eta[rows], self.zeta[rows])

    def of_member(self, member: int) -> "GeneralLandscape":
        return GeneralLandscape(self.tables.of_member(member), self.alpha, self.eta[:, member : member + 1], self.zeta)

    def value_and_gradient(self, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
        G, k = self.shape
        tables = self.tables
        R = [spectrum.resolvent(kappa_bar[:, r]) for r, spectrum in enumerate(tables.spectra)]
        dR = [-(resolvent**2) for resolvent in R]  # dR_r/dκ̄_r: every form is linear in R_r
        numerator, gamma = np.empty((G, k, k)), np.empty((G, k, k))
        d_numerator, d_gamma = np.empty((G, k, k)), np.empty((G, k, k))  # [r, s]: derivative by κ̄_r
        explained = [R[r] @ tables.explained[r] for r in range(k)]
        d_explained = [dR[r] @ tables.explained[r] for r in range(k)]
        for (r, s), trace in tables.trace.items():
            cross = tables.cross[r, s]
            gamma[:, r, s] = gamma[:, s, r] = bilinear(R[r], trace, R[s]) / self.alpha
            both = bilinear(R[r], cross, R[s])
            numerator[:, r, s] = numerator[:, s, r] = tables.signal_power - explained[r] - explained[s] + both
            d_gamma[:, r, s] = bilinear(dR[r], trace, R[s]) / self.alpha
            d_gamma[:, s, r] = bilinear(R[r], trace, dR[s]) / self.alpha
            d_numerator[:, r, s] = bilinear(dR[r], cross, R[s]) - d_explained[r]
            d_numerator[:, s, r] = bilinear(R[r], cross, dR[s]) - d_explained[s]
        numerator += np.eye(k) * self.eta[:, :, None] ** 2
        pairs, total, weight = _assemble(numerator, gamma, self.zeta)
        by_first = weight * (d_numerator + (pairs + self.zeta[:, None, None] ** 2) * d_gamma)
        return total, 2.0 / k**2 * by_first.sum(axis=-1)  # E_rs depends on κ̄_r through r and, as E_sr, again


@dataclass(frozen=True, eq=False)
class EquicorrelatedLandscape:
    """Prop. 2 on a flat grid, in σ_r = d_r/(κ̄_r + d_r), d_r = a/ν_rr."""

    grid: Grid

    @property
    def shape(self) -> tuple[int, int]:
        G, k = self.grid.lam.shape
        return int(G), int(k)

    def scale(self) -> FloatArray:
        return np.asarray(self.grid.bulk_variance[:, None] / self.grid.own)

    def floor(self) -> FloatArray:
        return np.asarray(self.scale() * (np.sqrt(self.grid.own / self.grid.alpha[:, None]) - 1.0))

    def _sigma(self, kappa_bar: FloatArray) -> FloatArray:
        d = self.scale()
        return np.asarray(d / (kappa_bar + d))

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        sigma = self._sigma(kappa_bar)
        return np.asarray(kappa_bar * (self.grid.alpha[:, None] - self.grid.own * sigma))

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        g = self.grid
        return Grid(g.problem, g.alpha, g.nu, lam, g.eta).kappa_bar()

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        alpha = self.grid.alpha[:, None]
        return np.asarray(1.0 / (alpha - self.grid.own * self._sigma(kappa_bar) ** 2))

    def error_scale(self) -> FloatArray:
        return np.asarray(self.grid.signal + self.grid.problem.label_noise**2 + (self.grid.eta**2).mean(axis=1))

    def take(self, rows: IntArray) -> "EquicorrelatedLandscape":
        g = self.grid
        fields = (getattr(g.problem, name)[rows] for name in g.problem.__dataclass_fields__)
        return EquicorrelatedLandscape(
            Grid(type(g.problem)(*fields), g.alpha[rows], g.nu[rows], g.lam[rows], g.eta[rows])
        )

    def of_member(self, member: int) -> "EquicorrelatedLandscape":
        g, own = self.grid, slice(member, member + 1)
        return EquicorrelatedLandscape(Grid(g.problem, g.alpha, g.nu[:, own, own], g.lam[:, own], g.eta[:, own]))

    def value_and_gradient(self, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
        g, k = self.grid, self.shape[1]
        alpha, b, a = (x[:, None, None] for x in (g.alpha, g.signal, g.bulk_variance))
        rho, zeta, c = (getattr(g.problem, name)[:, None, None] for name in ("alignment", "label_noise", "correlation"))
        aligned = np.where(c > 0, rho**2, 0.0)  # without correlation there is no special direction
        sigma = self._sigma(kappa_bar)
        sigma_r, sigma_s, nu_r, nu_s = sigma[:, :, None], sigma[:, None, :], g.own[:, :, None], g.own[:, None, :]
        gamma = g.nu * sigma_r * sigma_s / alpha
        gain = (1 - aligned) * b**2 / a
        orthogonal = (1 - aligned) * b - gain * (nu_r * sigma_r + nu_s * sigma_s - g.nu * sigma_r * sigma_s)
        numerator = orthogonal + aligned * (a * g.nu / (nu_r * nu_s) - b) + np.eye(k) * g.eta[:, :, None] ** 2
        pairs, total, weight = _assemble(numerator, gamma, g.problem.label_noise)
        by_sigma = weight * (gain * (g.nu * sigma_s - nu_r) + (pairs + zeta**2) * g.nu * sigma_s / alpha)
        d_sigma = -sigma / (kappa_bar + self.scale())
        return total, 2.0 / k**2 * by_sigma.sum(axis=-1) * d_sigma

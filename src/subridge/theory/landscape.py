"""The ensemble's error as a function of its members' effective ridges, with its exact gradient.

Effective ridges κ̄_r, not ridges, are the natural coordinates: E_g is an explicit function of them, the physical branch
is the open half-line above a floor, and λ_r(κ̄_r) is explicit and increasing, negative ridges included.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.aggregation import LinearAggregation, Mean
from subridge.model.moments import MemberMoments, Outputs
from subridge.theory.grid import EquicorrelatedGrid, over_alpha
from subridge.theory.prop1 import bias_left_over, bias_of_signal
from subridge.theory.prop2 import aligned_bias, bulk_of_members, unaligned_bias, unaligned_slope
from subridge.theory.saddle_point import EPS, Spectrum, effective_ridge, floor
from subridge.theory.tables import Tables, product

Forms: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Landscape(ABC):
    """E_g over G grid points and k members, everywhere differentiable on the physical branch.

    Shapes are (G,) for the sample ratio, the label noise, the power of the signal orthogonal to 1 and that of the whole
    target, and (G, k) for the readout noise. The weights of `aggregation` are constant or minimise the error over a
    fixed set, so that they may be held fixed in its derivative.
    """

    alpha: FloatArray
    eta: FloatArray
    zeta: FloatArray
    signal: FloatArray
    power: FloatArray
    aggregation: LinearAggregation

    @property
    def shape(self) -> tuple[int, int]:
        """(G, k)."""
        G, k = self.eta.shape
        return int(G), int(k)

    @abstractmethod
    def floor(self) -> FloatArray:
        """Lower end of the branch per member, shape (G, k)."""

    @abstractmethod
    def span(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue of any member: the decades in which the error can turn."""

    @abstractmethod
    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        """λ_r(κ̄_r), shape (G, k)."""

    @abstractmethod
    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        """The inverse of `ridge`; ridges below the lowest that is well posed are raised to it."""

    @abstractmethod
    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        """dκ̄_r/dλ_r, shape (G, k)."""

    @abstractmethod
    def of_member(self, member: int) -> "Landscape":
        """The landscape of one member alone, k = 1, with weight one."""

    @abstractmethod
    def pair_forms(self, kappa_bar: FloatArray) -> Forms:
        """Bias and γ of every pair (r, s), shape (G, k, k), and their derivatives by κ̄_r."""

    @abstractmethod
    def output_forms(self, kappa_bar: FloatArray) -> Forms:
        """Mean outputs of the members: c_r (G, k), its rate dlog c_r/dκ̄_r, the products D_rs (G, k, k), and a bend.

        The bend is what is left in the derivative of D_rs by κ̄_r beyond that rate. Only where `power` is finite.
        """

    def take(self, rows: IntArray) -> "Landscape":
        """The landscape of some of the grid points."""
        fields = {name: getattr(self, name)[rows] for name in ("alpha", "eta", "zeta", "signal", "power")}
        return replace(self, **fields)

    def value_noise(self) -> FloatArray:
        """Rounding of E_g, shape (G,): of the target's power if weights of any sum make the most of it."""
        free = np.isfinite(self.power) & (not self.aggregation.sums_to_one)
        return np.where(free, 8 * EPS * np.where(free, self.power, 0.0), 0.0)

    def error_scale(self) -> FloatArray:
        """Size of the terms of E_g, shape (G,); positive."""
        return np.asarray(self.signal + self.zeta**2 + (self.eta**2).mean(axis=1) + 1e-300)

    def value_and_gradient(self, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E_g (G,), infinite where rounding left the branch, and ∂E_g/∂κ̄_r (G, k)."""
        k = self.shape[1]
        bias, gamma, bias_slope, gamma_slope = self.pair_forms(kappa_bar)
        label_noise = self.zeta[:, None, None] ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = 1.0 / (1.0 - gamma)
            pairs = weight * (bias + np.eye(k) * self.eta[:, :, None] ** 2 + gamma * label_noise)
            by_first = weight * (bias_slope + (pairs + label_noise) * gamma_slope)
        inside = np.asarray((np.diagonal(gamma, axis1=-2, axis2=-1) < 1).all(axis=-1))
        # E_rs depends on κ̄_r through its first member, and E_sr through its second: twice the same.
        if self.aggregation.is_mean:
            return np.where(inside, pairs.mean(axis=(-2, -1)), np.inf), 2.0 / k**2 * by_first.sum(axis=-1)
        pairs = np.where(inside[:, None, None], pairs, np.eye(k))
        by_first = np.where(inside[:, None, None], by_first, 0.0)
        if self.aggregation.sums_to_one:
            w = self.aggregation.weights(MemberMoments(pairs))
            value, gradient = MemberMoments(pairs).risk_of(w), 2.0 * w * (by_first * w[:, None, :]).sum(axis=-1)
        else:
            # What samples and label noise add to the products of outputs, and its derivative by the first κ̄.
            added = gamma * (pairs + label_noise)
            added_slope = gamma_slope * (pairs + label_noise) + gamma * by_first
            value, gradient = self._with_best_weights(kappa_bar, pairs, by_first, added, added_slope)
        return np.where(inside, value, np.inf), gradient

    def _with_best_weights(
        self, kappa_bar: FloatArray, pairs: FloatArray, by_first: FloatArray, added: FloatArray, added_slope: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """E_g and its gradient under weights w of any sum, which satisfy Σ_r w_r (Σ_s F_rs w_s - c_r) = 0.

        With F = D + γ(E + ζ²) + η² the derivatives of c and of D all but cancel where much is fitted. They are taken
        out: only what samples and noise add, and what bends, remain.
        """
        with np.errstate(invalid="ignore"):
            c, rate, D, bend = self.output_forms(kappa_bar)
            noise = added + np.eye(pairs.shape[-1]) * self.eta[:, :, None] ** 2
            F = D + noise
            outputs = Outputs(c, F, 0 * c, 0 * F, np.zeros(self.power.shape))
            moments = MemberMoments(pairs, self.power[:, None] - c, self.power, outputs)
            w = self.aggregation.weights(moments)
            defect = np.sum(F * w[:, None, :], axis=-1) - c
            total = w.sum(axis=-1, keepdims=True)
            defect = defect - np.sum(w * defect, axis=-1, keepdims=True) / np.where(total > 0, total, 1.0)
            change = np.sum((bend + added_slope - rate[:, :, None] * noise) * w[:, None, :], axis=-1)
            gradient = 2.0 * w * (defect * rate + change)
            value = moments.risk_of(w)
        pinned = np.isinf(self.power)[:, None]  # then weights sum to one
        return value, np.where(pinned, 2.0 * w * np.sum(by_first * w[:, None, :], axis=-1), gradient)


@dataclass(frozen=True, eq=False)
class GeneralLandscape(Landscape):
    """Prop. 1 on a flat grid."""

    tables: Tables

    @property
    def spectra(self) -> list[Spectrum]:
        return [member.spectrum for member in self.tables.members]

    def floor(self) -> FloatArray:
        return np.stack([floor(spectrum, self.alpha)[0] for spectrum in self.spectra], axis=-1)

    def span(self) -> tuple[float, float]:
        values = [spectrum.values for spectrum in self.spectra if len(spectrum.values)]
        return (min(float(v[0]) for v in values), max(float(v[-1]) for v in values)) if values else (1.0, 1.0)

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        return np.stack([s.ridge(self.alpha, kappa_bar[:, r]) for r, s in enumerate(self.spectra)], axis=-1)

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        roots = [effective_ridge(s, self.alpha, lam[:, r], clip=True)[0] for r, s in enumerate(self.spectra)]
        return np.stack(roots, axis=-1)

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        gaps = [1 - s.gamma(self.alpha, kappa_bar[:, r]) for r, s in enumerate(self.spectra)]
        return np.asarray(1.0 / (self.alpha[:, None] * np.stack(gaps, axis=-1)))

    def of_member(self, member: int) -> "GeneralLandscape":
        eta = self.eta[:, member : member + 1]
        return replace(self, eta=eta, aggregation=Mean(), tables=self.tables.of_member(member))

    def pair_forms(self, kappa_bar: FloatArray) -> Forms:
        """The bias by the form whose terms are smaller; the shares change with κ̄ by dψ/dκ̄ = -dφ/dκ̄ = φ/(κ̄ + d)."""
        tables, members, (G, k) = self.tables, self.tables.members, self.shape
        shares = [s.shares(kappa_bar[:, r]) for r, s in enumerate(self.spectra)]
        change = [shares[r][0] * s.resolvent(kappa_bar[:, r]) for r, s in enumerate(self.spectra)]
        small = [
            tables.pairs[r, r].left_over + psi**2 @ members[r].fitted
            <= tables.signal_power + 2 * np.abs(phi) @ members[r].whole
            for r, (phi, psi) in enumerate(shares)
        ]
        bias, gamma, bias_slope, gamma_slope = (np.empty((G, k, k)) for _ in range(4))
        for (r, s), pair in tables.pairs.items():
            phi_r, phi_s = shares[r][0], shares[s][0]
            gamma[:, r, s] = gamma[:, s, r] = product(pair.trace, phi_r, phi_s)
            gamma_slope[:, s, r] = -product(pair.trace, phi_r, change[s])
            gamma_slope[:, r, s] = -product(pair.trace, change[r], phi_s)
            left = small[r] & small[s]
            for rows, which, form, sign, table, alone_r, alone_s in (
                (left, 1, bias_left_over, 1.0, pair.fitted, pair.left_over_r, pair.left_over_s),
                (~left, 0, bias_of_signal, -1.0, pair.whole, members[r].whole, members[s].whole),
            ):
                if rows.any():
                    x, y, dx, dy = shares[r][which][rows], shares[s][which][rows], change[r][rows], change[s][rows]
                    bias[rows, r, s] = bias[rows, s, r] = form(tables, r, s, x, y)
                    bias_slope[rows, s, r] = dy @ alone_s + sign * product(table, x, dy)
                    bias_slope[rows, r, s] = dx @ alone_r + sign * product(table, dx, y)
        samples = self.alpha[:, None, None] * tables.n_features
        return bias, over_alpha(gamma, samples), bias_slope, over_alpha(gamma_slope, samples)

    def output_forms(self, kappa_bar: FloatArray) -> Forms:
        tables, (G, k) = self.tables, self.shape
        c, rate, phi, beyond = np.empty((G, k)), np.zeros((G, k)), [], []
        for r, member in enumerate(tables.members):
            fitted = member.spectrum.shares(kappa_bar[:, r])[0]
            slope = -fitted * member.spectrum.resolvent(kappa_bar[:, r])
            c[:, r] = fitted @ member.whole
            np.divide(slope @ member.whole, c[:, r], out=rate[:, r], where=c[:, r] > 0)
            phi.append(fitted)
            beyond.append(slope - rate[:, r : r + 1] * fitted)
        D, bend = np.empty((G, k, k)), np.empty((G, k, k))
        for (r, s), pair in tables.pairs.items():
            D[:, r, s] = D[:, s, r] = product(pair.whole, phi[r], phi[s])
            bend[:, s, r] = product(pair.whole, phi[r], beyond[s])
            bend[:, r, s] = product(pair.whole, beyond[r], phi[s])
        return c, rate, D, bend


@dataclass(frozen=True, eq=False)
class EquicorrelatedLandscape(Landscape):
    """Prop. 2 on a flat grid, in σ_r = d_r/(κ̄_r + d_r), d_r = a/ν_rr."""

    grid: EquicorrelatedGrid

    @classmethod
    def of(cls, grid: EquicorrelatedGrid, aggregation: LinearAggregation) -> "EquicorrelatedLandscape":
        power = np.where(grid.aligned > 0, np.inf, grid.b)
        return cls(grid.alpha, grid.eta, grid.zeta, grid.b, power, aggregation, grid)

    @property
    def d(self) -> FloatArray:
        """The one eigenvalue of every member, shape (G, k)."""
        return np.asarray(self.grid.a[:, None] / self.grid.own)

    def take(self, rows: IntArray) -> "EquicorrelatedLandscape":
        return self.of(self.grid.take(rows), self.aggregation)

    def of_member(self, member: int) -> "EquicorrelatedLandscape":
        return self.of(self.grid.of_member(member), Mean())

    def floor(self) -> FloatArray:
        return np.asarray(self.d * (np.sqrt(self.grid.own / self.alpha[:, None]) - 1.0))

    def span(self) -> tuple[float, float]:
        return float(self.d.min()), float(self.d.max())

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        return np.asarray(kappa_bar * (self.alpha[:, None] - self.grid.own * self.d / (kappa_bar + self.d)))

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        return bulk_of_members(self.grid._replace(lam=np.maximum(lam, self.ridge(self.floor()))))[1]

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (self.alpha[:, None] - self.grid.own * (self.d / (kappa_bar + self.d)) ** 2))

    def pair_forms(self, kappa_bar: FloatArray) -> Forms:
        grid, d, k = self.grid, self.d, self.shape[1]
        alpha, b, a, omega2, rho2 = (x[:, None, None] for x in (self.alpha, grid.b, grid.a, grid.omega2, grid.aligned))
        sigma, free = d / (kappa_bar + d), kappa_bar / (kappa_bar + d)
        sigma_s, pure = sigma[:, None, :], b / a
        nu = grid.own[:, :, None], grid.own[:, None, :], grid.nu
        across = sum(unaligned_bias(b, pure, omega2 / a, nu, (free[:, :, None], free[:, None, :])))
        along = sum(aligned_bias(b, omega2, nu, np.eye(k, dtype=bool)))
        by_kappa_bar = (-(sigma**2) / d)[:, :, None]  # dσ_r/dκ̄_r
        return (
            np.asarray((1 - rho2) * across + rho2 * along),
            grid.nu * (sigma[:, :, None] * sigma_s) / alpha,
            (1 - rho2) * unaligned_slope(b * pure, nu[0], grid.nu, sigma_s) * by_kappa_bar,
            grid.nu * sigma_s / alpha * by_kappa_bar,
        )

    def output_forms(self, kappa_bar: FloatArray) -> Forms:
        """Without a teacher along 1 every output is proportional to σ: nothing bends."""
        gain, d = (self.grid.b**2 / self.grid.a)[:, None], self.d
        sigma = d / (kappa_bar + d)
        D = gain[:, :, None] * self.grid.nu * (sigma[:, :, None] * sigma[:, None, :])
        return gain * (self.grid.own * sigma), -sigma / d, D, np.zeros(D.shape)

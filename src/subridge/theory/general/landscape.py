"""The error of Prop. 1 over the members' effective ridges."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.aggregation import Mean
from subridge.theory.general.member_state import shares
from subridge.theory.general.spectrum import effective_ridge, floor
from subridge.theory.general.tables import Table, Tables
from subridge.theory.landscape import Landscape, OutputForms, PairForms
from subridge.theory.pair_errors import over_alpha


@dataclass(frozen=True, eq=False)
class GeneralLandscape(Landscape):
    """Prop. 1 on a flat grid: α of shape (G,)."""

    tables: Tables
    alpha: FloatArray

    @property
    def signal(self) -> FloatArray:
        return np.full(self.alpha.shape, self.tables.signal_power)

    @property
    def power(self) -> FloatArray:
        return self.signal

    def floor(self) -> FloatArray:
        return np.stack([floor(spectrum, self.alpha)[0] for spectrum in self.tables.spectra], axis=-1)

    def scale(self) -> FloatArray:
        means = [float(s.counts @ s.values / s.counts.sum()) if len(s.values) else 1.0 for s in self.tables.spectra]
        return np.broadcast_to(np.array(means), self.shape)

    @property
    def sample_ratio(self) -> FloatArray:
        return self.alpha

    def span(self) -> tuple[float, float]:
        values = [spectrum.values for spectrum in self.tables.spectra if len(spectrum.values)]
        return (min(float(v[0]) for v in values), max(float(v[-1]) for v in values)) if values else (1.0, 1.0)

    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        return np.stack([s.ridge(self.alpha, kappa_bar[:, r]) for r, s in enumerate(self.tables.spectra)], axis=-1)

    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        roots = [effective_ridge(s, self.alpha, lam[:, r]).kappa_bar for r, s in enumerate(self.tables.spectra)]
        return np.stack(roots, axis=-1)

    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        gaps = [1 - s.gamma(self.alpha, kappa_bar[:, r]) for r, s in enumerate(self.tables.spectra)]
        return np.asarray(1.0 / (self.alpha[:, None] * np.stack(gaps, axis=-1)))

    def take(self, rows: IntArray) -> "GeneralLandscape":
        return GeneralLandscape(self.eta[rows], self.zeta[rows], self.aggregation, self.tables, self.alpha[rows])

    def of_member(self, member: int) -> "GeneralLandscape":
        eta = self.eta[:, member : member + 1]
        return GeneralLandscape(eta, self.zeta, Mean(), self.tables.of_member(member), self.alpha)

    def pair_forms(self, kappa_bar: FloatArray) -> PairForms:
        """The bias by the form whose terms are smaller; the shares change with κ̄ by dψ/dκ̄ = -dφ/dκ̄ = φ/(κ̄ + d)."""
        tables, members, (G, k) = self.tables, self.tables.members, self.shape
        phi, psi, change = [], [], []
        for r, spectrum in enumerate(tables.spectra):
            fitted, free = shares(spectrum.values, kappa_bar[:, r])
            phi.append(fitted)
            psi.append(free)
            change.append(fitted * spectrum.resolvent(kappa_bar[:, r]))
        small = [
            tables.pairs[r, r].left_over + psi[r] ** 2 @ member.fitted
            <= tables.signal_power + 2 * np.abs(phi[r]) @ member.whole
            for r, member in enumerate(members)
        ]
        bias, gamma, bias_slope, gamma_slope = (np.empty((G, k, k)) for _ in range(4))
        for (r, s), pair in tables.pairs.items():
            gamma[:, r, s] = gamma[:, s, r] = _product(pair.trace, phi[r], phi[s])
            gamma_slope[:, s, r] = -_product(pair.trace, phi[r], change[s])
            gamma_slope[:, r, s] = -_product(pair.trace, change[r], phi[s])
            left = small[r] & small[s]
            for rows, form in (
                (left, _Form(1.0, pair.left_over, pair.fitted, pair.left_over_r, pair.left_over_s)),
                (~left, _Form(-1.0, tables.signal_power, pair.whole, members[r].whole, members[s].whole)),
            ):
                if rows.any():
                    share = psi if form.sign > 0 else phi
                    x, y = share[r][rows], share[s][rows]
                    dx, dy = form.sign * change[r][rows], form.sign * change[s][rows]
                    bias[rows, r, s] = bias[rows, s, r] = form.value(x, y)
                    bias_slope[rows, s, r] = form.sign * (dy @ form.alone_s) + _product(form.table, x, dy)
                    bias_slope[rows, r, s] = form.sign * (dx @ form.alone_r) + _product(form.table, dx, y)
        alpha, M = self.alpha[:, None, None], tables.n_features
        gamma, gamma_slope = over_alpha(gamma / M, alpha), over_alpha(gamma_slope / M, alpha)
        return PairForms(bias, gamma, bias_slope, gamma_slope)

    def output_forms(self, kappa_bar: FloatArray) -> OutputForms:
        tables, (G, k) = self.tables, self.shape
        c, rate, phi, beyond = np.empty((G, k)), np.zeros((G, k)), [], []
        for r, member in enumerate(tables.members):
            fitted = shares(member.spectrum.values, kappa_bar[:, r])[0]
            slope = -fitted * member.spectrum.resolvent(kappa_bar[:, r])
            c[:, r] = fitted @ member.whole
            np.divide(slope @ member.whole, c[:, r], out=rate[:, r], where=c[:, r] > 0)
            phi.append(fitted)
            beyond.append(slope - rate[:, r : r + 1] * fitted)
        D, bend = np.empty((G, k, k)), np.empty((G, k, k))
        for (r, s), pair in tables.pairs.items():
            D[:, r, s] = D[:, s, r] = _product(pair.whole, phi[r], phi[s])
            bend[:, s, r] = _product(pair.whole, phi[r], beyond[s])
            bend[:, r, s] = _product(pair.whole, beyond[r], phi[s])
        return OutputForms(c, rate, D, bend)


class _Form(NamedTuple):
    """A bias: constant ± each member alone + both together."""

    sign: float
    constant: float
    table: Table
    alone_r: FloatArray
    alone_s: FloatArray

    def value(self, x: FloatArray, y: FloatArray) -> FloatArray:
        alone = x @ self.alone_r + y @ self.alone_s
        return np.asarray(self.constant + self.sign * alone + _product(self.table, x, y))


def _product(table: Table, left: FloatArray, right: FloatArray) -> FloatArray:
    """``leftᵀ T right`` at every grid point, shape (G,)."""
    return np.asarray(np.sum((left @ table) * right, axis=1))

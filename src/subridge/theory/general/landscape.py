"""The error of Prop. 1 over the members' effective ridges."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.ensemble.aggregation import Mean
from subridge.theory.general.error import bias_and_gamma, bias_and_gamma_slopes, explained
from subridge.theory.general.spectrum import effective_ridge, floor
from subridge.theory.general.tables import Tables
from subridge.theory.landscape import Landscape, PairForms


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
        R = self.tables.resolvents(kappa_bar)
        return PairForms(
            *bias_and_gamma(self.tables, self.alpha, R),
            *bias_and_gamma_slopes(self.tables, self.alpha, R),
            self.tables.signal_power - explained(self.tables, R),
            explained(self.tables, [resolvent**2 for resolvent in R]),
        )

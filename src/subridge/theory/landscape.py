"""The ensemble's error as a function of its members' effective ridges, with its exact gradient.

Effective ridges κ̄_r, not ridges, are the natural coordinates: E_g is an explicit function of them, the physical branch
is the open half-line above a floor, and λ_r(κ̄_r) is explicit and increasing, negative ridges included.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.ensemble.aggregation import LinearAggregation, Mean
from subridge.ensemble.moments import MemberMoments

_EPS = float(np.finfo(np.float64).eps)
_LOST = 1e-3  # share of the error that may be rounding where the best ridge is sought


class PairForms(NamedTuple):
    """Bias and γ of every pair (r, s) and what member r misses of the target, with their derivatives by κ̄_r.

    Pairs have the shape (G, k, k), members (G, k).
    """

    bias: FloatArray
    gamma: FloatArray
    bias_slope: FloatArray
    gamma_slope: FloatArray
    missed: FloatArray
    missed_slope: FloatArray


@dataclass(frozen=True, eq=False)
class Landscape(ABC):
    """E_g over G grid points and k members, everywhere differentiable on the physical branch.

    `eta`, shape (G, k), is the readout noise, `zeta`, shape (G,), the label noise. The weights of `aggregation` are
    constant or minimise the error over a fixed set, so that they may be held fixed in its derivative.
    """

    eta: FloatArray
    zeta: FloatArray
    aggregation: LinearAggregation

    @property
    def shape(self) -> tuple[int, int]:
        """(G, k)."""
        G, k = self.eta.shape
        return int(G), int(k)

    @property
    @abstractmethod
    def signal(self) -> FloatArray:
        """Power of the signal that the members try to fit, shape (G,)."""

    @property
    @abstractmethod
    def power(self) -> FloatArray:
        """Power v of the target, shape (G,)."""

    @abstractmethod
    def floor(self) -> FloatArray:
        """Lower end of the branch per member, shape (G, k)."""

    @abstractmethod
    def scale(self) -> FloatArray:
        """A typical size of κ̄ per member, shape (G, k)."""

    @property
    @abstractmethod
    def sample_ratio(self) -> FloatArray:
        """α, shape (G,)."""

    @abstractmethod
    def span(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue of any member: the decades in which the error can turn."""

    @abstractmethod
    def ridge(self, kappa_bar: FloatArray) -> FloatArray:
        """λ_r(κ̄_r), shape (G, k)."""

    @abstractmethod
    def kappa_bar(self, lam: FloatArray) -> FloatArray:
        """The inverse of `ridge`."""

    @abstractmethod
    def slope(self, kappa_bar: FloatArray) -> FloatArray:
        """dκ̄_r/dλ_r, shape (G, k)."""

    @abstractmethod
    def take(self, rows: IntArray) -> "Landscape":
        """The landscape of some of the grid points."""

    @abstractmethod
    def of_member(self, member: int) -> "Landscape":
        """The landscape of one member alone, k = 1, with weight one."""

    @abstractmethod
    def pair_forms(self, kappa_bar: FloatArray) -> PairForms:
        """What the proposition says of every pair."""

    def error_scale(self) -> FloatArray:
        """Size of the terms of E_g, shape (G,); positive."""
        return np.asarray(self.signal + self.zeta**2 + (self.eta**2).mean(axis=1) + 1e-300)

    def value_and_gradient(self, kappa_bar: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E_g (G,), infinite where rounding left the branch, and ∂E_g/∂κ̄_r (G, k)."""
        k = self.shape[1]
        bias, gamma, bias_slope, gamma_slope, missed, missed_slope = self.pair_forms(kappa_bar)
        label_noise = self.zeta[:, None, None] ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = 1.0 / (1.0 - gamma)
            pairs = weight * (bias + np.eye(k) * self.eta[:, :, None] ** 2 + gamma * label_noise)
        inside = np.asarray((np.diagonal(gamma, axis1=-2, axis2=-1) < 1).all(axis=-1))
        by_first = weight * (bias_slope + (pairs + label_noise) * gamma_slope)
        # E_rs depends on κ̄_r through its first member, and E_sr through its second: twice the same.
        if isinstance(self.aggregation, Mean):
            return np.where(inside, pairs.mean(axis=(-2, -1)), np.inf), 2.0 / k**2 * by_first.sum(axis=-1)
        moments = MemberMoments(np.where(inside[:, None, None], pairs, np.eye(k)), missed, self.power)
        w = self.aggregation.weights(moments)
        by_pairs = (np.where(inside[:, None, None], by_first, 0.0) * w[:, None, :]).sum(axis=-1)
        gradient = 2.0 * w * (by_pairs + (1.0 - w.sum(axis=-1, keepdims=True)) * missed_slope)
        value = moments.risk_of(w)
        # Members that are shrunk to almost nothing get huge weights, under which the error is but rounding of the
        # target's power; such a place is not searched.
        rest = 1.0 - w.sum(axis=-1)
        rounding = np.where(rest == 0, 0.0, _EPS * rest**2 * np.where(np.isinf(self.power), 0.0, self.power))
        return np.where(inside & (rounding <= _LOST * np.abs(value)), value, np.inf), gradient

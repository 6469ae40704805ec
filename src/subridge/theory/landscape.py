"""The ensemble's error as a function of its members' effective ridges, with its exact gradient.

Effective ridges κ̄_r, not ridges, are the natural coordinates: E_g is an explicit function of them, the physical branch
is the open half-line above a floor, and λ_r(κ̄_r) is explicit and increasing, negative ridges included.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.aggregation import Free, LinearAggregation, Mean, Scaled
from subridge.model.moments import MemberMoments, Outputs

_EPS = float(np.finfo(np.float64).eps)


class PairForms(NamedTuple):
    """Bias and γ of every pair (r, s), shape (G, k, k), with their derivatives by κ̄_r."""

    bias: FloatArray
    gamma: FloatArray
    bias_slope: FloatArray
    gamma_slope: FloatArray


class OutputForms(NamedTuple):
    """Mean outputs of the members: what each explains of the target, c_r (G, k), and their products D_rs (G, k, k).

    `rate` is dlog c_r/dκ̄_r, and `bend` what is left of D_rs in its derivative by κ̄_r beyond that rate.
    """

    c: FloatArray
    rate: FloatArray
    D: FloatArray
    bend: FloatArray


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

    @abstractmethod
    def output_forms(self, kappa_bar: FloatArray) -> OutputForms:
        """What the proposition says of the members' mean outputs; only where `power` is finite."""

    def value_noise(self) -> FloatArray:
        """Rounding of E_g, shape (G,): of the target's power where weights are free to make the most of it."""
        free = self._scales_outputs & np.isfinite(self.power)
        return np.where(free, 8 * _EPS * np.where(free, self.power, 0.0), 0.0)

    @property
    def _scales_outputs(self) -> bool:
        return isinstance(self.aggregation, Scaled | Free)

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
        inside = np.asarray((np.diagonal(gamma, axis1=-2, axis2=-1) < 1).all(axis=-1))
        by_first = weight * (bias_slope + (pairs + label_noise) * gamma_slope)
        # E_rs depends on κ̄_r through its first member, and E_sr through its second: twice the same.
        if isinstance(self.aggregation, Mean):
            return np.where(inside, pairs.mean(axis=(-2, -1)), np.inf), 2.0 / k**2 * by_first.sum(axis=-1)
        pairs = np.where(inside[:, None, None], pairs, np.eye(k))
        by_first = np.where(inside[:, None, None], by_first, 0.0)
        if self._scales_outputs:
            added = _Added(gamma * (pairs + label_noise), gamma_slope * (pairs + label_noise) + gamma * by_first)
            value, gradient = self._with_best_weights(kappa_bar, pairs, by_first, added)
        else:
            w = self.aggregation.weights(MemberMoments(pairs))
            value, gradient = MemberMoments(pairs).risk_of(w), 2.0 * w * (by_first * w[:, None, :]).sum(axis=-1)
        return np.where(inside, value, np.inf), gradient

    def _with_best_weights(
        self, kappa_bar: FloatArray, pairs: FloatArray, by_first: FloatArray, added: "_Added"
    ) -> tuple[FloatArray, FloatArray]:
        """E_g and its gradient under weights w of any sum, which satisfy Σ_r w_r (Σ_s F_rs w_s - c_r) = 0.

        With F = D + γ(E + ζ²) + η² the derivatives of what is explained and of the products of mean outputs all but
        cancel where much is fitted. They are taken out: only what samples and noise add, and bends, remain.
        """
        infinite = np.isinf(self.power)  # then weights sum to one
        with np.errstate(invalid="ignore"):
            mean = self.output_forms(kappa_bar)
            noise = added.value + np.eye(pairs.shape[-1]) * self.eta[:, :, None] ** 2
            F = mean.D + noise
            outputs = Outputs(mean.c, F, 0 * mean.c, 0 * F, np.zeros(self.power.shape))
            moments = MemberMoments(pairs, self.power[:, None] - mean.c, self.power, outputs)
            w = self.aggregation.weights(moments)
            defect = np.sum(F * w[:, None, :], axis=-1) - mean.c
            total = w.sum(axis=-1, keepdims=True)
            defect = defect - np.sum(w * defect, axis=-1, keepdims=True) / np.where(total > 0, total, 1.0)
            change = np.sum((mean.bend + added.slope - mean.rate[:, :, None] * noise) * w[:, None, :], axis=-1)
            gradient = 2.0 * w * (defect * mean.rate + change)
            value = moments.risk_of(w)
        return value, np.where(infinite[:, None], 2.0 * w * np.sum(by_first * w[:, None, :], axis=-1), gradient)


class _Added(NamedTuple):
    """What samples and label noise add to the products of outputs, γ(E + ζ²), and its derivative by the first κ̄."""

    value: FloatArray
    slope: FloatArray

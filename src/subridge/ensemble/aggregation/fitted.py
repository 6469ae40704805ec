"""Weights that are fitted, and how far the data carry them."""

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import Array, FloatArray
from subridge.model.aggregation import LinearAggregation, Settled
from subridge.model.moments import MemberMoments

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class FittedAggregation(LinearAggregation):
    """A weighted sum whose weights are fitted: to all targets together, or to each by itself.

    What is fitted to few left-out errors is mostly noise. So weights go from those of a `simpler` aggregation, with
    fewer fitted numbers, only part of the way to the best ones (James and Stein): for a gain G on the left-out errors,
    of which noise alone would give N, by the share t = 1 - N/G. On new samples G t² of it is to be expected.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself: moments have an axis of C targets before the members, and so have the
        weights.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> errors = np.array([[[1.0], [3.0]], [[1.0], [-1.0]]])  # two members, two targets, one sample
    >>> targets = np.array([[2.0], [3.0]])
    >>> isinstance(sr.aggregation.Free(), FittedAggregation)
    True
    >>> for each in sr.aggregation.Free(), sr.aggregation.Free(per_target=True):
    ...     print(each.weights(each.moments(errors, targets, np.ones(1))).round(2).tolist())
    [1.25, 0.75]
    [[1.0, 1.0], [0.0, 0.75]]

    Twelve labels behind each member carry the scale one only part of the way from the mean to the best:

    >>> scaled = sr.aggregation.Scaled()
    >>> moments = MemberMoments(np.full((2, 2), 0.5), np.full(2, 0.6), np.ones(()), behind=np.full(2, 12.0))
    >>> scaled.best(moments), scaled.simpler.name, scaled.settle(moments).weights.round(2)
    (array([0.66666667, 0.66666667]), 'mean', array([0.5, 0.5]))
    """

    per_target: bool = False

    @abstractmethod
    def best(self, moments: MemberMoments) -> FloatArray:
        """The weights of least error, if the moments were exact.

        Parameters
        ----------
        moments : MemberMoments
            As for `weights`.

        Returns
        -------
        ndarray, shape (..., k)
            Not negative.
        """

    @property
    @abstractmethod
    def simpler(self) -> LinearAggregation:
        """What the weights are drawn towards."""

    def weights(self, moments: MemberMoments) -> FloatArray:
        return self.settle(moments).weights

    def best_judged(self, moments: MemberMoments) -> FloatArray:
        """The best weights, zero for members whose weight cannot be judged: those with no label behind them.

        Parameters
        ----------
        moments : MemberMoments
            As for `weights`.

        Returns
        -------
        ndarray, shape (..., k)
            Not negative; those of the `simpler` aggregation where no member can be judged.

        Examples
        --------
        >>> import subridge as sr
        >>> moments = MemberMoments(np.diag([1.0, 3.0, 0.1]), behind=np.array([50.0, 50.0, 0.0]))
        >>> sr.aggregation.Simplex().best_judged(moments)
        array([0.75, 0.25, 0.  ])
        """
        known = moments.judged_members
        if len(known) == moments.n_members:
            return self.best(moments)
        if not len(known):
            return self.simpler.settle(moments).weights
        found = np.zeros(moments.pairs.shape[:-1])
        found[..., known] = self.best(moments.of_members(known))
        return found

    def settle(self, moments: MemberMoments) -> Settled:
        best = self.best_judged(moments)
        apparent, d = moments.risk_of(best), self.n_fitted(best)
        if moments.behind is None:
            return Settled(best, apparent, apparent, d)
        start = self.simpler.settle(moments)
        gain = np.maximum(start.least - apparent, 0.0)
        extra = np.maximum(d - start.n_fitted, 1.0)  # all weight on one member is a choice as well
        noise = gain_of_noise(apparent, moments.v, extra, labels_behind(best, moments.behind))
        share = np.where(gain > noise, 1 - np.minimum(noise, gain) / np.where(gain > 0, gain, 1.0), 0.0)
        weights = start.weights + share[..., None] * (best - start.weights)
        return Settled(weights, apparent, start.expected - gain * share**2, d)

    def moments(
        self, errors: Array, targets: Array, sample_weights: Array, independent: FloatArray | None = None
    ) -> MemberMoments:
        if self.per_target:
            return replace(MemberMoments.of_targets(errors, targets, sample_weights), behind=independent)
        return super().moments(errors, targets, sample_weights, independent)


def labels_behind(weights: FloatArray, behind: FloatArray) -> FloatArray:
    """Labels behind a weighted sum, shape (...): the harmonic mean of the members', by their weights.

    Members with none have no part in it.
    """
    counted = np.where(behind > 0, weights, 0.0)
    return np.asarray(counted.sum(axis=-1) / np.maximum((counted / np.where(behind > 0, behind, 1.0)).sum(-1), _TINY))


def gain_of_noise(apparent: FloatArray, power: FloatArray | None, d: FloatArray, n: FloatArray) -> FloatArray:
    """By how much d numbers that are fitted to n labels lower their error where there is nothing to be found.

    For independent errors that is σ²d/n, and σ² is larger than it looks by ((n + d)/(n - d))². Left-out errors are less
    than independent: what the noise in sample i says of j, that in j says of i, which doubles the variance of moments
    of noise, and leaves that of what is learnt alone. Of the target's power v the noise has the share σ²/v.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma2 = apparent * ((n + d) / (n - d)) ** 2
        doubled = 1.0 if power is None else np.where(power > sigma2, sigma2 / power, 1.0)
        noise = (1 + doubled) * sigma2 * d / n
    return np.where(n > d, noise, np.inf)

"""How members' outputs become one: every aggregation, and the names they are known by."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.optimize import nnls

from subridge.arrays.namespace import device_of, is_numpy, like, namespace_of
from subridge.arrays.types import Array, FloatArray
from subridge.model.errors import ParameterError
from subridge.model.fingerprint import Fingerprinted
from subridge.model.moments import MemberMoments, least_nonnegative, member_weights

# The error to minimise, and the error that decides among equals.
Loss: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Aggregation(Fingerprinted, ABC):
    """A way to turn the outputs of k members into one.

    Attributes
    ----------
    name : str
        As it is written in ``Ensemble(aggregation=...)``.
    is_linear : bool
        Whether the aggregate is a weighted sum of the outputs, and thus of linear members one linear map.
    decides_classes : bool
        Whether it turns scores into a class rather than into a number.
    fits_weights : bool
        Whether it weighs the members by their errors.

    Examples
    --------
    One of your own says how outputs combine, and which error the choice of a ridge minimises:

    >>> import numpy as np
    >>> class Largest(Aggregation):
    ...     name = "largest"
    ...
    ...     def combine(self, outputs, weights=None):
    ...         return outputs.max(axis=0)
    ...
    ...     def loss(self, errors, targets, sample_weights):
    ...         left_out = targets - self.combine(targets - errors)
    ...         return float((left_out**2 * sample_weights).sum() / sample_weights.sum()), 0.0
    >>> Largest().combine(np.array([[[1.0, 2.0]], [[3.0, 0.0]]]))
    array([[3., 2.]])
    >>> Largest().loss(np.array([[[1.0, 0.0]], [[2.0, 2.0]]]), np.zeros((1, 2)), np.ones(2))
    (0.5, 0.0)
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False
    decides_classes: ClassVar[bool] = False
    fits_weights: ClassVar[bool] = False

    @abstractmethod
    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        """Error of the aggregate on left-out samples, which the choice of a ridge minimises.

        Parameters
        ----------
        errors : array, shape (k, C, n)
            ``y_i - f_r^(-i)(x_i)`` of every member, target and sample.
        targets : array, shape (C, n)
            y_i. A linear aggregation receives them measured from the mean of the other samples where there is an
            intercept, as it must not scale the mean.
        sample_weights : array, shape (n,)
            How much each sample counts.

        Returns
        -------
        tuple of float
            The error to minimise, and the error that decides among equals.
        """

    @abstractmethod
    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The aggregate of the members' outputs.

        Parameters
        ----------
        outputs : array, shape (k, C, n)
            Of every member for C targets and n samples, in any supported array library.
        weights : ndarray, shape (k,) or (C, k), optional
            Of a linear aggregation, which needs them; others leave them alone.

        Returns
        -------
        array, shape (C, n)
            In the library of the outputs.
        """


@dataclass(frozen=True, eq=False)
class Settled:
    """What an aggregation makes of moments, each for their leading axes (...).

    Attributes
    ----------
    weights : ndarray, shape (..., k)
        Of the members.
    least : ndarray, shape (...)
        The least error of such weights on the samples at hand.
    expected : ndarray, shape (...)
        The error that the weights would show on new samples.
    n_fitted : ndarray, shape (...)
        Numbers that were fitted.

    Examples
    --------
    The scaled mean of two members that each output half of the target, from exact moments:

    >>> import numpy as np, subridge as sr
    >>> moments = MemberMoments(np.full((2, 2), 0.25), np.full(2, 0.5), np.ones(()))
    >>> settled = sr.aggregation.Scaled().settle(moments)
    >>> isinstance(settled, Settled), settled.weights, float(settled.expected)
    (True, array([1., 1.]), 0.0)
    """

    weights: FloatArray
    least: FloatArray
    expected: FloatArray
    n_fitted: FloatArray


class LinearAggregation(Aggregation):
    """A weighted sum of the members' outputs; a subclass says which weights.

    Examples
    --------
    Weights are chosen from the moments of left-out errors, here of two members, one target and two samples:

    >>> import numpy as np, subridge as sr
    >>> simplex = sr.aggregation.Simplex()
    >>> errors = np.array([[[1.0, 1.0]], [[1.0, -1.0]]])
    >>> moments = simplex.moments(errors, np.zeros((1, 2)), np.ones(2))
    >>> moments.pairs
    array([[1., 0.],
           [0., 1.]])
    >>> weights = simplex.weights(moments)
    >>> weights, float(simplex.n_fitted(weights))
    (array([0.5, 0.5]), 1.0)
    >>> simplex.combine(np.array([[[4.0]], [[2.0]]]), weights)
    array([[3.]])
    """

    is_linear: ClassVar[bool] = True
    fits_weights: ClassVar[bool] = True

    @abstractmethod
    def weights(self, moments: MemberMoments) -> FloatArray:
        """The weights of the members that these moments ask for.

        Parameters
        ----------
        moments : MemberMoments
            Second moments of the members and the target, with pairs of shape (..., k, k).

        Returns
        -------
        ndarray, shape (..., k)
            Not negative.
        """

    def moments(
        self, errors: Array, targets: Array, sample_weights: Array, independent: FloatArray | None = None
    ) -> MemberMoments:
        """The moments that weights are chosen from.

        Parameters
        ----------
        errors : array, shape (..., k, C, n)
            Left-out errors of every member, target and sample, as for `loss`.
        targets : array, shape (..., C, n)
            As for `loss`.
        sample_weights : array, shape (..., n)
            How much each sample counts.
        independent : ndarray, shape (k,), optional
            How many independent samples the errors of each member are worth; without it moments are taken for exact.

        Returns
        -------
        MemberMoments
            With pairs of shape (..., k, k).
        """
        found = MemberMoments.of_errors(errors, targets, sample_weights)
        return found if independent is None else replace(found, behind=independent * int(errors.shape[-2]))

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        """How many numbers were fitted to arrive at these weights.

        Parameters
        ----------
        weights : ndarray, shape (..., k)
            From `weights`.

        Returns
        -------
        ndarray, shape (...)
            The weights that are not zero, less what the aggregation fixes.
        """
        return np.asarray((weights != 0).sum(axis=-1), dtype=np.float64)

    def settle(self, moments: MemberMoments) -> Settled:
        """Weights, and the error to expect of them on new samples, by which a ridge is chosen.

        Parameters
        ----------
        moments : MemberMoments
            As for `weights`.

        Returns
        -------
        Settled
            For every leading axis of the moments.
        """
        weights = self.weights(moments)
        least = moments.risk_of(weights)
        return Settled(weights, least, least, self.n_fitted(weights))

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        moments = self.moments(errors, targets, sample_weights)
        return float(moments.risk_of(self.weights(moments)).sum()), 0.0

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if weights is None:
            raise TypeError("a linear aggregation needs weights, which `weights` gives")
        shares = weights[:, None] if weights.ndim == 1 else weights.T
        return namespace_of(outputs).sum(outputs * like(shares, outputs)[:, :, None], axis=0)


def squared_error(errors: Array, sample_weights: Array) -> float:
    """Squared error summed over targets and averaged over samples; errors of shape (C, n)."""
    return float(((errors * errors).sum(axis=0) * sample_weights).sum() / sample_weights.sum())


class Mean(LinearAggregation):
    """Every member counts 1/k.

    Examples
    --------
    >>> Mean().weights(MemberMoments(np.eye(4)))
    array([0.25, 0.25, 0.25, 0.25])
    """

    name: ClassVar[str] = "mean"
    fits_weights: ClassVar[bool] = False

    def weights(self, moments: MemberMoments) -> FloatArray:
        return np.full(moments.pairs.shape[:-1], 1 / moments.n_members)

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        return np.zeros(weights.shape[:-1])

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        return squared_error(errors.sum(axis=0) / errors.shape[0], sample_weights), 0.0


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


# Outputs known only as the difference of the target's power and the error are rounding for the most part where their
# power is less than this share of the target's: they are taken for silence.
SILENT = 1e-11


class Scaled(FittedAggregation):
    """Every member counts s/k with ``s = c̄/F̄``, which minimises the error of a multiple of the mean.

    A mean of members that each see a part of the features is shrunk; s gives back what it throws away. s is never
    negative, and one where the members say nothing or the target's power is infinite.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself.

    Examples
    --------
    Two members that each output half of the target, as in the example of `MemberMoments`:

    >>> Scaled().weights(MemberMoments(np.full((2, 2), 0.25), np.full(2, 0.5), np.ones(())))
    array([1., 1.])
    """

    name: ClassVar[str] = "scaled"

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        return np.ones(weights.shape[:-1])

    @property
    def simpler(self) -> LinearAggregation:
        return Mean()

    def best_judged(self, moments: MemberMoments) -> FloatArray:
        return self.best(moments)  # no member has a weight of its own

    def best(self, moments: MemberMoments) -> FloatArray:
        missed, v = moments.with_target()
        with np.errstate(invalid="ignore", divide="ignore"):
            if moments.outputs is None:
                c, pairs = v - missed.mean(axis=-1), moments.pairs.mean(axis=(-2, -1))
                F, least = c + (pairs - missed.mean(axis=-1)), SILENT * v
            else:
                c, F = moments.outputs.c.mean(axis=-1), moments.outputs.F.mean(axis=(-2, -1))
                least = np.zeros(np.shape(v))
            scale = np.maximum(c, 0.0) / F
        # A ridgeless member at its threshold has F = ∞ and s = 0; at v = ∞ any other scale than one is infinitely bad.
        scale = np.where(np.isinf(v) | (least >= F), 1.0, scale)
        return np.broadcast_to(scale[..., None] / moments.n_members, moments.pairs.shape[:-1]).copy()


class Simplex(FittedAggregation):
    """Weights w ≥ 0 with sum one that minimise ``wᵀEw``; equal ones where every member's error is infinite.

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself.

    Examples
    --------
    A member whose errors are three times as large counts a third, where errors are uncorrelated:

    >>> Simplex().weights(MemberMoments(np.array([[1.0, 0.0], [0.0, 3.0]])))
    array([0.75, 0.25])
    """

    name: ClassVar[str] = "simplex"

    def n_fitted(self, weights: FloatArray) -> FloatArray:
        return np.maximum(super().n_fitted(weights) - 1.0, 0.0)

    @property
    def simpler(self) -> LinearAggregation:
        return Mean()

    def best(self, moments: MemberMoments) -> FloatArray:
        pairs = moments.pairs
        usable = np.isfinite(np.diagonal(pairs, axis1=-2, axis2=-1)).any(axis=-1)
        if usable.all():
            return member_weights(pairs)
        weights = np.full(pairs.shape[:-1], 1 / moments.n_members)
        if usable.any():
            weights[usable] = member_weights(pairs[usable])
        return weights


# Members whose outputs differ by less than this share of their power count as one and share its weight.
_ALIKE = 1e-12


class Free(FittedAggregation):
    """Weights w ≥ 0 of any sum that minimise ``v - 2wᵀc + wᵀFw``.

    A member whose error is infinite, or that says nothing, gets weight zero. Where the target's power is infinite the
    weights must sum to one and are those of "simplex".

    Parameters
    ----------
    per_target : bool
        Fit weights to each target by itself.

    Examples
    --------
    Of two uncorrelated members that each output their half of a target, both count fully:

    >>> Free().weights(MemberMoments(np.array([[0.5, 0.0], [0.0, 0.5]]), np.full(2, 0.5), np.ones(())))
    array([1., 1.])
    """

    name: ClassVar[str] = "free"

    @property
    def simpler(self) -> LinearAggregation:
        return Scaled()

    def best(self, moments: MemberMoments) -> FloatArray:
        _, v = moments.with_target()
        shape, k = moments.pairs.shape[:-1], moments.n_members
        pairs = moments.pairs.reshape(-1, k, k)
        with np.errstate(invalid="ignore"):
            F = np.broadcast_to(moments.F, (*shape, k)).reshape(-1, k, k)
        c = np.broadcast_to(moments.c, shape).reshape(-1, k)
        powers = np.broadcast_to(v, shape[:-1]).reshape(-1)
        own = np.diagonal(F, axis1=1, axis2=2)
        floor = SILENT * powers if moments.outputs is None else np.zeros(len(powers))
        if bool((np.isfinite(powers)[:, None] & np.isfinite(own) & (own > floor[:, None])).all()):
            return _weights(F, c).reshape(shape)
        found = np.zeros(c.shape)
        for i, power in enumerate(powers):
            if not np.isfinite(power):
                found[i] = Simplex().weights(MemberMoments(pairs[i]))
                continue
            # Outputs whose power exceeds the least that is taken for more than silence.
            usable = np.flatnonzero(np.isfinite(own[i]) & (own[i] > floor[i]))
            if len(usable):
                found[i, usable] = _weights(F[i][np.ix_(usable, usable)][None, ...], c[i, usable][None, :])[0]
        return found.reshape(shape)


def _weights(F: FloatArray, c: FloatArray) -> FloatArray:
    """Weights (m, k) of members that all say something: F (m, k, k) and c (m, k)."""
    # Outputs in units of their own size, so that a shrunken member is as good as any other.
    size = np.sqrt(np.diagonal(F, axis1=1, axis2=2))
    F, c = F / size[:, :, None] / size[:, None, :], c / size
    F = (F + np.swapaxes(F, 1, 2)) / 2
    found, known = least_nonnegative(F, c)
    for i in np.flatnonzero(~known):
        found[i] = _by_search(F[i], c[i])
    return np.asarray(found / size)


def _by_search(F: FloatArray, c: FloatArray) -> FloatArray:
    """Weights of members that may be alike, (k,), for F of unit diagonal."""
    values, vectors = np.linalg.eigh(F)
    # An estimated F may be slightly indefinite; what lies below rounding is noise.
    kept = values > _ALIKE * values[-1]
    root = np.sqrt(values[kept])
    design, answer = root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ c / root
    # A trace of weight decay, far below rounding of the error, lets duplicates share and keeps opposites small.
    decay = np.sqrt(_ALIKE * values[-1]) * np.eye(len(c))
    solution: FloatArray = nnls(np.vstack([design, decay]), np.append(answer, np.zeros(len(c))))[0]
    return solution


class Median(Aggregation):
    """The median over the members, the mean of the middle two for even k.

    Examples
    --------
    >>> import numpy as np
    >>> Median().combine(np.array([1.0, 2.0, 6.0, 9.0])[:, None, None])
    array([[4.]])
    """

    name: ClassVar[str] = "median"

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        k = outputs.shape[0]
        ordered = namespace_of(outputs).sort(outputs, axis=0)
        middle: Array = 0.5 * (ordered[(k - 1) // 2] + ordered[k // 2])
        return middle

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        return squared_error(self.combine(errors), sample_weights), 0.0


def first_largest(scores: Array) -> Array:
    """The lowest class with the largest score; shape (..., n_classes, n) to (..., n).

    Not the library's argmax, which promises no order among equal entries on a GPU.
    """
    if is_numpy(scores):
        return np.asarray(scores.argmax(axis=-2))
    xp = namespace_of(scores)
    largest = scores[..., 0, :]
    winner = xp.zeros(largest.shape, dtype=xp.int32, device=device_of(scores))
    for c in range(1, scores.shape[-2]):
        better = scores[..., c, :] > largest
        largest = xp.where(better, scores[..., c, :], largest)
        winner = xp.where(better, xp.full_like(winner, c), winner)
    return winner


def most_votes(votes: Array, sums: Array) -> Array:
    """The class that votes decide, ties by summed scores; shapes (..., n_classes, n) to (..., n)."""
    xp = namespace_of(sums)
    leading = votes == xp.max(votes, axis=-2, keepdims=True)
    lowest = xp.asarray(-np.inf, dtype=sums.dtype, device=device_of(sums))
    return first_largest(xp.where(leading, sums, lowest))


def vote_counts(scores: Array) -> Array:
    """How many members vote for each class; scores of shape (k, n_classes, n) to (n_classes, n)."""
    xp = namespace_of(scores)
    votes = first_largest(scores)
    return xp.stack([xp.sum(xp.astype(votes == c, scores.dtype), axis=0) for c in range(scores.shape[1])])


def misclassified_share(decided: Array, targets: Array, sample_weights: Array) -> float:
    """Share of samples whose class is not the largest target; one-hot targets of shape (n_classes, n)."""
    wrong = decided != first_largest(targets)
    share = float((sample_weights * wrong).sum() / sample_weights.sum())
    return float(np.round(share, 12))  # equal counts must compare equal whatever the order of summation


# Seen in single precision too.
_LEAST = 4e-7


class Majority(Aggregation):
    """The class with most votes; see ``subridge.model.aggregation`` for what decides a tie.

    Its loss is the share of left-out samples that the majority misclassifies; the squared error of the mean decides
    among equals.

    Examples
    --------
    Two members vote on one sample of two classes; the larger sum of scores decides the tie:

    >>> import numpy as np
    >>> Majority().combine(np.array([[[0.9], [0.0]], [[0.0], [0.6]]])).round(3)
    array([[1.158],
           [1.125]])
    """

    name: ClassVar[str] = "majority"
    decides_classes: ClassVar[bool] = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        """The votes, plus a fraction of a vote that orders ties by the summed scores; the largest entry is the class.

        The fraction is ``s/(3(1+|s|))`` of the summed score s, between -1/3 and 1/3: it can never outvote a member.
        Where rounding hides a difference of sums, the winner is lifted by the least that can be seen.

        Parameters
        ----------
        outputs : array, shape (k, n_classes, n)
            Scores of every member.
        weights : None
            Votes have none.

        Returns
        -------
        array, shape (n_classes, n)
            Votes of every class.
        """
        xp, votes, sums = namespace_of(outputs), vote_counts(outputs), namespace_of(outputs).sum(outputs, axis=0)
        decision = votes + sums / (3 * (1 + abs(sums)))
        winner = most_votes(votes, sums)
        hidden = first_largest(decision) != winner
        if bool(xp.any(hidden)):
            largest = xp.max(decision, axis=0)
            lifted = largest + _LEAST * (1 + abs(largest))
            decision = xp.stack(
                [xp.where(hidden & (winner == c), lifted, decision[c]) for c in range(decision.shape[0])]
            )
        return decision

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        scores = targets - errors
        decided = most_votes(vote_counts(scores), scores.sum(axis=0))
        wrong = misclassified_share(decided, targets, sample_weights)
        return wrong, Mean().loss(errors, targets, sample_weights)[0]


# Of a vote: so much the summed scores may add, which decides ties and, beyond rounding, nothing else.
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class WeightedMajority(Majority):
    """The class with most votes, where that of member r counts w_r.

    Parameters
    ----------
    vote_weights : tuple of float
        w_r, of sum k, so that a vote counts one in the mean.

    Examples
    --------
    >>> votes = WeightedMajority((1.5, 0.5)).combine(np.array([[[0.5], [0.25]], [[0.0], [0.5]]]))
    >>> votes.round(3)
    array([[1.5],
           [0.5]])
    """

    vote_weights: tuple[float, ...]

    @classmethod
    def of_weights(cls, weights: FloatArray) -> "WeightedMajority":
        """Votes in proportion to weights.

        Parameters
        ----------
        weights : ndarray, shape (k,)
            Not negative; where all are zero, votes are equal.

        Returns
        -------
        WeightedMajority
            With weights of sum k.

        Examples
        --------
        >>> WeightedMajority.of_weights(np.array([0.6, 0.2])).vote_weights
        (1.5, 0.5)
        """
        total = float(weights.sum())
        shares = weights * (len(weights) / total) if total > 0 else np.ones(len(weights))
        return cls(tuple(float(share) for share in shares))

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        if outputs.shape[0] != len(self.vote_weights):
            raise ParameterError(
                f"votes of {len(self.vote_weights)} members are weighted, but {outputs.shape[0]} vote; "
                "use score_weights='equal' where members drop out"
            )
        xp, sums = namespace_of(outputs), namespace_of(outputs).sum(outputs, axis=0)
        votes, shares = first_largest(outputs), like(np.array(self.vote_weights), outputs)
        counted = [
            xp.sum(xp.astype(votes == c, outputs.dtype) * shares[:, None], axis=0) for c in range(outputs.shape[1])
        ]
        return xp.stack(counted) + _TIE * sums / (1 + abs(sums))

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        wrong = misclassified_share(first_largest(self.combine(targets - errors)), targets, sample_weights)
        return wrong, Mean().loss(errors, targets, sample_weights)[0]


class Summed(Aggregation):
    """The class with the largest summed score, the lowest among equals.

    Its loss is the share of left-out samples that the summed scores misclassify; the squared error of the mean decides
    among equals.

    Examples
    --------
    Two members judge one sample of two classes:

    >>> import numpy as np
    >>> Summed().combine(np.array([[[0.5], [0.25]], [[0.0], [0.5]]]))
    array([[0.5 ],
           [0.75]])
    """

    name: ClassVar[str] = "sum"
    decides_classes: ClassVar[bool] = True

    def combine(self, outputs: Array, weights: FloatArray | None = None) -> Array:
        return namespace_of(outputs).sum(outputs, axis=0)

    def loss(self, errors: Array, targets: Array, sample_weights: Array) -> Loss:
        wrong = misclassified_share(first_largest((targets - errors).sum(axis=0)), targets, sample_weights)
        return wrong, Mean().loss(errors, targets, sample_weights)[0]


AGGREGATIONS: dict[str, Aggregation] = {
    each.name: each for each in (Mean(), Scaled(), Simplex(), Free(), Median(), Majority(), Summed())
}

__all__ = [
    "AGGREGATIONS",
    "Aggregation",
    "FittedAggregation",
    "Free",
    "LinearAggregation",
    "Loss",
    "Majority",
    "Mean",
    "Median",
    "Scaled",
    "Settled",
    "Simplex",
    "Summed",
    "WeightedMajority",
    "read_aggregation",
]


def read_aggregation(value: str | Aggregation) -> Aggregation:
    """The aggregation of that name; an aggregation is passed through.

    Parameters
    ----------
    value : str or Aggregation
        "mean", "scaled", "simplex", "free" or "median"; for classes "majority" or "sum".

    Returns
    -------
    Aggregation
        As an `Ensemble` holds it.

    Raises
    ------
    ParameterError
        If there is no aggregation of that name.

    Examples
    --------
    >>> read_aggregation("median").is_linear
    False
    """
    if isinstance(value, Aggregation):
        return value
    if not isinstance(value, str) or value not in AGGREGATIONS:
        raise ParameterError(f"aggregation must be one of {', '.join(AGGREGATIONS)} or an Aggregation, got {value!r}")
    return AGGREGATIONS[value]

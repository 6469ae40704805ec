"""Weights of any sum as weights of sum one: beside the members stands one more, which says nothing.

The silent member predicts the mean of the labels. A sum ``Σ_r w_r f_r`` of outputs measured from that mean errs by
``Σ_r w_r e_r + (1 - Σ_r w_r) e_0`` with its error e_0 = y - ȳ, so that with it all weights sum to one and take the way
to other sizes that those of a mean take. The target's power ``v = E_00`` and what a member misses of it, ``E_0r``, are
pairs like any others: y is measured from a mean that is learnt from as many rows. A scale s magnifies what is held
fixed of it by s², which made forecasts for eight times the rows wrong by half with 32 members.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.pilot.pilot import Pilot
from subridge.model.aggregation import FittedAggregation, Free, LinearAggregation, Scaled, gain_of_noise, labels_behind
from subridge.model.moments import MemberMoments
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.design import DenseDesign
from subridge.ridge.rows.pair_traces import residual_gains
from subridge.ridge.rows.path import rests_on_few_rows

_LEAST_SHARE = 1e-6  # of the samples, behind an error that tells nothing


@dataclass(frozen=True, eq=False)
class OfAnySum(LinearAggregation):
    """An aggregation whose weights have any sum, of members and the silent one, which is the last."""

    inner: FittedAggregation

    name: ClassVar[str] = "of any sum"

    def weights(self, moments: MemberMoments) -> FloatArray:
        return _completed(self.inner.weights(_of_members(moments.pairs)))


class Moved(NamedTuple):
    """Weights (t, k + 1) at other sizes, how many numbers were fitted for them, and their errors, each (t,)."""

    weights: FloatArray
    n_fitted: FloatArray
    least: FloatArray  # on the pilot's own rows
    expected: FloatArray  # of weights that are fitted at the new size
    corrected: FloatArray  # what noise of the pilot gave to the gain, which is as unsure as it is large


def with_silence(ensemble: DrawnEnsemble) -> DrawnEnsemble:
    """The ensemble with a silent member, where its weights have any sum; else the ensemble itself."""
    inner = ensemble.aggregation
    if not isinstance(inner, Scaled | Free):
        return ensemble
    return DrawnEnsemble(
        ensemble.plan, np.append(ensemble.ridges, 0.0), np.append(ensemble.readout_noise, 0.0), OfAnySum(inner)
    )


def seen_by(ensemble: DrawnEnsemble, pilot: Pilot) -> Pilot:
    """The pilot of an ensemble's members, with the silent one where the ensemble has it."""
    if not isinstance(ensemble.aggregation, OfAnySum):
        return pilot
    nothing = np.zeros((0, pilot.n_samples))
    silent = MemberDecomposition(nothing, np.zeros(0), np.zeros((0, 1)), DenseDesign(nothing), False, 0.0)
    return Pilot([*pilot.members, silent], pilot.targets, np.append(pilot.subset_sizes, 1), pilot.intercept)


def beside_silence(pairs: FloatArray, power: float) -> FloatArray:
    """Pairs (t, k, k) beside a silent member that weights of sum one never use; its own error is the labels' power."""
    t, k, _ = pairs.shape
    found = np.zeros((t, k + 1, k + 1))
    found[:, :k, :k], found[:, k, k] = pairs, power
    return found


def independent_labels(pilot: Pilot, penalties: FloatArray) -> FloatArray:
    """How many independent labels the errors of every member are worth, (t, k); see `MemberPath.independent`."""
    room, columns = pilot.n_samples - pilot.intercept, []
    for r, member in enumerate(pilot.members):
        squares = residual_gains(member, penalties[:, r]) ** 2
        squares = squares / squares.max(axis=1, keepdims=True) if member.spans_samples else squares
        spare = 0 if member.spans_samples else room - squares.shape[1]
        m = (squares.sum(axis=1) + spare) ** 2 / ((squares**2).sum(axis=1) + spare)
        known = 0.0 if rests_on_few_rows(member, float(penalties[:, r].min())) else pilot.targets.size
        columns.append(np.maximum(1 - 2 / m, _LEAST_SHARE) * known)
    return np.stack(columns, axis=1)


def settled_at(
    aggregation: LinearAggregation, present: FloatArray, moved: FloatArray, labels: FloatArray, growth: FloatArray
) -> Moved:
    """Weights that would be fitted at other sizes, and what they would err there.

    Pairs at the pilot's size and moved have shape (t, k + 1, k + 1); independent labels behind the members, (t, k),
    become `growth` (t,) times as many. Of the gain G that weights show beside those of a simpler aggregation, noise of
    the pilot gave N. At the new size fitting has a noise of N′, and ``(G - N)²/(G - N + N′)`` of the gain is left; at
    the pilot's own that is what the estimators expect.
    """
    t, k = len(moved), moved.shape[1] - 1
    if not isinstance(aggregation, FittedAggregation):
        equal = np.tile(np.append(np.full(k, 1 / k), 0.0), (t, 1))
        error = _form(moved, equal)
        return Moved(equal, np.zeros(t), error, error, np.zeros(t))
    start = settled_at(aggregation.simpler, present, moved, labels, growth)
    members = _of_members(moved)
    inner = aggregation.best_judged(replace(members, behind=labels))
    best, d = _completed(inner), aggregation.n_fitted(inner)
    least = _form(moved, best)
    extra = np.maximum(d - start.n_fitted, 1.0)
    # The noise is that of outputs at the pilot's size, the gain that of outputs which vary less: their sum where one
    # number is fitted, else each of them.
    powers = [
        np.where(d > 1, np.einsum("trr,tr->t", of.F, inner > 0), _form(of.F, inner))
        for of in (_of_members(present), members)
    ]
    smaller = np.maximum(powers[0] / np.where(powers[1] > 0, powers[1], np.inf), 1.0)
    behind, finite = labels_behind(inner, labels), np.where(np.isinf(growth), 1.0, growth)
    noise = smaller * gain_of_noise(_form(present, best), present[:, -1, -1], extra, behind)
    later = gain_of_noise(np.maximum(least, 0.0), moved[:, -1, -1], extra, behind * finite)
    later = np.where(np.isinf(growth), 0.0, later)
    gain = np.maximum(start.least - least - noise, 0.0)
    usable = (gain > 0) & np.isfinite(later)
    share = np.where(usable, gain / np.where(usable, gain + later, 1.0), 0.0)
    weights = start.weights + share[:, None] * (best - start.weights)
    corrected = np.minimum(noise, np.maximum(start.least - least, 0.0))
    return Moved(weights, d, least, start.expected - gain * share, np.hypot(start.corrected, corrected))


def _of_members(pairs: FloatArray) -> MemberMoments:
    return MemberMoments(pairs[..., :-1, :-1], pairs[..., -1, :-1], pairs[..., -1, -1])


def _completed(weights: FloatArray) -> FloatArray:
    """Weights (..., k) with that of the silent member."""
    return np.concatenate([weights, 1 - weights.sum(axis=-1, keepdims=True)], axis=-1)


def _form(pairs: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("tr,trs,ts->t", weights, pairs, weights))

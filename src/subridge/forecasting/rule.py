"""The rule of the forecasts: Prop. 1 transfers the left-out errors of a pilot of n rows to n′ rows.

A member's degrees of freedom, its bias and γ n depend on the data only through its effective ridge ``κ̄ = p/(n - df)``,
where p = λ N_r is the penalty on unscaled features and df the trace of the hat matrix H, intercept included. So the
pilot at penalty p represents every (n′, p′) with ``p′/(n′ - df) = p/(n - df)``. At equal effective ridges,

    1/(1 - γ_rr′) = n tr(R_r R_r′)/(tr R_r tr R_r′),        R = I - H,
    E_rr′(n′) + ζ² = (E_rr′ + ζ²)(1 - γ_rr′)/(1 - γ_rr′ n/n′),

where ``E_rr′ + ζ²`` is the mean product of the left-out errors of two members. This file has the formulas, the search
for a ridge, the curve of an ensemble, and its standard error, in this order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import ArrayLike, BoolArray, FloatArray, IntArray
from subridge.forecasting.pilot import LeftOut, Pilot
from subridge.model.aggregation import TINY, Aggregation, MemberMoments, outer, quadratic
from subridge.model.ensemble import Ensemble
from subridge.model.errors import DominantRowsWarning, ParameterError, RidgeError, SubridgeWarning
from subridge.ridge.checks import correlated_rows
from subridge.ridge.choose import (
    Outcome,
    caution,
    default_ridges,
    extended_searches,
    given_ridges,
    last_minimum,
    outcome_of,
    ridge_at_end,
)
from subridge.ridge.member import MemberFit, independent_samples, residual_degrees, residual_pair_traces
from subridge.ridge.moments import MomentRows
from subridge.ridge.rows import TrainingRows

_HALVINGS = 44  # of a bracket of about 100 in log p: ten digits
_LEAST_RIDGE = 1e-60  # a given ridge that is not 0, in units of the mean square of a column
RECTANGLE = 3**0.5  # ratio of the width of a rectangular distribution to its root mean square distance from an end


@dataclass(frozen=True)
class Rule:
    """Constants of the forecast, each with its source; those of the choice of ridges are in `subridge.ridge.choose`."""

    vague: float = 0.4  # relative standard error above which a forecast is out of reach: 90 % then span a factor of 5
    # Chosen by the coverage on the sixty tables of the tournament; 90 % intervals cover 92 % on 62 other tables.
    interval_stretch: float = 1.25  # factor of the logarithms of both bounds relative to the forecast
    most_group_gamma: float = 0.95  # upper limit of γ for grouped rows: a design effect of first order may exceed 1/γ
    dominant: float = 0.9  # leverage of a row that causes a warning, if half of the rows have less than a tenth
    path_steps: int = 3  # for each half decade of ridges: with coarser steps, bounds may rise with n


RULE = Rule()


def matched_penalties(spectrum: FloatArray, n: int, room: int, sizes: FloatArray, penalties: FloatArray) -> FloatArray:
    """Penalties p at which the pilot has the effective ridge of sizes n′ and penalties p′.

    `spectrum` holds the positive eigenvalues d of the member's n × n kernel, `room` is n - 1 if the data were centred,
    else n. Sizes, penalties and the result have shape (T,). ``F(p) = n′ - df(p) - p′ (n - df(p))/p`` ascends in p;
    its root is found by bisection. The result is 0 if κ̄(n′, p′) ≤ κ̄(n, 0), which is out of reach unless both are 0.

    Four times as many rows at the same penalty have a smaller effective ridge; without a penalty they are out of reach:

    >>> sizes, penalties = np.array([2.0, 8.0, 8.0]), np.array([1.0, 9.0, 0.0])
    >>> matched_penalties(np.array([1.0, 2.0]), 2, 2, sizes, penalties).round(3)
    array([1.   , 1.195, 0.   ])
    """
    if not len(spectrum):  # constant columns: the prediction is the mean, for any penalty
        return penalties.astype(float)
    spare = room - len(spectrum)  # directions of the rows that the member cannot fit
    finite = np.isfinite(sizes)
    wanted = np.where(finite, sizes, n) - (n - room)

    @np.errstate(over="ignore", divide="ignore")  # penalties and eigenvalues close to the smallest floats
    def falls_short(log_p: FloatArray) -> BoolArray:
        p = np.exp(log_p)
        shares = 1 / (spectrum + p[:, None])
        return np.asarray(wanted < shares @ spectrum + penalties * (shares.sum(axis=1) + spare / p))

    high = np.log(4 * (spectrum.sum() + penalties * (len(spectrum) + spare)) / wanted + spectrum[-1])
    low = np.log(np.minimum(spectrum[0], np.where(penalties > 0, penalties, spectrum[0]))) - 60.0
    has_root = finite & falls_short(low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        short = falls_short(middle)
        low = np.where(short, middle, low)
        high = np.where(short, high, middle)
    return np.where(sizes == n, penalties, np.where(has_root, np.exp(0.5 * (low + high)), 0.0))


def variance_shares(members: Sequence[MemberFit], penalties: FloatArray) -> FloatArray:
    """γ_rr′ of every pair of members at the pilot's n rows, shape (T, k, k), for penalties of shape (T, k)."""
    slack = np.stack([fit.slack(p) for fit, p in zip(members, penalties.T, strict=True)], axis=1)
    overlap = np.maximum(residual_pair_traces(members, penalties), TINY)
    return (1 - members[0].rows.n_samples * outer(slack) / overlap).clip(0.0, 1 - 1e-9)


def variance_gain(gamma: FloatArray) -> FloatArray:
    """``1/(1 - γ)``, the factor by which variance raises an error; infinite for γ ≥ 1."""
    return np.where(gamma < 1, 1 / np.where(gamma < 1, 1 - gamma, 1.0), np.inf)


# -- the ridge ------------------------------------------------------------------------------------


def read_ridges(ridges: ArrayLike | None, rows: TrainingRows) -> FloatArray | None:
    """Given ridges, ascending; None for those of each ensemble. "auto" is the path of the estimators.

    >>> from subridge.ridge.rows import training_rows
    >>> rows = training_rows(np.eye(3), np.zeros((1, 3)))
    >>> read_ridges([1.0, 0.0], rows), len(read_ridges("auto", rows))
    (array([0., 1.]), 17)
    """
    if ridges is None:
        return None
    if not isinstance(ridges, str):
        return refuse_vanishing("ridges", given_ridges(ridges), rows)
    if ridges != "auto":
        raise ParameterError(f"ridges must be numbers or 'auto', got {ridges!r}")
    return default_ridges(rows.column_squares, rows.n_samples, len(rows.feature_means))


def refuse_vanishing(name: str, ridges: FloatArray, rows: TrainingRows) -> FloatArray:
    """Refuse positive ridges that are negligible relative to the columns: their powers leave the range of floats."""
    least = _LEAST_RIDGE * rows.column_squares.mean()
    vanishing = ridges[(ridges > 0) & (ridges < least)]
    if vanishing.size:
        raise RidgeError(
            f"{name} must be 0 or at least {least:.0e}, which is already negligible relative to these columns, got "
            f"{vanishing.min():g}; use 0"
        )
    return ridges


class AtPilot(NamedTuple):
    """An ensemble at the pilot's own size, at L ridges.

    If targets are judged one by one, all but the ridges have L times C rows.
    """

    ridges: FloatArray  # (L, k)
    moments: MemberMoments  # of left-out errors with readout noise, with pairs (L, k, k)
    noise: FloatArray  # error of each member by readout noise, (L, k)
    caution: FloatArray  # factor of an error in the choice of a ridge, (L,)
    losses: FloatArray  # error to expect on new rows, corrected for the fit of weights, (L,)
    weights: FloatArray  # of the members, (L, k)

    @property
    def counted(self) -> FloatArray:
        """The losses by which ridges are chosen, (L,)."""
        return self.losses * self.caution

    def of_targets(self, values: FloatArray) -> FloatArray:
        """Values of all rows as a table of ridges and targets, shape (L, C)."""
        return values.reshape(len(self.ridges), -1)

    def weighted(self, aggregation: Aggregation) -> "AtPilot":
        """The same members with another aggregation."""
        found = aggregation.settle(self.moments)
        losses = np.where(np.isfinite(found.expected), found.expected, np.inf)
        return self._replace(losses=losses, weights=found.weights)


def at_pilot(pilot: Pilot, ensemble: Ensemble, ridges: FloatArray) -> AtPilot:
    """An ensemble at the pilot's own size and ridges (L,) or (L, k).

    Fitted weights need a pilot with a constant predictor.
    """
    ridges = np.broadcast_to(ridges.reshape(len(ridges), -1), (len(ridges), len(ensemble.ridge)))
    penalties = pilot.penalties(ridges)
    noise = np.zeros(ridges.shape)
    if ensemble.readout_noise.any():
        members = pilot.members[: ridges.shape[1]]
        alone = [variance_shares([fit], penalties[:, [r]])[:, 0, 0] for r, fit in enumerate(members)]
        noise = _readout_noise(pilot, ensemble, np.stack(alone, axis=1))
    pairs = np.concatenate([block.pairs for block in pilot.left_out(penalties)])
    factor = np.ones(len(ridges))
    if pilot.rows.left_out is not None and not pilot.per_target:  # as in a fit
        factor = caution(
            np.min([residual_degrees(fit, p) for fit, p in zip(pilot.members, penalties.T, strict=True)], axis=0)
        )
    penalties, noise, factor = (each.repeat(pilot.n_judged, axis=0) for each in (penalties, noise, factor))
    moments = _moments(pilot, penalties, pairs, noise)
    return AtPilot(ridges, moments, noise, factor, noise[:, 0], noise).weighted(ensemble.aggregation)


def search_ridges(
    pilot: Pilot, ensemble: Ensemble, path: FloatArray | None, said: list[SubridgeWarning | None], *, may_grow: bool
) -> Iterator[tuple[IntArray, AtPilot]]:
    """Tables of an ensemble along a path, or at its own ridges, with the numbers of the targets that share each table.

    A path that `may_grow` is extended like that of the estimators, and then made finer. If the error still falls at an
    end, a warning is added to `said`.
    """
    start = ensemble.ridge[None] if path is None else path
    everything = np.arange(pilot.n_judged)
    spreads = (pilot.targets**2).reshape(len(everything), -1).sum(axis=1) / pilot.rows.total_weight

    def outcomes(ridges: FloatArray, some: IntArray) -> list[Outcome]:
        table = at_pilot(pilot.of(some), ensemble, ridges)
        return [
            outcome_of(table, np.full(2, last_minimum(each, each)), len(ridges), spread, partial(np.take, each))
            for each, spread in zip(table.of_targets(table.counted).T, spreads[some], strict=True)
        ]

    searched = (
        extended_searches(start, outcomes, len(everything))
        if may_grow
        else [(start, outcome) for outcome in outcomes(start, everything)]
    )
    said.extend(ridge_at_end(each, outcome.end, outcome.is_falling) for each, outcome in searched)
    if not may_grow:
        yield everything, searched[0][1].found
        return
    ends = np.array([(each[0], each[-1], len(each)) for each, _ in searched])
    for low, high, length in np.unique(ends, axis=0):
        some = np.flatnonzero((ends == (low, high, length)).all(axis=1))
        fine = np.geomspace(low, high, RULE.path_steps * (int(length) - 1) + 1)
        yield some, at_pilot(pilot.of(some), ensemble, fine)


class Chosen(NamedTuple):
    """For each of C targets, or for all together (C = 1), and each of S sizes: the ridge of least left-out error, with
    `caution` for groups, among those in reach, or the largest ridge if none is in reach.
    """

    ridges: FloatArray  # (C, S, k)
    is_bound: BoolArray  # the ridge is the smallest that the pilot can evaluate: a smaller one may be better, (C, S)
    present: FloatArray  # error at the pilot's size, without readout noise, (C, S)
    least: FloatArray  # the same at the best ridge, in reach or not, (C, 1)


def choose_ridges(pilot: Pilot, table: AtPilot, sizes: FloatArray) -> Chosen:
    """Choose a ridge from a table, for each size, and for each target that is judged separately."""
    reached = pilot.reach(table.ridges).min(axis=1)[:, None, None] >= sizes
    losses = table.of_targets(table.counted)[:, :, None]
    offered = np.where(reached, losses, np.inf)  # (L, C, S)
    best = last_minimum(offered, offered)
    first = np.isfinite(offered).argmax(axis=0)
    known = table.of_targets(table.losses - (table.weights**2 * table.noise).sum(axis=1))
    errors = (np.take_along_axis(known.T, each, axis=1) for each in (best, last_minimum(losses, losses)))
    return Chosen(table.ridges[best], (first > 0) & (best == first), *errors)


def search_and_choose(
    pilot: Pilot,
    ensemble: Ensemble,
    path: FloatArray | None,
    sizes: FloatArray,
    said: list[SubridgeWarning | None],
    *,
    may_grow: bool,
) -> Chosen:
    """Choose ridges from the tables of `search_ridges`, for parts of the targets whose tables fit into memory.

    Fitted weights need a pilot with a constant predictor.
    """
    most = 1 if path is None else RULE.path_steps * len(path)
    parts = [
        (part[some], choose_ridges(pilot, table, sizes))
        for part in pilot.parts(np.arange(pilot.n_judged), most)
        for some, table in search_ridges(pilot.of(part), ensemble, path, said, may_grow=may_grow)
    ]
    return Chosen(*in_order(parts))


def in_order(parts: Sequence[tuple[IntArray, Sequence[FloatArray | BoolArray]]]) -> list[Any]:
    """Join arrays of parts of the targets, given with their numbers, into arrays of all targets.

    >>> in_order([(np.array([2, 0]), [np.array([7.0, 5.0])]), (np.array([1]), [np.array([6.0])])])
    [array([5., 6., 7.])]
    """
    order = np.concatenate([some for some, _ in parts]).argsort()
    return [np.concatenate(each)[order] for each in zip(*(arrays for _, arrays in parts), strict=True)]


# -- the curve ------------------------------------------------------------------------------------


class Curve(NamedTuple):
    """Forecast of one ensemble at S sizes; if targets are judged one by one, arrays have an axis of targets first."""

    sizes: FloatArray  # n′, (S,)
    ridges: FloatArray  # given or chosen, (S, k)
    is_bound: BoolArray  # the chosen ridge is the smallest in reach, (S,)
    penalties: FloatArray  # with which the pilot has the effective ridges of the sizes, (S, k)
    in_reach: BoolArray  # (S,)
    error: FloatArray  # prediction error, NaN where unknown, (S,)
    fall: FloatArray  # ratio of the error to the left-out error at the pilot's size, without readout noise, (S,)
    standard_error: FloatArray  # of the error, over pilots, (S,)
    freedom: FloatArray  # degrees of freedom of the standard error, (S,)
    skewness: FloatArray  # see `spread_of_means`, (S,)
    weights: FloatArray  # of the members, (S, k)
    effective_samples: FloatArray  # effective number of independent rows of the pilot, (S,)
    before: FloatArray  # γ at the pilot's size and these penalties, (S, k, k)
    after: FloatArray  # γ at the sizes, (S, k, k)

    @np.errstate(over="ignore")  # close to a threshold the upper bound is infinite
    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the prediction error, each of shape (S,)."""
        below, above = log_widths(self.error, self.standard_error, self.freedom, self.skewness, level)
        return self.error / np.exp(RULE.interval_stretch * below), self.error * np.exp(RULE.interval_stretch * above)


def forecast_curve(pilot: Pilot, ensemble: Ensemble, sizes: FloatArray, chosen: Chosen) -> Curve:
    """Forecast one ensemble at sizes (S,), each at its chosen ridge.

    Fitted weights need a pilot with a constant predictor.
    """
    n = pilot.rows.n_samples
    C, S, k = chosen.ridges.shape
    # Matched penalties and variances depend only on sizes and ridges, so targets with equal ridges share them.
    lines, numbers = np.unique(chosen.ridges.reshape(C, S * k), axis=0, return_inverse=True)
    wanted = pilot.penalties(lines.reshape(-1, k))
    own_sizes = np.tile(sizes, len(lines))
    matched = [
        matched_penalties(fit.spectrum, n, pilot.rows.room, own_sizes, wanted[:, r])
        for r, fit in enumerate(pilot.members)
    ]
    penalties = np.stack(matched, axis=1).reshape(len(lines), S, -1)
    gamma_n = n * variance_shares(pilot.members, np.concatenate(penalties)).reshape(*penalties.shape, -1)
    parts = []
    for number in range(len(lines)):
        for some in pilot.parts(np.flatnonzero(numbers == number), S):
            blocks = [
                _transfer(block, ensemble, gamma_n[number, block.places], sizes[block.places])
                for block in pilot.of(some).left_out(penalties[number])
            ]
            found = [np.concatenate(each) for each in zip(*blocks, strict=True)]
            parts.append((some, [each.reshape(S, len(some), *each.shape[1:]).swapaxes(0, 1) for each in found]))
    error, readout, deviation, *others = in_order(parts)
    error = np.where((pilot.reach(chosen.ridges) >= sizes[:, None]).all(axis=-1), error, np.nan)
    # A larger sample does not raise the forecast. Without this bound the mean error on forty tables is 2.7 % larger.
    bounded = np.where(sizes > n, np.minimum(error, chosen.least), error)
    total = bounded + readout
    with np.errstate(invalid="ignore", divide="ignore"):
        fall = np.where((chosen.present > 0) & (sizes != n), bounded / chosen.present, 1.0)
        deviation = deviation * np.where(error <= 0, 1.0, bounded / error)
    is_vague = (sizes > n) & (deviation > RULE.vague * total) & (pilot.rows.left_out is None)
    own = penalties[numbers.ravel(), :, :k]
    found = [chosen.ridges, chosen.is_bound, own, ~np.isnan(total) & ~is_vague, total, fall, deviation, *others]
    return Curve(sizes, *(each if pilot.per_target else each[0] for each in found))


def _transfer(block: LeftOut, ensemble: Ensemble, gamma_n: FloatArray, sizes: FloatArray) -> tuple[FloatArray, ...]:
    """At t sizes, from γ n of shape (t, k′, k′): the error without readout noise, the error by readout noise, and then
    the fields of `Curve` from `standard_error` on.
    """
    rows = block.pilot.rows
    k = len(ensemble.ridge)
    effective = np.full(len(sizes), float(rows.n_samples))
    before = np.minimum(gamma_n / rows.n_samples, 1 - 1e-9)
    after = gamma_n / sizes[:, None, None]
    ratio = (1 - before) * variance_gain(after)
    unsure = np.zeros(ratio.shape)
    if rows.left_out is not None:  # several rows count as one, and a group is predicted from the other groups
        effects = design_effects(block)
        effective = rows.n_samples / effects[:, :k].mean(axis=1)
        limits = np.stack([gamma_n * np.sqrt(outer(effects)), gamma_n])
        befores = np.minimum(limits / (rows.n_samples * (1 - 1 / rows.n_units)), RULE.most_group_gamma)
        afters = np.minimum(limits / sizes[:, None, None], RULE.most_group_gamma)
        ratio, other = (1 - befores) * variance_gain(afters)
        before = befores[0]
        after = afters[0]
        unsure = abs(block.pairs * (ratio - other)) / RECTANGLE  # the forecast is one of the two limits
    noise = _readout_noise(block.pilot, ensemble, np.linalg.diagonal(after)[:, :k])
    settled = ensemble.aggregation.settle(_moments(block.pilot, block.penalties, block.pairs * ratio, noise))
    weights, error = settled.weights, settled.expected
    doubt = quadratic(weights, unsure[:, :k, :k])
    all_weights = weights
    if len(block.pilot.members) > k:  # with the constant predictor
        error = np.where(error > 0, error, np.nan)
        all_weights = np.column_stack([weights, 1 - weights.sum(axis=1)])
    raised = np.maximum(quadratic(all_weights, 1 / (1 - before)), TINY)
    spread, *shape = spread_of_means(left_out_parts(block, all_weights, ratio), rows.n_units / raised)
    # The correction for the fit of weights is added to the standard error as a whole.
    chance = np.subtract(error, settled.least, out=np.zeros(len(error)), where=np.isfinite(error))
    deviation = np.hypot(spread, np.hypot(doubt, chance))
    readout = (weights**2 * noise).sum(axis=1)
    return error - readout, readout, deviation, *shape, weights, effective, before[:, :k, :k], after[:, :k, :k]


def _readout_noise(pilot: Pilot, ensemble: Ensemble, gamma: FloatArray) -> FloatArray:
    """Error of each member by readout noise, ``η_r² C/(1 - γ_rr)``, for γ_rr of shape (t, k)."""
    noise = len(pilot.targets) / pilot.n_judged * ensemble.readout_noise**2
    return noise * np.where(noise > 0, variance_gain(gamma), 0.0)


def _moments(pilot: Pilot, penalties: FloatArray, pairs: FloatArray, noise: FloatArray) -> MemberMoments:
    """Moments of the members from pairs (t, k, k), or (t, k + 1, k + 1) with a constant predictor, and noise (t, k)."""
    k = noise.shape[1]
    members = pairs[:, :k, :k] + noise[:, :, None] * np.eye(k)
    if pairs.shape[1] == k:
        return MemberMoments(members)
    penalties, own = np.unique(penalties, axis=0, return_inverse=True)  # many targets may have the same
    behind = [
        independent_samples(fit, p, residual_degrees(fit, p))
        for fit, p in zip(pilot.members[:k], penalties.T, strict=False)
    ]
    worth = np.stack(behind, axis=1)[own.ravel()] * (1.0 if pilot.per_target else pilot.rows.effective_targets)
    return MemberMoments(members, pairs[:, k, :k], pairs[:, k, k], behind=worth)


def design_effects(block: LeftOut) -> FloatArray:
    """How many rows of a group count as one for every member at t penalties, shape (t, k).

    The model: groups are independent draws from one distribution, and more data means more groups of the same sizes. As
    for independent rows, the error on a new group is the sum of a constant part and a variance that falls with the
    sample size, with ``D γ`` in place of γ. The design effect (Moulton's factor, from left-out errors e and the hat
    matrix H)

        D = Σ_g e_gᵀ H_gg e_g / Σ_i e_i² H_ii

    lies between 1 and the mean size of a row's group; n/D is the effective number of independent rows. Ridges are
    matched by rows.

    D is a first-order approximation in γ: variances add up as if each group had no effect on the others. If γ is not
    small, the error falls less than with D, and in most simulations more than with D = 1. Only these two limits are
    known. The forecast is the one with D, because the middle of both has larger errors on five real tables. The root
    mean square distance of a rectangular distribution between the limits (JCGM 100:2008, 4.3.7) from one end is 1/√3 of
    its width; it is part of the standard error.
    """
    rows = block.pilot.rows
    effects = np.ones(block.penalties.shape)
    for r, fit in enumerate(block.pilot.members):
        for t, gain in enumerate(fit.hat_gains(block.penalties[:, r])):
            pulls = fit.left * block.errors[t, r][:, None, :]  # (C, ρ, n)
            together, alone = (gain @ (each**2).sum(axis=(0, 2)) for each in (rows.unit_sums(pulls), pulls))
            effects[t, r] = together / max(alone, TINY)
    sizes = rows.unit_sums(np.ones(rows.n_samples))
    return effects.clip(1.0, float((sizes**2).sum() / sizes.sum()))


def doubts(pilot: Pilot, curve: Curve) -> list[SubridgeWarning | None]:
    """Warnings about rows that dominate, or whose order matters; None where there is nothing to warn of.

    If targets are judged one by one, some of them are tested together, at the medians of all ridges and weights.
    """
    some = replace(pilot.of(pilot.parts(np.arange(pilot.n_judged), 1)[0]), per_target=False)
    rows = some.rows
    ridges, weights = (
        np.median(each[..., 0, :].reshape(-1, each.shape[-1]), axis=0) for each in (curve.ridges, curve.weights)
    )
    (block,) = some.left_out(some.penalties(ridges[None]))
    mixed = np.einsum("k,kcn->cn", weights, block.errors[0]) + (1 - weights.sum()) * rows.deviations
    said = [correlated_rows(mixed, rows)]
    found = [fit.hat_gains(p) @ fit.left**2 for fit, p in zip(some.members, block.penalties.T, strict=True)]
    leverages = np.concatenate(found) + rows.fit_intercept / rows.n_samples
    top = leverages.max()
    if top > RULE.dominant and np.median(leverages) < 1 - RULE.dominant:
        said.append(
            DominantRowsWarning(
                f"few rows dominate this pilot: the most influential row has leverage {top:.2f}; look for rare columns "
                "and outliers in X"
            )
        )
    return said


# -- the standard error ---------------------------------------------------------------------------


def left_out_parts(block: LeftOut, weights: FloatArray, ratio: FloatArray) -> FloatArray:
    """Contributions of G rows, or groups, to ``Σ_rr′ w_r w_r′ ratio_rr′ mean_i e_ri·e_r′i``, shape (t, G), mean 0.

    Weights have shape (t, k), `ratio` has (t, k, k).
    """
    rows = block.pilot.rows
    form = outer(weights) * np.where(np.isfinite(ratio), ratio, 0.0)
    mixed = (form @ block.errors.reshape(*weights.shape, -1)).reshape(block.errors.shape)
    own = (block.errors * mixed).sum(axis=(1, 2))  # of every row, (t, n)
    if isinstance(rows, MomentRows):
        return np.asarray(_parts_of_batches(rows, block, weights) * own.mean(axis=1, keepdims=True))
    return parts_of_units(rows, own)


def parts_of_units(rows: TrainingRows, own: FloatArray) -> FloatArray:
    """Contributions of G rows, or groups, to the mean of numbers of the rows, shape (t, n) to (t, G), mean 0.

    Groups differ in size, so the mean is a ratio of sums over groups. It is linearised (Cochran, Sampling techniques,
    1977, section 6.3).
    """
    return rows.unit_sums(own - own.mean(axis=1, keepdims=True)) * (rows.n_units / rows.n_samples)


def _parts_of_batches(rows: MomentRows, block: LeftOut, weights: FloatArray) -> FloatArray:
    """The difference of every batch's squared error from its share, relative to the mean error; shape (t, B).

    The error is that of the weighted sum at the pilot's size, for any size of the forecast.
    """
    plan = block.pilot.plan
    k = plan.n_members
    paths = rows.paths(plan, block.penalties[:, :k] / plan.subset_sizes)
    tables = (np.tile(own, (len(rows.targets), 1)) for own in weights[:, :k])
    sums = np.array([rows.batch_squares(paths, np.full(k, t), table) for t, table in enumerate(tables)])
    shares = np.array([each.total_weight for each in rows.batches]) / rows.total_weight
    return np.asarray((sums / np.maximum(sums.sum(axis=1, keepdims=True), TINY) - shares) * len(shares))


def spread_of_means(parts: FloatArray, dimensions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard errors of means of n parts (t, n) with so many independent `dimensions` (t,); each of shape (t,).

    Squared left-out errors of n rows, or groups, have ``n (1 - γ)`` independent dimensions: n - M for least squares,
    where their mean has the relative variance 2/(n - M) of a χ² distribution and not 2/n.

    Also returns the degrees of freedom of the standard error, and the skewness of the mean. A small pilot gives a poor
    estimate of the variance of squared errors. The degrees of freedom are those of this sample variance (Satterthwaite,
    1946): n - 1 for Gaussian parts, and always less than the number of dimensions.
    """
    n = parts.shape[1]
    centred = parts - parts.mean(axis=1, keepdims=True)
    # Times a power of two, so that powers of the largest stay in the range of floats.
    centred = np.ldexp(centred, -np.frexp(abs(centred).max(axis=1, keepdims=True))[1])
    squares = centred * centred
    power, third, fourth = (each.mean(axis=1) for each in (squares, squares * centred, squares * squares))
    power = np.where(power > 0, power, np.inf)
    kurtosis = np.where(fourth > 0, fourth / power**2, 1.0)
    freedom = 2 * n / (kurtosis - (n - 3) / (n - 1))
    root = np.sqrt(dimensions)
    skewness = third / power**1.5 / root
    return parts.std(axis=1, ddof=1) / root, np.minimum(freedom, np.maximum(dimensions - 1, 1.0)), skewness


def log_widths(
    error: FloatArray, standard_error: FloatArray, freedom: FloatArray, skewness: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Logarithms of the factors between an error and its lower and upper bound, each of shape (t,).

    Errors are positive and their estimates skewed, hence factors. With s the skewness of the mean of squared errors and
    v its relative standard error, the logarithm of the mean, divided by v, has the quantiles of Student's t after

        g(t) = t + b t²/3 + b² t³/27 + s/6,     b = s - 3v/2,

    which removes the skewness of a studentised mean (Hall, J. R. Stat. Soc. B 54, 221, 1992), here of its logarithm,
    which adds the term 3v/2. For squared errors s > 3v/2, and the upper bound is farther away: a mean of numbers with
    heavy tails is more often too small than too large.
    """
    relative = standard_error / np.where(error > 0, error, np.inf)
    quantile = student.ppf(0.5 + level / 2, freedom)
    bend = skewness - 1.5 * relative
    bend = np.where(abs(bend) > 1e-6, bend, 1e-6)  # close to 0 the cubic is a line
    below, above = (3 / bend * (np.cbrt(1 + bend * (end - skewness / 6)) - 1) for end in (quantile, -quantile))
    return np.maximum(relative * below, 0.0), np.maximum(-relative * above, 0.0)

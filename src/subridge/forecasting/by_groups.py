"""Forecasts from rows that come in groups: errors of left-out groups, taken to other numbers of groups.

The model: groups are independent draws of one kind, and more data means more groups of the same sizes. The error on a
new group, measured by leaving out whole groups, splits as for independent rows into a part that stays and a variance
that fades with the sample, ``γ = D γ_n/n`` in place of ``γ_n/n``, where the design effect

    D = Σ_g e_gᵀ H_gg e_g / Σ_i e_i² H_ii,        between 1 and the mean size of a row's group,

says how many rows count as one (Moulton's factor, with left-out errors e and the hat matrix H of a member); n/D is the
effective number of independent rows. Ridges are matched by rows. It holds where errors of a group are correlated and
features at most moderately so; features that are the same in all rows of a group make ridges match too far.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from subridge.arrays.types import BoolArray, FloatArray, IntArray
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.inputs.ridge_path import RidgePath
from subridge.forecasting.matching import MatchedRidges, match_ridges
from subridge.forecasting.pilot.left_out import left_out
from subridge.forecasting.pilot.pilot import Pilot
from subridge.forecasting.transfer.variance import split_variance
from subridge.model.errors import DataError
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan
from subridge.ridge.rows.decomposition import decompose
from subridge.ridge.rows.leave_sets_out import GRAM_LIMIT, leave_sets_out
from subridge.ridge.rows.left_out_sets import LeftOutSets
from subridge.ridge.rows.pair_traces import hat_gains
from subridge.ridge.rows.training import TrainingRows

_MOST_GAMMA = 0.95  # of a variance that fades; beyond, nothing is known


@dataclass(frozen=True, eq=False)
class GroupPilot:
    """An ensemble on rows in groups."""

    rows: TrainingRows
    sets: LeftOutSets
    pilot: Pilot

    @property
    def rows_per_group(self) -> float:
        """Mean size of a group."""
        return self.rows.n_samples / self.sets.n_sets


@dataclass(frozen=True, eq=False)
class GroupCurve:
    """Errors at S sizes with their bounds, ridges (S, k) and effective numbers of rows, each (S,)."""

    wanted: MatchedRidges
    prediction_error: FloatArray
    standard_error: FloatArray
    factor: FloatArray  # from the error to its bounds
    effective_samples: FloatArray

    def variables(self) -> dict[str, FloatArray | BoolArray]:
        """What the dataset of a forecast says of an ensemble."""
        error = self.prediction_error
        return {
            "prediction_error": error,
            "prediction_error_lower": error / self.factor,
            "prediction_error_upper": error * self.factor,
            "standard_error": self.standard_error,
            "in_reach": self.wanted.in_reach,
            "is_bound": np.zeros(len(error), dtype=bool),
            "effective_samples": self.effective_samples,
        }


def group_pilot(rows: TrainingRows, plan: SubsetPlan) -> GroupPilot:
    """Decompose the members of a plan on rows whose groups are left out together."""
    if rows.left_out is None or not rows.left_out.is_partition:
        raise DataError("groups must put two rows or more into some group; leave groups out for independent rows")
    members = [decompose(rows.member(plan, r), 0.0, rows.fit_intercept, GRAM_LIMIT) for r in range(plan.n_members)]
    targets = rows.centred_targets[0]
    return GroupPilot(rows, rows.left_out, Pilot(members, targets, plan.subset_sizes, int(rows.fit_intercept)))


def forecast_groups(
    pilot: GroupPilot, ensemble: DrawnEnsemble, sizes: FloatArray, path: RidgePath | None, level: float
) -> GroupCurve:
    """Errors at sizes n′ in rows, at the ensemble's ridges or at the best of a path for each size."""
    k, S = pilot.pilot.n_members, len(sizes)
    offered = ensemble.ridges[None, :] if path is None else np.repeat(path.ridges[:, None], k, axis=1)
    L = len(offered)
    matched = match_ridges(pilot.pilot, np.repeat(sizes, L), np.tile(offered, (S, 1)))
    errors, spreads, effective = _errors(pilot, ensemble, matched)
    errors = np.where(matched.in_reach, errors, np.nan)
    table = np.where(np.isfinite(errors), errors, np.inf).reshape(S, L)
    best = np.arange(S) * L + np.argmin(table, axis=1)
    standard_error = spreads[best] * errors[best]
    quantile = student.ppf(0.5 + level / 2, pilot.sets.n_sets - 1)
    return GroupCurve(matched[best], errors[best], standard_error, np.exp(quantile * spreads[best]), effective[best])


@dataclass(frozen=True, eq=False)
class GroupTransfer:
    """Some of the sizes and ridges of a curve: left-out errors, and what fades of them with more groups."""

    rows: slice  # of the curve
    sizes: FloatArray  # (t,)
    errors: FloatArray  # of members where groups are left out, (t, k, C, n)
    before: FloatArray  # γ at the pilot, (t, k, k)
    after: FloatArray  # γ at the wanted sizes, (t, k, k)
    design: FloatArray  # D of members, (t, k)

    @property
    def pairs(self) -> FloatArray:
        """How members err together at the wanted sizes, (t, k, k)."""
        flat = self.errors.reshape(*self.errors.shape[:2], -1)
        ratio = (1 - self.before) / (1 - self.after)
        return np.asarray(flat @ flat.transpose(0, 2, 1) / self.errors.shape[-1] * ratio)


def group_transfers(groups: GroupPilot, matched: MatchedRidges) -> Iterator[GroupTransfer]:
    """Left-out errors at T sizes and ridges, in blocks."""
    pilot, sets, n = groups.pilot, groups.sets, groups.rows.n_samples
    trained = n * (1 - 1 / sets.n_sets)  # rows that a left-out group was predicted from
    for block in left_out(pilot, matched.penalties):
        sizes = matched.sizes[block.rows]
        left = [
            leave_sets_out(member, pilot.targets, block.penalties[:, r], groups.rows, sets)[0]
            for r, member in enumerate(pilot.members)
        ]
        errors = np.stack(left, axis=1)
        design = _design_effects(pilot, block.penalties, errors, *by_group(sets.owners))
        gamma = np.sqrt(design[:, :, None] * design[:, None, :]) * split_variance(block, sizes).gamma_n
        before = np.minimum(gamma / trained, _MOST_GAMMA)
        after = np.minimum(gamma / sizes[:, None, None], _MOST_GAMMA)
        yield GroupTransfer(block.rows, sizes, errors, before, after, design)


def _errors(
    groups: GroupPilot, ensemble: DrawnEnsemble, matched: MatchedRidges
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors, their relative standard errors and effective numbers of rows at T sizes and ridges; each (T,)."""
    sets, (order, starts) = groups.sets, by_group(groups.sets.owners)
    errors, spreads, effective = np.empty((3, len(matched.sizes)))
    for found in group_transfers(groups, matched):
        moments = MemberMoments(found.pairs)
        weights = ensemble.aggregation.weights(moments)
        errors[found.rows] = moments.risk_of(weights)
        mixed = (np.einsum("tk,tkcn->tcn", weights, found.errors) ** 2).sum(axis=1)
        of_groups = np.add.reduceat(mixed[:, order], starts, axis=1)
        spreads[found.rows] = of_groups.std(axis=1) * np.sqrt(sets.n_sets) / of_groups.sum(axis=1)
        effective[found.rows] = groups.rows.n_samples / found.design.mean(axis=1)
    return errors, spreads, effective


def _design_effects(
    pilot: Pilot, penalties: FloatArray, errors: FloatArray, order: IntArray, starts: IntArray
) -> FloatArray:
    """D of every member at t penalties, shape (t, k), from left-out errors (t, k, C, n)."""
    effects = np.ones(penalties.shape)
    largest = float((np.diff(np.append(starts, len(order))) ** 2).sum()) / len(order)
    for r, member in enumerate(pilot.members):
        gains = hat_gains(member, penalties[:, r])
        sorted_left = member.left[:, order]
        for t, gain in enumerate(gains):
            pulls = sorted_left[None, :, :] * errors[t, r][:, None, order]  # (C, ρ, n)
            together = (np.add.reduceat(pulls, starts, axis=2) ** 2).sum(axis=(0, 2))
            alone = (pulls**2).sum(axis=(0, 2))
            effects[t, r] = (gain @ together) / max(float(gain @ alone), np.finfo(np.float64).tiny)
    return np.clip(effects, 1.0, largest)


def by_group(owners: IntArray) -> tuple[IntArray, IntArray]:
    """Rows in the order of their groups, and where each group starts."""
    order = np.argsort(owners, kind="stable")
    return order, np.flatnonzero(np.diff(owners[order], prepend=-1))

"""Fitted members: outputs for new rows, for rows that lack columns, and without each left-out row (intervals).

Intervals are jackknife+ (Barber, Candès, Ramdas and Tibshirani 2021): with left-out errors e_i and the ensemble μ^(-i)
trained without row i, the interval for x goes from a low quantile of ``μ^(-i)(x) - |e_i|`` to a high one of
``μ^(-i)(x) + |e_i|``. If groups are left out, μ^(-i) is trained without the group of i, and every group has the same
share in the quantile (Lee, Barber and Willett 2023), so that only groups, not rows, must be exchangeable. Sets of
classes use the score ``1 - p(class)`` in place of |e| (CV+, Romano, Sesia and Candès 2020). At fixed ridge and weights
the coverage is at least 2·level - 1, for any distribution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from subridge.arrays.namespace import (
    add_at_last,
    device_of,
    is_numpy,
    is_sparse,
    like,
    namespace_of,
    scatter_last,
    select_rows,
    take_last,
    to_numpy,
)
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray, SparseMatrix
from subridge.model.aggregation import Aggregation, MemberMoments
from subridge.model.checks import one_number, within
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import DataError, ParameterError
from subridge.ridge.classes import softmax
from subridge.ridge.member import MemberFit, factorise, factorise_members
from subridge.ridge.rows import TrainingRows, new_rows

_ENTRIES = 1_000_000  # of the largest table over new rows and left-out sets held at once: 8 MB
_SLACK = 1e-9  # of a share of groups, whose sum is rounded

Features: TypeAlias = Array | SparseMatrix  # checked features: float64, in the library they came in


def weights_of_targets(weights: FloatArray, C: int, example: Array) -> Array:
    """Weights of the members for each of C targets, (k, C), from common ones, (k,), or one set per target, (C, k)."""
    return like(np.broadcast_to(weights, (C, weights.shape[-1])).T, example)


@dataclass(frozen=True, eq=False)
class FittedMembers:
    """Members as linear maps of the unscaled features: coefficients, each (C, N_r), and intercepts, each (C,).

    `target_mean`, shape (C,), is the prediction of the aggregate if all weights are zero; zero without intercept.
    """

    plan: SubsetPlan
    coefficients: list[Array]
    intercepts: list[Array]
    target_mean: Array

    def collapse(self, weights: FloatArray) -> tuple[Array, Array]:
        """The weighted sum of the members, less the target's mean, as one linear map: (C, M) and (C,).

        Weights have shape (k,) for all targets, or (C, k).
        """
        first = self.coefficients[0]
        coef = namespace_of(first).zeros((len(first), self.plan.n_features), dtype=first.dtype, device=device_of(first))
        shares = weights_of_targets(weights, len(first), first)
        intercept = (1.0 - shares.sum(axis=0)) * self.target_mean
        for r, own in enumerate(self.coefficients):
            self.plan.add_lifted(r, shares[r, :, None] * own, coef)
            intercept = intercept + shares[r] * self.intercepts[r]
        return coef, intercept

    def outputs(self, X: Features) -> Array:
        """Outputs of all members, shape (k, C, n), in the library of X."""
        found = []
        for r, (A, coef) in enumerate(zip(self.plan.measurements, self.coefficients, strict=True)):
            if A.ndim == 2:
                outputs = X @ like(self.plan.lift_rows(r, coef), X).T
            else:
                outputs = (X.tocsc()[:, A] if is_sparse(X) else select_rows(X.T, A).T) @ like(coef, X).T
            found.append((outputs + like(self.intercepts[r], X)).T)
        return namespace_of(found[0]).stack(found)

    def outputs_without(self, X: Features, aggregation: Aggregation, moments: MemberMoments) -> Array:
        """Aggregate of the members that see no missing column of X, row by row; shape (C, m).

        Rows that lack the same members are predicted together. Weights of a linear aggregation come from the moments of
        the other members.
        """
        if is_sparse(X):
            raise DataError("X is sparse and contains NaN; missing='drop-members' needs a dense X")
        xp = namespace_of(X)
        gaps = xp.isnan(X)
        absent = to_numpy(gaps)
        sees = [A if A.ndim == 1 else np.flatnonzero((A != 0).any(axis=0)) for A in self.plan.measurements]
        lost = np.stack([absent[:, columns].any(axis=1) for columns in sees], axis=1)  # (m, k)
        hopeless = np.flatnonzero(lost.all(axis=1))
        if hopeless.size:
            raise DataError(
                f"row {hopeless[0]} of X lacks an input of every member ({hopeless.size} such rows); drop or impute "
                "them, or fit more and smaller members"
            )
        patterns, numbers = np.unique(lost, axis=0, return_inverse=True)
        everything = self.outputs(xp.where(gaps, xp.zeros_like(X), X))
        found = xp.zeros_like(everything[0, ...])
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(numbers == number)
            alive = np.flatnonzero(~pattern)
            outputs = take_last(select_rows(everything, alive), rows)
            if aggregation.is_linear:
                mean = like(self.target_mean, outputs)[:, None]
                part = aggregation.combine(outputs - mean, aggregation.weights(moments.of_members(alive))) + mean
            else:
                part = aggregation.combine(outputs) / (len(alive) if aggregation.decides_classes else 1)
            add_at_last(found, rows, part)
        return found


@dataclass(frozen=True, eq=False)
class LeftOutEnsemble:
    """A fitted ensemble without each of its rows, or sets of rows, in turn.

    Ridges and weights are those of the whole fit: only the members' coefficients are trained again. `errors` are
    ``y_i - f_r^(-i)(x_i)``, shape (k, C, n); `noise` is the readout noise of training, of the same shape; `map` is the
    weighted sum of the members as one linear map; `weights` are None for votes, sums of scores and medians.
    `predictions` are the outputs for left-out rows, shape (C, n), by an ensemble that was chosen without them. If
    members see only some rows, `parts` are the numbers of these rows and the centred rows, for each member.
    """

    rows: TrainingRows
    errors: Array
    noise: Array | None
    ensemble: Ensemble
    members: FittedMembers
    map: tuple[Array, Array]
    weights: FloatArray | None
    predictions: Array
    parts: Sequence[tuple[IntArray, TrainingRows]] | None = None

    def outputs(self, X: Features, beyond: int | None = None) -> Iterator[tuple[Array, IntArray | None]]:
        """The aggregate's outputs for new rows without each of S sets, shape (C, m, S), for blocks of m rows.

        If at most `beyond` rows can lie outside of an interval, a weighted sum for one target leaves out only the rows
        that can be among them. Their numbers come with the outputs; None means all sets.
        """
        k, C = self.errors.shape[:2]
        block = max(1, _ENTRIES // (self.rows.n_units * C * (k if self.weights is None else 1)))
        for start in range(0, X.shape[0], block):
            new = X[start : start + block]  # type: ignore[index]
            scores = [
                fit.scores(new_rows(new, fit.measurement, fit.rows.feature_means), penalty)
                for fit, penalty, _, _ in self._fits
            ]
            if self.weights is not None:
                yield self._weighted(new, scores, beyond if C == 1 else None)
                continue
            changes = [
                fit.output_changes(score, pulls) + shifts[:, None, :]
                for score, (fit, _, pulls, shifts) in zip(scores, self._fits, strict=True)
            ]
            whole = self.members.outputs(new)[:, :, :, None]
            without = whole - like(namespace_of(changes[0]).stack(changes), whole)  # (k, C, m, S)
            yield self.ensemble.aggregation.combine(without.reshape(k, C, -1)).reshape(without.shape[1:]), None

    def _weighted(self, X: Features, scores: list[Array], beyond: int | None) -> tuple[Array, IntArray | None]:
        """Outputs of a weighted sum without each set, or without each row that matters, and the numbers of these."""
        coef, intercept = (like(each, X) for each in self.map)
        shifts = self._shifts
        chosen = None
        if beyond is not None:  # a change is at most the product of two norms
            bounds = abs(shifts[0])
            for score, norms in zip(scores, self._pull_norms, strict=True):
                bounds = bounds + norms * (score * score).sum(axis=1).max() ** 0.5
            reach = to_numpy(bounds) * (1 + _SLACK)
            sizes = to_numpy(self._sizes)[0]
            # Rows that may decide the quantile, as no change exceeds its bound.
            least = np.partition(sizes - reach, -1 - beyond)[-1 - beyond]
            chosen = np.flatnonzero(sizes + reach >= least)
            shifts = take_last(shifts, chosen)
        outputs = (X @ coef.T + intercept).T[:, :, None] - like(shifts, X)[:, None, :]
        for score, (fit, _, pulls, _) in zip(scores, self._fits, strict=True):
            outputs -= like(fit.output_changes(score, pulls, chosen), X)
        return outputs, chosen

    @property
    def _sizes(self) -> Array:
        """Absolute errors on left-out rows, shape (C, n)."""
        return abs(self.rows.targets - self.predictions)

    @cached_property
    def _shares(self) -> Array:
        """Weights of the members for every target, shape (k, C); ones if the aggregate is no weighted sum."""
        k, C = self.errors.shape[:2]
        return weights_of_targets(np.ones(k) if self.weights is None else self.weights, C, self.errors)

    @cached_property
    def _fits(self) -> list[tuple[MemberFit, float, Array, Array]]:
        """Every member, factorised again: the fit, its penalty, and the changes by each left-out set, times weights."""
        rows = self.rows
        plan = self.ensemble.plan
        penalties = (self.ensemble.ridge * plan.subset_sizes).tolist()
        if self.parts is None:
            fits = list(factorise_members(rows, plan, np.array(penalties)))
        else:
            fits = [factorise(part, plan, r, penalties[r]) for r, (_, part) in enumerate(self.parts)]
        found = []
        for r, fit in enumerate(fits):
            share = self._shares[r][:, None]
            noise = 0.0 if self.noise is None else self.noise[r]
            errors = (self.errors[r] - noise) * share * rows.root_weights
            if self.parts is None:
                labels = rows.centred((rows.targets - noise) * share)[0]
                pulls, shifts = fit.pulls(penalties[r], labels, errors)
            else:
                # The rows that the member does not see have zeros, because leaving these out changes nothing.
                seen = self.parts[r][0]
                right = fit.right
                if right is None:
                    right = fit.design.onto_features(fit.left) / (fit.spectrum**0.5)[:, None]
                pulls = scatter_last(take_last(errors, seen), seen, rows.n_samples)
                shifts = pulls * rows.root_weights * (rows.fit_intercept / fit.rows.total_weight)
                fit = replace(fit, known_left=scatter_last(fit.left, seen, rows.n_samples), right=right)
            found.append((fit, penalties[r], pulls, shifts))
        return found

    @cached_property
    def _pull_norms(self) -> list[Array]:
        """Norms of the pull of each left-out row on the directions of every member, for one target; shape (n,) each."""
        return [(fit.left * fit.left).sum(axis=0) ** 0.5 * abs(pulls[0]) for fit, _, pulls, _ in self._fits]

    @cached_property
    def _shifts(self) -> Array:
        """The change of a weighted sum at x = x̄ by each left-out set, shape (C, S)."""
        rows = self.rows
        one_of_set = np.unique(rows.owners, return_index=True)[1]
        # The mean of the labels has the weight that the members leave, and it changes too.
        of_mean = rows.centred_targets[1][:, None] - take_last(rows.targets - rows.deviations, one_of_set)
        return sum((shifts for _, _, _, shifts in self._fits), (1.0 - self._shares.sum(axis=0))[:, None] * of_mean)

    # -- intervals and sets of classes ------------------------------------------------------------

    def _level(self, level: float) -> float:
        """The checked level; with fewer than about 1/(1 - level) left-out sets every interval would be infinite."""
        checked = one_number("level", within("level", level, 0.5, 1.0))  # below 0.5 the bounds may cross
        sets = self.rows.n_units
        if not checked < 1 or (1 - checked) * (sets + 1) < 1 - _SLACK:
            raise ParameterError(
                f"level={level} needs more rows or groups to leave out than the {sets} there are; "
                f"give a level of at most {sets / (sets + 1):.3g}"
            )
        return checked

    @property
    def _masses(self) -> FloatArray:
        """The share of every row in a quantile, shape (n,); all left-out groups have the same share."""
        owners = self.rows.owners
        return 1 / ((self.rows.n_units + 1) * np.bincount(owners)[owners])

    def intervals(self, X: Features, level: float) -> tuple[Array, Array]:
        """Lower and upper bounds of new labels, each of shape (C, m)."""
        level = self._level(level)
        rows, masses = self.rows, self._masses
        beyond = rows.n_samples - int(np.ceil(level / masses[0] - _SLACK))  # rows outside, if all count the same
        lower = []
        upper = []
        for outputs, chosen in self.outputs(X, beyond if rows.left_out is None else None):
            sizes = self._sizes if chosen is None else take_last(self._sizes, chosen)
            widths = like(sizes, outputs)[:, None, :]
            centres = outputs if rows.left_out is None else take_last(outputs, rows.owners)
            upper.append(_quantile(centres + widths, level, beyond, masses))
            lower.append(-_quantile(widths - centres, level, beyond, masses))
        xp = namespace_of(upper[0])
        return xp.concat(lower, axis=1), xp.concat(upper, axis=1)

    def class_sets(self, X: Features, level: float, temperature: float, bias: FloatArray) -> BoolArray:
        """Classes in the set of each new row, shape (m, C).

        A class is left out if its score, with μ^(-i), exceeds that of row i's own class for a share `level` of rows.
        """
        level = self._level(level)
        k = 1 if self.weights is not None else len(self.errors)  # decisions are shares of votes, or mean scores

        def scores(outputs: Array) -> FloatArray:
            """``1 - p`` of every class, in the shape of the outputs, (C, ...)."""
            decision = to_numpy(outputs).reshape(len(bias), -1) / k + bias[:, None]
            return 1 - softmax(decision, temperature).reshape(outputs.shape)

        labels = to_numpy(self.rows.targets).argmax(axis=0)
        own = np.take_along_axis(scores(self.predictions), labels[None], axis=0)
        exceeds = (scores(outputs)[:, :, self.rows.owners] > own for outputs, _ in self.outputs(X))
        return np.concatenate([(each @ self._masses < level - _SLACK).T for each in exceeds])


def _quantile(values: Array, level: float, beyond: int, masses: FloatArray) -> Array:
    """The `level` quantile of n values and an infinite one; shapes (C, m, n) to (C, m).

    Values have weights `masses`, shape (n,). If these are equal, `beyond` values are larger than the quantile, and
    values that are surely smaller may be missing.
    """
    xp = namespace_of(values)
    if (masses == masses[0]).all():
        rank = values.shape[-1] - 1 - beyond
        ordered = np.partition(values, rank, axis=-1) if is_numpy(values) else xp.sort(values, axis=-1)
        return ordered[..., rank]
    order = xp.argsort(values, axis=-1)
    shares = xp.take_along_axis(xp.broadcast_to(like(masses, values), values.shape), order, axis=-1)
    reached = xp.cumulative_sum(shares, axis=-1) >= level - _SLACK
    first = xp.argmax(xp.astype(reached, xp.int8), axis=-1)[..., None]
    return xp.take_along_axis(values, xp.take_along_axis(order, first, axis=-1), axis=-1)[..., 0]

"""Fitted members: outputs for new rows, for rows that lack columns, and without each left-out row (intervals).

Intervals are jackknife+ (Barber, Candès, Ramdas and Tibshirani 2021): with left-out errors e_i and the ensemble μ^(-i)
trained without row i, the interval for x goes from a low quantile of ``μ^(-i)(x) - |e_i|`` to a high one of ``μ^(-i)(x)
+ |e_i|``. If groups are left out, μ^(-i) is trained without the group of i and every group has the same share in the
quantile (Lee, Barber and Willett 2023), so that groups rather than rows need be exchangeable. Sets of classes take the
score ``1 - p(class)`` in place of |e| (CV+, Romano, Sesia and Candès 2020). At fixed ridge and weights the coverage is
at least 2·level - 1, whatever the distribution.
"""

from collections.abc import Callable, Iterator, Sequence
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


def example_of(X: Features) -> Array:
    """An array of the library and device that predictions for X are made in."""
    return np.empty(0) if is_sparse(X) else X


@dataclass(frozen=True, eq=False)
class FittedMembers:
    """Members as linear maps of the unscaled features: coefficients, each (C, N_r), and intercepts, each (C,).

    `target_mean`, shape (C,), is what the aggregate predicts if no member counts; zero without intercept.
    """

    plan: SubsetPlan
    coefficients: list[Array]
    intercepts: list[Array]
    target_mean: Array

    def collapse(self, weights: FloatArray) -> tuple[Array, Array]:
        """The weighted sum of the members, measured from the target's mean, as one linear map: (C, M) and (C,).

        Weights of shape (k,) hold for all targets, of shape (C, k) each for its own.
        """
        first = self.coefficients[0]
        C, M = len(first), self.plan.n_features
        coef = namespace_of(first).zeros((C, M), dtype=first.dtype, device=device_of(first))
        shares = like(np.broadcast_to(weights, (C, len(self.coefficients))).T, first)
        intercept = (1.0 - shares.sum(axis=0)) * self.target_mean
        for r, (own, offset) in enumerate(zip(self.coefficients, self.intercepts, strict=True)):
            self.plan.add_lifted(r, shares[r, :, None] * own, coef)
            intercept = intercept + shares[r] * offset
        return coef, intercept

    def outputs(self, X: Features, members: Sequence[int] | IntArray | None = None) -> Array:
        """Outputs of all members, or of some, shape (k, C, n), in the library of X."""
        found, example = [], example_of(X)
        for r in range(len(self.coefficients)) if members is None else members:
            coef, A = self.coefficients[r], self.plan.measurements[r]
            seen, own = X, coef
            if A.ndim == 2:
                own = self.plan.lift_rows(r, coef)
            else:
                seen = X.tocsc()[:, A] if is_sparse(X) else select_rows(X.T, A).T
            found.append((seen @ like(own, example).T + like(self.intercepts[r], example)).T)
        return namespace_of(found[0]).stack(found)

    def outputs_without(self, X: Features, aggregation: Aggregation, moments: MemberMoments) -> Array:
        """Aggregate of the members that see no missing column of X, row by row; shape (C, m).

        Rows that lack the same members are predicted together. Weights of a linear aggregation come from the block of
        the moments that belongs to the other members.
        """
        if is_sparse(X):
            raise DataError("X is sparse and contains NaN; missing='drop-members' needs a dense X")
        xp, gaps = namespace_of(X), namespace_of(X).isnan(X)
        filled, absent = xp.where(gaps, xp.zeros_like(X), X), to_numpy(gaps).astype(bool)
        sees = [A if A.ndim == 1 else np.flatnonzero((A != 0).any(axis=0)) for A in self.plan.measurements]
        lost = np.stack([absent[:, columns].any(axis=1) for columns in sees], axis=1)  # (m, k)
        hopeless = np.flatnonzero(lost.all(axis=1))
        if hopeless.size:
            raise DataError(
                f"row {hopeless[0]} of X lacks an input of every member ({hopeless.size} such rows); drop or impute "
                "them, or fit more and smaller members"
            )
        patterns, numbers = np.unique(lost, axis=0, return_inverse=True)
        found = xp.zeros((len(self.target_mean), X.shape[0]), dtype=X.dtype, device=device_of(X))
        for number, pattern in enumerate(patterns):
            rows, alive = np.flatnonzero(numbers == number), np.flatnonzero(~pattern)
            outputs = self.outputs(select_rows(filled, rows), alive)
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
    members see some rows only, `parts` are these rows as each was trained on them, and `row_sets` their numbers.
    """

    rows: TrainingRows
    errors: Array
    noise: Array | None
    ensemble: Ensemble
    members: FittedMembers
    map: tuple[Array, Array]
    weights: FloatArray | None
    predictions: Array
    parts: Sequence[TrainingRows] | None = None
    row_sets: Sequence[IntArray] | None = None

    def outputs(self, X: Features, choose: Callable[[Array], IntArray] | None = None) -> Iterator[Array]:
        """The aggregate's outputs for new rows without each of S sets, shape (C, m, S), for blocks of m rows.

        For a weighted sum and one target `choose` may skip rows: from bounds (n,) of what leaving out each of them
        changes in any output of the block it returns those that matter, and the answer has only these.
        """
        k, C = self.errors.shape[:2]
        penalties = self.ensemble.ridge * self.ensemble.plan.subset_sizes
        block = max(1, _ENTRIES // (self.rows.n_units * C * (k if self.weights is None else 1)))
        for start in range(0, X.shape[0], block):
            new = X[start : start + block]  # type: ignore[index]
            scores = []
            for penalty, (fit, _, _) in zip(penalties.tolist(), self._fits, strict=True):
                seen = new_rows(new, fit.measurement, fit.rows.feature_means)
                scores.append(fit.scores(seen, penalty))
            if self.weights is not None:
                yield self._weighted(new, scores, choose if C == 1 else None)
                continue
            changes = [
                fit.output_changes(score, pulls) + shifts[:, None, :]
                for score, (fit, pulls, shifts) in zip(scores, self._fits, strict=True)
            ]
            whole = self.members.outputs(new)[:, :, :, None]
            without = whole - like(namespace_of(changes[0]).stack(changes), whole)  # (k, C, m, S)
            yield self.ensemble.aggregation.combine(without.reshape((k, C, -1))).reshape(without.shape[1:])

    def _weighted(self, X: Features, scores: list[Array], choose: Callable[[Array], IntArray] | None) -> Array:
        """Outputs of a weighted sum without each set, or without each row that matters; shape (C, m, S)."""
        (coef, intercept), example, (shares, shifts) = self.map, example_of(X), self._shifts
        chosen = None
        if choose is not None:  # a change is at most the product of two norms
            bounds = abs(shifts[0])
            for r, (score, norms) in enumerate(zip(scores, self._pull_norms, strict=True)):
                bounds = bounds + norms * (abs(shares[r, 0]) * (score * score).sum(axis=1).max() ** 0.5)
            chosen = choose(bounds)
            shifts = take_last(shifts, chosen)
        outputs = ((X @ like(coef, example).T).T + like(intercept, example)[:, None])[:, :, None]
        outputs = outputs - like(shifts, example)[:, None, :]
        for r, (score, (fit, pulls, _)) in enumerate(zip(scores, self._fits, strict=True)):
            changes = fit.output_changes(score, pulls * shares[r].reshape((-1, *[1] * (pulls.ndim - 1))), chosen)
            outputs -= like(changes, example)
        return outputs

    @cached_property
    def _fits(self) -> list[tuple[MemberFit, Array, Array]]:
        """Every member, factorised again at its ridge, with what leaving out each set changes."""
        rows, plan, found = self.rows, self.ensemble.plan, []
        penalties = self.ensemble.ridge * plan.subset_sizes
        fits = (
            factorise_members(rows, plan, penalties)
            if self.parts is None
            else (factorise(part, plan, r, float(penalties[r])) for r, part in enumerate(self.parts))
        )
        for r, fit in enumerate(fits):
            noise = 0.0 if self.noise is None else self.noise[r]
            errors = (self.errors[r] - noise) * rows.root_weights
            if self.row_sets is None:
                labels = rows.centred(rows.targets - noise)[0]
                found.append((fit, *fit.pulls(float(penalties[r]), labels, errors, rows.left_out)))
                continue
            # Zeros for the rows that the member does not see, so that leaving these out changes nothing.
            seen, n, right = self.row_sets[r], rows.n_samples, fit.right
            if right is None:
                right = fit.design.onto_features(fit.left) / (fit.spectrum**0.5)[:, None]
            pulls = scatter_last(take_last(errors, seen), seen, n)
            shifts = pulls * rows.root_weights * (rows.fit_intercept / fit.rows.total_weight)
            found.append((replace(fit, known_left=scatter_last(fit.left, seen, n), right=right), pulls, shifts))
        return found

    @cached_property
    def _pull_norms(self) -> list[Array]:
        """Norms of what each left-out row pulls of every member's directions, for one target; shape (n,) each."""
        return [(fit.left * fit.left).sum(axis=0) ** 0.5 * abs(pulls[0]) for fit, pulls, _ in self._fits]

    @cached_property
    def _shifts(self) -> tuple[Array, Array]:
        """Weights of the members for every target, (k, C), and what leaving out a set changes at x = x̄, (C, S)."""
        rows, (k, C) = self.rows, self.errors.shape[:2]
        shares = like(np.broadcast_to(np.asarray(self.weights), (C, k)).T, self.errors)
        one_of_set = np.unique(rows.owners, return_index=True)[1]
        # What the weights leave to the mean of the labels changes as that mean.
        of_mean = rows.centred_targets[1][:, None] - take_last(rows.targets - rows.deviations, one_of_set)
        total = (1.0 - shares.sum(axis=0))[:, None] * of_mean
        for r, (_, _, shifts) in enumerate(self._fits):
            total = total + shares[r][:, None] * shifts
        return shares, total

    # -- intervals and sets of classes ------------------------------------------------------------

    def _level(self, level: float) -> float:
        """A level that the number of left-out sets allows: without 1/(1 - level) of them every interval is infinite."""
        checked = one_number("level", within("level", level, 0.0, 1.0))
        sets = self.rows.n_units
        if checked < 0.5:  # the coverage that is sure is 2 level - 1, and bounds may cross
            raise ParameterError(f"level must be at least 0.5, got {level}; 0.9 covers nine of ten new labels")
        if not checked < 1 or (1 - checked) * (sets + 1) < 1 - _SLACK:
            raise ParameterError(
                f"level={level} needs more rows or groups to leave out than the {sets} there are; "
                f"give a level of at most {sets / (sets + 1):.3g}"
            )
        return checked

    @property
    def _masses(self) -> FloatArray | None:
        """Share of every row in a quantile if groups were left out, shape (n,); None if all rows count the same."""
        sets = self.rows.left_out
        return (
            None
            if sets is None or not sets.is_partition
            else 1 / ((sets.n_sets + 1) * np.bincount(sets.owners)[sets.owners])
        )

    def intervals(self, X: Features, level: float) -> tuple[Array, Array]:
        """Lower and upper bounds of new labels, each of shape (C, m)."""
        level, masses, lower, upper = self._level(level), self._masses, [], []
        sizes, owners = abs(self.rows.targets - self.predictions), self.rows.owners
        beyond = len(owners) - int(np.ceil(level * (len(owners) + 1) - _SLACK))  # rows outside of the interval
        chosen = np.arange(len(owners))

        def choose(changes: Array) -> IntArray:
            """Rows that can be among the outermost whatever the change; the quantile is one of these."""
            nonlocal chosen
            reach, errors = to_numpy(changes) * (1 + _SLACK), to_numpy(sizes)[0]
            least = np.partition(errors - reach, -1 - beyond)[-1 - beyond]
            chosen = np.flatnonzero(errors + reach >= least)
            return chosen

        for outputs in self.outputs(X, choose if self.rows.left_out is None else None):
            widths = like(take_last(sizes, chosen), outputs)[:, None, :]
            centres = outputs if self.rows.left_out is None else take_last(outputs, owners)
            upper.append(_quantile(centres + widths, level, beyond, masses))
            lower.append(-_quantile(widths - centres, level, beyond, masses))
        xp = namespace_of(upper[0])
        return xp.concat(lower, axis=1), xp.concat(upper, axis=1)

    def class_sets(self, X: Features, level: float, temperature: float, bias: FloatArray) -> BoolArray:
        """Classes that belong to the set of each new row, shape (m, C).

        A class is not in it if its score, with μ^(-i), exceeds that of row i's own class for a share `level` of rows.
        """
        level, masses, n, found = self._level(level), self._masses, self.rows.n_samples, []
        shares = np.full(n, 1 / (n + 1)) if masses is None else masses
        k = 1 if self.weights is not None else len(self.errors)  # decisions are shares of votes, or mean scores
        labels = to_numpy(self.rows.targets).argmax(axis=0)
        own = 1 - softmax(to_numpy(self.predictions) / k + bias[:, None], temperature)[labels, np.arange(n)]
        for outputs in self.outputs(X):
            C, m, S = outputs.shape
            shifted = to_numpy(outputs).reshape(C, m * S) / k + bias[:, None]
            scores = 1 - softmax(shifted, temperature).reshape(C, m, S)
            found.append(((scores[:, :, self.rows.owners] > own) @ shares < level - _SLACK).T)
        return np.concatenate(found)


def _quantile(values: Array, level: float, beyond: int, masses: FloatArray | None) -> Array:
    """The least value that a share `level` of n + 1, the last one infinite, does not exceed; (C, m, n) to (C, m).

    Values count by `masses`, shape (n,). If all count the same, so many are `beyond` it, and values that cannot be need
    not be there.
    """
    xp = namespace_of(values)
    if masses is None:
        rank = values.shape[-1] - 1 - beyond
        if is_numpy(values):
            values.partition(rank, axis=-1)
            return values[..., rank].copy()
        return xp.sort(values, axis=-1)[..., rank]
    order = xp.argsort(values, axis=-1)
    shares = xp.take_along_axis(xp.broadcast_to(like(masses, values), values.shape), order, axis=-1)
    reached = xp.cumulative_sum(shares, axis=-1) >= level - _SLACK
    first = xp.argmax(xp.astype(reached, xp.int8), axis=-1)[..., None]
    return xp.take_along_axis(values, xp.take_along_axis(order, first, axis=-1), axis=-1)[..., 0]

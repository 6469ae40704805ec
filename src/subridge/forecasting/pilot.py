"""The pilot: the sample that a user gives, checked and centred, and ensembles with members factorised on it."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.stats import chi2
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from subridge.arrays.machine import blas_threads
from subridge.arrays.namespace import is_sparse
from subridge.arrays.types import ArrayLike, FloatArray, IntArray, Json, MatrixLike, Seed, SparseMatrix
from subridge.datasets.tables.targets import LEAST_ROWS, TargetLike, Task, missing_targets, read_target, target_rows
from subridge.model.checks import (
    checked_seed,
    of_kind,
    one_of,
    real_array,
    refuse_beyond_memory,
    refuse_odd_table,
    stream,
    truth,
)
from subridge.model.ensemble import Ensemble, SubsetPlan, refuse_row_fractions
from subridge.model.errors import (
    ClassCodesWarning,
    CopiedRowsWarning,
    DataError,
    ParameterError,
    SubsetError,
    agreeing,
    counted,
    listed,
    require,
)
from subridge.model.subsets import Strategy
from subridge.ridge.checks import rare_columns, warn_of_rows, warn_once
from subridge.ridge.choose import trainable
from subridge.ridge.member import PILOT_GRAM_LIMIT, MemberFit, factorise_members
from subridge.ridge.moments import MomentBatches, MomentRows, moment_rows
from subridge.ridge.rows import TrainingRows, left_out_groups, training_rows
from subridge.store.progress import LateBar, ProgressBar

_MOST = 1e15  # a finite size: floats represent every integer below
_LOOKED_AT = 8  # columns that are tested first: one of distinct values shows that no row is a copy
_SMALLEST = 1e-140  # sum of squared labels, whose own square must not vanish
_TABLE = 5_000_000  # numbers of the largest table of left-out errors held at once: 40 MB
_TABLES = 5  # of that size held at once; up to 4.9 were measured
_SOME = 100  # targets whose label noise is estimated at once: 2 MB for each table
_RESULTS = 24  # numbers that a forecast of a target holds for each size, beside two for each member
_MOST_WORKERS = 8  # each holds the factors of one ensemble, as large as the data

Work = TypeVar("Work")
Result = TypeVar("Result")
# If set, this bar shows the share of the tasks that is done.
shown_bar: ContextVar[ProgressBar | None] = ContextVar("shown_bar", default=None)


@dataclass(frozen=True, eq=False)
class Sample:
    """A checked pilot sample."""

    rows: TrainingRows
    class_names: tuple[str, ...] | None  # of one-hot targets; None for regression

    @property
    def n_features(self) -> int:
        """M."""
        return len(self.rows.feature_means)

    def attributes(self) -> dict[str, Json]:
        """Attributes of results; ``target_variance`` is summed over targets."""
        names = {} if self.class_names is None else {"class_names": ", ".join(self.class_names)}
        return names | {
            "n_pilot": self.rows.n_samples,
            "n_features": self.n_features,
            "n_targets": len(self.rows.targets),
            "target_variance": float(
                self.rows.whole.target_squares.sum() / self.rows.n_samples
                if isinstance(self.rows, MomentRows)
                else self.rows.targets.var(axis=1).sum()
            ),
            "fit_intercept": self.rows.fit_intercept,
        }


def read_sample(
    X: "MatrixLike | MomentBatches",
    y: TargetLike | None,
    task: Task,
    fit_intercept: bool,
    groups: ArrayLike | None = None,
    *,
    standardise: bool = False,
) -> Sample:
    """Check X (n, M) and y (n,) or (n, C) and centre them; rows with equal labels in `groups` are left out together.

    With `standardise` every column is divided by its standard deviation. `task` "auto" treats text, categories and
    booleans as labels of classes. X may be moments, which include y.
    """
    one_of("task", task, ("auto", "regression", "classification"))
    fit_intercept = truth("fit_intercept", fit_intercept)
    if isinstance(X, MomentBatches):
        others = y is not None or groups is not None or task == "classification" or standardise
        require(not others, "moments hold y, as numbers; leave out y, groups=, task= and standardise=")
        moments = moment_rows(X.batches, fit_intercept, X.standardise)
        require(moments.targets.any(), "the target is the same in every row; there is nothing to learn")
        require(
            moments.whole.total_weight == moments.n_samples >= LEAST_ROWS,
            f"a forecast needs moments of at least {LEAST_ROWS} rows, without sample_weight",
        )
        return Sample(moments, None)
    table = _read_features(X)
    n, M = table.shape
    refuse_beyond_memory(f"a table of {n:,} × {M:,} numbers", 8.0 * n * M, "take fewer rows or features")
    if truth("standardise", standardise):
        table = StandardScaler(with_mean=False).fit_transform(table)
    target = read_target(y)
    require(
        len(target) == n, f"y must have an entry or a row for each of the {counted(n, 'row')} of X, got {len(target)}"
    )
    require(n >= LEAST_ROWS, f"X has {counted(n, 'row')}; a pilot needs at least {LEAST_ROWS}")
    lacking = missing_targets(target).sum()
    require(not lacking, f"y lacks {lacking} labels; drop those rows")
    notes = list[str]()
    labels, class_names = target_rows(target, task, notes)
    if notes:
        warnings.warn(ClassCodesWarning(f"y: {notes[0]}"), stacklevel=3)
    sets = None if groups is None else left_out_groups(groups, n)
    if sets is None:
        kept = _without_copies(table, labels)
        if copies := n - len(kept):
            what = agreeing(copies, "is a copy of another", "are copies of others")
            warnings.warn(
                f"{copies:,} of {counted(n, 'row')} {what}, label included; if one is left out, its label stays in the "
                "sample, and errors come out too small: copies are not used here",
                CopiedRowsWarning,
                stacklevel=3,
            )
            table = table[kept]
            labels = labels[:, kept]
    rows = training_rows(table, labels, None, fit_intercept, sets)
    centred = rows.centred_targets[0]
    is_small = centred.any() and float((centred**2).sum()) < _SMALLEST
    require(not is_small, "y holds numbers so small that their fourth powers vanish; multiply y by a constant")
    columns = getattr(X, "columns", None)  # of a frame
    warn_of_rows(rows, None if columns is None else [str(name) for name in columns], stacklevel=3)
    warn_once([rare_columns(rows)], stacklevel=3)
    return Sample(rows, class_names)


def _read_features(X: MatrixLike) -> FloatArray | SparseMatrix:
    """X as float64, shape (n, M); errors of scikit-learn become the package's own."""
    refuse_odd_table("X", X)
    try:
        table: FloatArray | SparseMatrix = check_array(
            X, accept_sparse=("csr", "csc"), dtype=float, input_name="X", ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(":.")
        raise DataError(f"X must be a table of numbers, shape (n, M): {reason}") from error
    values = csr_array(table).data if is_sparse(table) else table
    for odd, found in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
        require(
            not found.any(),
            f"X contains {odd} in {counted(found.sum(), 'place')}; drop those rows or fill them in, for "
            "example with sr.datasets.read_table(..., missing='drop')",
        )
    return table


def _without_copies(table: FloatArray | SparseMatrix, targets: FloatArray) -> IntArray:
    """Numbers of the rows to keep: copies are dropped unless equal rows may be a coincidence.

    They are no coincidence if rows with the same features always have the same label, and if the label or a feature
    seldom repeats in the other rows, or there are more features than rows.
    """
    dense = table.toarray() if is_sparse(table) else np.asarray(table)
    everything = np.arange(len(dense))
    if any(len(np.unique(column)) == len(dense) for column in dense[:, :_LOOKED_AT].T):  # no row repeats
        return everything
    both = np.column_stack([dense, targets.T])
    _, first = np.unique(both, axis=0, return_index=True)
    distinct = len(first)
    has_one_label = len(np.unique(dense, axis=0)) == distinct
    is_rare = dense.shape[1] >= distinct or any(2 * len(np.unique(column)) > distinct for column in both.T)
    return np.sort(first) if has_one_label and is_rare and distinct >= LEAST_ROWS else everything


def read_sizes(name: str, n_samples: Any) -> FloatArray:
    """Checked sample sizes n′ ≥ 2, which may be infinite; shape (S,)."""
    sizes: FloatArray = pd.unique(np.ravel(real_array(name, n_samples)))
    whole = (sizes >= 2) & (np.isinf(sizes) | ((sizes == np.floor(sizes)) & (sizes < _MOST)))
    if not sizes.size or not whole.all():
        raise ParameterError(
            f"{name} must be integers of at least 2 and below 1e15 (or inf), got "
            f"{listed(f'{size:.17g}' for size in sizes[~whole]) or 'none'}"
        )
    return sizes


def read_ensembles(ensembles: Mapping[str, Ensemble], n_features: int, seed: Seed | None) -> dict[str, Ensemble]:
    """Check every ensemble and draw the subsets of strategies; ridges and readout noise then have shape (k,)."""
    checked_seed("seed", seed)
    if not isinstance(ensembles, Mapping) or not ensembles:
        raise ParameterError("ensembles must be a mapping from names to Ensemble objects, with at least one")
    drawn = {}
    for key, ensemble in ensembles.items():
        name = f"ensembles[{key!r}]"
        of_kind(name, ensemble, Ensemble)
        refuse_row_fractions(ensemble, "a forecast from rows")
        aggregation, subsets = ensemble.aggregation, ensemble.subsets
        plan = subsets.draw(n_features, stream(seed)) if isinstance(subsets, Strategy) else ensemble.plan
        if plan.n_features != n_features:
            raise SubsetError(f"{name} is a plan for {counted(plan.n_features, 'feature')}, but X has {n_features}")
        if ensemble.ridge.ndim > 1 or ensemble.readout_noise.ndim > 1:
            raise ParameterError(f"{name} sweeps its ridge or noise; give ridges= to compare ridges")
        trainable(f"ridge of {name}", ensemble.ridge)
        if not aggregation.is_linear:
            raise ParameterError(
                f"{name} has aggregation={aggregation.name!r}, but only weighted sums of members can be forecast; use "
                '"mean", "scaled", "simplex" or "free", which for classes include a forecast of majority votes'
            )
        if aggregation.per_target:
            raise ParameterError(f"{name} has weights for each target, which cannot be forecast; use per_target=False")
        ridge, noise = (np.broadcast_to(each, (plan.n_members,)) for each in (ensemble.ridge, ensemble.readout_noise))
        drawn[str(key)] = Ensemble(plan, ridge, noise, aggregation)
    if len(drawn) < len(ensembles):
        raise ParameterError(f"ensembles must have names that differ as text, got {list(ensembles)!r}")
    return drawn


def refuse_large_pilots(rows: TrainingRows, plans: Sequence[SubsetPlan], n_sizes: int = 0) -> None:
    """Refuse ensembles whose factors would not fit into memory; each worker holds those of one ensemble.

    If targets are judged one by one, at `n_sizes` sizes, there are results for each, and fewer left-out errors at once.
    """
    C, n = rows.targets.shape
    members = [plan.n_members for plan in plans]
    factors = [n * np.minimum(plan.subset_sizes, n).sum() for plan in plans]
    # Of left-out errors, their products, and parts of both.
    tables = [_TABLES * max(_TABLE, n * k * (1 if n_sizes else C)) for k in members]
    held = sorted(map(sum, zip(factors, tables, strict=True)))[-workers_for(len(plans)) :]
    results = C * n_sizes * sum(_RESULTS + 2 * k for k in members)
    # The features are copied five times, the targets eight times.
    needed = 8.0 * (n * (5 * len(rows.feature_means) + 8 * C) + sum(held) + results)
    what = f"a pilot of {counted(n, 'row')} in {counted(len(plans), 'ensemble')}"
    refuse_beyond_memory(what, needed, "take fewer rows or features, or fewer and smaller members")


@dataclass(frozen=True, eq=False)
class Pilot:
    """The members of one ensemble, factorised on the n rows of a sample; made by `factorise_pilot`."""

    members: Sequence[MemberFit]
    rows: TrainingRows
    plan: SubsetPlan
    per_target: bool = False  # targets are judged one by one, and not by the sum of their errors

    @property
    def n_judged(self) -> int:
        """C if targets are judged one by one, else 1."""
        return len(self.rows.targets) if self.per_target else 1

    def of(self, some: IntArray) -> "Pilot":
        """The pilot with some of the targets, by number; itself if they are judged together."""
        return replace(self, rows=replace(self.rows, targets=self.rows.targets[some])) if self.per_target else self

    def parts(self, some: IntArray, n_penalties: int) -> list[IntArray]:
        """Some targets in parts whose left-out errors, at so many penalties, fit into one table."""
        size = max(1, _TABLE // (len(self.members) * self.rows.n_samples * n_penalties))
        return np.split(some, range(size, len(some), size))

    @property
    def targets(self) -> FloatArray:
        """Centred labels, shape (C, n)."""
        return self.rows.centred_targets[0]

    def with_constant(self) -> "Pilot":
        """The pilot with one more member, a constant predictor that outputs the mean of the labels.

        The error of a sum ``Σ_r w_r f_r`` of outputs less that mean is ``Σ_r w_r e_r + (1 - Σ_r w_r) e_0`` with
        e_0 = y - ȳ. So together with the constant predictor any weights sum to one. The variance of the target, E_00,
        and its products with the errors of members, E_0r, are then pairs like any others.
        """
        fit = self.members[0]
        constant = replace(fit, known_left=fit.left[:0], spectrum=fit.spectrum[:0], right=None)
        return replace(self, members=[*self.members, constant])

    def penalties(self, ridges: FloatArray) -> FloatArray:
        """``λ_r N_r`` of all members from ridges (T, k); 0 for a constant predictor, if one follows the others."""
        return np.pad(ridges * self.plan.subset_sizes, ((0, 0), (0, len(self.members) - ridges.shape[1])))

    @np.errstate(invalid="ignore")  # without ridge
    def reach(self, ridges: FloatArray) -> FloatArray:
        """The largest size that each member can be forecast at, ``n + p/κ̄(n, 0)``; shape (..., k)."""
        members = self.members[: self.plan.n_members]  # a constant predictor has no limit
        sums = np.array([(1 / fit.spectrum).sum() if fit.spans_samples else np.inf for fit in members])
        limits = self.rows.n_samples + ridges * self.plan.subset_sizes * sums
        return np.where(np.isinf(sums), np.inf, limits)

    def left_out(self, penalties: FloatArray) -> Iterator["LeftOut"]:
        """Left-out errors at a table of penalties, shape (T, k), in blocks that fit into memory.

        Targets that are judged one by one have a row each: T times C rows.
        """
        block = max(1, _TABLE // (len(self.members) * self.targets.size))
        for start in range(0, len(penalties), block):
            part = penalties[start : start + block]
            found = [fit.left_out(part[:, r], self.targets, doubted=False).errors for r, fit in enumerate(self.members)]
            places = np.arange(start, start + len(part)).repeat(self.n_judged)
            errors = np.stack(found, axis=1 + self.per_target) / self.rows.root_weights
            errors = errors.reshape(len(places), len(found), -1, errors.shape[-1])
            yield LeftOut(self, places, penalties[places], errors)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Left-out errors at t rows of a table of penalties."""

    pilot: Pilot
    places: IntArray  # their rows of the table, (t,)
    penalties: FloatArray  # shape (t, k)
    errors: FloatArray  # shape (t, k, C, n), C = 1 if targets are judged one by one

    @cached_property
    def pairs(self) -> FloatArray:
        """``E_rr′ + ζ²`` at the pilot's size, summed over targets; shape (t, k, k)."""
        flat = self.errors.reshape(*self.errors.shape[:2], -1)
        return np.asarray(flat @ flat.transpose(0, 2, 1) / self.errors.shape[-1])


def factorise_pilot(rows: TrainingRows, plan: SubsetPlan) -> Pilot:
    """Factorise the members of a plan. A member whose columns are all constant predicts the mean."""
    members = list(factorise_members(rows, plan, gram_limit=PILOT_GRAM_LIMIT))
    require(
        any(fit.spectrum.size for fit in members),
        "the members see only constant columns in the pilot; give X columns that vary",
    )
    return Pilot(members, rows, plan)


def together(noise: Mapping[str, FloatArray]) -> dict[str, float]:
    """Attributes of results: the label noise of all targets together, with its bounds."""
    return {name: float(np.sqrt((values**2).sum())) for name, values in noise.items()}


def noise_of_targets(rows: TrainingRows) -> dict[str, FloatArray]:
    """Estimate ζ of each target, the part of its labels that no linear predictor of all features explains; (C,) each.

    The model: weights have variances that are a power of the spectrum, so that the centred labels are Gaussian with
    covariance ``ζ²(I + h K^g)``, where K = FFᵀ is the kernel of all features. The restricted likelihood is a sum over
    eigenvalues of K. ζ² is averaged over a grid of (g, h) with this likelihood, because its maximum is often at ζ = 0
    for fewer rows than features. The interval, of 90 %, comes from the profile likelihood. Nonlinear effects of the
    features on the labels count as noise.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((150, 100))
    >>> y = X @ rng.standard_normal(100) + 2 * rng.standard_normal(150)
    >>> noise = noise_of_targets(training_rows(X, y[None]))
    >>> bool(noise["label_noise_lower"][0] < 2 < noise["label_noise_upper"][0])
    True
    """
    M = len(rows.feature_means)
    (fit,) = factorise_pilot(rows, SubsetPlan.from_indices([np.arange(M)], M)).members
    parts = np.split(rows.centred_targets[0], range(_SOME, len(rows.targets), _SOME))
    found = np.sqrt(np.concatenate([_noise(fit, rows.room, some) for some in parts], axis=1))
    return dict(zip(("label_noise", "label_noise_lower", "label_noise_upper"), found, strict=True))


def _noise(fit: MemberFit, freedom: int, y: FloatArray) -> FloatArray:
    """ζ² of some targets, (C, n), and its bounds; shape (3, C)."""
    inside = (y @ fit.left.T) ** 2  # (C, ρ)
    rest = np.maximum((y**2).sum(axis=1) - inside.sum(axis=1), 0.0) * (freedom > len(fit.spectrum))
    strengths = np.exp(np.linspace(-12.0, 24.0, 241))[:, None]  # h times the largest eigenvalue to the power g
    parts = []
    for power in np.arange(0.5, 3.01, 0.25):
        stretch = 1 + strengths * (fit.spectrum / fit.spectrum[-1]) ** power
        best = (inside @ (1 / stretch).T + rest[:, None]) / freedom  # ζ² for every h, (C, strengths)
        parts.append((best, freedom * np.log(np.maximum(best, 1e-300)) + np.log(stretch).sum(axis=1)))
    variances, misfit = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    misfit = np.maximum(misfit - misfit.min(axis=1, keepdims=True), 0.0)  # minus twice the log-likelihood
    likelihood = np.exp(-0.5 * misfit)
    mean = (likelihood * variances).sum(axis=1) / likelihood.sum(axis=1)
    kept = np.ma.masked_where(misfit > chi2.ppf(0.9, 1), variances)
    own = np.exp(np.sqrt(2 / freedom))  # for given h the variance has a χ² distribution
    return np.stack([mean, kept.min(axis=1).data / own, kept.max(axis=1).data * own])


def workers_for(n_tasks: int) -> int:
    """Threads for so many tasks."""
    from joblib import cpu_count  # takes a while

    return max(1, min(n_tasks, int(cpu_count()), _MOST_WORKERS))


def side_by_side(work: Callable[[Work], Result], tasks: Iterable[Work]) -> list[Result]:
    """Results of `work` on every task, in threads; a terminal shows the progress, on `shown_bar` if it is set.

    Ensembles are independent and their matrices small: one core for each is faster than all cores on one.
    """
    tasks = list(tasks)
    results = []
    workers = workers_for(len(tasks))
    with blas_threads(1 if workers > 1 else None), ThreadPoolExecutor(workers) as pool, LateBar("ensembles", 1) as late:
        bar = shown_bar.get() or late
        for result in pool.map(work, tasks):
            results.append(result)
            bar.move(1 / len(tasks))
    return results

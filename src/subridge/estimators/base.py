"""Common parts of the estimators: checks of input, the description of the ensemble, the fit and predictions.

Arrays, tables and sparse matrices follow scikit-learn's rules, tensors those of this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from subridge.arrays.namespace import is_lazy, is_sparse, is_tensor, is_wide, like, namespace_of, select_rows, to_numpy
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray, MatrixLike
from subridge.estimators.blocks import LARGEST_WEIGHT, disk_columns, refuse_unwritten, written_map
from subridge.estimators.members import Features, FittedMembers, LeftOutEnsemble
from subridge.model.aggregation import AGGREGATIONS, Aggregation, Mean, Summed
from subridge.model.checks import (
    SCOPES,
    Scope,
    finite_array,
    one_number,
    one_of,
    positive_integer,
    refuse_large_entries,
    refuse_odd_table,
    refuse_odd_values,
    truth,
    within,
)
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import (
    DataError,
    ParameterError,
    RidgePathWarning,
    SubridgeWarning,
    SubsetError,
    WorseThanOneRidgeWarning,
    counted,
)
from subridge.model.spaces import Spaces, read_columns, read_spaces
from subridge.model.subsets import STRATEGIES, Strategy, StrategyOptions, read_strategy
from subridge.ridge.candidates import MEMBERS, Choice, affordable, choose_ensemble, offers
from subridge.ridge.checks import correlated_rows, unequal_scales, warn_of_rows, warn_once
from subridge.ridge.choose import SURE_OF_SCALE, paired, scored, squares_of, trainable
from subridge.ridge.columns import ColumnRows, DiskColumns, column_rows
from subridge.ridge.judge import Candidate, Offer, judge, tuned
from subridge.ridge.moments import LEAST_REST, MomentBatches, RowMoments, moment_rows, moments_of, pieces_of, thinned
from subridge.ridge.row_subsets import draw_rows, part_of_rows
from subridge.ridge.rows import LeftOutSets, TrainingRows, left_out_groups, left_out_windows, training_rows

if TYPE_CHECKING:  # scikit-learn has no types, and an untyped base class would hide the types of parameters
    from sklearn.utils import Tags

    class BaseEstimator:
        """All attributes of scikit-learn's class."""

        def __getattr__(self, name: str) -> Any: ...

        def __sklearn_tags__(self) -> Tags: ...

    class ClassifierMixin:
        """Scoring by accuracy."""

    class RegressorMixin:
        """Scoring by R²."""

    class MultiOutputMixin:
        """Several targets."""
else:
    from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin  # noqa: F401

_WORSE = 1.1  # times the error of one ridge, above which a requested ensemble gets a warning
_FILLED = "fill the gaps, for example with sklearn.impute.SimpleImputer, or drop those rows"
_LEFT_OUT = f'missing="drop-members" predicts with the members that see no gap; or {_FILLED}'

# Labels of classes: numbers, text or truth values.
Labels: TypeAlias = npt.NDArray[Any]
ClassWeight: TypeAlias = Mapping[int, float] | Mapping[str, float] | Literal["balanced"] | None
# Explicit subsets: a plan, one list of columns (or a mask) per member, or such lists by name.
_Known: TypeAlias = SubsetPlan | Spaces | Sequence[ArrayLike]
# Values of `subsets`: explicit ones, the name of a strategy, a strategy, or a function of (n_features, rng).
Subsets: TypeAlias = str | _Known | Strategy | Callable[[int, np.random.Generator], _Known]
Missing: TypeAlias = Literal["raise", "drop-members"]


# -- checks of input ------------------------------------------------------------------------------


def training_input(
    estimator: Any, X: MatrixLike, y: ArrayLike | None, *, reset: bool, numeric: bool
) -> tuple[Features, Labels]:
    """X as float64 in its own library, and labels: float64 in that of X, shape (n,) or (n, C), or classes, (n,).

    With `reset` the estimator forgets an earlier fit and gets ``n_features_in_`` and ``feature_names_in_``; later
    batches of a stream must look like the first.
    """
    if reset:
        estimator._forget()
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if is_sparse(y):
        raise DataError("y is a sparse matrix; give labels as an array, y.toarray()")
    kind = y.dtype.kind if isinstance(y, np.ndarray) else None
    if np.ma.is_masked(y) or kind == "V" or (numeric and kind != "c" and not is_tensor(y)):
        refuse_odd_values("y", y)
    if not numeric and kind in (None, "O", "M", "m") and not is_tensor(y):
        from pandas import isna  # takes a while, and classes are mostly arrays of numbers or text

        if (missing := np.count_nonzero(isna(np.asarray(y, dtype=object)))) > 0:
            raise DataError(f"y contains NaN or None in {missing} places; drop those rows, or name a class for them")
    if is_tensor(X):
        features = checked_features(estimator, X, reset)
        labels = like(y, features) if numeric else to_numpy(y)
        if labels.ndim not in (1, 2) or len(labels) != X.shape[0]:
            raise DataError(f"y must have {X.shape[0]} rows like X, got shape {tuple(labels.shape)}")
        if numeric and not namespace_of(labels).isfinite(labels).all():
            raise DataError("y contains NaN or infinity; replace or drop those rows")
    else:
        features, labels = checked_features(estimator, X, reset, y=y, multi_output=numeric, y_numeric=numeric)
    if numeric:
        return features, labels if is_tensor(X) else labels.astype(float, copy=False)
    check_classification_targets(labels)
    return features, column_or_1d(labels, warn=True)


def checked_features(estimator: Any, X: MatrixLike, reset: bool, allow_nan: bool = False, **labels: Any) -> Any:
    """X as float64 in its own library; if X is not a tensor and labels are given, X and labels."""
    if is_lazy(X) or isinstance(X, MomentBatches):
        raise DataError(
            f"X is a table in blocks or its moments, which {type(estimator).__name__} does not accept here; give "
            "blocks in memory, or use RidgeEnsembleRegressor, which fits both and predicts tables"
        )
    if not is_tensor(X):
        refuse_odd_table("X", X)
        try:
            found = validate_data(
                estimator,
                X,
                reset=reset,
                dtype=float,
                accept_sparse=("csr", "csc"),
                ensure_all_finite="allow-nan" if allow_nan else True,
                **labels,
            )
        except ValueError as error:
            if "Input y contains" in str(error):
                raise DataError("y contains NaN or infinity; replace or drop those rows") from error
            if "X contains NaN" not in str(error):
                raise
            # scikit-learn's message recommends other estimators
            may_drop = not labels and hasattr(estimator, "missing") and not getattr(estimator, "per_target", False)
            raise DataError(f"X contains NaN; {_LEFT_OUT if may_drop else _FILLED}") from error
        features = found[0] if labels else found
        refuse_large_entries("X", features.data if is_sparse(features) else features)
        return found
    xp = namespace_of(X)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must be a tensor of shape (n_samples, n_features) with neither zero, got {tuple(X.shape)}")
    if not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise DataError(f"X must hold real numbers, got {X.dtype}")
    X = xp.astype(X.detach(), xp.float64)
    if xp.any(xp.isinf(X)) or (not allow_nan and xp.any(xp.isnan(X))):
        raise DataError("X contains NaN or infinity; replace or drop those rows")
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise DataError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def row_weights(
    sample_weight: ArrayLike | None, n_samples: int, labels: Labels | None = None, class_weight: ClassWeight = None
) -> FloatArray:
    """Weights of the rows times those of their classes, shape (n,); negative ones are refused."""
    if sample_weight is None:
        sample_weight = np.ones(n_samples)
    if class_weight is not None:
        sample_weight = compute_sample_weight(class_weight, labels) * to_numpy(sample_weight)
    given = finite_array("sample_weight", to_numpy(sample_weight) if is_tensor(sample_weight) else sample_weight)
    if not given.any():
        raise DataError("sample_weight is zero for every row; at least one must be positive")
    weights: FloatArray = _check_sample_weight(
        given if given.ndim else float(given), np.empty((n_samples, 0)), dtype=float, ensure_non_negative=True
    )
    least = weights[weights > 0].min()
    most = weights.max()
    if least < 1 / LARGEST_WEIGHT or most > LARGEST_WEIGHT:
        raise DataError(
            f"sample_weight runs from {least:g} to {most:g}, where sums leave the range of floats; positive weights "
            f"must lie between {1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
        )
    if 0 < np.partition(weights, -1)[:-1].sum() < LEAST_REST * most:
        raise DataError(
            f"sample_weight of row {weights.argmax()} is so large that the others vanish in rounding; lower it"
        )
    return weights


def number_of_rows(max_samples: float, n_samples: int, fit_intercept: bool) -> int:
    """How many of n rows a member sees, from a number (int) or a share of them (float).

    >>> number_of_rows(0.25, 40, True), number_of_rows(12, 40, True), number_of_rows(1.0, 40, True)
    (10, 12, 40)
    """
    if isinstance(max_samples, int | np.integer):
        number = positive_integer("max_samples", max_samples)
        if number > n_samples:
            raise ParameterError(f"max_samples={number} exceeds the {n_samples} rows; give at most that, or a share")
    else:
        number = round(one_number("max_samples", within("max_samples", max_samples, 0.0, 1.0)) * n_samples)
    if number < 1 + fit_intercept:
        raise ParameterError(
            f"max_samples={max_samples!r} leaves a member {number} of {n_samples} rows; it needs at least "
            f"{1 + fit_intercept}"
        )
    return number


def weighted_rows(X: Features | DiskColumns, targets: Array, weights: FloatArray) -> tuple[Any, Array, Array | None]:
    """Rows of positive weight, in the library of X; others have no effect, and do not count as samples.

    Weights that are all one become None.
    """
    example = targets if isinstance(X, DiskColumns) else X
    if (weights == 1).all():
        return X, like(targets, example), None
    kept = np.flatnonzero(weights)
    if isinstance(X, DiskColumns):
        X = replace(X, kept=X.kept[kept])
    elif len(kept) < len(weights):
        X = X[kept] if is_sparse(X) else select_rows(X, kept)
    return X, like(targets[:, kept], example), like(weights[kept], example)


def left_out_sets(groups: ArrayLike | None, gap: int, weights: FloatArray, n_samples: int) -> LeftOutSets | None:
    """The left-out sets by `groups`, shape (n,), or `gap`, of the rows of positive weight; None for single rows."""
    steps = 0 if isinstance(gap, int) and gap == 0 else positive_integer("gap", gap, 10**9)
    if groups is not None and steps:
        raise ParameterError(
            f"groups were given and gap={gap}: groups leave out whole groups, a gap leaves out neighbours in time; "
            "use one of them"
        )
    kept = np.flatnonzero(weights)
    if groups is not None:
        sets = left_out_groups(groups, n_samples, kept)
        return None if sets.largest == 1 else sets
    return left_out_windows(steps, kept) if steps else None


def aggregation_of(name: str, value: str | Aggregation, *, decides_classes: bool) -> Aggregation:
    """The aggregation of a parameter's value, of the kind that gives numbers or the kind that decides classes.

    >>> aggregation_of("voting", "sum", decides_classes=True).name
    'sum'
    """
    known = {each.name: each for each in AGGREGATIONS.values() if each.decides_classes == decides_classes}
    found = known.get(value) if isinstance(value, str) else value
    if not isinstance(found, Aggregation) or found.decides_classes != decides_classes:
        raise ParameterError(
            f"{name} must be one of {', '.join(known)}, {'equal' if name == 'score_weights' else 'auto'}, or such an "
            f"Aggregation, got {value!r}"
        )
    return found


def per_target(aggregation: Aggregation) -> Aggregation:
    """The aggregation with separate weights for each target."""
    if "per_target" not in (each.name for each in fields(aggregation)):
        raise ParameterError(
            f"weights for each target or class need fitted weights, got aggregation={aggregation.name!r}; "
            'use "scaled", "simplex" or "free"'
        )
    return replace(aggregation, per_target=True)  # type: ignore[call-arg]


# -- one ridge, for comparison --------------------------------------------------------------------


def one_ridge(rows: TrainingRows, ridges: ArrayLike | None, aggregation: Aggregation) -> Candidate:
    """One ridge on all features, chosen by left-out errors, without warnings, because the user did not ask for it."""
    with warnings.catch_warnings(action="ignore", category=SubridgeWarning):
        return choose_ensemble(
            rows, offers(rows.column_squares > 0, (), (), ()), [aggregation], ridges, "ensemble"
        ).kept[0]


def errors_by_scale(
    X: FloatArray, targets: FloatArray, groups: ArrayLike | None = None, ridges: ArrayLike | None = None
) -> tuple[float, float, float]:
    """Left-out errors of one ridge on X as it is and standardised, and the standard error of their difference.

    X has shape (n, M) and `targets` (C, n). The difference is taken row by row, or group by group. This searches two
    ridges, which is faster than a forecast or advice.

    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> plain, scaled, error = errors_by_scale(X * [1, 1000], X[None, :, 0])
    >>> plain - scaled > 2 * error
    True
    """
    together = None if groups is None else left_out_groups(groups, len(X))
    rows = training_rows(X, targets, None, True, together)
    plain = one_ridge(rows, ridges, Mean())
    scaled = one_ridge(
        training_rows(StandardScaler(with_mean=False).fit_transform(X), targets, None, True, together), ridges, Mean()
    )
    return plain.error, scaled.error, paired(scaled.squares[None], plain.squares[None], rows)[1].item()


# -- the estimator --------------------------------------------------------------------------------


class RidgeEstimator(BaseEstimator):
    """The base of `BandedRidge` and the ensembles: a reset before each fit, and scikit-learn's tags."""

    def _forget(self) -> None:
        """Forget an earlier fit, so that a failed fit cannot predict; a stream still needs the classes."""
        private = ("_members", "_moments", "_left_out", "_by_target", "_has_one_target")
        for name in [name for name in vars(self) if name in private or (name[-1] == "_" and name != "classes_")]:
            delattr(self, name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not {each.name for each in fields(self)} & set(self._get_param_names()) <= set(state):  # type: ignore[arg-type]
            raise DataError(
                f"this {type(self).__name__} lacks some of its parameters, as those pickled by subridge 0.2.0 or older "
                "do; make and fit it again"
            )
        super().__setstate__(state)  # type: ignore[misc]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ridge_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeEnsembleBase(RidgeEstimator):
    """Members, ridges and streams; subclasses add targets, aggregation and public attributes."""

    n_estimators: int | Literal["auto"] = field(default="auto", kw_only=False)
    subsets: Subsets = "auto"
    fraction_spread: float = 0.75
    subset_sizes: ArrayLike | None = None
    ridge: ArrayLike | Literal["auto"] = "auto"
    ridge_scope: Scope = "ensemble"
    ridges: ArrayLike | None = None
    fit_intercept: bool = True
    readout_noise: ArrayLike = 0.0
    scoring: str | None = None
    gap: int = 0
    max_samples: float = 1.0
    missing: Missing = "raise"
    random_state: int | np.random.RandomState | None = None

    # -- describing the ensemble ------------------------------------------------------------------

    def _seeds(self) -> tuple[int, int]:
        """Check the parameters that need no data, and draw the seeds of the subsets and of everything else."""
        truth("fit_intercept", self.fit_intercept)
        one_of("ridge_scope", self.ridge_scope, SCOPES)
        if isinstance(self.ridge, str) and self.ridge != "auto":
            raise ParameterError(
                f"ridge must be a number, one per member, or 'auto' (see ridge_scope), got {self.ridge!r}"
            )
        one_of("missing", self.missing, get_args(Missing))
        if not isinstance(self.n_estimators, str) or self.n_estimators != "auto":
            positive_integer("n_estimators", self.n_estimators)
        first, second = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        return int(first), int(second)

    def _refuse(self, names: Sequence[str], reason: str) -> None:
        """Refuse parameters that are not at their defaults, and the score of absolute errors."""
        asked = [name for name in names if (np.asarray(getattr(self, name)) != getattr(type(self), name)).any()]
        asked += ["scoring"] * (self.scoring == "neg_mean_absolute_error")
        if asked:
            raise ParameterError(f"{asked[0]}={getattr(self, asked[0])!r} {reason}")

    def _families(self, varying: BoolArray, seed: int) -> list[list[Offer]]:
        """The candidates: with "auto", left-out errors choose the number of members and the kind of subsets.

        `varying`, shape (M,), is true for features that vary. A given number of members is drawn once, heterogeneous if
        the kind is "auto".
        """
        M = len(varying)
        name = self.subsets
        if not isinstance(name, str):
            return [[Offer("the given subsets", "given", self._given_plan(M, np.random.default_rng(seed)))]]
        is_open = isinstance(self.n_estimators, str)
        if self.subset_sizes is not None and name not in ("overlapping", "projection"):
            raise ParameterError(
                f"subset_sizes={self.subset_sizes!r} has no effect on subsets={name!r}; use subsets='overlapping' or "
                "'projection', or leave it out"
            )
        numbers = [k for k in MEMBERS if k <= M] if is_open else [min(int(self.n_estimators), M)]
        if name == "auto" and (is_open or numbers == [1]):
            return list(offers(varying, MEMBERS if is_open else (), seed=seed))
        kind = "dirichlet" if name == "auto" else name
        rng = np.random.default_rng(seed)
        options = (StrategyOptions(k, M, self.fraction_spread, self.subset_sizes) for k in numbers)
        plans = (read_strategy(kind, each).draw(M, rng) for each in options)
        drawn = [Offer(f"{plan.n_members} {kind}", kind, plan, self.fraction_spread) for plan in plans]
        return [*list(offers(varying, (), (), (), seed))[:is_open], drawn]

    def _draw_rows(self, families: list[list[Offer]], rows: TrainingRows, seed: int) -> None:
        """Add the rows that members see to the offers; one ridge that is compared with ensembles sees all rows."""
        n = rows.n_samples
        number = number_of_rows(self.max_samples, n, self.fit_intercept)
        if number == n:
            return
        if rows.left_out is not None or rows.given is None:
            raise ParameterError(
                "max_samples needs rows in memory that are left out singly, and cannot be used with groups or a gap; "
                "use max_samples=1.0"
            )
        for family in families:
            family[:] = [
                each
                if each.strategy == "single" and isinstance(self.n_estimators, str)
                else replace(each, row_sets=draw_rows(n, number, each.plan.n_members, seed))
                for each in family
            ]

    def _given_plan(self, n_features: int, rng: np.random.Generator) -> SubsetPlan:
        """The subsets that a user gives as a plan, a strategy, lists of features, or a function that draws them."""
        draw = self.subsets.draw if isinstance(self.subsets, Strategy) else self.subsets
        try:
            drawn = draw(n_features, rng) if callable(draw) else draw
        except TypeError as error:
            raise SubsetError(f"subsets, a strategy or a function of (n_features, rng), failed: {error}") from error
        if isinstance(drawn, SubsetPlan):
            if drawn.n_features != n_features:
                raise SubsetError(
                    f"subsets is a plan for {counted(drawn.n_features, 'feature')}, but X has {n_features}"
                )
            return drawn
        names = getattr(self, "feature_names_in_", None)
        if isinstance(drawn, Mapping):
            drawn = list(read_spaces(drawn, n_features, names).values())
        if not isinstance(drawn, Sequence | np.ndarray):
            raise SubsetError(
                f"subsets must be one of auto, {', '.join(STRATEGIES)}, a SubsetPlan, a strategy, a mapping from names "
                f"to columns, lists of columns or a callable, got {self.subsets!r}"
            )
        if len(drawn) and all(
            isinstance(each, Iterable) and getattr(each, "ndim", 1) and isinstance(next(iter(each), None), str)
            for each in drawn
        ):
            drawn = [read_columns(f"member {r}", each, n_features, names) for r, each in enumerate(drawn)]
        return SubsetPlan.from_indices(drawn, n_features)

    def _per_member(self, name: str, values: FloatArray, families: list[list[Offer]]) -> FloatArray:
        """The values of a parameter, one for all members or one for each."""
        k = {offer.plan.n_members for family in families for offer in family}
        if values.shape in ((), (1,)):
            return values.reshape(())
        if {values.shape} == {(each,) for each in k}:
            return values
        members = f" or one per member ({k.pop()})" if len(k) == 1 else ", because n_estimators='auto'"
        raise ParameterError(f"{name} must be a number{members}, got shape {values.shape}")

    def _given_ridges(self, families: list[list[Offer]]) -> FloatArray | None:
        """The ridges that a user gives, shape () or (k,); None if they are searched for."""
        if isinstance(self.ridge, str):
            return None
        return self._per_member("ridge", trainable("ridge", self.ridge), families)

    # -- fitting ----------------------------------------------------------------------------------

    def _training_rows(
        self, X: Features | DiskColumns, targets: Array, weights: FloatArray, groups: ArrayLike | None
    ) -> TrainingRows:
        """Rows of positive weight, centred, with the sets that are left out together; warnings are given about them."""
        together = left_out_sets(groups, self.gap, weights, X.shape[0])
        X, y, w = weighted_rows(X, targets, weights)
        if X.shape[0] < 1 + self.fit_intercept:
            raise DataError(
                f"n_samples={X.shape[0]} sample leaves nothing to fit beside the intercept; give at least two, "
                "or set fit_intercept=False"
            )
        if isinstance(X, DiskColumns):
            rows: TrainingRows = column_rows(X, y, w, self.fit_intercept, together)
            warn_once([unequal_scales(rows.column_squares)], stacklevel=4)
        else:
            rows = training_rows(X, y, w, self.fit_intercept, together)
            warn_of_rows(rows, getattr(self, "feature_names_in_", None), stacklevel=4)
        return rows

    def _fit(
        self,
        X: Features | DiskColumns,
        targets: FloatArray,
        weights: FloatArray,
        groups: ArrayLike | None,
        aggregations: Sequence[Aggregation],
    ) -> LeftOutEnsemble:
        """Choose subsets, ridges and weights, keep the members, and return the ensemble without each left-out row."""
        seeds = self._seeds()
        rows = self._training_rows(X, targets, weights, groups)
        families = self._families(rows.column_squares > 0, seeds[0])
        rng = np.random.default_rng(seeds[1])
        self._draw_rows(families, rows, seeds[1])
        eta = self._per_member("readout_noise", within("readout_noise", self.readout_noise, 0.0, 1e100), families)

        @cache
        def noise_of(k: int) -> Array | None:
            """ξ_r of training, shape (k, C, n)."""
            if not eta.any():
                return None
            return like(
                np.broadcast_to(eta, (k,))[:, None, None] * rng.standard_normal((k, *rows.targets.shape)), rows.targets
            )

        fixed = self._given_ridges(families)
        choice = choose_ensemble(
            rows, families, aggregations, self.ridges, self.ridge_scope, self.scoring, fixed, noise_of
        )
        pool = list(choice.kept.values())
        taken = choice.kept[choice.taken]
        outputs, error = judge(pool, pool.index(taken))
        if self.ridge_scope == "joint" and fixed is None and len(taken.places) > 1:
            # So many choices from few rows may increase the error, so joint ridges must be better by some margin.
            common = tuned(taken.offer, taken.name, taken.ridges, taken.chooser, "ensemble", taken.losses.aggregation)
            other_outputs, other_error = judge([common])
            own, other = (squares_of(each[None, ...], taken.losses) for each in (outputs, other_outputs))
            gain, noise = paired(own, other, rows)
            if not gain[0] > SURE_OF_SCALE * noise[0]:
                taken = common
                outputs = other_outputs
                error = other_error
        is_asked_for = isinstance(self.subsets, str) and not isinstance(self.n_estimators, str)
        if fixed is None and is_asked_for and len(taken.places) > 1:
            self._warn_if_worse(rows, choice)
        self.choice_ = replace(choice, kept={})
        sets = taken.offer.row_sets
        if sets is not None:
            self.estimators_samples_ = [np.flatnonzero(weights)[seen] for seen in sets]
        self._keep_candidate(rows, taken, error)
        self._left_out = LeftOutEnsemble(
            rows=replace(rows, given=None),  # a fitted estimator does not keep X
            errors=taken.losses.errors(taken.places[None])[0],
            noise=noise_of(len(taken.places)),
            ensemble=self.ensemble_,
            members=self._members,
            map=self._map,
            weights=self._member_weights if self.ensemble_.aggregation.is_linear else None,
            predictions=outputs,
            parts=None if sets is None else [(seen, replace(part_of_rows(rows, seen), given=None)) for seen in sets],
        )
        warn_once([correlated_rows(rows.targets - outputs, rows)], stacklevel=3)
        return self._left_out

    def _warn_if_worse(self, rows: TrainingRows, choice: Choice) -> None:
        """Compare a requested number of members with one ridge, which takes one more decomposition."""
        taken = choice.trials[choice.taken]
        one = one_ridge(rows, self.ridges, Summed() if taken.ensemble.aggregation.decides_classes else Mean()).error
        if taken.error > _WORSE * one:
            warnings.warn(
                WorseThanOneRidgeWarning(
                    f"{taken.name}: the error on left-out rows is {taken.error:.4g}, that of one ridge on all features "
                    f"{one:.4g}; n_estimators='auto' takes the better one"
                ),
                stacklevel=4,
            )

    def _keep_candidate(
        self, rows: TrainingRows, taken: Candidate, error: float, decided: Aggregation | None = None
    ) -> None:
        """Set the fitted attributes from the candidate that was taken; `decided` may replace its aggregation."""
        losses = taken.losses
        places = taken.places
        plan = taken.offer.plan
        aggregation = losses.aggregation
        fitted = taken.ensemble
        is_searched = isinstance(self.ridge, str)
        if is_searched:
            self.ridge_path_ = taken.ridges
        if is_searched and self.ridge_scope == "ensemble":
            self.loo_path_ = taken.chooser.at(taken.chooser.common(np.arange(len(taken.ridges)))).loss
        is_common = (fitted.ridge == fitted.ridge[0]).all() and (self.ridge_scope == "ensemble" or not is_searched)
        self.loo_error_ = error
        self.ridge_ = float(fitted.ridge[0]) if is_common else fitted.ridge.copy()
        self._keep_plan(plan)
        self.ensemble_ = Ensemble(plan, fitted.ridge, self.readout_noise, decided or aggregation, fitted.row_fractions)
        on_disk = rows if isinstance(rows, ColumnRows) and rows.columns.scratch is not None else None
        paths = losses.paths if on_disk is None else []  # if coefficients go to disk, members have none in memory
        coefs = [path.coefficients(int(places[r])) for r, path in enumerate(paths)]
        intercepts = [
            path.target_means - coefs[r] @ plan.measure(r, path.feature_means) for r, path in enumerate(paths)
        ]
        mean = rows.centred_targets[1]
        if taken.offer.row_sets is None:
            mean = sum((path.target_means for path in losses.paths), mean * 0.0) / len(losses.paths)
        self._members = FittedMembers(plan, coefs, intercepts, mean)
        linear = aggregation if aggregation.is_linear else Mean()
        self._member_moments = moments = losses.moments(places[None], linear).of_batch(0)
        self.risk_matrix_ = moments.pairs if moments.pairs.ndim == 2 else moments.pairs.sum(axis=0)
        self._member_weights = taken.weights if aggregation.fits_weights else linear.weights(moments)
        if on_disk is None:
            self._map = self._members.collapse(self._member_weights)
        else:
            self._map = np.empty(0), written_map(on_disk, plan, losses.paths, places, self._member_weights)
        self._publish()

    def _keep_plan(self, plan: SubsetPlan) -> None:
        """Set the attributes that follow from the subsets."""
        self.subset_plan_ = plan
        self.n_estimators_ = plan.n_members
        self.estimators_features_ = list(plan.measurements)

    def _absorb(
        self, X: Features, targets: FloatArray, weights: FloatArray, aggregations: Sequence[Aggregation]
    ) -> None:
        """Add a batch of rows to the moments and fit to all of them, without warnings about the path of ridges."""
        features, y, w = weighted_rows(X, targets, weights)
        before = getattr(self, "_moments", ())
        new = [
            moments_of(features[part], y[:, part], None if w is None else w[part])
            for part in pieces_of(features.shape[0], sum(each.n_samples for each in before))
        ]
        self._stream_seed: int = self._stream_seed if before else self._seeds()[0]
        moments = thinned([*before, *new])
        with warnings.catch_warnings(action="ignore", category=RidgePathWarning):
            self._fit_moments(moment_rows(moments, self.fit_intercept), aggregations, self._stream_seed, False)
        self._moments: tuple[RowMoments, ...] = moments  # a batch that was refused does not count

    def _fit_moments(
        self, rows: TrainingRows, aggregations: Sequence[Aggregation], seed: int, all_rows: bool = True
    ) -> None:
        """Choose subsets, ridges and weights by the trace form of left-out errors; nothing is kept of single rows.

        For votes, ridges are those of the mean score. Unless these are `all_rows`, columns that are constant so far may
        vary later.
        """
        self._refuse(("readout_noise", "gap", "max_samples"), "needs the rows, not moments; fit to rows")
        warn_once([unequal_scales(rows.column_squares, getattr(self, "feature_names_in_", None))], stacklevel=4)
        decided = aggregations[0]
        families = self._families((rows.column_squares > 0) | (not all_rows), seed)
        scoring = self.scoring
        if decided.decides_classes:  # one ridge, unless a number of members or subsets are given
            if scored(decided, scoring, rows) is not decided:
                raise ParameterError(f"scoring={scoring!r} needs the rows, not moments; fit to rows")
            scoring = None
            families = [families[0][:1]]
            aggregations = [Mean()]
        aggregations = affordable(aggregations, rows.n_samples)
        fixed = self._given_ridges(families)
        with np.errstate(invalid="ignore"):  # the error of a single row is infinite
            choice = choose_ensemble(rows, families, aggregations, self.ridges, self.ridge_scope, scoring, fixed)
            self.choice_ = replace(choice, kept={})
            taken = choice.kept[choice.taken]
            self._keep_candidate(
                rows,
                taken,
                float(taken.losses.at(taken.places[None]).loss[0]),
                decided if decided.decides_classes else None,
            )

    # -- predicting -------------------------------------------------------------------------------

    def _new_rows(self, X: MatrixLike) -> tuple[Features, bool]:
        """Checked rows to predict, and whether some lack columns; NaN is accepted if members may drop out."""
        drops = self.missing == "drop-members"
        features = checked_features(self, X, reset=False, allow_nan=drops)
        values = features @ np.ones(features.shape[1]) if is_sparse(features) else features
        return features, drops and bool(namespace_of(values).isnan(values).any())

    def _outputs(self, X: MatrixLike) -> Array:
        """Outputs of the ensemble for new rows, shape (C, m): labels, mean scores, or shares of votes."""
        check_is_fitted(self)
        if hasattr(self, "_by_target"):
            outputs: Array = self._by_target.predict(self._new_rows(X)[0])
            return outputs.T
        refuse_unwritten("coef_", self._map[0])
        if is_wide(X):  # a block of columns at a time
            columns = disk_columns(X)
            if X.shape[1] != self.n_features_in_ or not self.ensemble_.aggregation.is_linear:
                raise DataError(
                    f"X on disk has {X.shape[1]} features; blocks of columns need {self.n_features_in_}, and a "
                    "weighted sum of members; other aggregations need X in memory"
                )
            return sum(
                (self._map[0][:, part] @ values.T for part, values in columns.blocks()), start=self._map[1][:, None]
            )
        features, is_incomplete = self._new_rows(X)
        aggregation = self.ensemble_.aggregation
        if is_incomplete:
            return self._members.outputs_without(features, aggregation, self._member_moments)
        if aggregation.is_linear or aggregation.adds_scores:
            coef, intercept = (like(each, features) for each in self._map)
            return (features @ coef.T + intercept).T
        outputs = aggregation.combine(self._members.outputs(features))
        return outputs / self.n_estimators_ if aggregation.decides_classes else outputs

    def _without_each(self, X: MatrixLike, method: str) -> tuple[LeftOutEnsemble, Features]:
        """The ensemble without each left-out set, and the checked rows to predict; both must be complete."""
        check_is_fitted(self)
        features, is_incomplete = self._new_rows(X)
        if is_incomplete:
            raise DataError(f"X contains NaN, which {method} does not support: members drop out in predict only")
        if not hasattr(self, "_left_out"):
            raise NotFittedError(f"{method} needs the rows, and ridges for all targets; use fit with per_target=False")
        return self._left_out, features

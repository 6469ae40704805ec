"""What the regressor and the classifier share: checks of what a user passes in, the ensemble, its ridges, the fit.

Arrays, tables and sparse matrices follow scikit-learn's rules, tensors our own.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from subridge.arrays.namespace import is_sparse, is_tensor, like, namespace_of, select_rows, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, MatrixLike
from subridge.estimators.members import Features, FittedMembers, LeftOutEnsemble, example_of
from subridge.model.aggregation import AGGREGATIONS, Aggregation, Mean, MemberMoments
from subridge.model.checks import (
    SCOPES,
    Scope,
    finite_array,
    one_of,
    positive_integer,
    refuse_odd_table,
    refuse_odd_values,
    truth,
    within,
)
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import DataError, FewSamplesWarning, ParameterError, SubsetError, counted
from subridge.model.subsets import STRATEGIES, Strategy, StrategyOptions, read_strategy
from subridge.ridge.checks import correlated_rows, unequal_scales, warn_of_rows, warn_once
from subridge.ridge.choose import Losses, scored, search_ridges, trainable
from subridge.ridge.member import member_paths
from subridge.ridge.rows import LeftOutSets, TrainingRows, left_out_groups, left_out_windows, training_rows
from subridge.ridge.stream import RowMoments, moments_of, search_moments, streamed_path
from subridge.ridge.weights import Verdict, judge

if TYPE_CHECKING:  # scikit-learn has no types, and a base class without types would hide those of our parameters
    from sklearn.utils import Tags

    class BaseEstimator:
        """Whatever scikit-learn's class has is there."""

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

_LEAST_SAMPLES = 10  # with fewer, weights follow single samples

# Labels of classes: numbers, text or truth values.
Labels: TypeAlias = npt.NDArray[Any]
ClassWeight: TypeAlias = Mapping[int, float] | Mapping[str, float] | Literal["balanced"] | None
# Subsets that are known: a plan, or one array of indices (or a mask) per member.
_Known: TypeAlias = SubsetPlan | Sequence[ArrayLike]
# What `subsets` may be: known ones, the name of a strategy, a strategy, or a function of (n_features, rng).
Subsets: TypeAlias = str | _Known | Strategy | Callable[[int, np.random.Generator], _Known]
Missing: TypeAlias = Literal["raise", "drop-members"]


# -- what a user passes in ------------------------------------------------------------------------


def training_input(
    estimator: Any, X: MatrixLike, y: ArrayLike, *, reset: bool, numeric: bool
) -> tuple[Features, Labels]:
    """X as float64 in its own library, and labels in host memory: float64, shape (n,) or (n, C), or classes, (n,).

    With `reset` the estimator forgets an earlier fit and gets ``n_features_in_`` and ``feature_names_in_``; later
    batches of a stream must look like the first.
    """
    if reset:
        estimator._forget()
    if np.ma.is_masked(y) or (numeric and isinstance(y, np.ndarray) and y.dtype.kind != "c"):
        refuse_odd_values("y", y)
    if is_tensor(X):
        features: Features = _checked(estimator, X, reset)
        if y is None:
            raise DataError("y is None; the estimator needs labels")
        labels: Labels = to_numpy(y)
        if labels.ndim not in (1, 2) or len(labels) != X.shape[0]:
            raise DataError(f"y must have {X.shape[0]} rows like X, got shape {labels.shape}")
        if numeric and not np.isfinite(labels.astype(np.float64)).all():
            raise DataError("y contains NaN or infinity; replace or drop those rows")
    else:
        features, labels = _checked(estimator, X, reset, y=y, multi_output=numeric, y_numeric=numeric)
    if numeric:
        return features, labels.astype(np.float64, copy=False)
    check_classification_targets(labels)
    return features, column_or_1d(labels, warn=True)


def _checked(estimator: Any, X: MatrixLike, reset: bool, allow_nan: bool = False, **labels: Any) -> Any:
    """X as float64 in its own library; if it is no tensor, and labels are given, both."""
    if not is_tensor(X):
        refuse_odd_table("X", X)
        finite = "allow-nan" if allow_nan else True
        rules = {"accept_sparse": ("csr", "csc"), "dtype": np.float64, "ensure_all_finite": finite}
        return validate_data(estimator, X, reset=reset, **rules, **labels)
    xp = namespace_of(X)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must be a tensor of shape (n_samples, n_features) with neither zero, got {tuple(X.shape)}")
    if not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise DataError(f"X must hold real numbers, got {X.dtype}")
    X = xp.astype(X.detach(), xp.float64)
    if bool(xp.any(xp.isinf(X))) or (not allow_nan and bool(xp.any(xp.isnan(X)))):
        raise DataError("X contains NaN or infinity; replace or drop those rows")
    if reset:
        estimator.n_features_in_ = int(X.shape[1])
    elif X.shape[1] != estimator.n_features_in_:
        raise DataError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def row_weights(
    sample_weight: ArrayLike | None, n_samples: int, labels: Labels | None = None, class_weight: ClassWeight = None
) -> FloatArray | None:
    """Weights of the rows times those of their classes, shape (n,), or None; negative ones are refused."""
    if class_weight is not None:
        by_class: FloatArray = compute_sample_weight(class_weight, labels)
        sample_weight = by_class if sample_weight is None else by_class * to_numpy(sample_weight)
    if sample_weight is None:
        return None
    given = finite_array("sample_weight", to_numpy(sample_weight) if is_tensor(sample_weight) else sample_weight)
    weights: FloatArray = _check_sample_weight(
        given if given.ndim else float(given), np.empty((n_samples, 0)), dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise DataError("sample_weight is zero for every row; at least one must be positive")
    return weights


def _weighted_rows(
    X: Features, targets: FloatArray, weights: FloatArray | None
) -> tuple[Features, Array, Array | None]:
    """Rows of positive weight, in the library of X: nothing is learnt from others, and they do not count as samples."""
    example = example_of(X)
    if weights is None:
        return X, like(targets, example), None
    kept = np.flatnonzero(weights > 0)
    if len(kept) < len(weights):
        X = X[kept] if is_sparse(X) else select_rows(X, kept)
    return X, like(targets[:, kept], example), like(weights[kept], example)


def _left_out_sets(
    groups: ArrayLike | None, gap: int, weights: FloatArray | None, n_samples: int
) -> LeftOutSets | None:
    """The sets that `groups`, shape (n,), or `gap` name among the rows of positive weight; None for single rows."""
    steps = 0 if isinstance(gap, int) and gap == 0 else positive_integer("gap", gap, 10**9)
    if groups is not None and steps:
        raise ParameterError(
            f"groups were given and gap={gap}: groups leave out whole groups, a gap leaves out neighbours in time; "
            "use one of them"
        )
    kept = np.arange(n_samples) if weights is None else np.flatnonzero(weights > 0)
    if groups is not None:
        sets = left_out_groups(groups, n_samples, kept)
        return None if sets.largest == 1 else sets
    return left_out_windows(steps, kept) if steps else None


def aggregation_of(name: str, value: str | Aggregation, *, decides_classes: bool) -> Aggregation:
    """The aggregation that a parameter names, among those that give numbers or those that decide classes.

    >>> aggregation_of("voting", "sum", decides_classes=True).name
    'sum'
    """
    known = {each.name: each for each in AGGREGATIONS.values() if each.decides_classes == decides_classes}
    found = value if isinstance(value, Aggregation) else known.get(value) if isinstance(value, str) else None
    if found is None or found.decides_classes != decides_classes:
        raise ParameterError(f"{name} must be one of {', '.join(known)}, or such an Aggregation, got {value!r}")
    return found


def per_target(aggregation: Aggregation) -> Aggregation:
    """The aggregation with weights of its own for each target."""
    if "per_target" not in (each.name for each in fields(aggregation)):
        raise ParameterError(
            f"weights for each target or class need fitted weights, got aggregation={aggregation.name!r}; "
            'use "scaled", "simplex" or "free", or weights_per_target=False'
        )
    return replace(aggregation, per_target=True)  # type: ignore[call-arg]


def affordable(aggregation: Aggregation, n_samples: int) -> Aggregation:
    """The aggregation, or the mean with a warning if samples are too few to fit weights to."""
    if not aggregation.fits_weights or n_samples >= _LEAST_SAMPLES:
        return aggregation
    warnings.warn(
        FewSamplesWarning(
            f"aggregation={aggregation.name!r} fits weights, for which n_samples={n_samples} are too few "
            f"(at least {_LEAST_SAMPLES}); the mean is taken"
        ),
        stacklevel=3,
    )
    return Mean()


# -- the estimator --------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeEnsembleBase(BaseEstimator):
    """Members, ridges and streams; subclasses add targets, aggregation and what is published."""

    n_estimators: int = field(default=10, kw_only=False)
    subsets: Subsets = "dirichlet"
    fraction_spread: float = 0.75
    subset_sizes: ArrayLike | None = None
    ridge: ArrayLike | Literal["auto"] = "auto"
    ridge_scope: Scope = "ensemble"
    ridges: ArrayLike | None = None
    fit_intercept: bool = True
    readout_noise: ArrayLike = 0.0
    scoring: str | None = None
    gap: int = 0
    missing: Missing = "raise"
    random_state: int | np.random.RandomState | None = None

    # -- describing the ensemble ------------------------------------------------------------------

    def _forget(self) -> None:
        """Forget an earlier fit, so that one that fails leaves nothing to predict with; classes serve a stream."""
        fitted = {name for name in vars(self) if name.endswith("_")} - {"classes_"}
        for name in fitted | ({"_members", "_moments", "_left_out"} & vars(self).keys()):
            delattr(self, name)

    def _describe(self, aggregation: Aggregation, n_features: int) -> np.random.Generator:
        """Check the parameters and draw the subsets; return the generator that draws everything else."""
        truth("fit_intercept", self.fit_intercept)
        one_of("ridge_scope", self.ridge_scope, SCOPES)
        if isinstance(self.ridge, str) and self.ridge != "auto":
            raise ParameterError(
                f"ridge must be a number, one per member, or 'auto' (ridge_scope says for whom), got {self.ridge!r}"
            )
        one_of("missing", self.missing, get_args(Missing))
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        plan = self._draw_plan(n_features, np.random.default_rng(int(seeds[0])))
        given = {"readout_noise": within("readout_noise", self.readout_noise, 0.0, 1e100)}
        given["ridge"] = np.zeros(()) if isinstance(self.ridge, str) else trainable("ridge", self.ridge)
        for name, values in given.items():
            if values.shape not in ((), (1,), (plan.n_members,)):
                raise ParameterError(
                    f"{name} must be a number or one per member ({plan.n_members}), got shape {values.shape}"
                )
            given[name] = np.broadcast_to(values, (plan.n_members,))
        self.ensemble_ = Ensemble(plan, aggregation=aggregation, **given)
        self.subset_plan_, self.n_estimators_ = plan, plan.n_members
        self.estimators_features_ = list(plan.measurements)
        return np.random.default_rng(int(seeds[1]))

    def _draw_plan(self, n_features: int, rng: np.random.Generator) -> SubsetPlan:
        """Draw, or adopt, the subsets; no more members are drawn than there are features."""
        subsets = self.subsets
        if isinstance(subsets, str):
            k = min(positive_integer("n_estimators", self.n_estimators), n_features)
            subsets = read_strategy(subsets, StrategyOptions(k, n_features, self.fraction_spread, self.subset_sizes))
        if isinstance(subsets, Strategy):
            drawn: _Known = subsets.draw(n_features, rng)
        else:
            drawn = subsets(n_features, rng) if callable(subsets) else subsets
        if isinstance(drawn, SubsetPlan):
            if drawn.n_features != n_features:
                raise SubsetError(
                    f"subsets is a plan for {counted(drawn.n_features, 'feature')}, but X has {n_features}"
                )
            return drawn
        if isinstance(drawn, Sequence | np.ndarray):
            return SubsetPlan.from_indices(drawn, n_features)
        raise SubsetError(
            f"subsets must be one of {', '.join(STRATEGIES)}, a SubsetPlan, a strategy, index arrays or a callable, "
            f"got {self.subsets!r}"
        )

    # -- fitting ----------------------------------------------------------------------------------

    def _fit(
        self,
        X: Features,
        targets: FloatArray,
        weights: FloatArray | None,
        groups: ArrayLike | None,
        aggregation: Aggregation,
    ) -> LeftOutEnsemble:
        """Draw the subsets, choose the ridges, keep the members, and return the ensemble without each left-out row."""
        rng = self._describe(aggregation, X.shape[1])
        together = _left_out_sets(groups, self.gap, weights, X.shape[0])
        X, y, w = _weighted_rows(X, targets, weights)
        if X.shape[0] < 1 + int(self.fit_intercept):
            raise DataError(
                f"n_samples={X.shape[0]} sample leaves nothing to fit beside the intercept; give at least two, "
                "or set fit_intercept=False"
            )
        rows = training_rows(X, y, w, self.fit_intercept, together)
        warn_of_rows(rows, getattr(self, "feature_names_in_", None), stacklevel=3)
        eta, noise = self.ensemble_.readout_noise, None
        if eta.any():  # ξ_r of training, shape (k, C, n)
            noise = like(eta[:, None, None] * rng.standard_normal((len(eta), *y.shape)), y)
        losses, ridges, places = self._choose(rows, noise)
        is_common = isinstance(self.ridge, str) and self.ridge_scope == "ensemble" and not hasattr(self, "loo_path_")
        if aggregation.fits_weights:
            verdict = judge(losses, places, is_common=is_common)
        else:
            along = np.array([each.loss[0] for each in losses.common]) if is_common else None
            verdict = Verdict(losses.at(places).loss[0], along)
        if verdict.path_losses is not None:
            self.loo_path_ = verdict.path_losses
        self.loo_error_ = verdict.error
        coefficients = [path.coefficients(int(place)) for path, place in zip(losses.paths, places, strict=True)]
        members = FittedMembers.centred_on(
            self.subset_plan_, coefficients, rows.feature_means, [path.target_means for path in losses.paths]
        )
        moments = verdict.moments or losses.moments(places, aggregation if aggregation.is_linear else Mean())
        self._keep(ridges, moments, members, verdict.weights)
        self._left_out = LeftOutEnsemble(
            rows=replace(rows, given=None),  # a fitted estimator does not hold on to X
            errors=losses.errors(places),
            noise=noise,
            ensemble=self.ensemble_,
            members=members,
            map=self._map,
            weights=self._member_weights if aggregation.is_linear else None,
        )
        warn_once([correlated_rows(y - self._left_out.predictions, rows)], stacklevel=3)
        return self._left_out

    def _choose(self, rows: TrainingRows, noise: Array | None) -> tuple[Losses, FloatArray, IntArray]:
        """The members along their path, judged by the aggregation; the ridge of each, and its place on the path."""
        plan, aggregation, ridges = self.subset_plan_, self.ensemble_.aggregation, self.ensemble_.ridge
        if not isinstance(self.ridge, str):
            paths = member_paths(rows, plan, ridges[None, :], noise)
            return Losses(paths, rows, aggregation), ridges, np.zeros(plan.n_members, dtype=int)
        judged = scored(aggregation, self.scoring, rows)
        if judged is not aggregation and self.ridge_scope == "member":
            raise ParameterError(
                f"scoring={self.scoring!r} judges the aggregate, but ridge_scope='member' chooses by each member's "
                "squared error; use ridge_scope='ensemble' or 'joint'"
            )
        path, losses, places = search_ridges(rows, plan, judged, self.ridge_scope, self.ridges, noise)
        self.ridge_path_ = path
        if judged is not aggregation:  # the path is that of the score, the error that of the aggregation
            if self.ridge_scope == "ensemble":
                self.loo_path_ = np.array([each.loss[0] for each in losses.common])
            losses = Losses(losses.paths, rows, aggregation)
        return losses, path[places], places

    def _absorb(self, X: Features, targets: FloatArray, weights: FloatArray | None, aggregation: Aggregation) -> None:
        """Add a batch to the moments and solve the members; "auto" minimises the trace form of the mean's error."""
        if not hasattr(self, "_moments"):
            self._describe(aggregation, X.shape[1])
            if self.ensemble_.readout_noise.any():
                raise ParameterError("readout_noise needs the rows and cannot be streamed; use fit, or readout_noise=0")
        if isinstance(self.ridge, str) and self.ridge_scope != "ensemble":
            raise ParameterError(
                f"ridge_scope={self.ridge_scope!r} needs the rows; stream with ridge_scope='ensemble' or numbers"
            )
        batch = moments_of(*_weighted_rows(X, targets, weights))
        self._moments: RowMoments = self._moments + batch if hasattr(self, "_moments") else batch
        moments = self._moments
        squares, names = moments.column_squares(self.fit_intercept), getattr(self, "feature_names_in_", None)
        warn_once([unequal_scales(squares, names)], stacklevel=3)
        plan, k, shift = self.subset_plan_, self.n_estimators_, float(self.fit_intercept)
        if isinstance(self.ridge, str):
            path = search_moments(moments, plan, self.ridges, self.fit_intercept)
            self.ridge_path_, self.loo_path_ = path.ridges[:, 0], path.losses
        else:
            path = streamed_path(moments, plan, np.broadcast_to(self.ensemble_.ridge, (1, k)), self.fit_intercept)
        place = path.best
        self.loo_error_ = float(path.losses[place])
        coefficients = [each[place, ...] for each in path.coefficients]
        means = [moments.target_means * shift] * k
        members = FittedMembers.centred_on(plan, coefficients, moments.feature_means * shift, means)
        self._keep(path.ridges[place], MemberMoments(path.pairs[place]), members)

    def _keep(
        self, ridges: FloatArray, moments: MemberMoments, members: FittedMembers, weights: FloatArray | None = None
    ) -> None:
        """Record what was fitted, with the weights if they are known already."""
        self.ensemble_ = replace(self.ensemble_, ridge=ridges)
        per_member = isinstance(self.ridge, str) and self.ridge_scope != "ensemble"
        self.ridge_ = ridges.copy() if per_member or (ridges != ridges[0]).any() else float(ridges[0])
        self.risk_matrix_ = moments.pairs if moments.pairs.ndim == 2 else moments.pairs.sum(axis=0)
        aggregation = self.ensemble_.aggregation
        linear = aggregation if aggregation.is_linear else Mean()
        self._member_moments, self._members = moments, members
        self._member_weights = linear.weights(moments) if weights is None else weights
        self._map = members.collapse(self._member_weights)

    # -- predicting -------------------------------------------------------------------------------

    def _new_rows(self, X: MatrixLike) -> tuple[Features, bool]:
        """Rows to predict, checked, and whether some lack columns; NaN is let through if members may drop out."""
        check_is_fitted(self)
        drops = one_of("missing", self.missing, get_args(Missing)) == "drop-members"
        features: Features = _checked(self, X, reset=False, allow_nan=drops)
        values = features @ np.ones(features.shape[1]) if is_sparse(features) else features
        return features, drops and bool(namespace_of(values).any(namespace_of(values).isnan(values)))

    def _outputs(self, X: MatrixLike) -> Array:
        """What the ensemble says of new rows, shape (C, m): labels, mean scores, or shares of votes."""
        (features, is_incomplete), aggregation = self._new_rows(X), self.ensemble_.aggregation
        if is_incomplete:
            return self._members.outputs_without(features, aggregation, self._member_moments)
        if aggregation.is_linear or aggregation.adds_scores:
            coef, intercept = (like(each, example_of(features)) for each in self._map)
            return (features @ coef.T + intercept).T
        voters = self.n_estimators_ if aggregation.decides_classes else 1
        return aggregation.combine(self._members.outputs(features)) / voters

    def _without_each(self, X: MatrixLike, method: str) -> tuple[LeftOutEnsemble, Features]:
        """The ensemble without each left-out set, which needs the rows of the fit, and complete rows to predict."""
        features, is_incomplete = self._new_rows(X)
        if is_incomplete:
            raise DataError(f"X contains NaN, for which {method} has no answer: members drop out in predict only")
        if not hasattr(self, "_left_out"):
            raise NotFittedError(f"{method} needs the rows, and partial_fit keeps moments only; use fit")
        return self._left_out, features

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_members")

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

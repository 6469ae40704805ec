"""What the regressor and the classifier share: from flat parameters to an `Ensemble`, the choice of ridges, the fit."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from subridge.arrays.namespace import like
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, MatrixLike
from subridge.estimators.inputs import Features, drop_weightless, lacks_columns, left_out_sets, prediction_input
from subridge.estimators.members import FittedMembers, LeftOutEnsemble
from subridge.model.aggregation import AGGREGATIONS, Aggregation, Mean
from subridge.model.checks import Scope, check_scope, one_of, positive_integer, truth, within
from subridge.model.ensemble import Ensemble
from subridge.model.errors import DataError, FewSamplesWarning, ParameterError, SubsetError
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import STRATEGIES, Strategy, StrategyOptions, read_strategy
from subridge.model.wording import counted
from subridge.ridge.checks import correlated_rows, unequal_scales, warn_of_rows, warn_once
from subridge.ridge.choose import Losses, scored, search_ridges, trainable
from subridge.ridge.path import member_paths
from subridge.ridge.rows import TrainingRows, training_rows
from subridge.ridge.stream import RowMoments, moments_of, search_moments, streamed_path
from subridge.ridge.weights import Verdict, judge

if TYPE_CHECKING:
    from sklearn.utils import Tags

_LEAST_SAMPLES = 10  # with fewer, weights follow single samples

# Subsets that are known: a plan, or one array of indices (or a mask) per member.
_Known: TypeAlias = SubsetPlan | Sequence[ArrayLike]
# What `subsets` may be: known ones, the name of a strategy, a strategy, or a function of (n_features, rng).
Subsets: TypeAlias = str | _Known | Strategy | Callable[[int, np.random.Generator], _Known]
Missing: TypeAlias = Literal["raise", "drop-members"]


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
    if "per_target" not in (field.name for field in fields(aggregation)):
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


class RidgeEnsembleBase(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Members, ridges and streams; subclasses add targets, aggregation and prediction."""

    n_estimators: int
    subsets: Subsets
    fraction_spread: float
    subset_sizes: ArrayLike | None
    ridge: ArrayLike
    ridge_scope: Scope
    readout_noise: ArrayLike
    ridges: ArrayLike | None
    scoring: str | None
    fit_intercept: bool
    gap: int
    missing: Missing
    random_state: int | np.random.RandomState | None

    feature_names_in_: npt.NDArray[np.str_]
    n_features_in_: int
    _moments: RowMoments | None = None
    _left_out: LeftOutEnsemble | None = None
    # Set by some options only; a second fit with others must not leave them behind.
    _OPTIONAL = (
        "coef_",
        "intercept_",
        "weights_",
        "ridge_path_",
        "loo_path_",
        "loo_predictions_",
        "loo_probabilities_",
        "temperature_",
        "_members",
    )

    # -- describing the ensemble ------------------------------------------------------------------

    def _describe(self, aggregation: Aggregation, n_features: int) -> np.random.Generator:
        """Forget an earlier fit and draw the subsets; return the generator that draws everything else."""
        truth("fit_intercept", self.fit_intercept)
        for name in self._OPTIONAL:
            if hasattr(self, name):
                delattr(self, name)
        self._moments = self._left_out = None
        self._drops_members()
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        plan = self._draw_plan(n_features, np.random.default_rng(int(seeds[0])))
        given = {"readout_noise": within("readout_noise", self.readout_noise, 0.0, 1e100)}
        given["ridge"] = np.zeros(()) if self._is_searched() else trainable("ridge", self.ridge)
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
            options = StrategyOptions(k, n_features, self.fraction_spread, self.subset_sizes)
            return read_strategy(subsets, options).draw(n_features, rng)
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
            f"got {subsets!r}"
        )

    def _is_searched(self) -> bool:
        """Whether ridges are to be chosen from a path; refuses unknown words."""
        check_scope("ridge_scope", self.ridge_scope)
        if isinstance(self.ridge, str) and self.ridge != "auto":
            raise ParameterError(
                f"ridge must be a number, one per member, or 'auto' (ridge_scope says for whom), got {self.ridge!r}"
            )
        return isinstance(self.ridge, str)

    def _drops_members(self) -> bool:
        """Whether rows that lack columns are predicted; refuses unknown words."""
        return one_of("missing", self.missing, ("raise", "drop-members")) == "drop-members"

    # -- fitting ----------------------------------------------------------------------------------

    def _fit(
        self, X: Features, targets: Array, weights: Array | None, groups: ArrayLike | None, aggregation: Aggregation
    ) -> LeftOutEnsemble:
        """Draw the subsets, choose the ridges, keep the members, and return the ensemble without each left-out row."""
        rng = self._describe(aggregation, X.shape[1])
        together = left_out_sets(groups, self.gap, weights, X.shape[0])
        X, targets, weights = drop_weightless(X, targets, weights)
        if X.shape[0] < 1 + int(self.fit_intercept):
            raise DataError(
                f"n_samples={X.shape[0]} sample leaves nothing to fit beside the intercept; give at least two, "
                "or set fit_intercept=False"
            )
        rows = training_rows(X, targets, weights, self.fit_intercept, together)
        warn_of_rows(rows, getattr(self, "feature_names_in_", None), stacklevel=3)
        eta, noise = self.ensemble_.readout_noise, None
        if eta.any():  # ξ_r of training, shape (k, C, n)
            noise = like(eta[:, None, None] * rng.standard_normal((len(eta), *targets.shape)), targets)
        losses, places = self._choose(rows, noise)
        paths, linear = losses.paths, aggregation if aggregation.is_linear else Mean()
        is_common = self._is_searched() and self.ridge_scope == "ensemble" and not hasattr(self, "loo_path_")
        if aggregation.fits_weights:
            verdict = judge(losses, places, is_common=is_common)
        else:
            along = np.array([each.loss[0] for each in losses.common]) if is_common else None
            verdict = Verdict(losses.at(places).loss[0], along)
        if verdict.path_losses is not None:
            self.loo_path_ = verdict.path_losses
        self.loo_error_ = verdict.error
        coefficients = [path.coefficients(int(place)) for path, place in zip(paths, places, strict=True)]
        means = [path.target_means for path in paths]
        members = FittedMembers.centred_on(self.subset_plan_, coefficients, rows.feature_means, means)
        self._keep(verdict.moments or losses.moments(places, linear), members, verdict.weights)
        kept = replace(rows, given=None)  # a fitted estimator does not hold on to X
        self._left_out = LeftOutEnsemble(
            kept, losses.errors(places), noise, self.ensemble_, members, self._member_weights
        )
        warn_once([correlated_rows(rows.targets - self._left_out.predictions, rows)], stacklevel=3)
        return self._left_out

    def _choose(self, rows: TrainingRows, noise: Array | None) -> tuple[Losses, IntArray]:
        """The members along their path, judged by the aggregation, and where each stands; records the ridges."""
        plan, aggregation, ensemble = self.subset_plan_, self.ensemble_.aggregation, self.ensemble_
        if not self._is_searched():
            paths = member_paths(rows, plan, ensemble.ridge[None, :], noise, pairs=aggregation.fits_weights)
            ridges, places = ensemble.ridge, np.zeros(plan.n_members, dtype=int)
            losses = Losses(paths, rows, aggregation)
        else:
            judged = scored(aggregation, self.scoring, rows)
            if judged is not aggregation and self.ridge_scope == "member":
                raise ParameterError(
                    f"scoring={self.scoring!r} judges the aggregate, but ridge_scope='member' chooses by each member's "
                    "squared error; use ridge_scope='ensemble' or 'joint'"
                )
            search = search_ridges(rows, plan, judged, self.ridge_scope, self.ridges, noise)
            ridges, places, self.ridge_path_ = search.ridges[search.places], search.places, search.ridges
            losses = search.losses
            if judged is not aggregation:  # the path is that of the score, the error that of the aggregation
                if self.ridge_scope == "ensemble":
                    self.loo_path_ = np.array([each.loss[0] for each in losses.common])
                losses = Losses(losses.paths, rows, aggregation)
        self._keep_ridges(ridges)
        return losses, places

    def _keep_ridges(self, ridges: FloatArray) -> None:
        """Record the ridges of the members, shape (k,)."""
        self.ensemble_ = replace(self.ensemble_, ridge=ridges)
        per_member = self._is_searched() and self.ridge_scope != "ensemble"
        self.ridge_ = ridges.copy() if per_member or (ridges != ridges[0]).any() else float(ridges[0])

    def _keep(self, moments: MemberMoments, members: FittedMembers, weights: FloatArray | None = None) -> None:
        """Record what was fitted, with the weights if they are known already."""
        aggregation = self.ensemble_.aggregation
        self._member_moments, self._members = moments, members
        self._member_weights = aggregation.weights(moments) if weights is None and aggregation.is_linear else weights
        self.risk_matrix_ = moments.pairs if moments.pairs.ndim == 2 else moments.pairs.sum(axis=0)

    def _absorb(self, X: Features, targets: Array, weights: Array | None, aggregation: Aggregation) -> None:
        """Add a batch to the moments and solve the members; "auto" minimises the trace form of the mean's error."""
        if self._moments is None:
            self._describe(aggregation, X.shape[1])
            if self.ensemble_.readout_noise.any():
                raise ParameterError("readout_noise needs the rows and cannot be streamed; use fit, or readout_noise=0")
        if self._is_searched() and self.ridge_scope != "ensemble":
            raise ParameterError(
                f"ridge_scope={self.ridge_scope!r} needs the rows; stream with ridge_scope='ensemble' or numbers"
            )
        batch = moments_of(*drop_weightless(X, targets, weights))
        self._moments = moments = batch if self._moments is None else self._moments + batch
        squares, names = moments.column_squares(self.fit_intercept), getattr(self, "feature_names_in_", None)
        warn_once([unequal_scales(squares, names)], stacklevel=3)
        plan, k, shift = self.subset_plan_, self.n_estimators_, float(self.fit_intercept)
        if self._is_searched():
            path = search_moments(moments, plan, self.ridges, self.fit_intercept)
            self.ridge_path_, self.loo_path_ = path.ridges[:, 0], path.losses
        else:
            path = streamed_path(moments, plan, np.broadcast_to(self.ensemble_.ridge, (1, k)), self.fit_intercept)
        place = path.best
        self.loo_error_ = float(path.losses[place])
        coefficients = [each[place, ...] for each in path.coefficients]
        members = FittedMembers.centred_on(
            plan, coefficients, moments.feature_means * shift, [moments.target_means * shift] * k
        )
        self._keep_ridges(path.ridges[place])
        self._keep(MemberMoments(path.pairs[place]), members)

    # -- predicting -------------------------------------------------------------------------------

    def _new_rows(self, X: MatrixLike) -> tuple[Features, bool]:
        """Rows to predict, checked, and whether some lack columns; NaN is let through if members may drop out."""
        drops = self._drops_members()
        features = prediction_input(self, X, allow_nan=drops)
        return features, drops and lacks_columns(features)

    def _without_each(self, X: MatrixLike, method: str) -> tuple[LeftOutEnsemble, Features]:
        """The ensemble without each left-out set, which needs the rows of the fit, and complete rows to predict."""
        features, is_incomplete = self._new_rows(X)
        if is_incomplete:
            raise DataError(f"X contains NaN, for which {method} has no answer: members drop out in predict only")
        if self._left_out is None:
            raise NotFittedError(f"{method} needs the rows, and partial_fit keeps moments only; use fit")
        return self._left_out, features

    def __sklearn_is_fitted__(self) -> bool:
        """A fit that failed leaves nothing to predict with."""
        return hasattr(self, "_members")

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

"""What the regressor and the classifier share: describing the ensemble, choosing ridges, keeping the members."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from subridge.arrays.namespace import like
from subridge.arrays.types import Array, ArrayLike, FloatArray, MatrixLike
from subridge.estimators.inputs import Features, prediction_input
from subridge.estimators.left_out import LeftOutRows
from subridge.estimators.left_out_ensemble import LeftOutEnsemble
from subridge.estimators.members import FittedMembers
from subridge.estimators.missing_columns import Missing, drops_members, lacks_columns
from subridge.estimators.translate import FlatParameters, ensemble_of, is_searched
from subridge.model.aggregation import Aggregation, LinearAggregation, Mean
from subridge.model.checks import truth
from subridge.model.ensemble import Ensemble
from subridge.model.errors import DataError, ParameterError
from subridge.model.moments import MemberMoments
from subridge.model.plan import SubsetPlan
from subridge.ridge.optimism import judge
from subridge.ridge.rows.diagnostics import warn_of_order, warn_of_rows, warn_of_scales
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.scoring import scored
from subridge.ridge.search import search_ridges
from subridge.ridge.selection import RidgeChoice, errors_at, moments_at
from subridge.ridge.streaming.moments import RowMoments, moments_of
from subridge.ridge.streaming.search import path_of_moments, search_moments

if TYPE_CHECKING:
    from sklearn.utils import Tags


class RidgeEnsembleBase(FlatParameters, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Members, ridges and streams; subclasses add targets, aggregation and prediction."""

    ridges: ArrayLike | None
    scoring: str | None
    fit_intercept: bool
    gap: int
    missing: Missing
    random_state: int | np.random.RandomState | None

    coef_: Array
    intercept_: Array
    ensemble_: Ensemble
    estimators_coef_: list[Array]
    estimators_features_: list[npt.NDArray[np.generic]]
    estimators_intercept_: list[Array]
    feature_names_in_: npt.NDArray[np.str_]
    loo_error_: float
    loo_path_: FloatArray
    n_estimators_: int
    n_features_in_: int
    ridge_: float | FloatArray
    ridge_path_: FloatArray
    risk_matrix_: FloatArray
    subset_plan_: SubsetPlan
    weights_: FloatArray

    _members: FittedMembers
    _moments: RowMoments | None = None
    _left_out: LeftOutEnsemble | None = None
    # set by some options only; a second fit with others must not leave them behind
    _OPTIONAL = (
        "coef_",
        "intercept_",
        "weights_",
        "ridge_path_",
        "loo_path_",
        "loo_predictions_",
        "loo_probabilities_",
        "temperature_",
    )

    def _describe(self, aggregation: Aggregation, n_features: int) -> np.random.Generator:
        """Forget an earlier fit and draw the subsets; return the generator that draws everything else."""
        truth("fit_intercept", self.fit_intercept)
        for name in (*self._OPTIONAL, "_members"):
            if hasattr(self, name):
                delattr(self, name)
        self._moments = self._left_out = None
        drops_members(self.missing)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        self.ensemble_ = ensemble_of(self, aggregation, n_features, np.random.default_rng(int(seeds[0])))
        self.subset_plan_ = self.ensemble_.plan
        self.n_estimators_ = self.subset_plan_.n_members
        self.estimators_features_ = list(self.subset_plan_.measurements)
        return np.random.default_rng(int(seeds[1]))

    def _keep(
        self, ridges: FloatArray, moments: MemberMoments, members: FittedMembers, weights: FloatArray | None = None
    ) -> None:
        """Record what was fitted; ridges of shape (k,), and weights where they are known already."""
        before = self.ensemble_
        self.ensemble_ = Ensemble(before.subsets, ridges, before.readout_noise, before.aggregation)
        per_member = is_searched(self) and self.ridge_scope != "ensemble"
        self.ridge_ = ridges.copy() if per_member or (ridges != ridges[0]).any() else float(ridges[0])
        self._member_moments, self._members = moments, members
        aggregation = before.aggregation
        if weights is None and isinstance(aggregation, LinearAggregation):
            weights = aggregation.weights(moments)
        self._member_weights = weights
        self.risk_matrix_ = moments.pairs if moments.pairs.ndim == 2 else moments.pairs.sum(axis=0)

    # -- fitting from rows ------------------------------------------------------------------------

    def _fit_rows(self, rows: TrainingRows, rng: np.random.Generator) -> LeftOutRows:
        """Choose the ridges, keep the members, and return what they err on left-out rows."""
        plan, aggregation = self.subset_plan_, self.ensemble_.aggregation
        warn_of_rows(rows, getattr(self, "feature_names_in_", None), stacklevel=3)
        noise = self._draw_noise(rows.targets, rng)
        if is_searched(self):
            judged = scored(aggregation, self.scoring, rows)
            if judged is not aggregation and self.ridge_scope == "member":
                raise ParameterError(
                    f"scoring={self.scoring!r} judges the aggregate, but ridge_scope='member' chooses by each member's "
                    "squared error; use ridge_scope='ensemble' or 'joint'"
                )
            search = search_ridges(rows, plan, judged, self.ridge_scope, self.ridges, noise)
            paths, choice, self.ridge_path_ = search.paths, search.choice, search.ridges
            own_score = judged is aggregation
            verdict = judge(paths, rows, aggregation, choice if own_score else RidgeChoice(choice.indices, None))
            indices, chosen = verdict.indices, search.ridges[verdict.indices]
            losses = verdict.losses if own_score else choice.common_losses
            if losses is not None and self.ridge_scope == "ensemble":
                self.loo_path_ = losses
        else:
            chosen, indices = self.ensemble_.ridge, np.zeros(plan.n_members, dtype=int)
            paths = member_paths(rows, plan, chosen[None, :], noise, pairs=aggregation.fits_weights)
            verdict = judge(paths, rows, aggregation, RidgeChoice(indices, None))
        errors = errors_at(paths, indices)
        self.loo_error_ = verdict.error
        coefficients = [path.coefficients(int(index)) for path, index in zip(paths, indices, strict=True)]
        means = [path.target_means for path in paths]
        members = FittedMembers.centred_on(plan, coefficients, rows.feature_means, means)
        linear = aggregation if isinstance(aggregation, LinearAggregation) else Mean()
        moments = verdict.moments or moments_at(paths, rows, linear, indices)
        self._keep(chosen, moments, members, verdict.weights)
        kept = LeftOutRows(replace(rows, given=None), errors, noise)  # a fitted estimator does not hold on to X
        known = [path.solution for path in paths if path.solution is not None]
        complete = known if len(known) == len(paths) else None
        weights = self._member_weights
        self._left_out = LeftOutEnsemble(kept, self.ensemble_, members, weights, complete)
        warn_of_order(rows.targets - kept.outputs(aggregation, weights), rows, stacklevel=3)
        return kept

    def _decide_by(self, aggregation: Aggregation) -> None:
        """Let the fitted members decide by votes that count otherwise than when their ridges were chosen."""
        if drops_members(self.missing):
            raise ParameterError("missing='drop-members' needs equal votes; use score_weights='equal'")
        before = self.ensemble_
        self.ensemble_ = Ensemble(before.subsets, before.ridge, before.readout_noise, aggregation)
        if self._left_out is not None:
            self._left_out = self._left_out.deciding_by(self.ensemble_)

    def _without_each(self, method: str) -> LeftOutEnsemble:
        """The ensemble without each left-out set, which needs the rows of the fit."""
        if self._left_out is None:
            raise NotFittedError(
                f"{method} needs the rows, and partial_fit keeps moments only; use fit"
                if self._moments is not None
                else f"{method} needs a fit; call fit first"
            )
        return self._left_out

    def _new_rows(self, X: MatrixLike) -> Features:
        """Rows to predict, checked; NaN is let through where members that lack an input drop out."""
        return prediction_input(self, X, allow_nan=drops_members(self.missing))

    def _complete_rows(self, X: MatrixLike, method: str) -> Features:
        """Rows to predict without gaps."""
        features = self._new_rows(X)
        if drops_members(self.missing) and lacks_columns(features):
            raise DataError(f"X contains NaN, for which {method} has no answer: members drop out in predict only")
        return features

    def _draw_noise(self, targets: Array, rng: np.random.Generator) -> Array | None:
        """Readout noise ξ_r of training for targets of shape (C, n): shape (k, C, n), or None."""
        eta = self.ensemble_.readout_noise
        if not eta.any():
            return None
        return like(eta[:, None, None] * rng.standard_normal((len(eta), *targets.shape)), targets)

    # -- fitting from a stream --------------------------------------------------------------------

    def _start_stream(self, aggregation: Aggregation, n_features: int) -> None:
        self._describe(aggregation, n_features)
        if self.ensemble_.readout_noise.any():
            raise ParameterError("readout_noise needs the rows and cannot be streamed; use fit, or readout_noise=0")

    def _absorb(self, X: Features, targets: Array, weights: Array | None) -> None:
        """Add a batch to the moments and solve the members; "auto" minimises the trace form of the mean's error."""
        if is_searched(self) and self.ridge_scope != "ensemble":
            raise ParameterError(
                f"ridge_scope={self.ridge_scope!r} needs the rows; stream with ridge_scope='ensemble' or numbers"
            )
        batch = moments_of(X, targets, weights)
        self._moments = moments = batch if self._moments is None else self._moments + batch
        names = getattr(self, "feature_names_in_", None)
        warn_of_scales(moments.column_squares(self.fit_intercept), names, stacklevel=3)
        plan, k = self.subset_plan_, self.n_estimators_
        if is_searched(self):
            search = search_moments(moments, plan, self.ridges, self.fit_intercept)
            self.ridge_path_, self.loo_path_ = search.ridges[:, 0], search.losses
        else:
            search = path_of_moments(moments, plan, np.broadcast_to(self.ensemble_.ridge, (1, k)), self.fit_intercept)
        path, ridges, losses = search.path, search.ridges, search.losses
        index = int(np.argmin(losses))
        self.loo_error_ = float(losses[index])
        shift = float(self.fit_intercept)
        members = FittedMembers.centred_on(
            plan,
            [coefficients[index, ...] for coefficients in path.coefficients],
            moments.feature_means * shift,
            [moments.target_means * shift] * k,
        )
        self._keep(ridges[index], MemberMoments(path.pairs[index]), members)

    def __sklearn_is_fitted__(self) -> bool:
        """A fit that failed leaves nothing to predict with."""
        return hasattr(self, "_members")

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

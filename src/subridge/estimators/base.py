"""What the regressor and the classifier share: drawing subsets, choosing ridges, keeping the members."""

from typing import Any

import array_api_compat
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from subridge.arrays.namespace import like, select_rows
from subridge.estimators.ridge_choice import (
    COMMON,
    JOINT,
    OWN,
    common_value,
    fixed_ridges,
    is_searched,
    searched_ridges,
)
from subridge.estimators.subset_choice import draw_plan
from subridge.ridge.aggregation import LossFunction
from subridge.ridge.risk_matrix import risk_matrix
from subridge.ridge.rows.path import member_paths
from subridge.ridge.rows.training import TrainingRows
from subridge.ridge.selection import common_level, joint_levels, own_levels, stacked_errors
from subridge.ridge.streaming.members import moment_path
from subridge.ridge.streaming.moments import RowMoments, moments_of
from subridge.spec.checks import non_negative
from subridge.spec.errors import ParameterError


class RidgeEnsembleBase(BaseEstimator):
    """Members, ridges and streams; subclasses add targets, aggregation and prediction."""

    # set by some options only; a second fit with others must not leave them behind
    _OPTIONAL = ("coef_", "intercept_", "weights_", "ridge_path_", "loo_path_", "temperature_", "subset_plan_")

    def _forget(self) -> None:
        for name in self._OPTIONAL:
            if hasattr(self, name):
                delattr(self, name)
        self._moments = None

    def _draw_subsets(self, n_features: int) -> np.random.Generator:
        """Draw the plan; return the generator that draws everything else."""
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        self.subset_plan_ = draw_plan(
            self.subsets,
            n_features,
            np.random.default_rng(int(seeds[0])),
            n_estimators=self.n_estimators,
            fraction_spread=self.fraction_spread,
            subset_sizes=self.subset_sizes,
        )
        self.n_estimators_ = self.subset_plan_.n_members
        self.estimators_features_ = list(self.subset_plan_.measurements)
        return np.random.default_rng(int(seeds[1]))

    def _draw_noise(self, targets: Any, rng: np.random.Generator) -> Any:
        """Readout noise ξ_r of training for targets of shape (C, n): shape (k, C, n), or None."""
        eta = self._readout_noise()
        if not eta.any():
            return None
        return like(eta[:, None, None] * rng.standard_normal((len(eta), *targets.shape)), targets)

    def _readout_noise(self) -> Any:
        eta = non_negative("readout_noise", self.readout_noise)
        if eta.shape not in ((), (1,), (self.n_estimators_,)):
            raise ParameterError(
                f"readout_noise must be a number or one per member ({self.n_estimators_}), got shape {eta.shape}"
            )
        return np.broadcast_to(eta, (self.n_estimators_,))

    # -- fitting from rows ------------------------------------------------------------------------

    def _fit_members(self, rows: TrainingRows, loss: LossFunction, noise: Any = None) -> Any:
        """Choose the ridges, store the members, and return their leave-one-out errors, shape (k, C, n)."""
        plan, k = self.subset_plan_, self.n_estimators_
        if is_searched(self.ridge):
            ridges = searched_ridges(self.ridges, rows)
            paths = member_paths(rows, plan, ridges, noise)
            levels = self._choose_levels(paths, rows, len(ridges), loss)
            self.ridge_path_ = ridges
            chosen = ridges[levels]
        else:
            chosen = fixed_ridges(self.ridge, k)
            paths = member_paths(rows, plan, chosen[None, :], noise)
            levels = np.zeros(k, dtype=int)
        per_member = isinstance(self.ridge, str) and self.ridge in (OWN, JOINT)
        self.ridge_ = chosen if per_member else common_value(chosen)
        errors = stacked_errors(paths, levels)
        self.loo_error_ = loss(errors, rows.targets, rows.weights)[0]
        self.risk_matrix_ = risk_matrix(errors, rows.weights)
        self._member_coef = [path.coefficients(int(level)) for path, level in zip(paths, levels, strict=True)]
        self._member_intercept = [
            path.target_means - coef @ self._measured_means(r, rows.feature_means)
            for r, (path, coef) in enumerate(zip(paths, self._member_coef, strict=True))
        ]
        return errors

    def _choose_levels(self, paths: Any, rows: TrainingRows, n_levels: int, loss: LossFunction) -> Any:
        if self.ridge == OWN:
            return own_levels(paths, rows, n_levels)
        levels, losses = common_level(paths, rows, n_levels, loss)
        if self.ridge == COMMON:
            self.loo_path_ = np.array([value for value, _ in losses])
            return levels
        return joint_levels(paths, rows, n_levels, loss, levels)

    def _measured_means(self, r: int, means: Any) -> Any:
        A = self.subset_plan_.measurements[r]
        return select_rows(means, A) if A.ndim == 1 else like(A, means) @ means

    # -- fitting from a stream --------------------------------------------------------------------

    def _start_stream(self, n_features: int) -> None:
        self._forget()
        self._draw_subsets(n_features)
        if self._readout_noise().any():
            raise ParameterError("readout_noise needs the rows and cannot be streamed; use fit, or readout_noise=0")

    def _absorb(self, X: Any, targets: Any, weights: Any) -> None:
        batch = moments_of(X, targets, weights)
        self._moments: RowMoments = batch if getattr(self, "_moments", None) is None else self._moments + batch

    def _fit_moments(self) -> None:
        """Solve the members from the moments; "auto" minimises the trace form of the mean's error."""
        moments, plan, k = self._moments, self.subset_plan_, self.n_estimators_
        if is_searched(self.ridge):
            if self.ridge != COMMON:
                raise ParameterError(f"ridge={self.ridge!r} needs the rows; stream with ridge='auto' or numbers")
            self.ridge_path_ = searched_ridges(self.ridges, moments, self.fit_intercept)
            ridges = np.repeat(self.ridge_path_[:, None], k, axis=1)
        else:
            ridges = fixed_ridges(self.ridge, k)[None, :]
        path = moment_path(moments, plan, ridges, self.fit_intercept)
        losses = path.pairs.mean(axis=(1, 2))
        if is_searched(self.ridge):
            self.loo_path_ = losses
        level = int(np.argmin(losses))
        self.ridge_, self.loo_error_ = common_value(ridges[level]), float(losses[level])
        self.risk_matrix_ = path.pairs[level]
        self._member_coef = [coefficients[level] for coefficients in path.coefficients]
        x_mean, y_mean = moments.feature_means, moments.target_means
        self._member_intercept = [
            (y_mean - coef @ self._measured_means(r, x_mean)) * float(self.fit_intercept)
            for r, coef in enumerate(self._member_coef)
        ]

    # -- predicting -------------------------------------------------------------------------------

    def _collapse(self, weights: Any) -> tuple[Any, Any]:
        """The weighted mean of the members as one linear map: (C, M) and (C,)."""
        coef, intercept = 0.0, 0.0
        for r, w in enumerate(weights):
            coef = coef + float(w) * self.subset_plan_.lift_rows(r, self._member_coef[r])
            intercept = intercept + float(w) * self._member_intercept[r]
        return coef, intercept

    def _member_scores(self, X: Any) -> Any:
        """Output of every member, shape (k, C, n), in the library of X."""
        columns = X.tocsc() if hasattr(X, "tocsc") else X.T
        example = self._example(X)
        scores = []
        for r, (coef, intercept) in enumerate(zip(self._member_coef, self._member_intercept, strict=True)):
            A = self.subset_plan_.measurements[r]
            if A.ndim == 2:
                product = (X @ like(self.subset_plan_.lift_rows(r, coef), example).T).T
            elif hasattr(X, "tocsc"):
                product = (columns[:, A] @ like(coef, example).T).T
            else:
                product = like(coef, example) @ select_rows(columns, A)
            scores.append(product + like(intercept, example)[:, None])
        return array_api_compat.array_namespace(scores[0]).stack(scores)

    @staticmethod
    def _example(X: Any) -> Any:
        """An array of the library and device that predictions for X are made in."""
        return np.empty(0) if hasattr(X, "tocsc") else X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

"""BandedRidge: one linear model with a ridge per feature space, chosen for each target."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from subridge.arrays.namespace import (
    device_of,
    dtype_name,
    in_precision_of,
    index_on,
    is_long,
    is_numpy,
    is_tensor,
    like,
    namespace_of,
    select_rows,
    take_last,
    to_numpy,
)
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray, MatrixLike
from subridge.estimators.base import (
    MultiOutputMixin,
    RegressorMixin,
    RidgeEstimator,
    checked_features,
    left_out_sets,
    row_weights,
    weighted_rows,
)
from subridge.estimators.blocks import moments_for, predicted
from subridge.estimators.members import Features
from subridge.model.checks import (
    finite_array,
    non_negative,
    one_of,
    positive_integer,
    refuse_large_entries,
    refuse_odd_values,
    truth,
)
from subridge.model.errors import AccuracyWarning, DataError, ParameterError, counted
from subridge.model.spaces import Spaces, read_spaces, refuse_overlaps
from subridge.ridge.banded import BandedSearch, SpaceKernels, first_draws, left_out_r2, plan_memory, space_kernels
from subridge.ridge.checks import large_group, refuse_out_of_range, repeated_rows, warn_once
from subridge.ridge.moments import MomentBatches, MomentSearch
from subridge.ridge.rounding import EPS
from subridge.ridge.rows import TrainingRows, left_out_groups, new_rows, training_rows
from subridge.store.progress import LateBar

MissingTargets = Literal["raise", "drop"]
_PATH = np.logspace(-3, 5, 17)  # half decades, as for the ensembles, in units of the mean square of a row
_DIGITS = 1e-7  # relative rounding error above which the user is warned


@dataclass(eq=False, repr=False, kw_only=True)
class BandedRidge(MultiOutputMixin, RegressorMixin, RidgeEstimator):
    """Ridge regression with a penalty per feature space, chosen for each target by exact left-out errors.

    Each target has its own shares of the spaces and its own ridge [1]_. All are chosen by exact errors of left-out
    rows, or of left-out groups if `groups` are given, without folds or held-out data.

    Parameters
    ----------
    spaces : mapping from str to columns, optional
        Names of the feature spaces, and their columns: integers, a slice, a boolean mask, or names of columns of a data
        frame. ``...`` or "rest" stands for all columns that no other space has. Columns of no space are not used.
        Default: one space of all columns, which gives ridge regression with a ridge per target.
    ridges : array_like, shape (L,), optional
        The ridges λ to choose from, all positive. The penalty of space s is ``λ v_s/g_s``, with the share g_s of the
        space and the mean squared norm v_s of its centred rows. Default: half decades from 1e-3 to 1e5.
    n_draws : int, default=20
        How many shares of the spaces are tried: equal shares first, then others.
    refine : bool, default=True
        After equal shares, try those that suit the estimated strength of every space in each target. If False, or if
        `per_target` is False, try each space alone, then random shares.
    shares : array_like, shape (n_draws, n_spaces), optional
        The shares to try, in place of draws; each row sums to one.
    per_target : bool, default=True
        Choose shares and ridge for each target. If False, all targets have the choice with the largest mean R².
    fit_intercept : bool, default=True
        Fit an intercept, which is not penalised.
    missing_targets : {"raise", "drop"}, default="raise"
        For NaN in y: raise an error, or leave out, target by target, the rows without a label. Targets that lack the
        same rows are fitted together.
    memory : int, optional
        Bytes that the search may take beside data and results. By default, a block of targets is as large as keeps the
        CPU or GPU busy. For a table longer than memory: bytes that a process may hold, by default half of the free
        memory.
    progress : bool, default=True
        Show a bar with the time left, at a terminal, for work of more than 2 s.
    random_state : int, RandomState or None
        Seed of the random shares.

    Attributes
    ----------
    shares_ : ndarray, shape (n_targets, n_spaces)
        Shares g of the spaces in the prior variance of each target's signal; ``(n_spaces,)`` if y has one axis.
    ridge_ : ndarray, shape (n_targets,)
        λ of each target.
    loo_error_ : ndarray, shape (n_targets,)
        Mean squared error of left-out rows (groups). Each part of them is judged at the choice that the others make, so
        that the choice among many draws does not make it too small. From moments, without groups: the error in the
        trace form at the chosen shares and ridge.
    loo_r2_ : ndarray, shape (n_targets,)
        Explained share of the variance, from the same errors.
    intercept_ : array, shape (n_targets,)
        The output at the mean of the features.
    dual_coef_ : array, shape (n_targets, n_samples)
        α: the weights of space s are ``g_s/v_s α F_s`` with centred, weighted rows F_s. `coef_` computes them. For
        moments, F_s are at most n_features + 1 rows that have the moments of all rows.
    spaces_ : dict of str to ndarray, each of shape (N_s,)
        The columns of every space.
    scales_ : ndarray, shape (n_spaces,)
        v_s.
    planned_memory_ : int
        Planned memory of the search beside data and results, in bytes.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Their names, if X is a data frame.

    See Also
    --------
    RidgeEnsembleRegressor : members that each see a part of the features.

    References
    ----------
    .. [1] Dupré la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with
       banded ridge regression. NeuroImage 264, 119728.

    Examples
    --------
    Two spaces; the first target needs one of them, the second both:

    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 80))
    >>> signal = X[:, :20] @ rng.standard_normal((20, 2))
    >>> signal[:, 1] += X[:, 20:] @ rng.standard_normal(60)
    >>> Y = signal + rng.standard_normal((120, 2))
    >>> runs = np.repeat(np.arange(6), 20)
    >>> model = sr.BandedRidge({"sound": slice(0, 20), "words": ...}, random_state=0).fit(X, Y, groups=runs)
    >>> model.shares_.shape, bool(model.shares_[0, 0] > 0.95), bool(model.shares_[1, 0] < 0.8)
    ((2, 2), True, True)
    >>> model.predict(X).shape, model.predict_by_space(X).shape, model.coef_.shape
    ((120, 2), (2, 120, 2), (2, 80))
    >>> model.loo_r2_by_space().shape, model.r2_by_space(X, Y).shape, model.penalties_.shape
    ((2, 2), (2, 2), (2, 2))
    """

    spaces: Spaces | None = field(default=None, kw_only=False)
    ridges: ArrayLike | None = None
    n_draws: int = 20
    refine: bool = True
    shares: ArrayLike | None = None
    per_target: bool = True
    fit_intercept: bool = True
    missing_targets: MissingTargets = "raise"
    memory: int | None = None
    progress: bool = True
    random_state: int | np.random.RandomState | None = None

    # -- fitting ----------------------------------------------------------------------------------

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose shares and ridge of every target, and fit.

        A table longer than memory is read once, block by block, as by `gather_moments`. Shares and ridges are then
        chosen by generalised cross-validation, or by exact errors of batches that are left out.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            Samples, one per row. Or a Dask array or frame, a zarr array, a memory map larger than memory, a polars
            LazyFrame, an iterator of (X, y) batches, or `MomentBatches`.
        y : array_like or tensor, shape (n_samples,) or (n_samples, n_targets)
            Their labels; None if X gives them. Single precision is kept, for faster products. If X is a tensor, the
            fit runs on its device.
        sample_weight : array_like, shape (n_samples,), optional
            How much each row counts. A row of weight two is left out as one row.
        groups : array_like, shape (n_samples,), optional
            Labels of groups whose rows are left out together, such as runs of an experiment. If X is `MomentBatches`:
            labels of its batches, shape (n_batches,); ``range(n_batches)`` leaves out each batch by itself.

        Returns
        -------
        BandedRidge
            Itself, fitted.

        Raises
        ------
        SubsetError
            If spaces overlap, are empty, or name columns that X lacks.
        DataError, ParameterError, BudgetError
            If the data cannot be used as given, a parameter is invalid, or memory is too small.
        """
        self._forget()
        for name in ("refine", "per_target", "fit_intercept", "progress"):
            truth(name, getattr(self, name))
        one_of("missing_targets", self.missing_targets, get_args(MissingTargets))
        if isinstance(X, MomentBatches) or is_long(X, y):
            return self._fit_long(X, y, sample_weight, groups)
        features = checked_features(self, X, reset=True)
        n = features.shape[0]
        Y = _labels(self, y, features)
        spaces = self._read_spaces(features.shape[1])
        self._has_one_target = Y.ndim == 1
        Y = Y.reshape(n, -1)
        weights = row_weights(sample_weight, n)
        features, unlabelled, w = weighted_rows(features, np.zeros((1, n)), weights)
        kept = np.flatnonzero(weights)
        if len(kept) < 2:
            raise DataError(
                f"n_samples={counted(len(kept), 'sample')}: if one is left out, nothing is left to train on; give at "
                "least two"
            )
        if len(kept) < n:
            Y = select_rows(Y, kept)
        rows = training_rows(features, unlabelled, w, self.fit_intercept, left_out_sets(groups, 0, weights, n))
        del features
        refuse_out_of_range(rows)
        warn_once((repeated_rows(rows), large_group(rows)), stacklevel=2)
        self._rows = replace(rows, given=None)
        del rows  # X as it was given
        kernels = space_kernels(self._rows, list(spaces.values()))
        self._search(kernels, Y)
        return self._publish(spaces, kernels.scales)

    def _fit_long(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Self:
        """Fit to the moments of a table that is read block by block."""
        if self.missing_targets == "drop":
            raise ParameterError(
                "missing_targets='drop' needs the rows, but X is read as moments; fit to rows in memory"
            )
        if groups is not None and np.shape(groups) != (len(X.batches) if isinstance(X, MomentBatches) else 0,):
            raise ParameterError(
                "groups= of a long table are labels of the batches of its moments, one for each; fit to the batches "
                "that gather_moments returns"
            )
        moments = moments_for(self, X, y, sample_weight, 2, self.memory, self.progress)
        spaces = self._read_spaces(moments.n_features)
        search = MomentSearch(moments, list(spaces.values()), self.fit_intercept, groups, self.per_target)
        rng, search.ridges, draws, n_promising = self._begin(search.scales, len(search.loss))
        with LateBar(counted(len(search.loss), "target"), len(draws) + n_promising, self.progress) as bar:
            search.search(draws, n_promising, rng, bar.move)
        rows = search.rows
        self._patterns = list[tuple[IntArray, IntArray]]()
        self.planned_memory_ = moments.planned_memory
        self._keep(np.arange(len(search.loss)), search, rows.total_weight)
        self.dual_coef_ = search.dual_coefficients()
        self.intercept_ = rows.whole.target_means * self.fit_intercept
        self._rows = TrainingRows(
            np.asarray(rows.features) / rows.scales[:, None], rows.targets[:0], rows.feature_means, rows.weights, False
        )
        return self._publish(spaces, search.scales)

    def _read_spaces(self, n_features: int) -> dict[str, IntArray]:
        names = getattr(self, "feature_names_in_", None)
        spaces = read_spaces({"all": ...} if self.spaces is None else self.spaces, n_features, names)
        refuse_overlaps(spaces, names)
        return spaces

    def _publish(self, spaces: dict[str, IntArray], scales: FloatArray) -> Self:
        self.spaces_ = spaces
        self.scales_ = scales
        if self._has_one_target:
            for name in ("shares_", "ridge_", "loo_error_", "loo_r2_", "intercept_", "dual_coef_"):
                setattr(self, name, getattr(self, name)[0])
        return self

    def _begin(self, scales: FloatArray, n_targets: int) -> tuple[np.random.Generator, FloatArray, FloatArray, int]:
        """A generator, ridges, shape (L,), shares to try first, shape (D, S), and the number of draws to follow."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.shares_ = np.empty((n_targets, len(scales)))
        self.ridge_, self.loo_error_, self.loo_r2_ = np.empty((3, n_targets))
        ridges = _PATH if self.ridges is None else np.unique(np.atleast_1d(non_negative("ridges", self.ridges)))
        if not ridges.size or not ridges[0] > 0:
            raise ParameterError(f"ridges must be positive numbers, got {self.ridges!r}")
        count = positive_integer("n_draws", self.n_draws, 10**6)
        if self.shares is not None:
            shares = np.atleast_2d(non_negative("shares", self.shares))
            if shares.shape[1:] != scales.shape or not np.allclose(shares.sum(axis=1), 1.0):
                raise ParameterError(
                    f"shares must have shape (n_draws, {len(scales)}) with rows that sum to one, got shape "
                    f"{shares.shape}"
                )
            return rng, ridges, shares, 0
        alive = scales > 0
        if alive.sum() < 2:
            count = 1
        promising = (count - 1) * (self.refine and self.per_target)
        return rng, ridges, first_draws(count - promising, alive | (not alive.any()), rng), promising

    def _keep(self, at: IntArray, search: BandedSearch, total_weight: float) -> None:
        """Keep the best choices of a search for some targets, and their errors."""
        if (search.place < 0).any():
            raise DataError("left-out errors are not finite; divide X and y by constants")
        errors = to_numpy(search.inside).astype(float).sum(axis=1)
        self.shares_[at] = search.best_shares
        self.ridge_[at] = search.best_ridge
        self.loo_error_[at] = errors / total_weight
        self.loo_r2_[at] = 1 - errors / np.where(search.variation > 0, search.variation, np.inf)

    def _search(self, kernels: SpaceKernels, Y: Array) -> None:
        """Search for all targets; those that have the same rows are fitted together."""
        n, C = Y.shape
        rng, ridges, draws, n_promising = self._begin(kernels.scales, C)
        if EPS * n > _DIGITS * ridges.min():
            warnings.warn(
                AccuracyWarning(
                    f"left-out errors at ridges={ridges.min():g} may be off by {EPS * n / ridges.min():.0e} of "
                    "themselves; give larger ridges"
                ),
                stacklevel=3,
            )
        memory = None if self.memory is None else positive_integer("memory", self.memory)
        block, self.planned_memory_ = plan_memory(len(kernels.scales), Y, memory)
        patterns = self._patterns = _patterns(Y, self.missing_targets)
        if is_numpy(Y):
            refuse_large_entries("y", Y)
        if len(patterns) > 1 and not self.per_target:
            raise ParameterError("missing_targets='drop' fits targets separately; use per_target=True")
        is_whole = len(patterns) == 1 and len(patterns[0][1]) == n
        if not is_whole:
            xp = namespace_of(Y)
            self.dual_coef_ = xp.zeros_like(Y.T)
            self.intercept_ = xp.zeros_like(Y[0, :])
        words = f"{counted(C, 'target')}, {self.planned_memory_ / 2**20:,.0f} MiB"
        with LateBar(words, len(patterns) * (len(draws) + n_promising), self.progress) as bar:
            for at, rows in patterns:
                part = self._of_rows(kernels, rows)
                own = Y if is_whole else take_last(select_rows(Y, rows), at)
                found = BandedSearch(part, own, ridges, block)
                if self.per_target:
                    found.search(draws, n_promising, rng, bar.move)
                else:
                    found.search_in_common(draws, bar.move)
                self._keep(at, found, float((part.roots**2).sum()))
                if is_whole:
                    self.dual_coef_ = found.dual
                    self.intercept_ = found.intercept
                    return
                self.dual_coef_[index_on(Y, at)[:, None], index_on(Y, rows)] = found.dual
                self.intercept_[index_on(Y, at)] = found.intercept

    # -- the fitted model -------------------------------------------------------------------------

    @property
    def _gains(self) -> FloatArray:
        """``g_s/v_s`` of every target, shape (C, S)."""
        return np.atleast_2d(self.shares_) / np.where(self.scales_ > 0, self.scales_, np.inf)

    @property
    def _dual(self) -> Array:
        """α in double precision, shape (C, n)."""
        return like(self.dual_coef_, self._rows.weights).reshape(-1, len(self._rows.weights))

    @property
    def penalties_(self) -> FloatArray:
        """The penalty ``λ v_s/g_s`` of every target and space, as scikit-learn's ``alpha``; inf if the share is zero.

        Returns
        -------
        ndarray, shape (n_targets, n_spaces)
            Penalties; shape (n_spaces,) if y has one axis.
        """
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            return np.reshape(np.reshape(self.ridge_, (-1, 1)) / self._gains, self.shares_.shape)

    @property
    def coef_(self) -> Array:
        """Weights of the features, computed at each access.

        Returns
        -------
        array, shape (n_targets, n_features)
            Weights, zero for columns of no space; shape (n_features,) if y has one axis.
        """
        check_is_fitted(self)
        dual = self._dual
        coef = namespace_of(dual).zeros((dual.shape[0], self.n_features_in_), dtype=dual.dtype, device=device_of(dual))
        for gain, columns in zip(self._gains.T, self.spaces_.values(), strict=True):
            coef[:, index_on(coef, columns)] = (
                self._rows.design(columns).onto_features(dual) * like(gain, dual)[:, None]
            )
        return coef.reshape(*np.shape(self.ridge_), -1)

    def _parts(self, X: MatrixLike) -> Iterator[Array]:
        """The contribution of each space to the outputs for new rows, shape (m, C), one after the other."""
        check_is_fitted(self)
        new = checked_features(self, X, reset=False)
        dual = like(self._dual, new)
        for gain, columns in zip(self._gains.T, self.spaces_.values(), strict=True):
            kernel = self._rows.design(columns).onto_samples(new_rows(new, columns, self._rows.feature_means))
            yield like(kernel, dual) @ dual.T * like(gain, dual)

    def predict(self, X: MatrixLike) -> Array:
        """Predict the labels of new rows.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row. Or a table that is read block by block, as for `fit`, or an iterator of blocks of
            rows.

        Returns
        -------
        array, shape (n_samples,) or (n_samples, n_targets)
            In the library and on the device of X: a Dask array, not computed yet, for a Dask collection.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or X does not fit it.
        """
        if is_long(X, X):
            check_is_fitted(self)
            return predicted(self, X, np.shape(self.ridge_))
        first, *others = self._parts(X)
        outputs = sum(others, first) + like(np.atleast_1d(to_numpy(self.intercept_)), first)
        return in_precision_of(X, outputs.reshape(-1, *np.shape(self.ridge_)))

    def predict_by_space(self, X: MatrixLike) -> Array:
        """Predict the contribution of each space; with ``intercept_`` they sum to the output of `predict`.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.

        Returns
        -------
        array, shape (n_spaces, n_samples) or (n_spaces, n_samples, n_targets)
            In the library and on the device of X.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or X does not fit it.
        """
        parts = list(self._parts(X))
        return in_precision_of(X, namespace_of(parts[0]).stack(parts).reshape(len(parts), -1, *np.shape(self.ridge_)))

    def r2_by_space(self, X: MatrixLike, y: ArrayLike) -> FloatArray:
        """Split R² on new rows into the shares that each space explains, by the product measure.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.
        y : array_like or tensor, shape (n_samples,) or (n_samples, n_targets)
            Their labels.

        Returns
        -------
        ndarray, shape (n_spaces,) or (n_targets, n_spaces)
            ``Σ f_s (2 y - f)/Σ y²`` with labels y and outputs f less the mean of y, and the parts f_s of
            `predict_by_space`. The shares of a target sum to its R², less the part of the intercept.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or X or y do not fit it.
        """
        parts = [to_numpy(part) for part in self._parts(X)]
        labels = finite_array("y", to_numpy(y) if is_tensor(y) else y)
        refuse_large_entries("y", labels)
        labels = labels[:, None] if labels.ndim == 1 else labels
        if labels.shape != parts[0].shape:
            raise DataError(f"y must have shape {parts[0].shape} like the predictions, got {labels.shape}")
        means = labels.mean(axis=0)
        labels = labels - means
        rest = 2 * labels - sum(parts[1:], parts[0]) - (np.atleast_1d(to_numpy(self.intercept_)) - means)
        power = (labels**2).sum(axis=0)[:, None]
        found = np.stack([(part * rest).sum(axis=0) for part in parts], axis=-1) / np.where(power > 0, power, np.inf)
        return np.reshape(found, self.shares_.shape)

    def loo_r2_by_space(self) -> FloatArray:
        """Split R² on left-out rows (groups) into the shares that each space explains, by the product measure.

        Every distinct choice of shares and ridge takes another factorisation.

        Returns
        -------
        ndarray, shape (n_spaces,) or (n_targets, n_spaces)
            The shares of a target sum to its R² at the chosen shares and ridge, up to the change of the intercept by
            left-out rows. Without an intercept, R² is then relative to squares about zero.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or is fitted to moments.
        BudgetError
            If a block of targets does not fit into the free memory.
        """
        check_is_fitted(self)
        if not self._patterns:
            raise DataError("loo_r2_by_space leaves out rows, but the model is fitted to moments; fit to rows")
        kernels = space_kernels(self._rows, list(self.spaces_.values()))
        dual = self._dual
        table = np.column_stack([np.reshape(self.ridge_, -1), np.atleast_2d(self.shares_)])
        found = np.empty((len(table), len(self.scales_)))
        block = plan_memory(len(self.scales_), dual.T)[0]
        for targets, rows in self._patterns:
            part = self._of_rows(kernels, rows)
            for choice in np.unique(table[targets], axis=0):
                at = targets[(table[targets] == choice).all(axis=1)]
                for some in np.split(at, range(block, len(at), block)):
                    own = take_last(select_rows(dual, some), rows)
                    found[some] = left_out_r2(part, choice[1:], float(choice[0]), own)
        return found.reshape(self.shares_.shape)

    def _of_rows(self, kernels: SpaceKernels, rows: IntArray) -> SpaceKernels:
        """Kernels of the rows for which some targets have labels."""
        if len(rows) == len(self._rows.owners):
            return kernels
        sets = left_out_groups(self._rows.owners, len(self._rows.owners), rows)
        parts = [take_last(select_rows(K, rows), rows) for K in kernels.kernels]
        return replace(kernels, kernels=parts, roots=select_rows(kernels.roots, rows), sets=sets)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scales_")


# -- labels ---------------------------------------------------------------------------------------


def _labels(estimator: BandedRidge, y: ArrayLike | None, X: Features) -> Array:
    """Checked labels in the library and on the device of X, in single or double precision; shape (n,) or (n, C)."""
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if is_tensor(X):
        xp = namespace_of(X)
        single = is_tensor(y) and dtype_name(y) == "float32"
        Y = like(y, xp.astype(X[:0, :0], xp.float32) if single else X)
    else:
        refuse_odd_values("y", y)
        Y = check_array(
            to_numpy(y) if is_tensor(y) else y,
            ensure_2d=False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            input_name="y",
        )
    if Y.ndim not in (1, 2) or Y.shape[0] != X.shape[0] or 0 in Y.shape:
        raise DataError(f"y must have {X.shape[0]} rows like X, and one or two axes, got shape {tuple(Y.shape)}")
    xp = namespace_of(Y)
    peaks = to_numpy(xp.maximum(xp.max(Y, axis=0), -xp.min(Y, axis=0)))  # of each target
    if ((peaks > 0) & (peaks < float(np.finfo(dtype_name(Y)).smallest_normal) ** 0.5)).any():
        raise DataError("y holds numbers so small that their squares vanish; multiply y by a constant")
    return Y


def _patterns(Y: Array, missing: str) -> list[tuple[IntArray, IntArray]]:
    """Numbers of targets with labels in the same rows, and of these rows; one pair if no label is missing."""
    n, C = Y.shape
    xp = namespace_of(Y)
    if xp.isfinite(xp.sum(Y)):
        return [(np.arange(C), np.arange(n))]
    if xp.any(xp.isinf(Y)):
        raise DataError("y contains infinity; replace or drop those rows")
    gaps = to_numpy(xp.isnan(Y)).astype(bool)
    if missing == "raise" and gaps.any():
        raise DataError(
            f"y contains NaN in {gaps.any(axis=0).sum()} of {counted(C, 'target')}; drop those rows, or leave them out "
            "target by target with missing_targets='drop'"
        )
    patterns, numbers = np.unique(gaps, axis=1, return_inverse=True)
    found = [(np.flatnonzero(numbers.reshape(-1) == k), np.flatnonzero(~gap)) for k, gap in enumerate(patterns.T)]
    short = [at[0] for at, rows in found if len(rows) < 2]
    if short:
        raise DataError(f"target {short[0]} of y has fewer than two labels; leave it out")
    return found

"""RidgeEnsembleRegressor."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from subridge.arrays.namespace import in_precision_of, is_long, is_wide, like, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, MatrixLike
from subridge.estimators.banded import BandedRidge
from subridge.estimators.base import (
    MultiOutputMixin,
    RegressorMixin,
    RidgeEnsembleBase,
    aggregation_of,
    row_weights,
    training_input,
)
from subridge.estimators.blocks import disk_columns, moments_for, new_array, predicted
from subridge.estimators.members import Features
from subridge.model.aggregation import AGGREGATIONS, Aggregation
from subridge.model.checks import truth
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError, SubridgeWarning
from subridge.ridge.candidates import affordable
from subridge.ridge.choose import default_ridges, given_ridges, scored
from subridge.ridge.columns import DiskColumns
from subridge.ridge.moments import MomentBatches, moment_rows
from subridge.ridge.targets import fit_targets
from subridge.store.tasks import place_of

_LEAST_RIDGE = 1e-8  # times rows and the mean square of a row; below it `BandedRidge` loses digits


def _is_weighted_sum(estimator: RidgeEnsembleRegressor, kind: type[Exception] = AttributeError) -> bool:
    """True if the aggregate is linear, with common ridges; else an error, because moments of rows are not enough."""
    if estimator.per_target or not estimator._aggregations()[0].is_linear:
        combined = f"aggregation={estimator.aggregation!r} is no weighted sum and"
        raise kind(
            f"{'per_target=True' if estimator.per_target else combined} needs the rows, not moments; use fit on rows, "
            "or per_target=False and 'mean', 'scaled', 'simplex' or 'free'"
        )
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeEnsembleRegressor(MultiOutputMixin, RegressorMixin, RidgeEnsembleBase):
    """Ridge regression, on all features or on subsets of them, whichever has less error (sec. 2.1 (Setup)).

    By default one ridge on all features is compared with ensembles of members that each see a part of the features. All
    are judged by exact leave-one-out errors, from one factorisation per member and no held-out data. One ridge is
    taken unless another candidate is surely better; ``choice_`` shows the comparison. A given number of members is not
    compared, but fitted as it is.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of members, k; at most ``n_features_in_``. "auto" tries one ridge and 2, 4, 8 and 16 members, more of a
        kind only as long as fewer of them lower the left-out error. If the error of a given number above one exceeds
        that of one ridge by a tenth, there is a `WorseThanOneRidgeWarning`; this check takes one more factorisation.
    subsets : str, SubsetPlan, Strategy, mapping, sequence of columns of shape (N_r,), or callable, default="auto"
        Which features each member sees. "dirichlet": disjoint, of heterogeneous size; "equal": disjoint, equal;
        "overlapping": drawn independently for each member; "projection": Gaussian projections; or explicit subsets, as
        lists of columns (integers, or names of those of a data frame) or a mapping from names to columns as in
        `BandedRidge`; or a callable ``(n_features, rng)`` that returns them. Explicit subsets override `n_estimators`.
        "auto" tries equal and heterogeneous subsets, and overlapping ones of half of the features; with a given number
        of members it is "dirichlet".
    fraction_spread : float, default=0.75
        For "dirichlet": coefficient of variation of the subset sizes before they are scaled to sum to one.
    subset_sizes : int, float or sequence, optional
        For "overlapping" and "projection": number (int) or share (float) of the features of a member, or one per
        member. Default: the share 1/k.
    ridge : float, sequence of float or "auto", default="auto"
        λ in the paper's convention, or one per member: λ_r = `ridge` is scikit-learn's ``Ridge(alpha=ridge * N_r)`` on
        the member's N_r features. 0 gives the minimum-norm solution. "auto" chooses from `ridges` by exact
        leave-one-out errors.
    ridge_scope : {"ensemble", "member", "joint"}, default="ensemble"
        Which ridges "auto" chooses. "ensemble": one common value, with the least error of the aggregate. "member": for
        each member the value with its own least error (as ``BaggingRegressor(RidgeCV())`` does). "joint": one value per
        member, found from the common value by coordinate descent on the error of the aggregate.
    ridges : sequence of float, optional
        The path that "auto" searches. Default: half decades from 1e-3 to 1e5 times the mean square of a (centred)
        feature, further up if the best is at that end, and further down if smaller ridges are surely better.
    fit_intercept : bool, default=True
        Centre the data; the intercept is not penalised.
    readout_noise : float or sequence of float, default=0.0
        η_r: standard deviation of noise subtracted from the labels of each member in training, as for noisy hardware.
        Predictions are made without noise; errors refer to the labels without it.
    scoring : {"neg_mean_squared_error", "neg_mean_absolute_error", "r2"}, optional
        The score of left-out rows by which "auto" chooses the ridge; squared error by default. "r2" measures every
        target in units of its variance. ``loo_path_`` then holds the loss of that score (1 - R² for "r2").
    gap : int, default=0
        For rows in time order: every row is left out with this number of neighbours on either side.
    max_samples : float or int, default=1.0
        Rows that each member sees: a share of all (float) or their number (int), drawn without repeats, independently
        for each member. One ridge that is compared with ensembles (``n_estimators="auto"``) sees all rows. Left-out
        errors stay exact: a row that is left out changes only the members that saw it. Not with `groups` or `gap`.
    missing : {"raise", "drop-members"}, default="raise"
        For NaN in X when predicting: raise an error, or leave out, row by row, the members that see a missing column.
        The others then get new weights from their block of the risk matrix. Training data must be complete.
    random_state : int, RandomState or None
        Seed of subsets and readout noise.
    aggregation : {"auto", "mean", "scaled", "simplex", "free", "median"} or Aggregation, default="auto"
        "auto" chooses "mean", "scaled" or "free" by left-out errors. "scaled" multiplies the mean by one number s ≥ 0,
        "simplex" weighs members with w ≥ 0 and sum one, "free" with w ≥ 0 of any sum; each minimises the squared error
        of the members' exact leave-one-out predictions. Weights apply to outputs less the mean of y, which is never
        scaled.
    per_target : bool, default=False
        Choose ridges and fit weights for each target separately: one ridge, or one for each member (`ridge_scope`).
        Members are factorised once. ``n_estimators="auto"`` is then one ridge on all features, and
        ``aggregation="auto"`` is the mean for one member and "free" for several. The default path is not extended. The
        aggregation must be a weighted sum, and X must be in memory. Readout noise, `max_samples`, absolute errors,
        intervals and members that drop out are not supported.
    weights_per_target : None
        Not supported. Use `per_target`, or, for weights alone, an aggregation such as
        ``sr.aggregation.Free(per_target=True)``.

    Attributes
    ----------
    coef_ : array, shape (n_features,) or (n_targets, n_features)
        The whole ensemble as one linear map, computed at access if dual coefficients are smaller. Absent for the
        median, which is not linear. A zarr array if `fit` wrote it to `coef_path`.
    intercept_ : float or array, shape (n_targets,)
        The intercept of that map.
    ensemble_ : Ensemble
        The fitted subsets, ridges (the medians over targets, if each has its own), readout noise and aggregation, for
        `forecast` and `risk_matrix`.
    estimators_features_ : list of ndarray, each of shape (N_r,)
        Feature indices of each member (for "projection" its matrix, shape (N_r, n_features)).
    estimators_samples_ : list of ndarray, each of shape (n_seen,)
        Rows that each member sees, if it does not see all.
    estimators_coef_ : list of array, each of shape (N_r,) or (n_targets, N_r)
        Members' weights on unscaled features; the paper's ŵ_r is √N_r times as large.
    estimators_intercept_ : list
        The intercept of each member.
    n_estimators_ : int
        Number of members.
    ridge_ : float or ndarray, shape (k,), (n_targets,) or (n_targets, k)
        λ, as given or as chosen.
    choice_ : Choice
        The candidates that were tried: left-out error, gain over one ridge with its standard error, and time.
        ``print(model.choice_)`` shows them as a table.
    ridge_path_, loo_path_ : ndarray, shape (L,)
        The ridges that "auto" searched, and the aggregate's plain left-out error at each.
    risk_matrix_ : ndarray, shape (k, k)
        Ê_rr′ + ζ² from leave-one-out errors, summed over targets.
    loo_error_ : float or ndarray, shape (n_targets,)
        Exact leave-one-out squared error, summed over targets, of the whole procedure: subsets, ridges and weights are
        chosen again without each row (its group). If there are too many rows for that, it is done for some, drawn at
        random, and the ratio of their errors corrects the error of all rows. Without rows it is the trace form. With
        `per_target` it is the error of each target: each tenth of the rows (groups) is judged at the choice that the
        others make.
    loo_r2_ : float or ndarray, shape (n_targets,)
        With `per_target`: the explained share of each target's variance, from the same errors.
    loo_predictions_ : array, shape (n_samples,) or (n_samples, n_targets)
        Predictions for each row of positive weight by an ensemble that was chosen and trained without it (its group,
        its neighbours). If choices are repeated only for some rows, the other predictions use the choice of the whole
        fit. Like `risk_matrix_`, `choice_` and the attributes of single members, absent with `per_target`.
    weights_ : ndarray, shape (k,), or (n_targets, k) with weights for each target
        Aggregation weights. Absent for the median.
    subset_plan_ : SubsetPlan
        The features that each member sees.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Their names, if X is a data frame.

    See Also
    --------
    RidgeEnsembleClassifier : the same members for classification.
    advise : which ensemble suits a data set.
    forecast : its error with more or fewer samples.
    risk : its typical error by theory.
    subridge.subsets : ways to draw subsets.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 40))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(60)
    >>> model = sr.RidgeEnsembleRegressor(random_state=0).fit(X, y)
    >>> model.choice_.name, model.coef_.shape, model.predict(X[:3]).shape
    ('one ridge', (40,), (3,))

    Four members that see disjoint parts, averaged, or weighted by left-out errors:

    >>> members = sr.subsets.equal(4, 40, seed=0)
    >>> mean = sr.RidgeEnsembleRegressor(subsets=members, aggregation="mean").fit(X, y)
    >>> weighted = sr.RidgeEnsembleRegressor(subsets=members, aggregation="simplex").fit(X, y)
    >>> mean.risk_matrix_.shape, bool(weighted.loo_error_ < mean.loo_error_)
    ((4, 4), True)

    A ridge for each target, so that a noisy one in large units does not affect the others:

    >>> Y = np.column_stack([y, 100 * rng.standard_normal(60)])
    >>> own = sr.RidgeEnsembleRegressor(1, per_target=True).fit(X, Y)
    >>> own.ridge_.shape, own.loo_r2_.round(1)
    ((2,), array([ 1. , -0.1]))

    Weighted sums can be fitted to a stream of rows:

    >>> for rows in (slice(0, 30), slice(30, 60)):
    ...     model = model.partial_fit(X[rows], y[rows])
    """

    aggregation: str | Aggregation = "auto"
    per_target: bool = False
    weights_per_target: None = None

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        coef_path: str | Path | None = None,
    ) -> Self:
        """Fit the members and choose their ridges.

        A table longer than memory is read once, block by block, as by `gather_moments`. Ridges, weights and candidates
        are then chosen by the trace form of left-out errors, which needs moments only.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            Samples, one per row. Or a Dask array or frame, a zarr array, a memory map larger than memory, a polars
            LazyFrame, an iterator of (X, y) batches, or `MomentBatches`.
        y : array_like or tensor, shape (n_samples,) or (n_samples, n_targets)
            Their labels; None if X gives them.
        sample_weight : array_like, shape (n_samples,), optional
            How much each row counts. A row of weight two is left out as one row.
        groups : array_like, shape (n_samples,), optional
            Labels of groups whose rows depend on each other, such as subjects: rows are then left out by groups, and
            every choice and every ``loo_`` attribute refers to new groups.
        coef_path : str or Path, optional
            Path of a new zarr array for `coef_`, shape (n_targets, n_features), which is written a block of columns at
            a time. For many targets and a wide table on disk, whose weights need not fit in memory. ``coef_`` is that
            array, and ``estimators_coef_`` is empty. If the fit fails, nothing is written.

        Returns
        -------
        RidgeEnsembleRegressor
            Itself, fitted.

        Raises
        ------
        DataError, ParameterError
            If the data cannot be used as given, or a constructor parameter is invalid.
        StoreError
            If `coef_path` exists or cannot be written.
        """
        if self.weights_per_target is not None:
            raise ParameterError(
                f"weights_per_target={self.weights_per_target!r} is not supported; use per_target=True for separate "
                "ridges and weights, or aggregation=sr.aggregation.Free(per_target=True) for weights alone"
            )
        features: Features | DiskColumns
        if is_wide(X):
            labels = training_input(self, np.zeros((X.shape[0], 1)), y, reset=True, numeric=True)[1]
            self.n_features_in_ = X.shape[1]
            features = disk_columns(X)
        elif coef_path is not None:
            raise ParameterError("coef_path= is for wide tables on disk; leave it out, and coef_ is in memory")
        elif isinstance(X, MomentBatches) or is_long(X, y):
            return self._fit_long(X, y, sample_weight, groups)
        else:
            features, labels = training_input(self, X, y, reset=True, numeric=True)
        weights = row_weights(sample_weight, len(labels))
        targets = labels.reshape(len(labels), -1).T
        self._has_one_target = labels.ndim == 1
        aggregations = affordable(self._aggregations(), len(labels))
        if truth("per_target", self.per_target):
            return self._fit_targets(features, targets, weights, groups, aggregations)
        if coef_path is not None:
            self._refuse(("readout_noise", "max_samples", "missing"), "needs members in memory; leave out coef_path=")
            _is_weighted_sum(self, ParameterError)
        try:
            with nullcontext() if coef_path is None else new_array(coef_path) as scratch:
                if isinstance(features, DiskColumns):
                    features = replace(features, scratch=scratch)
                left_out = self._fit(features, targets, weights, groups, aggregations)
        except BaseException:
            self._forget()
            raise
        if coef_path is not None:
            import zarr

            coef: Any = zarr.open_array(str(place_of(coef_path)), mode="r")
            self._map = coef, self._map[1]
        self.loo_predictions_ = self._shaped(left_out.predictions)
        if is_wide(X):
            del self._left_out  # which keeps the file open
        return self

    def _fit_targets(
        self,
        X: Features | DiskColumns,
        targets: Array,
        weights: FloatArray,
        groups: ArrayLike | None,
        aggregations: Sequence[Aggregation],
    ) -> Self:
        """Fit one ensemble with ridges and weights for each target, without a choice of subsets or aggregation."""
        seed = self._seeds()[0]
        self._refuse(("readout_noise", "max_samples", "missing"), "is not supported with per_target=True; leave it out")
        if not aggregations[0].is_linear or isinstance(X, DiskColumns):
            raise ParameterError(
                "per_target=True needs a weighted sum of members, and X in memory; use per_target=False, or another "
                f"aggregation than {self.aggregation!r}"
            )
        rows = self._training_rows(X, targets, weights, groups)
        families = self._families(rows.column_squares > 0, seed)
        plan = families[0][0].plan
        A = plan.measurements[0]
        k = plan.n_members
        aggregation = aggregations[0 if k == 1 else -1]
        scored(aggregation, self.scoring, rows)  # refuses what is no score
        fixed = self._given_ridges(families)
        if fixed is not None:
            ridges = fixed.reshape(1, -1)
        elif self.ridges is not None:
            ridges = given_ridges(self.ridges)
        else:
            ridges = default_ridges(rows.column_squares, rows.n_samples, plan.subset_sizes.max())
        # One member with a kernel is a BandedRidge of one space, whose ridges are in units of a row's mean square.
        unit = rows.column_squares[A].sum() / len(A) if A.ndim == 1 else 0.0
        by_kernel = k == 1 and aggregation.is_mean and len(A) >= rows.room and not self.gap
        if by_kernel and unit > 0 and ridges.min() > _LEAST_RIDGE * rows.n_samples * unit:
            del rows  # copies of X and y
            model = BandedRidge({"all": A}, ridges=ridges.ravel() / unit, fit_intercept=self.fit_intercept)
            with warnings.catch_warnings(action="ignore", category=SubridgeWarning):  # of rows, which were given above
                self._by_target = model.fit(X, targets.T, weights, groups)
            places = (ridges.ravel() / unit).searchsorted(model.ridge_)[:, None]
            own = np.ones((len(targets), 1))
            intercept = model.predict(like(np.zeros((1, X.shape[1])), X))[0, :]
            coef = intercept[:0]
            error, r2 = model.loo_error_, model.loo_r2_
        else:
            places, own, error, coef = fit_targets(rows, plan, ridges, aggregation, self.ridge_scope)
            intercept = rows.centred_targets[1] - coef @ rows.feature_means
            centred = replace(rows, fit_intercept=True).centred_targets[0]
            variance = to_numpy((centred * centred).sum(axis=1)) / rows.total_weight
            r2 = 1 - error / np.where(variance > 0, variance, np.inf)
        self._map = coef, intercept
        table = np.broadcast_to(ridges.reshape(len(ridges), -1), (len(ridges), k))[places, np.arange(k)]
        self.ensemble_ = Ensemble(plan, np.median(table, axis=0), 0.0, aggregation)
        self._keep_plan(plan)
        if self.ridge_scope == "ensemble" and (table == table[:, :1]).all():
            table = table[:, 0]
        found = {"ridge_": table, "weights_": own, "loo_error_": error, "loo_r2_": r2, "intercept_": intercept}
        for name, values in found.items():
            setattr(self, name, values[0] if self._has_one_target else values)
        return self

    def _fit_long(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Self:
        """Fit to the moments of a table that is read block by block."""
        self._forget()
        _is_weighted_sum(self, ParameterError)
        if groups is not None:
            raise ParameterError("groups= needs the rows, but X is read as moments of batches; fit to rows in memory")
        moments = moments_for(self, X, y, sample_weight, 1 + self.fit_intercept)
        self._fit_moments(
            moment_rows(moments.batches, self.fit_intercept, moments.standardise),
            self._aggregations(),
            self._seeds()[0],
        )
        return self

    @available_if(_is_weighted_sum)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of rows; only moments are kept, of at most 32 batches of neighbouring rows.

        Subsets are drawn at the first call; an earlier `fit` is forgotten. Every call chooses again, by corrected
        generalised cross-validation (Bellec et al. 2023, arXiv 2310.01374). The median, readout noise, `gap`,
        `max_samples` and absolute errors need the rows and are not supported.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            More samples, one per row.
        y : array_like or tensor, shape (n_samples,) or (n_samples, n_targets)
            Their labels.
        sample_weight : array_like, shape (n_samples,), optional
            How much each row counts. Left-out errors are taken as independent of the weight; with inverse variances
            of the labels as weights `loo_error_` is too high, and so are ridges. `fit` has no such limit.

        Returns
        -------
        RidgeEnsembleRegressor
            Itself, fitted to all rows so far.

        Raises
        ------
        DataError, ParameterError
            If the data cannot be used as given, or a parameter needs all rows at once.
        """
        features, labels = training_input(self, X, y, reset=not hasattr(self, "_moments"), numeric=True)
        vars(self).setdefault("_has_one_target", labels.ndim == 1)  # as in the first batch
        self._absorb(
            features, labels.reshape(len(labels), -1).T, row_weights(sample_weight, len(labels)), self._aggregations()
        )
        return self

    def predict(self, X: MatrixLike) -> Array:
        """Predict labels, by one matrix product for any k (one per member for the median).

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
        if is_long(X, X) and not is_wide(X):
            check_is_fitted(self)
            return predicted(self, X, () if self._has_one_target else (len(self._map[1]),))
        return in_precision_of(X, self._shaped(self._outputs(X)))

    def predict_interval(self, X: MatrixLike, level: float = 0.9) -> tuple[Array, Array]:
        """Give intervals for single new labels by jackknife+, in closed form.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.
        level : float
            Nominal coverage, 0.5 or more. In practice the coverage is close to `level`. It is at least 2·level - 1, for
            any distribution, if ridge and weights are fixed beforehand and rows (with `groups`: groups) are
            exchangeable. This theorem does not apply to chosen ridges, fitted weights and `gap`.

        Returns
        -------
        lower, upper : array, each of shape (n_samples,) or (n_samples, n_targets)
            Ends of the intervals.

        Raises
        ------
        ParameterError
            If `level` does not lie between 0.5 and 1, or is too high for the number of rows or groups.
        NotFittedError, DataError
            If the model is not fitted to rows, or X does not fit it.

        Examples
        --------
        >>> import numpy as np, subridge as sr
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((300, 10))
        >>> y = X[:, 0] + rng.standard_normal(300)
        >>> model = sr.RidgeEnsembleRegressor(1, ridge=0.1, random_state=0).fit(X[:200], y[:200])
        >>> lower, upper = model.predict_interval(X[200:], level=0.9)
        >>> bool(0.8 < ((lower < y[200:]) & (y[200:] < upper)).mean() < 0.98)
        True
        """
        left_out, features = self._without_each(X, "predict_interval")
        lower, upper = (in_precision_of(X, self._shaped(each)) for each in left_out.intervals(features, level))
        return lower, upper

    @property
    def coef_(self) -> Array:
        """The whole ensemble as one linear map, computed at each access if dual coefficients are smaller.

        Returns
        -------
        array, shape (n_features,) or (n_targets, n_features)
            Weights of the features; absent for the median, which is not linear.
        """
        if not self.ensemble_.aggregation.is_linear:
            raise AttributeError(f"aggregation={self.aggregation!r} is not linear and has no coef_")
        coef = self._by_target.coef_ if hasattr(self, "_by_target") else self._map[0]
        return coef[0, ...] if self._has_one_target else coef

    def _shaped(self, output: Array) -> Array:
        """An output with targets on its first axis, in the shape of y."""
        return output[0, ...] if self._has_one_target else output.T

    def _publish(self) -> None:
        """Set the public attributes from the members, for one target or several."""
        single = self._has_one_target
        self.estimators_coef_ = [coef[0, ...] if single else coef for coef in self._members.coefficients]
        self.estimators_intercept_ = [value[0, ...] if single else value for value in self._members.intercepts]
        if self.ensemble_.aggregation.is_linear:
            weights = self._member_weights
            self.weights_ = weights[0] if single and weights.ndim == 2 else weights
            self.intercept_ = self._map[1][0, ...] if single else self._map[1]

    def _aggregations(self) -> list[Aggregation]:
        is_open = isinstance(self.aggregation, str) and self.aggregation == "auto"
        names = ("mean", "scaled", "free") if is_open else (self.aggregation,)
        return [aggregation_of("aggregation", each, decides_classes=False) for each in names]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's check puts the signal in one feature of ten, which an unweighted mean of disjoint members
        # shrinks by 1/k whatever the ridge; fitted weights do not.
        found = AGGREGATIONS.get(self.aggregation) if isinstance(self.aggregation, str) else self.aggregation
        is_averaged = isinstance(found, Aggregation) and not found.fits_weights
        tags.regressor_tags.poor_score = is_averaged and not isinstance(self.n_estimators, str)
        return tags

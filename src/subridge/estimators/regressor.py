"""RidgeEnsembleRegressor."""

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from subridge.arrays.namespace import in_precision_of, like
from subridge.ensemble.member_weights import member_weights
from subridge.estimators.base import RidgeEnsembleBase
from subridge.estimators.inputs import drop_weightless, prediction_input, require_rows, row_weights, training_input
from subridge.ridge.aggregation import LossFunction, MeanLoss, MedianLoss, WeightedLoss, median
from subridge.ridge.rows.training import training_rows
from subridge.spec.errors import ParameterError

_LOSSES: dict[str, LossFunction] = {
    "mean": MeanLoss(),
    "optimal": WeightedLoss(member_weights),
    "median": MedianLoss(),
}


def _streams(estimator: Any) -> bool:
    if estimator.aggregation != "mean":
        raise AttributeError(
            f"partial_fit serves aggregation='mean' only; aggregation={estimator.aggregation!r} needs the rows: use fit"
        )
    return True


class RidgeEnsembleRegressor(MultiOutputMixin, RegressorMixin, RidgeEnsembleBase):
    """Ridge regression on subsets of the features, averaged (sec. Setup).

    Heterogeneous subsets leave no double-descent spike; the ridge is chosen by the exact leave-one-out error of the
    ensemble, from one factorisation per member and no held-out data.

    Parameters
    ----------
    n_estimators : int, default=10
        k. No more than ``n_features_in_`` members are made.
    subsets : str, SubsetPlan, strategy, sequence of index arrays, or callable, default="dirichlet"
        Which features each member sees. "dirichlet": disjoint, of heterogeneous size; "equal": disjoint, equal;
        "overlapping": drawn independently for each member; "projection": Gaussian projections; or explicit subsets;
        or a callable ``(n_features, rng)`` that returns them. Explicit subsets overrule `n_estimators`.
    fraction_spread : float, default=0.75
        For "dirichlet": coefficient of variation of the subset sizes before they are scaled to sum to one.
    subset_sizes : int, float or sequence, optional
        For "overlapping" and "projection": features (int) or share of the features (float) of a member, or one per
        member. Default: an even share, 1/k.
    ridge : float, sequence of float, "auto", "auto-member" or "auto-joint", default="auto"
        λ in the paper's convention, or one per member: λ_r = `ridge` is scikit-learn's ``Ridge(alpha=ridge * N_r)`` on
        the member's N_r features. 0 is the minimum-norm solution. "auto" takes from `ridges` the common value with the
        least exact leave-one-out error of the aggregate; "auto-member" gives each member the one with its own least
        error (as ``BaggingRegressor(RidgeCV())`` does); "auto-joint" improves on "auto" by coordinate descent over the
        members' ridges.
    ridges : sequence of float, optional
        The path that "auto" searches. Default: 17 values, 1e-3 to 1e5 times the mean square of a (centred) feature.
    aggregation : {"mean", "optimal", "median"}, default="mean"
        "optimal" weighs members on the simplex to minimise ``wᵀÊw`` with the leave-one-out risk matrix Ê.
    fit_intercept : bool, default=True
        Centre the data; the intercept is not penalised.
    readout_noise : float or sequence of float, default=0.0
        η_r: standard deviation of noise taken from the labels of each member in training, as for noisy hardware.
        Predictions are made without noise; errors refer to the labels without it.
    random_state : int, RandomState or None
        Draws subsets and readout noise.

    Attributes
    ----------
    coef_ : array, shape (n_features,) or (n_targets, n_features)
        The whole ensemble as one linear map. Absent for the median, which is not linear.
    intercept_ : float or array, shape (n_targets,)
    estimators_features_ : list of ndarray
        Feature indices of each member (projection matrices for "projection").
    estimators_coef_ : list of array, each of shape (N_r,) or (n_targets, N_r)
        Members' weights on unscaled features; the paper's ŵ_r is √N_r times as large.
    estimators_intercept_ : list
    n_estimators_ : int
    ridge_ : float or ndarray, shape (k,)
    ridge_path_, loo_path_ : ndarray, shape (L,)
        What "auto" searched, and the aggregate's error at each value.
    risk_matrix_ : ndarray, shape (k, k)
        Ê_rr′ + ζ² from leave-one-out errors, summed over targets.
    loo_error_ : float
        Exact leave-one-out squared error of the aggregate, summed over targets. After `partial_fit` both come from the
        trace form.
    weights_ : ndarray, shape (k,)
        Aggregation weights. Absent for the median.
    subset_plan_ : SubsetPlan
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    RidgeEnsembleClassifier : votes of such members.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 40))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(60)
    >>> model = sr.RidgeEnsembleRegressor(n_estimators=4, random_state=0).fit(X, y)
    >>> model.coef_.shape, model.risk_matrix_.shape
    ((40,), (4, 4))
    >>> weighted = sr.RidgeEnsembleRegressor(n_estimators=4, aggregation="optimal", random_state=0).fit(X, y)
    >>> bool(weighted.loo_error_ < model.loo_error_)
    True
    """

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        subsets: Any = "dirichlet",
        fraction_spread: float = 0.75,
        subset_sizes: Any = None,
        ridge: Any = "auto",
        ridges: Any = None,
        aggregation: str = "mean",
        fit_intercept: bool = True,
        readout_noise: Any = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.subsets = subsets
        self.fraction_spread = fraction_spread
        self.subset_sizes = subset_sizes
        self.ridge = ridge
        self.ridges = ridges
        self.aggregation = aggregation
        self.fit_intercept = fit_intercept
        self.readout_noise = readout_noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RidgeEnsembleRegressor":
        """Fit the members and choose their ridges.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
        y : array_like or tensor, shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array_like, shape (n_samples,), optional
            Leave-one-out leaves out rows: a row of weight two is one row.

        Returns
        -------
        self
        """
        loss = self._loss()
        X, y = training_input(self, X, y, reset=True, numeric=True)
        self._forget()
        rng = self._draw_subsets(X.shape[1])
        targets = y[None, :] if y.ndim == 1 else y.T
        X, targets, weights = drop_weightless(X, targets, row_weights(sample_weight, X))
        require_rows(X.shape[0], self.fit_intercept)
        rows = training_rows(X, targets, weights, self.fit_intercept)
        self._fit_members(rows, loss, self._draw_noise(targets, rng))
        self._publish(single=y.ndim == 1)
        return self

    @available_if(_streams)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RidgeEnsembleRegressor":
        """Add a batch of rows; only their moments are kept, M² + O(M) numbers.

        Subsets are drawn at the first call; rows of an earlier `fit` are forgotten. "auto" minimises the trace form
        (generalised cross-validation) of the mean's error. Median, optimal weights, "auto-member", "auto-joint" and
        readout noise need the rows and are refused.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
        y : array_like or tensor, shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array_like, shape (n_samples,), optional

        Returns
        -------
        self
        """
        first = getattr(self, "_moments", None) is None
        X, y = training_input(self, X, y, reset=first, numeric=True)
        if first:
            self._start_stream(X.shape[1])
        targets = y[None, :] if y.ndim == 1 else y.T
        X, targets, weights = drop_weightless(X, targets, row_weights(sample_weight, X))
        self._absorb(X, targets, weights)
        self._fit_moments()
        self._publish(single=y.ndim == 1)
        return self

    def predict(self, X: Any) -> Any:
        """Predict; one matrix product whatever k is (one per member for the median).

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples,) or (n_samples, n_targets)
            In the library and on the device of X.
        """
        given, X = X, prediction_input(self, X)
        if self.aggregation == "median":
            output = median(self._member_scores(X)).T
            return in_precision_of(given, output[:, 0] if self._single_target else output)
        example = self._example(X)
        coef, intercept = like(self.coef_, example), like(self.intercept_, example)
        return in_precision_of(given, X @ (coef if coef.ndim == 1 else coef.T) + intercept)

    def _publish(self, *, single: bool) -> None:
        """Set the public attributes from the members."""
        self._single_target = single
        self.estimators_coef_ = [coef[0] if single else coef for coef in self._member_coef]
        self.estimators_intercept_ = [value[0] if single else value for value in self._member_intercept]
        if self.aggregation == "median":
            return
        k = self.n_estimators_
        self.weights_ = member_weights(self.risk_matrix_) if self.aggregation == "optimal" else np.full(k, 1 / k)
        coef, intercept = self._collapse(self.weights_)
        self.coef_, self.intercept_ = (coef[0], intercept[0]) if single else (coef, intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's check puts the signal in one feature of ten, which an unweighted mean of disjoint members
        # shrinks by 1/k whatever the ridge; optimal weights do not.
        tags.regressor_tags.poor_score = self.aggregation != "optimal"
        return tags

    def _loss(self) -> LossFunction:
        if self.aggregation not in _LOSSES:
            raise ParameterError(f"aggregation must be one of {tuple(_LOSSES)}, got {self.aggregation!r}")
        return _LOSSES[self.aggregation]

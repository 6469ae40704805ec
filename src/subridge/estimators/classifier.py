"""RidgeEnsembleClassifier."""

from typing import Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError

from subridge.arrays.namespace import in_precision_of, like, to_numpy
from subridge.arrays.types import Array, ArrayLike, MatrixLike
from subridge.ensemble.aggregation import Aggregation, LinearAggregation, Mean, Summed
from subridge.ensemble.aggregation.ties import first_largest, misclassified_share
from subridge.estimators.class_targets import ClassWeight, class_row_weights, classes_at, one_hot
from subridge.estimators.coverage import PredictsSets
from subridge.estimators.inputs import Labels, classes_of, classification_input, drop_weightless, require_rows
from subridge.estimators.left_out import left_out_sets
from subridge.estimators.members import example_of
from subridge.estimators.missing_columns import Missing, drops_members, lacks_columns, outputs_without
from subridge.estimators.translate import Subsets, affordable, voting_of
from subridge.ridge.calibration import fit_temperature, softmax
from subridge.ridge.rows.training import training_rows
from subridge.spec.errors import DataError, ParameterError
from subridge.spec.scope import Scope


class RidgeEnsembleClassifier(ClassifierMixin, PredictsSets):  # type: ignore[misc]
    """Votes of ridge classifiers on subsets of the features (sec. E.2 (LinClassTrainingSection)).

    Each member regresses one-hot labels on its features; its vote is the class with the largest score.

    Parameters
    ----------
    n_estimators : int, default=10
        k. No more than ``n_features_in_`` members are made.
    subsets, fraction_spread, subset_sizes, ridge
        As for `RidgeEnsembleRegressor`.
    ridge_scope : {"ensemble", "member", "joint"}, default="ensemble"
        For whom "auto" chooses. "ensemble" and "joint" minimise the share of left-out samples that the ensemble
        misclassifies (equal shares: the squared error of the mean score), "member" each member's squared error.
    ridges : sequence of float, optional
        The path that "auto" searches.
    voting : {"majority", "sum"} or Aggregation, default="majority"
        "majority": the class with most votes; ties go to the largest summed score among the tied, then to the lowest
        class. "sum": the class with the largest summed score.
    score_weights : {"equal", "scaled", "simplex", "free"} or Aggregation, default="equal"
        For ``voting="sum"``: weights of the members' scores, fitted for each class to the leave-one-out scores as the
        `aggregation` of `RidgeEnsembleRegressor`; ridges then minimise the squared error of the weighted scores.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the sample weights.
    readout_noise : float or sequence of float, default=0.0
        Standard deviation of the noise taken from each member's one-hot labels in training.
    scoring : {"accuracy", "neg_log_loss"}, optional
        What "auto" chooses the ridge by, on left-out rows; "neg_log_loss" is the cross-entropy of calibrated
        probabilities, and ``loo_path_`` then holds it.
    gap, missing, random_state
        As for `RidgeEnsembleRegressor`.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    coef_ : array, shape (n_classes, n_features), or (1, n_features) for two classes
        The mean of the members' scores as one linear map (for two classes: of the second minus the first).
    intercept_ : array, shape (n_classes,) or (1,)
    estimators_coef_ : list of array, each of shape (n_classes, N_r)
    loo_error_ : float
        Share of left-out training samples that the ensemble misclassifies (after `partial_fit`: the trace form of the
        mean score's squared error).
    loo_predictions_, loo_probabilities_ : array, shape (n_samples,) and (n_samples, n_classes)
        Classes and probabilities of the rows when they (their groups, their neighbours) are left out.
    risk_matrix_ : ndarray, shape (k, k)
        Of the scores' squared errors, summed over classes.
    temperature_ : float
        β of ``predict_proba``: ``softmax(β · decision)``, fitted to the votes (or scores) of left-out samples.
    ensemble_, estimators_features_, estimators_intercept_, n_estimators_, subset_plan_, weights_
        As for `RidgeEnsembleRegressor`.
    ridge_, ridge_path_, loo_path_
        As for `RidgeEnsembleRegressor`.

    See Also
    --------
    RidgeEnsembleRegressor : such members for numbers.
    simulate_classification : how voting ensembles learn.
    forecast : their error with more or fewer samples.

    Examples
    --------
    >>> import subridge as sr
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sr.RidgeEnsembleClassifier(n_estimators=2, voting="sum", random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (150, 3)
    >>> bool(model.score(X, y) > 0.75)
    True
    """

    classes_: Labels
    loo_predictions_: Labels
    loo_probabilities_: Array
    temperature_: float
    _mean_score: tuple[Array, Array]

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        subsets: Subsets = "dirichlet",
        fraction_spread: float = 0.75,
        subset_sizes: ArrayLike | None = None,
        ridge: ArrayLike | Literal["auto"] = "auto",
        ridge_scope: Scope = "ensemble",
        ridges: ArrayLike | None = None,
        voting: str | Aggregation = "majority",
        score_weights: str | Aggregation = "equal",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        readout_noise: ArrayLike = 0.0,
        scoring: str | None = None,
        gap: int = 0,
        missing: Missing = "raise",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.subsets = subsets
        self.fraction_spread = fraction_spread
        self.subset_sizes = subset_sizes
        self.ridge = ridge
        self.ridge_scope = ridge_scope
        self.ridges = ridges
        self.voting = voting
        self.score_weights = score_weights
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.readout_noise = readout_noise
        self.scoring = scoring
        self.gap = gap
        self.missing = missing
        self.random_state = random_state

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the members, choose their ridges and calibrate the probabilities.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
        y : array_like or tensor, shape (n_samples,)
        sample_weight : array_like, shape (n_samples,), optional
        groups : array_like, shape (n_samples,), optional
            Labels of groups whose rows depend on each other: rows are then left out by groups, as in
            `RidgeEnsembleRegressor`.

        Returns
        -------
        self
        """
        features, labels = classification_input(self, X, y, reset=True)
        aggregation = affordable(self._aggregation(), features.shape[0])
        self.classes_ = classes_of(labels)
        rng = self._describe(aggregation, features.shape[1])
        weights = class_row_weights(features, labels, sample_weight, self.class_weight)
        together = left_out_sets(groups, self.gap, weights, features.shape[0])
        features, targets, weights = drop_weightless(features, one_hot(features, labels, self.classes_), weights)
        require_rows(features.shape[0], self.fit_intercept)
        rows = training_rows(features, targets, weights, self.fit_intercept, together)
        kept = self._fit_rows(rows, rng)
        weights = aggregation.weights(self._member_moments) if isinstance(aggregation, LinearAggregation) else None
        decision = kept.outputs(aggregation, weights) / (self.n_estimators_ if weights is None else 1)
        if weights is not None:
            self.loo_error_ = misclassified_share(first_largest(decision), targets, rows.weights)
        self.temperature_ = fit_temperature(decision, targets, rows.weights)
        self.loo_predictions_ = classes_at(first_largest(decision), self.classes_)
        self.loo_probabilities_ = softmax(decision, self.temperature_).T
        self._publish()
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch of rows; only their moments are kept.

        Subsets are drawn at the first call; rows of an earlier `fit` are forgotten. "auto" minimises the trace form
        of the mean score's squared error, and members may vote as usual. Probabilities need left-out votes and hence
        rows: `predict_proba` is refused; so are ``ridge_scope`` other than "ensemble", readout noise and balanced class
        weights.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
        y : array_like or tensor, shape (n_samples,)
        classes : array_like, shape (n_classes,)
            All classes of the stream; needed at the first call (after a `fit`, its classes are taken).
        sample_weight : array_like, shape (n_samples,), optional

        Returns
        -------
        self
        """
        aggregation = self._aggregation()
        if isinstance(aggregation, LinearAggregation):
            raise ParameterError(
                "score_weights need the rows and cannot be streamed; use fit, or score_weights='equal'"
            )
        if isinstance(self.class_weight, str):
            raise ParameterError(f"class_weight={self.class_weight!r} needs all labels; to stream, give a dict")
        first = self._moments is None
        features, labels = classification_input(self, X, y, reset=first)
        if first:
            if classes is None and not hasattr(self, "classes_"):
                raise ParameterError("classes must name every class at the first call of partial_fit")
            self.classes_ = self.classes_ if classes is None else classes_of(to_numpy(classes))
            self._start_stream(aggregation, features.shape[1])
        elif classes is not None and not np.array_equal(np.unique(to_numpy(classes)), self.classes_):
            raise ParameterError(f"classes={classes!r} differs from the first call's {self.classes_!r}")
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise DataError(f"y holds labels {unknown[:5]!r} that are not in classes={self.classes_!r}")
        weights = class_row_weights(features, labels, sample_weight, self.class_weight)
        self._absorb(*drop_weightless(features, one_hot(features, labels, self.classes_), weights))
        self._publish()
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values: the largest belongs to the predicted class.

        Majority: share of the votes, plus at most a third of a vote that orders ties by the summed scores. Sum: mean
        score.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the second's value minus the first's.
        """
        decision = self._decisions(X)
        return in_precision_of(X, decision[1, :] - decision[0, :] if len(self.classes_) == 2 else decision.T)

    def predict(self, X: MatrixLike) -> Labels:
        """Predict classes.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples,)
            A tensor for a tensor, if the classes are numbers.
        """
        return classes_at(first_largest(self._decisions(X)), self.classes_)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities, calibrated on the votes of left-out training samples.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples, n_classes)
            Rows sum to one; the most probable class is the predicted one.
        """
        decision = self._decisions(X)
        if not hasattr(self, "temperature_"):
            raise NotFittedError(
                "predict_proba is calibrated on left-out votes, which need the rows, and partial_fit keeps moments "
                "only; use decision_function, or fit"
            )
        return in_precision_of(X, softmax(decision, self.temperature_).T)

    def _decisions(self, X: MatrixLike) -> Array:
        """Decision values, shape (n_classes, n_samples)."""
        features = self._new_rows(X)
        if drops_members(self.missing) and lacks_columns(features):
            return outputs_without(features, self._members, self.ensemble_.aggregation, self._member_moments)
        if not isinstance(self.ensemble_.aggregation, Summed | LinearAggregation):
            return self.ensemble_.aggregation.combine(self._members.scores(features)) / self.n_estimators_
        example = example_of(features)
        coef, intercept = (like(array, example) for array in self._mean_score)
        return (features @ coef.T + intercept).T

    def _publish(self) -> None:
        """Set the public attributes from the members."""
        self.estimators_coef_ = list(self._members.coefficients)
        self.estimators_intercept_ = list(self._members.intercepts)
        aggregation = self.ensemble_.aggregation
        linear = aggregation if isinstance(aggregation, LinearAggregation) else Mean()
        self.weights_ = linear.weights(self._member_moments)
        coef, intercept = self._mean_score = self._members.collapse(self.weights_)
        two = len(self.classes_) == 2
        self.coef_, self.intercept_ = (coef[1:] - coef[:1], intercept[1:] - intercept[:1]) if two else (coef, intercept)

    def _aggregation(self) -> Aggregation:
        return voting_of(self.voting, self.score_weights)

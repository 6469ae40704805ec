"""RidgeEnsembleClassifier."""

from typing import Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin

from subridge.arrays.namespace import to_numpy
from subridge.arrays.types import Array, ArrayLike, MatrixLike
from subridge.estimators.class_targets import ClassWeight, class_row_weights, classes_at, one_hot
from subridge.estimators.decisions import DecidesClasses
from subridge.estimators.inputs import Labels, classes_of, classification_input, drop_weightless, require_rows
from subridge.estimators.left_out import left_out_sets
from subridge.estimators.missing_columns import Missing
from subridge.estimators.translate import Subsets, affordable, vote_weights_of, voting_of
from subridge.model.aggregation import (
    Aggregation,
    LinearAggregation,
    Mean,
    WeightedMajority,
    first_largest,
    misclassified_share,
)
from subridge.model.checks import Scope
from subridge.model.errors import DataError, ParameterError
from subridge.ridge.calibration import fit_temperature, softmax
from subridge.ridge.rows.training import training_rows


class RidgeEnsembleClassifier(ClassifierMixin, DecidesClasses):  # type: ignore[misc]
    """Votes of ridge classifiers on subsets of the features (sec. E.2 (LinClassTrainingSection)).

    Each member regresses one-hot labels on its features; its vote is the class with the largest score.

    Parameters
    ----------
    n_estimators : int, default=10
        k. No more than ``n_features_in_`` members are made.
    subsets : str, SubsetPlan, Strategy, sequence or callable, default="dirichlet"
        Which features each member sees, as for `RidgeEnsembleRegressor`.
    fraction_spread : float, default=0.75
        For "dirichlet", how unequal subsets are.
    subset_sizes : int, float or sequence, optional
        For "overlapping" and "projection", how many features a member sees.
    ridge : float, sequence of float or "auto", default="auto"
        λ, one for all members or one for each; "auto" chooses from `ridges` by exact leave-one-out errors.
    ridge_scope : {"ensemble", "member", "joint"}, default="ensemble"
        For whom "auto" chooses. "ensemble" and "joint" minimise the share of left-out samples that the ensemble
        misclassifies (equal shares: the squared error of the mean score), "member" each member's squared error.
    ridges : sequence of float, optional
        The path that "auto" searches.
    voting : {"majority", "sum"} or Aggregation, default="majority"
        "majority": the class with most votes; ties go to the largest summed score among the tied, then to the lowest
        class. "sum": the class with the largest summed score.
    score_weights : {"equal", "scaled", "simplex", "free"} or Aggregation, default="equal"
        Weights of the members, fitted to the leave-one-out scores as the `aggregation` of `RidgeEnsembleRegressor`.
        With ``voting="sum"`` they weigh scores, each class by its own, and ridges minimise the squared error of the
        weighted scores. With "majority" votes count by weights common to all classes, "simplex" or "free".
    fit_intercept : bool, default=True
        Centre the data; the intercept is not penalised.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the sample weights.
    readout_noise : float or sequence of float, default=0.0
        Standard deviation of the noise taken from each member's one-hot labels in training.
    scoring : {"accuracy", "neg_log_loss"}, optional
        What "auto" chooses the ridge by, on left-out rows; "neg_log_loss" is the cross-entropy of calibrated
        probabilities, and ``loo_path_`` then holds it.
    gap : int, default=0
        For rows in time order: every row is left out with so many neighbours on either side.
    missing : {"raise", "drop-members"}, default="raise"
        NaN in X when predicting: refuse it, or leave out the members that see it, as for `RidgeEnsembleRegressor`.
    random_state : int, RandomState or None
        Draws subsets and readout noise.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        In ascending order.
    coef_ : array, shape (n_classes, n_features), or (1, n_features) for two classes
        The mean of the members' scores as one linear map (for two classes: of the second minus the first).
    intercept_ : array, shape (n_classes,) or (1,)
        What that map adds.
    estimators_coef_ : list of array, each of shape (n_classes, N_r)
        Weights of each member.
    loo_error_ : float
        Share of left-out training samples that the ensemble misclassifies (after `partial_fit`: the trace form of the
        mean score's squared error).
    loo_predictions_, loo_probabilities_ : array, shape (n_samples,) and (n_samples, n_classes)
        Classes and probabilities of the rows when they (their groups, their neighbours) are left out.
    risk_matrix_ : ndarray, shape (k, k)
        Of the scores' squared errors, summed over classes.
    temperature_ : float
        β of ``predict_proba``: ``softmax(β · decision)``, fitted to the votes (or scores) of left-out samples.
    ensemble_, estimators_features_, estimators_intercept_, n_estimators_, subset_plan_, weights_ : various
        As for `RidgeEnsembleRegressor`.
    ridge_, ridge_path_, loo_path_ : various
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
    >>> model.predict(X[:3]), model.predict_proba(X).shape, model.decision_function(X).shape
    (array([0, 0, 0]), (150, 3), (150, 3))
    >>> bool(model.score(X, y) > 0.75)
    True

    From a stream of rows, whose classes are named beforehand:

    >>> for rows in (slice(0, 150, 2), slice(1, 150, 2)):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    """

    loo_predictions_: Labels
    loo_probabilities_: Array

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
            Samples, one per row.
        y : array_like or tensor, shape (n_samples,)
            Their classes.
        sample_weight : array_like, shape (n_samples,), optional
            How much each row counts.
        groups : array_like, shape (n_samples,), optional
            Labels of groups whose rows depend on each other: rows are then left out by groups, as in
            `RidgeEnsembleRegressor`.

        Returns
        -------
        RidgeEnsembleClassifier
            Itself, fitted.

        Raises
        ------
        DataError, ParameterError
            If the data cannot be used as given, or a parameter of the constructor is none.
        """
        features, labels = classification_input(self, X, y, reset=True)
        aggregation = affordable(self._aggregation(), features.shape[0])
        weigh = vote_weights_of(self.voting, self.score_weights, features.shape[0])
        self.classes_ = classes_of(labels)
        rng = self._describe(aggregation, features.shape[1])
        weights = class_row_weights(features, labels, sample_weight, self.class_weight)
        together = left_out_sets(groups, self.gap, weights, features.shape[0])
        features, targets, weights = drop_weightless(features, one_hot(features, labels, self.classes_), weights)
        require_rows(features.shape[0], self.fit_intercept)
        rows = training_rows(features, targets, weights, self.fit_intercept, together)
        kept = self._fit_rows(rows, rng)
        if weigh is not None:
            aggregation = WeightedMajority.of_weights(weigh.weights(self._member_moments))
            self._decide_by(aggregation)
        weights = aggregation.weights(self._member_moments) if isinstance(aggregation, LinearAggregation) else None
        decision = kept.outputs(aggregation, weights) / (self.n_estimators_ if weights is None else 1)
        if weights is not None or weigh is not None:
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
            More samples, one per row.
        y : array_like or tensor, shape (n_samples,)
            Their classes.
        classes : array_like, shape (n_classes,)
            All classes of the stream; needed at the first call (after a `fit`, its classes are taken).
        sample_weight : array_like, shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        RidgeEnsembleClassifier
            Itself, fitted to all rows so far.

        Raises
        ------
        DataError, ParameterError
            If the data cannot be used as given, or a parameter needs all rows at once.
        """
        aggregation = self._aggregation()
        if isinstance(aggregation, LinearAggregation) or vote_weights_of(self.voting, self.score_weights):
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

    def _publish(self) -> None:
        """Set the public attributes from the members."""
        self.estimators_coef_ = list(self._members.coefficients)
        self.estimators_intercept_ = list(self._members.intercepts)
        aggregation = self.ensemble_.aggregation
        linear = aggregation if isinstance(aggregation, LinearAggregation) else Mean()
        self.weights_ = linear.weights(self._member_moments)
        coef, intercept = self._mean_score = self._members.collapse(self.weights_)
        if isinstance(aggregation, WeightedMajority):
            self.weights_ = np.array(aggregation.vote_weights) / self.n_estimators_
        two = len(self.classes_) == 2
        self.coef_, self.intercept_ = (coef[1:] - coef[:1], intercept[1:] - intercept[:1]) if two else (coef, intercept)

    def _aggregation(self) -> Aggregation:
        return voting_of(self.voting, self.score_weights)

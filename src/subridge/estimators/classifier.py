"""RidgeEnsembleClassifier."""

from typing import Any

import array_api_compat
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from subridge.arrays.namespace import in_precision_of, like, to_numpy
from subridge.estimators.base import RidgeEnsembleBase
from subridge.estimators.inputs import drop_weightless, prediction_input, require_rows, row_weights, training_input
from subridge.ridge.aggregation import LossFunction, SummedScoreLoss, VoteLoss
from subridge.ridge.rows.training import training_rows
from subridge.ridge.votes import fit_temperature, one_hot, ranked_votes, softmax
from subridge.spec.errors import DataError, ParameterError

_LOSSES: dict[str, LossFunction] = {"majority": VoteLoss(), "sum": SummedScoreLoss()}


class RidgeEnsembleClassifier(ClassifierMixin, RidgeEnsembleBase):
    """Votes of ridge classifiers on subsets of the features (sec. LinClassTrainingSection).

    Each member regresses the one-hot labels on its features; its vote is the class with the largest score.

    Parameters
    ----------
    n_estimators : int, default=10
        k. No more than ``n_features_in_`` members are made.
    subsets, fraction_spread, subset_sizes
        As for `RidgeEnsembleRegressor`.
    ridge : float, sequence of float, "auto", "auto-member" or "auto-joint", default="auto"
        As for `RidgeEnsembleRegressor`; "auto" and "auto-joint" minimise the share of left-out samples that the
        ensemble misclassifies (equal shares: the squared error of the mean score), "auto-member" each member's squared
        error.
    ridges : sequence of float, optional
        The path that "auto" searches.
    voting : {"majority", "sum"}, default="majority"
        "majority": the class with most votes; ties go to the largest summed score among the tied, then to the lowest
        class. "sum": the class with the largest summed score.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the sample weights.
    readout_noise : float or sequence of float, default=0.0
        Standard deviation of the noise taken from each member's one-hot labels in training.
    random_state : int, RandomState or None

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
    risk_matrix_ : ndarray, shape (k, k)
        Of the scores' squared errors, summed over classes.
    temperature_ : float
        β of ``predict_proba``: ``softmax(β · decision)``, fitted to the votes (or scores) of left-out samples.
    estimators_features_, estimators_intercept_, n_estimators_, ridge_, ridge_path_, loo_path_, weights_, subset_plan_
        As for `RidgeEnsembleRegressor`.

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

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        subsets: Any = "dirichlet",
        fraction_spread: float = 0.75,
        subset_sizes: Any = None,
        ridge: Any = "auto",
        ridges: Any = None,
        voting: str = "majority",
        fit_intercept: bool = True,
        class_weight: Any = None,
        readout_noise: Any = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.subsets = subsets
        self.fraction_spread = fraction_spread
        self.subset_sizes = subset_sizes
        self.ridge = ridge
        self.ridges = ridges
        self.voting = voting
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.readout_noise = readout_noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RidgeEnsembleClassifier":
        """Fit the members, choose their ridges and calibrate the probabilities.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
        y : array_like or tensor, shape (n_samples,)
        sample_weight : array_like, shape (n_samples,), optional

        Returns
        -------
        self
        """
        loss = self._loss()
        X, y = training_input(self, X, y, reset=True, numeric=False)
        y = self._labels(y)
        self._forget()
        self.classes_ = self._two_or_more(np.unique(y))
        rng = self._draw_subsets(X.shape[1])
        targets = one_hot(np.searchsorted(self.classes_, y), len(self.classes_), self._example(X))
        weights = row_weights(self._class_weighted(sample_weight, y, self.class_weight), X)
        X, targets, weights = drop_weightless(X, targets, weights)
        require_rows(X.shape[0], self.fit_intercept)
        rows = training_rows(X, targets, weights, self.fit_intercept)
        errors = self._fit_members(rows, loss, self._draw_noise(targets, rng))
        self.temperature_ = fit_temperature(self._decide(targets - errors), targets, rows.weights)
        self._publish()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "RidgeEnsembleClassifier":
        """Add a batch of rows; only their moments are kept.

        Subsets are drawn at the first call; rows of an earlier `fit` are forgotten. "auto" minimises the trace form
        of the mean score's squared error, and members may vote as usual. Probabilities need left-out votes and hence
        rows: `predict_proba` is refused; so are "auto-member", "auto-joint", readout noise and balanced class weights.

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
        self._loss()
        if isinstance(self.class_weight, str):
            raise ParameterError(f"class_weight={self.class_weight!r} needs all labels; to stream, give a dict")
        first = getattr(self, "_moments", None) is None
        X, y = training_input(self, X, y, reset=first, numeric=False)
        y = self._labels(y)
        if first:
            if classes is None and not hasattr(self, "classes_"):
                raise ParameterError("classes must name every class at the first call of partial_fit")
            self.classes_ = self._two_or_more(np.unique(to_numpy(self.classes_ if classes is None else classes)))
            self._start_stream(X.shape[1])
        elif classes is not None and not np.array_equal(np.unique(to_numpy(classes)), self.classes_):
            raise ParameterError(f"classes={classes!r} differs from the first call's {self.classes_!r}")
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise DataError(f"y holds labels {unknown[:5]!r} that are not in classes={self.classes_!r}")
        targets = one_hot(np.searchsorted(self.classes_, y), len(self.classes_), self._example(X))
        weights = row_weights(self._class_weighted(sample_weight, y, self.class_weight), X)
        self._absorb(*drop_weightless(X, targets, weights))
        self._fit_moments()
        self._publish()
        return self

    def decision_function(self, X: Any) -> Any:
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
        return in_precision_of(X, decision[1] - decision[0] if len(self.classes_) == 2 else decision.T)

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples,)
            A tensor for a tensor, if the classes are numbers.
        """
        decision = self._decisions(X)
        best = array_api_compat.array_namespace(decision).argmax(decision, axis=0)
        if isinstance(best, np.ndarray) or self.classes_.dtype.kind not in "iufb":
            return self.classes_[to_numpy(best)]
        xp = array_api_compat.array_namespace(best)
        return xp.take(xp.asarray(self.classes_, device=array_api_compat.device(best)), best, axis=0)

    def predict_proba(self, X: Any) -> Any:
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

    def _decisions(self, X: Any) -> Any:
        """Decision values, shape (n_classes, n_samples)."""
        X = prediction_input(self, X)
        if self.voting == "majority":
            return self._decide(self._member_scores(X))
        example = self._example(X)
        coef, intercept = (like(array, example) for array in self._mean_score)
        return (X @ coef.T + intercept).T

    def _decide(self, scores: Any) -> Any:
        """Members' scores, shape (k, C, n), to decision values, shape (C, n)."""
        combined = ranked_votes(scores) if self.voting == "majority" else scores.sum(axis=0)
        return combined / scores.shape[0]

    def _publish(self) -> None:
        """Set the public attributes from the members."""
        self.estimators_coef_ = list(self._member_coef)
        self.estimators_intercept_ = list(self._member_intercept)
        self.weights_ = np.full(self.n_estimators_, 1 / self.n_estimators_)
        coef, intercept = self._mean_score = self._collapse(self.weights_)
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def _loss(self) -> LossFunction:
        if self.voting not in _LOSSES:
            raise ParameterError(f"voting must be one of {tuple(_LOSSES)}, got {self.voting!r}")
        return _LOSSES[self.voting]

    @staticmethod
    def _labels(y: Any) -> Any:
        check_classification_targets(y)
        return column_or_1d(y, warn=True)

    @staticmethod
    def _two_or_more(classes: Any) -> Any:
        if len(classes) < 2:
            raise DataError(f"y holds one class only ({classes[0]!r}); a classifier needs at least two classes")
        return classes

    @staticmethod
    def _class_weighted(sample_weight: Any, y: Any, class_weight: Any) -> Any:
        if class_weight is None:
            return sample_weight
        by_class = compute_sample_weight(class_weight, y)
        return by_class if sample_weight is None else by_class * to_numpy(sample_weight)

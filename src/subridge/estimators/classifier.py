"""RidgeEnsembleClassifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from sklearn.exceptions import NotFittedError

from subridge.arrays.namespace import device_of, in_precision_of, is_numpy, like, namespace_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, BoolArray, FloatArray, MatrixLike
from subridge.estimators.base import (
    ClassifierMixin,
    ClassWeight,
    Labels,
    RidgeEnsembleBase,
    aggregation_of,
    per_target,
    row_weights,
    training_input,
)
from subridge.model.aggregation import (
    Aggregation,
    Free,
    Mean,
    Scaled,
    WeightedMajority,
    first_largest,
    misclassified_share,
)
from subridge.model.checks import refuse_odd_values, truth
from subridge.model.errors import DataError, ParameterError
from subridge.ridge.candidates import affordable
from subridge.ridge.classes import fit_bias, fit_temperature, log_loss, softmax


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeEnsembleClassifier(ClassifierMixin, RidgeEnsembleBase):
    """Ridge classification, on all features or on subsets of them (sec. E.2 (LinClassTrainingSection)).

    Each member regresses one-hot labels on its features. By default scores are treated like the outputs of
    `RidgeEnsembleRegressor`: one ridge on all features is taken unless an ensemble is surely better. A bias per class
    is fitted to left-out scores. With ``voting="majority"``, as in the paper, every member votes for the class of its
    largest score.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of members, k, as for `RidgeEnsembleRegressor`.
    subsets : str, SubsetPlan, Strategy, sequence or callable, default="auto"
        Which features each member sees, as for `RidgeEnsembleRegressor`.
    fraction_spread : float, default=0.75
        For "dirichlet", how unequal subsets are.
    subset_sizes : int, float or sequence, optional
        For "overlapping" and "projection", how many features a member sees.
    ridge : float, sequence of float or "auto", default="auto"
        λ, one for all members or one for each; "auto" chooses from `ridges` by exact leave-one-out errors.
    ridge_scope : {"ensemble", "member", "joint"}, default="ensemble"
        Which ridges "auto" chooses. "ensemble" and "joint" minimise the share of left-out samples that the ensemble
        misclassifies, and among equal shares the squared error of the mean score. "member" minimises each member's
        squared error.
    ridges : sequence of float, optional
        The path that "auto" searches.
    fit_intercept : bool, default=True
        Centre the data; the intercept is not penalised.
    readout_noise : float or sequence of float, default=0.0
        Standard deviation of the noise taken from each member's one-hot labels in training.
    scoring : {"accuracy", "neg_log_loss"}, optional
        The score of left-out rows by which "auto" chooses the ridge; "neg_log_loss" is the cross-entropy of calibrated
        probabilities, and ``loo_path_`` then holds it.
    gap : int, default=0
        For rows in time order: every row is left out with this number of neighbours on either side.
    max_samples : float or int, default=1.0
        Rows that each member sees: a share of all (float) or their number (int), drawn without repeats, independently
        for each member. One ridge that is compared with ensembles (``n_estimators="auto"``) sees all rows. Left-out
        errors stay exact: a row that is left out changes only the members that saw it. Not with `groups` or `gap`.
    missing : {"raise", "drop-members"}, default="raise"
        For NaN in X when predicting: raise an error, or leave out the members that see it, as for
        `RidgeEnsembleRegressor`.
    random_state : int, RandomState or None
        Seed of subsets and readout noise.
    voting : {"auto", "majority", "sum"} or Aggregation, default="auto"
        "auto": scores are averaged, scaled or freely weighted, whichever has the least squared error on left-out rows,
        and a bias per class is added; with `scoring` or `score_weights` it is "sum". "majority": the class with most
        votes; among tied classes the one with the largest summed score, then the lowest; one member alone decides by
        its scores. "sum": the class with the largest summed score.
    score_weights : {"equal", "scaled", "simplex", "free"} or Aggregation, default="equal"
        Weights of the members, fitted to the leave-one-out scores as the `aggregation` of `RidgeEnsembleRegressor`.
        With ``voting="sum"`` the scores of each class have separate weights, and ridges minimise the squared error of
        the weighted scores. With "majority" votes have weights common to all classes, "simplex" or "free".
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied by the sample weights. Probabilities and ``loo_error_`` then refer to the
        weighted classes.
    restore_prevalence : bool, default=False
        Give probabilities for the classes as frequent as they are in y, whatever `class_weight` and sample weights are.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        In ascending order.
    coef_ : array, shape (n_classes, n_features), or (1, n_features) for two classes
        The members' scores as one linear map: their sum with `weights_`, by default their mean (for two classes: the
        second score minus the first).
    intercept_ : array, shape (n_classes,) or (1,)
        The intercept of that map.
    estimators_coef_ : list of array, each of shape (n_classes, N_r)
        Weights of each member.
    loo_error_ : float
        Share of left-out training samples that the ensemble misclassifies (after `partial_fit`: the trace form of the
        mean score's squared error).
    loo_predictions_, loo_probabilities_ : array, shape (n_samples,) and (n_samples, n_classes)
        Classes and probabilities of the rows when they (their groups, their neighbours) are left out.
    risk_matrix_ : ndarray, shape (k, k)
        Ê_rr′ + ζ² of the scores, summed over classes.
    temperature_ : float
        β of ``predict_proba``: ``softmax(β · decision)``, fitted to the votes (or scores) of left-out samples.
    bias_ : ndarray, shape (n_classes,)
        Added to the scores of each class, and fitted with the temperature. Zeros unless ``voting="auto"`` and the log
        loss of left-out rows falls by more than fitting so many numbers explains by chance.
    choice_ : Choice
        The candidates that were tried, as for `RidgeEnsembleRegressor`.
    ensemble_, estimators_features_, estimators_samples_, estimators_intercept_ : various
        As for `RidgeEnsembleRegressor`.
    n_estimators_, subset_plan_, weights_ : various
        As for `RidgeEnsembleRegressor`.
    ridge_, ridge_path_, loo_path_ : various
        As for `RidgeEnsembleRegressor`.

    See Also
    --------
    RidgeEnsembleRegressor : the same members for regression.
    simulate_classification : learning curves of voting ensembles.
    forecast : their error with more or fewer samples.

    Examples
    --------
    >>> import subridge as sr
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sr.RidgeEnsembleClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:3]), model.predict_proba(X).shape, model.decision_function(X).shape
    (array([0, 0, 0]), (150, 3), (150, 3))
    >>> bool(model.score(X, y) > 0.8)
    True

    To fit to a stream of rows, name all classes first:

    >>> for rows in (slice(0, 150, 2), slice(1, 150, 2)):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    """

    voting: str | Aggregation = "auto"
    score_weights: str | Aggregation = "equal"
    class_weight: ClassWeight = None
    restore_prevalence: bool = False

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
            If the data cannot be used as given, or a constructor parameter is invalid.
        """
        features, labels = training_input(self, X, y, reset=True, numeric=False)
        aggregations, votes_by = self._aggregations()
        aggregations = affordable(aggregations, len(labels))
        (votes_by,) = affordable([votes_by], len(labels))
        if votes_by.fits_weights and self.missing == "drop-members":
            raise ParameterError("missing='drop-members' needs equal votes; use score_weights='equal'")
        self.classes_ = _classes_of(labels)
        weights = row_weights(sample_weight, len(labels), labels, self.class_weight)
        one_hot = self._one_hot(labels)
        left_out = self._fit(features, one_hot, weights, groups, aggregations)
        if votes_by.fits_weights:
            voting = WeightedMajority.of_weights(votes_by.weights(self._member_moments))
            self.ensemble_ = replace(self.ensemble_, aggregation=voting)
            self.weights_ = np.array(voting.vote_weights) / self.n_estimators_
            self._left_out = left_out = replace(
                left_out,
                ensemble=self.ensemble_,
                weights=None,
                predictions=voting.combine(left_out.rows.targets - left_out.errors),
            )
        rows = left_out.rows
        is_weighted = left_out.weights is not None
        decision = left_out.predictions / (1 if is_weighted else self.n_estimators_)
        self.temperature_ = fit_temperature(decision, rows.targets, rows.weights)
        self.bias_ = np.zeros(len(self.classes_))
        if self._is_open:
            beta, bias = fit_bias(decision, rows.targets, rows.weights, self.temperature_)
            shifted = decision + like(bias, decision)[:, None]
            gain = log_loss(decision, self.temperature_, rows.targets, rows.weights) - log_loss(
                shifted, beta, rows.targets, rows.weights
            )
            if gain * rows.effective_samples > len(bias) - 1:  # the number of free parameters (Akaike 1974)
                self.temperature_ = beta
                self.bias_ = bias
                decision = shifted
        if is_weighted or votes_by.fits_weights:
            self.loo_error_ = misclassified_share(first_largest(decision), rows.targets, rows.weights)
        counted = one_hot @ weights
        self._prevalence = one_hot.sum(axis=1) / np.where(counted > 0, counted, 1.0)
        self.loo_predictions_ = self._labels_of(decision)
        self.loo_probabilities_ = self._probabilities(decision)
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch of rows; only their moments are kept.

        Subsets are drawn at the first call; an earlier `fit` is forgotten. "auto" minimises the trace form of the mean
        score's squared error, and members may vote as usual. `predict_proba` raises an error, because probabilities
        need left-out votes and hence the rows. So do readout noise, `gap`, `max_samples`, fitted weights and balanced
        class weights.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            More samples, one per row.
        y : array_like or tensor, shape (n_samples,)
            Their classes.
        classes : array_like, shape (n_classes,)
            All classes of the stream; needed at the first call, unless a `fit` came before, whose classes are used.
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
        (aggregation, *_), votes_by = self._aggregations()
        if (aggregation.is_linear and not self._is_open) or votes_by.fits_weights:
            raise ParameterError(
                "score_weights need the rows and cannot be streamed; use fit, or score_weights='equal'"
            )
        if isinstance(self.class_weight, str):
            raise ParameterError(f"class_weight={self.class_weight!r} needs all labels; to stream, give a dict")
        if classes is not None and np.ma.is_masked(classes):
            refuse_odd_values("classes", classes)
        first = not hasattr(self, "_moments")
        features, labels = training_input(self, X, y, reset=first, numeric=False)
        if first and classes is not None:
            self.classes_ = _classes_of(classes)
        elif not hasattr(self, "classes_"):
            raise ParameterError("classes must name every class at the first call of partial_fit")
        elif classes is not None and not np.array_equal(np.unique(to_numpy(classes)), self.classes_):
            raise ParameterError(f"classes={classes!r} differs from the first call's {self.classes_!r}")
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise DataError(f"y holds labels {unknown[:5]!r} that are not in classes={self.classes_!r}")
        self._absorb(
            features,
            self._one_hot(labels),
            row_weights(sample_weight, len(labels), labels, self.class_weight),
            [aggregation],
        )
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values: the largest belongs to the predicted class.

        Majority: share of the votes, plus at most a third of a vote that orders ties by the summed scores. Sum: mean
        score.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.

        Returns
        -------
        array, shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the second's value minus the first's.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or X does not fit it.
        """
        decision = self._decisions(X)
        return in_precision_of(X, decision[1] - decision[0] if len(self.classes_) == 2 else decision.T)

    def predict(self, X: MatrixLike) -> Labels:
        """Predict classes.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.

        Returns
        -------
        array, shape (n_samples,)
            A tensor for a tensor, if the classes are numbers.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or X does not fit it.
        """
        return self._labels_of(self._decisions(X))

    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities, calibrated on the votes of left-out training samples.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.

        Returns
        -------
        array, shape (n_samples, n_classes)
            Rows sum to one; the most probable class is the predicted one.

        Raises
        ------
        NotFittedError
            If the model is not fitted, or only by `partial_fit`, which keeps no rows for calibration.
        DataError
            If X does not fit the model.
        """
        decision = self._decisions(X)
        if not hasattr(self, "temperature_"):
            raise NotFittedError(
                "predict_proba is calibrated on left-out votes, which need the rows, but partial_fit keeps only "
                "moments; use decision_function, or fit"
            )
        return in_precision_of(X, self._probabilities(decision))

    def predict_set(self, X: MatrixLike, level: float = 0.9) -> BoolArray:
        """Give sets of classes that contain the class of a new row with probability `level`.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.
        level : float
            Nominal coverage, which holds under the conditions of ``RidgeEnsembleRegressor.predict_interval``; the
            fitted temperature is one more exception.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            True for the classes of the set. A set can be empty, and it can contain all classes.

        Raises
        ------
        ParameterError
            If `level` does not lie between 0.5 and 1, or is too high for the number of rows or groups.
        NotFittedError, DataError
            If the model is not fitted to rows, or X does not fit it.

        Examples
        --------
        >>> import subridge as sr
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = sr.RidgeEnsembleClassifier(2, voting="sum", ridge=0.01, random_state=0).fit(X[::2], y[::2])
        >>> sets = model.predict_set(X[1::2], level=0.9)
        >>> sets.shape, bool(sets[range(75), y[1::2]].mean() > 0.8)
        ((75, 3), True)
        """
        left_out, features = self._without_each(X, "predict_set")
        return left_out.class_sets(features, level, self.temperature_, self.bias_)

    def _decisions(self, X: MatrixLike) -> Array:
        """Votes or scores of new rows, with the bias of every class, shape (C, m)."""
        decision = self._outputs(X)
        return decision + like(self.bias_, decision)[:, None] if hasattr(self, "bias_") else decision

    def _probabilities(self, decision: Array) -> Array:
        """Calibrated probabilities, shape (m, C), of the weighted classes, or of classes as frequent as in y."""
        found = softmax(decision, self.temperature_).T
        if truth("restore_prevalence", self.restore_prevalence):
            found = found * like(self._prevalence, found)
            found = found / found.sum(axis=1)[:, None]
        return found

    @property
    def _is_open(self) -> bool:
        return isinstance(self.voting, str) and self.voting == "auto" and self.scoring is None

    def _one_hot(self, labels: Labels) -> FloatArray:
        """One-hot targets, shape (C, n)."""
        return np.asarray(self.classes_[:, None] == labels, dtype=float)

    def _labels_of(self, decision: Array) -> Labels:
        """The classes of the largest decisions (C, n); a tensor if decisions are a tensor and classes are numbers."""
        numbers = first_largest(decision)
        if is_numpy(numbers) or self.classes_.dtype.kind not in "iufb":
            return self.classes_[to_numpy(numbers).astype(np.int64)]
        xp = namespace_of(numbers)
        return xp.take(xp.asarray(self.classes_, device=device_of(numbers)), numbers, axis=0)

    def _publish(self) -> None:
        """Set the public attributes from the members."""
        self.estimators_coef_ = self._members.coefficients
        self.estimators_intercept_ = self._members.intercepts
        self.weights_ = self._member_weights
        self.coef_, self.intercept_ = (each[1:] - each[:1] if len(self.classes_) == 2 else each for each in self._map)

    def _aggregations(self) -> tuple[list[Aggregation], Aggregation]:
        """The aggregations of scores or votes among which left-out errors choose, and that of the weights of votes."""
        equal = isinstance(self.score_weights, str) and self.score_weights == "equal"
        if self._is_open and equal:
            return [Mean(), Scaled(), Free()], Mean()
        is_auto = isinstance(self.voting, str) and self.voting == "auto"
        # A single member decides by its scores, which have more information than its vote.
        is_single = (
            isinstance(self.subsets, str) and isinstance(self.n_estimators, int | np.integer) and self.n_estimators == 1
        )
        voting = aggregation_of("voting", "sum" if is_auto or is_single else self.voting, decides_classes=True)
        if equal:
            return [voting], Mean()
        found = aggregation_of("score_weights", self.score_weights, decides_classes=False)
        if voting.adds_scores:
            return [per_target(found) if isinstance(self.score_weights, str) else found], Mean()
        if not found.fits_weights or found.equal_weights:
            raise ParameterError(
                f"score_weights={found.name!r} cannot weigh votes; use 'simplex' or 'free', or voting='sum'"
            )
        return [voting], found


def _classes_of(labels: ArrayLike) -> Labels:
    """The distinct classes in ascending order; a classifier needs at least two."""
    try:
        classes = np.unique(to_numpy(labels))
    except (TypeError, ValueError) as error:  # None beside numbers, or ragged
        raise DataError(f"classes must be all numbers or all text, got {labels!r}") from error
    if len(classes) < 2:
        raise DataError(f"y holds one class only ({classes[:1]!r}); a classifier needs at least two classes")
    return classes

"""How a fitted classifier decides: values, classes and probabilities of new rows."""

from sklearn.exceptions import NotFittedError

from subridge.arrays.namespace import in_precision_of, like
from subridge.arrays.types import Array, MatrixLike
from subridge.estimators.class_targets import classes_at
from subridge.estimators.coverage import PredictsSets
from subridge.estimators.inputs import Labels
from subridge.estimators.members import example_of
from subridge.estimators.missing_columns import drops_members, lacks_columns, outputs_without
from subridge.model.aggregation import LinearAggregation, Summed, first_largest
from subridge.ridge.calibration import softmax


class DecidesClasses(PredictsSets):
    """A classifier of which the members are fitted."""

    classes_: Labels
    _mean_score: tuple[Array, Array]

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
        return in_precision_of(X, decision[1, :] - decision[0, :] if len(self.classes_) == 2 else decision.T)

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
        return classes_at(first_largest(self._decisions(X)), self.classes_)

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
            If the model is not fitted, or by `partial_fit` only, which keeps no rows to calibrate with.
        DataError
            If X does not fit the model.
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

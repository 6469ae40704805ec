"""What a fitted regressor predicts for new rows."""

from subridge.arrays.namespace import in_precision_of, like
from subridge.arrays.types import Array, MatrixLike
from subridge.estimators.coverage import PredictsIntervals
from subridge.estimators.members import example_of
from subridge.estimators.missing_columns import drops_members, lacks_columns, outputs_without
from subridge.model.aggregation import LinearAggregation


class PredictsNumbers(PredictsIntervals):
    """A regressor of which the members are fitted."""

    def predict(self, X: MatrixLike) -> Array:
        """Predict; one matrix product whatever k is (one per member for the median).

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.

        Returns
        -------
        array, shape (n_samples,) or (n_samples, n_targets)
            In the library and on the device of X.

        Raises
        ------
        NotFittedError, DataError
            If the model is not fitted, or X does not fit it.
        """
        features = self._new_rows(X)
        if drops_members(self.missing) and lacks_columns(features):
            aggregation, moments = self.ensemble_.aggregation, self._member_moments
            output = outputs_without(features, self._members, aggregation, moments).T
            return in_precision_of(X, output[:, 0] if self._single_target else output)
        if not isinstance(self.ensemble_.aggregation, LinearAggregation):
            output = self.ensemble_.aggregation.combine(self._members.scores(features)).T
            return in_precision_of(X, output[:, 0] if self._single_target else output)
        example = example_of(features)
        coef, intercept = like(self.coef_, example), like(self.intercept_, example)
        return in_precision_of(X, features @ (coef if coef.ndim == 1 else coef.T) + intercept)

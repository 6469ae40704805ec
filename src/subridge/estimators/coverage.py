"""What estimators say of single new labels: intervals and sets of classes that cover them."""

from subridge.arrays.namespace import in_precision_of
from subridge.arrays.types import Array, BoolArray, MatrixLike
from subridge.estimators.base import RidgeEnsembleBase
from subridge.estimators.intervals import conformal_sets, jackknife_bounds


class PredictsIntervals(RidgeEnsembleBase):
    """A regressor with intervals."""

    _single_target: bool

    def predict_interval(self, X: MatrixLike, level: float = 0.9) -> tuple[Array, Array]:
        """Give intervals for single new labels by jackknife+, in closed form from the factors of the fit.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.
        level : float
            Wanted coverage. It is 2·level - 1 at least, for any distribution, if ridge and weights are fixed
            beforehand and rows (with `groups`: groups) are exchangeable; in practice it is close to `level`. Chosen
            ridges and fitted weights are outside of the theorem, as is `gap`.

        Returns
        -------
        lower, upper : array, each of shape (n_samples,) or (n_samples, n_targets)
            Ends of the intervals.

        Raises
        ------
        ParameterError
            If `level` does not lie between 0 and 1, or so high a one needs more rows or groups.
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
        features = self._complete_rows(X, "predict_interval")
        bounds = jackknife_bounds(self._without_each("predict_interval"), features, level)
        lower, upper = (in_precision_of(X, (each.T)[:, 0] if self._single_target else each.T) for each in bounds)
        return lower, upper


class PredictsSets(RidgeEnsembleBase):
    """A classifier with sets of classes."""

    temperature_: float

    def predict_set(self, X: MatrixLike, level: float = 0.9) -> BoolArray:
        """Name the classes that may be a new row's, so that its own is among them with probability `level`.

        Parameters
        ----------
        X : array_like, tensor or sparse matrix, shape (n_samples, n_features)
            New samples, one per row.
        level : float
            Wanted coverage, under the conditions of ``RidgeEnsembleRegressor.predict_interval``; the temperature is
            fitted, too.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            A set can be empty where no class fits, and hold all classes.

        Raises
        ------
        ParameterError
            If `level` does not lie between 0 and 1, or so high a one needs more rows or groups.
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
        features = self._complete_rows(X, "predict_set")
        return conformal_sets(self._without_each("predict_set"), features, level, self.temperature_)

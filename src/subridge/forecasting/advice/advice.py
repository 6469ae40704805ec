"""What `sr.advise` returns: ranked ensembles, and why."""

from dataclasses import dataclass

import xarray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from subridge.arrays.types import FloatArray
from subridge.estimators.classifier import RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor
from subridge.forecasting.advice.code import chosen_anew, code_of, given_path
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Advice:
    """Ensembles ranked by what they are forecast to err at most, and why.

    Attributes
    ----------
    table : xarray.Dataset
        One row per candidate, best first: ``prediction_error``, ``prediction_error_lower``,
        ``prediction_error_upper`` and ``in_reach`` at the planned size, as in a forecast; ``pilot_prediction_error`` at
        the pilot's size; ``ridge``, ``n_members``, ``strategy``, ``fraction_spread``, ``subset_fraction`` (its mean),
        ``aggregation``; ``gain`` over
        one tuned ridge as a share of its error and ``gain_standard_error``; ``effective_members`` (1/Σw²);
        ``nearest_threshold`` (the N_r nearest to the planned size, over that size); for classes
        ``misclassification`` by majority vote with its bounds (NaN for weighted members).
    reasons : tuple of str
        Two sentences; ``str`` of an advice joins them.
    ensembles : dict of str to Ensemble
        Subsets, readout noise and aggregation of every candidate, and the ridge that the pilot asks for.
    weights : dict of str to ndarray, shape (k,)
        Weights of the members of every candidate, fitted to the pilot.

    See Also
    --------
    subridge.advise : gives one.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> advice = sr.advise(X, X[:, 0] + rng.standard_normal(60), n_members=[2], weighted=False)
    >>> isinstance(advice, Advice), advice.best
    (True, 'one ridge')
    >>> advice.code
    'RidgeEnsembleRegressor(1, ridge=...)...'
    >>> advice.estimator().fit(X, X[:, 0]).n_estimators_
    1
    """

    table: xarray.Dataset
    reasons: tuple[str, ...]
    ensembles: dict[str, Ensemble]
    weights: dict[str, FloatArray]

    @property
    def best(self) -> str:
        """Name of the first candidate."""
        return str(self.table.candidate.values[0])

    def estimator(self, name: str | None = None) -> RidgeEnsembleRegressor | RidgeEnsembleClassifier | Pipeline:
        """An unfitted estimator with the subsets and the aggregation of a candidate, the best by default.

        Its ridge is the candidate's if the rows at hand are all there will be. Where the planned size is larger it
        chooses its own by leave-one-out, because the rows it is trained on say more of it than the pilot did; it has
        the candidate's too where there is readout noise, which rows do not show.

        A regressor, or for labels of classes a classifier by majority vote, which has no weights: then the best
        candidate without weights is the default. Where `advise` standardised the columns, a pipeline that does so too.

        Parameters
        ----------
        name : str, optional
            A candidate of the table.

        Returns
        -------
        RidgeEnsembleRegressor, RidgeEnsembleClassifier or Pipeline
            Ready to be fitted.

        Raises
        ------
        ParameterError
            If there is no candidate of that name, or votes were to be weighed.
        """
        found = self._estimator(name)
        scaled = self.table.attrs.get("standardised")
        return make_pipeline(StandardScaler(with_mean=False), found) if scaled else found

    def _estimator(self, name: str | None) -> RidgeEnsembleRegressor | RidgeEnsembleClassifier:
        classes = "class_names" in self.table.attrs
        if name is None:
            usable = self.table.candidate.values[self.table.aggregation.values == "mean"] if classes else [self.best]
            name = str(usable[0])
        if name not in self.ensembles:
            raise ParameterError(f"name must be one of {tuple(self.ensembles)}, got {name!r}")
        ensemble, aggregation = self.ensembles[name], self.ensembles[name].aggregation.name
        if classes and aggregation != "mean":
            raise ParameterError(f"{name!r} weighs scores, not votes; fit a RidgeEnsembleRegressor on one-hot labels")
        found = (
            RidgeEnsembleClassifier(subsets=ensemble.plan)
            if classes
            else RidgeEnsembleRegressor(subsets=ensemble.plan, aggregation=aggregation)
        )
        if chosen_anew(self.table) and not ensemble.readout_noise.any():
            found.set_params(ridges=given_path(self.table))
        else:
            found.set_params(ridge=float(ensemble.ridge[0]))
        found.set_params(fit_intercept=bool(self.table.attrs["fit_intercept"]))
        return found

    @property
    def code(self) -> str | None:
        """The best candidate as a line of Python; None for ensembles of your own. Its subsets are drawn anew."""
        return code_of(self.table)

    def __str__(self) -> str:
        return " ".join(self.reasons)

"""scikit-learn faces of the ridge ensemble."""

from subridge.estimators.banded import BandedRidge
from subridge.estimators.classifier import RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor

__all__ = ["BandedRidge", "RidgeEnsembleClassifier", "RidgeEnsembleRegressor"]

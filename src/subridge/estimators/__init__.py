"""scikit-learn faces of the ridge ensemble."""

from subridge.estimators.classifier import RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor

__all__ = ["RidgeEnsembleClassifier", "RidgeEnsembleRegressor"]

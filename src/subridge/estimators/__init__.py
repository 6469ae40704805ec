"""Estimators with scikit-learn's interface."""

from subridge.estimators.banded import BandedRidge
from subridge.estimators.classifier import RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor

__all__ = ["BandedRidge", "RidgeEnsembleClassifier", "RidgeEnsembleRegressor"]

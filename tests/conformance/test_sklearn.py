"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import subridge as sr

# Leave-one-out leaves out rows, and a row of weight two is one row: repeated rows may choose another ridge than
# weighted ones, and another temperature of predict_proba. With a fixed ridge regressors pass these checks below, and
# tests/estimators checks the classes that classifiers predict.
BY_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "leave-one-out leaves out rows; a row of weight two is one row"
    for kind in ("dense", "sparse")
}

QUICK = [
    sr.RidgeEnsembleRegressor(n_estimators=3, ridge=0.1, aggregation="mean", random_state=0),
    sr.RidgeEnsembleClassifier(n_estimators=3, ridge=0.1, voting="majority", random_state=0),
    sr.BandedRidge(random_state=0),
]
OTHERS = [
    sr.RidgeEnsembleRegressor(random_state=0),
    sr.RidgeEnsembleClassifier(random_state=0),
    sr.RidgeEnsembleRegressor(n_estimators=3, random_state=0),
    sr.RidgeEnsembleRegressor(n_estimators=3, aggregation="simplex", random_state=0),
    sr.RidgeEnsembleRegressor(n_estimators=3, ridge=0.1, aggregation="median", subsets="equal", random_state=0),
    sr.RidgeEnsembleRegressor(n_estimators=1, per_target=True, random_state=0),
    sr.RidgeEnsembleRegressor(n_estimators=3, per_target=True, random_state=0),
    sr.RidgeEnsembleClassifier(n_estimators=3, random_state=0),
    sr.RidgeEnsembleClassifier(n_estimators=3, ridge=0.1, voting="sum", random_state=0),
]


def explained(estimator):
    leaves_out = (
        isinstance(estimator, sr.BandedRidge)
        or estimator.ridge == "auto"
        or getattr(estimator, "aggregation", "") == "auto"
        or isinstance(estimator, sr.RidgeEnsembleClassifier)
    )
    return BY_ROWS if leaves_out else {}


@parametrize_with_checks(QUICK, expected_failed_checks=explained)
def test_estimators_pass_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=explained)
def test_other_configurations_pass_scikit_learns_checks(estimator, check):
    check(estimator)

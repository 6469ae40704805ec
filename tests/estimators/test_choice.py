"""What "auto" takes, why, and what it says of it."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import Ridge, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import subridge as sr


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def test_one_ridge_is_taken_if_nothing_is_surely_better(diabetes):
    X, y = diabetes
    model = sr.RidgeEnsembleRegressor(random_state=0).fit(X[:200], y[:200])
    assert model.choice_.name == "one ridge"
    assert model.n_estimators_ == 1
    alphas = 10 * X.var(axis=0).mean() * 10.0 ** (np.arange(-6, 11) / 2)
    rival = RidgeCV(alphas).fit(X[:200], y[:200])
    ours, theirs = (np.mean((y[200:] - each.predict(X[200:])) ** 2) for each in (model, rival))
    assert ours < 1.02 * theirs


def test_an_ensemble_is_taken_if_it_is_surely_better():
    """Two blocks at scales that one ridge cannot serve: members on the blocks, freely weighted, can."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 60)) * np.r_[np.ones(30), np.full(30, 0.02)]
    y = X[:, 30:].sum(axis=1) / 0.02 + 3 * rng.standard_normal(400)
    blocks = [np.arange(30), np.arange(30, 60)]
    model = sr.RidgeEnsembleRegressor(subsets=blocks, random_state=0).fit(X, y)
    taken = model.choice_.trials[model.choice_.taken]
    assert taken.name == "the given subsets, free"
    assert taken.gain > 2 * taken.standard_error


@pytest.mark.parametrize("ridge", [0.02, [0.02]])
def test_a_given_ridge_is_that_of_every_candidate(diabetes, ridge):
    X, y = diabetes[0][:80], diabetes[1][:80]
    model = sr.RidgeEnsembleRegressor(ridge=ridge, random_state=0).fit(X, y)
    assert {trial.ensemble.n_members for trial in model.choice_.trials} >= {1, 2}
    for trial in model.choice_.trials:
        assert trial.ensemble.ridge.tolist() == [0.02] * trial.ensemble.n_members
    alone = next(trial for trial in model.choice_.trials if trial.name == "one ridge")
    left_out = cross_val_predict(Ridge(alpha=0.02 * X.shape[1]), X, y, cv=LeaveOneOut())
    assert alone.error == pytest.approx(np.mean((y - left_out) ** 2))


def test_the_choice_is_a_table_that_fits_a_terminal(diabetes):
    model = sr.RidgeEnsembleRegressor(random_state=0).fit(diabetes[0][:100], diabetes[1][:100])
    lines = str(model.choice_).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("→ ") for line in lines) == 1
    assert lines[0].split() == ["candidate", "left-out", "error", "gain", "±", "s.e.", "seconds"]
    errors = [float(line[34:49]) for line in lines[1:-1]]
    assert errors == sorted(errors)
    assert pickle.loads(pickle.dumps(model)).choice_.name == model.choice_.name


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"n_estimators": 1}, {"one ridge, scaled", "one ridge"}),
        ({"n_estimators": 1, "aggregation": "mean"}, {"one ridge"}),
        ({"n_estimators": 3}, {"3 dirichlet, scaled", "3 dirichlet", "3 dirichlet, free"}),
        ({"n_estimators": 3, "subsets": "equal", "aggregation": "mean"}, {"3 equal"}),
        ({"subsets": "equal", "aggregation": "mean"}, {"one ridge", "2 equal"}),
        ({"subsets": [[0, 1], [2, 3]], "aggregation": "free"}, {"the given subsets"}),
    ],
)
def test_what_is_given_restricts_the_candidates(diabetes, options, names):
    model = sr.RidgeEnsembleRegressor(random_state=0, **options).fit(diabetes[0][:100], diabetes[1][:100])
    assert {each.name for each in model.choice_.trials} >= names
    assert len(model.choice_.trials) <= len(names) + 3


@pytest.mark.slow
def test_a_number_of_members_that_is_worse_than_one_ridge_is_told(diabetes):
    X, y = diabetes
    with pytest.warns(sr.errors.WorseThanOneRidgeWarning, match=r"error on left-out rows is .*, that of one ridge"):
        model = sr.RidgeEnsembleRegressor(8, aggregation="mean", random_state=0).fit(X, y)
    assert model.n_estimators_ == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sr.RidgeEnsembleRegressor(random_state=0).fit(X, y)


def test_numbers_of_members_and_kinds_are_checked(diabetes):
    with pytest.raises(sr.errors.ParameterError, match="n_estimators"):
        sr.RidgeEnsembleRegressor("many").fit(*diabetes)
    with pytest.raises(sr.errors.ParameterError, match="a number, because n_estimators='auto'"):
        sr.RidgeEnsembleRegressor(ridge=[1.0, 2.0]).fit(*diabetes)


def test_projections_stand_beside_one_ridge_whose_gram_matrix_is_known(diabetes):
    X, y = diabetes
    model = sr.RidgeEnsembleRegressor(subsets="projection", ridge=0.1, random_state=0).fit(X[:60], y[:60])
    assert {"one ridge", "2 projection"} <= {each.name for each in model.choice_.trials}


def test_groups_and_gaps_judge_every_candidate(diabetes):
    X, y = diabetes
    groups = np.arange(60) // 5
    for options, fit in (({}, {"groups": groups}), ({"gap": 2}, {})):
        model = sr.RidgeEnsembleRegressor(random_state=0, **options).fit(X[:60], y[:60], **fit)
        assert np.isfinite(model.loo_error_)
        assert model.loo_predictions_.shape == (60,)


def test_a_stream_chooses_as_a_fit_does(diabetes):
    X, y = diabetes
    model = sr.RidgeEnsembleRegressor(random_state=0).partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    fitted = sr.RidgeEnsembleRegressor(random_state=0).fit(X, y)
    assert model.choice_.name == fitted.choice_.name
    assert model.loo_error_ == pytest.approx(fitted.loo_error_, rel=0.02)


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
def test_the_default_classifier_is_as_good_as_one_tuned_ridge(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(X))
    X, y = X[order] / X.max(axis=0).clip(1e-9), y[order]
    model = sr.RidgeEnsembleClassifier(random_state=0).fit(X[:300], y[:300])
    rival = RidgeClassifierCV(10.0 ** np.arange(-3, 4)).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > rival.score(X[300:], y[300:]) - 0.01
    assert abs(1 - model.loo_error_ - model.score(X[300:], y[300:])) < 0.04


def test_a_bias_per_class_finds_rare_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 20))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(600) > 2.0).astype(int)  # one in twelve
    model = sr.RidgeEnsembleClassifier(random_state=0).fit(X[:300], y[:300])
    assert model.bias_.shape == (2,)
    assert model.predict(X[300:])[y[300:] == 1].mean() > 0.4
    plain = RidgeClassifierCV(10.0 ** np.arange(-3, 4)).fit(X[:300], y[:300])
    assert model.predict(X[300:])[y[300:] == 1].mean() > plain.predict(X[300:])[y[300:] == 1].mean()


def test_prevalence_is_restored_on_request():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    y = X[:, 0] + rng.standard_normal(400) > 1.8
    shares = [
        sr.RidgeEnsembleClassifier(class_weight="balanced", restore_prevalence=each, random_state=0)
        .fit(X, y)
        .predict_proba(X)[:, 1]
        .mean()
        for each in (False, True)
    ]
    assert shares[0] > 2 * y.mean()
    assert shares[1] == pytest.approx(y.mean(), abs=0.04)
    with pytest.raises(sr.errors.ParameterError, match="restore_prevalence"):
        sr.RidgeEnsembleClassifier(restore_prevalence="yes", random_state=0).fit(X, y)


def test_one_member_does_not_throw_its_scores_away():
    X, y = load_digits(return_X_y=True)
    alone = sr.RidgeEnsembleClassifier(1, voting="majority", random_state=0).fit(X[:150], y[:150])
    summed = sr.RidgeEnsembleClassifier(1, voting="sum", random_state=0).fit(X[:150], y[:150])
    np.testing.assert_allclose(alone.predict_proba(X[150:]), summed.predict_proba(X[150:]))


@pytest.mark.filterwarnings("ignore:the best ridge is the smallest")  # of a refit, as it may be
@pytest.mark.parametrize("seed", [6, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 4))])
def test_the_scaled_ridge_is_judged_as_refits_without_each_row_choose_it(seed):
    """Its ridge is at least that of one plain ridge, which is chosen again too. The path is given: it would vary."""

    def fitted(X, y):
        return sr.RidgeEnsembleRegressor(1, ridges=np.logspace(-3, 5, 17), random_state=0).fit(X, y)

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 20))
    y = X @ rng.standard_normal(20) / 20**0.5 + rng.standard_normal(20)
    refits = [fitted(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] for i in range(20)]
    model = fitted(X, y)
    np.testing.assert_allclose(model.loo_predictions_, refits, rtol=1e-6)
    assert model.loo_error_ == pytest.approx(np.mean((y - refits) ** 2), rel=1e-6)


@pytest.mark.parametrize("block", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, 60))])
def test_small_and_odd_tables_are_fitted_or_refused_by_name(block):
    """300 tables with constant columns, copies, ties, classes that are missing: a named error or finite numbers."""
    for seed in range(5 * block, 5 * (block + 1)):
        fit_small_table(np.random.default_rng(seed))


def fit_small_table(rng):
    n, M = int(rng.integers(8, 25)), int(rng.integers(1, 30))
    X = rng.choice([rng.standard_normal((n, M)), rng.integers(0, 2, (n, M)).astype(float)])
    X[:, rng.random(M) < 0.3] = rng.integers(-2, 3)
    if rng.random() < 0.4:
        X[: n // 2] = X[n // 2 : n // 2 * 2]
    y = rng.choice([rng.standard_normal(n), rng.integers(0, 2, n).astype(float), np.ones(n)])
    groups = rng.integers(0, 4, n) if rng.random() < 0.3 else None
    for model, labels in (
        (sr.RidgeEnsembleRegressor(random_state=0), y),
        (sr.RidgeEnsembleClassifier(random_state=0), rng.integers(0, int(rng.integers(1, 4)), n)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
            try:
                model.fit(X, labels, groups=groups)
            except sr.errors.SubridgeError:
                continue
        assert np.isfinite(model.loo_error_)
        assert np.isfinite(model.predict(X)).all()

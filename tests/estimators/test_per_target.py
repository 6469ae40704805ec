"""per_target=True: a ridge and weights for each target, beside refits, scikit-learn and himalaya."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import Ridge

import subridge as sr

RIDGES = np.array([0.02, 0.2, 1.0, 4.0, 30.0, 1e5])


def drawn(n, M, C=4, seed=0, offset=3.0):
    """Rows, and targets of which the last are noisy and in large units."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M)) * rng.uniform(0.5, 2, M) + offset
    Y = X @ rng.standard_normal((M, C)) / M**0.5 + np.logspace(-1, 1, C) * rng.standard_normal((n, C)) + 7
    return X, Y * np.logspace(0, 3, C)


def by_refits(X, y, ridges, sets, w, intercept):
    """Squared errors of left-out rows at every ridge, times their weights; shape (L, n)."""
    errors = np.empty((len(ridges), len(y)))
    for out in sets:
        kept = np.setdiff1d(np.arange(len(y)), out)
        for place, ridge in enumerate(ridges):
            plain = Ridge(ridge * X.shape[1], fit_intercept=intercept, solver="svd")
            plain.fit(X[kept], y[kept], sample_weight=w[kept])
            errors[place, out] = y[out] - plain.predict(X[out])
    return errors**2 * w


def check_against_refits(n, M, seed, *, by_groups, intercept, weighted, C=3):
    rng, (X, Y) = np.random.default_rng(seed), drawn(n, M, C, seed)
    w = rng.uniform(0.3, 3, n) if weighted else np.ones(n)
    groups = rng.permutation(np.arange(n) % 7) if by_groups else None
    sets = [np.flatnonzero(groups == g) for g in range(7)] if by_groups else [[i] for i in range(n)]
    parts = groups if by_groups else np.arange(n) % 10
    model = sr.RidgeEnsembleRegressor(1, per_target=True, ridges=RIDGES, fit_intercept=intercept, random_state=0)
    model.fit(X, Y, sample_weight=w if weighted else None, groups=groups)
    for c in range(C):
        squares = by_refits(X, Y[:, c], RIDGES, sets, w, intercept)
        best = RIDGES[squares.sum(axis=1).argmin()]
        assert model.ridge_[c] == best
        whole = Ridge(best * M, fit_intercept=intercept, solver="svd").fit(X, Y[:, c], sample_weight=w)
        scale = abs(whole.coef_).max()
        np.testing.assert_allclose(model.coef_[c], whole.coef_, rtol=1e-8, atol=1e-8 * scale)
        np.testing.assert_allclose(model.predict(X)[:, c], whole.predict(X), rtol=1e-8, atol=1e-8 * abs(Y[:, c]).max())
        # Each part of the rows is judged at the ridge that the others choose.
        chosen = [squares[:, parts != part].sum(axis=1).argmin() for part in range(parts.max() + 1)]
        error = sum(squares[at, parts == part].sum() for part, at in enumerate(chosen)) / w.sum()
        np.testing.assert_allclose(model.loo_error_[c], error, rtol=1e-8)
        variance = np.cov(Y[:, c], aweights=w, ddof=0)
        np.testing.assert_allclose(model.loo_r2_[c], 1 - error / variance, rtol=1e-8, atol=1e-8)


FT = (False, True)
CASES = [{"by_groups": g, "intercept": i, "weighted": w} for g in FT for i in FT for w in FT]


@pytest.mark.parametrize(("shape", "case"), [((16, 5), CASES[3]), ((14, 20), CASES[6]), ((14, 20), CASES[1])])
def test_a_ridge_per_target_equals_refits(shape, case):
    check_against_refits(*shape, 0, **case, C=2)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", [(24, 6), (21, 30), (22, 21), (23, 22)])
def test_five_hundred_small_cases_equal_refits(shape, case):
    for seed in range(1, 17):
        check_against_refits(*shape, seed, **case, C=1)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RidgePathWarning")  # of fits to single targets
@pytest.mark.parametrize("M", [12, 60])
@pytest.mark.parametrize("by_groups", [False, True])
def test_members_with_weights_equal_fits_to_each_target(M, by_groups):
    X, Y = drawn(40, M)
    Y = Y[:, :2]
    groups = np.arange(40) % 8 if by_groups else None
    options = {"subsets": "equal", "aggregation": "free", "random_state": 0}
    model = sr.RidgeEnsembleRegressor(3, per_target=True, ridges=RIDGES, **options).fit(X, Y, groups=groups)
    for c in range(Y.shape[1]):
        alone = sr.RidgeEnsembleRegressor(3, ridges=RIDGES, **options).fit(X, Y[:, c], groups=groups)
        assert model.ridge_[c] == RIDGES[alone.loo_path_.argmin()]
        fixed = sr.RidgeEnsembleRegressor(3, ridge=model.ridge_[c], **options).fit(X, Y[:, c], groups=groups)
        np.testing.assert_allclose(model.weights_[c], fixed.weights_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.predict(X)[:, c], fixed.predict(X), rtol=1e-8)
        assert 0.8 < model.loo_error_[c] / alone.loo_error_ < 1.25  # judged by pairs of rows there, by parts here


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RidgePathWarning")  # of fits to single targets
@pytest.mark.parametrize("scope", ["member", "joint"])
def test_every_target_may_have_a_ridge_for_each_member(scope):
    X, Y = drawn(40, 12)
    options = {"subsets": "equal", "aggregation": "mean", "ridge_scope": scope, "random_state": 0}
    model = sr.RidgeEnsembleRegressor(3, per_target=True, ridges=RIDGES, **options).fit(X, Y)
    assert model.ridge_.shape == (4, 3)
    for c in range(4):
        fixed = sr.RidgeEnsembleRegressor(3, ridge=model.ridge_[c], **options).fit(X, Y[:, c])
        np.testing.assert_allclose(model.predict(X)[:, c], fixed.predict(X), rtol=1e-8)
        if scope == "member":
            for r, features in enumerate(model.estimators_features_):
                alone = sr.RidgeEnsembleRegressor(subsets=[features], ridges=RIDGES, aggregation="mean")
                path = alone.fit(X, Y[:, c]).loo_path_
                assert model.ridge_[c, r] == RIDGES[path.argmin()]
    common = sr.RidgeEnsembleRegressor(3, per_target=True, ridges=RIDGES, **{**options, "ridge_scope": "ensemble"})
    assert scope == "member" or (model.loo_error_ < 1.05 * common.fit(X, Y).loo_error_).all()


def test_a_noisy_target_in_large_units_leaves_the_others_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 60))
    Y = X @ rng.standard_normal((60, 4)) / 60**0.5 + 0.1 * rng.standard_normal((400, 4))
    Y[:, 3] = 1e3 * rng.standard_normal(400)
    fits = [
        sr.RidgeEnsembleRegressor(1, aggregation="mean", per_target=each, random_state=0).fit(X[:80], Y[:80])
        for each in (False, True)
    ]
    errors = [((Y[80:] - fit.predict(X[80:])) ** 2).mean(axis=0) / Y[80:].var(axis=0) for fit in fits]
    assert (errors[1][:3] < 0.2).all()
    assert (errors[0][:3] > 0.8).all()


@pytest.mark.parametrize("M", [30, 90])
def test_the_default_is_one_ridge_on_all_features(M):
    X, Y = drawn(60, M, C=30)
    model = sr.RidgeEnsembleRegressor(per_target=True).fit(X, Y)
    assert (model.n_estimators_, model.weights_.shape) == (1, (30, 1))
    for c in range(0, 30, 7):
        plain = Ridge(model.ridge_[c] * M).fit(X, Y[:, c])
        np.testing.assert_allclose(model.predict(X)[:, c], plain.predict(X), rtol=1e-7)
    assert model.ridge_[0] < 0.1 * model.ridge_[-1]


def test_targets_in_blocks_are_targets_at_once(monkeypatch):
    X, Y = drawn(40, 12, C=11)
    options = {"n_estimators": 3, "per_target": True, "random_state": 0, "aggregation": "free"}
    at_once = sr.RidgeEnsembleRegressor(**options).fit(X, Y)
    monkeypatch.setattr("subridge.ridge.targets._BLOCK", 8 * 40 * 3 * 17 * 4)  # bytes: four targets
    in_blocks = sr.RidgeEnsembleRegressor(**options).fit(X, Y)
    np.testing.assert_allclose(in_blocks.predict(X), at_once.predict(X), rtol=1e-12)
    np.testing.assert_allclose(in_blocks.loo_error_, at_once.loo_error_, rtol=1e-10)


@pytest.mark.parametrize("M", [10, 70])
def test_one_target_constant_targets_and_rows_of_weight_zero(M):
    X, Y = drawn(30, M)
    model = sr.RidgeEnsembleRegressor(1, per_target=True)
    several = clone(model).fit(X, Y)
    one = clone(model).fit(X, Y[:, 1])
    assert one.coef_.shape == (M,)
    assert np.ndim(one.ridge_) == np.ndim(one.loo_error_) == np.ndim(one.loo_r2_) == np.ndim(one.intercept_) == 0
    np.testing.assert_allclose(one.predict(X), several.predict(X)[:, 1], rtol=1e-9)
    np.testing.assert_allclose(X @ several.coef_.T + several.intercept_, several.predict(X), rtol=1e-9)
    again = pickle.loads(pickle.dumps(several))
    np.testing.assert_array_equal(again.predict(X), several.predict(X))
    Y[:, 2] = 5.0
    constant = clone(model).fit(X, Y)
    np.testing.assert_allclose(constant.predict(X)[:, 2], 5.0)
    assert constant.loo_error_[2] < 1e-20
    w = np.where(np.arange(30) % 5 == 0, 0.0, 1.0)
    weighted, fewer = clone(model).fit(X, Y, sample_weight=w), clone(model).fit(X[w > 0], Y[w > 0])
    np.testing.assert_allclose(weighted.predict(X), fewer.predict(X), rtol=1e-8)
    np.testing.assert_allclose(weighted.loo_error_, fewer.loo_error_, rtol=1e-8, atol=1e-20)
    sparse = clone(model).fit(csr_array(X), Y)
    np.testing.assert_allclose(sparse.predict(csr_array(X)), constant.predict(X), rtol=1e-7)


@pytest.mark.parametrize("M", [10, 70])
def test_ridges_of_zero_constant_columns_and_a_gap_are_no_trouble(M):
    X, Y = drawn(30, M)
    none = sr.RidgeEnsembleRegressor(1, ridge=0.0, per_target=True).fit(X, Y)
    np.testing.assert_allclose(
        none.predict(X), sr.RidgeEnsembleRegressor(1, ridge=0.0, aggregation="mean").fit(X, Y).predict(X), rtol=1e-7
    )
    nothing = sr.RidgeEnsembleRegressor(1, per_target=True).fit(np.ones((30, M)), Y)
    np.testing.assert_allclose(nothing.predict(X[:2]), [Y.mean(axis=0)] * 2)
    gapped = sr.RidgeEnsembleRegressor(1, ridge=0.5, gap=2, aggregation="mean")
    own = clone(gapped).set_params(per_target=True).fit(X, Y)
    np.testing.assert_allclose(own.loo_error_.sum(), gapped.fit(X, Y).loo_error_, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights_per_target": True}, "use per_target=True for separate ridges"),
        ({"per_target": "yes"}, "per_target must be True or False"),
        ({"per_target": True, "aggregation": "median"}, "needs a weighted sum of members"),
        ({"per_target": True, "readout_noise": 0.1}, r"readout_noise=0\.1 is not supported with per_target=True"),
        ({"per_target": True, "max_samples": 0.5}, r"max_samples=0\.5 is not supported"),
        ({"per_target": True, "missing": "drop-members"}, "missing='drop-members' is not supported"),
        (
            {"per_target": True, "scoring": "neg_mean_absolute_error"},
            "scoring='neg_mean_absolute_error' is not supported",
        ),
    ],
)
def test_what_has_no_meaning_for_each_target_is_refused_by_name(options, message):
    with pytest.raises(sr.errors.ParameterError, match=message):
        sr.RidgeEnsembleRegressor(2, **options).fit(*drawn(30, 10))


def test_a_score_that_does_not_exist_is_refused_by_name():
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(sr.errors.ParameterError, match="scoring must be"):
        sr.RidgeEnsembleRegressor(1, per_target=True, scoring="accuracy").fit(X, X[:, :2])


def test_missing_labels_streams_and_intervals_are_refused_by_name():
    X, Y = drawn(30, 10)
    model = sr.RidgeEnsembleRegressor(1, per_target=True)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(sr.errors.ParameterError, match="per_target=True needs the rows"):
        model.fit(iter([(X, Y)]))
    with pytest.raises(ValueError, match=r"predict_interval needs .* per_target=False"):
        model.fit(X, Y).predict_interval(X)
    Y[3, 1] = np.nan
    with pytest.raises(sr.errors.DataError, match="y contains NaN or infinity; replace or drop those rows"):
        model.fit(X, Y)
    assert not hasattr(model, "ridge_")


@pytest.mark.parametrize("shape", [(60, 20), (50, 80)])
def test_himalaya_chooses_the_same_ridges(shape):
    ridge = pytest.importorskip("himalaya.ridge")
    from sklearn.model_selection import PredefinedSplit

    X, Y = drawn(*shape, C=40)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    runs = np.arange(len(X)) % 5
    model = sr.RidgeEnsembleRegressor(1, per_target=True, ridges=RIDGES, fit_intercept=False).fit(X, Y, groups=runs)
    options = {"cv": PredefinedSplit(runs), "fit_intercept": False, "solver_params": {"warn": False}}
    other = ridge.RidgeCV(alphas=RIDGES * shape[1], **options).fit(X, Y)
    np.testing.assert_allclose(model.ridge_ * shape[1], other.best_alphas_)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-6, atol=1e-6 * abs(Y).max())


@pytest.mark.torch
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
@pytest.mark.parametrize("M", [10, 70])
@pytest.mark.parametrize(
    ("k", "options"),
    [(1, {}), (3, {}), (3, {"ridge_scope": "joint"}), (3, {"ridge_scope": "member", "aggregation": "simplex"})],
)
@pytest.mark.parametrize("by_groups", [False, True])
def test_tensors_give_what_arrays_give(device, M, k, options, by_groups, monkeypatch):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    (X, Y), runs = drawn(40, M), np.arange(40) // 5 if by_groups else None
    subsets = "auto" if k == 1 else "equal"
    model = sr.RidgeEnsembleRegressor(k, subsets=subsets, per_target=True, ridges=RIDGES[:5], random_state=0, **options)
    arrays, (Xt, Yt) = clone(model).fit(X, Y, groups=runs), (torch.asarray(each, device=device) for each in (X, Y))
    for name in ("_BLOCK", "_BLOCK_ON_A_GPU"):  # three targets at once, and one
        monkeypatch.setattr(f"subridge.ridge.targets.{name}", 8 * 40 * k * 5 * 3)
    tensors = clone(model).fit(Xt, Yt, groups=runs)
    predicted = tensors.predict(Xt)
    assert predicted.device == tensors.coef_.device == Xt.device
    np.testing.assert_allclose(tensors.ridge_, arrays.ridge_, rtol=1e-12)
    np.testing.assert_allclose(tensors.weights_, arrays.weights_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(predicted.cpu().numpy(), arrays.predict(X), rtol=1e-10)
    np.testing.assert_allclose(tensors.loo_error_, arrays.loo_error_, rtol=1e-9)
    np.testing.assert_allclose(tensors.loo_r2_, arrays.loo_r2_, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", [sr.RidgeEnsembleRegressor(1, per_target=True), sr.BandedRidge({"all": slice(None)})])
def test_a_target_whose_squares_vanish_is_refused_beside_others(model):
    X, Y = drawn(60, 5, C=2)
    with pytest.raises(sr.errors.DataError, match="y holds numbers so small that their squares vanish"):
        model.fit(X, Y * [1.0, 1e-175])

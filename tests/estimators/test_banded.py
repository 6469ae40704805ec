"""BandedRidge: what a user gives, and what comes back."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subridge as sr

SPACES = {"sound": slice(0, 10), "words": ...}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40)) * rng.uniform(0.5, 2, 40) + 3
    Y = X[:, :10] @ rng.standard_normal((10, 3)) + 0.3 * X[:, 10:] @ rng.standard_normal((30, 3)) + 7
    return X, Y + rng.standard_normal((60, 3)), np.repeat(np.arange(6), 10), rng.uniform(0.5, 2, 60)


def test_the_fit_is_ridge_regression_with_its_penalties(data):
    X, Y, runs, w = data
    model = sr.BandedRidge(SPACES, random_state=0).fit(X, Y, sample_weight=w, groups=runs)
    for target in range(3):
        scale = np.repeat(model.penalties_[target] ** -0.5, [10, 30])
        plain = Ridge(1.0, solver="svd").fit(X * scale, Y[:, target], sample_weight=w)
        np.testing.assert_allclose(model.coef_[target], plain.coef_ * scale, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.predict(X)[:, target], plain.predict(X * scale), rtol=1e-8)
    parts = model.predict_by_space(X)
    np.testing.assert_allclose(parts.sum(axis=0) + model.intercept_, model.predict(X), rtol=1e-9)
    by_space = model.r2_by_space(X, Y)
    shift, y = model.intercept_ - Y.mean(axis=0), Y - Y.mean(axis=0)
    of_intercept = (shift * (2 * y - (model.predict(X) - Y.mean(axis=0)))).sum(axis=0) / (y**2).sum(axis=0)
    whole = r2_score(Y, model.predict(X), multioutput="raw_values")
    np.testing.assert_allclose(by_space.sum(axis=1) + of_intercept, whole, rtol=1e-9)
    left_out = model.loo_r2_by_space()
    np.testing.assert_allclose(left_out.sum(axis=1), model.loo_r2_, atol=0.05)
    assert (left_out[:, 0] > left_out[:, 1]).all()


def test_columns_can_be_given_in_every_way(data):
    X, Y, runs, _ = data
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(40)])
    mask = np.arange(40) < 10
    ways = [
        {"sound": list(range(10)), "words": range(10, 40)},
        {"sound": mask, "words": ~mask},
        {"sound": [f"x{i}" for i in range(10)], "words": "rest"},
    ]
    expected = sr.BandedRidge(SPACES, random_state=0).fit(X, Y, groups=runs).predict(X)
    for spaces in ways:
        model = sr.BandedRidge(spaces, random_state=0).fit(frame, Y, groups=runs)
        np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-10, atol=1e-12 * abs(expected).max())
        assert list(model.spaces_) == ["sound", "words"]


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ({"a": [0, 1], "b": [1, 2]}, "spaces 'a' and 'b' both hold column 1"),
        ({"a": [], "b": ...}, "space 'a' is empty"),
        ({"a": slice(None), "b": ...}, r"space 'b' \(all the rest\) is empty"),
        ({"a": ..., "b": "rest"}, "only one space can be all the rest, got a, b"),
        ({"a": [50]}, r"indices of space 'a' must lie in \[0, 39\], got 50 to 50"),
        ({"a": [True, False]}, "mask of space 'a' must have shape"),
        ({"a": ["age"]}, "space 'a' names 'age', which X lacks: it has no column names"),
        ({}, "at least one space"),
        ([[0], [1]], "must be a mapping"),
    ],
)
def test_odd_spaces_are_refused(data, spaces, message):
    with pytest.raises(sr.errors.SubsetError, match=message):
        sr.BandedRidge(spaces).fit(data[0], data[1])


def test_unknown_names_are_refused_with_those_there_are(data):
    frame = pd.DataFrame(data[0][:, :3], columns=["age", "size", "rest"])
    with pytest.raises(sr.errors.SubsetError, match="names 'weight', which X lacks: its columns are age, size, rest"):
        sr.BandedRidge({"a": ["age", "weight"]}).fit(frame, data[1])
    model = sr.BandedRidge({"a": ["age", "size"], "b": "rest"}, n_draws=3).fit(frame, data[1])
    assert model.spaces_["b"].tolist() == [2]  # the column of that name


def test_a_space_of_constant_columns_has_no_share(data):
    X, Y, runs, _ = data
    constant = np.hstack([X, np.full((60, 2), 5.0)])
    spaces = {"sound": slice(0, 10), "words": slice(10, 40), "dead": ...}
    model = sr.BandedRidge(spaces, random_state=0).fit(constant, Y, groups=runs)
    np.testing.assert_array_equal(model.shares_[:, 2], 0)
    assert np.isinf(model.penalties_[:, 2]).all()
    given = sr.BandedRidge(spaces, shares=[[0.3, 0.7, 0.0]]).fit(constant, Y, groups=runs)
    without = sr.BandedRidge(SPACES, shares=[[0.3, 0.7]]).fit(X, Y, groups=runs)
    np.testing.assert_allclose(given.predict(constant), without.predict(X), rtol=1e-8)
    nothing = sr.BandedRidge().fit(constant[:, 40:], Y)
    np.testing.assert_allclose(nothing.predict(constant[:3, 40:]), np.broadcast_to(Y.mean(axis=0), (3, 3)))
    assert (nothing.loo_r2_ < 0).all()


def test_runs_may_have_one_row_but_there_must_be_two(data):
    X, Y, runs, _ = data
    runs = runs.copy()
    runs[7] = 99
    model = sr.BandedRidge(SPACES, shares=[[0.5, 0.5]], ridges=[0.3]).fit(X, Y, groups=runs)
    errors = np.empty_like(Y)
    for run in np.unique(runs):
        out = runs == run
        scale = np.repeat(model.penalties_[0] ** -0.5, [10, 30])
        plain = Ridge(1.0).fit(X[~out] * scale, Y[~out])
        errors[out] = Y[out] - plain.predict(X[out] * scale)
    np.testing.assert_allclose(model.loo_error_, (errors**2).mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(model.loo_r2_, 1 - (errors**2).sum(axis=0) / ((Y - Y.mean(axis=0)) ** 2).sum(axis=0))
    with pytest.raises(sr.errors.DataError, match="one group only"):
        sr.BandedRidge(SPACES).fit(X, Y, groups=np.zeros(60))


def test_missing_labels_are_refused_or_left_out_target_by_target(data):
    X, Y, runs, w = data
    Y = Y.copy()
    Y[5:25, 1] = np.nan
    with pytest.raises(sr.errors.DataError, match=r"y contains NaN in 1 of 3 targets; .* missing_targets='drop'"):
        sr.BandedRidge(SPACES).fit(X, Y)
    with pytest.raises(sr.errors.DataError, match="infinity"):
        sr.BandedRidge(SPACES, missing_targets="drop").fit(X, np.where(np.isnan(Y), np.inf, Y))
    options = {"shares": [[0.2, 0.8], [0.7, 0.3]], "missing_targets": "drop"}
    model = sr.BandedRidge(SPACES, **options).fit(X, Y, sample_weight=w, groups=runs)
    there = ~np.isnan(Y[:, 1])
    # Kernels are scaled by all rows, so that the same ridges are another path on fewer; compare at one penalty.
    scale = np.repeat(model.penalties_[1] ** -0.5, [10, 30])
    plain = Ridge(1.0).fit((X * scale)[there], Y[there, 1], sample_weight=w[there])
    np.testing.assert_allclose(model.predict(X)[:, 1], plain.predict(X * scale), rtol=1e-8)
    complete = sr.BandedRidge(SPACES, **options).fit(X, Y[:, [0, 2]], sample_weight=w, groups=runs)
    np.testing.assert_allclose(model.predict(X)[:, [0, 2]], complete.predict(X), rtol=1e-10)
    np.testing.assert_allclose(model.loo_r2_by_space()[[0, 2]], complete.loo_r2_by_space(), rtol=1e-9)
    assert np.isfinite(model.loo_r2_by_space()).all()


def test_rows_of_weight_zero_and_sparse_rows_change_nothing(data):
    X, Y, runs, w = data
    w = np.where(np.arange(60) % 7 == 0, 0.0, w)
    X = np.where(X > 3, X, 0.0)
    options = {"random_state": 0, "n_draws": 6}
    whole = sr.BandedRidge(SPACES, **options).fit(X, Y, sample_weight=w, groups=runs)
    fewer = sr.BandedRidge(SPACES, **options).fit(X[w > 0], Y[w > 0], sample_weight=w[w > 0], groups=runs[w > 0])
    sparse = sr.BandedRidge(SPACES, **options).fit(csr_array(X), Y, sample_weight=w, groups=runs)
    np.testing.assert_allclose(fewer.predict(X), whole.predict(X), rtol=1e-9)
    np.testing.assert_allclose(sparse.predict(csr_array(X)), whole.predict(X), rtol=1e-7)


def test_offsets_and_scales_of_spaces_change_nothing(data):
    X, Y, runs, _ = data
    factors = np.repeat([1e4, 1e-3], [10, 30])
    model = sr.BandedRidge(SPACES, random_state=0).fit(X, Y, groups=runs)
    other = sr.BandedRidge(SPACES, random_state=0).fit(X * factors + 1e3 * factors, Y * 1e6 - 1e8, groups=runs)
    np.testing.assert_allclose(other.shares_, model.shares_, atol=1e-6)
    np.testing.assert_allclose(other.loo_r2_, model.loo_r2_, atol=1e-6)


def test_it_clones_pickles_and_works_in_pipelines(data):
    X, Y, runs, _ = data
    model = sr.BandedRidge(SPACES, random_state=0, n_draws=6)
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, Y, bandedridge__groups=runs)
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.3
    single = model.fit(X, Y[:, 0])
    assert single.shares_.shape == single.penalties_.shape == single.loo_r2_by_space().shape == (2,)
    assert single.coef_.shape == (40,)
    assert single.predict_by_space(X).shape == (2, 60)
    np.testing.assert_allclose(single.predict(X), model.fit(X, Y[:, [0]]).predict(X)[:, 0])


def test_one_choice_for_all_targets_and_bad_parameters(data):
    X, Y, runs, _ = data
    common = sr.BandedRidge(SPACES, per_target=False, n_draws=6, random_state=0).fit(X, Y, groups=runs)
    assert len(np.unique(common.shares_, axis=0)) == len(np.unique(common.ridge_)) == 1
    for options, message in [
        ({"ridges": [0.0, 1.0]}, "ridges must be positive"),
        ({"n_draws": 0}, "n_draws must be a positive integer"),
        ({"shares": [[0.5, 0.1]]}, "rows that sum to one"),
        ({"refine": "no"}, "refine must be True or False"),
        ({"missing_targets": "fill"}, 'missing_targets must be "raise" or "drop"'),
        ({"memory": 10}, "memory=10 bytes are too few"),
    ]:
        with pytest.raises((sr.errors.ParameterError, sr.errors.BudgetError), match=message):
            sr.BandedRidge(SPACES, **options).fit(X, Y)
    with pytest.warns(sr.errors.AccuracyWarning, match="ridges=1e-12 may be off"):
        sr.BandedRidge(SPACES, ridges=[1e-12, 1.0], n_draws=3).fit(X, Y)


def test_the_left_out_r2_of_noise_is_not_flattered_by_many_draws():
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((60, 40)), rng.standard_normal((60, 200))
    model = sr.BandedRidge(SPACES, n_draws=30, random_state=0).fit(X, Y)
    assert model.loo_r2_.mean() < 0.01  # the least left-out errors themselves would say more


@pytest.mark.torch
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_tensors_give_what_arrays_give(data, precision):
    torch = pytest.importorskip("torch")
    X, Y, runs, w = data
    place = "cuda" if torch.cuda.is_available() else "cpu"
    tensors = [torch.asarray(each, device=place, dtype=getattr(torch, precision)) for each in (X, Y, w)]
    # Refined shares follow the labels, which float32 rounds; random ones are the same. Small ridges magnify rounding.
    options = {} if precision == "float64" else {"refine": False, "ridges": np.logspace(-1, 3, 9)}
    arrays, model = (sr.BandedRidge(SPACES, random_state=0, **options) for _ in range(2))
    arrays.fit(X, Y, sample_weight=w, groups=runs)
    model.fit(tensors[0], tensors[1], sample_weight=tensors[2], groups=runs)
    assert model.dual_coef_.dtype == tensors[1].dtype
    predicted = model.predict(tensors[0])
    assert predicted.device == tensors[0].device
    exact, expected = precision == "float64", arrays.predict(X)
    # Products of float32 round by 6e-8 of the largest terms, and sums of sixty of them by ten times as much.
    close = {"rtol": 1e-10} if exact else {"rtol": 0, "atol": 2e-6 * abs(expected).max()}
    np.testing.assert_allclose(predicted.cpu().numpy(), expected, **close)
    np.testing.assert_allclose(model.loo_r2_, arrays.loo_r2_, atol=1e-10 if exact else 1e-5)
    np.testing.assert_allclose(model.loo_r2_by_space(), arrays.loo_r2_by_space(), atol=1e-9 if exact else 1e-4)
    np.testing.assert_allclose(model.predict(X), expected, **(close | ({"rtol": 1e-9} if exact else {})))


def test_what_spaces_explain_is_what_himalaya_says(data):
    scoring = pytest.importorskip("himalaya.scoring")
    X, Y, runs, _ = data
    Y = Y - Y.mean(axis=0)
    model = sr.BandedRidge(SPACES, random_state=0).fit(X, Y, groups=runs)
    expected = scoring.r2_score_split(Y, model.predict_by_space(X))
    np.testing.assert_allclose(model.r2_by_space(X, Y), expected.T, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-90, 1e-30, 1e30, 1e60])
def test_units_of_labels_change_no_choice(unit):
    rng = np.random.default_rng(3)
    X, groups = rng.standard_normal((40, 12)), np.arange(40) // 5
    Y = X[:, :3] + rng.standard_normal((40, 3))
    spaces = {"a": slice(0, 4), "b": slice(4, 12)}
    one, other = (sr.BandedRidge(spaces, random_state=0).fit(X, Y * each, groups=groups) for each in (1.0, unit))
    np.testing.assert_allclose(other.loo_r2_, one.loo_r2_, rtol=1e-9)
    np.testing.assert_allclose(other.ridge_, one.ridge_)


def test_ridges_that_drown_in_rounding_are_passed_over():
    rng = np.random.default_rng(0)
    X, Y = np.tile(rng.standard_normal((2, 3)), (2, 1)), rng.standard_normal((4, 2))
    with pytest.warns(sr.errors.SubridgeWarning):
        model = sr.BandedRidge(ridges=[1e-300, 1.0]).fit(X, Y, groups=[0, 0, 1, 1])
    np.testing.assert_array_equal(model.ridge_, 1.0)
    assert np.isfinite(model.loo_r2_).all()

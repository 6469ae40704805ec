"""BandedRidge on tables that are read block by block: the fit of their rows, or a named error."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import subridge as sr

N, M = 240, 16
SPACES = {"sound": slice(0, 6), "words": slice(6, 14)}  # the last two columns belong to no space
RIDGES = np.logspace(-1, 3, 3)  # so few that a search on rows sees all of them in every draw
SHARES = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9], [1.0, 0.0]])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((N, M)) * np.geomspace(1.0, 0.2, M) + 3.0).astype(np.float32)
    Y = np.stack([X[:, :6].sum(axis=1), 3 * X[:, 6:].sum(axis=1), np.zeros(N)], axis=1)
    return X, Y + 2 * rng.standard_normal((N, 3)), rng.uniform(0.0, 2.0, N) * (rng.random(N) > 0.1)


def batches(*arrays, size=30):
    return (tuple(each[start : start + size] for each in arrays) for start in range(0, len(arrays[0]), size))


def labels_of_rows(moments, labels, kept):
    """The label of every row, from those of the batches; those of rows without weight do not matter."""
    found = np.zeros(N, dtype=int)
    found[kept] = np.repeat(labels, [each.n_samples for each in moments.batches])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("per_target", [True, False])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_batches_left_out_choose_what_their_rows_left_out_choose(data, fit_intercept, per_target, n_targets):
    X, Y, w = data
    Y = Y[:, 0] if n_targets == 1 else Y
    moments = sr.gather_moments(batches(X, Y, w))
    labels = np.arange(len(moments.batches)) // 4  # eight groups
    options = {"shares": SHARES, "ridges": RIDGES, "per_target": per_target, "fit_intercept": fit_intercept}
    long = sr.BandedRidge(SPACES, **options).fit(moments, groups=labels)
    short = sr.BandedRidge(SPACES, **options).fit(X, Y, w, groups=labels_of_rows(moments, labels, w > 0))
    judged = ["loo_error_", "loo_r2_"] if per_target else []  # one choice of rows for all is not judged by others
    for name in ("shares_", "ridge_", "scales_", "coef_", "intercept_", "penalties_", *judged):
        np.testing.assert_allclose(getattr(long, name), getattr(short, name), rtol=1e-8, atol=1e-10, err_msg=name)
    assert long.dual_coef_.shape[-1] <= M + 1
    for method in ("predict", "predict_by_space"):
        np.testing.assert_allclose(getattr(long, method)(X), getattr(short, method)(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(long.r2_by_space(X, Y), short.r2_by_space(X, Y), rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(long)).predict(X), long.predict(X))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_of_a_table_are_those_of_generalised_cross_validation(data, fit_intercept):
    X, Y, _ = data
    ridges, share = np.array([0.01, 1.0, 30.0]), SHARES[1]
    wanted = []
    F, G = (each.astype(float) - fit_intercept * each.mean(axis=0, dtype=float) for each in (X, Y))
    stretched = [F[:, SPACES[s]] * np.sqrt(g / (F[:, SPACES[s]] ** 2).sum() * N) for s, g in zip(SPACES, share)]  # noqa: B905
    A = np.hstack(stretched)
    for ridge in ridges:
        H = A @ np.linalg.solve(A.T @ A + ridge * np.eye(14), A.T)
        wanted.append(((G - H @ G) ** 2).mean(axis=0) / (1 - (np.trace(H) + fit_intercept) / N) ** 2)
    model = sr.BandedRidge(SPACES, shares=share, ridges=ridges, fit_intercept=fit_intercept).fit(batches(X, Y))
    np.testing.assert_allclose(model.loo_error_, np.min(wanted, axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.ridge_, ridges[np.argmin(wanted, axis=0)])


def test_a_long_table_has_much_the_error_of_its_rows(data):
    X, Y, w = data
    long, short = (sr.BandedRidge(SPACES, n_draws=8, random_state=0) for _ in range(2))
    long.fit(batches(X, Y, w)), short.fit(X, Y, w)
    np.testing.assert_allclose(long.loo_error_, short.loo_error_, rtol=0.02)
    assert np.abs(long.coef_ - short.coef_).max() < 0.06 * np.abs(short.coef_).max()


def test_standardised_moments_give_the_fit_of_standardised_rows(data):
    X, Y, _ = data
    X = (X * np.geomspace(1e-3, 1e3, M).astype(np.float32)).astype(float)
    X[:, 3] = 7.0
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    moments = sr.gather_moments(batches(X, Y), standardise=True)
    groups = np.arange(len(moments.batches)) // 4
    long = sr.BandedRidge(SPACES, shares=SHARES, ridges=RIDGES).fit(moments, groups=groups)
    short = sr.BandedRidge(SPACES, shares=SHARES, ridges=RIDGES).fit(
        X / spread, Y, groups=labels_of_rows(moments, groups, ...)
    )
    np.testing.assert_allclose(long.coef_ * spread, short.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(long.predict(X), short.predict(X / spread), rtol=1e-7)
    np.testing.assert_allclose(long.loo_error_, short.loo_error_, rtol=1e-7)


def test_dask_zarr_and_lazy_tables_give_one_fit_and_are_predicted_in_blocks(data, tmp_path):
    da, zarr, pl = (pytest.importorskip(name) for name in ("dask.array", "zarr", "polars"))
    X, Y, _ = data
    model = sr.BandedRidge(SPACES, shares=SHARES)
    wanted = model.fit(batches(X, Y)).coef_
    stored = zarr.create_array(store=str(tmp_path / "X.zarr"), shape=X.shape, dtype="f4", chunks=(50, 5))
    stored[:] = X
    lazy = da.from_array(X, chunks=(70, 4))
    for table, labels in ((stored, Y), (lazy, da.from_array(Y, chunks=33)), (pl.LazyFrame(X), pl.LazyFrame(Y))):
        np.testing.assert_allclose(model.fit(table, labels).coef_, wanted, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            model.predict(table), X @ wanted.T + model.intercept_ - X.mean(axis=0) @ wanted.T, rtol=1e-5
        )
    outputs = sr.BandedRidge(SPACES, shares=SHARES).fit(X, Y).predict(lazy)
    assert isinstance(outputs, da.Array)
    assert outputs.shape == Y.shape
    named = sr.BandedRidge({"a": [f"column_{i}" for i in range(6)], "b": ...}, shares=SHARES)
    frames = pl.LazyFrame(X, schema=[f"column_{i}" for i in range(M)]), pl.LazyFrame(Y)
    assert named.fit(*frames).spaces_["b"].tolist() == [*range(6, M)]
    assert sr.gather_moments(*frames).leave_batches_out(named).shape == (32,)


def test_batches_are_left_out_with_all_choices_made_again(data):
    X, Y, _ = data
    moments, model = sr.gather_moments(batches(X, Y)), sr.BandedRidge(SPACES, shares=SHARES, ridges=[1.0, 10.0])
    errors, batch = moments.leave_batches_out(model), moments.batches[-1]
    own = slice(N - batch.n_samples, N)
    rest = model.fit(batches(X[: own.start], Y[: own.start]))
    assert errors[-1] == pytest.approx(
        ((rest.predict(X[own].astype(float)) - Y[own]) ** 2).sum(axis=1).mean(), rel=1e-9
    )


def failing(X, Y):
    yield X, Y
    raise OSError("the disk is gone")


@pytest.mark.parametrize(
    ("options", "fit", "kind", "words"),
    [
        ({}, lambda X, Y: (failing(X, Y),), sr.errors.DataError, r"batch 1 \(OSError"),
        ({}, lambda X, Y: (iter([(X, Y), (X[:, 1:], Y)]),), sr.errors.DataError, "but the first has 16"),
        ({}, lambda X, Y: (iter([(X, Y), (X, Y[:, 1:])]),), sr.errors.DataError, "2 targets cannot join"),
        ({}, lambda X, Y: (iter([(X, Y), (X.astype(float), Y)]),), sr.errors.DataError, "holds float64"),
        ({}, lambda X, Y: (iter([(X, np.where(Y > 2, np.nan, Y))]),), sr.errors.DataError, "y contains NaN"),
        ({}, lambda X, Y: (iter([(np.where(X > 4, np.nan, X), Y)]),), sr.errors.DataError, r"columns \(0: "),
        ({}, lambda X, Y: (iter([(X[:1], Y[:1])]),), sr.errors.DataError, "at least 2"),
        ({}, lambda X, Y: (batches(X, Y), None, None, np.zeros(N)), sr.errors.ParameterError, "labels of the batches"),
        (
            {},
            lambda X, Y: (sr.gather_moments(batches(X, Y)), None, None, np.zeros(N)),
            sr.errors.ParameterError,
            "one for each",
        ),
        (
            {},
            lambda X, Y: (sr.gather_moments(batches(X, Y)), None, None, [0] * 32),
            sr.errors.DataError,
            "at least two",
        ),
        ({}, lambda X, Y: (sr.gather_moments(batches(X, Y)), Y), sr.errors.ParameterError, "moments hold y"),
        ({"missing_targets": "drop"}, lambda X, Y: (batches(X, Y),), sr.errors.ParameterError, "needs the rows"),
        ({"memory": 2**20}, lambda X, Y: (batches(X, Y),), sr.errors.BudgetError, "more memory="),
        ({"spaces": {"a": [40]}}, lambda X, Y: (batches(X, Y),), sr.errors.SubsetError, "40"),
        ({"ridges": [-1.0]}, lambda X, Y: (batches(X, Y),), sr.errors.ParameterError, "ridges"),
    ],
)
def test_what_cannot_be_fitted_is_named_and_leaves_nothing(data, options, fit, kind, words):
    X, Y, _ = data
    model = sr.BandedRidge(**{"spaces": SPACES, "shares": SHARES} | options)
    with pytest.raises(kind, match=words):
        model.fit(*fit(X, Y))
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("by_batches", [False, True])
def test_a_constant_target_without_an_intercept_is_no_trouble(data, by_batches):
    X, Y, _ = data
    Y = np.column_stack([Y[:, 0], np.full(N, 2.0)])
    moments = sr.gather_moments(batches(X, Y))
    groups = np.arange(len(moments.batches)) if by_batches else None
    model = sr.BandedRidge(SPACES, n_draws=4, fit_intercept=False, random_state=0).fit(moments, groups=groups)
    assert np.isfinite(model.loo_error_).all()
    np.testing.assert_allclose(model.predict(X)[:, 1], 2.0, atol=1.0)


def test_left_out_rows_are_not_split_by_space_without_rows(data):
    X, Y, _ = data
    with pytest.raises(sr.errors.DataError, match="fit to rows"):
        sr.BandedRidge(SPACES, shares=SHARES).fit(X, Y).fit(batches(X, Y)).loo_r2_by_space()

"""Tables with more columns than memory holds give what the same rows give in memory."""

import pickle

import numpy as np
import pytest

import subridge as sr
from subridge.arrays import namespace
from subridge.ridge import columns

N, M = 60, 900


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "_BLOCK", 8 * N * 70)  # thirteen blocks
    monkeypatch.setattr(namespace, "_WIDE", 0)
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((N, M)) + 5.0).astype(np.float32)
    X[:, 7] = 2.5
    stored = np.memmap(tmp_path / "X", dtype=X.dtype, mode="w+", shape=X.shape)
    stored[:] = X
    return X, stored, X[:, :20].sum(axis=1) + rng.standard_normal(N)


@pytest.mark.parametrize(
    "options",
    [
        {"n_estimators": 1},
        {"n_estimators": 1, "ridge": 0.0},
        {"n_estimators": 1, "fit_intercept": False},
        {"n_estimators": 3, "aggregation": "median"},
        {"n_estimators": 4, "aggregation": "free", "ridge_scope": "member"},
        {"n_estimators": 30, "aggregation": "mean", "ridge": 0.5},
        {"subsets": "overlapping", "n_estimators": 3, "subset_sizes": 0.5, "aggregation": "simplex"},
    ],
    ids=str,
)
def test_columns_on_disk_give_what_rows_in_memory_give(data, options):
    X, stored, y = data
    weights = np.random.default_rng(1).uniform(0.0, 2.0, N) * (np.arange(N) % 9 > 0)
    assert namespace.is_wide(stored)
    found = sr.RidgeEnsembleRegressor(random_state=0, **options).fit(stored, y, weights)
    wanted = sr.RidgeEnsembleRegressor(random_state=0, **options).fit(X.astype(float), y, weights)
    np.testing.assert_allclose(found.predict(X), wanted.predict(X), rtol=1e-9)
    assert found.loo_error_ == pytest.approx(wanted.loo_error_, rel=1e-8)
    np.testing.assert_allclose(found.loo_predictions_, wanted.loo_predictions_, rtol=1e-8)
    if options.get("aggregation") != "median":
        np.testing.assert_allclose(found.predict(stored), wanted.predict(X), rtol=1e-9)
        assert found.coef_.shape == (M,)


def test_groups_and_several_targets_of_a_zarr_array(data, tmp_path):
    zarr = pytest.importorskip("zarr")
    X, _, y = data
    stored = zarr.create_array(store=str(tmp_path / "X.zarr"), shape=X.shape, dtype="f4", chunks=(N, 64))
    stored[:] = X
    Y, groups = np.stack([y, X[:, 30]], axis=1), np.arange(N) // 3
    model = sr.RidgeEnsembleRegressor(1, random_state=0)
    found = model.fit(stored, Y, groups=groups).coef_
    next(file for file in (tmp_path / "X.zarr" / "c").rglob("*") if file.is_file()).unlink()
    for table in (stored, zarr.create_array(store=str(tmp_path / "0.zarr"), shape=(0, 5), chunks=(4, 5), dtype="f4")):
        with pytest.raises(ValueError, match=r"never written|has no rows|0 sample"):
            sr.RidgeEnsembleRegressor(1).fit(table, Y[: table.shape[0]])
        with pytest.raises(sr.errors.DataError, match=r"never written|has no rows"):
            model.predict(table)
    np.testing.assert_allclose(found, model.fit(X.astype(float), Y, groups=groups).coef_, rtol=1e-8, atol=1e-12)


def test_what_a_wide_table_cannot_do_is_named(data):
    X, stored, y = data
    with pytest.raises(sr.errors.DataError, match="select columns"):
        sr.RidgeEnsembleRegressor(2, subsets="projection").fit(stored, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        sr.RidgeEnsembleRegressor(2).fit(stored, y[1:])
    with pytest.raises(ValueError, match="needs the rows"):
        sr.RidgeEnsembleRegressor(1).fit(stored, y).predict_interval(X)
    with pytest.raises(sr.errors.DataError, match="need X in memory"):
        sr.RidgeEnsembleRegressor(2, aggregation="median").fit(X, y).predict(stored)
    with pytest.raises(sr.errors.ParameterError, match="max_samples needs rows in memory"):
        sr.RidgeEnsembleRegressor(2, max_samples=0.5).fit(stored, y)
    with pytest.raises(sr.errors.DataError, match=r"no rows of real numbers.* complex64"):
        sr.RidgeEnsembleRegressor(1).fit(stored.view(np.complex64), y)
    with pytest.raises(sr.errors.DataError, match="has 900 features"):
        sr.RidgeEnsembleRegressor(2).fit(X[:, 1:], y).predict(stored)
    stored[3, 200] = np.nan
    stored[5:9, 700] = np.nan
    with pytest.raises(sr.errors.DataError, match=r"in 2 columns \(200: 1, 700: 4\)"):
        sr.RidgeEnsembleRegressor(1).fit(stored, y)
    stored[5:9, 700] = 1.0
    stored[3, 200], stored[5] = 1.0, stored[4]
    with pytest.raises(sr.errors.DataError, match="too wide to decompose"):
        sr.RidgeEnsembleRegressor(1, ridge=0.0).fit(stored, y)


STORED = [
    {"n_estimators": 1},
    {"n_estimators": 1, "fit_intercept": False},
    {"n_estimators": 4, "aggregation": "free"},
    {"n_estimators": 4, "aggregation": sr.aggregation.Free(per_target=True)},
    {"n_estimators": 30, "aggregation": "mean", "ridge": 0.5},
    {"subsets": "overlapping", "n_estimators": 3, "subset_sizes": 0.5, "ridge_scope": "member"},
]


@pytest.mark.parametrize(
    ("n_targets", "options"),
    [
        *((3, each) for each in STORED),
        (0, STORED[0]),
        *(pytest.param(0, each, marks=pytest.mark.slow) for each in STORED[1:]),
    ],
    ids=str,
)
def test_coefficients_on_disk_are_those_in_memory(data, tmp_path, options, n_targets):
    zarr = pytest.importorskip("zarr")
    X, stored, y = data
    Y = np.stack([y, X[:, 30], y * X[:, 1]], axis=1) if n_targets else y
    weights, path = np.arange(N) % 9 + 0.5 * (np.arange(N) % 2), tmp_path / "coef.zarr"
    wanted = sr.RidgeEnsembleRegressor(random_state=0, **options).fit(stored, Y, weights)
    found = sr.RidgeEnsembleRegressor(random_state=0, **options).fit(stored, Y, weights, coef_path=path)
    np.testing.assert_allclose(found.coef_[:], wanted.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.intercept_, wanted.intercept_, rtol=1e-8, atol=1e-12)
    array = zarr.open_array(str(path), mode="r")
    assert array.shape == (n_targets or 1, M)
    assert array.chunks[1] == 70
    for new in (X, stored):
        np.testing.assert_allclose(found.predict(new), wanted.predict(new), rtol=1e-8)
    if n_targets:
        damaged = next(file for file in (path / "c").rglob("*") if file.is_file())
        kept = damaged.read_bytes()
        damaged.unlink()
        for new in (X, stored):
            with pytest.raises(sr.errors.DataError, match="1 of 13 chunks of coef_ were never written, or are lost"):
                found.predict(new)
        damaged.write_bytes(kept)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["X", "coef.zarr"]
    assert found.estimators_coef_ == []


def test_members_whose_kernels_do_not_fit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(namespace, "_WIDE", 0)
    n = 700
    stored = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(n, 4 * n))
    stored[:] = np.random.default_rng(0).standard_normal(stored.shape)
    y = stored[:, :20].sum(axis=1)
    monkeypatch.setattr("subridge.model.checks.available_memory", lambda: 8 * n**2 * 6)
    sr.RidgeEnsembleRegressor(1, ridge=0.5).fit(stored, y)
    with pytest.raises(sr.errors.BudgetError, match="a fit of 4 members to 700 rows needs about"):
        sr.RidgeEnsembleRegressor(4, subsets="equal", ridge=0.5).fit(stored, y)


def test_a_fit_that_fails_writes_no_coefficients(data, tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    X, stored, y = data
    model, files = sr.RidgeEnsembleRegressor(1), ["X"]

    def refused(words, kind=sr.errors.StoreError, table=stored, model=model, path=tmp_path / "coef.zarr"):
        with pytest.raises(kind, match=words):
            model.fit(table, y, coef_path=path)
        assert not hasattr(model, "ridge_")
        assert sorted(each.name for each in tmp_path.iterdir()) == files

    refused("cannot be written", path=tmp_path / "nowhere" / "coef.zarr")
    refused("cannot be written", path=tmp_path / "X" / "coef.zarr")
    refused("exists", path=tmp_path / "X")
    refused("is for wide tables", sr.errors.ParameterError, table=X)
    refused("needs the rows", sr.errors.ParameterError, model=sr.RidgeEnsembleRegressor(3, aggregation="median"))
    refused("needs members", sr.errors.ParameterError, model=sr.RidgeEnsembleRegressor(1, missing="drop-members"))
    read, count = columns.DiskColumns._read, 0

    def failing(self):
        nonlocal count
        count += 1
        for part, values in read(self):
            if count == 3 and part.start > 400:  # means, kernels, coefficients
                raise sr.errors.DataError("columns cannot be read")
            yield part, values

    monkeypatch.setattr(columns.DiskColumns, "_read", failing)
    model = sr.RidgeEnsembleRegressor(1, ridge=0.5)
    refused("columns cannot be read", sr.errors.DataError, model=model)
    monkeypatch.undo()
    monkeypatch.setattr(namespace, "_WIDE", 0)

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("zarr.create_array", full)
    refused("No space left", model=model)

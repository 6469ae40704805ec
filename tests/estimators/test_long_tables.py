"""Tables that are read block by block: every kind gives what a fit in memory gives, or a named error."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer

import subridge as sr
from scripts import started, wait_for
from subridge.arrays import namespace
from subridge.estimators import blocks

N, M = 900, 12


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((N, M)) + 3.0).astype(np.float32)
    return X, X[:, :3].sum(axis=1) + rng.standard_normal(N), rng.uniform(0.0, 2.0, N) * (rng.random(N) > 0.1)


def batches(*arrays, size=140):
    return (tuple(each[start : start + size] for each in arrays) for start in range(0, len(arrays[0]), size))


def zarr_of(path, X, rows=128):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(store=str(path / "X.zarr"), shape=X.shape, dtype=X.dtype, chunks=(rows, X.shape[1]))
    array[:] = X
    return array


def dask_arrays(X, y, w, path):
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=170), w


def dask_frames(X, y, w, path):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frames = pd.DataFrame(X, columns=[f"c{i}" for i in range(M)]), pd.Series(y), pd.Series(w)
    return tuple(dd.from_pandas(each, npartitions=5) for each in frames)


def lazy_frames(X, y, w, path):
    pl = pytest.importorskip("polars")
    return pl.DataFrame(X).lazy(), pl.DataFrame({"column_0": y}).lazy(), w


def zarr_array(X, y, w, path):
    return zarr_of(path, X), y, w


def memory_map(X, y, w, path):
    found = np.memmap(path / "X", dtype=X.dtype, mode="w+", shape=X.shape)
    found[:] = X
    return found, y, w


KINDS = [dask_arrays, dask_frames, lazy_frames, zarr_array, memory_map]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_table_gives_the_fit_of_its_rows(data, tmp_path, kind):
    table = kind(*data, tmp_path)
    model = sr.RidgeEnsembleRegressor(3, ridge=0.3, aggregation="mean", random_state=0)
    found, wanted = model.fit(sr.gather_moments(*table)).coef_, model.fit(*data).coef_
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    if kind is not memory_map:  # a small one is read as a whole
        assert namespace.is_long(*table[:2])
        np.testing.assert_array_equal(model.fit(*table).coef_, found)
        assert not hasattr(model, "loo_predictions_")
    np.testing.assert_allclose(model.predict(table[0]), data[0].astype(float) @ found + model.intercept_, rtol=1e-12)


def test_batches_of_an_iterator_give_the_fit_of_its_rows(data):
    X, y, _ = data
    Y = np.stack([y, X[:, 5]], axis=1)
    model = sr.RidgeEnsembleRegressor(2, ridge=0.3, aggregation="mean", random_state=0)
    found = model.fit(batches(X, Y)).coef_
    assert found.shape == (2, M)
    np.testing.assert_allclose(found, model.fit(X, Y).coef_, rtol=1e-10, atol=1e-12)


def test_a_long_table_is_chosen_for_as_its_rows_are(data):
    X, y, _ = data
    long, short = sr.RidgeEnsembleRegressor(random_state=0), sr.RidgeEnsembleRegressor(random_state=0)
    long.fit(batches(X, y)), short.fit(X, y)
    assert long.choice_.name == short.choice_.name
    assert long.loo_error_ == pytest.approx(short.loo_error_, rel=0.02)
    for name in ("ridge_", "ridge_path_", "loo_path_", "risk_matrix_", "weights_", "coef_", "intercept_"):
        np.testing.assert_allclose(getattr(long, name), getattr(short, name), rtol=0.03, atol=1e-3, err_msg=name)


@pytest.mark.parametrize("intercept", [True, False])
def test_standardised_moments_give_the_fit_of_standardised_rows(data, intercept):
    X, y, _ = data
    wide = X * np.geomspace(1e-3, 1e3, M).astype(np.float32)
    model = sr.RidgeEnsembleRegressor(2, ridge=0.3, aggregation="mean", fit_intercept=intercept, random_state=0)
    found = clone(model).fit(sr.gather_moments(batches(wide, y), standardise=True))
    spread = wide.astype(float).std(axis=0)
    wanted = model.fit(wide / spread, y)
    np.testing.assert_allclose(found.coef_ * spread, wanted.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.predict(wide), wanted.predict(wide / spread), rtol=1e-6)


def test_batches_are_left_out_as_their_rows_are(data):
    X, y, w = data
    Y = np.stack([y, X[:, 0] * y], axis=1)
    moments = sr.gather_moments(
        ((X[i : i + 100], Y[i : i + 100], w[i : i + 100] + 0.1) for i in range(0, N, 100)), memory=2**30
    )
    model = sr.RidgeEnsembleRegressor(3, ridge=0.3, aggregation="mean", random_state=0)
    found, start = moments.leave_batches_out(model), 0
    assert len(found) == len(moments.batches)
    assert not hasattr(model, "coef_")
    for error, batch in zip(found, moments.batches, strict=True):
        own = np.isin(np.arange(N), np.arange(start, start + batch.n_samples))
        model.fit(X[~own].astype(float), Y[~own], w[~own] + 0.1)
        wanted = np.average(((model.predict(X[own]) - Y[own]) ** 2).sum(axis=1), weights=w[own] + 0.1)
        assert error == pytest.approx(wanted, rel=1e-9)
        start += batch.n_samples
    assert start == N


def test_missing_values_are_counted_by_column_or_filled_with_means(data, tmp_path):
    X, y, _ = data
    X = X.copy()
    X[[3, 400, 401], [2, 2, 7]] = np.nan
    table = zarr_of(tmp_path, X)
    with pytest.raises(sr.errors.DataError, match=r"2 columns \(2: 2, 7: 1\)"):
        sr.RidgeEnsembleRegressor().fit(table, y)
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3)
    found = model.fit(sr.gather_moments(table, y, missing="mean")).coef_
    np.testing.assert_allclose(found, model.fit(SimpleImputer().fit_transform(X.astype(float)), y).coef_, rtol=1e-6)
    with pytest.raises(sr.errors.ParameterError, match="read only once"):
        sr.gather_moments(batches(X, y), missing="mean")


def test_a_run_that_was_killed_goes_on_from_its_store(data, tmp_path, monkeypatch):
    X, y, w = data
    table, store = zarr_of(tmp_path, X), tmp_path / "store"
    whole = sr.gather_moments(table, y, w)
    read, count = blocks._read, 0

    def stopping(*rows):
        nonlocal count
        count += 1
        if count > 10:
            raise KeyboardInterrupt
        return read(*rows)

    monkeypatch.setattr(blocks, "_read", stopping)
    monkeypatch.setattr(blocks, "_BLOCK", 8 * M * 128)
    with pytest.raises(KeyboardInterrupt):
        sr.gather_moments(table, y, w, store=store)
    first = len(list(store.glob("*-*.npz")))
    assert 0 < first < 8
    count = -1000
    again = sr.gather_moments(table, y, w, store=store)
    assert count == -1000 + 3 * (8 - first)  # rows, labels and weights of the blocks that were not there
    np.testing.assert_allclose(sum(each.gram for each in again.batches).shape, (M, M))
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3)
    np.testing.assert_allclose(model.fit(again).coef_, model.fit(whole).coef_, rtol=1e-12)
    with pytest.raises(sr.errors.StoreError, match="moments of another table"):
        sr.gather_moments(zarr_of(tmp_path / "other", X[:500]), y[:500], store=store)


def test_a_store_of_other_labels_or_weights_is_refused_and_weightless_batches_are_kept(data, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 8 * M * 128)
    X, y, w = data
    table, store, some = zarr_of(tmp_path, X), tmp_path / "store", w.copy()
    some[256:384] = 0.0
    first = sr.gather_moments(table, y, some, store=store)
    again = sr.gather_moments(table, y, some, store=store)
    assert first.n_samples == again.n_samples == (some > 0).sum()
    for labels, weights in ((2 * y, some), (y, w), (y, None)):
        with pytest.raises(sr.errors.StoreError, match="moments of another table"):
            sr.gather_moments(table, labels, weights, store=store)


def test_the_plan_counts_targets(data):
    X, y, _ = data
    one, many = (sr.gather_moments(iter([(X, labels)])) for labels in (y, np.tile(y[:, None], (1, 5000))))
    grows = sum(each.cross.nbytes for each in many.batches)
    assert many.planned_memory - one.planned_memory > grows
    with pytest.raises(sr.errors.BudgetError, match="5,000 targets"):
        sr.gather_moments(iter([(X, np.tile(y[:, None], (1, 5000)))]), memory=one.planned_memory)


@pytest.fixture
def client():
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "dashboard_address": "127.0.0.1:0", "n_workers": 2, "threads_per_worker": 1}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_give_what_one_process_gives(data, tmp_path, monkeypatch, request):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr(blocks, "_BLOCK", 8 * M * 4)  # 225 blocks in 32 batches: tasks of several blocks, and merges
    X, y, w = data
    table = zarr_of(tmp_path, X, rows=4)
    labels = zarr.create_array(store=str(tmp_path / "y.zarr"), shape=y.shape, dtype="f8", chunks=(50,))
    labels[:] = y
    alone, lazy = sr.gather_moments(table, y, w), dask_arrays(*data, tmp_path)
    request.getfixturevalue("client")
    for given in ((table, y, w), (table, labels, w)):
        shared = sr.gather_moments(*given)
        assert len(shared.batches) == len(alone.batches) == 32
        for one, two in zip(alone.batches, shared.batches, strict=True):
            np.testing.assert_array_equal(one.gram, two.gram)
            np.testing.assert_array_equal(one.cross, two.cross)
    model = sr.RidgeEnsembleRegressor(2, ridge=0.3, aggregation="mean", random_state=0)
    np.testing.assert_allclose(model.fit(*lazy).coef_, model.fit(alone).coef_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(lazy[0]).compute(), model.predict(X), rtol=1e-12)
    damaged = sorted(file for file in (tmp_path / "X.zarr" / "c").rglob("*") if file.is_file())[7]
    damaged.write_bytes(b"short")
    with pytest.raises(sr.errors.DataError, match="cannot be read"):
        model.fit(table, labels)
    assert not hasattr(model, "coef_")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("missing", ["raise", "mean"])
def test_a_scheduler_that_dies_is_named_and_the_next_run_reads_what_is_missing(data, tmp_path, monkeypatch, missing):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(blocks, "_BLOCK", 8 * M * 30)
    X, y, w = data
    table, file, store = zarr_of(tmp_path, X, rows=30), tmp_path / "scheduler.json", tmp_path / "store"
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    quiet = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    local = ["--scheduler-file", str(file), "--no-dashboard"]
    moved, move = 0, blocks.ProgressBar.move

    def killing(self, amount, description=None):
        nonlocal moved
        moved += amount
        if moved == 4:  # batches; of the first pass, if there are two
            scheduler.kill()
        move(self, amount, description)

    monkeypatch.setattr(blocks.ProgressBar, "move", killing)
    with (
        started([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *local], **quiet) as scheduler,
        started([*dask, "worker", "--nthreads", "1", "--no-nanny", *local], **quiet),
    ):
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        with distributed.Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(1, timeout=240)
            with pytest.raises(sr.errors.ClusterError, match="scheduler is gone"):
                sr.gather_moments(table, y, w, missing=missing, store=store)
    assert len(list(store.glob("*-*.npz"))) == 4 if missing == "raise" else not store.exists()
    found = sr.gather_moments(table, y, w, missing=missing, store=store)
    for one, two in zip(found.batches, sr.gather_moments(table, y, w, missing=missing).batches, strict=True):
        np.testing.assert_array_equal(one.gram, two.gram)


def failing(X, y):
    yield X, y
    raise OSError("the disk is gone")


def changing(change):
    def make(X, y):
        yield X, y
        yield change(X), y

    return make


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (failing, r"batch 1 \(OSError: the disk is gone\)"),
        (changing(lambda X: X[:, 1:]), r"shape \(900, 11\), but the first has 12"),
        (changing(lambda X: X.astype(float)), "holds float64, the first float32"),
        (changing(lambda X: X.astype(str)), "holds <U"),
        (changing(lambda X: X[1:]), "899 rows"),
        (changing(lambda X: np.where(X[0, 0] == X, np.inf, X).astype(np.float32)), "infinity in column 0"),
        (lambda X, y: iter([X]), "must be"),
        (lambda X, y: iter([]), "no batches"),
        (lambda X, y: iter([(X, y * np.nan)]), "y contains NaN"),
        (lambda X, y: iter([(X.astype(float) * 1e160, y)]), "leave the range"),
        (lambda X, y: iter([(X, y, 0 * y)]), "positive weight"),
        (lambda X, y: iter([(X, y, 0 * y + 1e200)]), "between 1e-100 and 1e"),
        (lambda X, y: iter([(X[:1], y[:1])]), "at least 2"),
    ],
)
def test_batches_that_cannot_be_used_are_named_and_leave_nothing(data, make, words):
    X, y, _ = data
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(X, y)
    with pytest.raises(sr.errors.DataError, match=words):
        model.fit(make(X, y))
    assert not hasattr(model, "coef_")


def test_batches_of_frames_must_have_the_same_columns_in_the_same_order(data):
    pd = pytest.importorskip("pandas")
    X, y, _ = data
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(M)])
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(iter([(frame[:500], y[:500]), (frame[500:], y[500:])]))
    np.testing.assert_allclose(model.coef_, sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(X, y).coef_, rtol=1e-5)
    for later in (frame.iloc[:, ::-1], X):
        with pytest.raises(sr.errors.DataError, match=r"batch 1 has the columns .* the same columns"):
            model.fit(iter([(frame, y), (later, y)]))


@pytest.mark.parametrize("change", [lambda y: y[1:], lambda y: np.append(y, y)])
def test_labels_of_a_lazy_frame_that_are_too_few_or_too_many_are_named(data, change):
    X, y, w = data
    lazy = pytest.importorskip("polars").DataFrame(X).lazy()
    with pytest.raises(sr.errors.DataError, match="differ in their numbers of rows"):
        sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(lazy, change(y), w)


def test_dask_labels_may_have_blocks_of_targets_and_a_table_of_one_axis_is_named(data):
    da = pytest.importorskip("dask.array")
    X, y, _ = data
    Y = np.column_stack([y, -y, 2 * y])
    table = da.from_array(X, chunks=(100, 5))
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(table, da.from_array(Y, chunks=(170, 2)))
    np.testing.assert_allclose(
        model.coef_, sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(X, Y).coef_, rtol=1e-4, atol=1e-6
    )
    with pytest.raises(sr.errors.DataError, match=r"got \(900,\); a column is X"):
        model.fit(table[:, 0], da.from_array(y, chunks=170))


def test_damaged_files_are_named(data, tmp_path):
    X, y, _ = data
    table = zarr_of(tmp_path, X)
    chunks = sorted(file for file in (tmp_path / "X.zarr" / "c").rglob("*") if file.is_file())
    chunks[2].write_bytes(chunks[2].read_bytes()[:50])
    with pytest.raises(sr.errors.DataError, match="cannot be read"):
        sr.RidgeEnsembleRegressor().fit(table, y)
    chunks[2].unlink()
    with pytest.raises(sr.errors.DataError, match="never written"):
        sr.RidgeEnsembleRegressor().fit(table, y)
    whole = zarr_of(tmp_path / "other", X)
    with pytest.raises(sr.errors.DataError, match="900 rows"):
        sr.RidgeEnsembleRegressor().fit(whole, y[1:])
    labels = pytest.importorskip("zarr").create_array(
        store=str(tmp_path / "y.zarr"), shape=y.shape, dtype="f8", chunks=(300,)
    )
    labels[:600] = y[:600]
    with pytest.raises(sr.errors.DataError, match="1 of 3 chunks of y were never written"):
        sr.RidgeEnsembleRegressor().fit(whole, labels)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda block: block[:, 1:], r"shape \(100, 11\), but the first has 12"),
        (lambda block: block.astype(float), "holds float64, the first float32"),
        (lambda block: block[1:], "99 rows"),
    ],
)
def test_blocks_that_differ_from_what_dask_was_told_are_named(data, change, words):
    da = pytest.importorskip("dask.array")
    X, y, _ = data

    def changed(block, block_info=None):
        return change(block) if block_info[0]["chunk-location"][0] == 6 else block

    lying = da.from_array(X, chunks=(100, M)).map_blocks(changed, dtype=X.dtype, meta=X[:0])
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3).fit(X, y)
    with pytest.raises(sr.errors.DataError, match=words):
        model.fit(lying, y)
    assert not hasattr(model, "coef_")


def test_a_store_holds_whole_batches_only_and_serves_once_the_file_is_mended(data, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 8 * M * 128)
    X, y, w = data
    table, store = zarr_of(tmp_path, X), tmp_path / "store"
    whole = sr.gather_moments(table, y, w)
    damaged = sorted(file for file in (tmp_path / "X.zarr" / "c").rglob("*") if file.is_file())[5]
    sound = damaged.read_bytes()
    damaged.write_bytes(sound[: len(sound) // 2])
    with pytest.raises(sr.errors.DataError, match="rows 640 to 768 cannot be read"):
        sr.gather_moments(table, y, w, store=store)
    assert {file.name.split(".")[-1] for file in store.iterdir()} == {"npz"}
    damaged.write_bytes(sound)
    mended = sr.gather_moments(table, y, w, store=store)
    model = sr.RidgeEnsembleRegressor(1, ridge=0.3)
    np.testing.assert_allclose(model.fit(mended).coef_, model.fit(whole).coef_, rtol=1e-12)


def test_what_needs_rows_and_what_does_not_fit_is_refused(data):
    X, y, _ = data
    with pytest.raises(sr.errors.ParameterError, match=r"aggregation='median' .* needs the rows"):
        sr.RidgeEnsembleRegressor(3, aggregation="median").fit(batches(X, y))
    with pytest.raises(sr.errors.ParameterError, match="groups="):
        sr.RidgeEnsembleRegressor().fit(batches(X, y), groups=np.zeros(N))
    with pytest.raises(sr.errors.ParameterError, match="leave y"):
        sr.RidgeEnsembleRegressor().fit(batches(X, y), y)
    with pytest.raises(sr.errors.ParameterError, match="moments hold y"):
        sr.RidgeEnsembleRegressor(1).fit(sr.gather_moments(batches(X, y)), y)
    with pytest.raises(sr.errors.BudgetError, match="more memory="):
        sr.gather_moments(batches(X, y), memory=2**28)
    with pytest.raises(sr.errors.DataError, match="only batch"):
        sr.gather_moments(iter([(X[:1], y[:1])])).leave_batches_out(sr.RidgeEnsembleRegressor(1))
    with pytest.raises(sr.errors.ParameterError, match="any order"):
        sr.gather_moments(batches(X, y), store="here")


def test_tables_that_are_not_computed_yet_are_never_read_as_a_whole(data):
    da = pytest.importorskip("dask.array")
    X, y, _ = data
    lazy = da.from_array(X, chunks=(100, M))
    with pytest.raises(sr.errors.DataError, match="give blocks"):
        sr.RidgeEnsembleClassifier().fit(lazy, y > 9)
    Y = np.stack([y, X[:, 0]], axis=1)
    for labels, aggregation in ((y, "mean"), (Y, "mean"), (y, "median")):
        model = sr.RidgeEnsembleRegressor(3, ridge=0.3, aggregation=aggregation, random_state=0).fit(X, labels)
        outputs = model.predict(lazy)
        assert isinstance(outputs, da.Array)
        assert outputs.shape == labels.shape
        np.testing.assert_allclose(outputs.compute(), model.predict(X), rtol=1e-12)
        np.testing.assert_allclose(model.predict(iter([X[:7], X[7:]])), model.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="expecting 12 features"):
        model.predict(iter([X[:7, 1:]]))
    with pytest.raises(NotFittedError):
        sr.RidgeEnsembleRegressor().predict(lazy)
    with pytest.raises(sr.errors.DataError, match="give blocks"):
        model.predict(sr.gather_moments(lazy, y))


def test_a_row_that_outweighs_all_others_is_refused_in_batches_too(data):
    X, y, _ = data
    weights = np.ones(N)
    weights[7] = 1e40
    with pytest.raises(sr.errors.DataError, match="sample_weight of a row is so large that the others vanish"):
        sr.RidgeEnsembleRegressor(1, ridge=0.1).fit(batches(X, y, weights))


def test_a_stream_may_begin_with_rows_of_tiny_weight(data):
    X, y, _ = data
    weights = np.repeat([1e-20, 1.0], 20)
    model = sr.RidgeEnsembleRegressor(1, ridge=0.1)
    for i in range(40):
        model.partial_fit(X[i : i + 1], y[i : i + 1], weights[i : i + 1])
    whole = sr.RidgeEnsembleRegressor(1, ridge=0.1).fit(X[:40], y[:40], weights)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-6, atol=1e-8)

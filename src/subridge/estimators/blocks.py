"""Tables longer than memory: their moments in one pass, block by block, here or on the workers of a Dask cluster.

A table is a list of blocks of rows that can be read in any order (Dask arrays and frames, zarr arrays, memory maps), or
an iterator of blocks (lazy frames, batches). Neighbouring blocks make a batch, whose moments are merged as a tree. Dask
schedules and repeats the work; a worker only runs a function of one block.
"""

import hashlib
import math
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from subridge.arrays.machine import available_memory
from subridge.arrays.namespace import is_dask, is_lazy, is_of, to_numpy
from subridge.arrays.types import Array, ArrayLike, FloatArray, IntArray
from subridge.model.checks import one_of, positive_integer, refuse_odd_values, truth
from subridge.model.ensemble import SubsetPlan
from subridge.model.errors import BudgetError, ClusterError, DataError, ParameterError, StoreError, counted
from subridge.ridge.columns import ColumnRows, DiskColumns, gaps_error
from subridge.ridge.columns import read_part as _read
from subridge.ridge.member import MemberPath
from subridge.ridge.moments import (
    BATCHES,
    LEAST_REST,
    MomentBatches,
    RowMoments,
    merged,
    moments_of,
    pieces_of,
    thinned,
)
from subridge.store.progress import LateBar, ProgressBar
from subridge.store.tasks import TaskStore, place_of

_BLOCK = 2**25  # bytes of a block that is read at once, as float64, and of a slab that is centred at once
_FAN_IN = 8  # moments that one task merges: a power of two, so that all trees are the same
_LEAST_BATCHES = 8  # enough for a standard error
LARGEST_WEIGHT = 1e100  # of a row; the least is its inverse, so that sums of squares stay in the range of floats
_MATRICES = 16  # Gram matrices that a fit holds beside those of the batches; measured 13 at M = 512
_PROCESS = 3 * 2**27  # bytes of an interpreter with NumPy, SciPy and Dask; up to 0.35 GiB were measured
_NAMES = [each.name for each in fields(RowMoments)]
_Block = tuple[Any, ...]
_Work = Callable[..., list[Any]]  # moments, or sums, of the pieces of a block


class _Table(NamedTuple):
    """A table in blocks: a list if they can be read in any order, else an iterable of them.

    A block is rows, labels and perhaps weights: arrays, partials that read them where they are needed, or values of
    Dask. `block_rows` is the number of rows of the largest block. It and `dtype` are None if they are not known.
    """

    blocks: Iterable[_Block]
    width: int
    dtype: Any
    n_targets: int
    block_rows: int | None
    names: Any = None
    on_dask: bool = False


# -- kinds of tables ------------------------------------------------------------------------------


def _table(X: Any, y: Any, weights: Any) -> _Table:
    for name, each in (("X", X), ("y", y), ("sample_weight", weights)):
        if np.ma.is_masked(each):
            refuse_odd_values(name, each)
    if not is_lazy(X):
        if not hasattr(X, "shape"):
            return _table_of_batches(X, y, weights)
        if not hasattr(X, "dtype"):
            raise DataError(f"X is a {type(X).__name__}; give its numbers as an array, X.to_numpy()")
    if y is None:
        raise DataError("y is None; the estimator needs labels")
    if is_dask(X):
        return _dask_table(X, y, weights)
    return _lazy_table(X, y, weights) if is_lazy(X) else _disk_table(X, y, weights)


def _n_targets(y: Any) -> int:
    """C, the number of targets, from labels of any kind that are not checked yet."""
    return int(y.shape[1]) if len(getattr(y, "shape", ())) == 2 else 1


def _named(frame: Any) -> Any:
    """The names of the columns of a frame; None for an array."""
    return np.array(frame.columns, dtype=object) if hasattr(frame, "columns") else None


def _table_of_batches(X: Iterable[Any], y: Any, weights: Any) -> _Table:
    """Batches that come one after the other."""
    if y is not None or weights is not None:
        raise ParameterError("an iterator gives (X, y) or (X, y, sample_weight) batches; leave y and sample_weight out")
    batches = _checked_batches(X)
    first = next(batches, None)
    if first is None:
        raise DataError("the iterator has no batches; an iterator can be read only once, so give a new one")
    block = np.asarray(_plain(first[0]))
    if block.ndim != 2:
        raise DataError(f"the first batch has X of shape {block.shape}, which must be (n_samples, n_features)")
    return _Table(
        chain([first], batches), block.shape[1], block.dtype, _n_targets(first[1]), len(block), _named(first[0])
    )


def _checked_batches(batches: Iterable[Any]) -> Iterator[_Block]:
    """Batches of the user's iterator, frames with the same columns; an error says in which batch it occurred."""
    source = iter(batches)
    names: Any = None
    for number in count():
        try:
            each = next(source)
        except StopIteration:
            return
        except Exception as error:
            raise DataError(
                f"the iterator failed at batch {number} ({type(error).__name__}: {error}); nothing is fitted, and "
                "earlier batches are not kept: repair the iterator and fit again"
            ) from error
        if not isinstance(each, tuple | list) or len(each) not in (2, 3):
            raise DataError(f"batch {number} must be (X, y) or (X, y, sample_weight), got {type(each).__name__}")
        names = names if number else _named(each[0])
        if not np.array_equal(names, _named(each[0])):
            raise DataError(
                f"batch {number} has the columns {_named(each[0])}, the first {names}; "
                "give the same columns in the same order"
            )
        yield tuple(each)


def _lazy_table(X: Any, y: Any, weights: Any) -> _Table:
    """Batches of a polars LazyFrame, with labels of another, or of an array."""
    import polars as pl

    names = X.collect_schema().names()
    lazy = [
        each if is_of(each, "polars", "LazyFrame") else pl.LazyFrame(np.asarray(each))
        for each in (X, y, weights)
        if each is not None
    ]
    beside = pl.concat([each.select(pl.all().name.prefix(f"{i}:")) for i, each in enumerate(lazy)], how="horizontal")
    size = max(1, _BLOCK // (8 * max(len(names), 1)))

    def blocks() -> Iterator[_Block]:
        try:
            for batch in beside.collect_batches(chunk_size=size, maintain_order=True):
                parts = [batch.select(f"^{i}:.*$") for i in range(len(lazy))]
                yield parts[0], *(each.to_series() if each.width == 1 else each for each in parts[1:])
        except pl.exceptions.ShapeError as error:
            raise DataError("X, y and sample_weight differ in their numbers of rows; give one for each row") from error

    return _Table(blocks(), len(names), None, len(lazy[1].collect_schema()), None, np.array(names, dtype=object))


def refuse_unwritten(name: str, array: Any) -> None:
    """Refuse a zarr array that lacks chunks, which would be read as zeros."""
    if is_of(array, "zarr", "Array") and (unwritten := array.nchunks - array.nchunks_initialized):
        raise DataError(
            f"{unwritten} of {counted(array.nchunks, 'chunk')} of {name} were never written, or are lost; write it "
            "again, with chunks of zeros (zarr's option write_empty_chunks)"
        )


def _disk_table(X: Any, y: Any, weights: Any) -> _Table:
    """Slices of rows of a memory map, or of a zarr array, whose chunks are kept whole."""
    if len(X.shape) != 2 or 0 in X.shape:
        raise DataError(f"X must have shape (n_samples, n_features) with neither zero, got {tuple(X.shape)}")
    n, width = X.shape
    C = _n_targets(y)
    is_zarr = is_of(X, "zarr", "Array")
    for name, each in (("X", X), ("y", y), ("sample_weight", weights)):
        refuse_unwritten(name, each)
        if each is not None and (not hasattr(each, "shape") or each.shape[0] != n):
            raise DataError(f"{name} must be an array of {n} rows like X, got shape {getattr(each, 'shape', None)}")
    least = X.chunks[0] if is_zarr else 1
    step = max(1, _BLOCK // (8 * max(width, C)) // least) * least
    on_dask = is_zarr and _client() is not None  # workers may not see the file of a memory map

    def rows_of(each: Any, start: int) -> Any:
        if each is None:
            return None
        stop = min(start + step, n)
        rows = partial(_read, each, slice(start, stop), f"rows {start} to {stop}")
        # Workers read zarr arrays themselves; other arrays are sent to them.
        return rows() if on_dask and not is_of(each, "zarr", "Array") else rows

    blocks = [tuple(rows_of(each, start) for each in (X, y, weights)) for start in range(0, n, step)]
    return _Table(blocks, width, X.dtype, C, step, None, on_dask)


def _dask_table(X: Any, y: Any, weights: Any) -> _Table:
    """The blocks of a Dask array, or the partitions of a Dask frame, with those of the labels."""
    if X.ndim != 2:
        raise DataError(f"X must have shape (n_samples, n_features), got {X.shape}; a column is X[:, None]")
    names = _named(X)
    dtype = None
    sizes = (math.nan,) * X.npartitions
    if names is None:
        X = X.rechunk({1: -1})
        dtype = X.dtype
        sizes = X.chunks[0]
    n = sum(sizes)
    known = not math.isnan(n)

    def parts_of(name: str, each: Any) -> Sequence[Any]:
        if each is None:
            return [None] * len(sizes)
        if hasattr(each, "to_delayed"):
            if known and hasattr(each, "rechunk") and each.shape[0] == n:
                each = each.rechunk((sizes, *[-1] * (each.ndim - 1)))
            found = list(np.ravel(each.to_delayed()))
            if len(found) != len(sizes):
                raise DataError(f"X has {len(sizes)} blocks of rows and {name} {len(found)}; give both the same blocks")
            return found
        array = to_numpy(each)
        if len(array) != n:
            raise DataError(
                f"{name} has {len(array)} rows, X {n if known else 'a number not known yet'}; give one for each row of "
                f"X, or {name} in blocks like those of X"
            )
        return np.split(array, np.cumsum(sizes[:-1]))

    blocks = list(zip(np.ravel(X.to_delayed()), parts_of("y", y), parts_of("sample_weight", weights), strict=True))
    return _Table(blocks, X.shape[1], dtype, _n_targets(y), max(sizes) if known else None, names, True)


def _client() -> Any:
    """The current client of Dask's distributed scheduler, or None."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.Client.current()
    except ValueError:
        return None


# -- one block ------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """A block as an array: read from its file, or taken out of its frame."""
    loaded = value() if isinstance(value, partial) else value
    return loaded.to_numpy() if hasattr(loaded, "to_numpy") else to_numpy(loaded)


def _numbers(X: Any, y: Any, weights: Any, width: int, dtype: Any) -> tuple[Array, FloatArray, FloatArray]:
    """X (n, M) as it is, targets (C, n) and weights (n,) of a block, checked; rows of weight zero are dropped."""
    X = _plain(X)
    y = np.asarray(_plain(y))
    if X.ndim != 2 or X.shape[1] != width:
        raise DataError(f"a block of X has shape {X.shape}, but the first has {width} columns; all must have the same")
    if X.dtype.kind not in "fiub" or (dtype is not None and X.dtype != dtype):
        raise DataError(
            f"a block of X holds {X.dtype}, {'which is not numeric' if dtype is None else f'the first {dtype}'}; "
            "convert all blocks to one numeric type"
        )
    if y.dtype.kind not in "fiub" or y.ndim not in (1, 2) or len(y) != len(X):
        raise DataError(f"a block of y has shape {y.shape} and type {y.dtype} for {len(X)} rows of X; give numbers")
    targets = np.atleast_2d(y.T.astype(float))
    if not np.isfinite(targets).all():
        raise DataError(f"y contains NaN or infinity in {(~np.isfinite(targets)).sum()} places; drop those rows")
    weights = np.ones(len(X)) if weights is None else np.asarray(_plain(weights), dtype=float).reshape(-1)
    in_range = (weights == 0) | (weights >= 1 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT)
    if weights.shape != (len(X),) or not in_range.all():
        raise DataError(
            f"sample_weight must hold one finite number of at least 0 for each row of every block, and positive ones "
            f"must lie between {1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
        )
    kept = weights > 0
    return (X, targets, weights) if kept.all() else (X[kept], targets[:, kept], weights[kept])


def block_moments(
    X: Any,
    y: Any,
    weights: Any = None,
    *,
    width: int,
    dtype: Any,
    fill: FloatArray | None,
    n_before: int = 0,
    pieces: int | None = None,
) -> list[RowMoments]:
    """Moments of the pieces of one block, in float64; missing values are counted, or filled by `fill` if given."""
    X, targets, weights = _numbers(X, y, weights, width, dtype)
    slab = max(1, _BLOCK // (8 * max(width, len(targets))))
    found = []
    for part in pieces_of(len(X), n_before, pieces):
        slabs = []
        for start in range(part.start, part.stop, slab):
            rows = slice(start, min(start + slab, part.stop))
            values = X[rows].astype(float)
            gaps = np.zeros(width, dtype=int)
            if not np.isfinite(values.sum(axis=0)).all():
                infinite = np.isinf(values).any(axis=0)
                empty = np.isnan(values)
                if infinite.any():
                    raise DataError(f"X contains infinity in column {infinite.argmax()}")
                if fill is None:
                    gaps = empty.sum(axis=0)
                values = np.where(empty, 0.0 if fill is None else fill, values)
            slabs.append(replace(moments_of(values, targets[:, rows], weights[rows]), gaps=gaps))
        found.append(merged(slabs))
    return found


def _block_sums(X: Any, y: Any, weights: Any = None, *, width: int, dtype: Any) -> list[FloatArray]:
    """Count and sum of the values of every column of a block without NaN; one table of shape (2, M)."""
    values = _numbers(X, y, weights, width, dtype)[0].astype(float)
    with np.errstate(invalid="ignore"):  # infinite numbers are refused later
        return [np.stack([(~np.isnan(values)).sum(axis=0), np.nansum(values, axis=0)])]


def _joined(lists: Iterable[list[Any]]) -> list[Any]:
    """The moments of several blocks as one, empty if they have no rows."""
    flat = chain.from_iterable(lists)
    first = next(flat, None)
    return [] if first is None else [merged(chain([first], flat))]


# -- new rows -------------------------------------------------------------------------------------


def predicted(model: Any, X: Any, tail: tuple[int, ...]) -> Array:
    """Predictions for X, shape (n, *tail), block by block: a Dask array for a Dask collection, else in memory."""
    if is_dask(X):
        import dask.array as da
        from dask.delayed import delayed

        sizes = getattr(X, "chunks", [[math.nan] * X.npartitions])[0]
        shared = delayed(model, traverse=False)
        blocks = zip(_dask_table(X, None, None).blocks, sizes, strict=True)
        return da.concatenate(  # type: ignore[no-any-return]
            [da.from_delayed(shared.predict(part), (m, *tail), np.float64) for (part, *_), m in blocks]
        )
    if is_lazy(X):
        X = X.collect_batches(maintain_order=True)
    elif hasattr(X, "shape"):
        X = (read() for read, *_ in _disk_table(X, None, None).blocks)
    predictions = [model.predict(part) for part in X]
    if not predictions:
        raise DataError("X gives no batches; an iterator can be read only once, so give a new one")
    return np.concatenate(predictions)


# -- blocks of columns ----------------------------------------------------------------------------


def disk_columns(X: Any) -> DiskColumns:
    """All rows of a wide table on disk."""
    refuse_unwritten("X", X)
    if not X.shape[0] or X.dtype.kind not in "fiub":
        raise DataError(f"X has no rows of real numbers: its shape is {X.shape}, its type {X.dtype}")
    return DiskColumns(X, np.arange(X.shape[0]), partial(LateBar, "columns", X.shape[1], True))


@contextmanager
def new_array(path: str | Path) -> Iterator[Path]:
    """A directory beside the path, renamed to it if all goes well, and removed if not."""
    try:
        import zarr  # noqa: F401
    except ImportError as error:
        raise ParameterError(
            "coef_path= needs zarr, which is not installed; pip install 'subridge[cluster]'"
        ) from error
    place = place_of(path)
    if os.path.lexists(place):
        raise StoreError(f"coef_path={place} exists; give another path, or remove it")
    scratch = place.with_name(f".{place.name}-{uuid.uuid4().hex}.tmp")
    try:
        scratch.mkdir()
        yield scratch
        scratch.rename(place)
    except OSError as error:
        raise StoreError(f"coef_path={place} cannot be written ({error.strerror or error}); give another") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def written_map(
    rows: ColumnRows, plan: SubsetPlan, paths: Sequence[MemberPath], places: IntArray, weights: FloatArray
) -> FloatArray:
    """Write the weights of a weighted sum of members, shape (C, M), block by block, and return its intercept, (C,).

    Aggregation weights have shape (k,) or (C, k).
    """
    import zarr

    C = len(rows.targets)
    M = plan.n_features
    shares = np.broadcast_to(weights, (C, len(paths))).T[:, :, None]
    duals = [share * path.dual(int(place)) for share, path, place in zip(shares, paths, places, strict=True)]
    intercept = to_numpy(paths[0].target_means).copy()
    array = zarr.create_array(
        store=str(rows.columns.scratch),
        shape=(C, M),
        chunks=(C, min(rows.columns.step, M)),
        dtype="f8",
        fill_value=np.nan,  # so that chunks of zeros are written too
    )
    for part, own, seen in rows.seen(plan.measurements):
        found = np.zeros((C, part.stop - part.start))
        for A, columns, F, dual in zip(plan.measurements, own, seen, duals, strict=True):
            found[:, A[columns] - part.start] += dual @ F.T
        array[:, part] = found
        intercept -= found @ rows.feature_means[part]
    return intercept


# -- all blocks -----------------------------------------------------------------------------------


def gather_moments(
    X: object,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    standardise: bool = False,
    missing: Literal["raise", "mean"] = "raise",
    store: str | Path | None = None,
    memory: int | None = None,
    progress: bool = True,
) -> MomentBatches:
    """Read a table once, block by block, and keep its moments, from which estimators are fitted.

    ``fit`` does the same with these tables. This function has more options, and its moments serve several fits.

    Parameters
    ----------
    X : Dask array or frame, zarr array, memory map, polars LazyFrame, or iterable of batches
        Rows of numbers, shape (n_samples, n_features), in any precision; sums are kept in double precision. Dask
        workers read Dask collections, and zarr arrays if there is a current Dask client. A batch is (X, y) or
        (X, y, sample_weight).
    y : array, Dask collection, LazyFrame, shape (n_samples,) or (n_samples, n_targets)
        Labels; None if X gives batches.
    sample_weight : as y, shape (n_samples,), optional
        How much each row counts.
    standardise : bool
        Divide columns by their standard deviations, which are known after the pass. Ridges are then in those units;
        coefficients are for the columns as given.
    missing : {"raise", "mean"}
        For NaN in X: raise an error with a count by column, or fill in the column's mean, which takes another pass.
    store : str or Path, optional
        A directory for the moments of finished batches; a run that was killed continues where it stopped. Not for
        iterators of batches.
    memory : int, optional
        Bytes that a process may hold; by default half of the free memory.
    progress : bool
        Show a bar with the time left, at a terminal.

    Returns
    -------
    MomentBatches
        Moments to give to ``fit`` in place of X and y.

    Raises
    ------
    DataError, ParameterError
        If the table cannot be used as given. Only finished batches in `store` are kept then.
    BudgetError
        If the moments do not fit in memory.
    ClusterError
        If the scheduler is gone, or a block kills its workers.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 5))
    >>> batches = ((X[i : i + 100], X[i : i + 100].sum(axis=1)) for i in range(0, 1000, 100))
    >>> moments = sr.gather_moments(batches)
    >>> sr.RidgeEnsembleRegressor(1, ridge=1e-6).fit(moments).coef_.round(3)
    array([1., 1., 1., 1., 1.])
    """
    truth("standardise", standardise)
    truth("progress", progress)
    fills = one_of("missing", missing, ("raise", "mean")) == "mean"
    table = _table(X, y, sample_weight)
    budget = available_memory() // 2 if memory is None else positive_integer("memory", memory)
    n_batches, planned = _plan(table, budget)
    in_any_order = isinstance(table.blocks, list)
    if fills and not in_any_order and not is_lazy(X):
        raise ParameterError("missing='mean' reads X twice, but an iterator can be read only once; fill its batches")
    if store is not None and not in_any_order:
        raise ParameterError("store= needs blocks that can be read in any order, not an iterator; leave store out")
    blocks = table.blocks if isinstance(table.blocks, list) else []
    parts = np.array_split(np.arange(len(blocks)), n_batches)
    groups = [[blocks[i] for i in part] for part in parts if len(part)]  # neighbouring blocks make a batch
    batches = tuple[RowMoments, ...]()
    with ProgressBar(
        f"rows, {planned / 2**30:.2f} GiB planned", len(groups) * (1 + fills), show=progress and in_any_order
    ) as bar:
        fill = _means(table if in_any_order else _table(X, y, sample_weight), groups, bar) if fills else None
        if in_any_order:
            batches = thinned(_batches(table, groups, n_batches, fill, store, (X, y, sample_weight), bar), n_batches)
        else:
            for block in table.blocks:
                n_before = sum(each.n_samples for each in batches)
                new = block_moments(*block, width=table.width, dtype=table.dtype, fill=fill, n_before=n_before)
                batches = thinned([*batches, *new], n_batches)
    if not batches:
        raise DataError("X has no rows of positive weight")
    whole = merged(batches)
    if whole.n_samples > 1 and whole.total_weight - whole.squared_weight**0.5 < LEAST_REST * whole.total_weight:
        raise DataError("sample_weight of a row is so large that the others vanish in rounding; lower it")
    if np.any(whole.gaps):
        raise gaps_error(
            np.asarray(whole.gaps), table.names, "fill them, or let gather_moments(missing='mean') fill them with means"
        )
    return MomentBatches(
        batches, len(batches[0].target_means) == 1 and getattr(y, "ndim", 1) == 1, table.names, standardise, planned
    )


def moments_for(
    estimator: Any, X: Any, y: Any, weights: Any, least: int, memory: int | None = None, progress: bool = True
) -> MomentBatches:
    """Given or gathered moments of at least so many rows; the estimator gets the number and names of their columns."""
    is_gathered = isinstance(X, MomentBatches)
    if is_gathered and not (y is None and weights is None):
        raise ParameterError("moments hold y and sample_weight; leave both out")
    moments = X if is_gathered else gather_moments(X, y, weights, memory=memory, progress=progress)
    if moments.n_samples < least:
        raise DataError(
            f"n_samples={counted(moments.n_samples, 'sample')} leaves nothing to fit; give at least {least}"
        )
    estimator.n_features_in_ = moments.n_features
    estimator._has_one_target = moments.has_one_target
    if moments.feature_names is not None:
        estimator.feature_names_in_ = moments.feature_names
    return moments


def _plan(table: _Table, budget: int) -> tuple[int, int]:
    """How many batches to keep, and the bytes that a process will hold."""
    matrix = 8 * (table.width + 1) * (table.width + table.n_targets)
    block = (
        _BLOCK
        if table.block_rows is None
        else table.block_rows * (table.width * table.dtype.itemsize + 8 * table.n_targets)
    )
    fixed = _PROCESS + 4 * _BLOCK + 3 * block
    n_batches = min(BATCHES, (budget - fixed) // matrix - _MATRICES)
    needed = fixed + (max(n_batches, _LEAST_BATCHES) + _MATRICES) * matrix
    if n_batches < _LEAST_BATCHES:
        raise BudgetError(
            f"moments of {table.width} columns and {counted(table.n_targets, 'target')}, with blocks of "
            f"{block / 2**20:.0f} MiB, take {needed / 2**30:.1f} GiB, but only {budget / 2**30:.1f} GiB may be "
            "used; give more memory=, smaller blocks, or fewer columns or targets"
        )
    return n_batches, needed


def _means(table: _Table, groups: list[list[_Block]], bar: ProgressBar) -> FloatArray:
    """Means of the columns without missing values, shape (M,)."""
    found = np.zeros((2, table.width))
    work = partial(_block_sums, width=table.width, dtype=table.dtype)
    for _, parts in _run(table, groups or ([each] for each in table.blocks), work):
        found += sum(parts)
        bar.move(1)
    return np.asarray(found[1] / np.maximum(found[0], 1))


def _identity(table: Any) -> object:
    """An identity of a table, labels or weights: the place of a file, else a digest."""
    if is_of(table, "zarr", "Array") or isinstance(table, np.memmap):
        return str(getattr(table, "store", None) or table.filename), getattr(table, "path", ""), table.shape
    if is_dask(table):
        from dask.base import tokenize

        return tokenize(table)
    return None if table is None else hashlib.sha256(to_numpy(table).tobytes()).hexdigest()


def _batches(
    table: _Table,
    groups: list[list[_Block]],
    n_batches: int,
    fill: FloatArray | None,
    store: str | Path | None,
    given: tuple[Any, ...],
    bar: ProgressBar,
) -> list[RowMoments]:
    """Moments of batches of neighbouring blocks, read from the store where it has them."""
    n_blocks = sum(map(len, groups))
    work = partial(
        block_moments, width=table.width, dtype=table.dtype, fill=fill, pieces=math.ceil(n_batches / n_blocks)
    )
    kept = None
    done = dict[int, list[RowMoments]]()
    if store is not None:
        about = [*map(_identity, given), str(table.dtype), n_blocks, len(groups), None if fill is None else fill.sum()]
        kept = TaskStore(store, hashlib.sha256(repr(about).encode()).hexdigest(), 1, "moments of another table")
        for rows, arrays in kept.sound([range(number, number + 1) for number in range(len(groups))], _NAMES):
            pieces = zip(*(arrays[name][0] for name in _NAMES), strict=True)
            done[rows.start] = [RowMoments(int(n), float(w), float(s), *rest) for n, w, s, *rest in pieces]
        bar.move(len(done))
    todo = [number for number in range(len(groups)) if number not in done]
    for number, found in _run(table, [groups[number] for number in todo], work):
        done[todo[number]] = found
        if kept is not None:
            packed = {name: np.array([np.asarray(getattr(each, name)) for each in found])[None] for name in _NAMES}
            kept.write(range(todo[number], todo[number] + 1), packed)
        bar.move(1)
    return [each for number in range(len(groups)) for each in done[number]]


def _run(table: _Table, groups: Iterable[list[_Block]], work: _Work) -> Iterator[tuple[int, list[Any]]]:
    """Numbers and results of batches: in order in this process, or as they are ready on Dask.

    The blocks of a batch are merged; a batch of one block keeps its pieces. On Dask, batches are trees of tasks, on the
    cluster of the current client or by Dask's local scheduler.
    """
    if not table.on_dask:
        yield from enumerate(
            work(*group[0]) if len(group) == 1 else _joined(work(*block) for block in group) for group in groups
        )
        return
    from dask.delayed import delayed

    roots = []
    for group in groups:
        level = [delayed(work, pure=False)(*block) for block in group]
        while len(level) > 1:
            level = [delayed(_joined, pure=False)(level[i : i + _FAN_IN]) for i in range(0, len(level), _FAN_IN)]
        roots.append(level[0])
    client = _client()
    if client is None:
        yield from enumerate(root.compute() for root in roots)
        return
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    handles = client.compute(roots)
    numbers = {future.key: number for number, future in enumerate(handles)}
    try:
        for future in as_completed(handles):
            yield numbers[future.key], future.result()
            future.release()
    except KilledWorker as error:
        raise ClusterError(
            f"a block killed several workers in a row ({error}), perhaps for lack of memory; give workers more memory, "
            "or smaller blocks"
        ) from error
    except Exception as error:
        lost = type(error).__name__ in ("CancelledError", "FutureCancelledError", "CommClosedError")
        if lost or client.status != "running":  # a client that has lost its scheduler tries to connect
            raise ClusterError(
                "the Dask scheduler is gone, or dropped the work; start it and run again, with store= to keep finished "
                "batches"
            ) from error
        raise
    finally:
        if client.status == "running":
            client.cancel(handles)

"""Long data on a local cluster: memory, speed, a killed worker, and the ridge from moments against leave-one-out.

    python benchmarks/long_data.py table --rows 10000000 --at long-data   # two workers, one process, plain reading
    python benchmarks/long_data.py ridge --draws 20                            # fresh error of choices from moments
    python benchmarks/long_data.py digits                                    # offsets, scales and single precision
    python benchmarks/long_data.py wide --size 500000 1                       # columns and members, from a memory map
    python benchmarks/long_data.py wide --size 500000 1 --targets 200         # coefficients to zarr

Every part prints its figures and adds them to ``benchmarks/results/long_data.json``. Peak memory is the resident set at
its largest (VmHWM), which includes pages of shared libraries.
"""

import argparse
import itertools
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import subridge as sr

RESULTS = Path(__file__).parent / "results" / "long_data.json"
M, CHUNK = 512, 8192


def keep(name, figures, shown=None):
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found[name] = figures
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(name, json.dumps(figures, indent=1) if shown is None else shown, flush=True)


# -- a table on disk ------------------------------------------------------------------------------


def chunk(number, rows):
    """Rows of one chunk and their labels: correlated features of many scales with means, from a seed of their own."""
    scales, rng = np.geomspace(3.0, 0.3, M).astype(np.float32), np.random.default_rng((1, number))
    part = rng.standard_normal((rows, M), dtype=np.float32) * scales
    part += 0.5 * part[:, :1] + 5.0
    return part, part @ (np.random.default_rng(0).standard_normal(M) / M**0.5) + rng.standard_normal(rows)


def write(at, numbers):
    import zarr

    X, y = (zarr.open_array(str(at / name), mode="r+") for name in ("X.zarr", "y.zarr"))
    for number in numbers:
        part = slice(number * CHUNK, min((number + 1) * CHUNK, y.shape[0]))
        X[part], y[part] = chunk(number, part.stop - part.start)


def make(at, rows, jobs):
    """Single-precision normal features in zarr, uncompressed, and labels beside them."""
    import zarr

    start, n_chunks = time.perf_counter(), -(-rows // CHUNK)
    if (at / "y.zarr").exists():
        y = zarr.open_array(str(at / "y.zarr"), mode="r")
        if y.shape == (rows,) and y.nchunks_initialized == y.nchunks:
            return
    for name, shape, kind in (("X.zarr", (rows, M), "f4"), ("y.zarr", (rows,), "f8")):
        chunks = (CHUNK, *shape[1:])
        zarr.create_array(
            store=str(at / name), shape=shape, dtype=kind, chunks=chunks, compressors=None, overwrite=True
        )
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        list(pool.map(write, [at] * jobs, [range(first, n_chunks, jobs) for first in range(jobs)]))
    print(f"{rows} rows written in {time.perf_counter() - start:.0f} s", flush=True)


def opened(at):
    import zarr

    return (zarr.open_array(str(at / name), mode="r") for name in ("X.zarr", "y.zarr"))


def peak(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20
    except (OSError, StopIteration):
        return 0.0


def family(pid):
    """A process and all that it started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += family(int(child))
    return found


def fit(at, label):
    X, y = opened(at)
    start, cpu = time.perf_counter(), time.process_time()
    moments = sr.gather_moments(X, y, progress=False)
    gathered, cpu = time.perf_counter() - start, time.process_time() - cpu
    model = sr.RidgeEnsembleRegressor(random_state=0).fit(moments)
    whole = time.perf_counter() - start
    np.savez(at / f"{label}.npz", coef=model.coef_, intercept=model.intercept_, error=model.loo_error_)
    return {
        "rows": y.shape[0],
        "seconds to gather": round(gathered, 1),
        "processor seconds of this process to gather": round(cpu, 1),
        "seconds to choose": round(whole - gathered, 1),
        "rows per second": round(y.shape[0] / gathered),
        "planned GiB": round(moments.planned_memory / 2**30, 3),
        "chosen": model.choice_.name,
        "left-out error": model.loo_error_,
    }


def alone(at):
    figures = fit(at, "alone")
    keep(f"one process, {figures['rows']} rows", figures | {"peak GiB": round(peak("self"), 3)})


def reading(at):
    X, _ = opened(at)
    start, cpu = time.perf_counter(), time.process_time()
    for row in range(0, X.shape[0], CHUNK):
        float(np.asarray(X[row : row + CHUNK])[0, 0])
    lapse, cpu = time.perf_counter() - start, time.process_time() - cpu
    figures = {"rows per second": round(X.shape[0] / lapse), "seconds": round(lapse, 1), "processor": round(cpu, 1)}
    keep(f"plain reading, {X.shape[0]} rows", figures)


@contextmanager
def two_workers(port, limit="1.5GiB"):
    """A scheduler and two workers with a thread each, as the how-to starts them."""
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = [*dask, "worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--memory-limit", limit, "--no-dashboard"]
    started = {
        name: subprocess.Popen(words, stderr=subprocess.DEVNULL)
        for name, words in (("scheduler", scheduler), ("worker 0", worker), ("worker 1", worker))
    }
    try:
        yield {name: each.pid for name, each in started.items()}
    finally:
        for each in started.values():
            each.terminate()
        for each in started.values():
            each.wait(30)


def cluster(at, kill_after, port):
    from distributed import Client

    peaks, over, killed = {}, threading.Event(), []

    def watch(pids):
        while not over.wait(0.2):
            for name, first in pids.items():
                for pid in family(first):
                    peaks[f"{name} {pid}"] = max(peaks.get(f"{name} {pid}", 0.0), peak(pid))

    def kill(pids):
        if not over.wait(kill_after):
            victim = max(family(pids["worker 0"]), key=lambda pid: peaks.get(f"worker 0 {pid}", 0.0))
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    with two_workers(port) as pids, Client(f"tcp://127.0.0.1:{port}", timeout="60s") as client:
        client.wait_for_workers(2, timeout=120)
        for each in [watch, kill] if kill_after else [watch]:
            threading.Thread(target=each, args=(pids,), daemon=True).start()
        label = "killed" if kill_after else "cluster"
        figures = fit(at, label)
        over.set()
    figures["peak GiB of every process"] = {"this": round(peak("self"), 3)} | {
        name: round(value, 3) for name, value in peaks.items() if value
    }
    figures["killed with -9"] = len(killed)
    keep(f"two workers{', one killed' if kill_after else ''}, {figures['rows']} rows", figures)


def compare(at):
    one, figures = np.load(at / "alone.npz"), {}
    for label in ("cluster", "killed"):
        two = np.load(at / f"{label}.npz")
        figures[label] = float(np.linalg.norm(one["coef"] - two["coef"]) / np.linalg.norm(one["coef"]))
    keep("coefficients of two workers apart from one process, relative to their norm", figures)


# -- a billion rows -------------------------------------------------------------------------------


def empty_block(X, y, weights, moments):
    return [moments]


def parts(at, rows, port):
    """What one block costs, and what the scheduler takes for the tasks of a table whose blocks cost nothing."""
    from distributed import Client

    from subridge.estimators import blocks

    X, y = opened(at)
    block = [np.asarray(each[:CHUNK]) for each in (X, y)]
    work = partial(blocks.block_moments, weights=None, width=M, dtype=X.dtype, fill=None)

    def cost(function, times=10):
        start = time.process_time()
        for _ in range(times):
            function()
        return round((time.process_time() - start) / times, 5)

    one = work(*block)[0]
    figures = {
        "processor seconds to read a block": cost(lambda: np.asarray(X[:CHUNK])),
        "processor seconds for the moments of a block": cost(lambda: work(*block)),
        "processor seconds to merge two moments": cost(lambda: one + one),
        "MB of moments": round(len(pickle.dumps(one)) / 1e6, 2),
    }
    small = work(block[0][:, :4], block[1], width=4)[0]
    table = blocks._disk_table(X, y, None)
    n_blocks = -(-rows // CHUNK)
    many = [table.blocks[number % len(table.blocks)] for number in range(n_blocks)]
    groups = [[many[i] for i in each] for each in np.array_split(np.arange(n_blocks), 32)]
    with two_workers(port) as pids, Client(f"tcp://127.0.0.1:{port}", timeout="60s") as client:
        client.wait_for_workers(2, timeout=120)
        work = partial(empty_block, moments=small)
        list(blocks._on_dask(groups[:2], work))  # workers load what they need
        start = time.perf_counter()
        found = list(blocks._on_dask(groups, work))
        figures["seconds of all tasks of so many rows, blocks that cost nothing"] = [
            round(time.perf_counter() - start, 1),
            rows,
        ]
        figures["peak GiB of the scheduler"] = round(max(peak(pid) for pid in family(pids["scheduler"])), 3)
    assert sum(each.n_samples for _, part in found for each in part) == n_blocks * CHUNK
    figures["peak GiB of this process"] = round(peak("self"), 3)
    keep("parts of a block", figures)


def extrapolate():
    """1e9 rows on 100 workers, from the longest table of two workers, and what the scheduler takes."""
    found = json.loads(RESULTS.read_text())
    table = max(
        (value for key, value in found.items() if key.startswith("two workers,")), key=lambda each: each["rows"]
    )
    parts, n, workers = found["parts of a block"], 10**9, 100
    lapse, rows = parts["seconds of all tasks of so many rows, blocks that cost nothing"]
    figures = {
        "seconds of a worker": round(n / workers / (table["rows per second"] / 2)),
        "seconds of scheduler and client, meanwhile": round(lapse * n / rows),
        "seconds to choose": table["seconds to choose"],
        "GB that a worker reads": round(4e-9 * n * M / workers, 1),
        "MB/s that a worker reads": round(4e-6 * M * table["rows per second"] / 2),
        "GB of moments that move, in all": round(parts["MB of moments"] * n / CHUNK / 8 * 8 / 7 / 1e3, 1),
    }
    keep("1e9 rows on 100 workers, from the parts", figures)


# -- a wide table ---------------------------------------------------------------------------------


def wide(at, n_features, members, targets):
    """2,000 rows from a memory map; up to 50,000 columns beside the fit in memory. Many targets go to zarr."""
    at.mkdir(parents=True, exist_ok=True)
    n, rng = 2000, np.random.default_rng(0)
    X = np.memmap(at / f"wide-{n_features}", dtype="f4", mode="w+", shape=(n, n_features))
    for start in range(0, n_features, 10_000):
        X[:, start : start + 10_000] = rng.standard_normal((n, min(10_000, n_features - start)), dtype=np.float32) + 1
    y = np.asarray(X[:, :200], dtype=float).sum(axis=1) * 0.2 + rng.standard_normal(n)
    if targets:
        y = y[:, None] + rng.standard_normal((n, targets))
    X = np.memmap(at / f"wide-{n_features}", dtype="f4", mode="r", shape=(n, n_features))
    again = [sys.executable, __file__, "wide-fit", "--at", str(at), "--results", str(RESULTS)]
    again += ["--size", str(n_features), str(members), "--targets", str(targets)]
    np.save(at / "wide-y.npy", y)
    subprocess.run(again, check=True)
    if n_features <= 50_000 and not targets:
        model = sr.RidgeEnsembleRegressor(members, random_state=0, aggregation="mean")
        wanted, found = model.fit(np.array(X, dtype=float), y), np.load(at / "wide.npz")
        figures = {
            "coefficients": float(np.linalg.norm(found["coef"] - wanted.coef_) / np.linalg.norm(wanted.coef_)),
            "left-out error": float(abs(found["error"] / wanted.loo_error_ - 1)),
        }
        keep(f"wide, 2000 x {n_features}, {members} members: apart from the fit in memory, relative", figures)


def wide_fit(at, n_features, members, targets):
    X = np.memmap(at / f"wide-{n_features}", dtype="f4", mode="r", shape=(2000, n_features))
    start, cpu = time.perf_counter(), time.process_time()
    model, path = sr.RidgeEnsembleRegressor(members, random_state=0, aggregation="mean"), at / "wide-coef.zarr"
    shutil.rmtree(path, ignore_errors=True)
    model.fit(X, np.load(at / "wide-y.npy"), coef_path=path if targets else None)
    figures = {
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(time.process_time() - cpu, 1),
        "peak GiB": round(peak("self"), 3),
        "GiB on disk": round(X.nbytes / 2**30, 2),
        "left-out error": model.loo_error_,
    }
    if targets:
        figures["GiB of coefficients in zarr"] = round(8 * targets * n_features / 2**30, 2)
    else:
        np.savez(at / "wide.npz", coef=model.coef_, error=model.loo_error_)
    keep(f"wide, 2000 x {n_features}, {members} members{f', {targets} targets' * bool(targets)}", figures)


# -- the ridge from moments -----------------------------------------------------------------------


def one_draw(n_features, n, k, name, draw):
    """Fresh errors of the choice from moments and of the exact choice."""
    rng = np.random.default_rng((n_features, n, draw))
    scales = np.arange(1, n_features + 1) ** -0.5
    teacher = rng.standard_normal(n_features) * scales
    teacher /= np.linalg.norm(teacher * scales)
    X = rng.standard_normal((n, n_features)) * scales
    y = X @ teacher + rng.standard_normal(n)
    model = sr.RidgeEnsembleRegressor(k, aggregation=name, random_state=draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = model.fit(X, y).coef_
        ours = model.fit(iter([(X, y)])).coef_
    return [1 + np.sum(((each - teacher) * scales) ** 2) for each in (ours, exact)]


def ridge(draws, sizes, jobs):
    """Fresh error of choices from moments over that of exact leave-one-out choices; known noise is not taken away."""
    name_of = "fresh error from moments over exact leave-one-out, less one"
    table = json.loads(RESULTS.read_text()).get(name_of, {}) if RESULTS.exists() else {}
    cases = [(*size, k, name) for size in sizes for k, name in itertools.product((1, 8, 32), ("mean", "free"))]
    errors = {case: [] for case in cases}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(one_draw, *case, draw): case for draw in range(draws) for case in cases}
        for done in as_completed(waiting):
            n_features, n, k, name = case = waiting[done]
            errors[case].append(done.result())
            ours, exact = np.mean(errors[case], axis=0)
            label = f"M={n_features}, n={n}, k={k}, {name}, "
            table = {key: value for key, value in table.items() if not key.startswith(label)}
            table[f"{label}{len(errors[case])} draws"] = round(ours / exact - 1, 5)
            keep(name_of, table, f"{label}{len(errors[case])} draws: {ours / exact - 1:.5f}")


# -- digits ---------------------------------------------------------------------------------------


def digits():
    """Coefficients at a fixed ridge against a fit in memory, in float64, to the same stored numbers."""
    rng, figures = np.random.default_rng(0), {}
    n, n_features = 20000, 100
    scales = 10.0 ** np.linspace(-4, 4, n_features)
    for offset in (0.0, 1e6):
        for ridge_ in (1e-3, 1.0):
            X = ((rng.standard_normal((n, n_features)) + offset) * scales).astype(np.float32)
            y = (X / scales)[:, :10].sum(axis=1) + rng.standard_normal(n)
            model = sr.RidgeEnsembleRegressor(1, ridge=ridge_, aggregation="mean")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = model.fit(X.astype(np.float64), y).coef_
                found = model.fit((X[i : i + 500], y[i : i + 500]) for i in range(0, n, 500)).coef_
            figures[f"offset {offset:g} sd, ridge {ridge_:g}"] = {
                "norm": float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted)),
                "each, in units of its column": float(
                    np.abs((found - wanted) * scales).max() / np.abs(wanted * scales).max()
                ),
            }
    keep("digits: 20,000 x 100 float32, scales over 1e8", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    names = [
        "table",
        "make",
        "alone",
        "reading",
        "cluster",
        "compare",
        "parts",
        "extrapolate",
        "ridge",
        "digits",
        "wide",
        "wide-fit",
    ]
    parser.add_argument("part", choices=names)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--at", type=Path, default=Path("long-data"))
    parser.add_argument("--kill-after", type=float, default=0.0)
    parser.add_argument("--size", type=int, nargs=2, metavar=("FEATURES", "ROWS"))
    parser.add_argument("--targets", type=int, default=0)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--port", type=int, default=8797)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    RESULTS = options.results
    match options.part:
        case "table":
            make(options.at, options.rows, options.jobs)
            again = [sys.executable, __file__, "--at", str(options.at), "--results", str(RESULTS)]
            for part in (["reading"], ["alone"], ["cluster"]):
                subprocess.run([*again, *part], check=True)
            lapse = json.loads(RESULTS.read_text())[f"two workers, {options.rows} rows"]["seconds to gather"]
            for part in (["cluster", "--kill-after", str(0.4 * lapse)], ["compare"], ["parts"], ["extrapolate"]):
                subprocess.run([*again, *part], check=True)
        case "make":
            make(options.at, options.rows, options.jobs)
        case "cluster":
            cluster(options.at, options.kill_after, options.port)
        case "parts":
            parts(options.at, options.rows, options.port)
        case "wide":  # columns and members
            wide(options.at, *options.size, options.targets)
        case "wide-fit":
            wide_fit(options.at, *options.size, options.targets)
        case "ridge":
            sizes = itertools.product((200, 1000), (500, 2000, 20000))
            ridge(options.draws, [tuple(options.size)] if options.size else list(sizes), options.jobs)
        case "digits":
            digits()
        case "extrapolate":
            extrapolate()
        case _:
            {"alone": alone, "reading": reading, "compare": compare}[options.part](options.at)

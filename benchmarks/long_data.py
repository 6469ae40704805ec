"""Long data on a local cluster: memory, speed, a killed worker, and the ridge from moments against leave-one-out.

    python benchmarks/long_data.py table --rows 10000000 --at long-data   # two workers, one process, plain reading
    python benchmarks/long_data.py ridge --draws 20                            # fresh error of choices from moments
    python benchmarks/long_data.py digits                                    # offsets, scales and single precision
    python benchmarks/long_data.py wide --size 500000 1                       # columns and members, from a memory map

Every part prints its figures and adds them to ``benchmarks/results/long_data.json``. Peak memory is the resident set at
its largest (VmHWM), which includes pages of shared libraries.
"""

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import subridge as sr

RESULTS = Path(__file__).parent / "results" / "long_data.json"
M, CHUNK = 512, 8192


def keep(name, figures):
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found[name] = figures
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(name, json.dumps(figures, indent=1), flush=True)


# -- a table on disk ------------------------------------------------------------------------------


def make(at, rows):
    """Correlated single-precision features in zarr, uncompressed, and labels in a .npy file."""
    import zarr

    at.mkdir(parents=True, exist_ok=True)
    if (at / "y.npy").exists() and len(np.load(at / "y.npy", mmap_mode="r")) == rows:
        return
    table = zarr.create_array(
        store=str(at / "X.zarr"), shape=(rows, M), dtype="f4", chunks=(CHUNK, M), compressors=None, overwrite=True
    )
    rng = np.random.default_rng(0)
    teacher, scales = rng.standard_normal(M) / M**0.5, np.geomspace(3.0, 0.3, M).astype(np.float32)
    y = np.empty(rows)
    for start in range(0, rows, CHUNK):
        stop = min(start + CHUNK, rows)
        part = rng.standard_normal((stop - start, M), dtype=np.float32) * scales
        part += 0.5 * part[:, :1] + 5.0
        table[start:stop] = part
        y[start:stop] = part @ teacher + rng.standard_normal(stop - start)
    np.save(at / "y.npy", y)


def opened(at):
    import zarr

    return zarr.open_array(str(at / "X.zarr"), mode="r"), np.load(at / "y.npy")


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
        "rows": len(y),
        "seconds to gather": round(gathered, 1),
        "processor seconds of this process to gather": round(cpu, 1),
        "seconds to choose": round(whole - gathered, 1),
        "rows per second": round(len(y) / gathered),
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


def cluster(at, kill_after):
    from distributed import Client

    dask = str(Path(sys.executable).parent / "dask")
    scheduler = subprocess.Popen(
        [dask, "scheduler", "--host", "127.0.0.1", "--port", "8797", "--no-dashboard"], stderr=subprocess.DEVNULL
    )
    workers = [
        subprocess.Popen(
            [dask, "worker", "tcp://127.0.0.1:8797", "--nthreads", "1", "--memory-limit", "1.5GiB", "--no-dashboard"],
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    peaks, over, killed = {}, threading.Event(), []

    def watch():
        while not over.wait(0.5):
            for name, first in (
                ("scheduler", scheduler.pid),
                ("worker 0", workers[0].pid),
                ("worker 1", workers[1].pid),
            ):
                for pid in family(first):
                    peaks[f"{name} {pid}"] = max(peaks.get(f"{name} {pid}", 0.0), peak(pid))

    def kill():
        if not over.wait(kill_after):
            victim = max(family(workers[0].pid), key=lambda pid: peaks.get(f"worker 0 {pid}", 0.0))
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    try:
        with Client("tcp://127.0.0.1:8797", timeout="60s") as client:
            client.wait_for_workers(2, timeout=120)
            threading.Thread(target=watch, daemon=True).start()
            if kill_after:
                threading.Thread(target=kill, daemon=True).start()
            figures = fit(at, "cluster")
        over.set()
    finally:
        for each in [*workers, scheduler]:
            each.terminate()
        for each in [*workers, scheduler]:
            each.wait(30)
    figures["peak GiB of every process"] = {"this": round(peak("self"), 3)} | {
        name: round(value, 3) for name, value in peaks.items() if value
    }
    one, two = np.load(at / "alone.npz"), np.load(at / "cluster.npz")
    apart = np.linalg.norm(one["coef"] - two["coef"]) / np.linalg.norm(one["coef"])
    figures["coefficients apart from one process, relative to their norm"] = float(apart)
    figures["killed with -9"] = len(killed)
    keep(f"two workers{', one killed' if kill_after else ''}, {figures['rows']} rows", figures)


# -- a wide table ---------------------------------------------------------------------------------


def wide(at, n_features, members):
    """2,000 rows from a memory map; up to 50,000 columns beside the fit in memory."""
    at.mkdir(parents=True, exist_ok=True)
    n, rng = 2000, np.random.default_rng(0)
    X = np.memmap(at / f"wide-{n_features}", dtype="f4", mode="w+", shape=(n, n_features))
    for start in range(0, n_features, 10_000):
        X[:, start : start + 10_000] = rng.standard_normal((n, min(10_000, n_features - start)), dtype=np.float32) + 1
    y = np.asarray(X[:, :200], dtype=float).sum(axis=1) * 0.2 + rng.standard_normal(n)
    X = np.memmap(at / f"wide-{n_features}", dtype="f4", mode="r", shape=(n, n_features))
    again = [sys.executable, __file__, "wide-fit", "--at", str(at), "--size", str(n_features), str(members)]
    np.save(at / "wide-y.npy", y)
    subprocess.run(again, check=True)
    if n_features <= 50_000:
        model = sr.RidgeEnsembleRegressor(members, random_state=0, aggregation="mean")
        wanted, found = model.fit(np.array(X, dtype=float), y), np.load(at / "wide.npz")
        figures = {
            "coefficients": float(np.linalg.norm(found["coef"] - wanted.coef_) / np.linalg.norm(wanted.coef_)),
            "left-out error": float(abs(found["error"] / wanted.loo_error_ - 1)),
        }
        keep(f"wide, 2000 x {n_features}, {members} members: apart from the fit in memory, relative", figures)


def wide_fit(at, n_features, members):
    X = np.memmap(at / f"wide-{n_features}", dtype="f4", mode="r", shape=(2000, n_features))
    start, cpu = time.perf_counter(), time.process_time()
    model = sr.RidgeEnsembleRegressor(members, random_state=0, aggregation="mean").fit(X, np.load(at / "wide-y.npy"))
    figures = {
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(time.process_time() - cpu, 1),
        "peak GiB": round(peak("self"), 3),
        "GiB on disk": round(X.nbytes / 2**30, 2),
        "left-out error": model.loo_error_,
    }
    np.savez(at / "wide.npz", coef=model.coef_, error=model.loo_error_)
    keep(f"wide, 2000 x {n_features}, {members} members", figures)


# -- the ridge from moments -----------------------------------------------------------------------


def ridge(draws, sizes):
    """Fresh error of choices from moments over that of exact leave-one-out choices; known noise is not taken away."""
    name_of = "fresh error from moments over exact leave-one-out, less one"
    table = json.loads(RESULTS.read_text()).get(name_of, {}) if RESULTS.exists() else {}
    for n_features, n in sizes:
        for k, name in itertools.product((1, 8, 32), ("mean", "free")):
            ratios = []
            for draw in range(draws):
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
                errors = [1 + np.sum(((each - teacher) * scales) ** 2) for each in (ours, exact)]
                ratios.append(errors)
            ours, exact = np.mean(ratios, axis=0)
            table[f"M={n_features}, n={n}, k={k}, {name}, {draws} draws"] = round(ours / exact - 1, 5)
            keep(name_of, table)


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
    parser.add_argument("part", choices=["table", "alone", "reading", "cluster", "ridge", "digits", "wide", "wide-fit"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--at", type=Path, default=Path("long-data"))
    parser.add_argument("--kill-after", type=float, default=0.0)
    parser.add_argument("--size", type=int, nargs=2, metavar=("FEATURES", "ROWS"))
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    if options.part == "table":
        make(options.at, options.rows)
        again = [sys.executable, __file__, "--at", str(options.at)]
        for part in (["reading"], ["alone"], ["cluster"]):
            subprocess.run([*again, *part], check=True)
        lapse = json.loads(RESULTS.read_text())[f"two workers, {options.rows} rows"]["seconds to gather"]
        subprocess.run([*again, "cluster", "--kill-after", str(0.4 * lapse)], check=True)
    elif options.part == "cluster":
        cluster(options.at, options.kill_after)
    elif options.part.startswith("wide"):  # columns and members
        (wide if options.part == "wide" else wide_fit)(options.at, *options.size)
    elif options.part == "ridge":
        sizes = itertools.product((200, 1000), (500, 2000, 20000))
        ridge(options.draws, [tuple(options.size)] if options.size else sizes)
    else:
        {"alone": lambda: alone(options.at), "reading": lambda: reading(options.at), "digits": digits}[options.part]()

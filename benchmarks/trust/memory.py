"""Planned memory against what a trial really takes, over settings of every kind (Linux).

    python benchmarks/trust/memory.py [--only WORD] [--write]

Real is the growth of the resident set at its peak during a call, with every larger array returned to the system when it
is freed. The ratio real / planned must lie between .3 and 1: above, a run may be killed; below, what fits is refused.
`--write` keeps the figures in ``benchmarks/results/memory.json``; the tests hold the plans of today against them, so
that no change of the count goes unmeasured.
"""

import argparse
import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil

import subridge as sr
from subridge.simulation.classification import make_classification
from subridge.simulation.gaussian import GaussianExperiment
from subridge.simulation.memory import bytes_of_arrays
from subridge.simulation.simulate import CLASSIFICATION, GAUSSIAN

MIB = 2**20
RESULTS = Path(__file__).parents[1] / "results" / "memory.json"


def gaussian(
    M, P, k=2, *, ridges=(0.1,), noises=0.0, subsets=None, covariance="isotropic", redraw=("data",), **options
):
    """Arguments of `simulate`."""
    covariances = {
        "isotropic": lambda: sr.covariance.isotropic(M),
        "autoregressive": lambda: sr.covariance.autoregressive(M, 0.5),
        "dense": lambda: sr.covariance.dense(np.eye(M) + 0.1),
        "low rank": lambda: sr.covariance.low_rank(np.ones((M, 3)), np.ones(M)),
    }
    noise = covariances["isotropic"]() if options.pop("feature_noise", False) else None
    problem = sr.Problem(covariances[covariance](), np.ones(M), noise, label_noise=0.1)
    if noises is not None and np.ndim(noises):
        noises = np.asarray(noises)[:, None] if np.ndim(noises) == 1 else np.asarray(noises)
    aggregation = options.pop("aggregation", "mean")
    ensemble = sr.Ensemble(subsets or sr.subsets.equal(k, M, seed=0), readout_noise=noises, aggregation=aggregation)
    sizes = [P // 4, P // 2, P] if np.ndim(P) == 0 else list(P)
    return problem, ensemble, sizes, {"ridges": list(ridges), "redraw": redraw, **options}


def classification(n, M, P, k=(1, 4), *, classes=10, n_test=1000, noises=(0.0,), ridges=(0.1,), **options):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n + n_test, M)), np.arange(n + n_test) % classes
    ensembles = [
        sr.Ensemble(sr.subsets.Equal(each), readout_noise=np.array(noises)[:, None], aggregation="majority")
        for each in k
    ]
    return (X[:n], y[:n], X[n:], y[n:]), ensembles, [P // 4, P // 2, P], {"ridges": list(ridges), **options}


many = np.linspace(0.0, 1.0, 20)
SETTINGS = {
    "isotropic": lambda: gaussian(2000, 1000),
    "isotropic, many samples": lambda: gaussian(800, 8000),
    "isotropic, many ridges and sizes": lambda: gaussian(1500, range(50, 1550, 50), ridges=np.geomspace(1e-3, 1, 15)),
    "isotropic, ridgeless": lambda: gaussian(1500, 2000, ridges=[0.0]),
    "isotropic, one member": lambda: gaussian(2500, 2500, 1),
    "autoregressive": lambda: gaussian(2000, 1500, 3, covariance="autoregressive"),
    "dense": lambda: gaussian(2000, 1000, covariance="dense"),
    "low rank": lambda: gaussian(2000, 1500, covariance="low rank"),
    "feature noise": lambda: gaussian(2000, 1500, feature_noise=True),
    "single precision": lambda: gaussian(2500, 2500, dtype="float32"),
    "independent sets": lambda: gaussian(2000, 2000, nested=False),
    "redrawn": lambda: gaussian(2000, 1500, subsets=sr.subsets.Equal(3), redraw=("data", "teacher", "subsets")),
    "pairs, 8 members": lambda: gaussian(2000, range(50, 1050, 50), 8, ridges=[0.01, 0.1, 1.0], pairs=True),
    "pairs, 20 members": lambda: gaussian(1500, [500, 1000], 20, ridges=np.geomspace(1e-3, 1, 10), pairs=True),
    "pairs, dense": lambda: gaussian(1500, range(100, 1100, 100), 5, covariance="dense", pairs=True),
    "pairs, noise sweep": lambda: gaussian(1500, range(100, 1100, 100), 5, ridges=[0.1, 1.0], noises=many, pairs=True),
    "noise sweep": lambda: gaussian(2000, range(50, 1050, 50), 4, ridges=[0.01, 0.1, 1.0], noises=many),
    "noise sweep, many ridges": lambda: gaussian(
        1500, range(50, 1550, 50), 3, ridges=np.geomspace(1e-3, 1, 15), noises=many
    ),
    "noise sweep by member": lambda: gaussian(
        1000, range(50, 1050, 50), 6, noises=np.random.default_rng(0).random((10, 6)), ridges=[0.1, 1.0]
    ),
    "pairs, few samples": lambda: gaussian(1500, [100, 200], 40, ridges=np.geomspace(1e-3, 1, 10), pairs=True),
    "pairs, few samples, noise sweep": lambda: gaussian(
        1500, [100, 200], 40, ridges=np.geomspace(1e-3, 1, 5), noises=many, pairs=True
    ),
    "pairs, few samples, feature noise": lambda: gaussian(
        1500, [100, 200], 40, ridges=np.geomspace(1e-3, 1, 5), feature_noise=True, pairs=True
    ),
    "many ridges, few samples": lambda: gaussian(2000, range(20, 220, 10), 2, ridges=np.geomspace(1e-3, 1, 15)),
    "noise sweep, few samples": lambda: gaussian(
        2000, range(20, 220, 10), 2, ridges=np.geomspace(1e-3, 1, 10), noises=many
    ),
    "projections, few samples": lambda: gaussian(
        1000, range(20, 220, 10), ridges=np.geomspace(1e-3, 1, 15), subsets=sr.subsets.projection([900], 1000, seed=0)
    ),
    "sizes close together beyond N": lambda: gaussian(1000, range(1300, 1510, 15), 1),
    "weights, few samples": lambda: gaussian(
        1500, [100, 200], 30, ridges=np.geomspace(1e-3, 1, 10), aggregation="free"
    ),
    "weights by theory": lambda: gaussian(1500, range(100, 1100, 100), 4, ridges=[0.1, 1.0], aggregation="free"),
    "weights of every trial": lambda: gaussian(
        1500, [500, 1000], 3, ridges=[0.1, 1.0], aggregation="free", weights_from="left_out"
    ),
    "projections, given": lambda: gaussian(2000, 1500, subsets=sr.subsets.projection([800] * 3, 2000, seed=0)),
    "projections, drawn": lambda: gaussian(2000, 1500, subsets=sr.subsets.Projection((800,) * 3)),
    "projections, many": lambda: gaussian(1200, 600, subsets=sr.subsets.Projection((600,) * 20)),
    "projections, redrawn": lambda: gaussian(
        1200, 600, subsets=sr.subsets.Projection((600,) * 10), redraw=("data", "subsets")
    ),
    "projections, single precision": lambda: gaussian(
        2000, 1500, subsets=sr.subsets.Projection((1000,) * 4), dtype="float32"
    ),
    "classification": lambda: classification(4000, 1000, 2000),
    "classification, noise": lambda: classification(4000, 800, 1500, noises=(0.0, 0.1, 0.5, 1.0)),
    "classification, ridgeless": lambda: classification(3000, 1000, 1500, ridges=[0.0, 0.1]),
    "classification, many classes": lambda: classification(3000, 600, 1000, classes=50, noises=(0.0, 0.5)),
    "classification, single precision": lambda: classification(4000, 1500, 2000, dtype="float32"),
    "two processes": lambda: (*gaussian(2000, 1500), 2),
    "two processes, projections": lambda: (
        *gaussian(2000, 1500, subsets=sr.subsets.projection([800] * 6, 2000, seed=0)),
        2,
    ),
    "two processes, classification": lambda: (*classification(8000, 1500, 1500), 2),
}


class Peak:
    """The most that this process and its children held at once, beyond what was there before."""

    def __enter__(self):
        self._process, self._ends, self.most = psutil.Process(), threading.Event(), 0
        self._before = self._held()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _held(self):
        # Children begin with the libraries that they load, which are no arrays.
        return self._process.memory_info().rss

    def _of_children(self):
        total = 0
        for child in self._process.children(recursive=True):
            with suppress(psutil.Error):
                total += max(0, child.memory_info().rss - BASE)
        return total

    def _watch(self):
        while not self._ends.wait(0.005):
            self.most = max(self.most, self._of_children())

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()
        with open("/proc/self/status") as status:
            high = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        self.here = high - self._before


# Resident set of a process that has loaded the package and solved something small.
BASE = 0


def experiment_of(setting):
    """The engine of a setting, its experiment, its processes, and the call that runs it."""
    arguments, ensemble, sizes, options, *processes = setting
    n_processes, n_trials = (processes[0], 4) if processes else (1, 1)
    run = sr.Run(executor=processes[0] if processes else None, threads=1, block=1)
    if isinstance(arguments, tuple):
        describe = {name: value for name, value in options.items() if name in ("ridges", "dtype")}
        experiment = make_classification(arguments, ensemble, sizes, n_trials, **describe)

        def work():
            settings = {"n_samples": sizes, "n_trials": n_trials, "run": run, "progress": False, **options}
            return sr.simulate_classification(*arguments, ensemble, **settings)

        return CLASSIFICATION, experiment, n_processes, work
    fields = {name: value for name, value in options.items() if name != "ridges"}
    build = GaussianExperiment
    ridges = np.asarray(options["ridges"])
    experiment = build(arguments, ensemble, tuple(sizes), n_trials, arguments.n_features, ridges, **fields)

    def work():
        return sr.simulate(arguments, ensemble, sizes, n_trials, run=run, progress=False, **options)

    return GAUSSIAN, experiment, n_processes, work


def planned(setting):
    """Bytes that a setting is planned to need."""
    engine, experiment, n_processes, _ = experiment_of(setting)
    own = bytes_of_arrays(experiment) if n_processes > 1 else 0
    return n_processes * (engine.bytes_needed(experiment) + own)


def planned_and_real(setting):
    _, _, n_processes, work = experiment_of(setting)
    plan = planned(setting)
    with Peak() as peak:
        work()
    return plan, peak.most if n_processes > 1 else peak.here


def main():
    global BASE
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="settings whose names have this word")
    parser.add_argument("--write", action="store_true", help="keep the figures")
    options = parser.parse_args()
    small = gaussian(60, 40)
    sr.simulate(*small[:3], 1, progress=False)
    BASE = psutil.Process().memory_info().rss
    outside, kept = 0, json.loads(RESULTS.read_text()) if options.only and RESULTS.exists() else {}
    print(f"{'setting':36}{'planned':>10}{'real':>8} MiB {'ratio':>7} {'seconds':>8}")
    for name, make in SETTINGS.items():
        if options.only in name:
            begun = time.monotonic()
            plan, real = planned_and_real(make())
            kept[name], ratio = {"planned": plan, "real": real}, real / plan
            outside += not 0.3 <= ratio <= 1
            mark = "" if 0.3 <= ratio <= 1 else "  outside"
            took = time.monotonic() - begun
            print(f"{name:36}{plan / MIB:10,.0f}{real / MIB:8,.0f}     {ratio:7.2f} {took:8.1f}{mark}", flush=True)
    if options.write:
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"{len(kept)} settings, {outside} outside of .3 to 1")
    return outside


if __name__ == "__main__":
    if "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        os.execve(
            sys.executable,
            [sys.executable, *sys.argv],
            os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"},
        )
    sys.exit(main() > 0)

"""Random damage to stores: nothing of it may change a number without a word.

    python benchmarks/trust/damage.py [--rounds 1000] [--seed 0]

A round flips a bit of, cuts or deletes a random file of a finished store, runs the same call on it, and compares the
result with the truth, bit by bit. Afterwards the store must be whole again, unless the round ended in a `StoreError`.
"""

import argparse
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import subridge as sr


def work(store=None):
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    run = sr.Run(store=store, block=3, threads=1)
    return sr.simulate(problem, ensemble, [4, 9], 10, ridges=[0.1, 1.0], pairs=True, run=run, progress=False)


def harm(store, rng):
    """Do something to a random file, and say what and where."""
    path = rng.choice(sorted(file for file in store.rglob("*") if file.is_file() and file.stat().st_size))
    kind, contents = rng.choice(["flipped", "cut", "deleted"]), bytearray(path.read_bytes())
    if kind == "deleted":
        path.unlink()
    elif kind == "cut":
        path.write_bytes(contents[: rng.randrange(len(contents))])
    else:
        contents[rng.randrange(len(contents))] ^= 1 << rng.randrange(8)
        path.write_bytes(contents)
    return kind, path.relative_to(store).as_posix()


def outcome(store, truth):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = work(store)
        except sr.errors.StoreError:
            return "named error"
    if not found.identical(truth):
        return "SILENT DIFFERENCE" if not said else "DIFFERENCE"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not work(store).identical(truth):
            return "NOT MENDED"
    return "recomputed and said" if said else "equal without a word"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, counts, wrong = random.Random(options.seed), Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.zarr"
        truth = work(whole)
        for number in range(options.rounds):
            store = shutil.copytree(whole, Path(folder) / f"{number}.zarr")
            what, where = harm(store, rng)
            found = outcome(store, truth)
            counts[what, found] += 1
            if found.isupper():
                wrong += 1
                print(found, what, where, flush=True)
            shutil.rmtree(store)
    for (what, found), count in sorted(counts.items()):
        print(f"{what:10}{found:24}{count:6}")
    print(f"{options.rounds} rounds, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

"""Random damage to stores: nothing of it may change a number without a word.

    python benchmarks/trust/damage.py [--rounds 1000] [--seed 0]

A round flips a bit of, cuts or deletes a random file of a finished store, or replaces it by one of another task or of
another experiment, runs the same call on it, and compares the result with the truth, bit by bit. Afterwards the store
must be whole again, unless the round ended in a `StoreError`. Every other round is on a store whose tasks have more
than 64 KB, in which the end of an array is far from its checksum.
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


def work(store=None, large=False, seed=0):
    """A store of small tasks, or of a few of about 100 KB each."""
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    run, ridges = sr.Run(store=store, block=3, threads=1), np.geomspace(0.1, 1.0, 400 if large else 2)
    return sr.simulate(problem, ensemble, [4, 9], 10, ridges=ridges, pairs=True, seed=seed, run=run, progress=False)


def harm(store, other, rng):
    """Do something to a random file, and say what and where; `other` is the store of another experiment."""
    path = rng.choice(sorted(store.iterdir()))
    kind = rng.choice(["flipped", "flipped", "cut", "deleted", "swapped", "foreign"])
    contents = bytearray(path.read_bytes())
    if kind == "deleted":
        path.unlink()
    elif kind == "swapped":
        second = rng.choice([file for file in sorted(store.iterdir()) if file != path])
        path.write_bytes(second.read_bytes())
        second.write_bytes(contents)
    elif kind == "foreign":
        shutil.copy(other / path.name, path)
    elif kind == "cut":
        path.write_bytes(contents[: rng.randrange(len(contents))])
    else:
        contents[rng.randrange(len(contents))] ^= 1 << rng.randrange(8)
        path.write_bytes(contents)
    return kind, path.relative_to(store).as_posix()


def outcome(store, truth, large):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = work(store, large)
        except sr.errors.StoreError:
            return "named error"
    if not found.identical(truth):
        return "SILENT DIFFERENCE" if not said else "DIFFERENCE"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not work(store, large).identical(truth):
            return "NOT MENDED"
    return "recomputed and said" if said else "equal without a word"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, counts, wrong = random.Random(options.seed), Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        whole, others = [Path(folder) / name for name in ("small", "large")], [Path(folder) / name for name in "so"]
        truths = [work(place, large) for large, place in enumerate(whole)]
        for large, place in enumerate(others):
            work(place, large, seed=1)
        largest = max(file.stat().st_size for file in whole[1].iterdir())
        assert largest > 2**16, f"tasks of {largest} bytes"
        for number in range(options.rounds):
            large = number % 2
            store = shutil.copytree(whole[large], Path(folder) / str(number))
            what, where = harm(store, others[large], rng)
            found = outcome(store, truths[large], large)
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

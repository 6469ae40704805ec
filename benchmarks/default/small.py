"""Random small and odd tables: every fit ends in finite numbers or in an error of the package.

    python benchmarks/default/small.py --tables 1000 --jobs 16

The tables are those of `tests/estimators/test_choice.py`: from 8 rows on, with constant columns, copies, ties, labels
that do not vary, missing classes and groups.
"""

import argparse
import os
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[2] / "tests" / "estimators"


def outcome(seed):
    sys.path.insert(0, str(TESTS))
    from test_choice import fit_small_table

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit_small_table(np.random.default_rng(seed))
    except Exception as error:  # what it is counted for
        return f"table {seed}: {type(error).__name__}: {str(error)[:120]}"
    return "finite, or refused by name"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first of them, to run some at a time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        found = Counter(pool.map(outcome, range(options.first, options.first + options.tables), chunksize=20))
    for words, count in found.most_common():
        print(f"{count:6} {words}")
    sys.exit(len(found) > 1)

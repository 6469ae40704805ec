"""Random small and odd tables: every fit ends in finite numbers or in an error of the package.

    python benchmarks/default/small.py --tables 1000 --jobs 16 --minutes 9 --kept small.jsonl

The tables are those of `tests/estimators/test_choice.py`: from 8 rows on, with constant columns, copies, ties, labels
that do not vary, missing classes and groups.
"""

import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from tasks import parser, results

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
    options = parser(tables=1000, first=0).parse_args()
    tables = list(range(options.first, options.first + options.tables))
    found = Counter(words for _, words in results(outcome, tables, options))
    for words, count in found.most_common():
        print(f"{count:6} {words}")
    sys.exit(len(found) > 1)

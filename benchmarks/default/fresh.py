"""The fresh tables, which judge the default estimators where no constant was chosen and no figure was seen before.

    python benchmarks/default/fresh.py FOLDER

builds one .npz per table into FOLDER as `../tournament/build.py` does (tables that exist are kept), checks them, and
prints for each its source, its shape, and the rows it is trained on. `judge.py FOLDER --part fresh` runs them.

The tables and the way each is shaped were fixed before anything was fitted on them or on a part of them: they were
chosen by their documentation, the names and types of their columns, their sizes, and the range of some targets alone;
what features tell about a target was not looked at. Each is a data set that textbooks, courses or packages use for
regression or for classification, with its usual target in its usual scale, and none is among the sixty of the
tournament. They were taken for variety: wide ones (spectra, genes, molecules, texts, levels), medium ones and tall
ones. Left out as features are row numbers, names, the target in another unit, parts of it, and what is known only
after it. Exact copies of a row and its target are dropped where they are more than 2 %, as in the tournament. No table
is to be added, changed or dropped by what it shows; only one that cannot be built may go.

Names, and the laws of the generated tables that go with them, are in `tables.py`, so that judging needs no package of
data. Besides what the tournament's tables need, h5py reads one file.
"""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tournament"))  # the last place: `tables` is the one of this folder

from build import main as build_all
from fresh_classes import CLASSES
from fresh_numbers import NUMBERS
from shaping import FEW, distinct
from tables import MOST_TEST_ROWS, TABLES, training_rows

MOST_COPIES = 0.02


def less_copies(table):
    X, y = table()
    kept = distinct(X, y)
    return kept if len(kept[1]) < (1 - MOST_COPIES) * len(y) else (X, y)


def check(folder, name, is_class):
    """Rows, columns and rows to train on, of a table that is as it should be."""
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    n = training_rows(name, *X.shape)
    wanted = {
        "finite": np.isfinite(X).all() and np.isfinite(y).all(),
        "rows": 160 <= len(X) <= FEW and min(len(X) - n, MOST_TEST_ROWS) >= 60,
        "types": X.dtype == np.float32 and np.issubdtype(y.dtype, np.integer if is_class else np.floating),
        "shapes": X.ndim == 2 and y.shape == (len(X),),
    }
    if not all(wanted.values()):
        raise ValueError(f"{name}: {wanted}")
    return *X.shape, n


def main(folder, part, kinds):
    """Build and check the tables of a part, by kind, and print what they are; the number that could not be built."""
    for kind, sources in kinds.items():
        if list(sources) != TABLES[kind][part]:
            raise ValueError(f"tables.py has other names with {kind}")
    tables = [item for sources in kinds.values() for item in sources.items()]
    failed = build_all(folder, {name: replace(each, table=partial(less_copies, each.table)) for name, each in tables})
    for kind, sources in kinds.items():
        print(f"\n| {kind} | what | source | rows × columns | training rows | p/n |\n|---|---|---|---|---|---|")
        for name in (name for name in sources if (folder / f"{name}.npz").exists()):
            rows, width, n = check(folder, name, kind == "classes")
            source = sources[name]
            print(f"| {name} | {source.what} | {source.package} | {rows} × {width} | {n} | {width / n:.2f} |")
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "fresh", {"numbers": NUMBERS, "classes": CLASSES}))

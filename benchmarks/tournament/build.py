"""Build the tables of the tournament from the packages that carry them.

python benchmarks/tournament/build.py [FOLDER] writes one .npz per set: X in single precision and y, rows in random
order, standardised, at most 6,000 or 12,000 rows as the set says, and the groups of rows where a set has them; and
about.json with role, kind and pilots of every set. FOLDER defaults to benchmarks/tournament/data, which
git ignores. Tables that exist are kept. A table that cannot be built is named, and the others are built. Besides what
the package needs, rdata reads the data of R, Pillow draws letters, soundfile reads sounds.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sets import SOURCES
from shaping import standard

FOLDER = Path(__file__).parent / "data"


def build(source, file):
    X, y, *groups = source.table()
    order = np.random.default_rng(0).permutation(len(X))[: source.most_rows]
    known = order[np.isfinite(y[order].astype(float))]
    X, y = standard(np.asarray(X, float)[known]).astype(np.float32), y[known]
    named = {"groups": np.unique(groups[0], return_inverse=True)[1][known].astype(np.int32)} if groups else {}
    np.savez_compressed(file, X=X, y=y, **named)
    return X.shape, file.stat().st_size / 1e6


def main(folder, sources=SOURCES):
    folder.mkdir(parents=True, exist_ok=True)
    about = {name: {"role": each.role, "kind": each.kind, "pilots": each.pilots} for name, each in sources.items()}
    (folder / "about.json").write_text(json.dumps(about, indent=1))
    failed = 0
    for name in [name for name in sources if not (folder / f"{name}.npz").exists()]:
        try:
            (rows, columns), size = build(sources[name], folder / f"{name}.npz")
            print(f"{name:12} {rows:6} rows {columns:5} columns {size:6.1f} MB", flush=True)
        except Exception as error:  # a registry that does not answer should not stop the other tables
            failed += 1
            print(f"{name:12} not built: {error!r}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))

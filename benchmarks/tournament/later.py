"""Pilots on the later tables, on which no constant of a forecast was chosen.

    python benchmarks/default/later.py LATER                 # builds the tables
    python benchmarks/tournament/later.py LATER              # gives each table its pilots
    python benchmarks/tournament/truths.py LATER truths.npz --jobs 16
    python benchmarks/tournament/compare.py LATER --truths truths.npz --out CELLS --jobs 16 --rule now=src

The tables are those of `../default/later_numbers.py`. They were chosen to judge the default, and no forecast was made
on them before this protocol was fixed. A pilot has as many rows as that list gives its table to train on, which follow
from a digest of the name. Tables on which twice as many rows exceed .7 of all have no forecast. Everything else is the
protocol of the tournament (README.md beside this file).
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np


def training_rows():
    """The function of ``../default/tables.py``, whose name a file of this folder has too."""
    place = Path(__file__).parents[1] / "default" / "tables.py"
    spec = importlib.util.spec_from_file_location("tables_of_the_default", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.training_rows


def main(folder):
    about = json.loads((folder / "about.json").read_text())
    rows_of = training_rows()
    for name, each in about.items():
        with np.load(folder / f"{name}.npz") as file:
            each["pilots"] = [rows_of(name, *file["X"].shape)]
    (folder / "about.json").write_text(json.dumps(about, indent=1))
    print(f"{len(about)} tables")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

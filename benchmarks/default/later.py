"""The later tables, which judge the default once more after the fresh ones were looked at.

    python benchmarks/default/later.py FOLDER

builds one .npz per table into FOLDER, checks them and prints what they are, as `fresh.py` does. `judge.py FOLDER --part
later` runs them. All have numbers to predict.

The rules are those of `fresh.py`: the tables, the way each is shaped and the laws that go with them were fixed before
anything was fitted on them or on a part of them, and no table is to be added, changed or dropped by what it shows. None
is among the tables of the tournament or the fresh ones, nor has another target of their data. Besides what those need,
RDKit reads molecules.
"""

import sys
from pathlib import Path

from fresh import main
from later_numbers import NUMBERS

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "later", {"numbers": NUMBERS}))

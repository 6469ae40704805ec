"""All benchmarks that fit on two cores, beside peers, in one process: ratios, growth, and what a cluster would take.

    python benchmarks/bench [--quick] [--out FOLDER] [--page FILE.md]
    python benchmarks/bench --only "learning curve"

Prints each figure as it comes, writes a dated compact JSON and pictures into FOLDER, and makes the page of the site
from the newest JSON there. Peers are timed in turns with the package, so that a busy moment meets all of them; what
counts is the ratio. ``--quick`` shrinks everything, to try the script.
"""

import argparse
import datetime
import json
import platform
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import joblib
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # settings.py is beside this folder

from growth import growth
from page import write_page
from peers import CASES
from scale import cluster
from threadpoolctl import threadpool_info
from timing import in_turns

import subridge

RESULTS = Path(__file__).parents[1] / "results"
PEERS = ("scikit-learn", "himalaya", "sklearn-ensemble-cv", "mapie", "numpy", "scipy")


def side_by_side(quick: bool, only: str = "") -> list[dict]:
    """Every case with its peers: median seconds of each, ratios round by round, and how far their numbers are apart."""
    rows = []
    for make in CASES:
        case = make(quick)
        if only not in case.name:
            continue
        timings, values = in_turns(case.methods, case.rounds)
        ours = timings[case.ours]
        row = {"case": case.name, "ours": ours.seconds, "peers": {}, "note": case.note(values)}
        for name in case.methods:
            if name != case.ours:
                factor = case.share.get(name, 1.0)
                least, ratio, largest = timings[name].times(ours, factor)
                row["peers"][name] = {
                    "seconds": timings[name].seconds * factor,
                    "ratio": ratio,
                    "least": least,
                    "largest": largest,
                    "scaled": factor,
                }
        rows.append(row)
        print(f"{case.name}: {ours.seconds:.3g} s; {row['note']}", flush=True)
        for name, found in row["peers"].items():
            spread = f"[{found['least']:.1f}, {found['largest']:.1f}]"
            print(f"    {found['ratio']:8.1f} times {spread:16}  {found['seconds']:8.3g} s  {name}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, help="write the page of the site here")
    parser.add_argument("--only", default="", help="time side by side, and write nothing, the cases of this name")
    parser.add_argument("--note", default="", help="what a reader must know of the machine, such as that it was busy")
    asked = parser.parse_args()
    # The cases are made to be fast or slow, not to be good practice: what is noticed about their data is no news here.
    warnings.simplefilter("ignore")
    if asked.only:
        side_by_side(asked.quick, asked.only)
        return
    start = time.perf_counter()
    asked.out.mkdir(parents=True, exist_ok=True)
    today = datetime.date.today().isoformat()
    found = {
        "date": today,
        "machine": {
            "cores": joblib.cpu_count(),
            "threads": max(library["num_threads"] for library in threadpool_info()),
            "python": platform.python_version(),
            "system": platform.system(),
        },
        "versions": {"subridge": subridge.__version__} | {name: version(name) for name in PEERS},
        "note": asked.note,
        "side_by_side": side_by_side(asked.quick),
        "growth": growth(asked.quick, asked.out),
        "cluster": cluster(asked.quick),
    }
    found["seconds"] = time.perf_counter() - start
    file = asked.out / f"bench-{today}.json"
    file.write_text(json.dumps(found, separators=(",", ":"), default=number) + "\n", encoding="utf-8")
    print(f"{found['seconds']:.0f} s in all; {file}")
    if asked.page:
        write_page(found, asked.page)


def number(value: np.generic) -> float:
    return value.item()


if __name__ == "__main__":
    main()

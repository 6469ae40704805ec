"""Random mistakes in every argument of every public function and every flag of every command.

    python benchmarks/fuzz.py [--calls 20000] [--seed S] [--jobs J] [--limit SECONDS] [--out results.json]

A call has one wrong argument, sometimes two: something of the wrong type, or the right value damaged (a NaN, a hidden
cell, a row too few, text, huge and tiny scales). Prints what went wrong, each kind once with a call that shows it:

- raw: an exception that is neither the package's own nor scikit-learn's, or a raw warning of NumPy
- accepted: a value that cannot be meant is used without an error or a warning
- nan: the result holds NaN, without a warning
- slow: more than twenty seconds

Exits with 1 if there is any. A call is found again by --seed and --only NUMBER.
"""

import argparse
import copy
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "agg")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.sparse as sp
import xarray as xr
from click.testing import CliRunner

from reference.calls import CALLS, MEANT
from reference.odd import NONSENSE, ODD
from subridge.cli import main as command_line
from subridge.model.errors import SubridgeError

_SECONDS = 20  # that one call may think
_SHARE_OF_COMMANDS = 0.3
_PART = 100  # calls a task
_LARGEST = 12 * 2**30  # bytes of address space: what asks for more must say so before

# Counts of work: a large one is meant, and takes its time behind a bar.
LONG = {"n_trials", "test_draws", "n_draws", "n_features", "--n-trials", "--n-features"}
# The end of a boundary that has none, and members that an ensemble does not have.
MAY_BE_NAN = {"boundary_end", "boundary_before_end", "reach"}
WORDS = [
    "", " ", "abc", "nan", "inf", "-inf", "-1", "0", "0.5", "1e308", "1e-320", "1000000000000", "1,2", "1,,2", "1:2",
    "1:2:0", "1:2:-3", "1:1000000000:1000000000", "log:0:1:3", "::", "None", "[1]", "1+2j", "2024-01-01", "é☃",
    "\x1b[31m", "a b", "s3://bucket/x.nc", "/no/such/folder/x.png", "x.txt", "~", "--", "1_0", "true", "y", "a,b",
    "9" * 40, "x" * 5000, "0x10", "½", "１", ".", "..", "-", "=", "'", '"', "$HOME", "*", "%s", "{}", "\u202e", "\t",
]  # fmt: skip
# Words that are no number, no list of numbers and no choice, for flags that take one of these.
NO_NUMBER = {
    "", " ", "abc", "nan", "1,,2", "1:2:-3", "::", "None", "[1]", "1+2j", "2024-01-01", "é☃", "\x1b[31m", "a b", "~",
    "s3://bucket/x.nc", "/no/such/folder/x.png", "x.txt", "true", "y", "a,b", "x" * 5000, ".", "..", "'", '"', "*",
    "$HOME", "%s", "{}", "\u202e", "\t", "-", "=",
}  # fmt: skip
FREE_TEXT = {
    "na",
    "out",
    "store",
    "data",
    "sep",
    "drop",
    "target",
    "groups",
    "encoding",
    "device",
    "network",
    "weights",
}
SMALL = {
    "demo": ["--out", "demo.png"],
    "curve": ["--sample-ratios", "0.5,1", "--ridges", "0.1"],
    "phase": ["--sample-ratios", "0:1:3", "--readout-nsr", "0,1"],
    "simulate": ["--n-features", "12", "--n-trials", "2", "--n-samples", "4,8", "--ridges", "0.1"],
    "forecast": ["data.csv", "--target", "y", "--n-samples", "40,80", "--n-members", "2", "--ridges", "1e-6,1,1e6"],
    "advise": ["data.csv", "--target", "y", "--n-members", "2", "--fraction-spreads", "0", "--ridges", "1e-6,1,1e6"],
    "reproduce": ["fig1a", "--quick"],
    "features": ["images", "--out", "features.zarr"],
    "explore": ["--no-open", "--out", "page.html"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=None, help="seconds after which no new calls start")
    parser.add_argument("--only", type=int, default=None, help="one call, with its traceback")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(4)) if options.seed is None else options.seed
    if options.only is not None:
        prepare()
        print(json.dumps(tried(seed, options.only, show=True), indent=2))
        return 0
    parts = [(seed, first, min(_PART, options.calls - first)) for first in range(0, options.calls, _PART)]
    start = time.monotonic()
    found = []
    with ProcessPoolExecutor(options.jobs, initializer=prepare) as pool:
        for results in pool.map(tried_part, parts):
            found += results
            report(found, seed, time.monotonic() - start, options.out)
            if options.limit and time.monotonic() - start > options.limit:
                pool.shutdown(cancel_futures=True)
                break
    bad = [each for each in found if each["verdict"] in BAD]
    kinds = {}
    for each in bad:
        kinds.setdefault(each["kind"], []).append(each)
    for kind, members in sorted(kinds.items(), key=lambda item: -len(item[1])):
        first = members[0]
        print(f"{len(members):5d} {first['verdict']:9s} {kind}\n      {first['number']}: {first['call']}")
    print(f"seed {seed}: {summary(found)}, {len({each['name'] for each in found})} functions and commands")
    return 1 if bad else 0


def summary(found):
    counts = Counter(each["verdict"] for each in found)
    return f"{len(found):,} calls: " + ", ".join(f"{counts[each]:,} {each}" for each in VERDICTS)


BAD = ("raw", "accepted", "nan", "slow")
VERDICTS = ("named", "used", "warned", *BAD)


def report(found, seed, seconds, out):
    if out:
        bad = [each for each in found if each["verdict"] in BAD]
        names = sorted({each["name"] for each in found})
        text = {"seed": seed, "seconds": round(seconds), "summary": summary(found), "names": names, "found": bad}
        out.write_text(json.dumps(text, indent=1))


def prepare():
    """Every process works in a folder of its own, with a limit on its memory."""
    os.chdir(tempfile.mkdtemp(prefix="fuzz"))
    write_files()
    if hasattr(signal, "SIGALRM"):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_LARGEST, _LARGEST))
        signal.signal(signal.SIGALRM, ring)


def write_files():
    """What the commands read."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)).round(3)
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=(X.sum(1) + rng.standard_normal(30)).round(3))
    table.to_csv("data.csv", index=False)
    Path("images/one").mkdir(parents=True)
    plt.imsave("images/one/a.png", rng.random((8, 8, 3)))
    CALLS["extract_folder"][1]["images"] = "images"


def ring(number, frame):
    raise TimeoutError("more than twenty seconds for a mistake")


def tried_part(part):
    seed, first, count = part
    return [tried(seed, number) for number in range(first, first + count)]


def tried(seed, number, show=False):
    """One call: what was called, and what came of it."""
    rng = np.random.default_rng((seed, number))
    attempt = command_call(rng) if rng.random() < _SHARE_OF_COMMANDS else function_call(rng)
    result = {"number": number, "name": attempt["name"], "call": attempt["text"][:300]}
    try:
        signal.alarm(_SECONDS)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            outcome = attempt["make"]()
        signal.alarm(0)
    except SubridgeError as error:
        return result | {"verdict": "named", "kind": type(error).__name__, "message": str(error)[:300]}
    except TimeoutError:
        if attempt["arguments"] in LONG:
            return result | {"verdict": "used", "kind": "long"}
        return result | {"verdict": "slow", "kind": f"slow {attempt['name']} {attempt['arguments']}"}
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if show:
            traceback.print_exc()
        if isinstance(error, ValueError | TypeError) and told_by_sklearn(frames):
            return result | {"verdict": "named", "kind": "scikit-learn", "message": str(error)[:300]}
        own = [frame for frame in frames if "subridge" in frame.filename] or frames
        place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
        message = f"{type(error).__name__}: {error}"[:200]
        return result | {
            "verdict": "raw",
            "kind": f"{attempt['name']} {place} {type(error).__name__}",
            "message": message,
        }
    finally:
        signal.alarm(0)
        plt.close("all")
    return result | judged(attempt, outcome, heard)


def told_by_sklearn(frames):
    """Whether the package handed the value to scikit-learn, which refused it in its own words."""
    last = max((place for place, frame in enumerate(frames) if "subridge" in frame.filename), default=-1)
    return any("sklearn" in frame.filename for frame in frames[last + 1 :])


def judged(attempt, outcome, heard):
    name, arguments = attempt["name"], attempt["arguments"]
    if attempt["command"]:
        status, said = outcome
        if "bug in subridge" in said or "Traceback" in said or "\x1b" in said or status not in (0, 1, 2):
            place = said.strip().splitlines()[-1][:120] if said.strip() else ""
            return {"verdict": "raw", "kind": f"{name} {arguments}: {place}"}
        if status:
            return {"verdict": "named", "kind": f"exit {status}", "message": said[-300:]}
        if attempt["bad"] and "warning" not in said.lower():
            return {"verdict": "accepted", "kind": f"{name} {arguments}"}
        return {"verdict": "used", "kind": ""}
    own = [each for each in heard if each.category.__module__.startswith(("subridge", "sklearn"))]
    own = [each for each in own if each.category not in usual_warnings(name)]
    raw = [each for each in heard if issubclass(each.category, RuntimeWarning) and each not in own]
    if raw:
        where = f"{Path(raw[0].filename).name}:{raw[0].lineno}"
        return {"verdict": "raw", "kind": f"{name}({arguments}) {where} warns {str(raw[0].message)[:60]}"}
    if attempt["bad"] and not own:
        return {"verdict": "accepted", "kind": f"{name}({arguments})"}
    if own:
        return {"verdict": "warned", "kind": own[0].category.__name__}
    if holds_nan(outcome):
        return {"verdict": "nan", "kind": f"{name}({arguments}) NaN"}
    return {"verdict": "used", "kind": ""}


@cache
def usual_warnings(name):
    """What the right call warns of too, so that it says nothing of a mistake."""
    function, right = CALLS[name]
    with warnings.catch_warnings(record=True) as heard, suppress(SubridgeError):
        warnings.simplefilter("always")
        function(**right)
    return {each.category for each in heard}


def holds_nan(outcome):
    if isinstance(outcome, xr.Dataset):
        return any(holds_nan(outcome[each].values) for each in outcome.data_vars if each not in MAY_BE_NAN)
    if isinstance(outcome, list | tuple):
        return any(map(holds_nan, outcome))
    if isinstance(outcome, float | np.ndarray) and np.asarray(outcome).dtype.kind == "f":
        return bool(np.isnan(outcome).any())
    return hasattr(outcome, "total") and holds_nan(outcome.total)


def function_call(rng):
    name = str(rng.choice(sorted(CALLS)))
    function, right = CALLS[name]
    chosen = rng.choice(sorted(right), size=min(len(right), 1 + (rng.random() < 0.15)), replace=False)
    given, bad, words = dict(right), [], []
    for argument in map(str, chosen):
        what, value, is_bad = mistake(rng, name, argument, right[argument])
        given[argument] = value
        words.append(f"{argument}={what}")
        if is_bad:
            bad.append(what)
    return {
        "name": name,
        "arguments": ", ".join(chosen),
        "text": f"{name}({', '.join(words)})",
        "bad": ", ".join(bad),
        "command": False,
        "make": lambda: function(**given),
    }


def mistake(rng, name, argument, right):
    """A wrong value: its description, the value, and whether it cannot be meant."""
    if rng.random() < 0.5:
        damages = [each for each in DAMAGES if each[1](right)]
        if damages:
            what, _, damage, is_bad = damages[rng.integers(len(damages))]
            return what, damage(rng, copy.deepcopy(right)), is_bad and what not in MEANT.get((name, argument), ())
    what = str(rng.choice(sorted(ODD)))
    value = ODD[what]
    return what, value, what in NONSENSE and what not in MEANT.get((name, argument), ()) and not same(value, right)


def same(value, right):
    return value is None and right is None


def is_table(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "fi" and value.size > 1


def is_list(value):
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(each, int | float) for each in value)


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_switch(value):
    return isinstance(value, bool)


def is_word(value):
    return isinstance(value, str)


def somewhere(value):
    """One entry replaced by something else."""

    def damage(rng, right):
        array = np.array(right, dtype=object if isinstance(value, str | None) else float)
        array.flat[rng.integers(array.size)] = value
        return array

    return damage


def hidden(rng, right):
    array = np.asarray(right)
    mask = np.zeros(array.shape, dtype=bool)
    mask.flat[rng.integers(array.size)] = True
    return np.ma.masked_array(array, mask)


# A description, for which values, the damage, and whether nobody can mean it.
DAMAGES = [
    ("with NaN", is_table, somewhere(np.nan), True),
    ("with text", is_table, somewhere("x"), True),
    ("with None", is_table, somewhere(None), True),
    ("with infinity", is_table, somewhere(np.inf), True),
    ("with a hidden cell", is_table, hidden, True),
    ("complex", is_table, lambda rng, right: right + 1j, True),
    ("as dates", is_table, lambda rng, right: (100 * right).astype("M8[D]"), True),
    ("as durations", is_table, lambda rng, right: (100 * right).astype("m8[s]"), True),
    ("as text", is_table, lambda rng, right: right.astype(str), False),
    ("as records", is_table, lambda rng, right: np.zeros(len(right), [("a", float), ("b", float)]), True),
    ("a row too few", is_table, lambda rng, right: right[:-1], False),
    ("nothing", is_table, lambda rng, right: right[:0], True),
    ("one row", is_table, lambda rng, right: right[:1], False),
    ("one more axis", is_table, lambda rng, right: right[..., None, None], False),
    ("transposed", is_table, lambda rng, right: right.T, False),
    ("huge", is_table, lambda rng, right: right * 1e200, False),
    ("beyond", is_table, lambda rng, right: right * 1e307, False),
    ("tiny", is_table, lambda rng, right: right * 1e-200, False),
    ("subnormal", is_table, lambda rng, right: right * 1e-320, False),
    ("of zeros", is_table, lambda rng, right: 0 * right, False),
    ("negative", is_table, lambda rng, right: -right, False),
    ("of objects", is_table, lambda rng, right: right.astype(object), False),
    ("of truth values", is_table, lambda rng, right: right > 0, False),
    ("of half precision", is_table, lambda rng, right: right.astype(np.float16), False),
    ("of long doubles", is_table, lambda rng, right: right.astype(np.longdouble), False),
    ("as a frame", is_table, lambda rng, right: pd.DataFrame(right.reshape(len(right), -1)), False),
    ("as a frame with gaps", is_table, lambda rng, right: pd.DataFrame(right.reshape(len(right), -1)).shift(1), True),
    ("sparse", is_table, lambda rng, right: sp.csr_array(right.reshape(len(right), -1)), False),
    ("as a DataArray", is_table, lambda rng, right: xr.DataArray(right), False),
    ("with NaN", is_list, somewhere(np.nan), True),
    ("with text", is_list, somewhere("x"), True),
    ("with None", is_list, somewhere(None), True),
    ("with infinity", is_list, somewhere(np.inf), False),
    ("with a hidden cell", is_list, hidden, True),
    ("nested", is_list, lambda rng, right: [list(right)], False),
    ("negative", is_list, lambda rng, right: [-each for each in right], False),
    ("as text", is_list, lambda rng, right: [str(each) for each in right], True),
    ("as one text", is_list, lambda rng, right: ",".join(map(str, right)), True),
    ("a mapping", is_list, lambda rng, right: dict(enumerate(right)), True),
    ("long", is_list, lambda rng, right: list(right) * 50, False),
    ("huge", is_list, lambda rng, right: [each * 10**20 for each in right], False),
    ("a generator", is_list, lambda rng, right: (each for each in right), False),
    ("as text", is_number, lambda rng, right: str(right), True),
    ("negative", is_number, lambda rng, right: -right - 1e-9, False),
    ("complex", is_number, lambda rng, right: right + 1j, True),
    ("a Decimal", is_number, lambda rng, right: Decimal(str(right)), False),
    ("a Fraction", is_number, lambda rng, right: Fraction(right), False),
    ("huge", is_number, lambda rng, right: right + 10.0 ** rng.integers(3, 308), False),
    ("a huge integer", is_number, lambda rng, right: int(10 ** int(rng.integers(3, 40))), False),
    ("tiny", is_number, lambda rng, right: 10.0 ** -rng.integers(3, 320), False),
    ("in a list", is_number, lambda rng, right: [right], False),
    ("an array", is_number, lambda rng, right: np.array(right), False),
    ("half more", is_number, lambda rng, right: right + 0.5, False),
    ("a date", is_number, lambda rng, right: date(2024, 1, 1), True),
    ("a NumPy date", is_number, lambda rng, right: np.datetime64("2024-01-01"), True),
    ("missing", is_number, lambda rng, right: pd.NA, True),
    ("not a time", is_number, lambda rng, right: pd.NaT, True),
    ("no", is_switch, lambda rng, right: "no", True),
    ("two", is_switch, lambda rng, right: 2, True),
    ("a list", is_switch, lambda rng, right: [], True),
    ("an array", is_switch, lambda rng, right: np.ones(3, dtype=bool), True),
    ("a half", is_switch, lambda rng, right: 0.5, True),
    ("missing", is_switch, lambda rng, right: pd.NA, True),
    ("text False", is_switch, lambda rng, right: "False", True),
    ("capitals", is_word, lambda rng, right: right.upper() + "X", True),
    ("with a blank", is_word, lambda rng, right: right + " ", False),
    ("nothing", is_word, lambda rng, right: "", False),
    ("bytes", is_word, lambda rng, right: right.encode(), True),
    ("in a list", is_word, lambda rng, right: [right], False),
    ("long", is_word, lambda rng, right: "x" * 10**5, True),
    ("a null character", is_word, lambda rng, right: right + "\0", True),
    ("a number", is_word, lambda rng, right: 3, False),
]


@cache
def flags(command):
    return [each for each in command_line.get_command(None, command).params if each.name != "help"]


def command_call(rng):
    name = str(rng.choice(sorted(SMALL)))
    base = list(SMALL[name])
    option = flags(name)[rng.integers(len(flags(name)))]
    word = str(WORDS[rng.integers(len(WORDS))])
    damaged = None
    if name in ("forecast", "advise") and rng.random() < 0.4:
        damaged, base[0] = damaged_table(rng), "damaged.csv"
        line, what, bad = base, "DATA", False
    elif option.name == "spec":
        damaged, what, bad = damaged_spec(rng, name), "--spec", False
        line = [*base, "--spec", "damaged.toml"]
    elif not option.opts[0].startswith("-"):
        line, what, bad = [word, *base[1:]], option.name, word not in ("..", ".", "~")
    elif option.is_flag:
        line, what, bad = [*base, max(option.opts, key=len)], option.name, False
        if option.name == "open_page":
            line = base
    else:
        line, what = [*base, f"{max(option.opts, key=len)}={word}"], max(option.opts, key=len)
        bad = option.name not in FREE_TEXT and word in NO_NUMBER
        if option.name == "scheduler" and word not in ("", " ", "abc"):
            line = [*base, "--scheduler", "tcp://127.0.0.1:1"]

    def run():
        if damaged:
            path, content = damaged
            Path(path).write_bytes(content)
        result = CliRunner().invoke(command_line, line)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stderr

    shown = f" {damaged[1][:120]!r}" if damaged else ""
    return {
        "name": f"subridge {name}",
        "arguments": what,
        "text": f"subridge {name} {line}{shown}",
        "bad": word if bad else "",
        "command": True,
        "make": run,
    }


def damaged_table(rng):
    """A table as people export it, with cells, rows or bytes that are wrong."""
    rows = [line.split(",") for line in Path("data.csv").read_text().splitlines()]
    cells = ["", "NA", "abc", "1_000", "1,5", "1e400", "-", "2024-01-01", "9" * 25, '"', "inf", "5 %", "é", "\0", "1;2"]
    kind, width = rng.integers(8), len(rows[0])
    for _ in range(int(rng.integers(1, 4))):
        row, column = rng.integers(len(rows)), rng.integers(width)
        if kind <= 3:
            rows[row][column] = str(cells[rng.integers(len(cells))])
        elif kind == 4:
            rows[row] = rows[row][: int(column)]
        elif kind == 5:
            rows[0][int(column)] = str(rng.choice(["", "y", "a", " ", "1"]))
    text = "\n".join(",".join(row) for row in rows).encode()
    if kind == 6:
        damaged = bytearray(text)
        for place in rng.integers(len(damaged), size=5):
            damaged[place] = rng.integers(256)
        text = bytes(damaged)
    elif kind == 7:
        text = text[: int(rng.integers(60))]
    return "damaged.csv", text


def damaged_spec(rng, name):
    """Options in a file of TOML, with values of a wrong type."""
    values = [
        "0.1",
        '"abc"',
        "[1, 2]",
        "[]",
        "true",
        "2024-01-01",
        "nan",
        "inf",
        '["a"]',
        "{a = 1}",
        "-1",
        "10e400",
        "=",
    ]
    option = flags(name)[rng.integers(len(flags(name)))]
    key = str(rng.choice([str(option.name), str(option.name).replace("_", "-"), "nonsense", name]))
    return "damaged.toml", f"{key} = {values[rng.integers(len(values))]}\n".encode()


if __name__ == "__main__":
    sys.exit(main())

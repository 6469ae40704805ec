"""Mutation testing of stores, executors and memory planning with the operators of cosmic-ray: at least 85 % killed.

    python benchmarks/trust/mutants.py [--sample 300] [--seed 0] [--jobs 2] [--minutes 8] [--patience 60]

An alteration is one operator, constant, condition, loop, handler or decorator changed in a copy of the tree; it is
killed when a test fails or lasts far longer than it should. It meets only the tests that see its statement run, in
their own process or in one that they start, the quickest first; a statement that no test sees is survived by all of
its alterations. `mutation/alterations.py` says which alterations are left out by rule. The sample is drawn before
anything runs. Among the alterations there are controls, one in twenty, in which nothing is altered and everything
else is the same: a control that fails makes the figure worthless, and the status says so.

Of the dozen operators that may replace one at a place, one is drawn, so that long sums do not outweigh all else.
``--patience`` leaves out tests beyond the quickest ones that take so many seconds together; what those would have
killed counts as survived, so that the figure can only be too low. ``--seen FILE`` keeps what the tests were seen to
run, for the next campaign on the same tree.

Needs a POSIX system, what the tests need, and cosmic-ray with parso and attrs (a folder with them in ``PYTHONPATH``
will do).
"""

import argparse
import compileall
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # those of libraries that are loaded already
sys.path.insert(0, str(Path(__file__).parent / "mutation"))

from alterations import alterations_of, compiles, lines_inside_functions
from forks import Tree, Work, load_libraries, run_all

ROOT = Path(__file__).parents[2]
PACKAGE = "src/subridge"
ALTERED = (
    "store/*.py",
    "simulation/executors.py",
    "simulation/dask.py",
    "simulation/run.py",
    "simulation/memory.py",
    "arrays/machine.py",
)
TESTS = ("tests/store", "tests/simulation", "tests/arrays/test_machine.py", "tests/datasets/images/test_extraction.py")
# Seconds that a test may take: these, and so many times what it took alone.
_GRACE, _TIMES = 20.0, 6.0
_CONTROLS = 20


def altered_files(root):
    found = {file for pattern in ALTERED for file in (root / PACKAGE).glob(pattern)}
    return sorted(file.relative_to(root).as_posix() for file in found)


def trees_of(folder, n):
    """Copies of what the tests need, with everything compiled but what will be altered."""
    trees = []
    for number in range(n):
        root = folder / str(number) / "tree"
        for name in ("src", "tests", "benchmarks"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "conftest.py", "README.md"):
            shutil.copy2(ROOT / name, root / name)
        compileall.compile_dir(root / "src", quiet=2)
        for path in altered_files(root):
            for compiled in (root / path).parent.glob(f"__pycache__/{Path(path).stem}.*"):
                compiled.unlink()
        trees.append(Tree(root, folder / str(number) / "spare"))
    return trees


def files_of_tests(root, tests):
    """Files with tests, the longest first, and those whose examples are tests."""
    found = [file for name in tests for file in ([root / name] if name.endswith(".py") else (root / name).glob("*.py"))]
    found.sort(key=lambda file: "subprocess" not in file.read_text())
    examples = [path for path in altered_files(root) if ">>>" in (root / path).read_text()]
    return [*(file.relative_to(root).as_posix() for file in found), *examples]


def seen_by_tests(trees, tests):
    """For every test that passes: the seconds it takes, and the lines it sees of every file that is altered."""
    files, notes, found = altered_files(trees[0].root), trees[0].spare.parent / "notes", {}

    def look(number, path):
        place = notes / str(number)
        place.mkdir(parents=True)
        work = Work([path], {}, label=place, options=("-m", "not torch and not cuda"))

        def prepare(tree):
            of = os.pathsep.join(str(tree.root / file) for file in files)
            work.extra |= {"SIGHTINGS": str(place / "0"), "SIGHTINGS_OF": of, "SIGHTINGS_HERE": "1"}

        work.prepare = prepare
        return work

    works = (look(*each) for each in enumerate(files_of_tests(trees[0].root, tests)))
    for outcome in run_all(works, trees):
        place = outcome.work.label
        if not (place / "told.json").exists() or outcome.status not in (0, 1, 5):
            sys.exit(f"the tests cannot be run as they are:\n{outcome.log[-3000:]}")
        told, shared = json.loads((place / "told.json").read_text()), lines_in(place / "0")
        if told["failed"]:
            print(f"left out, because they fail as it is: {told['failed']}\n{outcome.log[-3000:]}", flush=True)
        for test, number in told["numbers"].items():
            if test not in told["failed"]:
                lines = {f"{path}:{line}" for path, line in shared | lines_in(place / str(number))}
                found[test] = {"seconds": told["seconds"][test], "lines": sorted(lines)}
    return found


def lines_in(place):
    """(file, line) of notes."""
    found = set()
    for note in place.read_text().splitlines() if place.exists() else ():
        path, _, line = note.rpartition(":")
        found.add((path[path.index(PACKAGE) :], int(line)))
    return found


def digest_of_tree(tests):
    digest = hashlib.blake2b(repr(tests).encode(), digest_size=8)
    for file in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.toml")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def remembered(place, trees, tests):
    """What tests see, from a file if it is of this tree."""
    if place and place.exists():
        kept = json.loads(place.read_text())
        if kept["tree"] == digest_of_tree(tests):
            return kept["seen"]
    seen = seen_by_tests(trees, tests)
    if place:
        place.write_text(json.dumps({"tree": digest_of_tree(tests), "seen": seen}))
    return seen


class Seers:
    """Tests by the lines that they see."""

    def __init__(self, seen, patience):
        self._patience = patience
        self._seconds = {test: told["seconds"] for test, told in seen.items()}
        self._by_line = {}
        for test, told in seen.items():
            for line in told["lines"]:
                self._by_line.setdefault(line, set()).add(test)
        sources = {path: (ROOT / path).read_text() for path in altered_files(ROOT)}
        inside = {path: {f"{path}:{line}" for line in lines_inside_functions(text)} for path, text in sources.items()}
        self._users = {}
        for path in sources:
            name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            users = [other for other, text in sources.items() if other == path or f"from {name} import" in text]
            self._users[path] = set().union(*(inside[user] for user in users))

    def of(self, alteration):
        """Tests that run the statement of an alteration, the quickest first, with the seconds that each may take.

        What runs when a module is loaded may be noticed by all tests that run a function of it, or of a module that
        takes something from it.
        """
        lines = self._users[alteration.path]
        if alteration.lines:
            lines = {f"{alteration.path}:{line}" for line in range(alteration.lines[0], alteration.lines[1] + 1)}
        tests = set().union(*(self._by_line.get(line, ()) for line in lines))
        chosen, total = {}, 0.0
        for test in sorted(tests, key=self._seconds.get):
            total += self._seconds[test]
            if not chosen or self._patience is None or total <= self._patience:
                chosen[test] = _GRACE + _TIMES * self._seconds[test]
        return chosen


def drawn(options):
    """Alterations in random order, with the altered text; a control after every twenty."""
    files = [path for path in altered_files(ROOT) if options.only in path]
    population = [alteration for path in files for alteration in alterations_of(ROOT, path)]
    random.Random(options.seed).shuffle(population)
    print(f"{len(population)} alterations of {len({each.kind for each in population})} places", flush=True)
    sources, done, number = {path: (ROOT / path).read_text() for path in files}, set(), 0
    for alteration in population:
        text = "" if alteration.kind in done else alteration.applied_to(sources[alteration.path])
        if text and compiles(text) and text != sources[alteration.path]:
            done.add(alteration.kind)
            number += 1
            yield alteration, text
            if number % _CONTROLS == 0:
                yield alteration, None
            if number == options.sample:
                return


def works_of(pairs, seers, unseen):
    for alteration, text in pairs:
        limits = seers.of(alteration)
        if not limits:
            if text is not None:
                unseen.append(alteration)
            continue

        def write(tree, alteration=alteration, text=text):
            if text is not None:
                (tree.root / alteration.path).write_text(text)

        def restore(tree, alteration=alteration):
            shutil.copy2(ROOT / alteration.path, tree.root / alteration.path)

        yield Work(list(limits), limits, (alteration, text), write, restore)


def difference(alteration, text):
    before, after = (ROOT / alteration.path).read_text().splitlines(), text.splitlines()
    lines = [f"    - {old.strip()}\n    + {new.strip()}" for old, new in zip(before, after, strict=False) if old != new]
    return lines[0] if lines else "    (a line less)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="this many alterations; default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="start none after so many; those under way are waited for")
    parser.add_argument("--patience", type=float, help="seconds of tests, the quickest first, that an alteration meets")
    parser.add_argument("--only", default="", help="files whose path has this")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files or folders; others count as not there")
    parser.add_argument("--seen", type=Path)
    options = parser.parse_args()
    begun = time.monotonic()
    load_libraries()
    with tempfile.TemporaryDirectory() as folder:
        trees = trees_of(Path(folder).resolve(), options.jobs)
        seen = remembered(options.seen, trees, tuple(options.tests))
        print(f"{len(seen)} tests, looked at after {time.monotonic() - begun:.0f} s", flush=True)
        until = begun + 60 * options.minutes if options.minutes else None
        return campaign(options, trees, seen, until)


def campaign(options, trees, seen, until):
    counts, unseen, by_file, controls = Counter(), [], {}, Counter()
    for outcome in run_all(works_of(drawn(options), Seers(seen, options.patience), unseen), trees, until):
        alteration, text = outcome.work.label
        lives = outcome.status == 0
        if text is None:
            controls[lives] += 1
            if not lives:
                print(f"CONTROL FAILED {outcome.test}\n{outcome.log[-3000:]}", flush=True)
            continue
        verdict = "survived" if lives else "too long" if outcome.too_long else "killed"
        counts[verdict] += 1
        by_file.setdefault(alteration.path, Counter())[lives] += 1
        by = "" if lives else f" by {outcome.test.rpartition('/')[2]}"
        print(f"{verdict:9}{alteration} {outcome.seconds:.1f} s{by}", flush=True)
        if lives:
            print(difference(alteration, text), flush=True)
    for alteration in unseen:
        by_file.setdefault(alteration.path, Counter())[True] += 1
        print(f"unseen   {alteration}")
    for path, each in sorted(by_file.items()):
        print(f"{path.removeprefix(PACKAGE + '/'):44}{each[False]:5} of {each.total():5} killed")
    killed, n = counts["killed"] + counts["too long"], counts.total() + len(unseen)
    print(f"controls: {controls[True]} passed, {controls[False]} failed")
    print(
        f"{killed} of {n} killed, {killed / max(1, n):.1%} ({counts['too long']} of them by their time); "
        f"{counts['survived']} survived, {len(unseen)} seen by no test; seed {options.seed}"
    )
    return killed < 0.85 * n or controls[False] > 0


if __name__ == "__main__":
    sys.exit(main())

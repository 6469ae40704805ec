"""Mutation testing of stores, executors and memory planning with cosmic-ray: at least 85 % must be killed.

    python benchmarks/trust/mutants.py [--sample 60] [--seed 0] [--only store/claims.py]

Works on a copy of the tree in a temporary folder. A mutant is one altered operator, constant, condition or loop; it is
killed when a test fails. Alterations of types, which nothing computes with, and of texts are left out.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = {
    "store/": "tests/store",
    "arrays/machine.py": "tests/arrays/test_machine.py",
    "simulation/gaussian/memory.py": "tests/simulation/test_memory.py",
    "simulation/classification/memory.py": "tests/simulation/test_memory.py tests/simulation/test_classification.py",
    "simulation/job.py": "tests/simulation/test_memory.py tests/store/test_tasks.py",
    "simulation/conduct.py": "tests/store tests/simulation/test_ends.py",
    "simulation/executors/": "tests/simulation/test_ends.py tests/simulation/test_faults.py",
}
# ``X | None`` is a type almost everywhere in this package, and decorators are no conditions.
LEFT_OUT = ("BinaryOperator_BitOr", "RemoveDecorator")


def files(source):
    return sorted(
        file
        for part in TESTS
        for file in ([source / part] if part.endswith(".py") else (source / part).glob("*.py"))
        if file.name not in ("__init__.py", "progress.py")
    )


def tests_of(path):
    return next(tests for part, tests in TESTS.items() if part in path)


def mutants_of(tree, file):
    """Every mutant of a file: (operator, occurrence)."""
    session = tree / "session.sqlite"
    session.unlink(missing_ok=True)
    config = tree / "cosmic.toml"
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "{file.relative_to(tree).as_posix()}"\ntimeout = 300.0\nexcluded-modules = []\n'
        'test-command = "true"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    subprocess.run([tool("cosmic-ray"), "init", str(config), str(session)], cwd=tree, check=True)
    with sqlite3.connect(session) as rows:
        found = rows.execute("select operator_name, occurrence from mutation_specs").fetchall()
    return [(file, name, number) for name, number in found if not any(word in name for word in LEFT_OUT)]


def tool(name):
    return str(Path(sys.executable).with_name(name))


def survives(tree, file, operator, occurrence):
    """Apply a mutant, run the tests of its room, and take it back."""
    whole = file.read_text()
    try:
        apply = [tool("cosmic-ray"), "apply", str(file.relative_to(tree)), operator, str(occurrence)]
        subprocess.run(apply, cwd=tree, check=True, capture_output=True)
        return passes(tree, file)
    finally:
        file.write_text(whole)


def passes(tree, file):
    """Whether the tests of a file's room pass."""
    command = f"{sys.executable} -m pytest -q -x -p no:cacheprovider --no-header {tests_of(file.as_posix())}"
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command.split(), cwd=tree, env=environment, capture_output=True, timeout=300)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="this many mutants, drawn at random; default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose path has this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "results", "__pycache__"))
        chosen = [file for file in files(tree / "src" / "subridge") if options.only in file.as_posix()]
        mutants = [mutant for file in chosen for mutant in mutants_of(tree, file)]
        if options.sample:
            mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
        # A mutant is killed by a test only if that test passes without it.
        for file in {tests_of(file.as_posix()): file for file, _, _ in mutants}.values():
            if not passes(tree, file):
                sys.exit(f"{tests_of(file.as_posix())} fail before anything is altered")
        alive = 0
        for number, (file, operator, occurrence) in enumerate(mutants, 1):
            lives = survives(tree, file, operator, occurrence)
            alive += lives
            name = file.relative_to(tree / "src" / "subridge").as_posix()
            verdict = "SURVIVED" if lives else "killed"
            print(f"{number:5} {verdict:9}{name} {operator.removeprefix('core/')} {occurrence}", flush=True)
    killed = len(mutants) - alive
    print(f"{killed} of {len(mutants)} killed, {killed / max(1, len(mutants)):.0%}")
    return killed < 0.85 * len(mutants)


if __name__ == "__main__":
    sys.exit(main())

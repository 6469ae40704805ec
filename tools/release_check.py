"""Build the wheel and the source distribution, install each in an empty environment, and use them from another folder.

    python tools/release_check.py [--extras cluster,symbolic] [--pythons python3.11,python3.12]

Every install is tried with no extra and with each of the extras alone. What a user runs first is run: the demo, and
the examples of the README. Nothing of the working tree is on the path. Exits with 1 at the first failure.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOAD = "import subridge; [getattr(subridge, name) for name in subridge.__all__ if name != 'derivations']"
ROOT = Path(__file__).parents[1]
# Rows that stand for the reader's own, where the README speaks of X and y.
DATA = """import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((120, 30))
y = X[:, 0] + rng.standard_normal(120)
"""


def call(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:], sep="\n")
        raise SystemExit(f"failed: {' '.join(map(str, words))}")
    return done.stdout


def readme_examples():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return DATA + "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def try_package(python, package, extra, folder):
    """Install a package with an extra in an environment of its own, and use it."""
    start, environment = time.perf_counter(), folder / "environment"
    shutil.rmtree(environment, ignore_errors=True)
    call(python, "-m", "venv", environment)
    own = environment / "bin" / "python"
    call(
        own,
        "-m",
        "pip",
        "install",
        "--quiet",
        "-c",
        ROOT / "constraints.txt",
        f"{package}{f'[{extra}]' if extra else ''}",
    )
    call(own, "-c", LOAD, cwd=folder)
    if not extra:
        call(environment / "bin" / "subridge", "demo", "--out", "demo.png", cwd=folder)
        (folder / "examples.py").write_text(readme_examples(), encoding="utf-8")
        call(own, "examples.py", cwd=folder)
    version = call(own, "--version").strip()
    print(f"{package.name} [{extra or 'no extra'}] on {version}: {time.perf_counter() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default="cluster,symbolic,tables", help="each tried alone, and all together")
    parser.add_argument("--pythons", default=sys.executable, help="interpreters, those that do not exist are left out")
    options = parser.parse_args()
    extras = ["", *options.extras.split(","), options.extras]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        call(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT)
        packages = sorted((folder / "dist").iterdir())
        for package in packages:
            print(f"{package.name}: {package.stat().st_size / 1e6:.2f} MB")
        for python in options.pythons.split(","):
            if shutil.which(python) is None:
                print(f"{python} is not here")
                continue
            for package in packages:
                for extra in extras if package.suffix == ".whl" else [""]:
                    try_package(python, package, extra, folder)
    print("all installs work")


if __name__ == "__main__":
    main()

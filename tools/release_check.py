"""Build the wheel and the source distribution, install each in an empty environment, and use them from another folder.

    python tools/release_check.py [--extras cluster,symbolic] [--pythons 3.11,3.12]

The first interpreter tries the wheel with no extra, with each of the extras alone and with all together, and the source
distribution with no extra; the others try the wheel with no extra and with all that do not need PyTorch, whose builds
may lag behind. Wherever no extra is asked for, what a user runs first is run: the demo, and the examples of the README.
Nothing of the working tree is on the path. Exits with 1 at the first failure.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

# The derivations need an extra, and say so when they are asked for.
LOAD = "import subridge; [getattr(subridge, name) for name in subridge.__all__ if name != 'derivations']"
ROOT = Path(__file__).parents[1]
# Developers' extras are tried by the targets that need them.
OF_DEVELOPERS = ("dev",)
WITH_TORCH = ("gpu", "images")
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


def interpreter(version):
    """The command of a Python version, or None: on the path, or where pyenv keeps it."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [f"python{version}", *sorted(kept.glob(f"{version}.*/bin/python{version}"))]
    for place in places:
        found = shutil.which(place)
        if found and subprocess.run([found, "--version"], capture_output=True).returncode == 0:
            return found
    return None


def readme_examples():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return DATA + "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def check_metadata(wheel):
    """A wheel has links, is typed, and brings its licence."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        described = Parser().parsestr(archive.read(next(n for n in names if n.endswith("/METADATA"))).decode())
    links = dict(link.split(", ", 1) for link in described.get_all("Project-URL", []))
    if "Paper" not in links:
        raise SystemExit(f"{wheel.name} does not link to the paper: see [project.urls] in pyproject.toml")
    for part in ("subridge/py.typed", "LICENSE"):
        if not any(name.endswith(part) for name in names):
            raise SystemExit(f"{wheel.name} has no {part}")
    print(f"version {described['Version']}, Python {described['Requires-Python']}, links {', '.join(sorted(links))}")


def try_package(python, package, extra, folder):
    """Install a package with an extra in an environment of its own, and use it."""
    start, environment = time.perf_counter(), folder / "environment"
    shutil.rmtree(environment, ignore_errors=True)
    call(python, "-m", "venv", environment)
    own = environment / "bin" / "python"
    wanted = f"{package}{f'[{extra}]' if extra else ''}"
    # uv is an accelerator only; PyTorch's builds for a processor may be known to plain pip alone.
    uv = Path(sys.executable).with_name("uv")
    if uv.exists() and not set(WITH_TORCH) & set(extra.split(",")):
        call(uv, "pip", "install", "--quiet", "--python", own, "-c", ROOT / "constraints.txt", wanted)
    else:
        call(own, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wanted)
    call(own, "-W", "error::DeprecationWarning:subridge", "-c", LOAD, cwd=folder)
    if not extra:
        call(environment / "bin" / "subridge", "demo", "--out", "demo.png", cwd=folder)
        (folder / "examples.py").write_text(readme_examples(), encoding="utf-8")
        call(own, "examples.py", cwd=folder)
    version = call(own, "--version").strip()
    print(f"{package.name} [{extra or 'no extra'}] on {version}: {time.perf_counter() - start:.0f} s", flush=True)


def main():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    known = [name for name in known if name not in OF_DEVELOPERS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default=",".join(known), help="each tried alone, and all together")
    parser.add_argument("--pythons", default="3.11,3.12,3.13,3.14", help="versions; those not here are left out")
    options = parser.parse_args()
    each = options.extras.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        call(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT)
        packages = sorted((folder / "dist").iterdir())
        for package in packages:
            print(f"{package.name}: {package.stat().st_size / 1e6:.2f} MB")
        source, wheel = (next(p for p in packages if p.name.endswith(end)) for end in (".tar.gz", ".whl"))
        check_metadata(wheel)
        trials = [(wheel, ""), (source, ""), *((wheel, extra) for extra in each), (wheel, options.extras)]
        for version in options.pythons.split(","):
            python = interpreter(version)
            if python is None:
                print(f"Python {version} is not here")
                continue
            for package, extra in trials:
                try_package(python, package, extra, folder)
            trials = [(wheel, ""), (wheel, ",".join(extra for extra in each if extra not in WITH_TORCH))]
    print("all installs work")


if __name__ == "__main__":
    main()

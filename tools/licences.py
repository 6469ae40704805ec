"""Print docs/licences.md: the licences of all dependencies, as their installed packages state them.

    python tools/licences.py > docs/licences.md

What a user may install is followed to the packages that come along; what developers install is listed as it is named.
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
OF_DEVELOPERS = ("bench", "docs", "dev")
# For packages that are not installed where the page is made, what their wheels state.
STATED = {
    "torch": "BSD-3-Clause; its wheel 2.13 carries Apache-2.0, Apache-2.0 WITH LLVM-exception, BSD-2-Clause, BSL-1.0 "
    "and MIT parts",
    "pytest-cov": "MIT",
}
# Long names in classifiers, and texts in place of names.
SHORT = {
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Apache Software License": "Apache",
    "Python Software Foundation License": "PSF",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
HEAD = """# Licences

`subridge` itself is under the BSD 3-clause licence. Its wheel carries
[uPlot](https://github.com/leeoniya/uPlot) (MIT) for the explorer, and features of
[Fashion-MNIST](https://github.com/zalandoresearch/fashion-mnist) (MIT) by EfficientNet-lite0, whose weights are under
Apache-2.0.

What it needs is installed from elsewhere, under these licences; "core" is installed always, the other words are extras.
`python tools/licences.py` prints this page from what the packages state.

| package | licence | needed by |
|---|---|---|"""


def key(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted():
    """Package to the extras that need it, and whether it is named there or comes along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {}
    for extra, lines in {"core": project["dependencies"], **project["optional-dependencies"]}.items():
        for line in lines:
            if key(Requirement(line).name) != "subridge":
                follow(found, Requirement(line), extra)
    core = {name for name, extras in found.items() if "core" in extras}
    return {name: ["core"] if name in core else list(extras) for name, extras in sorted(found.items())}


def follow(found, requirement, extra):
    name = key(requirement.name)
    if extra in found.setdefault(name, {}):
        return
    found[name][extra] = True
    if extra not in OF_DEVELOPERS:
        for line in needs(name):
            inner = Requirement(line)
            if any(inner.marker is None or inner.marker.evaluate({"extra": e}) for e in ("", *requirement.extras)):
                follow(found, inner, extra)


def needs(name):
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def licence(name):
    try:
        stated = metadata(name)
    except PackageNotFoundError:
        return STATED.get(name, "not installed")
    if stated["License-Expression"]:
        return stated["License-Expression"]
    classes = [line.rpartition(" :: ")[2] for line in stated.get_all("Classifier", []) if line.startswith("License")]
    names = [SHORT.get(each, each) for each in classes if each != "OSI Approved"]
    first = (stated["License"] or "").strip().partition("\n")[0]
    if len(first) < 40 and re.search(r"BSD|MIT|Apache|PSF|MPL|NCSA", first):  # a name, not the first line of a text
        return first
    return ", ".join(names) or "see its files"


if __name__ == "__main__":
    print(HEAD)
    for name, extras in wanted().items():
        print(f"| {name} | {licence(name)} | {', '.join(extras)} |")

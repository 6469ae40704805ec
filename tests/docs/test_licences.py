"""The page of licences names what the package needs."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = {"core": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
ROWS = re.findall(r"^\| ([\w.-]+) \| (.+?) \| (.+?) \|$", (ROOT / "docs" / "licences.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("extra", NEEDED)
def test_every_dependency_has_its_licence_on_the_page(extra):
    pages = {name: (licence, needed.split(", ")) for name, licence, needed in ROWS}
    for line in NEEDED[extra]:
        name = Requirement(line).name
        if name != "subridge":
            licence, needed = pages[name.lower().replace("_", "-")]
            assert licence not in ("not installed", "see its files"), name
            assert extra in needed or needed == ["core"], f"{name}: run tools/licences.py again"

"""The house keeps its own rules."""

import subprocess
import sys
from pathlib import Path

import pytest

import subridge as sr

SOURCE = Path(sr.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("name", sr.__all__)
def test_every_public_name_loads(name):
    assert getattr(sr, name) is not None
    assert name in dir(sr)


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = sr.nonsense


def test_importing_the_package_loads_none_of_its_dependencies():
    """This is what keeps `import subridge` under 0.3 s on any machine."""
    code = (
        "import sys, subridge; print([m for m in ('numpy', 'scipy', 'sklearn', 'xarray', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_stay_small_and_rooms_have_names():
    assert FILES
    for file in FILES:
        assert len(file.read_text().splitlines()) <= 400, file
        assert file.stem not in {"utils", "helpers", "common", "misc"}, file

"""Editors and type checkers know every public name."""

import ast
import re
import runpy
from pathlib import Path

import pytest
from mypy import api

import subridge as sr

PROGRAM = Path(__file__).with_name("program.py")
# What NumPy and xarray say of shapes, dtypes and labels is theirs.
BORROWED = re.compile(r"tuple\[Any, \.\.\.\]|dtype\[Any\]|floating\[Any\]|Mapping\[Any, Any\]|numpy\._typing\S*\[.*?\]")


def check(file):
    """Exit status and output of a strict check; what `make lint` has checked before is not checked again."""
    root = Path(__file__).parents[2]
    settings = ["--strict", "--cache-dir", str(root / ".mypy_cache"), "--config-file", str(root / "pyproject.toml")]
    output, errors, status = api.run([*settings, str(file)])
    return status, output + errors


def test_the_program_names_every_public_name():
    tree = ast.parse(PROGRAM.read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(sr.__all__) <= used


@pytest.mark.slow
def test_the_program_passes_a_strict_check():
    status, output = check(PROGRAM)
    assert status == 0, output


@pytest.mark.slow
def test_the_program_runs():
    runpy.run_path(str(PROGRAM))["main"]()


def test_no_public_name_is_unknown_to_an_editor(tmp_path):
    names = [f"sr.{name}" for name in sr.__all__]
    probe = tmp_path / "probe.py"
    probe.write_text("import subridge as sr\n" + "".join(f"reveal_type({name})\n" for name in names))
    status, output = check(probe)
    assert status == 0, output
    revealed = re.findall(r'Revealed type is "(.*)"', output)
    assert len(revealed) == len(names)
    vague = [(name, text) for name, text in zip(names, revealed, strict=True) if "Any" in BORROWED.sub("", text)]
    assert not vague


@pytest.mark.parametrize("room", ["datasets", "subsets", "theory", "covariance", "errors", "figures", "aggregation"])
def test_rooms_show_their_names(room):
    shown = [name for name in dir(getattr(sr, room)) if not name.startswith("_")]
    assert shown
    assert set(getattr(getattr(sr, room), "__all__", shown)) <= set(shown)
    assert not {"names_of_stub", "annotations"} & set(shown)

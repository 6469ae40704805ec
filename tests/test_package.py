"""The house keeps its own rules."""

import ast
import copy
import importlib
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import subridge as sr

SOURCE = Path(sr.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def test_every_public_name_loads():
    for name in sr.__all__:
        assert getattr(sr, name) is not None, name
        assert name in dir(sr)


def test_namespaces_are_imported_from_the_package():
    names = ("aggregation", "covariance", "datasets", "derivations", "errors", "figures", "subsets", "theory")
    lines = [f"from subridge import {name}; assert sr.{name} is {name}" for name in names]
    code = "\n".join(
        ["import subridge as sr", "from subridge.subsets import equal", *lines, "assert subsets.equal is equal"]
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parent / "data/pickles-0.2.0").iterdir()), ids=lambda file: file.stem
)
def test_pickles_of_the_last_version_are_refused_with_a_remedy(file):
    with pytest.raises(
        (ModuleNotFoundError, sr.errors.DataError), match=r"pickled by subridge 0\.2\.0 .* fit (them|it) again"
    ):
        pickle.loads(file.read_bytes())


def test_modules_that_never_existed_are_missing_as_anywhere_else():
    assert importlib.util.find_spec("subridge.nonsense") is None
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'subridge\.nonsense'"):
        importlib.import_module("subridge.nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from subridge import nonsense  # noqa: F401


def test_a_subclass_may_derive_one_parameter_from_another():
    class Alpha(sr.RidgeEnsembleRegressor):
        def __init__(self, alpha=1.0):
            super().__init__(1)
            self.alpha = alpha

        @property
        def alpha(self):
            return self.ridge

        @alpha.setter
        def alpha(self, value):
            self.ridge = value

    assert copy.deepcopy(Alpha(3.0)).alpha == 3.0


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


def test_files_are_named_after_what_they_hold():
    assert FILES
    for file in FILES:
        assert file.stem not in {"utils", "helpers", "common", "misc"}, file


# Modules and attributes that Windows has not.
POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "SIGALRM", "SIGKILL", "fork", "killpg", "sysconf"}


def names_at_import(node):
    """Names that a module uses when it is imported: all but those inside functions, which may ask first."""
    inside = node.body if isinstance(node, ast.FunctionDef) else ()
    for child in ast.iter_child_nodes(node):
        if child in inside:
            continue
        if isinstance(child, ast.alias):
            yield child.name
        elif isinstance(child, ast.ImportFrom):
            yield child.module
        elif isinstance(child, ast.Attribute):
            yield child.attr
        yield from names_at_import(child)


@pytest.mark.slow
def test_tests_can_be_collected_on_windows():
    for file in Path(__file__).parent.rglob("*.py"):
        used = POSIX_ONLY.intersection(names_at_import(ast.parse(file.read_text(encoding="utf-8"))))
        assert not used, file

"""Names that load when first used, listed once in a stub that editors and type checkers read as well."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

LazyNames: TypeAlias = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]

# Modules of version 0.2.0 that objects pickled by it ask for: these, and what is below them.
_GONE = (
    "subridge.ensemble",
    "subridge.spec",
    "subridge.subsets.",
    "subridge.estimators.left_out_ensemble",
    "subridge.forecasting.advice",
    "subridge.ridge.streaming",
    "subridge.theory.solution",
)


def names_of_stub(package: str, file: str) -> LazyNames:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, given its ``__name__`` and ``__file__``.

    A stub beside its ``__init__.py`` consists of lines ``from home import name as public_name``.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.asname or alias.name: (str(node.module), alias.name) for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, real_name = homes[name]
        value = None if home == package else getattr(import_module(home), real_name, None)
        if value is None:  # a module, which is an attribute of its parent only once it has been imported
            value = import_module(f"{home}.{real_name}")
        setattr(sys.modules[package], name, value)
        return value

    def shown() -> list[str]:
        return sorted({*homes, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    return load, shown, [*homes]


class OldPickles:
    """A finder that refuses modules of version 0.2.0; others are left to Python's own finders."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.startswith(_GONE):
            raise ModuleNotFoundError(
                f"{name} no longer exists, so objects pickled by subridge 0.2.0 or older cannot be loaded; fit them "
                "again, or load them with that version",
                name=name,
            )

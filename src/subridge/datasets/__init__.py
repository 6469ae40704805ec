"""Real data: tables, deep features of images (networks, folders, extraction), and a set that comes with the package."""

from importlib import import_module
from typing import Any

# public name -> module that defines it, loaded when used: networks need torch, which is an extra
_HOMES = {
    "FeatureSet": "images.feature_set",
    "load_fashion_features": "images.bundled",
    "load_set": "images.cache",
    "load_store": "images.extraction",
    "extract_folder": "images.extraction",
    "Table": "tables.table",
    "read_table": "tables.table",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value

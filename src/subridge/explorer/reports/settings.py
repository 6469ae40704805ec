"""What a result was made with, as lines of a page."""

import json

import xarray as xr

from subridge.arrays.types import Json

_PASSED = ("schema", "schema_version", "description", "fingerprint", "command")


def settings_of(dataset: xr.Dataset) -> dict[str, str]:
    """Attributes of a result as texts, nested ones unfolded.

    Examples
    --------
    >>> settings_of(xr.Dataset(attrs={"schema": "x", "level": 0.9, "plan": '{"seed": 1, "sizes": [2, 3]}'}))
    {'level': '0.9', 'plan: seed': '1', 'plan: sizes': '2, 3'}
    """
    found: dict[str, str] = {}
    for name, value in dataset.attrs.items():
        if name not in _PASSED:
            found |= _unfolded(str(name), _parsed(value))
    return found


def _parsed(value: Json) -> Json:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            parsed: Json = json.loads(value)
        except json.JSONDecodeError:
            return value
        return parsed
    return value


def _unfolded(name: str, value: Json) -> dict[str, str]:
    if isinstance(value, dict):
        parts = ((f"{name}: {key}", part) for key, part in value.items() if key != "type")
        return {inner: text for key, part in parts for inner, text in _unfolded(key, part).items()}
    if isinstance(value, list):
        return {name: ", ".join(map(str, value))}
    return {name: f"{value:g}" if isinstance(value, float) else str(value)}

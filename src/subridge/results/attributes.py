"""The attributes that every result carries: the schema it follows, the version that made it and what it holds."""

import json
from typing import TypeAlias

from subridge import __version__
from subridge.arrays.types import Json

# What every file format can hold as an attribute; netCDF has neither booleans nor lists of texts.
Attribute: TypeAlias = str | int | float


def result_attributes(schema: str, schema_version: int, description: str, /, **values: Json) -> dict[str, Attribute]:
    """Make the attributes of a result: schema, such as "phase_diagram", its version, and a description in a sentence.

    The version is raised when names or meanings of variables change. Further values are made fit for every file format:
    a boolean becomes 0 or 1; what is nested, and None, becomes JSON text.
    """
    head: dict[str, Attribute] = {
        "schema": schema,
        "schema_version": schema_version,
        "subridge_version": __version__,
        "description": description,
    }
    return head | {name: _attribute(value) for name, value in values.items()}


def _attribute(value: Json) -> Attribute:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)

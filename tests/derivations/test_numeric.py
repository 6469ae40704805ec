"""Compiled expressions, against the reference values in tests/data/golden.json."""

import json
from pathlib import Path

import numpy as np
import pytest

from subridge.derivations import numeric
from subridge.derivations.notation import alpha, nu

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())["cases"]


def is_regular(inputs):
    """Whether the reference point is a number: finite parameters, away from α = 0 and from a threshold."""
    if "inf" in inputs.values() or inputs["alpha"] == 0:
        return False
    return inputs["Lambda"] > 0 or inputs["alpha"] * inputs["k"] != 1


REDUCED = [
    pytest.param(case["inputs"], case["expected"], id=case["id"])
    for case in GOLDEN
    if case["function"] == "reduced_error" and is_regular(case["inputs"])
]


@pytest.mark.slow
@pytest.mark.parametrize(("inputs", "expected"), REDUCED)
def test_compiled_reduced_error_gives_the_reference_values(inputs, expected):
    arguments = [inputs[name] for name in ("k", "alpha", "rho", "Lambda", "H", "W", "Z")]
    np.testing.assert_allclose(numeric.reduced_error_function()(*arguments), expected["value"], rtol=1e-10)


def test_an_expression_with_a_symbol_that_is_no_argument_is_refused():
    with pytest.raises(ValueError, match="no argument for"):
        numeric.numeric_version(nu / alpha, [nu])

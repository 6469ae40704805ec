import dataclasses
import re
from importlib.resources import files

import pytest

from subridge.derivations.javascript import formulas, javascript_module
from subridge.derivations.notation import alpha

PRINTED = files("subridge.explorer").joinpath("assets/formulas.js").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_explorers_formulas_are_what_the_derivations_print():
    # Different? Run: python -m subridge.derivations.javascript src/subridge/explorer/assets/formulas.js
    assert javascript_module() == PRINTED


# In a loop: to name the formulas as parameters is to derive them whenever tests are collected.
@pytest.mark.slow
def test_a_formula_that_differs_from_its_derivation_is_not_printed():
    for formula in formulas():
        wrong = dataclasses.replace(formula, arrangement=formula.arrangement * (1 + alpha))
        with pytest.raises(ValueError, match=f"{formula.name} is not what was derived"):
            wrong.check()


def test_formulas_use_nothing_but_their_arguments():
    """Every name in the body of a printed function is an argument or a constant above it."""
    functions = re.findall(r"^function (\w+)\(([^)]*)\) \{\n(.*?)^\}$", PRINTED, re.MULTILINE | re.DOTALL)
    assert len(functions) == PRINTED.count("function ") >= 20
    for name, arguments, body in functions:
        known = set(arguments.split(", "))
        for line in body.splitlines():
            constant, expression = re.fullmatch(r"  (?:const (\w+) =|return) (.*);", line).groups()
            assert set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", expression)) <= known | {"Math"}, name
            known.add(constant)

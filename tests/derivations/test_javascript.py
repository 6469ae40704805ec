import dataclasses
from importlib.resources import files

import pytest

from subridge.derivations.javascript import formulas, javascript_module
from subridge.derivations.notation import alpha


def test_the_explorers_formulas_are_what_the_derivations_print():
    place = files("subridge.explorer").joinpath("assets/formulas.js")
    # Different? Run: python -m subridge.derivations.javascript src/subridge/explorer/assets/formulas.js
    assert place.read_text(encoding="utf-8") == javascript_module()


# In a loop: to name the formulas as parameters is to derive them whenever tests are collected.
@pytest.mark.slow
def test_a_formula_that_differs_from_its_derivation_is_not_printed():
    for formula in formulas():
        wrong = dataclasses.replace(formula, arrangement=formula.arrangement * (1 + alpha))
        with pytest.raises(ValueError, match=f"{formula.name} is not what was derived"):
            wrong.check()


def test_formulas_use_nothing_but_their_arguments():
    for formula in formulas():
        assert formula.arrangement.free_symbols <= set(formula.arguments), formula.name

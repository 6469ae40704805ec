"""Every public name says what it takes, with shapes, what it gives back, what it raises, and shows itself at work.

The examples are run as doctests, with all others. Where the rules of numpydoc do not fit, ours stand in their place:

- A method that overrides another and says nothing new is documented by that other.
- A function that takes nothing gives back what its summary names.
- A method or a property is shown at work in its own example, or in that of its class; an abstract class by its methods.
- An error or a warning has an example, or its base class has.
- A class that is made by functions of the package, not by users, lists its fields under Attributes.
"""

import builtins
import dataclasses
import inspect
import re
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

from reference.public_names import public_names
from subridge.model import errors

ROOT = Path(__file__).parents[2]
NAMES = public_names()
CODES = {
    *("GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),  # form and order of sections
    *("SS01", "SS02", "SS03", "SS04", "SS05"),  # the summary
    *("PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "PR10"),  # parameters, each with a type and a description
    *("RT01", "RT03"),  # what is returned, described
}
ARRAY = re.compile(r"\barrays?\b|ndarray|array_like|\bArray")
SHAPE = re.compile(r"shapes? \([^()]*\)")


def sections(each):
    return get_doc_object(each.value)


def is_documented_by_its_base(each):
    return bool(each.owner) and not each.value.__doc__ and bool(inspect.getdoc(getattr(each.owner, each.name)))


def is_made_for_users(each):
    """A dataclass without a Parameters section: users get one, and read its fields."""
    return each.is_class and dataclasses.is_dataclass(each.value) and not sections(each)["Parameters"]


def is_a_protocol(each):
    """Never built."""
    return getattr(each.value, "_is_protocol", False)


def code_of(value):
    """The lines of code in the examples of a docstring that are run."""
    lines = re.findall(r"^\s*(?:>>>|\.\.\.) (.*)", value.__doc__ or "", re.MULTILINE)
    return [line for line in lines if "+SKIP" not in line]


def takes_nothing(each):
    return not each.is_class and not set(inspect.signature(each.function).parameters) - {"self"}


OWN = [each for each in NAMES if not is_documented_by_its_base(each)]


def test_the_list_holds_what_is_public_and_nothing_private():
    paths = {each.path for each in NAMES}
    assert {
        "subridge.theory.predict.risk",
        "subridge.model.ensemble.SubsetPlan.fractions",
        "subridge.model.errors.StoreError",
        "subridge.estimators.regressor.RidgeEnsembleRegressor.predict_interval",
        "subridge.estimators.regressor.RidgeEnsembleRegressor.partial_fit",
        "subridge.derivations.numeric.pair_error_function",
    } <= paths
    assert not [path for path in paths if "._" in path]


def check_that_it_is_whole(each):
    found = [(code, text) for code, text in validate(each.path)["errors"] if code in CODES]
    spared = {"PR01"} if is_made_for_users(each) or is_a_protocol(each) else {"RT01"} if takes_nothing(each) else set()
    assert not [(code, text) for code, text in found if code not in spared]


@pytest.mark.parametrize("each", [each for each in OWN if is_made_for_users(each)], ids=lambda each: each.name)
def test_what_users_get_lists_its_fields(each):
    described = {name for entry in sections(each)["Attributes"] if entry.desc for name in entry.name.split(", ")}
    assert {field.name for field in dataclasses.fields(each.value)} <= described


def check_shapes(each):
    documented = sections(each)
    entries = [entry for kind in ("Parameters", "Attributes", "Returns") for entry in documented[kind]]
    texts = [(entry.type, " ".join([entry.type, *entry.desc])) for entry in entries]
    if each.is_attribute:
        texts.append((str(each.function.__annotations__.get("return", "")), each.value.__doc__))
    for kind, text in texts:
        if ARRAY.search(kind):
            assert SHAPE.search(text), text


def check_raises(each):
    told = {name for entry in sections(each)["Raises"] for name in entry.type.split(", ")}
    assert told <= {*vars(errors), *vars(builtins), "NotFittedError"}
    if each.is_attribute:  # which has no sections
        told = set(re.findall(r"\w+", each.value.__doc__))
    assert each.raised <= told


def check_example(each):
    if each.owner:
        classes = [base for base in each.owner.__mro__ if base.__module__.startswith("subridge")]
        lines = [line for value in (each.value, *classes) for line in code_of(value)]
        assert any(re.search(rf"\b{each.name}\b", line) for line in lines)
    elif each.is_class and issubclass(each.value, (errors.SubridgeError, errors.SubridgeWarning)):
        assert any(code_of(base) for base in each.value.__mro__ if base.__module__ == errors.__name__)
    elif inspect.isabstract(each.value) or is_a_protocol(each):
        assert code_of(each.value)
    else:
        assert any(re.search(rf"\b{each.name}\b", line) for line in code_of(each.value))


def module_of(each):
    return ".".join(each.path.split(".")[1:3])


# One test for a module: many small tests take longer than what they check.
@pytest.mark.parametrize("module", sorted({module_of(each) for each in OWN}))
def test_the_public_names_of_a_module_are_documented(module):
    for each in OWN:
        if module_of(each) == module:
            check_that_it_is_whole(each)
            check_shapes(each)
            check_raises(each)
            check_example(each)


def test_the_reference_holds_every_function_and_class():
    index = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    derivations = (ROOT / "docs" / "api" / "derivations.rst").read_text(encoding="utf-8")
    entries = set(re.findall(r"^   (?:\w+\.)*(\w+)$", index, re.MULTILINE))
    modules = set(re.findall(r"automodule:: (\S+)", index + derivations))
    lacking = [each for each in NAMES if not each.owner and each.path.rpartition(".")[0] not in modules]
    assert [each.path for each in lacking if each.name not in entries] == []

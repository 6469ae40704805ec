"""Every public name with its docstring, found from the package's own lists."""

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, ModuleType

from subridge.model.errors import SubridgeError

import subridge as sr

# Not fields, nor constants of a class, nor what other packages put into it.
METHODS = (FunctionType, classmethod, staticmethod, property, cached_property)


@dataclass(frozen=True)
class Documented:
    """A public function, class, method or property."""

    path: str  # as Python imports it, from the module where it is defined
    value: object
    owner: type | None = None  # of a method or property

    @property
    def name(self):
        return self.path.rpartition(".")[2]

    @property
    def is_class(self):
        return inspect.isclass(self.value)

    @property
    def function(self):
        """What is called: a function, the getter of a property, the function behind a class method."""
        inner = getattr(self.value, "fget", None) or getattr(self.value, "func", None)
        return inspect.unwrap(inner or getattr(self.value, "__func__", self.value))

    @property
    def is_attribute(self):
        return self.owner is not None and not inspect.isfunction(inspect.unwrap(self.callable))

    @property
    def callable(self):
        return getattr(self.value, "__func__", self.value)

    @cached_property
    def raised(self):
        """Errors of the package that this raises, itself or in the functions it calls to check its arguments."""
        if not self.is_class:
            return raised_by(self.function, depth=1)
        made_by = [vars(self.value)[name] for name in ("__init__", "__post_init__") if name in vars(self.value)]
        found = set()
        for each in made_by:  # a dataclass writes its own __init__, which has no source
            if each.__code__.co_filename == inspect.getsourcefile(self.value):
                found |= raised_by(each, depth=1)
        return found


def public_names():
    """All of them: what the lists of the package name, and the public methods and properties of its classes."""
    found = {}
    for module in public_modules():
        for name in listed(module):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isroutine(value)) and value.__module__.startswith("subridge"):
                add(found, Documented(f"{value.__module__}.{value.__qualname__}", value))
    return list(found.values())


def public_modules():
    """The package and the modules it lists, and the modules that these list."""
    found = [sr]
    for module in found:
        inner = [getattr(module, name) for name in listed(module)]
        found += [each for each in inner if isinstance(each, ModuleType) and each not in found]
    return [module for module in found if module.__name__.startswith("subridge")]


def listed(module):
    """Public names of a module: its list, or else what is defined in it."""
    if hasattr(module, "__all__"):
        return module.__all__
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return [name for name in own if not name.startswith("_")]


def add(found, each):
    if each.path in found:
        return
    found[each.path] = each
    if each.is_class:
        for base in each.value.__mro__:
            if base.__module__.startswith("subridge"):
                for name, value in vars(base).items():
                    value = getattr(value, "fn", value)  # what scikit-learn offers on a condition
                    if not name.startswith("_") and isinstance(value, METHODS):
                        path = f"{base.__module__}.{base.__qualname__}.{name}"
                        found.setdefault(path, Documented(path, value, each.value))


def raised_by(function, depth):
    """Names of the package's errors that the source of a function raises, and those of what it calls."""
    if not inspect.isfunction(function) or not function.__module__.startswith("subridge"):
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = {error.__name__ for error in all_subclasses(SubridgeError)}
    raises = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    found = {called(each) for each in raises} & names
    if depth:
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            found |= raised_by(function.__globals__.get(called(call)), depth - 1)
    return found


def called(node):
    """The plain name that is called, "" where it is something else."""
    return getattr(getattr(node, "func", None), "id", "")


def all_subclasses(cls):
    return [each for sub in cls.__subclasses__() for each in (sub, *all_subclasses(sub))]

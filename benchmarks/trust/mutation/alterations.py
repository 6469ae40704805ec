"""Every alteration that the operators of cosmic-ray make of a file, less those that nothing could observe.

Left out by rule, before any test has run:

- what Python does not compile, or not without a warning (``is`` with a literal), which any test would notice;
- types: annotations of arguments, results and variables, and aliases of types, which nothing computes with;
- words: what is inside an f-string, the argument of a ``raise`` or of ``warnings.warn``;
- other systems: comparisons with ``sys.platform`` or ``os.name``, what is under one for Windows, and what is marked
  ``pragma: no cover``; what is under ``if TYPE_CHECKING``.

Needs the packages cosmic-ray, parso and attrs, all of them pure Python, and no more of cosmic-ray than its operators.
"""

import ast
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import parso
from cosmic_ray.operators.provider import OperatorProvider

# These two need arguments, and make statements up.
_NEED_ARGUMENTS = ("VariableReplacer", "VariableInserter")


@dataclass(frozen=True)
class Alteration:
    """One change: an operator at the n-th node of a file, in the i-th way; `lines` are those of its statement."""

    path: str
    operator: str
    node: int
    way: int
    line: int
    lines: tuple[int, int] | None  # None for what runs when the module is loaded

    def applied_to(self, source: str) -> str:
        tree = parso.parse(source)
        node = _nodes(tree)[self.node]
        new = OperatorProvider()[self.operator]().mutate(node, self.way)
        if new is None:
            node.parent.children.remove(node)
        elif new is not node:
            node.parent.children[node.parent.children.index(node)] = new
        return tree.get_code()

    @property
    def kind(self) -> tuple[str, int, str]:
        """What its rivals share: an operator at a place can be replaced by a dozen others, a number by two."""
        family = self.operator.partition("_")[0]
        return self.path, self.node, f"{family} {self.way}" if family == "NumberReplacer" else family

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.operator} {self.way}"


def alterations_of(root: Path, path: str) -> list[Alteration]:
    """Alterations of a file that something could observe, apart from those that do not compile."""
    source = (root / path).read_text()
    ours, tree = _Source(source), parso.parse(source)
    provider, found = OperatorProvider(), []
    for name in sorted(set(provider) - set(_NEED_ARGUMENTS)):
        operator = provider[name]()
        for number, node in enumerate(_nodes(tree)):
            for way, (start, _) in enumerate(operator.mutation_positions(node)):
                if not ours.leaves_out(start):
                    found.append(Alteration(path, name, number, way, start[0], ours.statement_at(start)))
    return found


def lines_inside_functions(source: str) -> set[int]:
    """Lines that run when something is called, not when the module is loaded."""
    spans = [(first, last) for first, last, runs_inside in _Source(source).statements if runs_inside]
    return {line for first, last in spans for line in range(first, last + 1)}


def compiles(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(source, "altered", "exec")
    except (SyntaxError, SyntaxWarning):
        return False
    return True


def _nodes(tree: parso.tree.BaseNode) -> list[parso.tree.NodeOrLeaf]:
    found = [tree]
    for child in getattr(tree, "children", ()):
        found += _nodes(child)
    return found


class _Source:
    """Where a file has types, words and code for other systems, and which statement is where."""

    def __init__(self, text: str) -> None:
        self._lines, tree = text.splitlines(), ast.parse(text)
        self._spans = [self._span(node) for node in _unobservable(tree)]
        marked = {number for number, line in enumerate(self._lines, 1) if "pragma: no cover" in line}
        self.statements = []
        for node, in_function in _statements(tree, False):
            if node.lineno in marked:
                self._spans.append(self._span(node))
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = max(first, _first_line(body[0]) - 1) if body else node.end_lineno
            runs_inside = in_function and not isinstance(node, ast.FunctionDef | ast.ClassDef)
            self.statements.append((first, last, runs_inside))

    def _span(self, node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
        return self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset)

    def _place(self, line: int, offset: int) -> tuple[int, int]:
        """Columns in characters; `ast` counts bytes."""
        return line, len(self._lines[line - 1].encode()[:offset].decode())

    def leaves_out(self, place: tuple[int, int]) -> bool:
        return any(start <= place < end for start, end in self._spans)

    def statement_at(self, place: tuple[int, int]) -> tuple[int, int] | None:
        around = [each for each in self.statements if each[0] <= place[0] <= each[1]]
        first, last, runs_inside = max(around)
        return (first, last) if runs_inside else None


def _first_line(node: ast.AST) -> int:
    return min(
        [node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno]
        + [each.lineno for each in getattr(node, "decorator_list", [])]
    )


def _statements(node: ast.AST, in_function: bool):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler):
            yield child, in_function
        yield from _statements(child, in_function or isinstance(child, ast.FunctionDef | ast.Lambda))


def _unobservable(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
            if ast.unparse(node.annotation) == "TypeAlias":
                yield node.value
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.JoinedStr):
            yield node
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from (*node.exc.args, *node.exc.keywords)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
            yield from (*node.args, *node.keywords)
        elif isinstance(node, ast.Compare) and _asks_for_the_system(node):
            yield node
        elif isinstance(node, ast.If) and (_is_type_checking(node.test) or "win32" in ast.unparse(node.test)):
            yield from (node.test, *node.body)


@cache
def _asks_for_the_system(node: ast.AST) -> bool:
    return any(word in ast.unparse(node) for word in ("sys.platform", "os.name"))


def _is_type_checking(node: ast.AST) -> bool:
    return ast.unparse(node) == "TYPE_CHECKING"

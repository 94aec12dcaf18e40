"""A script with what a target needs to know of its text: places, blocks, functions, messages."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from io import StringIO
from typing import Any, TypeGuard, TypeVar

from converter.analysis.nodes import Nodes
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Severity
from converter.rule import message
from converter.source.text import line_ends
from converter.syntax.names import ImportedNames

Function = ast.FunctionDef | ast.Lambda
Node = TypeVar("Node", bound=ast.AST)


@dataclass
class Script:
    """A parsed script; `findings` collects what its reader should know.

    path: as the user named it. text: with its own line ends. files: the files of its program that were read, by their
    absolute paths: each of them has the same ones.
    """

    path: str
    text: str
    tree: ast.Module
    findings: list[Diagnostic] = field(default_factory=list)
    files: dict[str, Script] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def names(self) -> ImportedNames:
        """The names that imports bind, resolved to full names."""
        return ImportedNames(self.tree)

    @cached_property
    def newline(self) -> str:
        """The end of the first line."""
        found = re.search(r"\r\n|\n|\r", self.text)
        return found[0] if found else "\n"

    @cached_property
    def _starts(self) -> list[int]:
        ends = line_ends(self.text)
        return [0, *ends] if ends and ends[-1] == len(self.text) else [0, *ends, len(self.text)]

    def line(self, number: int) -> int:
        """Where a line begins, from one, as an offset in characters."""
        return self._starts[number - 1]

    def line_text(self, number: int) -> str:
        """A line without its end."""
        return self.text[self.line(number) : self._starts[number]].rstrip("\r\n")

    def at(self, line: int, column: int) -> int:
        """The offset in characters of a line, from one, and a column in UTF-8 bytes, as `ast` counts them."""
        start = self.line(line)
        return start + len(self.line_text(line).encode()[:column].decode(errors="replace"))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends, as offsets."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """A node's text."""
        begin, end = self.span(node)
        return self.text[begin:end]

    def operand(self, node: ast.expr) -> str:
        """A node's text as a factor of a product: in parentheses, unless it is simple."""
        simple = isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Call)
        return self.of(node) if simple else f"({self.of(node)})"

    def indentation(self, stmt: ast.stmt) -> str:
        """The blanks in front of a statement that begins its line."""
        text = self.line_text(stmt.lineno)
        return text[: len(text) - len(text.lstrip())]

    @cached_property
    def unit(self) -> str:
        """One level of indentation: a tab, or as many blanks as the first indented line has."""
        found = re.search(r"^(?:\t|  +)(?=\S)", self.text, re.MULTILINE)
        return found[0] if found and len(found[0]) <= 8 else "    "

    @cached_property
    def _nodes(self) -> Nodes:
        return Nodes(self.tree)

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """All nodes of a kind, from the top down."""
        return self._nodes.of(kind)

    def reads(self, name: str) -> list[ast.Name]:
        """The places where a name is read, in whatever scope."""
        return [node for node in self.nodes(ast.Name) if node.id == name and isinstance(node.ctx, ast.Load)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that contain a node, innermost first."""
        parents = self._nodes.parents
        while node in parents:
            node = parents[node]
            yield node

    def parent(self, node: ast.AST) -> ast.AST:
        """The node right above another one than the module."""
        return self._nodes.parents[node]

    def is_inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether a node stands inside another one."""
        return any(one is outer for one in self.above(node))

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds an expression."""
        if isinstance(node, ast.stmt):
            return node
        return next(n for n in self.above(node) if isinstance(n, ast.stmt))

    def block(self, stmt: ast.stmt) -> list[ast.stmt]:
        """The statements among which a statement stands."""
        parent = self.parent(stmt)
        for name in ("body", "orelse", "finalbody"):
            held = getattr(parent, name, None)
            if isinstance(held, list) and stmt in held:
                return held
        return [stmt]

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        """The innermost function that holds a node, None for the module."""
        return next((n for n in self.above(node) if isinstance(n, ast.FunctionDef)), None)

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class that holds a node, None if none does."""
        return next((n for n in self.above(node) if isinstance(n, ast.ClassDef)), None)

    def has_own_lines(self, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether no other statement stands on the lines of the statements from `first` to `last`."""
        (begin, _), (_, end) = self.span(first), self.span(last)
        number = last.end_lineno or 0
        rest = self.line_text(number)[end - self.line(number) :].strip()
        return not self.text[self.line(first.lineno) : begin].strip() and (not rest or rest.startswith("#"))

    def returned(self, function: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
        """The expressions whose values a function returns itself, not those of functions in it."""
        is_lambda = isinstance(function, ast.Lambda)
        return [value for value in returns_in(function) if is_lambda or self.function(value) is function]

    def method(self, call: ast.Call) -> str:
        """The name of a method that is called on a value of the script; "" for a function and for a library's."""
        return call.func.attr if isinstance(call.func, ast.Attribute) and not self.name(call.func) else ""

    @cached_property
    def calls(self) -> list[ast.Call]:
        """All calls, in the order of their places."""
        return sorted(self.nodes(ast.Call), key=lambda call: (call.lineno, call.col_offset))

    @cached_property
    def functions(self) -> dict[str, list[ast.FunctionDef]]:
        """Functions and methods by name."""
        found: dict[str, list[ast.FunctionDef]] = {}
        for node in self.nodes(ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
        return found

    def uses(self, name: str) -> list[ast.Name]:
        """Where a name stands, read or bound."""
        return [node for node in self.nodes(ast.Name) if node.id == name]

    def defined(self, node: ast.expr) -> ast.FunctionDef | None:
        """The function of a name, or the method of an attribute, where there is only one."""
        found = self.functions.get(node.id if isinstance(node, ast.Name) else getattr(node, "attr", ""), [])
        method = isinstance(node, ast.Attribute)
        found = [one for one in found if isinstance(self.parent(one), ast.ClassDef) == method]
        return found[0] if len(found) == 1 else None

    @cached_property
    def assignments(self) -> dict[str, list[tuple[ast.Assign, ast.expr, int | None]]]:
        """The assignments to a name or an attribute, by its text; value and place are those of `assigned`."""
        found: dict[str, list[tuple[ast.Assign, ast.expr, int | None]]] = {}
        for stmt in self.nodes(ast.Assign):
            for part, value, place in assigned(stmt):
                if isinstance(part, ast.Name | ast.Attribute):
                    found.setdefault(ast.unparse(part), []).append((stmt, value, place))
        return found

    @cached_property
    def bindings(self) -> dict[str, list[ast.expr]]:
        """Values that are assigned to a name or an attribute, by its text, wherever: `x = 1`, `x, y = 1, 2`."""
        whole = {text: [made[1] for made in all_of if made[2] is None] for text, all_of in self.assignments.items()}
        return {text: values for text, values in whole.items() if values}

    def bound(self, node: ast.expr) -> list[ast.expr]:
        """The values that the function around a name binds it to, or else the file; of a part of a value the whole."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return []
        made = [(self.function(stmt), value) for stmt, value, _ in self.assignments.get(ast.unparse(node), [])]
        if isinstance(node, ast.Attribute):
            return [value for _, value in made]
        around = self.function(node)
        local = [value for function, value in made if function is around]
        return local or [value for function, value in made if function is None]

    def name(self, node: ast.expr) -> str:
        """The full name of an imported function or class (see Names.of); "" where the script bound it itself."""
        inner = node
        while isinstance(inner, ast.Attribute):
            if ast.unparse(inner) in self.bindings:
                return ""
            inner = inner.value
        return self.names.of(node)

    def value(self, node: ast.expr) -> ast.expr:
        """The expression that a name bound once stands for; any other expression unchanged."""
        for _ in range(8):
            bound = self.bindings.get(ast.unparse(node), []) if isinstance(node, ast.Name | ast.Attribute) else []
            if len(bound) != 1:
                break
            node = bound[0]
        return node

    def behind(self, node: ast.expr) -> Iterator[ast.AST]:
        """The nodes of an expression, and of the values that the names in it are bound to, wherever."""
        is_name = isinstance(node, ast.Name | ast.Attribute)
        todo, seen = list(self.bindings.get(ast.unparse(node), [node])) if is_name else [node], set[int]()
        while todo:
            for inner in ast.walk(todo.pop()):
                if id(inner) not in seen:
                    seen.add(id(inner))
                    yield inner
                    todo += self.bindings.get(inner.id, []) if isinstance(inner, ast.Name) else []

    @cached_property
    def words(self) -> set[str]:
        """All names in the script."""
        found = {node.id for node in self.nodes(ast.Name)} | {node.arg for node in self.nodes(ast.arg)}
        found |= {node.name for node in self.nodes(ast.FunctionDef)} | {node.name for node in self.nodes(ast.ClassDef)}
        return found | {alias.asname or alias.name.partition(".")[0] for alias in self.nodes(ast.alias)}

    def new(self, name: str) -> str:
        """A name that the script does not have; taken from here on."""
        made, number = name, 2
        while made in self.words:
            made, number = f"{name}_{number}", number + 1
        self.words.add(made)
        return made

    @cached_property
    def inside_strings(self) -> set[int]:
        """Lines that begin inside a string."""
        found: set[int] = set()
        begun: list[int] = []
        for token in tokenize.generate_tokens(StringIO(self.text, newline=None).readline):
            name = tokenize.tok_name[token.type]
            if name == "STRING":
                found.update(range(token.start[0] + 1, token.end[0] + 1))
            elif name in ("FSTRING_START", "TSTRING_START"):
                begun.append(token.start[0])
            elif name in ("FSTRING_END", "TSTRING_END"):
                found.update(range(begun.pop() + 1, token.end[0] + 1))
        return found

    def finding(self, node: ast.AST | None, key: str, **about: object) -> None:
        """Notes a finding at a node, or for the file as a whole. key: of its message; about: the message's fields."""
        said = message(key)
        self.say(node, said.code, *said.of(about), said.severity)

    def refused(self, node: ast.AST | None, key: str, **about: object) -> list[Any]:
        """Notes a finding, and returns the changes of refused code: none."""
        self.finding(node, key, **about)
        return []

    def say(self, node: ast.AST | None, code: str, message: str, hint: str, severity: Severity = "error") -> None:
        """Notes a finding at a node, or for the file as a whole."""
        finding = self.diagnostic(node, code, message, hint, severity)
        if finding not in self.findings:
            self.findings.append(finding)

    def diagnostic(
        self, node: ast.AST | None, code: str, message: str, hint: str, severity: Severity = "error"
    ) -> Diagnostic:
        """A finding at a node, or for the file as a whole."""
        line = getattr(node, "lineno", 0)
        column = self.at(line, getattr(node, "col_offset", 0)) - self.line(line) + 1 if line else 0
        return Diagnostic(code, self.path, line, column, message=message, hint=hint, severity=severity)


def assigned(stmt: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr, int | None]]:
    """The targets of an assignment, single ones of tuples and lists, each with its value.

    The third is the place in a value that is not taken apart, -1 for a part of what stands at one, None for a value
    that is all the target's.
    """
    for target in stmt.targets:
        yield from parts_of(target, stmt.value)


def parts_of(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr, int | None]]:
    """The same as `assigned`, for one target with its value."""
    targets, values = elements(target), elements(value)
    same = len(targets) == len(values) and not any(isinstance(one, ast.Starred) for one in (*targets, *values))
    if not targets:
        yield target, value, None
    for place, part in enumerate(targets):
        for inner, given, at in parts_of(part, values[place] if same else value):
            yield inner, given, at if same else place if inner is part else -1


def nodes_of(kind: type[Node], *roots: ast.AST) -> Iterator[Node]:
    """The nodes of a kind in pieces of code, of each from the top down."""
    return (node for root in roots for node in ast.walk(root) if isinstance(node, kind))


def elements(node: ast.AST | None) -> list[ast.expr]:
    """The elements of a tuple or a list that is written out; none for anything else."""
    return node.elts if isinstance(node, ast.Tuple | ast.List) else []


def literal(node: ast.AST | None) -> object:
    """The value of a constant; None for anything else."""
    return node.value if isinstance(node, ast.Constant) else None


def method_name(node: ast.AST | None) -> str:
    """The name of the method that a call calls, a library's function too: `fit` of `a.fit(…)`; "" for the rest."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def plain_name(node: ast.AST | None) -> str:
    """The name of the function that a call calls by a name without a dot; "" for anything else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def called_name(call: ast.Call) -> str:
    """The name of what is called, or its last part; "" for another expression."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def parameters(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names of a function's parameters."""
    args = function.args
    more = [one for one in (args.vararg, args.kwarg) if one is not None]
    return [one.arg for one in [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]]


def returns_in(function: ast.AST) -> list[ast.expr]:
    """The expressions whose values a function returns, or functions in it do."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [node.value for node in nodes_of(ast.Return, function) if node.value is not None]


def names_read(node: ast.AST) -> set[str]:
    """The names that a piece of code reads."""
    return {n.id for n in nodes_of(ast.Name, node) if isinstance(n.ctx, ast.Load)}


def names_bound(*nodes: ast.AST) -> set[str]:
    """The names that pieces of code bind."""
    return {n.id for n in nodes_of(ast.Name, *nodes) if isinstance(n.ctx, ast.Store)}


def all_arguments(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, by place and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """An argument of a call, by its name or its place; place -1 for one that only has a name."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if 0 <= place < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args[: place + 1]):
        return call.args[place]
    return None


def is_given(value: ast.expr | None) -> TypeGuard[ast.expr]:
    """True if an argument is there, and is not None."""
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)


def is_on(value: ast.expr | None) -> TypeGuard[ast.expr]:
    """True if an argument is there, and is not None, False, 0 or empty."""
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)


def is_spread(call: ast.Call) -> bool:
    """Whether a call takes arguments by * or **, which hide what it is given."""
    return any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords)

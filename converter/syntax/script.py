"""A script with what a target needs to know of its text: places, blocks, functions, messages."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from io import StringIO
from typing import TypeGuard

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Severity
from converter.rule import message
from converter.source.text import line_ends
from converter.syntax.names import ImportedNames

Function = ast.FunctionDef | ast.Lambda


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
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that contain a node, innermost first."""
        while node in self._parents:
            node = self._parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds an expression."""
        if isinstance(node, ast.stmt):
            return node
        return next(n for n in self.above(node) if isinstance(n, ast.stmt))

    def block(self, stmt: ast.stmt) -> list[ast.stmt]:
        """The statements among which a statement stands."""
        parent = self._parents[stmt]
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
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        return sorted(found, key=lambda call: (call.lineno, call.col_offset))

    @cached_property
    def functions(self) -> dict[str, list[ast.FunctionDef]]:
        """Functions and methods by name."""
        found: dict[str, list[ast.FunctionDef]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(node)
        return found

    def uses(self, name: str) -> list[ast.Name]:
        """Where a name stands, read or bound."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node.id == name]

    def defined(self, node: ast.expr) -> ast.FunctionDef | None:
        """The function of a name, or the method of an attribute, where there is only one."""
        found = self.functions.get(node.id if isinstance(node, ast.Name) else getattr(node, "attr", ""), [])
        method = isinstance(node, ast.Attribute)
        found = [one for one in found if isinstance(self._parents[one], ast.ClassDef) == method]
        return found[0] if len(found) == 1 else None

    @cached_property
    def bindings(self) -> dict[str, list[ast.expr]]:
        """Values that are assigned to a name or an attribute, by its text, wherever: `x = 1`, `x, y = 1, 2`."""
        found: dict[str, list[ast.expr]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for part, value in (pair for target in node.targets for pair in _paired(target, node.value)):
                    if isinstance(part, ast.Name | ast.Attribute):
                        found.setdefault(ast.unparse(part), []).append(value)
        return found

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
        nodes = list(ast.walk(self.tree))
        found = {node.id for node in nodes if isinstance(node, ast.Name)}
        found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        return found

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

    def say(self, node: ast.AST | None, code: str, message: str, hint: str, severity: Severity = "error") -> None:
        """Notes a finding at a node, or for the file as a whole."""
        line = getattr(node, "lineno", 0)
        column = self.at(line, getattr(node, "col_offset", 0)) - self.line(line) + 1 if line else 0
        finding = Diagnostic(code, self.path, line, column, message=message, hint=hint, severity=severity)
        if finding not in self.findings:
            self.findings.append(finding)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The parts of an assignment: of tuples or lists with the same number of entries, each with its own value."""
    sides = (target, value)
    if all(isinstance(side, ast.Tuple | ast.List) for side in sides):
        targets, values = (list(getattr(side, "elts", ())) for side in sides)
        if len(targets) == len(values) and not any(isinstance(one, ast.Starred) for one in targets + values):
            for pair in zip(targets, values, strict=True):
                yield from _paired(*pair)
            return
    yield target, value


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
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]


def names_read(node: ast.AST) -> set[str]:
    """The names that a piece of code reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def names_bound(*nodes: ast.AST) -> set[str]:
    """The names that pieces of code bind."""
    walked = (n for node in nodes for n in ast.walk(node))
    return {n.id for n in walked if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


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

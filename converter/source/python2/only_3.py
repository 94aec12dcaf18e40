"""Finds what Python 2 does not have in a text: where it has a construct of Python 2 as well, nothing runs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.dataclass import dataclass

# What is new in Python 3, by the documentation of `ast` and the "What's New" of 3.0 to 3.10.
_NEW: dict[type, str] = {
    ast.AnnAssign: "an annotated name",
    ast.AsyncFor: "`async for`",
    ast.AsyncFunctionDef: "`async def`",
    ast.AsyncWith: "`async with`",
    ast.Await: "`await`",
    ast.JoinedStr: "an f-string",
    ast.Match: "`match`",
    ast.MatMult: "the operator `@`",
    ast.NamedExpr: "`:=`",
    ast.Nonlocal: "`nonlocal`",
    ast.YieldFrom: "`yield from`",
}


@dataclass(frozen=True)
class New:
    """A construct that only Python 3 has, and its line."""

    what: str
    line: int


def first_new(tree: ast.Module) -> New | None:
    """The first construct in the order of the lines that only Python 3 has; None without one."""
    printed = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "print_function" for alias in node.names)
        for node in tree.body
    )
    return min(_newer_syntax(tree, printed), key=lambda new: new.line, default=None)


def _newer_syntax(tree: ast.Module, printed: bool) -> Iterator[New]:
    for node in ast.walk(tree):
        for part in (node, getattr(node, "op", None)):
            if what := _NEW.get(type(part)):
                yield New(what, getattr(node, "lineno", 0))
        if isinstance(node, ast.Raise) and node.cause is not None:
            yield New("`raise … from`", node.lineno)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield New("an annotation", node.lineno)
        elif isinstance(node, ast.arguments) and (node.kwonlyargs or node.posonlyargs):
            yield New("parameters that only take keywords, or none", (node.kwonlyargs + node.posonlyargs)[0].lineno)
        elif isinstance(node, ast.arg) and node.annotation is not None:
            yield New("an annotation", node.lineno)
        elif isinstance(node, ast.ClassDef) and node.keywords:
            yield New("a keyword among the bases of a class", node.lineno)
        elif isinstance(node, ast.Tuple | ast.List) and any(isinstance(one, ast.Starred) for one in node.elts):
            yield New("`*` inside of a list", node.lineno)
        elif isinstance(node, ast.Call) and node.keywords and not printed and _prints(node):
            yield New("a keyword for print()", node.lineno)


def _prints(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "print"

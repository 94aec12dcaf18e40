"""Reads a text by Python's own parser, while other threads read others."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

Tree = TypeVar("Tree", ast.Module, ast.Expression)

# How often a text is read before a SystemError counts: each one takes a chance meeting of two threads.
TRIES = 20


def parse_text(text: str | bytes) -> ast.Module:
    """`ast.parse(text)`, also on a Python on which threads that parse at the same time disturb each other.

    Python 3.11 keeps one count of nesting for all threads (gh-106905). Where another thread parses in between, a
    faultless text ends in a SystemError, "AST constructor recursion depth mismatch"; read once more it does not.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    return _again(lambda: ast.parse(text))


def parse_expression(text: str) -> ast.expr:
    """The tree of an expression, read as `parse_text` reads a whole text; it raises what that raises."""
    return _again(lambda: ast.parse(text, mode="eval")).body


def _again(read: Callable[[], Tree]) -> Tree:
    for _ in range(TRIES - 1):
        try:
            return read()
        except SystemError:
            continue
    return read()

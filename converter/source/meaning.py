"""Comparison of two texts by what they mean: their statements and comments, however they are laid out."""

from __future__ import annotations

import ast
import inspect
import io
import tokenize

from converter.parsing import parse_text

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Assign)


def same_meaning(one: str, other: str) -> bool:
    """True if two texts have the same syntax tree and the same comments in the same order.

    A formatter may have changed quotes, blank lines, line breaks and the blanks around comments and in docstrings.
    Texts that this Python cannot parse are compared as they are.
    """
    if one == other:
        return True
    try:
        return _tree(one) == _tree(other) and _comments(one) == _comments(other)
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return False


def has_definitions(held: str, wanted: str) -> bool:
    """True if a module contains all functions, classes and constants of another one, in any layout."""
    try:
        there = {_dumped(stmt) for stmt in parse_text(held).body}
        return all(_dumped(stmt) in there for stmt in parse_text(wanted).body if isinstance(stmt, _DEFINITIONS))
    except (SyntaxError, ValueError, RecursionError):
        return False


def _dumped(stmt: ast.stmt) -> str:
    return _normal(ast.Module([stmt], []))


def _tree(text: str) -> str:
    return _normal(parse_text(text))


def _normal(tree: ast.Module) -> str:
    """A tree as text, with the blanks in docstrings that only indent them left out."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            first.value.value = inspect.cleandoc(first.value.value)
    return ast.dump(tree)


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string.strip("# \t") for token in tokens if token.type == tokenize.COMMENT]

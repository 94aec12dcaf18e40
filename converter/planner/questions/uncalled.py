"""Finds code in functions that no run of the script calls."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_uncalled(facts: Facts, node: ast.AST) -> bool:
    """True if the function around a node is called nowhere, and mentioned only in functions of which this is true.

    A name that is the function's, as an attribute or as a text too, counts as a mention: code that is not followed may
    look it up.
    """
    return _is_uncalled(facts, node, frozenset())


def _is_uncalled(facts: Facts, node: ast.AST, asked: frozenset[ast.AST]) -> bool:
    function = _function_around(facts, node)
    if function is None or function in facts.called:
        return False
    if function in asked:
        return True
    asked |= {function}
    return all(_is_uncalled(facts, other, asked) for other in _mentions(facts, function.name))


def _function_around(facts: Facts, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    above = facts.parents.get(node)
    while above is not None and not isinstance(above, FUNCTIONS):
        above = facts.parents.get(above)
    return above


def _mentions(facts: Facts, name: str) -> list[ast.AST]:
    found: list[ast.AST] = [node for node in facts.nodes(ast.Name) if node.id == name]
    found += [node for node in facts.nodes(ast.Attribute) if node.attr == name]
    found += [node for node in facts.nodes(ast.Constant) if node.value == name]
    return found + [node for node in facts.nodes(ast.alias) if node.asname and node.name == name]

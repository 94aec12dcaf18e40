"""Objects of several classes of the script, of which only a run can tell which: each class has its own methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.values import Bound, Class, Function, Instance

# Methods of lists, dicts and sets that change them.
CHANGES = frozenset(
    ["append", "extend", "insert", "update", "add", "setdefault", "pop", "popitem", "remove", "discard", "clear"]
)


def methods_of_each(instance: Instance, name: str, options: tuple[Instance, ...]) -> list[Bound]:
    """A method as each of the classes has it, none for those without it; options: those that it may be one of.

    A method that changes its object is called on the one that stands for all of them: it holds what any of them holds
    after the call. One that only reads is called on the object of its own class.
    """
    found = [(each, each.cls.find(name)) for each in options if each.cls is not None]
    methods = [(each, function) for each, function in found if isinstance(function, Function)]
    receivers = [(each if only_reads(each.cls, f) else instance, f) for each, f in methods if each.cls is not None]
    return [Bound(receiver, name, function) for receiver, function in dict.fromkeys(receivers)]


def only_reads(cls: Class, method: Function, within: frozenset[Function] = frozenset()) -> bool:
    """True if a method, and the methods of its object that it mentions, set nothing and give the object to nobody."""
    arguments = method.node.args
    first = next((a.arg for a in (*arguments.posonlyargs, *arguments.args)), None)
    if first is None or method in within:
        return first is not None
    nodes = [*ast.walk(method.node)]
    if _is_handed_on(nodes, first) or any(_changes(node, first) for node in nodes):
        return False
    return all(only_reads(cls, other, within | {method}) for other in _mentioned(cls, nodes, first))


def _is_handed_on(nodes: list[ast.AST], first: str) -> bool:
    """Whether a method mentions its object other than for one of its attributes: `f(self)`, `super().build()`."""
    asked = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    return any(_is_name(node, "super") or (_is_name(node, first) and node not in asked) for node in nodes)


def _changes(node: ast.AST, first: str) -> bool:
    """Whether an expression sets a part of the object, or calls what changes a list or dict that it holds."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES and _root(node.func.value) == first
    stored = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
    return stored and _root(node) == first


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _root(node: ast.AST) -> str | None:
    """The name that a chain of attributes and items begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _mentioned(cls: Class, nodes: list[ast.AST], first: str) -> Iterator[Function]:
    for node in nodes:
        if isinstance(node, ast.Attribute) and _is_name(node.value, first):
            found = cls.find(node.attr)
            if isinstance(found, Function):
                yield found

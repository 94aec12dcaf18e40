"""The nodes of a syntax tree by their kinds and parents."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

# Fields that hold no nodes, or only those that say how a node is used: contexts and operators.
PLAIN = {"id", "attr", "arg", "asname", "module", "level", "kind", "type_comment", "ctx", "conversion", "simple"}
PLAIN |= {"is_async", "op", "ops"}
_fields: dict[type[ast.AST], tuple[str, ...]] = {}  # those of a kind that may hold others


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, without contexts and operators: in half the time of `ast.iter_child_nodes`."""
    kind = node.__class__
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(name for name in kind._fields if name not in PLAIN)
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def below(tree: ast.AST) -> list[ast.AST]:
    """A tree and all nodes in it that `children` gives, level by level, as `ast.walk` does."""
    found = [tree]
    for node in found:
        found += children(node)
    return found


class Nodes:
    """The nodes of a syntax tree that `children` gives, collected once, by kind.

    parents: for each node except the module, its parent. depth: the number of levels of the tree.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self._by_kind: dict[type, list[ast.AST]] = defaultdict(list)
        self.depth = 0
        level: list[ast.AST] = [tree]
        while level:
            self.depth += 1
            next_level: list[ast.AST] = []
            for node in level:
                self._by_kind[type(node)].append(node)
                inner = children(node)
                for child in inner:
                    self.parents[child] = node
                next_level += inner
            level = next_level

    def of(self, kind: type[Node]) -> Iterator[Node]:
        """Those of a kind, from the top down."""
        return cast("Iterator[Node]", iter(self._by_kind.get(kind, ())))

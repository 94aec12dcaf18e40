"""The nodes of a syntax tree by their kinds and parents."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)


class Nodes:
    """The nodes of a syntax tree, collected once, by kind.

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
            below: list[ast.AST] = []
            for node in level:
                self._by_kind[type(node)].append(node)
                children = list(ast.iter_child_nodes(node))
                self.parents.update(dict.fromkeys(children, node))
                below += children
            level = below

    def of(self, kind: type[Node]) -> Iterator[Node]:
        """Those of a kind, from the top down."""
        return cast("Iterator[Node]", iter(self._by_kind.get(kind, ())))

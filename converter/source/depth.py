"""How many levels a syntax tree has."""

from __future__ import annotations

import ast


def depth_of(node: ast.AST) -> int:
    """The levels of a tree."""
    depth, level = 0, [node]
    while level:
        depth, level = depth + 1, [child for one in level for child in ast.iter_child_nodes(one)]
    return depth

"""The nodes of a tree by their kinds, and what each is a part of."""

from __future__ import annotations

import ast

from converter.analysis.nodes import Nodes


def test_nodes_of_a_kind_from_the_top_down() -> None:
    nodes = Nodes(ast.parse("f(g(1))\nh()"))
    assert [ast.unparse(call.func) for call in nodes.of(ast.Call)] == ["f", "h", "g"]
    assert list(nodes.of(ast.Lambda)) == []


def test_parents() -> None:
    tree = ast.parse("x = f(1)")
    nodes = Nodes(tree)
    (call,) = nodes.of(ast.Call)
    assert nodes.parents[call] is tree.body[0]
    assert tree not in nodes.parents
    assert nodes.depth == 4  # the module, the assignment, the call, its function and argument

"""Calls that are to be read as if they stood on lines of their own, in front of their statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import Tensor
from converter.dataclass import dataclass
from converter.planner.region.block import Block

# In these, a part is evaluated once, before the statement does anything else but evaluate other parts.
PASSES = (ast.BinOp, ast.UnaryOp, ast.Call, ast.keyword, ast.Tuple, ast.List, ast.Attribute, ast.Subscript)
STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.AnnAssign)


@dataclass(frozen=True)
class Named:
    """A call that is given a name: its statement, which stands alone on its lines, and the call."""

    stmt: ast.stmt
    call: ast.Call
    name: str


@dataclass(frozen=True)
class CallsOnOwnLines:
    """Asks for another reading, of a text in which calls of the script stand on lines of their own."""

    calls: tuple[Named, ...]


def expressions_apart(
    facts: Facts, block: Block, layers: list[Tensor], mixed: set[int], early: set[int]
) -> list[Named]:
    """The calls in statements that compute results for each example; none where a layer is in no such call."""
    found: list[Named] = []
    for index in sorted(mixed):
        stmt = block.body[index]
        if not isinstance(stmt, STATEMENTS):
            return []
        calls = [call for call in _calls(stmt) if _is_result(facts, block, call, early)]
        outermost = [c for c in calls if not any(c is not o and c in set(ast.walk(o)) for o in calls)]
        mine = [layer for layer in layers if block.statement(layer.site) == index]
        within = [call for call in outermost if any(_made_in(block, layer, call) for layer in mine)]
        if not all(any(_made_in(block, layer, call) for call in within) for layer in mine):
            return []
        found += [Named(stmt, call, _name(call)) for call in within]
    return found


def _calls(stmt: ast.stmt) -> Iterator[ast.Call]:
    """The calls that a statement always makes, in the order in which they are made."""
    value = getattr(stmt, "value", None)
    if not isinstance(value, ast.expr):
        return
    todo: list[ast.AST] = [value]
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Call):
            yield node
        if isinstance(node, PASSES):
            todo = [*ast.iter_child_nodes(node), *todo]


def _is_result(facts: Facts, block: Block, call: ast.Call, early: set[int]) -> bool:
    value = facts.results.get((block.frame.uid, call))
    return isinstance(value, Tensor) and value.uid in early and value.batch.kind == "example" and not is_sparse(value)


def _made_in(block: Block, value: Tensor, call: ast.Call) -> bool:
    """Whether a call of the block's statement makes a tensor, itself or in functions of the script."""
    nodes = set(ast.walk(call))
    if value.node in nodes:
        return True
    site = value.site
    while site is not None and site.frame is not block.frame:
        if site.frame.call in nodes:
            return True
        site = site.parent
    return False


def _name(call: ast.Call) -> str:
    """A name for the result: the function's, and what it is called with."""
    function = getattr(call.func, "attr", getattr(call.func, "id", "")) or "result"
    first = call.args[0] if call.args else None
    of = getattr(first, "attr", getattr(first, "id", ""))
    return f"{function}_of_{of}" if of else f"{function}_result"

"""Blocks of statements, and the statements that lead to a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.values import Site

LOGS = ("print", "pprint", "info", "debug", "warning", "warn", "error", "log")  # that show what they are given
IS_RUN = "__name__ == '__main__'"
Step = tuple[int, ast.stmt]  # a frame's uid and a statement executed in it


def path(site: Site | None) -> tuple[Step, ...]:
    """The statements that lead to a site, outermost first."""
    if site is None:
        return ()
    return tuple(reversed([(s.frame.uid, s.stmt) for s in site.chain()]))


def parents_of(facts: Facts, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, from the inside out."""
    while (above := facts.parents.get(node)) is not None:
        yield above
        node = above


def blocks(tree: ast.Module) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Every block of statements in a file, with the node that holds it; expressions are not looked into."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                todo += block
                yield node, block


def suites(*trees: ast.Module) -> dict[ast.stmt, list[ast.stmt]]:
    """For each statement, the block that it stands in."""
    found: dict[ast.stmt, list[ast.stmt]] = {}
    for tree in trees:
        for _, block in blocks(tree):
            if isinstance(block[0], ast.stmt):
                found.update(dict.fromkeys(block, block))
    return found


def returns(stmt: ast.stmt) -> bool:
    """Whether a statement may end the function that it stands in, other than by an error."""
    return any(True for _ in returned_by(stmt))


def returned_by(stmt: ast.stmt) -> Iterator[ast.Return]:
    """The return statements in a statement that end the function that it stands in."""
    todo: list[ast.AST] = [stmt]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)


def is_text(stmt: ast.stmt) -> bool:
    """True for a constant that stands as a statement: a docstring, or a string that serves as a comment."""
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def called(call: ast.Call) -> str:
    """The last part of the name of the called function: `dense` for `tf.layers.dense(x)`."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def uncalled_around(site: Site) -> ast.stmt | None:
    """The function or class that nothing calls, in which something stands; None where it is executed."""
    outermost = list(site.chain())[-1].stmt
    return outermost if isinstance(outermost, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None


def is_executed(site: Site) -> bool:
    """True if the script itself runs the code of a place, and does not only define it for others."""
    return uncalled_around(site) is None


def runs_alone(facts: Facts, node: ast.AST) -> bool:
    """True for what a file that is imported does only where it is run itself: `if __name__ == '__main__':`."""
    inner = node
    for around in parents_of(facts, node) if facts.path_of(node) else ():
        if isinstance(around, ast.If) and inner in around.body and ast.unparse(around.test) == IS_RUN:
            return True
        inner = around
    return False

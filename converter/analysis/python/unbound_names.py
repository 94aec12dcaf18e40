"""Names that no statement binds: a branch that reads one ends there with a NameError.

Where an `if` with two branches makes `net` a Large or a Small, and nothing imports Large any more, `net` is a Small
behind it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from converter.analysis.nodes import below

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

# What Python 2, notebooks and profilers have beside the builtins of Python 3.
OTHERS = """
apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr unicode xrange WindowsError
display get_ipython profile __file__ __path__
"""
NAMES = {*dir(builtins), *OTHERS.split()}
NAMING = ("name", "arg", "rest")  # the fields of other nodes that bind a name
BINDS_UNSEEN = ("exec", "execfile", "globals", "vars")  # they may bind names that the text does not spell


def ends_with_name_error(walk: Walk, branch: list[ast.stmt]) -> bool:
    """True if a branch assigns or calls what a name stands for that nothing binds, and no statement leaves before."""
    for stmt in branch:
        if not isinstance(stmt, (ast.Assign, ast.Expr)):
            return False
        read: ast.expr = stmt.value
        while isinstance(read, (ast.Attribute, ast.Call)):
            read = read.value if isinstance(read, ast.Attribute) else read.func
        if isinstance(read, ast.Name) and _is_unbound(walk, read.id):
            return True
    return False


def _is_unbound(walk: Walk, name: str) -> bool:
    """True if no statement of the module binds a name, by whatever way the text shows."""
    tree = walk.frame.module.node
    if name in NAMES or name in walk.defined or walk.frame.lookup(name) is not None or not isinstance(tree, ast.Module):
        return False
    bound = _bound_in(tree)
    return name not in bound and "*" not in bound


@lru_cache(maxsize=8)
def _bound_in(tree: ast.Module) -> frozenset[str]:
    return frozenset(_binding(tree))


def _binding(tree: ast.Module) -> Iterator[str]:
    """The names that a module binds or mentions as names of others; "*" where some are not spelled in its text."""
    for node in below(tree):
        if isinstance(node, ast.Name):
            yield from (("*",) if node.id in BINDS_UNSEEN else (node.id,) if isinstance(node.ctx, ast.Store) else ())
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        else:  # of a function, a class, an exception, a parameter, a pattern
            yield from (name for field in NAMING if isinstance(name := getattr(node, field, None), str))

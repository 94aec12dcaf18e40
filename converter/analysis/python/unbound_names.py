"""Names that no statement binds, and modules that are not there: a branch that reads one ends there with an error.

Where an `if` with two branches makes `net` a Large or a Small, and nothing imports Large any more, `net` is a Small
behind it.
"""

from __future__ import annotations

import ast
import builtins
import os
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
MODULES = "modules"  # `setattr(sys.modules[__name__], name, value)` does so, too
UNSEEN = "*"  # stands for the names that are bound so
# What modules of a package are built from, or are when they are built, so that a checkout may lack one.
SOURCES = frozenset((".c", ".cc", ".cpp", ".cu", ".proto", ".pyd", ".pyx", ".so"))


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


def ends_with_import_error(walk: Walk, branch: list[ast.stmt]) -> bool:
    """True if a branch imports a module that its own package does not have, and no statement leaves before."""
    for stmt in branch:
        if isinstance(stmt, ast.ImportFrom) and not stmt.level and _is_missing(walk, stmt, stmt.module or ""):
            return True
        if not isinstance(stmt, (ast.Assign, ast.Expr, ast.Import, ast.ImportFrom)):
            return False
    return False


def _is_missing(walk: Walk, stmt: ast.ImportFrom, module: str) -> bool:
    """True if a folder beside the script has modules of a package, and none of this name.

    Not where it holds what modules are built from, as Cython's or a protocol's, nor for the name of such a module.
    """
    package, _, last = module.rpartition(".")
    beside = walk.facts.foreign.get(stmt) or os.path.abspath(walk.facts.path)
    if not package or walk.project.where(module, beside, 0) is not None:
        return False
    folder = os.path.join(walk.project.folder, *package.split("."))
    held = [os.path.splitext(name) for name in (os.listdir(folder) if os.path.isdir(folder) else [])]
    built = last.endswith("_pb2") or not {kind for _, kind in held}.isdisjoint(SOURCES)
    return any(kind == ".py" for _, kind in held) and not built and not any(name == last for name, _ in held)


def _is_unbound(walk: Walk, name: str) -> bool:
    """True if no statement of the module binds a name, by whatever way the text shows."""
    tree = walk.frame.module.node
    if name in NAMES or name in walk.defined or walk.frame.lookup(name) is not None or not isinstance(tree, ast.Module):
        return False
    return not _may_bind(walk, tree, name, set())


def _may_bind(walk: Walk, tree: ast.Module, name: str, seen: set[ast.Module]) -> bool:
    """True if a statement of a module, or of one whose names it imports with a star, may bind a name.

    A module that is not followed may bring any name; seen: those that have been looked at.
    """
    seen.add(tree)
    bound = _bound_in(tree)
    if name in bound or UNSEEN in bound:
        return True
    for stmt in _stars_in(tree):
        beside = walk.facts.foreign.get(stmt) or os.path.abspath(walk.facts.path)
        found = walk.project.where(stmt.module or "", beside, stmt.level)
        module = walk.facts.modules.get(found.path) if found is not None else None
        if module is None or (module.tree not in seen and _may_bind(walk, module.tree, name, seen)):
            return True
    return False


@lru_cache(maxsize=8)
def _stars_in(tree: ast.Module) -> tuple[ast.ImportFrom, ...]:
    """The imports of a module that have a star."""
    imports = (node for node in below(tree) if isinstance(node, ast.ImportFrom))
    return tuple(node for node in imports if any(alias.name == UNSEEN for alias in node.names))


@lru_cache(maxsize=8)
def _bound_in(tree: ast.Module) -> frozenset[str]:
    return frozenset(_binding(tree))


def _binding(tree: ast.Module) -> Iterator[str]:
    """The names that a module binds or mentions as names of others; UNSEEN where some are not spelled in its text.

    Those that an import with a star brings are not among them.
    """
    for node in below(tree):
        if isinstance(node, ast.Name):
            yield from ((UNSEEN,) if node.id in BINDS_UNSEEN else (node.id,) if isinstance(node.ctx, ast.Store) else ())
        elif isinstance(node, ast.Attribute):
            yield from (UNSEEN,) if node.attr == MODULES else ()
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names if alias.name != UNSEEN)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        elif not isinstance(node, ast.alias):  # of a function, a class, an exception, a parameter, a pattern
            yield from (name for field in NAMING if isinstance(name := getattr(node, field, None), str))

"""Syntax trees of the project's own files, read once by all tests that look at them; nobody changes them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), str(path))


@cache
def nodes_of(path: Path) -> Sequence[ast.AST]:
    """All nodes of a file, as `ast.walk` gives them."""
    return tuple(ast.walk(tree_of(path)))

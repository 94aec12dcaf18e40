"""Files of the project that stay as they are and read a batch size that grows: the data may be cut there."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence

from converter.analysis.facts import Facts
from converter.analysis.values import Number
from converter.conversion.reading import Reading
from converter.plan import Plan
from converter.plan.decisions import BATCH_SIZE, File, Unchanged


def unchanged_files(read: Reading, plans: Sequence[Plan]) -> list[Unchanged]:
    """The files that no plan changes, and where they read a batch size that grows."""
    facts = read.facts
    edits = [edit.at for plan in plans for edit in plan.replaces if edit.why == BATCH_SIZE]
    grown = {(at.path, at.line, at.column) for at in edits}
    others = set(facts.modules) - {plan.path for plan in plans} if grown else set()
    reads = [(a.node, a.value) for a in facts.accesses if isinstance(a.value, Number) and not a.write] if others else []
    origins = {o for node, number in reads for o in number.linear if not grown.isdisjoint(_places(facts, node, o.node))}
    found: dict[str, set[tuple[int, int]]] = {}
    for node, number in reads:
        path, line, column = _place(facts, node)
        if path in others and not origins.isdisjoint(number.linear):
            found.setdefault(path, set()).add((line, column))
    return [
        Unchanged(File(os.path.basename(path), read.file(path).text, facts.tree_of(path)), places)
        for path, places in found.items()
    ]


def _places(facts: Facts, *nodes: ast.AST) -> set[tuple[str, int, int]]:
    return {_place(facts, node) for node in nodes}


def _place(facts: Facts, node: ast.AST) -> tuple[str, int, int]:
    """The file, the line and the column of an expression."""
    return facts.path_of(node), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

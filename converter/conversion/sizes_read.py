"""The files of a conversion for its decisions, and where they read a batch size that grows."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence

from converter.analysis.facts import Facts
from converter.analysis.values import Number
from converter.conversion.reading import Reading
from converter.plan import Plan
from converter.plan.decisions import BATCH_SIZE, File


def files_of(read: Reading, plans: Sequence[Plan]) -> dict[str, File]:
    """The files that plans change, by their paths; then those that read a batch size too: the data may be cut there."""
    facts = read.facts
    edits = [edit.at for plan in plans for edit in plan.replaces if edit.why == BATCH_SIZE]
    grown = {(at.path, at.line, at.column) for at in edits}
    reads = [(a.node, a.value) for a in facts.accesses if isinstance(a.value, Number) and not a.write] if grown else []
    origins = {
        o
        for node, number in reads
        for option in _options(number)
        for o in option.linear
        if not grown.isdisjoint(_places(facts, node, o.node))
    }
    found: dict[str, set[tuple[int, int]]] = {plan.path: set() for plan in plans}
    for node, number in reads:
        path, line, column = _place(facts, node)
        grows = all(not origins.isdisjoint(option.linear) for option in _options(number))
        if grows and (path in found or path in facts.modules):
            found.setdefault(path, set()).add((line, column))
    return {
        path: File(os.path.basename(read.file(path).path), read.file(path).text, facts.tree_of(path), frozenset(places))
        for path, places in found.items()
    }


def _options(number: Number) -> list[Number]:
    """The numbers that a number may be: several where only a run tells which of two settings it is."""
    return [option for option in number.options() if isinstance(option, Number)] or [number]


def _places(facts: Facts, *nodes: ast.AST) -> set[tuple[str, int, int]]:
    return {_place(facts, node) for node in nodes}


def _place(facts: Facts, node: ast.AST) -> tuple[str, int, int]:
    """The file, the line and the column of an expression."""
    return facts.path_of(node), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

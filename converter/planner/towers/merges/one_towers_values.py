"""Attributes that hold the last tower's value after the loop and may be read by code that is not followed."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Input, Tensor
from converter.diagnostics import Diagnostic
from converter.planner.plan_faults import PlanFault
from converter.planner.region.region import Region
from converter.planner.towers.merges.wanted import Wanted, is_mergeable
from converter.planner.wording import finding
from converter.planner.writing.spelling import spelling


def warn_of_one_towers_values(
    facts: Facts, region: Region, wanted: Wanted, unread: Container[str], steps: list[TrainStep]
) -> Iterator[Diagnostic]:
    """Warn of each such attribute. If followed code reads one, it has already been refused (TMG210)."""
    losses = {step.loss.uid for step in steps}
    followed = facts.accesses_by_node
    loads = (n for n in facts.nodes(ast.Attribute) if isinstance(n.ctx, ast.Load))
    readers: dict[str, list[ast.Attribute]] = {}
    for node in loads:
        if node not in followed:
            readers.setdefault(node.attr, []).append(node)
    for access in region.writes:
        value = access.value
        kept = access.place.kind == "attr" and access.place.key in readers
        if not kept or not isinstance(value, Tensor) or isinstance(value, Input) or value.uid in losses:
            continue
        text = spelling(region.block.frame, access.place)
        if text is None or text in wanted or text in unread:
            continue
        if value.batch.kind != "free" and region.in_tower(value.site) and not is_mergeable(value):
            reader = next((n for n in readers.pop(access.place.key) if not _is_switched_off(facts, n)), None)
            if reader is not None:
                path, line = facts.shown(reader), reader.lineno
                yield finding(facts, access.node, PlanFault.LAST_TOWERS_VALUE, name=text, path=path, line=line)


def _is_switched_off(facts: Facts, node: ast.AST) -> bool:
    """Whether code stands in a branch that no run takes, as its condition is written out: `if False:`."""
    while (parent := facts.parents.get(node)) is not None:
        if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and node is not parent.test:
            known = _written_truth(parent.test)
            otherwise = node is parent.orelse or (isinstance(parent.orelse, list) and node in parent.orelse)
            if known is not None and known is otherwise:
                return True
        node = parent
    return False


def _written_truth(test: ast.expr) -> bool | None:
    """The truth of a condition that does not depend on anything, None for others."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        known = _written_truth(test.operand)
        return None if known is None else not known
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)  # one such part decides, whatever the others are
        parts = [_written_truth(part) for part in test.values]
        return decides if decides in parts else None if None in parts else not decides
    return None

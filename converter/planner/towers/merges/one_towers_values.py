"""Attributes that hold the last tower's value after the loop and may be read by code that is not followed."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Input, Tensor
from converter.diagnostics import Diagnostic
from converter.planner.found import Found
from converter.planner.region.region import Region
from converter.planner.towers.merges.wanted import Wanted, is_mergeable
from converter.planner.wording import finding
from converter.planner.writing.spelling import spelling


def warn_of_one_towers_values(
    facts: Facts, region: Region, wanted: Wanted, unread: Container[str], steps: list[TrainStep]
) -> Iterator[Diagnostic]:
    """Warn of each such attribute. If followed code reads one, it has already been refused (TMG210)."""
    losses = {step.loss.uid for step in steps}
    followed = {access.node for access in facts.accesses}
    loads = (n for n in facts.nodes(ast.Attribute) if isinstance(n.ctx, ast.Load))
    readers: dict[str, ast.Attribute] = {}
    for node in loads:
        if node not in followed:
            readers.setdefault(node.attr, node)
    for index, access in region.block.accesses():
        value = access.value
        kept = index in region.tower and access.write and access.place.kind == "attr" and access.place.key in readers
        if not kept or not isinstance(value, Tensor) or isinstance(value, Input) or value.uid in losses:
            continue
        text = spelling(region.block.frame, access.place)
        if text is None or text in wanted or text in unread:
            continue
        if value.batch.kind != "free" and region.in_tower(value.site) and not is_mergeable(value):
            reader = readers.pop(access.place.key)
            yield finding(
                facts, access.node, Found.LAST_TOWERS_VALUE, name=text, path=facts.shown(reader), line=reader.lineno
            )

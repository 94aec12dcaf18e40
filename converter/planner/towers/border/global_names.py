"""Names of the module that a function's loop binds: they are declared global."""

from __future__ import annotations

from dataclasses import replace

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.plan import Insert
from converter.planner.found import Found
from converter.planner.region.region import Region
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.source_text import Text
from converter.source.syntax import first_statement


def declare(facts: Facts, region: Region, traffic: Traffic, access: Access, text: str) -> Traffic:
    """Add a name of the module to those that the loop's function declares global, if the loop binds it."""
    if access.place.kind != "name" or access.place.frame is region.block.frame or "." in text:
        return traffic
    if access.place.frame is not region.block.frame.module:
        raise refuse(facts, access.node, Found.NAME_OF_OUTER_FUNCTION, name=text)
    if text in region.block.frame.globals or text in traffic.globals:
        return traffic
    return replace(traffic, globals=(*traffic.globals, text))


def declarations(region: Region, traffic: Traffic, text: Text) -> list[Insert]:
    """`global` statements at the top of the loop's function."""
    if not traffic.globals:
        return []
    first = first_statement(region.block.frame.node)
    return [Insert(text.anchor(first), (f"global {', '.join(traffic.globals)}",), "top", "TMG103")]

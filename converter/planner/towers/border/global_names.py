"""Names of modules that the loop binds: those of its own are declared global, those of others need the module."""

from __future__ import annotations

import ast
import os
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


def with_module(facts: Facts, region: Region, traffic: Traffic, access: Access) -> tuple[str | None, Traffic]:
    """The expression for a name of another module that the loop's file imports names from; None for any other place.

    After `from layers import bn` a loop that sets back `layers.count` needs the module itself.
    """
    place, own = access.place, region.block.frame.module
    path = next((path for path, module in facts.modules.items() if module.frame is place.frame), None)
    if place.kind != "name" or path is None:
        return None, traffic
    for stmt in own.node.body if isinstance(own.node, ast.Module) else ():
        if not isinstance(stmt, ast.ImportFrom) or stmt.level or not stmt.module:
            continue
        if facts.project.find(stmt.module, os.path.abspath(facts.path_of(stmt) or facts.path), 0) != path:
            continue
        if stmt not in traffic.modules:
            name, traffic = traffic.fresh(stmt.module.rpartition(".")[2])
            traffic = replace(traffic, modules={**traffic.modules, stmt: (stmt.module, name)})
        return f"{traffic.modules[stmt][1]}.{place.key}", traffic
    return None, traffic


def declarations(region: Region, traffic: Traffic, text: Text) -> list[Insert]:
    """`global` statements at the top of the loop's function, and imports of modules beside those of their names."""
    found = [
        Insert(text.anchor(stmt), (f"import {module}" + (f" as {name}" if name != module else ""),), "before", "TMG131")
        for stmt, (module, name) in traffic.modules.items()
    ]
    if traffic.globals:
        first = first_statement(region.block.frame.node)
        found.append(Insert(text.anchor(first), (f"global {', '.join(traffic.globals)}",), "top", "TMG103"))
    return found

"""Names of modules that the loop binds: those of its own are declared global, those of others need the module."""

from __future__ import annotations

import ast
import os
from dataclasses import replace

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Frame, Value
from converter.plan import Insert
from converter.planner.plan_faults import PlanFault
from converter.planner.region.region import Region
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.source_text import SourceText
from converter.source.syntax import first_statement


def declare(facts: Facts, region: Region, traffic: Traffic, access: Access, text: str) -> Traffic:
    """Declare a module-level name `global` in the loop's function, if the loop binds it."""
    if access.place.kind != "name" or access.place.frame is region.block.frame or "." in text:
        return traffic
    if access.place.frame is not region.block.frame.module:
        raise refuse(facts, access.node, PlanFault.NAME_OF_OUTER_FUNCTION, name=text)
    if text in region.block.frame.globals or text in traffic.globals:
        return traffic
    return replace(traffic, globals=(*traffic.globals, text))


def with_module(facts: Facts, region: Region, traffic: Traffic, access: Access) -> tuple[str | None, Traffic]:
    """The expression for a name of another module that the loop's file imports names from; None for any other place.

    After `from layers import bn` a loop that sets back `layers.count` needs the module itself.
    """
    place = access.place
    path = path_of_module(facts, place.frame) if place.kind == "name" else None
    return (None, traffic) if path is None else _of_module(facts, region, traffic, path, place.key)


def with_holder(facts: Facts, region: Region, traffic: Traffic, value: Value) -> tuple[str | None, Traffic]:
    """The same for a list or dict that a name of another module stands for: `layers.counts`."""
    held = name_in_module(facts, value)
    return (None, traffic) if held is None else _of_module(facts, region, traffic, *held)


def path_of_module(facts: Facts, frame: Frame | None) -> str | None:
    """The file of another module whose names a frame holds."""
    return next((path for path, module in facts.modules.items() if module.frame is frame), None)


def name_in_module(facts: Facts, value: Value) -> tuple[str, str] | None:
    """The file of another module in which a name stands for an object, and the name."""
    names = ((path, name, held) for path, m in facts.modules.items() for name, held in m.frame.locals.items())
    return next(((path, name) for path, name, held in names if held is value), None)


def _of_module(facts: Facts, region: Region, traffic: Traffic, path: str, key: str) -> tuple[str | None, Traffic]:
    own = region.block.frame.module
    body = own.node.body if isinstance(own.node, ast.Module) else []
    here = os.path.abspath(facts.path_of(body[0]) or facts.path) if body else ""
    for stmt in body:
        if not isinstance(stmt, ast.ImportFrom) or stmt.level or not stmt.module:
            continue
        if facts.project.find(stmt.module, here, 0) != path:
            continue
        if stmt not in traffic.modules:
            name, traffic = traffic.fresh(stmt.module.rpartition(".")[2])
            traffic = replace(traffic, modules={**traffic.modules, stmt: (stmt.module, name)})
        return f"{traffic.modules[stmt][1]}.{key}", traffic
    return None, traffic


def declarations(region: Region, traffic: Traffic, text: SourceText) -> list[Insert]:
    """`global` statements at the top of the loop's function, and imports of modules beside those of their names."""
    found = [
        Insert(text.anchor(stmt), (f"import {module}" + (f" as {name}" if name != module else ""),), "before", "TMG131")
        for stmt, (module, name) in traffic.modules.items()
    ]
    if traffic.globals:
        first = first_statement(region.block.frame.node)
        found.append(Insert(text.anchor(first), (f"global {', '.join(traffic.globals)}",), "top", "TMG103"))
    return found

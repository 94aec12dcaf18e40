"""Values that the towers change and read again: each tower begins with the value from before the loop."""

from __future__ import annotations

import ast
import os

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Absent, Host, Input, Instance, Mapping, Sequence, Value, is_none
from converter.diagnostics import Diagnostic
from converter.plan.border import Border, Remove, Reset
from converter.planner.outcome import Faults, noted
from converter.planner.plan_faults import PlanFault
from converter.planner.region.block import IN_FRONT
from converter.planner.region.changed_between_towers import (
    arrays_before,
    carried,
    cells_copied,
    generators_read,
    iterators_read,
)
from converter.planner.region.containers import changed_by, is_set_back, is_unfollowed
from converter.planner.region.region import Region
from converter.planner.towers.border.global_names import (
    declare,
    name_in_module,
    path_of_module,
    with_holder,
    with_module,
)
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import finding, refuse
from converter.planner.writing.spelling import leaf, reach, spelling

ADDS = ("append", "extend", "update", "setdefault", "+=")


def begin_anew(site: LoopSite, before: Traffic) -> Traffic:
    """Add resets of names, attributes, lists and dicts that one tower would pass on to the next; raises Faults."""
    traffic, facts, region = before, site.facts, site.region
    found: list[Diagnostic] = []
    places = {*_cut_places(traffic), *traffic.border.rebound}
    for access in carried(region.block, region.tower):
        with noted(found):
            traffic = _reset_place(site, traffic, access, places)
    for access in iterators_read(region.block, region.tower):
        with noted(found):
            traffic = _reset_iterator(site, traffic, access)
    for access in generators_read(region.block, region.tower):
        found.append(finding(facts, access.node, PlanFault.GENERATOR_READ, name=access.place.key))
    for cell, name in cells_copied(region.block, region.tower):
        if not region.in_tower(cell.site):
            found.append(finding(facts, site.made_at(cell), PlanFault.CELL_COPIED, name=name))
    for access in arrays_before(region.block, region.tower):
        found.append(finding(facts, access.node, PlanFault.ARRAY_BEFORE_TOWERS, name=access.place.key))
    kept = set[int]()  # lists and dicts that were looked at without a fault: a second look would find no more
    for effect in facts.effects:
        grown = changed_by(effect) if region.in_tower(effect.site) else None
        if grown is not None and grown.uid in kept:
            continue
        with noted(found):
            if isinstance(grown, (Sequence, Mapping)) or (grown is not None and is_unfollowed(grown)):
                traffic = _reset_container(site, traffic, grown, effect.node)
                kept.add(grown.uid)
            elif isinstance(grown, Input) and effect.name == "Input.pop":
                raise _unreachable(facts, effect.node, grown.label or "a batch")
    if found:
        raise Faults(found)
    return traffic


def _reset_place(site: LoopSite, traffic: Traffic, access: Access, places: set[str]) -> Traffic:
    facts, region = site.facts, site.region
    holder = access.place.holder
    if access.place.kind == "item" and isinstance(holder, (Mapping, Sequence)):
        return _reset_container(site, traffic, holder, access.node)
    if isinstance(access.value, Sequence) and access.value.mutable and not _is_bound_anew(facts, region, access):
        return _reset_container(site, traffic, access.value, access.node)
    text = spelling(region.block.frame, access.place)
    if text is None:
        text, traffic = with_module(facts, region, traffic, access)
    if text is None:
        path = path_of_module(facts, access.place.frame) if access.place.kind == "name" else None
        if path is not None:
            raise _module_unreachable(facts, region, access.node, path, access.place.key)
        raise _unreachable(facts, access.node, access.place.key)
    if text in places:
        return traffic
    if isinstance(access.value, Absent):
        return traffic.plus(Border(bound=(Remove(text),)))
    early = _is_bound_by_its_reader(region, access)
    source = _source_of_one_kind(facts, access, text)
    if early and source:
        raise _unreachable(facts, access.node, access.place.key)
    first, traffic = declare(facts, region, traffic, access, text).fresh(f"first_{leaf(text)}")
    return traffic.plus(Border(bound=(Reset(text, first, "value", early, source),)))


def _source_of_one_kind(facts: Facts, access: Access, text: str) -> str:
    """For an attribute of an object that may be of another kind: an expression that is None there; else ""."""
    holder = access.place.holder
    if not isinstance(holder, Instance) or not holder.maybe_other or access.place.kind != "attr":
        return ""
    if _may_be_none(facts, access):
        raise _unreachable(facts, access.node, access.place.key)
    of, _, name = text.rpartition(".")
    return f"getattr({of}, {name!r}, None)"


def _may_be_none(facts: Facts, access: Access) -> bool:
    """Whether None may stand in a place in front of the towers."""
    before = [other.value for other in facts.writes_to(access.place) if other.time < access.time]
    return any(is_none(value) or isinstance(value, Host) for value in (*before, access.value))


def _is_bound_by_its_reader(region: Region, access: Access) -> bool:
    """Whether a `with` of which the loop leaves out statements reads a value in front and binds its name anew.

    It stands in front of the loop once and is opened again in each tower; a name keeps what it bound first.
    """
    left = [stmt for stmt, where in region.block.moved.items() if where == IN_FRONT]
    stmt = access.site.stmt
    if not left or not isinstance(stmt, ast.With) or not any(one in stmt.body for one in left):
        return False
    bound = [n for item in stmt.items if item.optional_vars is not None for n in ast.walk(item.optional_vars)]
    return any(isinstance(n, ast.Name) and n.id == access.place.key for n in bound)


def _reset_iterator(site: LoopSite, traffic: Traffic, access: Access) -> Traffic:
    """Give each tower an iterator of its own: the first tower would read the one made before the loop to its end."""
    text = spelling(site.region.block.frame, access.place)
    if text is None:
        raise refuse(site.facts, access.node, PlanFault.ITERATOR_READ, name=access.place.key)
    if _is_reset(traffic, text):
        return traffic
    first, traffic = declare(site.facts, site.region, traffic, access, text).fresh(f"first_{leaf(text)}")
    return traffic.plus(Border(bound=(Reset(text, first, "iterator"),)))


def _is_bound_anew(facts: Facts, region: Region, access: Access) -> bool:
    """Whether a name gets another list in the towers, and the list that it stood for stays as it was: `l = l + [x]`."""
    grown = any(e.value is access.value and region.in_tower(e.site) for e in facts.effects_of(EffectKind.MUTATION))
    return not grown and reach(region.block.frame, access.value) is None


def _reset_container(site: LoopSite, traffic: Traffic, value: Value, node: ast.AST) -> Traffic:
    facts, region = site.facts, site.region
    if value.uid in region.given:
        return traffic
    held = name_in_module(facts, value)  # by a module that is made once, wherever it is imported
    if (region.in_tower(value.site) and held is None) or value.time > region.end:
        return traffic
    text = reach(region.block.frame, value, but=_bound_by_towers(region, value))
    if text is None:
        text, traffic = with_holder(facts, region, traffic, value)
    if text is None and not any(facts.looks_into(value)):
        return traffic
    if text is None and held is not None:
        raise _module_unreachable(facts, region, node, *held)
    cut = any(place.startswith(f"{text}[") for place in _cut_places(traffic))
    if text is None or (cut and not _only_grows(region, value)) or (is_unfollowed(value) and not is_set_back(value)):
        raise _unreachable(facts, node, value.label or "a list or dict")
    if _is_reset(traffic, text):
        return traffic
    saved, traffic = traffic.fresh(f"first_{leaf(text)}")
    reset = Reset(text, saved, "list" if isinstance(value, Sequence) else "dict")
    return traffic.plus(Border(bound=(reset,)))


def _is_reset(traffic: Traffic, text: str) -> bool:
    return any(one.place == text for one in traffic.border.bound if isinstance(one, Reset | Remove))


def _cut_places(traffic: Traffic) -> list[str]:
    """What the towers read the inputs by that are cut."""
    return [one.place for cut in traffic.border.cuts for one in cut.inputs]


def _only_grows(region: Region, value: Value) -> bool:
    """Whether the towers add to a list or dict and put things into it, so that all stays where it was."""
    changes = (effect for effect in region.block.facts.changes_of(value) if region.in_tower(effect.site))
    return all(effect.name.rpartition(".")[2] in ADDS for effect in changes)


def _bound_by_towers(region: Region, value: Value) -> set[str]:
    """The names that only the towers bind to a list or dict from before them: `ends = self.ends`."""
    block = region.block
    bound = [
        a for a in block.facts.accesses_of(value) if a.write and a.place.kind == "name" and a.place.frame is block.frame
    ]
    writes = [(block.statement(a.site), a.place.key) for a in bound]
    before = {name for index, name in writes if index is not None and 0 <= index < min(region.tower)}
    return {name for index, name in writes if index in region.tower} - before


def _module_unreachable(facts: Facts, region: Region, node: ast.AST, path: str, name: str) -> Exception:
    """The refusal of a change to a name of another module, which the towers' file does not import."""
    folder = facts.project.folder
    inside = path.startswith(os.path.join(folder, ""))
    found = os.path.splitext(os.path.relpath(path, folder) if inside else os.path.basename(path))[0]
    return refuse(
        facts,
        node,
        PlanFault.MODULE_CHANGED_AND_READ_AGAIN,
        name=name,
        module=found.removesuffix(os.path.join("", "__init__")).replace(os.sep, "."),
        file=os.path.basename(facts.path_of(region.block.body[0]) or facts.path),
    )


def _unreachable(facts: Facts, node: ast.AST, name: str) -> Exception:
    return refuse(facts, node, PlanFault.CHANGED_AND_READ_AGAIN, name=name)

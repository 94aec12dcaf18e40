"""Lists of the variables created so far: if a tower creates more later, the next tower's list would hold those too."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.plan import Insert
from converter.planner.plan_faults import PlanFault
from converter.planner.region.incomplete_lists import listed_between
from converter.planner.region.region import Region
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.source_text import SourceText
from converter.planner.writing.spelling import leaf


def keep_first(
    facts: Facts, region: Region, traffic: Traffic, text: SourceText
) -> tuple[list[str], list[Insert], Traffic]:
    """All towers, and what follows them, use what the first tower computed from such a list.

    Returns the names of the lists that keep it, the lines that fill them, and the traffic with these names taken.
    """
    lists: list[str] = []
    inserts: list[Insert] = []
    done: set[ast.stmt] = set()
    for effect in listed_between(facts, region.block, set(region.tower)):
        stmt = effect.site.stmt
        if stmt in done or not region.in_tower(effect.site):
            continue
        done.add(stmt)
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        if not isinstance(target, (ast.Name, ast.Attribute)) or effect.site.frame is not region.block.frame:
            raise refuse(facts, effect.node, PlanFault.LISTS_VARIABLES_SO_FAR)
        place = ast.unparse(target)
        kept, traffic = traffic.fresh(f"tower_{leaf(place)}", f"towers_{leaf(place)}")
        lists.append(kept)
        lines = (f"{kept}.append({place})", f"{place} = {kept}[0]  # later towers find all variables made")
        inserts.append(Insert(text.anchor(stmt), lines, "after", "TMG131"))
    return lists, inserts, traffic

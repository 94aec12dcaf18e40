"""Lists of the variables made so far: if a tower makes more later, the next tower's list would hold those, too."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.plan import Replace
from converter.planner.region.incomplete_lists import listed_between
from converter.planner.region.region import Region
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

HELPER, LISTS = "of_first_tower", "FirstTowerLists"


def list_edits(facts: Facts, region: Region, text: SourceText) -> list[Replace]:
    """All towers, and what follows them, use what the first tower got where it asked for such a list."""
    listed = (effect for effect in listed_between(facts, region.block, set(region.tower)))
    calls = dict.fromkeys(effect.node for effect in listed if region.in_tower(effect.site))
    return [
        Replace(text.start(call), text.end(call), f"{called(HELPER)}({text.of(call)})", "TMG131")
        for call in calls
        if isinstance(call, ast.Call)
    ]

"""Functions that build the model in several ways: what one of the calls leaves out cannot be merged there."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.planner.merges.merging import Wanted
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse


def check_modes(facts: Facts, region: Region, wanted: Wanted) -> None:
    """Refuses what leaves the towers where another call of their function goes through them and does not make it."""
    block = region.block
    if any(isinstance(n, ast.Return) for s in block.body[: min(region.tower)] for n in ast.walk(s)):
        return  # another call may be over by then
    stmts = {block.body[i] for i in region.tower}
    calls: dict[int, set[str]] = {}  # what is bound by the towers of each other call
    for access in facts.accesses:
        for site in access.site.chain():
            if site.stmt in stmts and site.frame.uid != block.frame.uid and site.frame.node is block.frame.node:
                bound = calls.setdefault(site.frame.uid, set())
                if access.write:
                    bound.add(access.place.key)
    own = {a.place.key for i, a in block.accesses() if i in region.tower and a.write}
    for part, node in wanted.values():
        key = (part.root or part.text).rpartition(".")[2]
        if key in own and any(key not in bound for bound in calls.values()):
            raise refuse(facts, node, "TMG210",
                         f"{part.text} is made by one call of the function that builds the model, and not by another: "
                         "the towers of that one would miss it",
                         "build the model without its loss in a function of its own")  # fmt: skip

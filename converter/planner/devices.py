"""Devices that the model names itself: inside the towers they would win over the tower's."""

from __future__ import annotations

import ast
import re

from converter.analysis.facts import Facts
from converter.analysis.graph_names import pattern_of
from converter.diagnostics import Diagnostic
from converter.plan import Replace
from converter.planner.findings import warn
from converter.planner.region import Region
from converter.planner.text import Text

GPU = re.compile(r"gpu:(\d+|\*)", re.IGNORECASE)


def own_devices(facts: Facts, regions: list[Region], text: Text) -> tuple[list[Replace], list[Diagnostic]]:
    """GPUs give way to the tower's; what is computed as the script runs is left, and said."""
    replaces: dict[ast.AST, Replace] = {}
    warnings: dict[ast.AST, Diagnostic] = {}
    for effect in facts.effects:
        node = effect.node
        inside = any(region.in_any_tower(effect.site) for region in regions)
        if effect.kind != "device" or not isinstance(node, ast.Call) or not inside:
            continue
        named = [*node.args, *(k.value for k in node.keywords)][:1]
        chosen = not named or isinstance(named[0], (ast.IfExp, ast.BoolOp))
        if not chosen and (GPU.search(effect.name) or GPU.search(pattern_of(named[0]))):
            replaces[node] = Replace(text.start(named[0]), text.end(named[0]), "''", "TMG137")
        elif chosen or effect.name == "None":
            warnings[node] = warn(facts, node, "TMG314", "the device that is chosen here is the same for all towers",
                                  "leave it to the towers: tf.device('') keeps the device around it")  # fmt: skip
    return list(replaces.values()), list(warnings.values())

"""Devices that the model names itself: inside the towers they would win over the tower's."""

from __future__ import annotations

import ast
import re
from collections import Counter

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.inputs.graph_names import pattern_of
from converter.analysis.values import Function, Partial, Site, is_none
from converter.diagnostics import Diagnostic
from converter.plan import Replace
from converter.planner.plan_faults import PlanFault
from converter.planner.region.layers import SHARE, layers_in
from converter.planner.region.region import Region
from converter.planner.wording import finding
from converter.planner.writing.source_text import SourceText

GPU = re.compile(r"gpu:(\d+|\*)", re.IGNORECASE)
CPU = re.compile(r"\bcpu\b", re.IGNORECASE)


def own_devices(facts: Facts, regions: tuple[Region, ...], text: SourceText) -> tuple[list[Replace], list[Diagnostic]]:
    """Edits that let the tower's device win over the model's own, and warnings for devices chosen at run time."""
    replaces: dict[ast.AST, Replace] = {}
    warnings: dict[ast.AST, Diagnostic] = {}
    layers = layers_in(facts, (v for region in regions for v in region.needed.values()))
    inside = Counter(stmt for layer in layers for stmt in _around(layer.site))
    around = {stmt for region in regions for stmt in _around_loop(region)}
    for effect in facts.effects_of(EffectKind.DEVICE):
        node = effect.node
        if not isinstance(node, ast.Call):
            continue
        named = [*node.args, *(k.value for k in node.keywords)][:1]
        if not any(region.in_any_tower(effect.site) for region in regions):
            if named and effect.site.stmt in around:
                if isinstance(effect.value, (Function, Partial)):
                    replaces[node] = _left_to_towers(named[0], text)  # it has the last word, also on what towers say
                elif gpu := _later_gpu(effect, named[0]):
                    replaces[node] = _left_to_towers(named[0], text)
                    warnings[node] = finding(facts, node, PlanFault.GPU_AROUND_TOWERS, gpu=gpu)
            continue
        chosen = not named or isinstance(named[0], (ast.IfExp, ast.BoolOp))
        nowhere = effect.value is not None and is_none(effect.value)  # which takes the tower's device away
        if not chosen and (nowhere or GPU.search(effect.name) or GPU.search(pattern_of(named[0]))):
            replaces[node] = _left_to_towers(named[0], text)
        elif not chosen and CPU.search(effect.name):
            if len(layers) - inside[effect.site.stmt] < SHARE * len(layers):
                replaces[node] = _left_to_towers(named[0], text)
                warnings[node] = finding(facts, node, PlanFault.LAYERS_ON_CPU)
        elif chosen or effect.name == "None":
            warnings[node] = finding(facts, node, PlanFault.DEVICE_OF_ALL_TOWERS)
    return list(replaces.values()), list(warnings.values())


def _later_gpu(effect: Effect, device: ast.expr) -> str:
    """The GPU that a device names, or computes, as `GPU 3`; "" for the first one, and for other devices."""
    number = GPU.search(effect.name)
    if number is not None:
        return "" if int(number[1].replace("*", "0")) == 0 else f"GPU {number[1]}"
    return "the GPU that it chooses" if GPU.search(pattern_of(device)) else ""


def _left_to_towers(device: ast.expr, text: SourceText) -> Replace:
    return Replace(text.start(device), text.end(device), "''", "TMG137")


def _around(site: Site | None) -> set[ast.stmt]:
    """The statements around a place, its own among them, through callers up to the module."""
    return {one.stmt for one in site.chain()} if site is not None else set()


def _around_loop(region: Region) -> set[ast.stmt]:
    """The statements around a loop, and those of its first statement."""
    first = min(region.tower)
    sites = {a.site for i, a in region.block.accesses() if i == first}
    return {stmt for site in sites for stmt in _around(site)}

"""Devices that the model names itself: inside the towers they would win over the tower's."""

from __future__ import annotations

import ast
import re

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.inputs.graph_names import pattern_of
from converter.analysis.values import Function, Partial, Tensor, is_none
from converter.diagnostics import Diagnostic
from converter.plan import Replace
from converter.planner.found import Found
from converter.planner.region.layers import SHARE, layers_in
from converter.planner.region.region import Region
from converter.planner.wording import finding
from converter.planner.writing.source_text import Text

GPU = re.compile(r"gpu:(\d+|\*)", re.IGNORECASE)
CPU = re.compile(r"\bcpu\b", re.IGNORECASE)


def own_devices(facts: Facts, regions: tuple[Region, ...], text: Text) -> tuple[list[Replace], list[Diagnostic]]:
    """Edits that let the tower's device win over the model's own, and warnings for devices chosen at run time."""
    replaces: dict[ast.AST, Replace] = {}
    warnings: dict[ast.AST, Diagnostic] = {}
    layers = layers_in(facts, (v for region in regions for v in region.needed.values()))
    for effect in facts.effects_of(EffectKind.DEVICE):
        node = effect.node
        if not isinstance(node, ast.Call):
            continue
        named = [*node.args, *(k.value for k in node.keywords)][:1]
        if not any(region.in_any_tower(effect.site) for region in regions):
            if named and any(_is_around(region, effect) for region in regions):
                if isinstance(effect.value, (Function, Partial)):
                    replaces[node] = _left_to_towers(named[0], text)  # it has the last word, also on what towers say
                elif gpu := _later_gpu(effect, named[0]):
                    replaces[node] = _left_to_towers(named[0], text)
                    warnings[node] = finding(facts, node, Found.GPU_AROUND_TOWERS, gpu=gpu)
            continue
        chosen = not named or isinstance(named[0], (ast.IfExp, ast.BoolOp))
        nowhere = effect.value is not None and is_none(effect.value)  # which takes the tower's device away
        if not chosen and (nowhere or GPU.search(effect.name) or GPU.search(pattern_of(named[0]))):
            replaces[node] = _left_to_towers(named[0], text)
        elif not chosen and CPU.search(effect.name):
            kept = [layer for layer in layers if _is_inside(layer, effect)]
            if len(layers) - len(kept) < SHARE * len(layers):
                replaces[node] = _left_to_towers(named[0], text)
                warnings[node] = finding(facts, node, Found.LAYERS_ON_CPU)
        elif chosen or effect.name == "None":
            warnings[node] = finding(facts, node, Found.DEVICE_OF_ALL_TOWERS)
    return list(replaces.values()), list(warnings.values())


def _later_gpu(effect: Effect, device: ast.expr) -> str:
    """The GPU that a device names, or computes, as `GPU 3`; "" for the first one, and for other devices."""
    number = GPU.search(effect.name)
    if number is not None:
        return "" if int(number[1].replace("*", "0")) == 0 else f"GPU {number[1]}"
    return "the GPU that it chooses" if GPU.search(pattern_of(device)) else ""


def _left_to_towers(device: ast.expr, text: Text) -> Replace:
    return Replace(text.start(device), text.end(device), "''", "TMG137")


def _is_inside(layer: Tensor, effect: Effect) -> bool:
    """Whether a layer is made in the block of a device."""
    return layer.site is not None and any(site.stmt is effect.site.stmt for site in layer.site.chain())


def _is_around(region: Region, effect: Effect) -> bool:
    """Whether a loop stands in the block of a device."""
    first = region.block.body[min(region.tower)]
    sites = (a.site for i, a in region.block.accesses() if region.block.body[i] is first)
    return any(site.stmt is effect.site.stmt for start in sites for site in start.chain())

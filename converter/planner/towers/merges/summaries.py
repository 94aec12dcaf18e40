"""Summaries that the model makes inside the towers, and names that the script derives from those of operations."""

from __future__ import annotations

import ast

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor, Value, Variable
from converter.plan import Replace
from converter.planner.region.region import Region
from converter.planner.towers.merges.collections import means_in
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText


def names_in(facts: Facts, regions: tuple[Region, ...], text: SourceText) -> list[Replace]:
    """Edits of `x.op.name` in the model, which remove the tower's scope from the name of a summary."""
    found: dict[ast.AST, Replace] = {}
    for effect in facts.effects_of(EffectKind.GRAPH_NAME):
        node, read = effect.node, effect.value
        if effect.name != "name" or not isinstance(read, Tensor) or read.op != "op":
            continue
        made = read.inputs[0]
        inside = any(region.in_tower(effect.site) and region.in_tower(made.site) for region in regions)
        operation = _operation_named(node)
        if inside and not isinstance(made, Variable) and operation is not None:
            name = f"{called('name_without_tower')}({text.of(operation)})"
            found[node] = Replace(text.start(node), text.end(node), name, "TMG104")
    return list(found.values())


def collected_names(facts: Facts, regions: tuple[Region, ...], text: SourceText) -> list[Replace]:
    """Edits that strip the tower's scope from `op.name` of operations read from a collection.

    Layers put update ops there by themselves, and scripts choose some of them: `op.name.startswith('generator')`.
    """
    start = min((region.start for region in regions), default=0)
    found: dict[ast.AST, Replace] = {}
    for effect in facts.effects_of(EffectKind.GRAPH_NAME):
        node, read = effect.node, effect.value
        key = _collection_of(read) if effect.name == "name" and effect.time >= start else ""
        merged = any(means_in(facts, region, key) for region in regions) if key else False  # they get their plain names
        if key and not merged and isinstance(node, ast.Attribute):
            name = f"{called('without_tower')}({text.of(node)})"
            found[node] = Replace(text.start(node), text.end(node), name, "TMG104")
    return list(found.values())


def _collection_of(value: Value | None) -> str:
    """The key of the collection that holds a value, or the tensor that it is the operation of; "" for variables."""
    if not isinstance(value, Tensor):
        return ""
    kind, _, key = value.op.partition(" ")
    if kind == "collection":
        return "" if has(key, Trait.VARIABLE_COLLECTION) else key
    return _collection_of(value.inputs[0]) if value.op == "op" else ""


def _operation_named(node: ast.AST) -> ast.expr | None:
    """The `x` of `x.op.name`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "op":
        return node.value.value
    return None

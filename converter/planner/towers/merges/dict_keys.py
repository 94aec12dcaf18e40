"""Keys of dicts that the towers fill: names of tensors, which each tower makes anew, and reads of keys alone."""

from __future__ import annotations

import ast
from typing import Literal

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.flow.keys import key_reader
from converter.analysis.traits import Trait, has
from converter.analysis.values import Bound, Host, Mapping, Sequence, Tensor, Value, needed
from converter.planner.region.region import Region
from converter.planner.towers.merges.purpose import is_target_only_shown


def are_graph_names(facts: Facts, region: Region, value: Value) -> bool:
    """Whether a dict has for keys the names of tensors that each tower makes anew; variables have one name in all."""
    if isinstance(value, Sequence):
        return any(are_graph_names(facts, region, inner) for inner in value.elements)
    if not isinstance(value, Mapping):
        return False
    if any(isinstance(key, Host) and has(key.call, Trait.NAMES_LAYERS) for key, _ in value.pairs):
        return True
    names = [v for v in needed([key for key, _ in value.pairs]).values() if isinstance(v, Bound) and v.name == "name"]
    if names:
        read = {e.value for e in facts.effects_of(EffectKind.GRAPH_NAME) if region.in_tower(e.site)}
        made = [v.receiver for v in names if v.receiver in read]
        if any(isinstance(tensor, Tensor) and tensor.batch.kind != "free" for tensor in made):
            return True
    return any(are_graph_names(facts, region, inner) for _, inner in value.pairs)


def keys_read(facts: Facts, region: Region, value: Mapping, node: ast.AST) -> Literal["alike", "of a tower"] | None:
    """Whether a dict is read for its keys alone, and whether the script may read those of the last tower.

    Keys that are names of tensors begin with the tower's scope: they may be shown, and no more. None for other reads.
    """
    reader = key_reader(facts.parents, node)
    if reader is None:
        return None
    shown = isinstance(reader, ast.For) and is_target_only_shown(facts, region, reader.target)
    return "alike" if shown or not are_graph_names(facts, region, value) else "of a tower"

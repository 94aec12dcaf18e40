"""Collections of the graph that are read after the loop, which must hold values of the whole batch."""

from __future__ import annotations

import ast

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor
from converter.planner.region.region import Region
from converter.planner.writing.source_text import Text


def merged_keys(facts: Facts, region: Region, text: Text, tensorflow: str) -> tuple[str, ...]:
    """The expressions for the keys of collections whose values, all of them means, are read after the loop."""
    found: dict[str, str] = {}
    for effect in facts.effects_of(EffectKind.GET_COLLECTION):
        if effect.time > region.end and _are_means(facts, region, effect.name):
            key = _key(effect, text, tensorflow)
            if key:
                found.setdefault(effect.name, key)
    return tuple(found.values())


def _are_means(facts: Facts, region: Region, name: str) -> bool:
    """Whether the towers put means over the examples into a collection, and nothing but means."""
    added = [e.value for e in facts.effects_of(EffectKind.COLLECTION) if e.name == name and region.in_tower(e.site)]
    tensors = [v for v in added if isinstance(v, Tensor)]
    means = [t.batch.kind == "free" or _is_mean(t) for t in tensors]
    return len(tensors) == len(added) and all(means) and any(_is_mean(t) for t in tensors)


def _is_mean(tensor: Tensor) -> bool:
    batch = tensor.batch
    return batch.kind == "reduced" and batch.how == "mean" and batch.over is None


def _key(effect: Effect, text: Text, tensorflow: str) -> str:
    """The key as it is written where the collection is read; "" where it cannot stand elsewhere."""
    call = effect.node
    assert isinstance(call, ast.Call)
    if has(getattr(call.func, "attr", ""), Trait.GETS_LOSSES):
        return f"{tensorflow}.GraphKeys.LOSSES"
    given = [k.value for k in call.keywords if k.arg == "key"] + call.args[:1]
    fixed = given and isinstance(given[0], (ast.Constant, ast.Attribute)) and "self" not in text.of(given[0])
    return text.of(given[0]) if fixed else ""

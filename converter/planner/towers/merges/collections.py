"""Collections of the graph that are read after the loop, which must hold values of the whole batch."""

from __future__ import annotations

import ast

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor
from converter.planner.region.region import Region
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic, group_of
from converter.planner.writing.source_text import SourceText


def merged_keys(site: LoopSite, traffic: Traffic) -> tuple[tuple[str, ...], str]:
    """The expressions for the keys of collections whose values, all of them means, are read after the loop.

    With the name of the towers' weights for them. There are no such keys where the means are over the rows of inputs
    that are cut apart, and would need several weights.
    """
    found: dict[str, str] = {}
    groups: set[int] = set()
    for effect in site.facts.effects_of(EffectKind.GET_COLLECTION):
        if effect.time > site.region.end:
            means = means_in(site.facts, site.region, effect.name)
            key = _key(effect, site.text, site.tensorflow) if means else ""
            if key:
                found.setdefault(effect.name, key)
                groups.update(group_of(traffic, mean) for mean in means)
    return (tuple(found.values()), traffic.border.shards[groups.pop()].rows.weight) if len(groups) == 1 else ((), "")


def means_in(facts: Facts, region: Region, name: str) -> list[Tensor]:
    """The means over the examples that the towers put into a collection; none where they put other values there."""
    added = [e.value for e in facts.effects_of(EffectKind.COLLECTION) if e.name == name and region.in_tower(e.site)]
    tensors = [v for v in added if isinstance(v, Tensor)]
    known = len(tensors) == len(added) and all(t.batch.kind == "free" or _is_mean(t) for t in tensors)
    return [t for t in tensors if _is_mean(t)] if known else []


def _is_mean(tensor: Tensor) -> bool:
    batch = tensor.batch
    return batch.kind == "reduced" and batch.how == "mean" and batch.over is None


def _key(effect: Effect, text: SourceText, tensorflow: str) -> str:
    """The key as it is written where the collection is read; "" where it cannot stand elsewhere."""
    call = effect.node
    assert isinstance(call, ast.Call)
    if has(getattr(call.func, "attr", ""), Trait.GETS_LOSSES):
        return f"{tensorflow}.GraphKeys.LOSSES"
    given = [k.value for k in call.keywords if k.arg == "key"] + call.args[:1]
    fixed = given and isinstance(given[0], (ast.Constant, ast.Attribute)) and "self" not in text.of(given[0])
    return text.of(given[0]) if fixed else ""

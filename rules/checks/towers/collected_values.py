"""Collections that the towers add values to, and that the script reads."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.penalties import added_to_shared
from converter.planner.region.region import Region
from converter.planner.wording import finding

CODES = ("TMG236", "TMG250")


@check(Placed)
def read_after_the_towers(case: Placed) -> Iterator[Diagnostic]:
    """Reads, after a loop, of collections to which its towers add tensors of the batch that are not means."""
    for region in case.regions:
        added = {e.name for e in case.facts.effects_of(EffectKind.COLLECTION) if _is_one_towers(region, e)}
        for effect in case.facts.effects_of(EffectKind.GET_COLLECTION):
            after = effect.time > region.end and not region.in_tower(effect.site)
            if after and effect.name in added and effect.name not in OWN:
                yield finding(case.facts, effect.node, "TMG236", name=effect.name)


OWN = ("update_ops", "summaries")  # what TensorFlow adds there has rules of its own


def _is_one_towers(region: Region, effect: Effect) -> bool:
    """Whether the towers add something to a collection that depends on their shards, and is not a mean."""
    value = effect.value
    if not isinstance(value, Tensor) or not region.in_tower(effect.site) or value.batch.kind == "free":
        return False
    return value.batch.kind != "reduced" or value.batch.how != "mean" or value.batch.over is not None


@check(Placed)
def added_again(case: Placed) -> Iterator[Diagnostic]:
    """Values that the model's own statements add to a collection that all towers share, and that are read there."""
    for added in added_to_shared(case.facts):
        effect = added.effect
        regions = [region for region in case.regions if added.is_met(region)]
        if any(not added.is_kept_apart(case.facts, region) for region in regions):
            yield finding(case.facts, effect.node, "TMG250", name=effect.name)

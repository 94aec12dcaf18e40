"""Collections that the towers add values to, and that the script reads."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import READS_COLLECTION, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Site, Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.region import Region
from converter.planner.writing.findings import error

CODES = ("TMG236", "TMG250")


@check(Placed)
def read_after_the_towers(case: Placed) -> Iterator[Diagnostic]:
    """Reads, after a loop, of collections to which its towers add tensors of the batch that are not means."""
    for region in case.regions:
        added = {e.name for e in case.facts.effects_of(EffectKind.COLLECTION) if _is_one_towers(region, e)}
        for effect in case.facts.effects_of(EffectKind.GET_COLLECTION):
            after = effect.time > region.end and not region.in_tower(effect.site)
            if after and effect.name in added and effect.name not in OWN:
                yield error(
                    case.facts,
                    effect.node,
                    "TMG236",
                    f"the towers add values to the collection {effect.name!r} that are not means over the "
                    "examples: here it would hold only the first tower's",
                    "keep them in a list of the script instead of a collection",
                )


OWN = ("update_ops", "summaries")  # what TensorFlow adds there has rules of its own


def _is_one_towers(region: Region, effect: Effect) -> bool:
    """Whether the towers add something to a collection that depends on their shards, and is not a mean."""
    value = effect.value
    if not isinstance(value, Tensor) or not region.in_tower(effect.site) or value.batch.kind == "free":
        return False
    return value.batch.kind != "reduced" or value.batch.how != "mean" or value.batch.over is not None


@check(Placed)
def added_again(case: Placed) -> Iterator[Diagnostic]:
    """Values that the model's own statements add to a collection that all towers share."""
    for effect in filter(_is_shared, case.facts.effects_of(EffectKind.COLLECTION)):
        before, after = _reads(case.facts, effect)
        if any(_meets_another(r, effect, before, after) for r in case.regions):
            yield error(
                case.facts,
                effect.node,
                "TMG250",
                f"each tower would add this value to the collection {effect.name!r} once more, where the towers share "
                "what variables add to it",
                "add it to a collection of another name, and add that collection's sum to the loss",
            )


def _is_shared(effect: Effect) -> bool:
    return has(effect.name, Trait.GROWS_WITH_VARIABLES) and isinstance(effect.value, Tensor)


def _meets_another(region: Region, added: Effect, before: list[Site], after: list[Site]) -> bool:
    """Whether what one tower adds is read by another tower, or behind the towers.

    What a tower reads before it adds anything holds what the tower before it has added.
    """
    if region.in_tower(added.site):
        return bool(after) or _inside(region, before)
    return region.comes_after(added) and _inside(region, after)


def _reads(facts: Facts, added: Effect) -> tuple[list[Site], list[Site]]:
    """Where the script asks for the collection, or for the sum of it: before something is added, and after it."""
    asked = [e for kind in READS_COLLECTION for e in facts.effects_of(kind)]
    found = [e for e in asked if e.kind is EffectKind.TOTAL_LOSS or e.name == added.name]
    before, after = ([e.site for e in found if (e.time > added.time) is later] for later in (False, True))
    sums = (t for t in facts.tensors if has(t.op.rpartition(".")[2], Trait.GIVES_COLLECTED_LOSSES))
    for total in sums:
        if total.site is not None:
            (after if added.value in total.inputs else before).append(total.site)
    return before, after


def _inside(region: Region, reads: list[Site]) -> bool:
    """Whether a tower reads the collection."""
    return any(map(region.in_tower, reads))

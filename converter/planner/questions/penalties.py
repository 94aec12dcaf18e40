"""Values that a model's own statements add to a collection that all towers share, as variables add to it."""

from __future__ import annotations

from converter.analysis.effects import READS_COLLECTION, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Site, Tensor
from converter.dataclass import dataclass
from converter.planner.region.region import Region


@dataclass(frozen=True)
class Added:
    """One such addition; before, after: where the script reads the collection, or the sum of it, before and after."""

    effect: Effect
    before: tuple[Site, ...]
    after: tuple[Site, ...]

    def is_met(self, region: Region) -> bool:
        """Whether what one tower adds is read by another tower, or behind the towers.

        What a tower reads before it adds anything holds what the tower before it has added.
        """
        if region.in_tower(self.effect.site):
            return bool(self.after) or any(map(region.in_tower, self.before))
        return region.comes_after(self.effect) and any(map(region.in_tower, self.after))

    def is_kept_apart(self, region: Region) -> bool:
        """Whether each tower can be shown its own: the first one's stays, which nothing behind the towers may read.

        What is computed of variables alone is the same in all towers.
        """
        value = self.effect.value
        free = isinstance(value, Tensor) and value.batch.kind == "free"
        inside = region.in_tower(self.effect.site) and all(map(region.in_tower, self.after))
        return has(self.effect.name, Trait.PENALTIES) and (inside or (free and region.in_tower(self.effect.site)))


def added_to_shared(facts: Facts) -> list[Added]:
    """The values that statements of the script add to collections which grow as variables are made."""
    effects = [e for e in facts.effects_of(EffectKind.COLLECTION) if isinstance(e.value, Tensor)]
    return [_with_reads(facts, e) for e in effects if has(e.name, Trait.GROWS_WITH_VARIABLES)]


def keeps_penalties_apart(facts: Facts, region: Region) -> bool:
    """Whether a model adds regularization losses of its own that the towers must not see of each other."""
    return any(added.is_met(region) and added.is_kept_apart(region) for added in added_to_shared(facts))


def _with_reads(facts: Facts, added: Effect) -> Added:
    asked = [e for kind in READS_COLLECTION for e in facts.effects_of(kind)]
    found = [e for e in asked if e.kind is EffectKind.TOTAL_LOSS or e.name == added.name]
    before, after = ([e.site for e in found if (e.time > added.time) is later] for later in (False, True))
    sums = (t for t in facts.tensors if has(t.op.rpartition(".")[2], Trait.GIVES_COLLECTED_LOSSES))
    for total in sums:
        if total.site is not None:
            (after if added.value in total.inputs else before).append(total.site)
    return Added(added, tuple(before), tuple(after))

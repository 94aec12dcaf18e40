"""An input or a batch size is read through something that the loop cannot re-bind."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG205",)


@check(Placed)
def data_read_by_python(case: Placed) -> Iterator[Diagnostic]:
    """Refuse Python code inside the model that reads data in the graph: it would see one shard."""
    facts = case.facts
    for effect in facts.effects:
        read = effect.kind is EffectKind.READ_BY_PYTHON and effect.value is not None and effect.value.uid in facts.cut
        if read and effect.node not in facts.by_row and any(r.in_any_tower(effect.site) for r in case.regions):
            yield finding(facts, effect.node, "TMG205 data_read_by_python")


@check(Placed)
def data_changed_by_the_model(case: Placed) -> Iterator[Diagnostic]:
    """Data in the graph that changes between the statements of the model."""
    facts = case.facts
    changed = [(e.time, e.node, e.value.uid) for e in facts.effects_of(EffectKind.MUTATION) if e.value is not None]
    changed += [(a.time, a.node, a.place.owner) for a in facts.accesses if a.write]
    for time, node, uid in changed:
        if uid in facts.cut and any(region.start <= time <= region.end for region in case.regions):
            yield finding(facts, node, "TMG205 data_changed_by_the_model")

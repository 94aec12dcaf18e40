"""An input or a batch size is read through something that the loop cannot re-bind."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words
from converter.planner.writing.findings import error

CODES = ("TMG205",)

WORDS = {
    PlanFault.DRAWN_ROWS_READ: Words(
        "TMG205",
        "the number of rows that are drawn here is read in a way that the loop cannot replace",
        "pass the batch size to the function as an argument",
    ),
    PlanFault.INPUT_NOT_REPLACEABLE: Words(
        "TMG205", "this input is read in a way that the loop cannot replace", "pass it to the function as an argument"
    ),
    PlanFault.INPUTS_NOT_REPLACEABLE: Words(
        "TMG205",
        "these inputs are read in a way that the loop cannot replace",
        "pass them to the function as an argument",
    ),
    PlanFault.SIZE_NOT_REPLACEABLE: Words(
        "TMG205",
        "this batch size is read in a way that the loop cannot replace",
        "pass it to the function as an argument",
    ),
    PlanFault.SIZE_IN_TUPLE: Words(
        "TMG205",
        "this batch size is an item of a tuple of unknown length",
        "give it a name of its own in front of the model",
    ),
    PlanFault.INPUT_OF_ONE_BRANCH: Words(
        "TMG205",
        "only one branch of a condition makes this input, and the towers would always cut it",
        "let the other branch put None there",
    ),
    PlanFault.INPUTS_AMONG_OTHERS: Words(
        "TMG205", "these inputs are read together with other values", "read each input by its own name or key"
    ),
    PlanFault.INPUT_BY_ANOTHER_NAME: Words(
        "TMG205",
        "this input is also a part of a nested element that the model reads by another name",
        "read both through the same name",
    ),
    PlanFault.DATA_WITHOUT_NAME: Words(
        "TMG205",
        "the model reads this data without a name that the loop could bind to a shard",
        "give it a name in front of the model",
    ),
}


@check(Placed)
def data_read_by_python(case: Placed) -> Iterator[Diagnostic]:
    """Refuse Python code inside the model that reads data in the graph: it would see one shard."""
    facts = case.facts
    for effect in facts.effects:
        read = effect.kind is EffectKind.READ_BY_PYTHON and effect.value is not None and effect.value.uid in facts.cut
        if read and effect.node not in facts.by_row and any(r.in_any_tower(effect.site) for r in case.regions):
            yield error(
                facts,
                effect.node,
                "TMG205",
                "the data in the graph is read by Python code among the statements of the model, too",
                "compute what this code gives in front of the model",
            )


@check(Placed)
def data_changed_by_the_model(case: Placed) -> Iterator[Diagnostic]:
    """Data in the graph that changes between the statements of the model."""
    facts = case.facts
    changed = [(e.time, e.node, e.value.uid) for e in facts.effects_of(EffectKind.MUTATION) if e.value is not None]
    changed += [(a.time, a.node, a.place.owner) for a in facts.accesses if a.write]
    for time, node, uid in changed:
        if uid in facts.cut and any(region.start <= time <= region.end for region in case.regions):
            yield error(
                facts,
                node,
                "TMG205",
                "the data in the graph is changed while the model is built",
                "change it in front of the model",
            )

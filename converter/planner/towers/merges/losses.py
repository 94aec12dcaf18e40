"""Losses: under which name the towers bind them."""

from __future__ import annotations

from converter.analysis.facts import Facts, TrainStep
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.structures import Part, parts
from converter.planner.region.region import Region
from converter.planner.wording import refuse
from converter.planner.writing.spelling import spelling


def loss_part(facts: Facts, region: Region, step: TrainStep) -> Part | None:
    """The loss under a name that the towers bind, or in a structure that they do; None where it is written inline."""
    if step.loss_node in region.inline and step.loss_node is not None:
        if step.site.frame.uid != region.block.frame.uid:
            raise refuse(facts, step.call, PlanFault.LOSS_WRITTEN_ELSEWHERE)
        return None
    writes = [(access, spelling(region.block.frame, access.place)) for access in region.writes]
    for access, text in sorted(writes, key=lambda pair: pair[0].place.kind != "name"):
        own = access.place.kind != "name" or access.place.frame is region.block.frame
        if access.value is step.loss and text is not None and own:
            return Part(text, step.loss, "", None)
    for access, text in writes:
        if text is not None and (access.place.kind != "name" or access.place.frame is region.block.frame):
            for part in parts(text, access.value):
                if part.value is step.loss:
                    return part
    raise refuse(facts, step.call, PlanFault.LOSS_WITHOUT_NAME)


def is_read(facts: Facts, region: Region, step: TrainStep) -> bool:
    """Whether a loss is read after the loop for more than its gradient."""
    reads = (a for a in facts.accesses_of(step.loss) if not a.write and a.node is not step.loss_node)
    return any(map(region.comes_after, reads))

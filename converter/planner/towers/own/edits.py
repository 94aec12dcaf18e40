"""The edits outside of the towers for placeholders of which each tower has its own: readers, and feeds of runs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Input, Tensor, tensors_in
from converter.dataclass import dataclass
from converter.plan import Replace
from converter.planner.own.examples import own_examples
from converter.planner.own.taken import is_own_batch, shown_inputs
from converter.planner.plan_faults import PlanFault
from converter.planner.region.inputs import batch_inputs
from converter.planner.region.region import Region
from converter.planner.towers.merges.purpose import is_only_shown
from converter.planner.towers.own.batches import own_batches
from converter.planner.wording import refuse
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

READ, FEED, WHY = "read_for_towers", "feed_for_towers", "TMG125"


@dataclass(frozen=True)
class OwnEdits:
    """Edits, and the helpers that they call."""

    replaces: tuple[Replace, ...] = ()
    helpers: tuple[str, ...] = ()


def own_edits(facts: Facts, steps: Sequence[TrainStep], regions: Sequence[Region], text: SourceText) -> OwnEdits:
    """Each step reads an example for each tower, and feeds each its own; raises Refusal if that is unclear."""
    if not any(value.is_own for value in batch_inputs(steps)):
        return OwnEdits()
    own = own_examples(facts, steps) or own_batches(facts, [*steps])
    if own is None or any(region.forward for region in regions) or _first_alone(facts, regions, own.feeds):
        raise refuse(facts, steps[0].call, PlanFault.OWN_EXAMPLES_UNCLEAR)
    replaces = [_reading(call, text) for call in own.readers]
    for node in own.feeds:
        replaces.append(Replace(text.start(node), text.end(node), f"{called(FEED)}({text.of(node)})", WHY))
    return OwnEdits(tuple(replaces), (READ, FEED) if own.readers else ())


def _first_alone(facts: Facts, regions: Sequence[Region], feeds: Sequence[ast.expr]) -> bool:
    """Whether runs that take an example for each tower give something of the first tower's alone.

    Summaries may, and a part of the example itself that is only shown, such as its name.
    """
    for run in (run for run in facts.runs if run.feed_node in feeds or any(map(is_own_batch, run.behind.values()))):
        if not all(is_only_shown(facts, region, shown) for shown in shown_inputs(run) for region in regions):
            return True
        for value in run.behind.values():
            if not isinstance(value, Tensor) or isinstance(value, Input) or value.site is None or value.op == "summary":
                continue
            if _reads_own(value) and not any(region.in_tower(value.site) for region in regions):
                return True
    return False


def _reads_own(value: Tensor) -> bool:
    """Whether an operation takes such a placeholder, also through operations of the same call."""
    for operand in (tensor for part in value.operands for tensor in tensors_in(part)):
        if isinstance(operand, Input) and operand.is_own:
            return True
        if not isinstance(operand, Input) and operand.site is None and _reads_own(operand):
            return True
    return False


def _reading(call: ast.Call, text: SourceText) -> Replace:
    """`reader('train')` as `read_for_towers(reader, 'train')`."""
    given = [text.of(arg) for arg in call.args]
    given += [f"{keyword.arg}={text.of(keyword.value)}" for keyword in call.keywords]
    return Replace(text.start(call), text.end(call), f"{called(READ)}({', '.join([text.of(call.func), *given])})", WHY)

"""Batches that the towers draw themselves: noise with as many rows as a batch has, which nobody feeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from converter.analysis.facts import TrainStep, behind_losses
from converter.analysis.values import Number, Origin, Tensor, Value, needed, tensors_in
from converter.plan.border import NUM_GPUS, Border, Drawn
from converter.planner.batch_size.batch_size import Scaling
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.drawn_batches import drawn_in, rows_of_drawn
from converter.planner.region.inputs import batch_inputs
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.towers.shards.shards import keeps_size
from converter.planner.wording import refuse
from converter.planner.writing.spelling import spelling


def drawing_alone(steps: Iterable[TrainStep]) -> list[TrainStep]:
    """The training steps whose losses depend on such batches and on no input."""
    return [step for step in steps if not batch_inputs([step])]


def drawn_out(values: Iterable[Value]) -> list[Tensor]:
    """The tensors of a drawn batch among some values: nobody feeds them, so that they can be run without any input.

    The same holds for batches that only the batch size makes, as `cell.zero_state(batch_size, …)` does.
    """
    return [t for v in values for t in tensors_in(v) if t.batch.kind != "free" and not t.roots]


def _sizes_behind(values: Iterable[Value]) -> Iterator[Origin]:
    """The numbers that some values without an input are made of."""
    for value in needed(values).values():
        yield from value.factors() if isinstance(value, Number) else ()


def drawn_rows(
    site: LoopSite, before: Traffic, sizes: frozenset[Origin], scaling: Scaling, leaving: Iterable[Value]
) -> Traffic:
    """Adds each tower's share of the rows that are drawn: the weight of a loss that no input reaches.

    leaving: values that are merged; the rows of those drawn must not be counted by an input that may not be fed.
    """
    traffic = before
    facts, region = site.facts, site.region
    alone = drawing_alone(site.group.steps)
    drawn = drawn_out(leaving)
    if not alone and not drawn:
        return traffic
    keys = {o.key for o in sizes}
    wanted = {o.key for number in rows_of_drawn(behind_losses(alone)) for o in number.factors()} & keys
    cut = any(
        shard.rows.known != "fixed" for shard in traffic.border.shards[:1]
    )  # else each tower has a known number of rows
    random = rows_of_drawn(needed(drawn))
    wanted |= {o.key for o in (_sizes_behind(drawn) if cut else (o for n in random for o in n.factors()))} & keys
    rebound = traffic.border.rebound
    found: dict[object, tuple[int, str]] = {}
    for access in region.tower_reads():
        value = access.value
        text = spelling(region.block.frame, access.place)
        if isinstance(value, Number) and text is not None and (text in rebound or keeps_size(access, scaling)):
            for origin in value.factors():
                found.setdefault(origin.key, (len(value.inputs), text))
    missing = not wanted or any(key not in found for key in wanted)
    if missing and not alone:
        return traffic
    if missing:
        tensor = drawn_in(behind_losses(alone))[0]
        raise refuse(facts, tensor.node or alone[0].call, PlanFault.DRAWN_ROWS_READ)
    _, text = min(found[key] for key in wanted)
    shards = traffic.border.shards
    rows, traffic = traffic.fresh_rows("_drawn" if shards else "", "building")
    share = Drawn(rows, rebound.get(text, f"{text} * {NUM_GPUS}"))
    return replace(traffic.plus(Border(shards=(share,))), drawn=len(shards))

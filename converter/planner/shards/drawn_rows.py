"""Batches that the towers draw themselves: noise with as many rows as a batch has, which nobody feeds."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Number, Origin, needed
from converter.plan import Shard
from converter.planner.batch_size.batch_size import Scaling
from converter.planner.border.traffic import Traffic
from converter.planner.questions.drawn_batches import drawn_in, drawn_sizes
from converter.planner.region.region import Region, batch_inputs
from converter.planner.shards.shards import keeps_size, tower_reads
from converter.planner.writing.findings import refuse
from converter.planner.writing.free_names import Names
from converter.planner.writing.spelling import spelling


def drawing_alone(facts: Facts, steps: Iterable[TrainStep]) -> list[TrainStep]:
    """The training steps whose losses depend on such batches and on no input."""
    return [step for step in steps if not batch_inputs(facts, [step])]


def drawn_rows(
    facts: Facts, region: Region, names: Names, traffic: Traffic, steps: list[TrainStep], sizes: frozenset[Origin],
    scaling: Scaling,
) -> None:  # fmt: skip
    """Each tower's share of the rows that are drawn: the weight of a loss that no input reaches."""
    alone = drawing_alone(facts, steps)
    if not alone:
        return
    keys = {o.key for o in sizes}
    wanted = {o.key for number in drawn_sizes(alone) for o in number.linear} & keys
    rebound = {r.place: r.saved for r in traffic.rebinds}
    found: dict[object, tuple[int, str]] = {}
    for access in tower_reads(region):
        value = access.value
        text = spelling(region.block.frame, access.place)
        if isinstance(value, Number) and text is not None and (text in rebound or keeps_size(access, scaling)):
            for origin in value.linear:
                found.setdefault(origin.key, (len(value.inputs), text))
    missing = not wanted or any(key not in found for key in wanted)
    if missing:
        tensor = drawn_in(needed(step.loss for step in alone))[0]
        raise refuse(facts, tensor.node or alone[0].call, "TMG205",
                     "the number of rows that are drawn here is read in a way that the loop cannot replace",
                     "pass the batch size to the function as an argument")  # fmt: skip
    _, text = min(found[key] for key in wanted)
    first = "" if not traffic.shards else "_drawn"
    traffic.shards.append(
        Shard((), (), (), names.fresh(f"rows{first}", f"tower_rows{first}"),
              names.fresh(f"weight{first}", f"tower_weight{first}"), False,
              drawn=(rebound.get(text, text), text in rebound))
    )  # fmt: skip
    traffic.drawn = len(traffic.shards) - 1

"""Batch sizes that are fed must mean the whole batch outside of the towers, and be integers."""

from __future__ import annotations

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.tensors.size_names import named_batch
from converter.analysis.values import Input, Number, Sequence, Tensor, Value, needed
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.region.region import Region
from converter.planner.shards.fed_number import HINT, is_fed_number
from converter.planner.writing.findings import refuse


def check_fed_sizes(facts: Facts, steps: list[TrainStep], regions: list[Region], size: BatchSize, scales: bool) -> None:
    """A batch size that is fed is that of the whole batch: it must not go into the towers, and be right after them."""
    for value in needed(step.loss for step in steps).values():
        if not isinstance(value, Input) or "placeholder" not in value.op or value.batch.kind != "free" or value.dims:
            continue
        if any(value in number.inputs for number in facts.fed_sizes):
            continue
        written = {a.place.key for a in facts.accesses if a.write and a.value is value and isinstance(a.place.key, str)}
        if named_batch(written):
            raise refuse(facts, value.node or steps[0].call, "TMG207",
                         "the batch size is fed to the model as what is no whole number: each tower would take that "
                         "of the whole batch for its own", HINT)  # fmt: skip
    trained = {step.result.uid for step in steps}
    for run in facts.runs if scales and facts.fed_sizes else ():
        behind = _read_after(run, regions) if run.computes(trained) else None
        if behind is not None and not _grows(run, size):
            raise refuse(facts, behind.node or run.call, "TMG207",
                         "this is computed of the whole batch with a batch size that is fed, and nothing tells that "
                         "what is fed in training grows as the batch does", HINT)  # fmt: skip


def _read_after(run: RunCall, regions: list[Region]) -> Tensor | None:
    """What a run computes of a fed batch size outside of the towers; None where it does not."""
    for value in run.behind.values():
        site = value.site
        if isinstance(value, Tensor) and site is not None and not any(r.in_any_tower(site) for r in regions):
            given = [v for i in value.inputs for v in (i, *(i.elements if isinstance(i, Sequence) else ()))]
            if any(map(is_fed_number, given)):
                return value
    return None


def _grows(run: RunCall, size: BatchSize) -> bool:
    """Whether the number that a run is fed is a multiple of the batch size, or counted by Python of what is there."""
    numbers = [value for key, value in run.feeds if is_fed_number(key)]
    return bool(numbers) and all(_is_of_batch(number, size) for number in numbers)


def _is_of_batch(value: Value, size: BatchSize) -> bool:
    counted = not isinstance(value, Number) or all(o.key[0] == "computed" for o in value.origins)
    return counted and getattr(value, "value", None) is None or bool(getattr(value, "linear", set()) & size.scaled)

"""Batch sizes that are fed: a placeholder for the number of examples, which the towers count for themselves."""

from __future__ import annotations

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.tensors.size_names import named_batch
from converter.analysis.values import FED, Input, Number, Sequence, Tensor, Value, needed
from converter.planner.batch_size import BatchSize
from converter.planner.findings import refuse
from converter.planner.region import Region
from converter.planner.traffic import Traffic

HINT = "read it off an input in the model, as tf.shape(X)[0]"


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


def is_fed_number(value: Value) -> bool:
    """Whether a number is made of one that is fed."""
    return isinstance(value, Number) and any(o.key[0] == FED for o in value.origins)


def counted_rows(facts: Facts, traffic: Traffic, access: Access) -> tuple[str, int, str] | None:
    """What a tower counts in place of a batch size that is fed: a shard, its batch axis, and the number's type.

    None for a batch size that is known before the graph runs.
    """
    if not is_fed_number(access.value):
        return None
    placeholder = access.value.inputs[0] if access.value in facts.fed_sizes else None
    if not isinstance(placeholder, Input):
        raise refuse(facts, access.node, "TMG207", "the model reads a number that is made of a fed batch size in front "
                     "of it", "compute it inside the model")  # fmt: skip
    cut = [s for s in traffic.shards if not s.sparse and not s.data and (s.places or s.lead)]
    if len(cut) != 1 or len(traffic.shards) != 1:
        raise refuse(facts, access.node, "TMG207", "the batch size is fed to the model, and it is not known which of "
                     "its inputs has as many rows", HINT)  # fmt: skip
    name, axis = (cut[0].lead[0], cut[0].lead[2]) if cut[0].lead else (cut[0].places[0], cut[0].axes[0])
    return name, axis, placeholder.dtype

"""The inputs behind the losses, and batches that cannot be cut into shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from converter.analysis.facts import Facts, TrainStep, behind_losses
from converter.analysis.reasons import Why
from converter.analysis.values import Input, Tensor, Value, is_of_own
from converter.diagnostics import Diagnostic
from converter.planner.questions.drawn_batches import drawn_in
from converter.planner.wording import finding


def batch_inputs(steps: Iterable[TrainStep]) -> tuple[Input, ...]:
    """The inputs behind the losses that are cut into shards; none where the towers draw their batches themselves."""
    values = behind_losses(steps).values()
    found = [v for v in values if isinstance(v, Input) and v.is_batch]
    return tuple(sorted(found, key=lambda v: v.uid))


def batches_behind(steps: Iterable[TrainStep]) -> set[Value]:
    """The inputs behind the losses, and the batches that the towers draw themselves."""
    values = behind_losses(steps)
    return {*(v for v in values.values() if isinstance(v, Input) and v.is_batch), *drawn_in(values)}


def uncut_values(facts: Facts, steps: Sequence[TrainStep], keys: Mapping[Why, str]) -> Iterator[Diagnostic]:
    """The first value behind the losses that cannot be cut for one of these reasons. keys: of their messages."""
    for value in behind_losses(steps).values():
        lost = isinstance(value, Tensor) and value.batch.kind == "opaque" and not is_of_own(value)
        why = value.batch.why if isinstance(value, Tensor) and lost else None
        if isinstance(value, Tensor) and why is not None and why in keys:
            yield finding(facts, value.node or steps[0].call, keys[why], reason=value.batch.reason)
            return

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


def met_inputs(facts: Facts, steps: Iterable[TrainStep]) -> tuple[Input, ...]:
    """Batches that the losses do not need, and whose rows meet those of the losses' inputs: labels of a metric.

    Each step is fed them: what another run alone is fed may be a single row.
    """
    own, trained = {*batch_inputs(steps)}, {step.result.uid for step in steps}
    fed = {key for run in facts.runs if run.computes(trained) for key, _ in run.feeds}
    met = {root for tensor in facts.tensors if not own.isdisjoint(tensor.roots) for root in tensor.roots}
    found = [v for v in met - own if isinstance(v, Input) and v.batch.kind == "example" and v in fed]
    return tuple(sorted(found, key=lambda v: v.uid))


def batches_behind(steps: Iterable[TrainStep]) -> set[Value]:
    """The inputs behind the losses, and the batches that the towers draw themselves."""
    values = behind_losses(steps)
    return {*(v for v in values.values() if isinstance(v, Input) and v.is_batch), *drawn_in(values)}


def uncut_values(facts: Facts, steps: Sequence[TrainStep], keys: Mapping[Why, str]) -> Iterator[Diagnostic]:
    """The value behind the losses that is made first of those that cannot be cut for one of these reasons.

    keys: of their messages.
    """
    tensors = (value for value in behind_losses(steps).values() if isinstance(value, Tensor))
    lost = [t for t in tensors if t.batch.kind == "opaque" and t.batch.why in keys and not is_of_own(t)]
    value = min(lost, key=lambda tensor: (tensor.node is None, tensor.uid), default=None)
    if value is not None and value.batch.why is not None:
        yield finding(facts, value.node or steps[0].call, keys[value.batch.why], reason=value.batch.reason)

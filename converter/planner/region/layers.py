"""Layers: operations that compute with weights."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, Variable
from converter.planner.region.prepared_batches import MODEL

SHARE = 0.9  # of the layers between inputs and losses, at least so many must be in the towers


def layers_in(facts: Facts, values: Iterable[Value]) -> list[Tensor]:
    """The tensors that are computed from a batch and from weights, one for each place where the script does so."""
    makers = {e.node for e in facts.effects if e.kind in MODEL and not isinstance(e.value, Variable)}
    found = [
        t
        for t in values
        if isinstance(t, Tensor)
        and not isinstance(t, Input)
        and (t.roots or t.batch.kind != "free")
        and not has(t.op, Trait.LOOKS_UP)
        and (t.node in makers or any(map(_is_weight, t.inputs)))
    ]
    return list({(t.node, t.site.frame.uid if t.site is not None else 0): t for t in found}.values())


def _is_weight(value: Value) -> bool:
    """Whether a value is a variable, or one that is only read, cast, or put into another shape."""
    if isinstance(value, Variable):
        return True
    plain = isinstance(value, Tensor) and value.batch.kind == "free" and len(value.inputs) <= 2
    return plain and any(isinstance(v, Variable) for v in value.inputs)

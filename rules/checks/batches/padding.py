"""Sequences that are padded to the longest of their batch, of which a tower sees a share."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.traits import Trait, has
from converter.analysis.values import OF_SHARD, OPEN, Factor, Length, ShapeOf, Tensor, Value, needed, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.padded_widths import depends_on_width, padded_inputs
from converter.planner.host.padding import not_cut, uncut_lengths
from converter.planner.wording import finding

CODES = ("TMG227", "TMG349")


@check(Placed)
def as_wide_as_a_shard(case: Placed) -> Iterator[Diagnostic]:
    """Masks and decoders that end at the longest sequence of a shard, where the batch goes on to that of all shards."""
    for uncut in uncut_lengths(case.facts, case.regions):
        yield not_cut(case.facts, uncut)
    behind = (value for region in case.regions for value in region.needed.values() if isinstance(value, Tensor))
    nodes = dict.fromkeys(tensor.node for tensor in behind if _meets(tensor))
    yield from (finding(case.facts, node, "TMG227 loop_of_shard") for node in nodes if node is not None)


def _meets(tensor: Tensor) -> bool:
    """Whether the steps that a loop took for a tower's shard stand beside those of the whole padded batch.

    They lie along the same axis of two operands, or other values are reshaped to so many steps.
    """
    if has(tensor.op, Trait.SAME_NUMBERS):
        asked = {length for shape in tensor.inputs[1:] for length in _asked(shape) if _is_of_shard(length)}
        made = needed(tensor.inputs[:1]).values() if asked else ()
        return any(not any(length in (getattr(v, "lengths", None) or ()) for v in made) for length in asked)
    if not has(tensor.op, Trait.ROW_BY_ROW) and not has(tensor.op, Trait.BESIDE_ROWS):
        return False
    given = [t.lengths for v in tensor.inputs for t in tensors_in(v) if t.batch.kind == "example" and t.lengths]
    pairs = (pair for one in given for two in given for pair in zip(one, two, strict=False))
    return any(_is_of_shard(steps) and _is_padded(width) for steps, width in pairs)


def _asked(shape: Value) -> Iterator[Factor]:
    """The lengths that a shape consists of."""
    if isinstance(shape, ShapeOf):
        yield from shape.tensor.lengths or ()
    elif isinstance(shape, Length):
        yield shape.factor
    for part in shape.parts():
        yield from _asked(part)


def _is_of_shard(length: Factor) -> bool:
    return isinstance(length, str) and length.startswith(OF_SHARD)


def _is_padded(length: Factor) -> bool:
    """Whether a length is fed with the batch, or written out."""
    return length.startswith(OPEN) if isinstance(length, str) else length not in (None, 1)


@check(Placed, batch="per-gpu")
def padded_further(case: Placed) -> Iterator[Diagnostic]:
    """Batches that are as wide as their longest sequence, where the loss depends on it and the batch grows."""
    padded = padded_inputs(case.facts, case.steps, case.size.scaled)
    wider = [step for step in case.steps if depends_on_width(case.facts, step, padded.keys())]
    for node in dict.fromkeys(node for i, node in padded.items() if any(i in step.behind.values() for step in wider)):
        yield finding(case.facts, node, "TMG349")

"""What towers that end before the loss hand over to it."""

from __future__ import annotations

from converter.analysis.facts import Facts
from converter.analysis.values import Input, Tensor, tensors_in
from converter.planner.merges.merging import Wanted
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse


def check_handed(facts: Facts, region: Region, wanted: Wanted) -> None:
    """Refuses a loss behind the loop that would read what no merge gives: one tower's share of it."""
    merged = {t.uid for part, _ in wanted.values() for t in (part.value, *tensors_in(part.value))}
    for value in region.needed.values():
        if isinstance(value, Input) or region.in_tower(value.site):
            continue
        node = value.node if isinstance(value, Tensor) else None
        for tensor in (t for v in (*value.inputs, *value.parts()) for t in tensors_in(v)):
            made = depends_on_batch(tensor) and region.in_tower(tensor.site)
            if made and tensor.uid not in merged:
                raise refuse(facts, node or tensor.node or facts.tree, "TMG209",
                             "what the loss takes from the towers has no name where they are built",
                             "make the inputs of the model before it, or assign its result to a variable")  # fmt: skip

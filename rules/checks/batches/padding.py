"""Sequences that are padded to the longest of their batch, of which a tower sees a share."""

from __future__ import annotations

from collections.abc import Iterator

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


@check(Placed, batch="per-gpu")
def padded_further(case: Placed) -> Iterator[Diagnostic]:
    """Batches that are as wide as their longest sequence, where the loss depends on it and the batch grows."""
    padded = padded_inputs(case.facts, case.steps, case.size.scaled)
    wider = [step for step in case.steps if depends_on_width(case.facts, step, padded.keys())]
    for node in dict.fromkeys(node for i, node in padded.items() if any(i in step.behind.values() for step in wider)):
        yield finding(case.facts, node, "TMG349")

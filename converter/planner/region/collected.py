"""Statements that add to collections of the graph that other statements read."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.effects import READS_COLLECTION, EffectKind
from converter.analysis.facts import Facts
from converter.planner.region.block import Block

UNKNOWN = "None"  # a collection whose key is not a constant


def is_collected_for(facts: Facts, adds: Block, index: int, reads: Block, others: Iterable[int]) -> bool:
    """Whether a statement of one block adds to a collection that some statements of another, or of the same, read."""
    added = {e.name for e in adds.effects_in([index]) if e.kind is EffectKind.COLLECTION}
    if not added:
        return False
    read = {e.name for e in reads.effects_in(set(others)) if e.kind in READS_COLLECTION}
    return bool(added & read) or (bool(read) and UNKNOWN in added | read)

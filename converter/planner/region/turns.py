"""Turns of the script's loops around the block in which the towers are built: each of them builds towers anew."""

from __future__ import annotations

from bisect import bisect_right

from converter.analysis.facts import Facts
from converter.analysis.values import Site
from converter.planner.region.block import Block


def turns_around(facts: Facts, block: Block, site: Site, time: int) -> tuple[int, ...]:
    """For each loop around a block, innermost first, the turn in which something in the block was made."""
    chain = list(site.chain())
    inside = next((n for n, step in enumerate(chain) if step.stmt in block.index), len(chain))
    return tuple(bisect_right(facts.turns[step], time) for step in chain[inside + 1 :] if step in facts.turns)

"""Rows that are collected for several batches and then sorted: `for _ in range(20 * batch_size): rows.append(…)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.arrays.filled_lists import puts_one
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.values import Number, Origin, Site, grows_with
from converter.planner.own.names import function_of

SORTS = ("sort", "sorted", "argsort", "shuffle", "lexsort")


def sorted_buffers(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The loops that collect rows for some batches of the size that grows, in functions that sort or shuffle them.

    Steps take other rows together than the original's batches where more rows are sorted at once.
    """
    scaled = set(sizes)
    puts = (effect for effect in facts.effects_of(EffectKind.MUTATION) if puts_one(effect))
    fills = {site for put in puts for site in put.site.chain()}
    for site in facts.turned:
        if site in fills and isinstance(site.stmt, ast.For) and _takes_several(facts, site, scaled):
            calls = (node.func for node in ast.walk(function_of(facts, site.stmt)) if isinstance(node, ast.Call))
            if any(getattr(func, "attr", getattr(func, "id", "")) in SORTS for func in calls):
                yield site.stmt.iter


def _takes_several(facts: Facts, site: Site, scaled: set[Origin]) -> bool:
    """Whether a loop has as many turns as several batches have rows."""
    ends = facts.ranges.get(facts.turned[site].uid, [])[:1]
    return any(isinstance(end, Number) and end.op == "multiply" and grows_with(end, scaled) for end in ends)

"""A single row of the script's data is read at a place that is computed from the batch size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.frames import Access
from converter.analysis.values import Host, Input, Number, Origin, Sequence, depends_on, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG386",)


@check(Placed, batch="per-gpu")
def row_at_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Warn of reads of one row, outside of the model, at an index that grows with the batch."""
    scaled = case.size.scaled
    picks = [a for a in case.facts.accesses if _picks(a, scaled)]
    picks = [a for a in picks if not any(region.in_any_tower(a.site) for region in case.regions)]
    loops = [*case.facts.turned.values(), *(over for _, over in case.facts.comprehended)] if picks else []
    turns = {v.uid for over in loops for v in over.parts()}
    fed = needed(v for run in case.facts.runs for _, v in run.feeds) if picks else {}
    told: set[ast.AST] = set()
    for access in picks:
        counted = not turns.isdisjoint(needed(access.value.inputs[1:]))
        if not counted and access.value.uid not in fed and access.site.stmt not in told:
            told.add(access.site.stmt)
            yield finding(case.facts, access.node, "TMG386")


def _picks(access: Access, scaled: frozenset[Origin]) -> bool:
    """Whether one row is picked, by a number that grows, of what has a number of rows of its own."""
    if access.write or not isinstance(access.node, ast.Subscript) or not isinstance(access.value, Host):
        return False
    if access.value.call != "[]" or len(access.value.inputs) != 2:
        return False
    holder, key = access.value.inputs
    if isinstance(access.node.slice, ast.Tuple) and isinstance(key, Sequence) and key.elements:
        key = key.elements[0]
    if not isinstance(key, Number) or not key.origins & scaled or not isinstance(holder, (Host, Sequence)):
        return False
    if not all(o.key[0] in ("literal", "flag") for o in key.origins):
        return False  # a share of a number of examples
    behind = needed([holder]).values()
    return not depends_on([holder], scaled) and not any(
        isinstance(v, Input) or getattr(v, "call", "") == "run" for v in behind
    )

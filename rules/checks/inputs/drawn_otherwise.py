"""Random draws on the host whose number changes with the batch size, if the batch grows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.planner.batch_size.intervals import warm_ups
from converter.planner.cases import Placed
from converter.planner.checking import each
from converter.planner.host.random_draws import drawn_from_buffers, shuffled_batches

CODES = ("TMG347", "TMG348")

shuffled = each(Placed, "TMG347", lambda case: shuffled_batches(case.facts, case.size.scaled), batch="per-gpu")
drawn = each(Placed, "TMG348 drawn", lambda case: drawn_from_buffers(case.facts, case.size.scaled), batch="per-gpu")


def _waits(case: Placed) -> Iterator[ast.AST]:
    """Where training begins with as many rows as a batch has; the draws themselves say it already."""
    if not any(drawn_from_buffers(case.facts, case.size.scaled)):
        yield from warm_ups(case.facts, case.regions, case.steps, case.size.scaled)


begun = each(Placed, "TMG348 begun", _waits, batch="per-gpu")

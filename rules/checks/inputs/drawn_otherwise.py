"""Random draws on the host whose number changes with the batch size, if the batch grows."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.intervals import warm_ups
from converter.planner.cases import Placed
from converter.planner.checking import check, each
from converter.planner.host.random_draws import drawn_from_buffers, shuffled_batches
from converter.planner.wording import finding

CODES = ("TMG347", "TMG348")

shuffled = each(Placed, "TMG347", lambda case: shuffled_batches(case.facts, case.size.scaled), batch="per-gpu")


@check(Placed, batch="per-gpu")
def collected(case: Placed) -> Iterator[Diagnostic]:
    """Draws from what the script collects; without any, where training waits for as many rows as a batch has."""
    draws = list(drawn_from_buffers(case.facts, case.size.scaled))
    yield from (finding(case.facts, node, "TMG348 drawn") for node in draws)
    yield from (finding(case.facts, node, "TMG348 begun") for node in (() if draws else warm_ups(case.size_reads)))

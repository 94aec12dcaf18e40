"""Random draws on the host whose number changes with the batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.random_draws import drawn_from_buffers, shuffled_batches
from converter.planner.wording import finding

CODES = ("TMG347", "TMG348")

DRAWS = {shuffled_batches: "TMG347", drawn_from_buffers: "TMG348"}  # what finds them


@check(Placed)
def drawn(case: Placed) -> Iterator[Diagnostic]:
    """Batches in a random order, and rows drawn from what the script collects, if the batch grows."""
    for found_by, code in DRAWS.items() if case.options.batch == "per-gpu" else ():
        for node in found_by(case.facts, case.size.scaled):
            yield finding(case.facts, node, code)

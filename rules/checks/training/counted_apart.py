"""The script counts by a number that is as large as the batch size, or by another batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.counts import counted_again, divided_apart, other_sizes
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG338", "TMG399")


@check(Placed, batch="per-gpu")
def counted_apart(case: Placed) -> Iterator[Diagnostic]:
    """Numbers beside a count of steps that are as large as a batch size that grows."""
    doubtful = counted_again(case.facts, case.steps, case.size.scaled).doubtful
    for node in doubtful:
        yield finding(case.facts, node, "TMG338 counts")
    for node in (n for n in divided_apart(case.facts, case.size.scaled) if n not in doubtful):
        yield finding(case.facts, node, "TMG338 divides")


@check(Placed, batch="per-gpu")
def counted_by_another(case: Placed) -> Iterator[Diagnostic]:
    """Loops around the training steps that are counted by another batch size than the one that grows. Says so once."""
    for node, name in other_sizes(case.facts, case.steps, case.size.scaled):
        yield finding(case.facts, node, "TMG399", name=name)
        return

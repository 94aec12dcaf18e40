"""An evaluation takes as many whole batches as fit into its rows, and a batch is larger."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG345",)


@check(Shared)
def whole_batches_only(case: Shared) -> Iterator[Diagnostic]:
    """Evaluations that leave rows out, or feed a batch that is not taken, if the batch grows."""
    found, single = case.evaluations, case.one_tower
    for node, batches in found.few(single):
        if batches is None:
            yield finding(case.facts, node, "TMG345 fewer_than_a_batch")
        else:
            yield finding(case.facts, node, "TMG345 few_batches", batches=batches, gpus=found.gpus)
    for node in found.pipelines(single):
        yield finding(case.facts, node, "TMG345 pipeline")
    for node in found.smaller_ends(single):
        yield finding(case.facts, node, "TMG345 smaller_end")
    for node in found.cut_short(single):
        yield finding(case.facts, node, "TMG345 fewer_than_a_batch")
    for node, stop in found.behind_stop(single):
        yield finding(case.facts, node, "TMG345 behind_stop", stop=stop)
    for node in found.far(single):
        yield finding(case.facts, node, "TMG345 far")

"""An evaluation takes as many whole batches as fit into its rows, and a batch is larger."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG345",)
HINT = (
    "let the evaluation's last batch be smaller (range(0, n, batch_size)), or give it a batch size of its own "
    "(--eval-batch script, where training does not share it)"
)
OPEN = "leave the input's number of rows open (None), pad the last batch, or leave it out"
PIPELINE = (
    "let its last batch be smaller (without drop_remainder, or allow_smaller_final_batch=True), give it a size of its "
    "own (--eval-batch script, where training does not share it), or start what only evaluates with num_gpus 1"
)


@check(Shared)
def whole_batches_only(case: Shared) -> Iterator[Diagnostic]:
    """Evaluations that leave rows out, or feed a batch that is not taken, if the batch grows."""
    found, single = case.evaluations, case.untrained
    for node, batches in found.few(single):
        message = (
            f"this evaluation has rows for {batches} of the script's batches, and so for none of {found.gpus} GPUs"
        )
        if batches is None:
            message = "this evaluation takes whole batches, which are N times as large: of fewer rows it takes none"
        yield warn(case.facts, node, "TMG345", message, HINT)
    for node in found.pipelines(single):
        message = (
            "this pipeline beside training gives whole batches, which are N times as large: it leaves out up to N "
            "times as many examples, and all of them where they are fewer than a batch"
        )
        yield warn(case.facts, node, "TMG345", message, PIPELINE)
    for node in found.smaller_ends(single):
        message = (
            "this loop feeds whole batches only where its rows are a multiple of N times the batch size: the input "
            "takes no other number of rows, and TensorFlow would reject a smaller last batch"
        )
        yield warn(case.facts, node, "TMG345", message, OPEN)

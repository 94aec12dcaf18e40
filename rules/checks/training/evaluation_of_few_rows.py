"""An evaluation takes as many whole batches as fit into its rows, and a batch is larger."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.evaluations import evaluations, smaller_ends, whole_batches
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


@check(Placed)
def whole_batches_only(case: Placed) -> Iterator[Diagnostic]:
    """Loops of evaluations over whole batches, if the batch grows."""
    if case.options.batch != "per-gpu":
        return
    gpus, kept = case.options.num_gpus or 2, case.evaluated.calls
    for node, batches in evaluations(case.facts, case.steps, case.size.scaled, kept):
        if batches is None:
            message = "this evaluation takes whole batches, which are N times as large: of fewer rows it takes none"
        elif 0 < batches < gpus:
            message = f"this evaluation has rows for {batches} of the script's batches, and so for none of {gpus} GPUs"
        else:
            continue
        yield warn(case.facts, node, "TMG345", message, HINT)


@check(Placed)
def rest_left_out(case: Placed) -> Iterator[Diagnostic]:
    """Pipelines of evaluations that leave out what is no whole batch, if the batch grows."""
    if case.options.batch != "per-gpu":
        return
    kept = case.evaluated.calls
    inputs = [value for region in case.regions for value in region.inputs]
    for node in whole_batches(case.facts, inputs, list(case.steps), case.size.scaled, kept):
        message = (
            "this pipeline beside training gives whole batches, which are N times as large: it leaves out up to N "
            "times as many examples, and all of them where they are fewer than a batch"
        )
        yield warn(case.facts, node, "TMG345", message, PIPELINE)


@check(Placed)
def smaller_last_batch(case: Placed) -> Iterator[Diagnostic]:
    """Loops that feed a smaller last batch to an input of a fixed number of rows, if that grows."""
    if case.options.batch != "per-gpu":
        return
    gpus, kept = case.options.num_gpus or 2, case.evaluated.calls
    for node in smaller_ends(case.facts, case.size.scaled, gpus, kept):
        message = (
            "this loop feeds whole batches only where its rows are a multiple of N times the batch size: the input "
            "takes no other number of rows, and TensorFlow would reject a smaller last batch"
        )
        yield warn(case.facts, node, "TMG345", message, OPEN)

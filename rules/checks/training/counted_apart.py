"""The script counts by a number that is as large as the batch size, or by a fixed number of batches."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.counts import counted_again, divided_apart, other_sizes
from converter.planner.batch_size.overlapping import fixed_strides, fixed_turns
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG338", "TMG339", "TMG399")


@check(Placed)
def counted_apart(case: Placed) -> Iterator[Diagnostic]:
    """Numbers beside a count of steps that are as large as a batch size that grows."""
    if case.options.batch != "per-gpu":
        return
    doubtful = counted_again(case.facts, case.steps, case.size.scaled).doubtful
    for node in doubtful:
        yield warn(
            case.facts,
            node,
            "TMG338",
            "this number equals the batch size, and was left unchanged: if it counts examples, the count is now too "
            "small",
            "give the batch size a name, and use the name wherever examples are counted",
        )
    for node in (n for n in divided_apart(case.facts, case.size.scaled) if n not in doubtful):
        yield warn(
            case.facts,
            node,
            "TMG338",
            "this number equals the batch size, and was left unchanged: if a number of examples is divided by it, the "
            "number of steps is now N times too large",
            "give the batch size a name, and divide by that",
        )


@check(Placed)
def turns_that_stay(case: Placed) -> Iterator[Diagnostic]:
    """Loops that walk through rows by the batch size, as often as before. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node in fixed_turns(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG339",
            "this loop has a fixed number of iterations, and each takes the rows at its number times the batch size: "
            "the batches now reach N times as far, perhaps past the last row",
            "compute the number of iterations from the batch size: len(data) // batch_size",
        )
        return
    for node in fixed_strides(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG339",
            "this loop has a fixed number of iterations, and each moves on by the batch size: the batches now reach N "
            "times as far, perhaps past the last row",
            "compute the number of iterations from the batch size: len(data) // batch_size",
        )
        return


@check(Placed)
def counted_by_another(case: Placed) -> Iterator[Diagnostic]:
    """Loops around the training steps that are counted by another batch size than the one that grows. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node, name in other_sizes(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG399",
            f"the training steps are counted by this {name}, and the batches are made by another number: that one "
            "grows, and as many steps take N times the examples",
            "make the batches, and count them, by one number",
        )
        return

"""Models in which the place of an example in its batch decides what is computed for it."""

from __future__ import annotations

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.writing.findings import refuse, warn


def check_numbered(facts: Facts, steps: list[TrainStep], total: bool) -> tuple[Diagnostic, ...]:
    """Warns of rows that are told apart by their numbers, and refuses them where a tower takes a part of a batch.

    Each tower counts its rows from 0: as the original does on a batch of its own, but not within one batch for all.
    """
    numbers: dict[int, Value] = {}
    for value in sorted(needed(step.loss for step in steps).values(), key=lambda v: v.uid):
        if not isinstance(value, Tensor):
            continue
        parts = [v for v in value.inputs if isinstance(v, Tensor)]
        counted = [v for v in parts if v.uid in numbers]
        if value.op == "range" and value.batch.kind == "example" or counted and has(value.op, Trait.PASSES_ROW_NUMBERS):
            numbers[value.uid] = value
        elif (len(counted) == 1 and has(value.op, Trait.TELLS_ROWS)) or (counted and _looks_up(value)):
            message = "the number of an example's row decides what is computed for it, and each tower counts from 0"
            if total:
                raise refuse(facts, value.node or steps[0].call, "TMG244", message,
                             "tell examples apart by what is fed with them")  # fmt: skip
            hint = "see that the rows of a smaller last batch may be counted anew on each GPU"
            return (warn(facts, value.node or steps[0].call, "TMG317", message, hint),)
    return ()


def _looks_up(value: Tensor) -> bool:
    """Whether rows are numbers in a table which is no batch."""
    table = value.inputs[0] if value.inputs else None
    return has(value.op, Trait.LOOKS_UP) and (not isinstance(table, Tensor) or table.batch.kind == "free")

"""An example is treated by its row number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import behind_losses
from converter.analysis.reasons import Why
from converter.analysis.tensors.places import RANGES
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.region.inputs import uncut_values
from converter.planner.wording import finding

CODES = ("TMG244", "TMG317", "TMG249")


@check(Placed)
def told_apart_by_row(case: Placed) -> Iterator[Diagnostic]:
    """Rows that are told apart by their numbers: refused where a tower takes a part of a batch.

    Each tower counts its rows from 0: as the original does on a batch of its own, but not within one batch for all.
    """
    in_towers = [step for group in case.groups if not group.region.exact for step in group.steps]
    numbers: dict[int, Value] = {}
    fractions: set[int] = set()  # those of them that no place in the batch is computed from any more
    for value in sorted(behind_losses(in_towers).values(), key=lambda v: v.uid):
        if not isinstance(value, Tensor):
            continue
        parts = [v for v in value.inputs if isinstance(v, Tensor)]
        counted = [v for v in parts if v.uid in numbers]
        numbered = value.op in RANGES and value.batch.kind == "example"
        fraction = any(v.uid in fractions for v in counted)
        weighs = fraction and any(_is_data(v) for v in parts if v not in counted)
        passes = has(value.op, Trait.PASSES_ROW_NUMBERS) or (fraction and has(value.op, Trait.OF_ONE_NUMBER))
        if not weighs and (numbered or (counted and passes)):
            numbers[value.uid] = value
            if fraction or _becomes_float(value):
                fractions.add(value.uid)
        elif weighs or (len(counted) == 1 and has(value.op, Trait.TELLS_ROWS)) or (counted and _looks_up(value)):
            code = "TMG244" if case.options.batch == "total" else "TMG317"
            yield finding(case.facts, value.node or case.steps[0].call, code)
            return


def _becomes_float(value: Tensor) -> bool:
    """Whether numbers become floats: `tf.cast(rows, tf.float32)`, `tf.to_float(rows)`; or are made as floats."""
    if has(value.op, Trait.FLOAT32):
        return True
    call = value.node
    given = [*call.args[1:], *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    told = has(value.op, Trait.TAKES_DTYPE) or value.op in RANGES
    return told and any("float" in ast.unparse(node) for node in given)


def _is_data(value: Tensor) -> bool:
    return value.batch.kind == "example"


def _looks_up(value: Tensor) -> bool:
    """Whether rows are numbers in a table which is no batch."""
    table = value.inputs[0] if value.inputs else None
    return has(value.op, Trait.LOOKS_UP) and (not isinstance(table, Tensor) or table.batch.kind == "free")


@check(Selected)
def numbered_by_the_script(case: Selected) -> Iterator[Diagnostic]:
    """Rows of the batch that are picked by numbers which are fed."""
    yield from uncut_values(case.facts, case.steps, {Why.PLACES_FED: "TMG249"})

"""The name of a checkpoint, or of its folder, holds the batch size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.values import Host, Number, Sequence, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG388",)

WRITES = ("format", "str")  # what formats numbers into a text


@check(Shared)
def named_by_batch_size(case: Shared) -> Iterator[Diagnostic]:
    """Files of variables whose name is made with a number that grows. Says so once for a number's place."""
    grown = {replace.at for plan in case.plans for replace in plan.replaces if replace.why == "TMG110"}
    told: set[object] = set()
    for effect in case.facts.effects_of(EffectKind.CHECKPOINT) if grown else ():
        behind = needed([effect.value] if effect.value is not None else [])
        texts = [v for v in behind.values() if isinstance(v, Host) and v.call in WRITES]
        for number in (n for text in texts for n in _written(text)):
            nodes = [o.node for o in number.origins if isinstance(o.node, ast.expr)]
            places = [(node.lineno, node.col_offset, case.facts.path_of(node)) for node in nodes]
            if len(places) == len(number.origins) == 1 and places[0] in grown and not told & {places[0], effect.node}:
                told |= {places[0], effect.node}
                yield finding(case.facts, effect.node, "TMG388")


def _written(text: Host) -> Iterator[Number]:
    """The batch sizes that a text is made of; products of them count something else."""
    given: list[Value] = [v for value in text.inputs for v in (value, *_parts(value))]
    for value in given:
        if isinstance(value, Number) and value.factors() and not any(isinstance(v, Number) for v in value.inputs[1:]):
            yield value


def _parts(value: Value) -> list[Value]:
    return value.elements if isinstance(value, Sequence) else []

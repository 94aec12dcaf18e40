"""Rows of an input in a random order: made once of the whole batch, in front of the towers, they are an input too."""

from __future__ import annotations

import ast

from converter.analysis.facts import Decisions, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Batch, Input, Tensor


def shuffled_inputs(facts: Facts) -> Decisions:
    """The calls that shuffle the rows of an input in a statement of its own, beside the one that makes the input.

    A tower that shuffled its own rows would draw only among these.
    """
    calls = [t for t in facts.tensors if has(t.op, Trait.SHUFFLES_ROWS) and t.node is not None]
    alone = [t for t in calls if sum(other.node is t.node for other in calls) == 1]
    return {t.node: 0 for t in alone if t.node is not None and _stands_beside_its_input(t)}


def _stands_beside_its_input(shuffled: Tensor) -> bool:
    rows = next((v for v in shuffled.inputs if isinstance(v, Tensor)), None)
    if not isinstance(rows, Input) or rows.batch != Batch("example", 0) or rows.site is None or shuffled.site is None:
        return False
    stmt = shuffled.site.stmt
    return isinstance(stmt, ast.Assign) and stmt.value is shuffled.node and shuffled.site.parent == rows.site.parent

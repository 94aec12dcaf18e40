"""Summaries, savers and other host side objects: they stay after the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG315",)


@check(Placed)
def summaries_of_the_model(case: Placed) -> Iterator[Diagnostic]:
    """Summaries that the towers make: each has its own, of its shard and under its scope. Says so once."""
    made = [e for e in case.facts.effects if e.kind is EffectKind.COLLECTION and e.name == "summaries"]
    made = [e for e in made if any(region.in_tower(e.site) for region in case.regions)]
    share = next((e for e in made if _is_of_batch(case, e)), None)
    if share is not None:
        yield finding(case.facts, share.node, "TMG315 of_a_share")
    elif made:
        yield finding(case.facts, made[0].node, "TMG315 of_the_model")


def _is_of_batch(case: Placed, made: Effect) -> bool:
    """Whether a summary shows what depends on the batch, and not a variable, as far as can be told."""
    call = made.node
    given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    read = [a.value for n in given for a in case.facts.accesses_at(n) if a.site.frame.uid == made.site.frame.uid]
    shown = [value for value in read if isinstance(value, Tensor)]
    return not shown or any(value.batch.kind != "free" for value in shown)

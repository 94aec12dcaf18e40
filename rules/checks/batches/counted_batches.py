"""A number of batches is taken from a data set, or left out."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.values import grows_with
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG396",)


@check(Placed, batch="per-gpu")
def counted_batches(case: Placed) -> Iterator[Diagnostic]:
    """`take`, `skip` and `shard` behind `batch`, where a batch grows and their number does not follow it."""
    for call, effect in {one.node: one for one in case.facts.effects_of(EffectKind.BATCHES_COUNTED)}.items():
        if grows_with(effect.value, case.size.scaled):
            yield finding(case.facts, call, "TMG396", method=effect.name)

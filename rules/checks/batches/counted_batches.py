"""A number of batches is taken from a data set, or left out."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.values import Number
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG396",)


@check(Placed)
def counted_batches(case: Placed) -> Iterator[Diagnostic]:
    """`take` and `skip` behind `batch`, where a batch grows and their number does not follow it."""
    effects = case.facts.effects_of(EffectKind.BATCHES_COUNTED) if case.options.batch == "per-gpu" else ()
    for call, effect in {effect.node: effect for effect in effects}.items():
        if isinstance(effect.value, Number) and effect.value.linear & case.size.scaled:
            yield warn(
                case.facts,
                call,
                "TMG396",
                f"{effect.name}() counts batches here, each of which has N times as many examples with N GPUs",
                f"call {effect.name}() before batch(), where it counts examples; or compute the number of batches from "
                "the batch size",
            )

"""Code that runs eagerly, as TensorFlow 2 does."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG235",)


@check(Selected)
def trains_eagerly(case: Selected) -> Iterator[Diagnostic]:
    """Scripts without a graph."""
    eager = next((e for e in case.facts.effects_of(EffectKind.EAGER)), None)
    if eager is not None and not case.trains_on_batches:
        yield finding(case.facts, eager.node, "TMG235", name=eager.name)

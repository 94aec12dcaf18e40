"""An imported file of the project cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG013",)


@check(Placed)
def unread_modules(case: Placed) -> Iterator[Diagnostic]:
    """Files of the project that could not be followed."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.UNREAD_MODULE:
            yield finding(case.facts, effect.node, "TMG013", name=effect.name)

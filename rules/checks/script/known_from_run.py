"""The result of a call is known only from a run of the script."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG309",)


@check(Placed)
def known_from_a_run(case: Placed) -> Iterator[Diagnostic]:
    """Calls whose results are known from a run of the script (`--trace`)."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.TRACED:
            yield finding(case.facts, effect.node, "TMG309", name=effect.name)

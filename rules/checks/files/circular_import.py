"""Files of the project import each other, and a name is imported before it is defined."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG014",)


@check(Placed)
def circular_imports(case: Placed) -> Iterator[Diagnostic]:
    """Warn of names that are read from a file while it is still being imported."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.CIRCULAR_IMPORT:
            yield finding(case.facts, effect.node, "TMG014", name=effect.name)

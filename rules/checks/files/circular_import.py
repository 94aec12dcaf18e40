"""Files of the project import each other, and a name is imported before it is defined."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG014",)


@check(Placed)
def circular_imports(case: Placed) -> Iterator[Diagnostic]:
    """Warn of names that are read from a file while it is still being imported."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.CIRCULAR_IMPORT:
            yield warn(
                case.facts,
                effect.node,
                "TMG014",
                f"{effect.name} is imported from a file that is still being imported, and does not have it yet: "
                "Python stops here",
                "import the module itself, and read the name from it where it is needed",
            )

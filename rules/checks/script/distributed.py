"""The script is distributed already."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Started
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG217",)


@check(Started)
def distributed(case: Started) -> Iterator[Diagnostic]:
    """Scripts that train on several machines, or by a distribution strategy."""
    for effect in list(case.facts.effects_of(EffectKind.DISTRIBUTED))[:1]:
        yield finding(case.facts, effect.node, "TMG217 distributed", name=effect.name)

"""A flag chooses a module that would have to change."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG266", "TMG331")


@check(Shared)
def module_chosen_by_a_flag(case: Shared) -> Iterator[Diagnostic]:
    """Modules that a flag names: the flag's default is read, another one would not be changed."""
    changed = {plan.path for plan in case.plans}
    for effect in case.facts.effects:
        if effect.kind is EffectKind.CHOSEN_MODULE and effect.name in changed:
            yield finding(case.facts, effect.node, "TMG266", file=os.path.basename(effect.name))
        elif effect.kind is EffectKind.CHOSEN_MODULE:
            yield finding(case.facts, effect.node, "TMG331")

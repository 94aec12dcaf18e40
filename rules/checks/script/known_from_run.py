"""The result of a call is known only from a run of the script (`--trace`)."""

from __future__ import annotations

from converter.analysis.effects import EffectKind
from converter.planner.cases import Placed
from converter.planner.checking import of_effects

CODES = ("TMG309",)

known_from_a_run = of_effects(Placed, "TMG309", EffectKind.TRACED)

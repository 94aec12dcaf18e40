"""A file of the project is read while it is still being imported."""

from __future__ import annotations

from converter.analysis.effects import EffectKind
from converter.planner.cases import Placed
from converter.planner.checking import of_effects

CODES = ("TMG014",)

circular_imports = of_effects(Placed, "TMG014", EffectKind.CIRCULAR_IMPORT)

"""A file of the project that could not be followed."""

from __future__ import annotations

from converter.analysis.effects import EffectKind
from converter.planner.cases import Placed
from converter.planner.checking import of_effects

CODES = ("TMG013",)

unread_modules = of_effects(Placed, "TMG013", EffectKind.UNREAD_MODULE)

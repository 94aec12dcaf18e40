"""Training steps that only search values for a trained model stay on one GPU."""

from __future__ import annotations

from converter.planner.cases import Selected
from converter.planner.checking import each

CODES = ("TMG379",)

stays_on_one_gpu = each(Selected, "TMG379", lambda case: (step.call for step in case.searches))

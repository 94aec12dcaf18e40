"""Beside the training step that the towers take, an Estimator or Keras trains something."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding
from rules.checks.script.other_training import of_library

CODES = ("TMG398",)


@check(Placed)
def trained_on_one_gpu(case: Placed) -> Iterator[Diagnostic]:
    """Calls that train an Estimator or a Keras model, in a script that gets towers."""
    grows = case.options.batch == "per-gpu" and case.size.scaled
    batches = ", with N times the batch where it takes the script's batch size" if grows else ""
    for effect in case.facts.effects_of(EffectKind.TRAINED_BY_LIBRARY):
        name = of_library(case.facts, effect)
        yield finding(case.facts, effect.node, "TMG398", name=name, batches=batches)

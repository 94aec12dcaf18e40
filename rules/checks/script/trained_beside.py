"""Beside the training step that the towers take, an Estimator, Keras or a tape trains something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.traits import Trait, has
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding
from rules.checks.script.other_training import of_library

CODES = ("TMG398",)


@check(Placed)
def trained_on_one_gpu(case: Placed) -> Iterator[Diagnostic]:
    """Calls that train an Estimator, a Keras model or variables by a tape, in a script that gets towers."""
    grows = case.options.batch == "per-gpu" and case.size.scaled
    batches = ", with N times the batch where it takes the script's batch size" if grows else ""
    for effect in case.facts.effects_of(EffectKind.TRAINED_BY_LIBRARY):
        name = of_library(case.facts, effect)
        yield finding(case.facts, effect.node, "TMG398", name=name, batches=batches)
    tapes = (effect for effect in case.facts.effects_of(EffectKind.EAGER) if _trains(effect))
    for node, name in {effect.node: effect.name for effect in tapes}.items():
        yield finding(case.facts, node, "TMG398", name=f"by {name}", batches=batches)


def _trains(effect: Effect) -> bool:
    """Whether the code around a tape applies gradients."""
    if not has(effect.name.removeprefix("tf."), Trait.TAPE):
        return False
    calls = (node for node in ast.walk(effect.site.frame.node) if isinstance(node, ast.Call))
    return any(has(getattr(call.func, "attr", ""), Trait.TAKES_PAIRS) for call in calls)

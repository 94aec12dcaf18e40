"""Loops or calls build too much to be followed."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, behind_losses
from converter.analysis.values import Host
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected, Started
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG018",)


@check(Started)
def builds_without_end(case: Started) -> Iterator[Diagnostic]:
    """Scripts whose loops and calls execute more statements than the analysis follows."""
    if case.facts.endless is not None:
        yield finding(case.facts, case.facts.endless, "TMG018 builds_without_end")


@check(Selected)
def called_again_and_again(case: Selected) -> Iterator[Diagnostic]:
    """Functions that were followed many times, and then no more: refused where the loss needs what one returns."""
    facts = case.facts
    behind = {uid for uid, value in behind_losses(case.steps).items() if isinstance(value, Host)}
    found: dict[str, Effect] = {}
    for effect in facts.effects if case.steps else ():
        if effect.kind is EffectKind.REPETITION and effect.value is not None:
            if effect.value.uid in behind:
                yield finding(facts, effect.node, "TMG018 by_itself", name=effect.name)
            else:
                found.setdefault(effect.name, effect)
    for name, effect in found.items():
        yield finding(facts, effect.node, "TMG018 several_calls", name=name)

"""Loops or calls build too much to be followed."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, behind_losses
from converter.analysis.values import Host
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected, Started
from converter.planner.checking import check
from converter.planner.writing.findings import error, warn

CODES = ("TMG018",)


OFTEN = "building nothing: what a further call would change is not known"


@check(Started)
def builds_without_end(case: Started) -> Iterator[Diagnostic]:
    """Scripts whose loops and calls execute more statements than the analysis follows."""
    if case.facts.endless is not None:
        yield error(
            case.facts,
            case.facts.endless,
            "TMG018",
            "loops or functions that call each other build too much here to be followed",
            "build the model with fewer turns, or fewer calls inside of calls",
        )


@check(Selected)
def called_again_and_again(case: Selected) -> Iterator[Diagnostic]:
    """Functions that were followed many times, and then no more: refused where the loss needs what one returns."""
    facts = case.facts
    behind = {uid for uid, value in behind_losses(case.steps).items() if isinstance(value, Host)}
    found: dict[str, Effect] = {}
    for effect in facts.effects if case.steps else ():
        if effect.kind is EffectKind.REPETITION and effect.value is not None:
            if effect.value.uid in behind:
                yield error(
                    facts,
                    effect.node,
                    "TMG018",
                    f"the loss needs what {effect.name} gives, which is called again and again, {OFTEN}",
                    "compute it once, in front of the model",
                )
            else:
                found.setdefault(effect.name, effect)
    for name, effect in found.items():
        yield warn(
            facts,
            effect.node,
            "TMG018",
            f"{name} is called again and again, {OFTEN}",
            "prove the conversion with `tf-multigpu verify`",
        )

"""Scripts that are too much to be followed to the end, as a whole or in one of their calls."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts, TrainStep
from converter.analysis.values import Host, needed
from converter.diagnostics import Diagnostic
from converter.planner.writing.findings import refuse, warn

OFTEN = "building nothing: what a further call would change is not known"


def check_endless(facts: Facts) -> None:
    """Refuses a script whose loops and calls execute more statements than the walk may."""
    if facts.endless is not None:
        raise refuse(facts, facts.endless, "TMG018",
                     "loops or functions that call each other build too much here to be followed",
                     "build the model with fewer turns, or fewer calls inside of calls")  # fmt: skip


def repetitions(facts: Facts, steps: list[TrainStep]) -> Iterator[Diagnostic]:
    """Warns of calls that were followed many times, and then no more; refuses where the loss needs what one gives."""
    behind = {uid for uid, value in needed(s.loss for s in steps).items() if isinstance(value, Host)}
    found: dict[str, Effect] = {}
    for effect in facts.effects_of(EffectKind.REPETITION):
        if effect.value is not None:
            if effect.value.uid in behind:
                raise refuse(facts, effect.node, "TMG018",
                             f"the loss needs what {effect.name} gives, which is called again and again, {OFTEN}",
                             "compute it once, in front of the model")  # fmt: skip
            found.setdefault(effect.name, effect)
    for name, effect in found.items():
        yield warn(facts, effect.node, "TMG018", f"{name} is called again and again, {OFTEN}",
                   "prove the conversion with `tf-multigpu verify`")  # fmt: skip

"""Forms of a program: functions that call themselves, properties that build."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, behind_losses
from converter.analysis.values import Host, Value, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG232",)


@check(Selected)
def model_calls_itself(case: Selected) -> Iterator[Diagnostic]:
    """Functions that call themselves are followed for a few calls, so a model built by more is not seen as a whole."""
    behind = {uid for uid, value in behind_losses(case.steps).items() if isinstance(value, Host)}
    for effect in case.facts.effects:
        if effect.kind is not EffectKind.RECURSION or effect.value is None or effect.value.uid not in behind:
            continue
        if _builds(case.facts, effect.value):
            yield finding(case.facts, effect.node, "TMG232", name=effect.name)


def _builds(facts: Facts, result: Value) -> bool:
    """Whether tensors take part in a call that is not followed any deeper: given to it, or made by the function.

    A function that walks through folders, or through lists of numbers, gives the model nothing but numbers.
    """
    function, *given = result.inputs
    if any(tensor for value in given for tensor in tensors_in(value)):
        return True
    sites = (tensor.site for tensor in facts.tensors if tensor.site is not None)
    return any(around.frame.function is function for site in sites for around in site.chain())

"""Losses that compare the examples of a batch with each other: pairs, triplets, in-batch negatives."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.traits import Trait
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument


def check_pairs(script: Script, calls: Iterable[ast.Call], total: bool) -> None:
    """Say that each replica compares the examples of its own batch alone; with --batch total that is refused."""
    place = next((call for call in calls if _compares(script, call)), None)
    if place is None:
        return
    where = "its own part of the batch" if total else "its own batch"
    message = f"examples of the batch are compared with each other here: each GPU compares those of {where} alone"
    if total:
        script.say(place, "TMG288", message, "use --batch per-gpu, or train in a session with --loss global")
    else:
        hint = "check that the mean of several batches' losses is what you want"
        script.say(place, "TMG302", message, hint, "warning")


def _compares(script: Script, call: ast.Call) -> bool:
    """True for losses of triplets, and for a matrix times its own transpose, which has an entry for each two rows."""
    if is_known(script, call.func, Trait.OF_PAIRS):
        return True
    if not is_known(script, call.func, Trait.PRODUCT):
        return False
    left, right = argument(call, 0, "a"), argument(call, 1, "b")
    turned = script.value(right) if right is not None else None
    if left is None or not isinstance(turned, ast.Call) or not is_known(script, turned.func, Trait.TRANSPOSES):
        return False
    whole = argument(turned, 1, "perm") is None
    inner = argument(turned, 0, "a")
    return whole and inner is not None and ast.unparse(inner) == ast.unparse(left)

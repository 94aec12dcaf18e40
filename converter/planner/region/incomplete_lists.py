"""Lists of the variables created so far, taken before the towers have created all of theirs."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.effects import VARIABLES, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.planner.region.block import Block
from converter.planner.region.variable_reuse import is_found


def listed_between(facts: Facts, block: Block, tower: set[int], among: Iterable[Effect] | None = None) -> list[Effect]:
    """Where the variables made so far are listed before the towers have made all of theirs.

    A saver that is made there is for these alone. With a scope given, as `tf.trainable_variables('encoder')`, a list is
    taken to be complete. among: the effects that are asked about; None for all.
    """
    listed = [e for e in (facts.effects if among is None else among) if _lists(e)]
    if not listed:
        return []
    made = [
        e for at in tower for e in block.effects_in([at]) if e.kind in VARIABLES and not is_found(e, block.body[at])
    ]
    return [
        e
        for e in listed
        if _stands_between(e, made)
        and isinstance(block.statement(e.site), int)
        and not isinstance(e.site.stmt, ast.Expr)
    ]


def _stands_between(listed: Effect, made: list[Effect]) -> bool:
    """True if variables are made before and after a list of them, in one run: branches not taken make none."""
    with_it = [e.time for e in made if not e.site.excludes(listed.site)]
    return min(with_it, default=0) < listed.time < max(with_it, default=0)


def _lists(effect: Effect) -> bool:
    call = effect.node
    if not isinstance(call, ast.Call):
        return False
    if has(effect.name, Trait.TAKES_ALL_VARIABLES):
        return not call.args and all(k.arg not in ("var_list", None) for k in call.keywords)
    if effect.kind is EffectKind.GET_COLLECTION:
        return has(effect.name, Trait.VARIABLE_COLLECTION) and len(call.args) + len(call.keywords) == 1
    listed = effect.kind is EffectKind.GRAPH_STATE and has(effect.name.rpartition(".")[2], Trait.LISTS_VARIABLES)
    return listed and not (call.args or call.keywords)

"""Where the variables made so far are listed, before the towers have made all of theirs."""

from __future__ import annotations

import ast

from converter.analysis.effects import VARIABLES, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.planner.region.block import Block
from converter.planner.region.variable_reuse import is_found


def listed_between(facts: Facts, block: Block, tower: set[int]) -> list[Effect]:
    """Where the variables made so far are listed before the towers have made all of theirs.

    A saver that is made there is for these alone. With a scope given, as `tf.trainable_variables('encoder')`, a list is
    taken to be complete.
    """
    made = [
        e.time
        for e in facts.effects
        if e.kind in VARIABLES
        and (at := block.statement(e.site)) is not None
        and at in tower
        and not is_found(e, block.body[at])
    ]
    last, first = max(made, default=0), min(made, default=0)
    return [
        e
        for e in facts.effects
        if first < e.time < last
        and _lists(e)
        and isinstance(block.statement(e.site), int)
        and not isinstance(e.site.stmt, ast.Expr)
    ]


def _lists(effect: Effect) -> bool:
    call = effect.node
    if not isinstance(call, ast.Call):
        return False
    if effect.name == "train.Saver":  # it takes all that there is, unless it is told what
        return not call.args and all(k.arg not in ("var_list", None) for k in call.keywords)
    if effect.kind is EffectKind.GET_COLLECTION:
        return has(effect.name, Trait.VARIABLE_COLLECTION) and len(call.args) + len(call.keywords) == 1
    listed = effect.kind is EffectKind.GRAPH_STATE and has(effect.name.rpartition(".")[2], Trait.LISTS_VARIABLES)
    return listed and not (call.args or call.keywords)

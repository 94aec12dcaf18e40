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
        and not _tells_reuse(facts, e)
    ]


def _stands_between(listed: Effect, made: list[Effect]) -> bool:
    """True if variables are made before and after a list of them, in one run: branches not taken make none."""
    with_it = [e.time for e in made if not e.site.excludes(listed.site)]
    return min(with_it, default=0) < listed.time < max(with_it, default=0)


def _tells_reuse(facts: Facts, effect: Effect) -> bool:
    """True if the length of a list only decides whether a scope reuses variables: all towers but the first do."""
    reuses = {k.value for call in facts.nodes(ast.Call) for k in call.keywords if k.arg == "reuse"}
    stmt = effect.site.stmt
    if isinstance(stmt, ast.With):
        return any(effect.node in ast.walk(value) for value in reuses if _is_question(value))
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return False
    target = stmt.targets[0]
    if not isinstance(target, ast.Name) or not _is_question(stmt.value):
        return False
    own = [
        a
        for a in facts.accesses
        if a.place.kind == "name" and a.place.owner == effect.site.frame.uid and a.place.key == target.id
    ]
    return all(a.node in reuses for a in own if not a.write) and sum(a.write for a in own) == 1


def _is_question(value: ast.expr) -> bool:
    """Whether an expression is true or false by how many variables there are: `len(…) > 0`, `bool(…)`, `any(…)`."""
    if isinstance(value, ast.Compare):
        counts = isinstance(value.left, ast.Call) and getattr(value.left.func, "id", "") == "len"
        least = isinstance(value.comparators[0], ast.Constant) and value.comparators[0].value == 0
        return counts and least and len(value.ops) == 1 and isinstance(value.ops[0], (ast.Gt, ast.NotEq))
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("bool", "any")


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

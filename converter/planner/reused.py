"""Scopes that the model sets to be reused: each tower stands in a scope of its own, in the place of the outer one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from converter.analysis.facts import Effect, Facts
from converter.analysis.values import Typed
from converter.plan import Replace
from converter.planner.findings import refuse
from converter.planner.text import Text
from converter.planner.trail import Block

if TYPE_CHECKING:
    from converter.planner.region import Region


def sets_reuse(facts: Facts, block: Block, index: int) -> bool:
    """Whether a statement changes how those behind it find variables: it does so in a scope that it has not opened."""
    effects = [e for e in facts.effects if e.kind == "reuse" and block.statement(e.site) == index]
    return any(not _is_inside_of(facts, effect, block.body[index]) for effect in effects)


def _is_inside_of(facts: Facts, effect: Effect, around: ast.stmt) -> bool:
    for site in effect.site.chain():
        if _opens_scope(facts, site.stmt):
            return True
        if site.stmt is around:
            return False
    return False


def makes_variables(facts: Facts, block: Block, indexes: set[int]) -> bool:
    """Whether some statements make variables, or look them up."""
    return any(e.kind == "variable" and block.statement(e.site) in indexes for e in facts.effects)


def numbers_names(facts: Facts, block: Block, indexes: set[int]) -> bool:
    """Whether some statements make variables under names that TensorFlow numbers in the order of their making."""
    made = (e for e in facts.effects if e.kind == "variable" and e.name.startswith(("layers.", "contrib.", "keras.")))
    return any(
        block.statement(e.site) in indexes and isinstance(e.node, ast.Call)
        and not any(k.arg in ("name", "scope") for k in e.node.keywords)
        for e in made
    )  # fmt: skip


def finds_variables(facts: Facts, block: Block, index: int) -> bool:
    """Whether a statement may ask for variables that are there already, by `reuse` in its scopes or its calls."""
    found = (e for e in facts.effects if e.kind == "variable" and block.statement(e.site) == index)
    given = [value for effect in found for value in _reuse_given(effect, block.body[index])]
    return any(not isinstance(value, ast.Constant) or value.value for value in given)


def is_found(effect: Effect, around: ast.stmt) -> bool:
    """Whether a variable was there already, for certain, when a statement asked for it."""
    return any(isinstance(value, ast.Constant) and value.value is True for value in _reuse_given(effect, around))


def _reuse_given(effect: Effect, around: ast.stmt) -> Iterator[ast.expr]:
    """What is given for `reuse` where a variable is asked for, and in the scopes around that up to a statement."""
    calls = [effect.node]
    for site in effect.site.chain():
        calls += [item.context_expr for item in site.stmt.items] if isinstance(site.stmt, ast.With) else []
        if site.stmt is around:
            break
    return (k.value for call in calls if isinstance(call, ast.Call) for k in call.keywords if k.arg == "reuse")


def reuse_scopes(facts: Facts, region: Region, text: Text, tensorflow: str) -> tuple[tuple[str, ...], list[Replace]]:
    """What the towers set to be reused around the loop.

    Returns lines that do so after the loop, where the script's own scope is the current one again, and what the
    towers' statements say instead of it.
    """
    lines: dict[str, None] = {}
    replaces: dict[ast.AST, Replace] = {}
    direct = {region.block.body[i] for i in region.tower}
    for effect in facts.effects:
        scope = effect.value
        if effect.kind != "reuse" or not region.in_tower(effect.site) or not isinstance(scope, Typed):
            continue
        outer = not region.in_tower(scope.site)
        if outer and not _is_around(facts, effect, scope):
            continue  # a scope that was left: whoever enters it again finds it so
        if outer and effect.site.frame is not region.block.frame:
            raise refuse(facts, effect.node, "TMG231",
                         "the model sets a scope around the loop to be reused, and each tower has one of its own",
                         "call tf.get_variable_scope().reuse_variables() there")  # fmt: skip
        if effect.site.stmt in direct and (outer or scope.name == "get_variable_scope"):
            lines[text.of(effect.node)] = None
        if outer:
            own = f"{tensorflow}.get_variable_scope().reuse_variables()"
            replaces[effect.node] = Replace(text.start(effect.node), text.end(effect.node), own, "TMG123")
    return tuple(lines), list(replaces.values())


def _is_around(facts: Facts, effect: Effect, scope: Typed) -> bool:
    """Whether a scope that was made before the towers is the one that these stand in."""
    if scope.site is None or scope.name == "get_variable_scope":
        return scope.site is not None and scope.site.scopes == effect.site.scopes
    for site in effect.site.chain():
        if site.stmt is scope.site.stmt:
            return True
        if _opens_scope(facts, site.stmt):
            return False
    return False


def _opens_scope(facts: Facts, stmt: ast.stmt) -> bool:
    items = {item.context_expr for item in stmt.items} if isinstance(stmt, ast.With) else set()
    return any(e.kind == "scope" and e.name == "VariableScope" and e.node in items for e in facts.effects)

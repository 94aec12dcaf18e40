"""Finds statements that create variables, or look up existing ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.planner.region.block import Block


def sets_reuse(facts: Facts, block: Block, index: int) -> bool:
    """True if a statement changes how later ones find variables: it sets `reuse` in a scope that it has not opened."""
    effects = [e for e in block.effects_in([index]) if e.kind is EffectKind.REUSE]
    return any(not _is_inside_of(facts, effect, block.body[index]) for effect in effects)


def _is_inside_of(facts: Facts, effect: Effect, around: ast.stmt) -> bool:
    for site in effect.site.chain():
        if opens_scope(facts, site.stmt):
            return True
        if site.stmt is around:
            return False
    return False


def makes_variables(block: Block, indexes: set[int]) -> bool:
    """Whether some statements make variables, or look them up."""
    return any(e.kind is EffectKind.VARIABLE for e in block.effects_in(indexes))


def numbers_names(block: Block, indexes: set[int]) -> bool:
    """Whether some statements make variables under names that TensorFlow numbers in the order of their making."""
    made = (e for e in block.effects_in(indexes) if e.kind is EffectKind.VARIABLE and has(e.name, Trait.LAYER))
    return any(
        isinstance(e.node, ast.Call) and not any(k.arg in ("name", "scope") for k in e.node.keywords) for e in made
    )


def finds_variables(block: Block, indexes: set[int]) -> bool:
    """Whether some statements may ask for variables that are there already, by `reuse` in their scopes or calls."""
    found = ((e, i) for i in indexes for e in block.effects_in([i]) if e.kind is EffectKind.VARIABLE)
    given = (value for effect, index in found for value in _reuse_given(effect, block.body[index]))
    return any(not isinstance(value, ast.Constant) or value.value for value in given)


def asks_in_reused_scope(block: Block, index: int) -> bool:
    """Whether a statement asks for variables after a scope was set to be reused in it."""
    reused = any(effect.kind is EffectKind.REUSE for effect in block.effects_in([index]))
    return reused and makes_variables(block, {index})


def is_found(effect: Effect, around: ast.stmt) -> bool:
    """True if `reuse=True` is given where a variable is looked up, so that it existed before."""
    return any(isinstance(value, ast.Constant) and value.value is True for value in _reuse_given(effect, around))


def _reuse_given(effect: Effect, around: ast.stmt) -> Iterator[ast.expr]:
    """What is given for `reuse` where a variable is asked for, and in the scopes around that up to a statement."""
    calls = [effect.node]
    for site in effect.site.chain():
        calls += [item.context_expr for item in site.stmt.items] if isinstance(site.stmt, ast.With) else []
        if site.stmt is around:
            break
    return (k.value for call in calls if isinstance(call, ast.Call) for k in call.keywords if k.arg == "reuse")


def opens_scope(facts: Facts, stmt: ast.stmt) -> bool:
    """Whether a statement is a with block that opens a scope of variables."""
    items = {item.context_expr for item in stmt.items} if isinstance(stmt, ast.With) else set()
    return any(e.name == "VariableScope" and e.node in items for e in facts.effects_of(EffectKind.SCOPE))

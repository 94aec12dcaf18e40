"""Scopes that the model sets to be reused: each tower stands in a scope of its own, in the place of the outer one."""

from __future__ import annotations

import ast

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Typed
from converter.plan import Replace
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.statements import uncalled_around
from converter.planner.region.region import Region
from converter.planner.region.variable_reuse import opens_scope
from converter.planner.wording import refuse
from converter.planner.writing.source_text import SourceText


def reuse_scopes(
    facts: Facts, region: Region, text: SourceText, tensorflow: str
) -> tuple[tuple[str, ...], list[Replace]]:
    """Edits for scopes around the loop on which the model calls reuse_variables().

    Returns lines that do so after the loop, where the script's own scope is the current one again, and what the
    towers' statements say instead of it.
    """
    lines: dict[str, None] = {}
    replaces: dict[ast.AST, Replace] = {}
    direct = {region.block.body[i] for i in region.tower}
    for effect in facts.effects_of(EffectKind.REUSE):
        scope = effect.value
        if not region.in_tower(effect.site) or not isinstance(scope, Typed):
            continue
        outer = not region.in_tower(scope.site)
        if outer and not _is_around(facts, effect, scope):
            continue  # a scope that was left: whoever enters it again finds it so
        if outer and effect.site.frame is not region.block.frame:
            raise refuse(facts, effect.node, PlanFault.SCOPE_AROUND_REUSED)
        if effect.site.stmt in direct and (outer or has(scope.name, Trait.CURRENT_SCOPE)):
            lines[text.of(effect.node)] = None
        elif has(scope.name, Trait.CURRENT_SCOPE) and _goes_on_behind(facts, region, effect):
            raise refuse(facts, effect.node, PlanFault.SCOPE_REUSED_INSIDE)
        if outer:
            own = f"{tensorflow}.get_variable_scope().reuse_variables()"
            replaces[effect.node] = Replace(text.start(effect.node), text.end(effect.node), own, "TMG123")
    return tuple(lines), list(replaces.values())


def _goes_on_behind(facts: Facts, region: Region, effect: Effect) -> bool:
    """Whether a scope that is set inside a statement of the model is the loop's, and variables behind the loop need it.

    Whether such a statement is executed only a run can tell, so that it cannot be written again after the loop.
    """
    own = [site for site in effect.site.chain() if site.frame is region.block.frame and region.in_tower(site)]
    around = own[-1].scopes if own else effect.site.scopes
    if effect.site.scopes != around:
        return False
    outside = (e for e in facts.effects if e.time > effect.time and not region.in_tower(e.site))
    for behind in outside:
        if _runs_in_place_of(behind, effect):
            continue
        if behind.kind is EffectKind.REUSE and around[: len(behind.site.scopes)] == behind.site.scopes:
            return False  # the script says so again
        needs = behind.kind is EffectKind.VARIABLE and behind.site.scopes[: len(around)] == around
        if needs and not _says_reuse(behind):
            return True
    return False


def _runs_in_place_of(behind: Effect, effect: Effect) -> bool:
    """Whether a run has one of two effects alone: they stand in other branches, or in functions that nothing calls."""
    apart = uncalled_around(behind.site) not in (None, uncalled_around(effect.site))
    return apart or behind.site.excludes(effect.site)


def _says_reuse(effect: Effect) -> bool:
    """Whether a call that makes variables, or a scope around it, says itself whether they are reused."""
    opened = (i.context_expr for s in effect.site.chain() if isinstance(s.stmt, ast.With) for i in s.stmt.items)
    calls = (c for c in (effect.node, *opened) if isinstance(c, ast.Call))
    return any(keyword.arg == "reuse" for call in calls for keyword in call.keywords)


def _is_around(facts: Facts, effect: Effect, scope: Typed) -> bool:
    """Whether a scope that was made before the towers is the one that these stand in."""
    if scope.site is None or has(scope.name, Trait.CURRENT_SCOPE):
        return scope.site is not None and scope.site.scopes == effect.site.scopes
    for site in effect.site.chain():
        if site.stmt is scope.site.stmt:
            return True
        if opens_scope(facts, site.stmt):
            return False
    return False

"""Values that a model's own statements add to a collection that all towers share, as variables add to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import READS_COLLECTION, VARIABLES, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Site, Tensor
from converter.dataclass import dataclass
from converter.planner.questions.statements import called
from converter.planner.region.region import Region


@dataclass(frozen=True)
class Added:
    """One such addition; before, after: where the script reads the collection, or the sum of it, before and after."""

    effect: Effect
    before: tuple[Site, ...]
    after: tuple[Site, ...]

    def is_met(self, region: Region) -> bool:
        """Whether what one tower adds is read by another tower, or behind the towers.

        What a tower reads before it adds anything holds what the tower before it has added.
        """
        if region.in_tower(self.effect.site):
            return bool(self.after) or any(map(region.in_tower, self.before))
        return region.comes_after(self.effect) and any(map(region.in_tower, self.after))

    def is_kept_apart(self, facts: Facts, region: Region) -> bool:
        """Whether each tower can be shown its own: the first one's stays, which nothing behind the towers may read.

        What is computed of variables alone is the same in all towers. A later tower reads the list with the losses of
        all variables in it, so that it may do no more with it than add it up. Behind the towers a list that one of them
        has read is the last one's, with as many values in the same order, and is merged as other values are.
        """
        value = self.effect.value
        free = isinstance(value, Tensor) and value.batch.kind == "free"
        if not region.in_tower(self.effect.site) or not has(self.effect.name, Trait.PENALTIES):
            return False
        asked = [e for e in facts.effects_of(EffectKind.GET_COLLECTION) if e.name == self.effect.name]
        within = [effect for effect in asked if region.in_tower(effect.site)]
        return (free or all(map(region.in_tower, self.after))) and all(_is_added_up(facts, region, e) for e in within)


def added_to_shared(facts: Facts) -> list[Added]:
    """The values that statements of the script add to collections which grow as variables are made."""
    effects = [e for e in facts.effects_of(EffectKind.COLLECTION) if isinstance(e.value, Tensor)]
    return [_with_reads(facts, e) for e in effects if has(e.name, Trait.GROWS_WITH_VARIABLES)]


def keeps_penalties_apart(facts: Facts, region: Region) -> bool:
    """Whether a model adds regularization losses of its own that the towers must not see of each other."""
    return any(added.is_met(region) and added.is_kept_apart(facts, region) for added in added_to_shared(facts))


def reads_penalties_so_far(facts: Facts, region: Region) -> bool:
    """Whether a tower reads the regularization losses, and makes more variables then, which may add others.

    Without a helper a later tower would read those, too, as all variables are there before it begins.
    """
    asked = [e for kind in READS_COLLECTION for e in facts.effects_of(kind)]
    reads = [(e.site, e.time) for e in asked if e.kind is EffectKind.TOTAL_LOSS or has(e.name, Trait.PENALTIES)]
    sums = (t for t in facts.tensors if has(t.op.rpartition(".")[2], Trait.GIVES_COLLECTED_LOSSES))
    reads += [(t.site, t.time) for t in sums if t.site is not None]
    inside = [(site, time) for site, time in reads if region.in_tower(site)]
    made = [e for kind in VARIABLES for e in facts.effects_of(kind) if inside and region.in_tower(e.site)]
    return any(e.time > time and not e.site.excludes(site) for site, time in inside for e in made)


def _is_added_up(facts: Facts, region: Region, read: Effect) -> bool:
    """Whether a tower only adds up the list that it reads, by one call that is given the list."""
    assert read.site is not None  # it stands in a tower
    stmt, found = read.site.stmt, facts.results.get((read.site.frame.uid, read.node))
    if _adds(stmt, read.node):
        return True
    assigned = isinstance(stmt, ast.Assign) and stmt.value is read.node
    named = assigned and isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], (ast.Name, ast.Attribute))
    if not named or found is None:
        return False
    looks = [a for a in facts.looks_into(found) if not region.comes_after(a)]
    return all(region.in_tower(a.site) and _adds(a.site.stmt, a.node) for a in looks)


def _adds(stmt: ast.stmt, listed: ast.AST) -> bool:
    """Whether a list stands in the arguments of a call that adds up what it is given, or is itself such a call."""
    calls = (node for node in ast.walk(stmt) if isinstance(node, ast.Call) and _adds_up(called(node)))
    return any(listed is node or any(listed is n for arg in node.args for n in _lists(arg)) for node in calls)


def _adds_up(name: str) -> bool:
    return has(name, Trait.ADDS_LIST) or has(name, Trait.ADDS_COLLECTED)


def _lists(given: ast.expr) -> Iterator[ast.expr]:
    """The lists that an argument is: itself, or those that are joined to it, `[loss] + terms`."""
    yield given
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        yield from _lists(given.left)
        yield from _lists(given.right)


def _with_reads(facts: Facts, added: Effect) -> Added:
    asked = [e for kind in READS_COLLECTION for e in facts.effects_of(kind)]
    found = [e for e in asked if e.kind is EffectKind.TOTAL_LOSS or e.name == added.name]
    before, after = ([e.site for e in found if (e.time > added.time) is later] for later in (False, True))
    sums = (t for t in facts.tensors if has(t.op.rpartition(".")[2], Trait.GIVES_COLLECTED_LOSSES))
    for total in sums:
        if total.site is not None:
            (after if added.value in total.inputs else before).append(total.site)
    return Added(added, tuple(before), tuple(after))

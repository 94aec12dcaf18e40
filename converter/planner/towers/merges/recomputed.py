"""Values that cannot be merged: the statements that compute them are repeated after the loop, on merged values.

The square root of a mean, a ratio of two sums or a maximum over the batch cannot be computed from the towers'
own values of it; computed again from merged values it is the same as on one GPU. The same holds for products of
two inputs that may be fed with different numbers of rows, and for what a run computes of one example that it feeds.
Where a function of the model puts such a value into an object, the call of this function is what is repeated, or its
one statement, where the call would make a part of the model once more and the statement means the same behind the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts, TrainStep
from converter.analysis.frames import Access
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Site, Value, Variable, needed
from converter.dataclass import dataclass
from converter.planner.questions.batch_values import carries_batch, counts_examples, is_made_of_shard
from converter.planner.questions.fed_without_rows import computed_of, fed_without_rows
from converter.planner.region.region import Region
from converter.planner.towers.merges.wanted import Wanted, is_mergeable, mixes_inputs, wanted_by_access, with_more
from converter.planner.writing.spelling import spelling

HARMLESS = {EffectKind.BATCH_STATISTICS, EffectKind.DEVICE, EffectKind.GRAPH_NAME}  # effects that may happen twice


@dataclass(frozen=True)
class Repeat:
    """A statement of the towers that is repeated after the loop, inside the with blocks that are around it.

    time: when it was executed.
    """

    site: Site
    around: tuple[ast.With, ...]
    reads: tuple[Access, ...]
    time: int

    @property
    def stmt(self) -> ast.stmt:
        """The statement."""
        return self.site.stmt

    def holds(self, site: Site) -> bool:
        """Whether something happens within the statement."""
        return _within(site, self.site)


def repeats(
    facts: Facts, region: Region, wanted: Wanted, steps: Sequence[TrainStep]
) -> tuple[tuple[Repeat, ...], Wanted]:
    """The statements that are repeated after the loop, and the values to merge: what these read, not what they make."""
    crossed, lone = _crossed(facts), fed_without_rows(facts, () if region.forward else region.inputs)
    losses = {s.loss.uid for s in steps}

    def merged(value: Value) -> bool:
        whole = is_mergeable(value) and not mixes_inputs(region, value)
        cut = value.uid not in crossed and not any(computed_of(value, lone))
        return value.uid in losses or (whole and cut)

    found: dict[ast.stmt, Repeat] = {}
    rest = wanted
    for text, (part, _) in wanted.items():
        stays = merged(part.value) or part.value.uid in region.handed_whole
        made = None if stays else _followed(facts, region, merged, text, part.value, {})
        if made is not None:
            chain, reads = made
            found |= chain
            rest = with_more({name: read for name, read in rest.items() if name != text}, reads)
    again = tuple(sorted(found.values(), key=lambda r: r.time))
    kept = {name: (part, node) for name, (part, node) in rest.items() if part.value.uid in losses}
    left = {name for name, (part, _) in rest.items() if is_left_again(again, part.value)}
    return again, {name: read for name, read in rest.items() if name in kept or name not in left}


def is_left_again(again: Sequence[Repeat], value: Value) -> bool:
    """Whether a repeated statement makes a value, too: it leaves the whole batch's where the towers leave theirs."""
    return value.site is not None and any(repeated.holds(value.site) for repeated in again)


def _crossed(facts: Facts) -> set[int]:
    """Values behind a product of two batched inputs, such as scores of items for users.

    Outside training the two may have different numbers of rows, and no shards fit both.
    """
    products = [
        t
        for t in facts.tensors
        if t.op == "matmul"
        and t.batch.why is Why.MULTIPLIED
        and len(t.inputs) > 1
        and t.inputs[0].roots.isdisjoint(t.inputs[1].roots)
    ]
    return set(needed(products))


def _followed(
    facts: Facts,
    region: Region,
    merged: Callable[[Value], bool],
    text: str,
    value: Value,
    known: Mapping[ast.stmt, Repeat],
) -> tuple[dict[ast.stmt, Repeat], Wanted] | None:
    """The statements that compute a value again after the towers, and the merged values that they read.

    None where it cannot be computed from merged values. merged: whether a value is one. known: statements that are
    repeated for another value already.
    """
    made = repeat(facts, region, text, value)
    if made is None:
        return None
    chain, reads, new = dict(known), Wanted(), Wanted()
    if made.stmt in chain:
        return chain, reads
    chain[made.stmt] = made
    for access in made.reads:
        new = with_more(new, wanted_by_access(facts, region, access, new))
    for name, (part, node) in new.items():
        if merged(part.value):
            reads[name] = (part, node)
            continue
        behind = _followed(facts, region, merged, name, part.value, chain)
        if behind is None:
            return None
        chain, more = behind
        reads |= more
    return chain, reads


def repeat(facts: Facts, region: Region, text: str, value: Value) -> Repeat | None:
    """The tower statement to repeat after the loop for a value of the whole batch; None if that gives another value."""
    writes = [a for a in region.writes if _is(region, a, text)]
    last = max(writes, key=lambda a: a.time, default=None)
    if last is None or last.value is not value:
        return None
    outer = next((s for s in last.site.chain() if s.frame is region.block.frame), None)
    around = _around(region, outer) if outer is not None else None
    if outer is None or around is None:
        return None
    places = [outer] if _is_repeatable(outer.stmt, last.site.frame is region.block.frame) else []
    places += [last.site] if _means_the_same(facts, region, last, outer) else []
    for place in places:
        made = _at(facts, region, last, place)
        if made is not None and (place is not outer or not _hands_on(facts, region, place)):
            return Repeat(place, around, made, last.time)
    return None


def _at(facts: Facts, region: Region, last: Access, place: Site) -> tuple[Access, ...] | None:
    """What a statement reads that leaves a value last; None where it would leave another one after the loop."""
    here = region.block.statement(last.site)
    mine = [a for i, a in region.block.accesses() if i == here and _within(a.site, place)]
    if _changed_later(facts, region, last.value, place) or not _pure(facts, region, place):
        return None
    if not all(_final(region, a, place) for a in mine if not a.write):
        return None
    if isinstance(place.stmt, ast.Expr):
        if not all(_stays(region, a, place) for a in mine if a.write):
            return None
        mine = [a for a in mine if a.value.site is None or not _within(a.value.site, place)]
    return tuple(a for a in mine if not a.write)


def _hands_on(facts: Facts, region: Region, place: Site) -> bool:
    """Whether a statement makes what later loops go on with, tower by tower."""
    handed = frozenset[int]().union(*region.handed_on)
    return any(t.uid in handed and t.site is not None and _within(t.site, place) for t in facts.tensors)


def _means_the_same(facts: Facts, region: Region, last: Access, outer: Site) -> bool:
    """Whether an assignment in a method means the same where the method is called, as a statement.

    Its names are those of modules, and of the object whose method both are; it stands in no block of its own.
    """
    site, frame = last.site, region.block.frame
    if not isinstance(site.stmt, ast.Assign) or site.frame is frame or site.frame.module is not frame.module:
        return False
    if is_made_of_shard(last.value):
        return False
    between = [s for s in takewhile(lambda s: s.frame is not frame, site.chain()) if s is not site]
    if any(s.frame is site.frame for s in between) or not all(isinstance(s.stmt, ast.Expr) for s in (*between, outer)):
        return False
    found = [(site.frame.lookup(n.id), frame.lookup(n.id)) for n in ast.walk(site.stmt) if isinstance(n, ast.Name)]
    return all(one is not None and two is not None and one[1] is two[1] for one, two in found)


def _is_repeatable(stmt: ast.stmt, here: bool) -> bool:
    """An assignment, or a call of a function that puts the value into an object: `self.add_losses()`."""
    return isinstance(stmt, ast.Assign) if here else isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)


def _stays(region: Region, access: Access, place: Site) -> bool:
    """Whether what a call leaves outside its own names is what the towers leave there: nothing writes it later."""
    if _of_callee(region, access):
        return True
    last = _last_write(region, access) or access
    return _within(last.site, place)


def _last_write(region: Region, access: Access) -> Access | None:
    """The last write of a place in the block of the towers, up to their end."""
    block = region.block
    writes = (a for a in block.facts.writes_to(access.place) if a.time <= region.end)
    inside = (a for a in writes if (index := block.statement(a.site)) is not None and index >= 0)
    return max(inside, key=lambda a: a.time, default=None)


def _changed_later(facts: Facts, region: Region, value: Value, place: Site) -> bool:
    """Whether other statements of the towers change a list or dict that this one makes."""
    changes = [e.site for e in facts.effects if e.kind is EffectKind.MUTATION and e.value is value]
    changes += [a.site for _, a in region.block.accesses() if a.write and a.place.holder is value]
    return any(region.in_tower(site) and not _within(site, place) for site in changes)


def _is(region: Region, access: Access, text: str) -> bool:
    return access.place.key in text and spelling(region.block.frame, access.place) == text


def _within(site: Site, place: Site) -> bool:
    return any(s.stmt is place.stmt and s.frame is place.frame for s in site.chain())


def _around(region: Region, place: Site) -> tuple[ast.With, ...] | None:
    """The with blocks between the loop's block and a statement; None for other blocks, and for other contexts."""
    found: list[ast.With] = []
    for site in place.chain():
        if site.frame is not region.block.frame:
            return None
        if site.stmt is not place.stmt:
            if not isinstance(site.stmt, ast.With) or not all(_is_scope(item.context_expr) for item in site.stmt.items):
                return None
            found.append(site.stmt)
        if site.stmt in region.block.index:
            return tuple(reversed(found))
    return None


def _is_scope(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return has(getattr(function, "attr", getattr(function, "id", "")), Trait.OPENS_SCOPE)


def _pure(facts: Facts, region: Region, place: Site) -> bool:
    """Whether a statement can be executed once more: it changes nothing and draws no random numbers."""
    changes = (e.site for e in facts.effects if not _is_harmless(e) and region.in_tower(e.site))
    if any(_within(site, place) for site in changes):
        return False
    tensors = (t for t in facts.tensors if t.site is not None and region.in_tower(t.site))
    made = [t for t in tensors if t.site is not None and _within(t.site, place)]
    return not any(isinstance(t, (Input, Variable)) or has(t.op, Trait.LAYER) or has(t.op, Trait.RANDOM) for t in made)


def _is_harmless(effect: Effect) -> bool:
    """Whether what a statement does beside its values may happen twice: a scope that it names is opened once more."""
    if effect.kind is EffectKind.SCOPE and isinstance(effect.node, ast.Call):
        return any(isinstance(name, ast.Constant) and name.value for name in effect.node.args[:1])
    return effect.kind in HARMLESS


def _final(region: Region, access: Access, place: Site) -> bool:
    """Whether a name still means after the loop what it meant when it was read."""
    holder = access.place.holder
    made_here = holder is not None and holder.site is not None and _within(holder.site, place)
    if made_here or isinstance(access.value, Input) or _of_callee(region, access):
        return True
    last = _last_write(region, access)
    if last is not None and last.value is not access.value:
        return False
    batched = carries_batch(access.value)
    held = counts_examples(access.value) or is_made_of_shard(access.value)
    return not (batched or held) or spelling(region.block.frame, access.place) is not None


def _of_callee(region: Region, access: Access) -> bool:
    """A parameter or a local of a function that the statement calls."""
    frame = access.place.frame
    return (
        frame is not None
        and frame is not region.block.frame
        and frame.call_site is not None
        and region.in_tower(frame.call_site)
    )

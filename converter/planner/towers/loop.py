"""Plans one loop: what enters, what leaves, and how the gradient is taken."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from dataclasses import fields, replace
from itertools import groupby

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts, TrainStep
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.plan import Again, At, Block, Collections, Insert, Loop, Replace
from converter.plan.border import Border, Cut, Merge, Rows, Shown
from converter.planner.batch_size.batch_size import Scaling
from converter.planner.cases import Leaving, Placed
from converter.planner.checking import findings
from converter.planner.outcome import Faults, noted
from converter.planner.own.taken import shown_inputs
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.statements import returns
from converter.planner.region.penalties import keeps_penalties_apart, reads_penalties_so_far
from converter.planner.region.region import Region
from converter.planner.region.turns import turns_around
from converter.planner.towers.border.global_names import declarations
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.towers.gradients import gradients, replaced_losses
from converter.planner.towers.merges.collections import merged_keys
from converter.planner.towers.merges.fed_values import feeding
from converter.planner.towers.merges.first_tower_lists import HELPER, LISTS, list_edits
from converter.planner.towers.merges.loss_kind import warn_of_statistics
from converter.planner.towers.merges.loss_weights import loss_counts, warn_of_counts
from converter.planner.towers.merges.merging import merges_out
from converter.planner.towers.merges.one_towers_values import warn_of_one_towers_values
from converter.planner.towers.merges.recomputed import Repeat, is_left_again, repeats
from converter.planner.towers.merges.reopened_scopes import asks_again, reopened
from converter.planner.towers.merges.reused_scopes import reuse_scopes
from converter.planner.towers.merges.unread_attributes import deleted
from converter.planner.towers.merges.unread_attributes import unread as unread_attributes
from converter.planner.towers.merges.wanted import Wanted, wanted_out
from converter.planner.towers.shards.drawn_rows import drawn_rows
from converter.planner.towers.shards.handed import sized_in
from converter.planner.towers.shards.numbers_left import numbers_left
from converter.planner.towers.shards.shards import keeps_size, numbers_in, parts_carried, shards_in
from converter.planner.towers.shards.starting_values import begin_anew
from converter.planner.wording import finding, refuse
from converter.planner.writing.aliases import Aliases
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.source_text import SourceText

MERGED = "MergedCollections"  # the helper that keeps what each tower adds to collections
RAW = {EffectKind.RAW_VARIABLE, EffectKind.OBJECT_VARIABLE}


@dataclass(frozen=True)
class LoopPart:
    """One loop, the edits that it needs elsewhere in the script, and the names that are taken then."""

    loop: Loop
    replaces: list[Replace]
    inserts: list[Insert]
    helpers: list[str]
    warnings: list[Diagnostic]
    names: TakenNames


def plan_loop(case: Placed, site: LoopSite, aliases: Aliases, scaling: Scaling, taken: frozenset[ast.AST]) -> LoopPart:
    """The plan of one loop; raises Faults with all refusals of its inputs, results and gradients.

    taken: calls whose gradient is taken already, for the loss of another loop or another branch.
    """
    facts, region, text = site.facts, site.region, site.text
    merged = [] if region.forward else site.group.steps
    unread = {} if site.options.merge_all else unread_attributes(facts, region)
    traffic, wanted = _crossing(case, site, scaling, unread, taken)
    alone = list(warn_of_one_towers_values(facts, region, wanted, unread, site.group.steps))
    again, wanted = repeats(facts, region, wanted, merged)
    traffic = _leaving(site, traffic, merged, wanted)
    taking = gradients(site, traffic, taken)
    listed, traffic = list_edits(facts, region, text), replace(traffic, names=taking.names)
    keys, weight = merged_keys(site, traffic)
    contexts, traffic = _contexts(case, region, traffic, bool(keys), bool(listed))
    gpu, traffic = traffic.again("gpu", "tower")
    scopes, marks, traffic = reopened(site, traffic, aliases)
    weights, traffic = traffic.fresh("tower_weight", "tower_weights") if keys else ("", traffic)
    reused, own_scopes = reuse_scopes(facts, region, text, site.tensorflow)
    loop = Loop(
        before=_starts(facts, region, region.before, text),
        tower=_starts(facts, region, region.tower, text),
        after=_starts(facts, region, region.after, text),
        gpu=gpu,
        border=replace(traffic.border, merges=_losses(region, again, traffic, merged, taking.register)),
        gradient=taking.inside,
        contexts=contexts,
        splits=tuple(_block(region.block.body[i], stmts, text) for i, stmts in region.splits.items()),
        behind=tuple(_block(around, stmts, text) for around, stmts in region.behind.items()),
        scopes=scopes,
        again=_again(again, text),
        keep_names=asks_again(facts, region),
        collections=Collections(dict(contexts)[MERGED], keys, weights, weight) if keys else None,
        handing=traffic.handing,
        reused=reused,
        early=_early(facts, region, text) if site.options.one_gpu else (),
        dropped=deleted(facts, region, [text for text in unread if text not in _kept_places(traffic, wanted)]),
    )
    helpers = [*traffic.border.helpers, *(helper for helper, _ in contexts), *taking.helpers]
    helpers += ["keep_names"] if loop.keep_names else []
    helpers += [HELPER] if listed else []
    inserts = [*declarations(region, traffic, text), *taking.inserts, *marks]
    return LoopPart(
        loop=loop,
        replaces=[*taking.replaces, *own_scopes, *listed, *feeding(site, traffic, wanted)],
        inserts=inserts,
        helpers=helpers,
        warnings=[*traffic.warnings, *alone, *_warn_of_shown(site, traffic, wanted)],
        names=traffic.names,
    )


def _crossing(
    case: Placed, site: LoopSite, scaling: Scaling, unread: Container[str], taken: frozenset[ast.AST]
) -> tuple[Traffic, Wanted]:
    """Plan the values that enter the towers, and find those that must leave them; raises Faults with all refusals."""
    facts, region = site.facts, site.region
    wanted: Wanted = {}
    traffic, found = Traffic(names=site.names), list[Diagnostic]()
    with noted(found):
        _check_last_line(facts, region, site.text)
    with noted(found):
        gone = frozenset[ast.AST]() if region.forward else replaced_losses(facts, region, site.group.steps)
        wanted = wanted_out(facts, region, unread, case.sources.asked(), gone)
    with noted(found):
        traffic = _entering(site, traffic, case, scaling, wanted)
    known = {f.name: getattr(case, f.name) for f in fields(Placed)}
    found += findings(Leaving(**known, region=region, wanted=wanted))
    if found:  # no loop is made; what would leave it and its gradients are looked at for what is refused of them
        merged = [] if region.forward else site.group.steps
        with noted(found):
            gradients(site, _leaving(site, _stand_in(region, traffic), merged, wanted), taken)
        raise Faults(found)
    return traffic, wanted


def _stand_in(region: Region, traffic: Traffic) -> Traffic:
    """A stand-in with one shard of all inputs, to go on checking when the inputs themselves were refused."""
    if traffic.border.shards:
        return traffic
    more = traffic.plus(Border(shards=(Cut(Rows("", ""), ()),)))
    return replace(more, groups=(region.inputs,) if region.inputs else ())


def _entering(site: LoopSite, before: Traffic, case: Placed, scaling: Scaling, wanted: Wanted) -> Traffic:
    """Plan the values that enter the towers."""
    sizes = case.size.counted_in_towers(site.options.batch)
    leaving = [part.value for part, _ in wanted.values()]
    traffic = parts_carried(site, shards_in(site, before))
    traffic = numbers_in(site, traffic, sizes, scaling)
    traffic = sized_in(site, traffic, lambda access: keeps_size(access, scaling))
    traffic = numbers_left(site, traffic, sizes, lambda access: keeps_size(access, scaling))
    traffic = drawn_rows(site, traffic, sizes, scaling, leaving)
    if not traffic.border.shards:  # no input has an expression of which each tower could take its part
        node = next((value.node for value in site.region.inputs if value.node), site.region.block.body[0])
        raise refuse(site.facts, node, PlanFault.INPUT_NOT_REPLACEABLE)
    return begin_anew(site, traffic)


def _leaving(site: LoopSite, before: Traffic, steps: list[TrainStep], wanted: Wanted) -> Traffic:
    """Plan the values that leave the towers; steps: those whose losses leave them."""
    leaving = [*(step.loss for step in steps), *(part.value for part, _ in wanted.values())]
    counts = loss_counts(site.region, leaving, site.text, site.tensorflow)
    warnings = [*before.warnings]
    if site.options.batch == "per-gpu":
        warnings += warn_of_counts(site.facts, steps, counts)
    elif site.region.exact:
        warnings += [w for step in site.group.steps for w in warn_of_statistics(site.facts, step.loss, site.region)]
    return merges_out(site, replace(before, counts=counts, warnings=tuple(warnings)), steps, wanted)


def _warn_of_shown(site: LoopSite, traffic: Traffic, wanted: Wanted) -> Iterator[Diagnostic]:
    """One warning for all values that are merged by their form, or are the first tower's, as they are only shown."""
    places = [merge.place for merge in traffic.border.merges if isinstance(merge.how, Shown)]
    nodes: list[ast.AST] = []
    if places:
        part, reader = wanted[places[0]]
        nodes = [getattr(part.value, "node", None) or reader]
    inputs = {value.uid for run in site.facts.runs for value in shown_inputs(run)}
    nodes += [access.node for access in site.region.reads_after if access.value.uid in inputs]
    places += [ast.unparse(node) for node in nodes[bool(places) :]]
    if nodes:
        names = ", ".join(dict.fromkeys(places))
        yield finding(site.facts, nodes[0], PlanFault.SHOWN_BY_FORM, names=names)


def _early(facts: Facts, region: Region, text: SourceText) -> tuple[At, ...]:
    """Statements that are moved behind the towers, up to the last that may end the function before these do."""
    moved = sorted(index for index in region.after if index < max(region.tower))
    ends = [index for index in moved if returns(region.block.body[index])]
    return _starts(facts, region, [index for index in moved if index <= max(ends)], text) if ends else ()


def _kept_places(traffic: Traffic, wanted: Wanted) -> set[str]:
    """Places that the loop reads or binds itself."""
    border = traffic.border
    bound = {one.place for one in (*border.bound, *border.rebuilds, *border.merges)}
    return {*wanted, *bound, *(place for place, _ in border.restore)}


def _block(around: ast.stmt, stmts: tuple[ast.stmt, ...], text: SourceText) -> Block:
    """A block of the towers with what stays out of the loop; a condition may be one that has an `else`."""
    other = [stmt for stmt in stmts if isinstance(around, ast.If) and stmt in around.orelse]
    body = tuple(text.start(stmt) for stmt in stmts if stmt not in other)
    return Block(text.start(around), body, tuple(map(text.start, other)))


def _again(repeats: tuple[Repeat, ...], text: SourceText) -> tuple[Again, ...]:
    """Repeated statements, those of one with block together."""
    return tuple(
        Again(tuple(text.start(r.stmt) for r in group), tuple(text.start(w) for w in around))
        for around, group in groupby(repeats, key=lambda r: r.around)
    )


def _losses(
    region: Region, again: tuple[Repeat, ...], traffic: Traffic, steps: list[TrainStep], carried: bool
) -> tuple[Merge, ...]:
    """The merges, with what is known of losses by now; late are those whose places a repeated statement writes."""
    left = {traffic.loss_lists.get(step.loss.uid) for step in steps if is_left_again(again, step.loss)}
    return tuple(
        replace(m, loss=replace(m.loss, carried=carried, late=m.towers in left and m.merged and not m.guard))
        if m.loss
        else m
        for m in traffic.border.merges
    )


def _starts(facts: Facts, region: Region, indexes: Iterable[int], text: SourceText) -> tuple[At, ...]:
    """Where statements begin; several on one line count as one, and must stay together."""
    found: list[At] = []
    for index in sorted(indexes):
        stmt = region.block.body[index]
        if text.anchor(stmt) == text.start(stmt):
            found.append(text.start(stmt))
        elif text.anchor(stmt) not in found:
            raise refuse(facts, stmt, PlanFault.SHARES_LINE_OF_OTHERS)
    return tuple(found)


def _check_last_line(facts: Facts, region: Region, text: SourceText) -> None:
    """What follows the towers' last statement on its line would go into the loop with it."""
    for stmt in region.block.body[max(region.tower) + 1 :][:1]:
        if text.anchor(stmt) != text.start(stmt):
            raise refuse(facts, stmt, PlanFault.SHARES_LINE_OF_TOWERS)


# -- helpers ---------------------------------------------------------------------------------------


def _counts_on(facts: Facts, region: Region) -> bool:
    """True if layers or slots with default names are created after the loop, or by later executions of it."""
    built = {(step.call, step.loss.roots) for step in facts.train_steps if step.loss.roots}
    if len({call for call, _ in built}) < len(built):
        return True  # a model that is built again, on other inputs, comes with an optimizer of its own
    made = [e for e in facts.effects_of(EffectKind.VARIABLE) if _default_name(e.node) and "global_step" not in e.name]
    within = {id(e) for e in made if region.in_tower(e.site)}
    if _in_several_turns(facts, region, [e for e in made if id(e) in within]):
        return True
    return bool(within) and any(
        region.comes_after(e) or (id(e) not in within and region.in_any_tower(e.site)) for e in made
    )


def _in_several_turns(facts: Facts, region: Region, made: Iterable[Effect]) -> bool:
    """Whether a loop of the script around the towers' block builds them in each of its turns."""
    return len({turns_around(facts, region.block, effect.site, effect.time) for effect in made}) > 1


def _default_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not any(k.arg in ("name", "scope") for k in node.keywords)


def _contexts(
    case: Placed, region: Region, traffic: Traffic, merges: bool, lists: bool
) -> tuple[tuple[tuple[str, str], ...], Traffic]:
    """Helpers entered in the loop: for raw variables, for collections, for updates of variables.

    merges: whether collections are read behind the loop, so that the towers' are merged. lists: whether the model lists
    the variables made so far.
    """
    facts = case.facts
    kinds = {
        e.kind
        for e in facts.effects
        if region.in_any_tower(e.site) or e.node in region.inline or e.kind is EffectKind.BATCH_NORM_SCOPE
    }
    if EffectKind.BATCH_NORM_SCOPE in kinds:
        kinds.add(EffectKind.BATCH_NORM)
    shared = "SharedVariablesOfModels" if _makes_others(facts, region, case.regions) else "SharedVariables"
    early = reads_penalties_so_far(facts, region)
    apart = "TowerPenalties" if early or keeps_penalties_apart(facts, region) else "TowerCollections"
    collections = MERGED if merges else apart
    asked = {  # helper -> the name of its object, "" where it has none, and whether it is needed
        "ScopeReuse": ("scope_reuse", EffectKind.REUSE_READ in kinds),
        shared: ("shared_variables", kinds & RAW),
        collections: (
            "tower_collections",
            early or kinds & {EffectKind.COLLECTION, EffectKind.BATCH_NORM, EffectKind.TOTAL_LOSS},
        ),
        "scopes_without_towers": ("", _filters_by_scope(facts, region)),
        "first_tower_updates": ("", kinds & {EffectKind.BATCH_NORM, EffectKind.ASSIGN, EffectKind.AVERAGE}),
        "TowerAverages": ("tower_averages", EffectKind.AVERAGE in kinds),
        LISTS: ("first_lists", lists),
        "LayerNames": ("layer_names", _counts_on(facts, region)),
    }
    contexts: list[tuple[str, str]] = []
    for helper, (name, needed) in asked.items():
        if needed and name:
            name, traffic = traffic.fresh(name)
        contexts += [(helper, name)] if needed else []
    if traffic.handing.name:
        contexts.append((traffic.handing.helper, traffic.handing.name))
    return tuple(contexts), traffic


def _makes_others(facts: Facts, region: Region, regions: Iterable[Region]) -> bool:
    """Whether the towers of another model make raw variables, too, whose scopes have names beside these."""
    made = (e for e in facts.effects if e.kind in RAW and not region.in_tower(e.site))
    return any(other.in_any_tower(effect.site) for effect in made for other in regions)


def _filters_by_scope(facts: Facts, region: Region) -> bool:
    """Whether the towers, or code behind them, read what a scope holds of a collection: names there begin with it."""
    read = facts.effects_of(EffectKind.COLLECTION_SCOPE)
    return any(region.in_any_tower(effect.site) or region.comes_after(effect) for effect in read)

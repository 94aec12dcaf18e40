"""Puts the plan together."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from itertools import pairwise

from converter.analysis.facts import Facts, TrainStep
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.plan import At, Insert, Loop, Plan, Replace
from converter.planner.batch_size import BatchSize, Scaling, find_batch_size, scale
from converter.planner.checks import (
    check_contents,
    check_feeds,
    check_placement,
    check_reach,
    check_shapes,
    training_steps,
)
from converter.planner.gradients import gradients
from converter.planner.helpers import helper_names
from converter.planner.host import GpuCount, rate_edits, session_edits
from converter.planner.merging import Traffic, declarations, merges_out, numbers_in, shards_in
from converter.planner.names import Names
from converter.planner.region import Region, batch_inputs, find_region, refuse
from converter.planner.text import Text
from converter.planner.trail import path, suites


def decide(facts: Facts, options: Options, source: str) -> tuple[Plan, tuple[Diagnostic, ...]]:
    """The plan for a script, and what its reader should know; raises Refusal."""
    check_placement(facts)
    steps = training_steps(facts)
    check_feeds(facts, steps)
    size = find_batch_size(facts, batch_inputs(facts, steps), steps)
    options = replace(options, batch="total") if size.fixed else options
    _settle_means(facts, size)
    groups = _groups(facts, steps, size)
    regions = [region for _, region in groups]
    check_reach(facts, steps, regions)
    check_shapes(facts, steps, size)
    check_contents(facts, regions)
    names, text = Names(facts.tree), Text(source, facts.tree)
    count = GpuCount(facts, names, options, text)
    tensorflow, imported = _tensorflow(facts, names)
    scaling = scale(facts, regions, size, text, count.expression) if options.batch == "per-gpu" else Scaling()
    text.planned += [*scaling.replaces, *rate_edits(steps, options, text, count.expression)]
    parts = [_plan_loop(facts, part, region, names, text, size, scaling, options) for part, region in groups]
    replaces, inserts = session_edits(facts, names, options, text, tensorflow)
    pinned = tuple(dict.fromkeys(run for region in regions for run in _pinned(facts, region, text)))
    helpers = ["count_gpus"] if count.counts else []
    helpers += ["tower_device", *(["variable_device"] if pinned else []), *(h for part in parts for h in part.helpers)]
    plan = Plan(
        tuple(part.loop for part in parts),
        (*text.planned, *(r for part in parts for r in part.replaces), *replaces),
        (*count.inserts, *scaling.inserts, *(i for part in parts for i in part.inserts), *inserts),
        pinned,
        helper_names(helpers, options.variables, names),
        tensorflow,
        not imported,
        count.expression,
        count.define,
        options,
    )
    return plan, (*size.warnings, *(w for part in parts for w in part.warnings))


def _settle_means(facts: Facts, size: BatchSize) -> None:
    """A sum over the examples that is divided by the batch size is their mean."""
    keys = {o.key for o in size.origins}
    for tensor in facts.tensors:
        if tensor.batch.how == "sum" and any(o.key in keys for o in tensor.batch.per):
            tensor.batch = replace(tensor.batch, how="mean", per=frozenset())


def _groups(facts: Facts, steps: list[TrainStep], size: BatchSize) -> list[tuple[list[TrainStep], Region]]:
    """Training steps that share inputs share a loop; models side by side have loops of their own."""
    parts: list[list[TrainStep]] = []
    for step in steps:
        mine = set(batch_inputs(facts, [step]))
        joined = [p for p in parts if mine & set(batch_inputs(facts, p))]
        parts = [p for p in parts if p not in joined] + [[s for p in joined for s in p] + [step]]
    try:
        found = [(p, find_region(facts, p, batch_inputs(facts, p), size.origins)) for p in parts]
        if len(found) == 1 or _apart([region for _, region in found]):
            return found
    except Refusal:
        if len(parts) == 1:
            raise
    return [(steps, find_region(facts, steps, batch_inputs(facts, steps), size.origins))]


def _apart(regions: list[Region]) -> bool:
    """Whether loops do not reach into each other."""
    spans = [(id(r.block.body), min((*r.before, *r.tower)), max((*r.after, *r.tower))) for r in regions]
    ordered = sorted(spans)
    inside = any(one[0] == two[0] and one[2] >= two[1] for one, two in pairwise(ordered))
    nested = any(r is not q and q.in_tower(r.block.frame.call_site) for r in regions for q in regions)
    return not inside and not nested


@dataclass(frozen=True)
class _Part:
    """One loop, and what it asks of the rest of the script."""

    loop: Loop
    replaces: list[Replace]
    inserts: list[Insert]
    helpers: list[str]
    warnings: list[Diagnostic]


def _plan_loop(
    facts: Facts, steps: list[TrainStep], region: Region, names: Names, text: Text, size: BatchSize, scaling: Scaling,
    options: Options,
) -> _Part:  # fmt: skip
    traffic = Traffic()
    shards_in(facts, region, names, traffic, steps)
    numbers_in(facts, region, names, traffic, size.origins, set(scaling.unscaled))
    merges_out(facts, region, names, traffic, steps, options)
    gradient, replaces, inserts, helpers, register = gradients(facts, region, steps, traffic, names, text)
    contexts = _contexts(facts, region, names)
    loop = Loop(
        _starts(facts, region, region.before, text),
        _starts(facts, region, region.tower, text),
        _starts(facts, region, region.after, text),
        names.again("gpu", "tower"),
        tuple(traffic.shards),
        tuple(traffic.rebinds),
        tuple(traffic.merges),
        gradient,
        contexts,
        tuple(traffic.restore),
        _splits(region, region.splits, text),
        _splits(region, region.behind, text),
        names.fresh("layer_names") if _counts_on(facts, region) else "",
        register,
    )
    helpers = [*_shard_helpers(traffic), *(helper for helper, _ in contexts), *helpers]
    helpers += ["LayerNames"] if loop.layer_names else []
    return _Part(loop, replaces, [*declarations(region, traffic, text), *inserts], helpers, traffic.warnings)


def _tensorflow(facts: Facts, names: Names) -> tuple[str, bool]:
    """The script's name for the tensorflow module; a new one where it has none."""
    for name, dotted in facts.imports.items():
        if dotted == "":
            return name, True
    return names.fresh("tf", "tensorflow"), False


def _splits(
    region: Region, parts: dict[int, tuple[ast.stmt, ...]], text: Text
) -> tuple[tuple[At, tuple[At, ...]], ...]:
    return tuple((text.start(region.block.body[i]), tuple(text.start(s) for s in stmts)) for i, stmts in parts.items())


def _starts(facts: Facts, region: Region, indexes: tuple[int, ...], text: Text) -> tuple[At, ...]:
    """Where statements begin; several on one line count as one, and must stay together."""
    found: list[At] = []
    for index in indexes:
        stmt = region.block.body[index]
        if text.anchor(stmt) == text.start(stmt):
            found.append(text.start(stmt))
        elif text.anchor(stmt) not in found:
            raise refuse(facts, stmt, "TMG203",
                         "this statement shares its line with another that stays outside of the towers",
                         "write it on a line of its own")  # fmt: skip
    return tuple(found)


# -- helpers ---------------------------------------------------------------------------------------


def _shard_helpers(traffic: Traffic) -> list[str]:
    found = []
    for shard in traffic.shards:
        along = any(axis != 0 for axis in shard.axes)
        found.append(("shard_static" if shard.static else "shard") + ("_along" if along else ""))
    if traffic.rebinds:
        found.append("shard_size")
    return found


def _counts_on(facts: Facts, region: Region) -> bool:
    """Whether layers with default names are made after the loop, in later runs of it too."""
    made = [e for e in facts.effects if e.kind == "variable" and _default_name(e.node)]
    within = [e for e in made if region.in_tower(e.site)]
    return bool(within) and any(e.time > region.end or e not in within and region.in_any_tower(e.site) for e in made)


def _default_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not any(k.arg in ("name", "scope") for k in node.keywords)


def _contexts(facts: Facts, region: Region, names: Names) -> tuple[tuple[str, str], ...]:
    """Helpers entered in the loop: for raw variables, for collections, for updates of variables."""
    kinds = {
        e.kind
        for e in facts.effects
        if region.in_any_tower(e.site) or e.node in region.inline or e.kind == "batch norm scope"
    }
    if "batch norm scope" in kinds:
        kinds.add("batch norm")
    contexts: list[tuple[str, str]] = []
    if kinds & {"raw variable", "object variable"}:
        contexts.append(("SharedVariables", names.fresh("shared_variables")))
    if kinds & {"collection", "batch norm", "total loss"}:
        contexts.append(("TowerCollections", names.fresh("tower_collections")))
    if kinds & {"batch norm", "assign", "ema"}:
        contexts.append(("first_tower_updates", ""))
    return tuple(contexts)


def _pinned(facts: Facts, region: Region, text: Text) -> tuple[tuple[At, At], ...]:
    """Statements outside the loop that make the model's variables: where these live is said there."""
    where = suites(facts.tree)
    makers: list[ast.stmt] = []
    used = {v.uid for v in region.needed.values()}
    for variable in facts.variables:
        if variable.uid not in used or variable.site is None or region.in_tower(variable.site) or variable.dims == ():
            continue
        steps = path(variable.site)
        stmt = next(
            (s for _, s in reversed(steps) if where.get(s) is region.block.body or where.get(s) is facts.tree.body),
            None,
        )
        if (
            stmt is not None
            and stmt not in makers
            and not isinstance(stmt, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.Import, ast.ImportFrom))
        ):
            makers.append(stmt)
    runs: list[tuple[At, At]] = []
    for stmt in sorted(makers, key=lambda s: s.lineno):
        body = where[stmt]
        index = body.index(stmt)
        if runs and index and text.start(body[index - 1]) == runs[-1][1] and _moves_alike(region, body, index):
            runs[-1] = (runs[-1][0], text.start(stmt))
        else:
            runs.append((text.start(stmt), text.start(stmt)))
    return tuple(runs)


def _moves_alike(region: Region, body: list[ast.stmt], index: int) -> bool:
    if body is not region.block.body:
        return True
    return (index in region.before) == (index - 1 in region.before)

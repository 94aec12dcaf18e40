"""Puts the plan together."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.python.joins import choices
from converter.analysis.values import Tensor, needed
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.plan import Again, At, Insert, Loop, Plan, Replace
from converter.planner.again import Repeat, repeats
from converter.planner.averages import check_averages
from converter.planner.batch_size import BatchSize, Scaling, find_batch_size, scale
from converter.planner.builtin_names import Builtins, taken_modules
from converter.planner.checks import (
    check_beside,
    check_contents,
    check_data,
    check_defaults,
    check_feeds,
    check_followed,
    check_placement,
    check_reach,
    check_recursion,
    check_shapes,
    check_share,
    check_state,
    executions,
    host_functions,
    sessions_left,
    training_steps,
    unread,
)
from converter.planner.collected import merged_keys
from converter.planner.devices import own_devices
from converter.planner.drawn import batches_behind, drawn_rows
from converter.planner.entrance import upstream
from converter.planner.fed_size import check_fed_sizes
from converter.planner.findings import refuse, warn
from converter.planner.fixed_rows import check_fixed_rows
from converter.planner.gradients import gradients
from converter.planner.handed import check_handed
from converter.planner.helpers import helper_names, read_by_helpers, with_names
from converter.planner.host import GpuCount, rate_edits, session_edits
from converter.planner.limits import check_endless, repetitions
from converter.planner.literal_rows import check_literal_rows
from converter.planner.longest import longest_edits
from converter.planner.lookups import check_lookups
from converter.planner.merging import Wanted, merges_out, wanted_out
from converter.planner.modes import check_modes
from converter.planner.modules import Aliases, helper_module
from converter.planner.names import Names
from converter.planner.numbered import check_numbered
from converter.planner.places import declarations
from converter.planner.region import Region, batch_inputs, find_region
from converter.planner.resets import begin_anew
from converter.planner.reused import reuse_scopes
from converter.planner.scopes import asks_again, reopened
from converter.planner.shapeless import check_shapeless
from converter.planner.sharding import numbers_in, shards_in
from converter.planner.slices import cut_variables
from converter.planner.so_far import keep_first
from converter.planner.summaries import names_in, summaries_in
from converter.planner.text import Text
from converter.planner.traffic import Traffic
from converter.planner.trail import depends_on_batch, path, returns, suites
from converter.planner.unread import unread as unread_attributes
from converter.planner.visible import visible_edits
from converter.planner.weighing import loss_counts, warn_of_counts
from converter.planner.work import check_work
from converter.source.users import User

HELPERS = "tower_helpers"  # the module that carries the helpers of several files


@dataclass(frozen=True)
class Sources:
    """The files that may be planned.

    read: gives a file's text by its path, "" for the script. several: whether other files than the
    script may change. taken: whether a module beside the script cannot be the one that carries
    the helpers and this definition. users: other scripts that import some of these files, which are
    given by their absolute paths.
    """

    read: Callable[[str], str]
    several: bool
    taken: Callable[[str, str], bool]
    users: Callable[[list[str]], Sequence[User]]


def decide(facts: Facts, options: Options, sources: Sources) -> tuple[tuple[Plan, ...], tuple[Diagnostic, ...]]:
    """The plan for each file that changes, the script's first, and what its reader should know; raises Refusal."""
    check_endless(facts)
    check_placement(facts)
    steps = training_steps(facts)
    check_feeds(facts, steps)
    check_recursion(facts, steps)
    check_followed(facts, steps)
    repeated = list(repetitions(facts, steps))
    size = find_batch_size(facts, tuple(upstream(batch_inputs(facts, steps))), executions(facts, steps))
    options = replace(options, batch="total") if size.fixed else options
    _settle_means(facts, size)
    steps, groups = _grouped(facts, steps, size)
    regions = [region for _, region in groups]
    check_work(facts, steps, regions)
    check_state(facts, steps, regions)
    check_reach(facts, steps, regions)
    check_beside(facts, steps, size)
    check_share(steps, facts, batch_inputs(facts, steps), size)
    check_shapes(facts, steps, size)
    check_fed_sizes(facts, steps, regions, size, options.batch == "per-gpu")
    if options.batch == "per-gpu":
        check_fixed_rows(facts, regions, size)
    else:
        check_literal_rows(facts, regions, size)
    check_contents(facts, regions)
    check_defaults(facts, regions)
    check_lookups(facts, regions)
    check_data(facts, regions)
    check_shapeless(facts, steps, options.shared)
    check_averages(facts, regions)
    numbered = check_numbered(facts, steps, options.batch == "total")
    chosen = _Chosen(facts, options, steps, size, groups)
    plans, warnings = _plan(chosen, sources, "")
    users = _other_scripts(facts, steps, plans, sources)
    _check_other_scripts(facts, regions, users)
    if users and not options.one_gpu:
        chosen = replace(chosen, options=replace(options, one_gpu=True))
        plans, warnings = _plan(chosen, sources, "")
    if len(plans) > 1:
        if not sources.several:
            raise _several(facts, plans)
        names = Names(*facts.walked.values())
        while True:
            module = names.fresh(HELPERS)
            plans, warnings = _plan(chosen, sources, module)
            if not sources.taken(module, plans[0].define):
                break
        _check_helpers(facts, plans[0], users)
    warnings = (*warnings, *_check_chosen(facts, plans))
    seen = (*size.warnings, *repeated, *numbered, *unread(facts), *sessions_left(facts, sources.several))
    seen = (*seen, *host_functions(facts, regions), *summaries_in(facts, regions), *warnings)
    return plans, (*seen, *(_stays_on_one_gpu(facts, user, plans[0]) for user in users if user.trains))


def _other_scripts(
    facts: Facts, steps: list[TrainStep], plans: tuple[Plan, ...], sources: Sources
) -> Sequence[User]:
    """Other scripts that import what changes; none where the script itself trains only when another one calls it."""
    outermost = [list(step.site.chain())[-1].stmt for step in steps]
    if any(isinstance(stmt, (ast.FunctionDef, ast.ClassDef)) for stmt in outermost):
        return ()
    return sources.users([os.path.abspath(plan.path or facts.path) for plan in plans])


def _beside(facts: Facts, path: str) -> str:
    """The path of another file of the project as the user would write it."""
    here = os.path.dirname(facts.path)
    return os.path.join(here, os.path.relpath(path, os.path.abspath(here)))


def _check_helpers(facts: Facts, plan: Plan, users: Sequence[User]) -> None:
    """Refuse where another script does not find the module of helpers that the changed files import."""
    here = os.path.dirname(os.path.abspath(facts.path))
    lost = [user for user in users if here not in user.folders and not plan.helper_module.startswith(".")]
    if lost:
        raise Refusal(Diagnostic("TMG265", _beside(facts, lost[0].path), lost[0].line, 1 if lost[0].line else 0,
                                 f"it imports files that change, and does not find {plan.helper_module} beside "
                                 f"{os.path.basename(facts.path)}, which these will import",
                                 "put the two scripts into one folder, or add that folder to sys.path"))  # fmt: skip


def _check_chosen(facts: Facts, plans: tuple[Plan, ...]) -> list[Diagnostic]:
    """A module that a flag names is read as the flag's default: another one would not be changed."""
    chosen = {e.name: e.node for e in facts.effects if e.kind == "chosen module"}
    for plan in plans:
        if plan.path in chosen:
            raise refuse(facts, chosen[plan.path], "TMG266",
                         f"a flag chooses the module here, and {os.path.basename(plan.path)} must change",
                         "build the loss and the training step in this script, or import it by name")  # fmt: skip
    return [warn(facts, node, "TMG331", "a flag chooses the module here: its default is read, and no other one",
                 "prove the conversion with each choice: tf-multigpu verify … -- --flag=choice")
            for node in chosen.values()]  # fmt: skip


def _check_other_scripts(facts: Facts, regions: list[Region], users: Sequence[User]) -> None:
    """Refuse where a function ends early in another script, before statements that cannot be kept in their order."""
    ends = [s for region in regions for stmts in region.behind.values() for s in stmts if returns(s)]
    if ends and users:
        path, line = users[0].path, users[0].line
        where = f"{facts.shown(ends[0])}:{ends[0].lineno}"
        raise Refusal(Diagnostic("TMG263", _beside(facts, path), line, 1 if line else 0,
                                 f"it imports the model, which may return at {where}, in front of the loss",
                                 "return behind the loss there, or give this script its own function"))  # fmt: skip


def _stays_on_one_gpu(facts: Facts, user: User, plan: Plan) -> Diagnostic:
    path, line = user.path, user.line
    hint = f"to train with it on several GPUs, set {plan.num_gpus} there before the model is built"
    hint = "convert it, too, if it trains" if "(" in plan.num_gpus or "." not in plan.num_gpus else hint
    message = "it imports files that change, and goes on building the model for one GPU"
    return Diagnostic("TMG307", _beside(facts, path), line, 1 if line else 0, message, hint, "warning")


@dataclass(frozen=True)
class _Chosen:
    """What is settled before anything is written."""

    facts: Facts
    options: Options
    steps: list[TrainStep]
    size: BatchSize
    groups: list[tuple[list[TrainStep], Region]]


def _several(facts: Facts, plans: tuple[Plan, ...]) -> Refusal:
    """Refuses to change other files than the one that is written."""
    first = next(at for plan in plans for at in _places(plan) if at.path)
    names = sorted({os.path.relpath(plan.path, os.path.dirname(os.path.abspath(facts.path))) for plan in plans[1:]})
    path = facts.shown(facts.modules[first.path].tree.body[0])
    return Refusal(Diagnostic("TMG221", path, first.line, first.column + 1,
                              f"{' and '.join(names)} must change with the script",
                              "write all of them: --output-dir DIR, or --in-place"))  # fmt: skip


def _plan(chosen: _Chosen, sources: Sources, module: str) -> tuple[tuple[Plan, ...], tuple[Diagnostic, ...]]:
    """The plans of all files; `module` carries the helpers if it is given, else the script does."""
    facts, options, steps, size = chosen.facts, chosen.options, chosen.steps, chosen.size
    regions = [region for _, region in chosen.groups]
    names, text = Names(*facts.walked.values()), Text(facts, sources.read)
    aliases = Aliases(facts, names)
    aliases.tensorflow("")
    scales = options.batch == "per-gpu"
    count = GpuCount(facts, names, options, text, aliases, module, size.scaled if scales else ())
    scaling = scale(facts, regions, size, text, count.beside) if scales else Scaling()
    text.planned += [*scaling.replaces, *rate_edits(steps, options, text, count)]
    longest, reading = longest_edits(facts, regions, text, aliases)
    text.planned += longest
    done: set[ast.AST] = set()
    parts = [
        _plan_loop(facts, p, region, names, text, size, scaling, options, aliases, done) for p, region in chosen.groups
    ]
    builtins = Builtins(facts, names)
    loops = tuple(_with_builtins(part.loop, region, builtins) for part, region in zip(parts, regions, strict=True))
    shown, seen = visible_edits(facts, options, text, count, sources.several)
    text.planned += shown
    replaces, inserts = session_edits(facts, names, options, text, aliases, sources.several, builtins)
    devices, warnings = own_devices(facts, regions, text)
    warnings = [*warnings, *seen]
    pinned = tuple(dict.fromkeys(run for region in regions for run in _pinned(facts, region, text)))
    plain = names_in(facts, regions, text)
    helpers = ["count_gpus"] if count.counts else []
    helpers += ["name_without_tower"] if plain else []
    helpers += ["enter_tower"] if options.one_gpu else []
    helpers += ["tower_device", *(["variable_device"] if pinned else [])]
    helpers += [*(helper for part in parts for helper in part.helpers), *reading]
    cut = cut_variables(facts, regions, text) if options.variables == "partitioned" else None
    helpers += ["cut_variables"] if cut else []
    carried = helper_names(helpers, options, names)
    used, modules = read_by_helpers(carried) if not module else (set(), set())
    hidden = builtins.hidden(facts.module, used)
    whole = Plan(
        loops,
        (*text.planned, *(r for part in parts for r in part.replaces), *plain, *replaces, *devices,
         *(cut.replaces if cut else ())),
        (*count.inserts, *scaling.inserts, *(i for part in parts for i in part.inserts), *inserts),
        pinned,
        carried,
        aliases.tensorflow(""),
        not aliases.imported(""),
        count.at(""),
        count.define,
        options,
        prepared=tuple(dict.fromkeys(at for region in regions for at in _prepared(region, text))),
        forward=any(region.forward for region in regions),
        builtins=builtins.module,
        hidden=hidden,
        modules=tuple((m, names.fresh(f"python_{m}")) for m in sorted(taken_modules(facts, modules))),
        one_gpu=_several_towers(count, "") if options.one_gpu else "",
        kept_whole=cut.kept if cut else None,
        cut_by_rows=cut.rows if cut else (),
    )
    paths = ["", *sorted({at.path for at in _places(whole)} - {""})]
    plans = tuple(with_names(_of_file(facts, whole, path, aliases, count, module)) for path in paths)
    return plans, (*warnings, *(cut.warnings if cut else ()), *(w for part in parts for w in part.warnings))


def _with_builtins(loop: Loop, region: Region, builtins: Builtins) -> Loop:
    """A loop that reads builtins by their module where their names mean something else."""
    read = ["range", *("list" for reset in loop.resets if reset.how == "list")]
    read += ["list", "zip"] if any(m.each for m in loop.merges) else []
    return replace(loop, hidden=builtins.hidden(region.block.frame, read))


def _prepared(region: Region, text: Text) -> list[At]:
    """The statements, in the loop's function or in those that call it, that compute on whole batches."""
    callers = {region.block.frame.uid, *(frame for frame, _ in path(region.block.frame.call_site))}
    sites = [i.site for i in region.inputs if i.op == "fed" and i.site is not None]
    sites += [e.site for e in region.block.facts.effects if e.kind == "longest" and not region.in_tower(e.site)]
    found = [next((s.stmt for s in site.chain() if s.frame.uid in callers), None) for site in sites]
    return [text.start(stmt) for stmt in found if stmt is not None]


def _places(plan: Plan) -> list[At]:
    """Where a plan changes something."""
    edits = [*(r.at for r in plan.replaces), *(i.at for i in plan.inserts)]
    return sorted([*edits, *(loop.tower[0] for loop in plan.loops), *(first for first, _ in plan.pinned)])


def _several_towers(count: GpuCount, path: str) -> str:
    """The condition under which a file that others import builds towers."""
    return f"{count.at(path)} > 1"


def _of_file(facts: Facts, plan: Plan, path: str, aliases: Aliases, count: GpuCount, module: str) -> Plan:
    """The part of a plan that changes one file."""
    return replace(
        plan,
        loops=tuple(loop for loop in plan.loops if loop.tower[0].path == path),
        replaces=tuple(r for r in plan.replaces if r.at.path == path),
        inserts=tuple(i for i in plan.inserts if i.at.path == path),
        prepared=tuple(at for at in plan.prepared if at.path == path),
        pinned=tuple(run for run in plan.pinned if run[0].path == path),
        tensorflow=aliases.tensorflow(path),
        import_tensorflow=not aliases.imported(path),
        num_gpus=count.at(path),
        one_gpu=_several_towers(count, path) if plan.one_gpu else "",
        path=path,
        helper_module=helper_module(facts, path, module) if module else "",
    )


def _settle_means(facts: Facts, size: BatchSize) -> None:
    """A sum over the examples that is divided by the batch size is their mean."""
    keys = {o.key for o in size.origins}
    for tensor in facts.tensors:
        if tensor.batch.how == "sum" and any(o.key in keys for o in tensor.batch.per):
            tensor.batch = replace(tensor.batch, how="mean", per=frozenset())


def _grouped(
    facts: Facts, steps: list[TrainStep], size: BatchSize
) -> tuple[list[TrainStep], list[tuple[list[TrainStep], Region]]]:
    """The training steps and their loops; where a flag chooses among models with inputs of their own, one for each."""
    try:
        return steps, _groups(facts, steps, size)
    except Refusal as refusal:
        apart = [
            replace(step, loss=loss, chosen=loss is not step.loss)
            for step in steps for loss in choices(step.loss) if loss.batch.kind != "free"
        ]  # fmt: skip
        if len(apart) == len(steps):
            raise
        try:
            return apart, _groups(facts, apart, size)
        except Refusal:
            raise refusal from None


def _groups(facts: Facts, steps: list[TrainStep], size: BatchSize) -> list[tuple[list[TrainStep], Region]]:
    """Training steps that share inputs, or what is drawn, share a loop; models side by side have loops of their own."""
    parts: list[list[TrainStep]] = []
    for step in steps:
        mine = batches_behind(facts, [step])
        joined = [p for p in parts if mine & batches_behind(facts, p) and not _trained_before(facts, p, step)]
        parts = [p for p in parts if p not in joined] + [[s for p in joined for s in p] + [step]]
    try:
        found = [(p, find_region(facts, p, batch_inputs(facts, p), size.origins)) for p in parts]
        if len(found) == 1 or _apart([region for _, region in found]):
            return found
    except Refusal:
        if len(parts) == 1:
            raise
    return [(steps, find_region(facts, steps, batch_inputs(facts, steps), size.origins))]


def _trained_before(facts: Facts, steps: list[TrainStep], later: TrainStep) -> bool:
    """Whether models are trained before another is built, which has nothing in common with them but its inputs."""
    trained = {step.result.uid for step in steps}
    built = needed([later.loss])
    runs = [run for run in facts.runs if run.time < later.loss.time and run.computes(trained)]
    shared = (v for uid, v in needed(s.loss for s in steps).items() if uid in built and depends_on_batch(v))
    return bool(runs) and not any(isinstance(value, Tensor) for value in shared)


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
    options: Options, aliases: Aliases, done: set[ast.AST],
) -> _Part:  # fmt: skip
    tensorflow = aliases.tensorflow(facts.path_of(region.block.body[0]))
    traffic = Traffic(tensorflow, size.alone, options.one_gpu)
    _check_last_line(facts, region, text)
    shards_in(facts, region, names, traffic, steps)
    numbers_in(facts, region, names, traffic, size.origins, scaling)
    drawn_rows(facts, region, names, traffic, steps, size.origins, scaling)
    begin_anew(facts, region, names, traffic)
    merged = [] if region.forward else steps
    traffic.counts.update(loss_counts(region, merged, text, tensorflow))
    traffic.warnings += warn_of_counts(facts, merged, traffic.counts) if options.batch == "per-gpu" else ()
    unread = {} if options.one_gpu else unread_attributes(facts, region)
    wanted = wanted_out(facts, region, unread)
    if region.forward:
        check_handed(facts, region, wanted)
    again = repeats(facts, region, wanted, merged)
    merges_out(facts, region, names, traffic, merged, options, wanted)
    check_modes(facts, region, wanted)
    gradient, replaces, inserts, helpers, register = gradients(
        facts, region, steps, traffic, names, text, tensorflow, done
    )
    kept, keeping = keep_first(facts, region, names, text)
    keys = merged_keys(facts, region, text, tensorflow) if len(traffic.shards) == 1 else ()
    contexts = _contexts(facts, region, names, "MergedCollections" if keys else "TowerCollections")
    reused, own_scopes = reuse_scopes(facts, region, text, tensorflow)
    loop = Loop(
        _starts(facts, region, region.before, text),
        _starts(facts, region, region.tower, text),
        _starts(facts, region, region.after, text),
        names.again("gpu", "tower"),
        tuple(traffic.shards),
        tuple(traffic.nests),
        tuple(traffic.regroups),
        tuple(traffic.rebinds),
        tuple(traffic.resets),
        tuple(traffic.merges),
        tuple(traffic.rebuilds),
        gradient,
        contexts,
        tuple(traffic.restore),
        _splits({region.block.body[i]: stmts for i, stmts in region.splits.items()}, text),
        _splits(region.behind, text),
        reopened(facts, region, names, text, aliases),
        _again(again, text),
        asks_again(facts, region),
        register,
        (keys, names.fresh("tower_weight", "tower_weights") if keys else ""),
        tuple(kept),
        reused,
        early=_early(facts, region, text) if options.one_gpu else (),
        dropped=tuple(text for text in unread if text not in _kept_places(traffic, wanted)),
    )
    helpers = [*_shard_helpers(traffic), *(helper for helper, _ in contexts), *helpers, *_merge_helpers(traffic)]
    helpers += ["keep_names"] if loop.keep_names else []
    inserts = [*declarations(region, traffic, text), *keeping, *inserts]
    return _Part(loop, [*replaces, *own_scopes], inserts, helpers, traffic.warnings)


def _early(facts: Facts, region: Region, text: Text) -> tuple[At, ...]:
    """Statements that are moved behind the towers, up to the last that may end the function before these do."""
    moved = sorted(index for index in region.after if index < max(region.tower))
    ends = [index for index in moved if returns(region.block.body[index])]
    return _starts(facts, region, [index for index in moved if index <= max(ends)], text) if ends else ()


def _kept_places(traffic: Traffic, wanted: Wanted) -> set[str]:
    """Places that the loop reads or binds itself."""
    bound = {*(r.place for r in traffic.resets), *(r.place for r in traffic.rebinds), *(n.place for n in traffic.nests)}
    bound |= {*(r.place for r in traffic.rebuilds), *(m.place for m in traffic.merges)}
    return {*wanted, *bound, *(place for place, _ in traffic.restore)}


def _splits(parts: dict[ast.stmt, tuple[ast.stmt, ...]], text: Text) -> tuple[tuple[At, tuple[At, ...]], ...]:
    return tuple((text.start(around), tuple(text.start(s) for s in stmts)) for around, stmts in parts.items())


def _again(repeats: tuple[Repeat, ...], text: Text) -> tuple[Again, ...]:
    """Repeated statements, those of one with block together."""
    return tuple(
        Again(tuple(text.start(r.stmt) for r in group), tuple(text.start(w) for w in around))
        for around, group in groupby(repeats, key=lambda r: r.around)
    )


def _starts(facts: Facts, region: Region, indexes: Iterable[int], text: Text) -> tuple[At, ...]:
    """Where statements begin; several on one line count as one, and must stay together."""
    found: list[At] = []
    for index in sorted(indexes):
        stmt = region.block.body[index]
        if text.anchor(stmt) == text.start(stmt):
            found.append(text.start(stmt))
        elif text.anchor(stmt) not in found:
            raise refuse(facts, stmt, "TMG203",
                         "this statement shares its line with another that stays outside of the towers",
                         "write it on a line of its own")  # fmt: skip
    return tuple(found)


def _check_last_line(facts: Facts, region: Region, text: Text) -> None:
    """What follows the towers' last statement on its line would go into the loop with it."""
    for stmt in region.block.body[max(region.tower) + 1 :][:1]:
        if text.anchor(stmt) != text.start(stmt):
            raise refuse(facts, stmt, "TMG203", "this statement shares its line with one of the towers'",
                         "write it on a line of its own")  # fmt: skip


# -- helpers ---------------------------------------------------------------------------------------


def _shard_helpers(traffic: Traffic) -> list[str]:
    found = []
    for shard in traffic.shards:
        if shard.drawn is not None:
            found.append("shard_drawn")
            continue
        along = any(axis != 0 for axis in shard.axes)
        along |= shard.lead is not None and shard.lead[2] != 0
        kind = "shard_data" if shard.data else "shard_static" if shard.static else "shard"
        found.append("shard_sparse" if shard.sparse else kind + ("_along" if along else ""))
    for nest in traffic.nests:
        found.append(("shard_static" if nest.static else "shard") + ("_along" if nest.axis else ""))
    if any(rebind.rows_of is None for rebind in traffic.rebinds):
        found.append("shard_size")
    return found


def _merge_helpers(traffic: Traffic) -> list[str]:
    nested = any(not nest.optional for nest in traffic.nests)
    found = ["map_structure"] if nested or any(m.nested and not m.each for m in traffic.merges) else []
    found += ["concat_steps"] if any(m.steps for m in traffic.merges) else []
    found += ["plain_name"] if any(m.renamed for m in traffic.merges) else []
    return found + (["weigh_losses"] if traffic.counts else [])


def _counts_on(facts: Facts, region: Region) -> bool:
    """Whether layers, or slots, with default names are made after the loop, in later runs of it too."""
    built = {(step.call, step.loss.roots) for step in facts.train_steps if step.loss.roots}
    if len({call for call, _ in built}) < len(built):
        return True  # a model that is built again, on other inputs, comes with an optimizer of its own
    made = [e for e in facts.effects if e.kind == "variable" and _default_name(e.node) and "global_step" not in e.name]
    within = {id(e) for e in made if region.in_tower(e.site)}
    return bool(within) and any(
        e.time > region.end or id(e) not in within and region.in_any_tower(e.site) for e in made
    )


def _default_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not any(k.arg in ("name", "scope") for k in node.keywords)


def _contexts(facts: Facts, region: Region, names: Names, collections: str) -> tuple[tuple[str, str], ...]:
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
        contexts.append((collections, names.fresh("tower_collections")))
    if kinds & {"batch norm", "assign", "ema"}:
        contexts.append(("first_tower_updates", ""))
    if "ema" in kinds:
        contexts.append(("TowerAverages", names.fresh("tower_averages")))
    if _counts_on(facts, region):
        contexts.append(("LayerNames", names.fresh("layer_names")))
    return tuple(contexts)


def _pinned(facts: Facts, region: Region, text: Text) -> tuple[tuple[At, At], ...]:
    """Statements outside the loop that make the model's variables: where these live is said there."""
    where = suites(*facts.trees())
    tops = [region.block.body, *(tree.body for tree in facts.trees())]
    makers: list[ast.stmt] = []
    used = {v.uid for v in region.needed.values()}
    leading = {stmt for _, stmt in path(region.block.frame.call_site)}
    for variable in facts.variables:
        if variable.uid not in used or variable.site is None or region.in_tower(variable.site) or variable.dims == ():
            continue
        steps = path(variable.site)
        stmt = next((s for _, s in reversed(steps) if any(where.get(s) is top for top in tops)), None)
        if stmt is None or (stmt in leading and stmt not in region.block.index) or isinstance(stmt, ast.If):
            # what leads to the loop, too, as a call of main: the first statement on the way that does not
            stmt = next((s for _, s in steps if s not in leading and isinstance(s, (ast.Assign, ast.Expr))), None)
        whole = (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.Import, ast.ImportFrom)
        if stmt is not None and stmt not in makers and not isinstance(stmt, whole):
            makers.append(stmt)
    runs: list[tuple[At, At]] = []
    for stmt in sorted(makers, key=text.start):
        body = where[stmt]
        index = body.index(stmt)
        line = text.anchor(stmt)
        if runs and runs[-1][1] == line:
            continue  # on one line with the one before
        if runs and index and text.anchor(body[index - 1]) == runs[-1][1] and _moves_alike(region, body, index):
            runs[-1] = (runs[-1][0], line)
        else:
            runs.append((line, line))
    return tuple(runs)


def _moves_alike(region: Region, body: list[ast.stmt], index: int) -> bool:
    if body is not region.block.body:
        return True
    return (index in region.before) == (index - 1 in region.before)

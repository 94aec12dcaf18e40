"""Plans all files of the project that change."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import fields, replace

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Origin
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan import At, Loop, Plan
from converter.plan.border import Reset
from converter.planner.batch_size.batch_size import Scaled, Scaling, scale
from converter.planner.batch_size.epochs import ends_with_data, steps_by_size
from converter.planner.batch_size.grids import HELPER as ROWS_OF_ONE_GPU
from converter.planner.batch_size.grids import grid_edits
from converter.planner.batch_size.intervals import intervals
from converter.planner.cases import Placed, Planned
from converter.planner.host.devices import own_devices
from converter.planner.host.evaluations import nets_beside
from converter.planner.host.gpu_count import GpuCount, gpu_count
from converter.planner.host.learning_rate import rate_edits
from converter.planner.host.one_tower import Reason, one_tower
from converter.planner.host.padding import longest_edits
from converter.planner.host.pinned_variables import only_variables, pinned
from converter.planner.host.sessions import session_edits
from converter.planner.host.single_examples import settings_of_one, single_branches, stand_in_branches
from converter.planner.host.step_numbers import HELPER as FEWER_STEPS
from converter.planner.host.step_numbers import schedules_left, step_edits, step_numbers
from converter.planner.host.untrained import untrained_branches
from converter.planner.host.visible_gpus import visible_edits
from converter.planner.outcome import Faults, Refused, noted
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.averaged_variables import averaging
from converter.planner.questions.conditions import Branch
from converter.planner.questions.statements import path
from converter.planner.region.executions import StepGroup
from converter.planner.region.fed_results import fed_results
from converter.planner.region.region import Region
from converter.planner.towers.after_updates import HELPER as AFTER_UPDATES
from converter.planner.towers.after_updates import wait_edits
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.dense_gradients import all_dense
from converter.planner.towers.loop import LoopPart, plan_loop
from converter.planner.towers.merges.loss_kind import statistics_of_share
from converter.planner.towers.merges.summaries import collected_names, names_in
from converter.planner.towers.own.edits import OwnEdits, own_edits
from converter.planner.towers.partitioned.slices import cut_variables
from converter.planner.wording import refuse
from converter.planner.writing.aliases import TENSORFLOW, Aliases, helper_folder, helper_home, helper_module
from converter.planner.writing.builtin_names import BUILTINS_MODULE, Builtins, taken_modules
from converter.planner.writing.context import WritingContext
from converter.planner.writing.helper_names import helper_names, read_by_helpers, with_names
from converter.planner.writing.source_text import SourceText


def plan_files(case: Placed, module: str = "") -> Planned | Refused:
    """The plans of all files; `module` carries the helpers if it is given, else the script does."""
    facts, options, regions = case.facts, case.options, case.regions
    made = _looped(case, module)
    context, count, scaling, parts, aliases = made.context, made.count, made.scaling, made.parts, made.context.aliases
    loops = tuple(_with_builtins(p.loop, region, context.builtins) for p, region in zip(parts, regions, strict=True))
    text, sessions = context.text, session_edits(context)
    devices, warnings = own_devices(facts, regions, text)
    made_outside = tuple(dict.fromkeys(run for region in regions for run in pinned(facts, region, text)))
    plain, collected = names_in(facts, regions, text), collected_names(facts, regions, text)
    cut = cut_variables(facts, regions, text) if options.variables == "partitioned" else None
    waits = wait_edits(facts, regions, options, text)
    around = {
        "count_gpus": count.counts,
        "name_without_tower": bool(plain),
        "without_tower": bool(collected),
        "variable_device": bool(made_outside) and not _is_plain_device(case, made_outside, text),
        FEWER_STEPS: made.divided,
        AFTER_UPDATES: bool(waits),
    }
    needed = [*_needed(around, options), *(helper for part in parts for helper in part.helpers), *made.reading]
    carried, names = helper_names(needed, options, sessions.names)
    dense = _never_sparse(case, module, needed)
    used, modules = read_by_helpers(carried, dense) if not module else (set(), set())
    hidden = context.builtins.hidden(facts.module, used)
    whole = Plan(
        loops=loops,
        replaces=(
            *(*text.planned, *dict.fromkeys(edit for part in parts for edit in part.replaces), *plain, *collected),
            *(*waits, *sessions.replaces, *devices, *(cut.replaces if cut else ())),
        ),
        inserts=(*count.inserts, *scaling.inserts, *(i for part in parts for i in part.inserts), *sessions.inserts),
        pinned=made_outside,
        helpers=carried,
        tensorflow=aliases.tensorflow(""),
        import_tensorflow=not aliases.imported(""),
        num_gpus=count.at(""),
        define=count.define,
        options=options,
        prepared=tuple(dict.fromkeys(at for region in regions for at in _prepared(region, text))),
        forward=any(region.forward for region in regions),
        statistics=tuple(sorted({text.start(node) for group in case.groups for node in _statistics(case, group)})),
        builtins=context.builtins.module if hidden or sessions.hidden or any(loop.hidden for loop in loops) else "",
        hidden=hidden,
        modules=tuple((m, names.unused(f"python_{m}")) for m in sorted(taken_modules(facts, modules))),
        one_gpu=_several_towers(count, "") if options.one_gpu else "",
        kept_whole=cut.kept if cut else None,
        cut_by_rows=cut.rows if cut else (),
        dense=dense,
        beside=tuple(text.start(node) for node in _nets_beside(case)),
        evaluated=tuple(sorted(text.start(node) for node in case.evaluated.calls)),
    )
    whole = _with_places_told(case, made, whole)
    whole, branches = _with_one_tower(case, whole, count, text)
    paths = ["", *sorted({at.path for at in whole.places()} - {""})]
    whole = _with_helpers_in(helper_folder(facts, paths), whole, context, count) if module else whole
    plans = tuple(with_names(_of_file(facts, whole, path, aliases, count, module)) for path in paths)
    remarks = (*warnings, *made.seen, *(cut.warnings if cut else ()), *(w for part in parts for w in part.warnings))
    known = {f.name: getattr(case, f.name) for f in fields(Placed)}
    return Planned(**known, plans=plans, noted=remarks, one_tower=branches, module=module)


def _with_places_told(case: Placed, made: _Looped, plan: Plan) -> Plan:
    """The plan with the places that decisions name: what counts training steps, grows with batches, or averages."""
    grown = _grown(case)
    read = (access.node for access, number in case.facts.numbers if not access.write and number.linear & grown)
    places = (
        steps_by_size(case.size_reads, made.kept),
        ends_with_data(case.facts, case.steps),
        schedules_left(case.facts, case.options, grown),
        (*read, *(origin.node for origin in grown if origin.key[0] == "literal")),
        averaging(case.steps),
    )
    at = (tuple(sorted({made.context.text.start(node) for node in nodes})) for nodes in places)
    counted, ended, schedules, sizes, averaged = at
    return replace(plan, counted=counted, ended=ended, schedules=schedules, sizes=sizes, averaged=averaged)


def _statistics(case: Placed, group: StepGroup) -> Iterator[ast.AST]:
    """Where each tower takes statistics of its own examples that go into losses, as a batch norm does."""
    region = group.region
    if region.forward and not region.exact:
        return
    towers = region if region.exact else None
    for step in group.steps:
        node = statistics_of_share(case.facts, step.loss, towers)
        if node is not None:
            yield node


def _is_plain_device(case: Placed, made_outside: tuple[tuple[At, At], ...], text: SourceText) -> bool:
    """Whether tf.device('/cpu:0') does for what is made outside of the towers: variables, and nothing else."""
    bare = case.options.variables == "cpu" and not case.options.one_gpu
    return bare and only_variables(case.facts, case.regions, made_outside, text)


def _with_single_examples(
    case: Placed, plan: Plan, count: GpuCount, text: SourceText
) -> tuple[Plan, tuple[Branch, ...]]:
    """The plan with one tower in branches that take single examples; raises Refusal where there is no way to that."""
    branches, settings = single_branches(case.facts), settings_of_one(case.facts)
    if not settings:
        return plan, ()
    resets = frozenset(access.place for access in settings)
    reason = Reason("one tower takes single examples", resets, case.size.origins)
    found, lines = one_tower(branches, plan, count, text, reason)
    if len(found) < len(branches) or not stand_in_branches(case.facts, branches):
        raise refuse(case.facts, settings[0].node, PlanFault.SINGLE_EXAMPLES, name=settings[0].place.key)
    begin = tuple(dict.fromkeys(text.start(branch.first) for branch in branches))
    return replace(plan, inserts=tuple(dict.fromkeys((*plan.inserts, *lines))), single=begin), tuple(branches)


def _with_one_tower(case: Placed, plan: Plan, count: GpuCount, text: SourceText) -> tuple[Plan, tuple[Branch, ...]]:
    """The plan with one tower in branches of single examples, and in those without training, and all these branches.

    The latter are those where evaluations would leave out rows otherwise.
    """
    plan, single = _with_single_examples(case, plan, count, text)
    evaluations = case.evaluations
    lost = evaluations.left_out(single)
    found = untrained_branches(case.facts, case.steps) if lost else []
    for branch in found:
        others = [one for one in found if one is not branch]
        if evaluations.left_out((*single, *others)) == evaluations.left_out((*single, *found)):
            found = others
    fewer = evaluations.left_out((*single, *found)) < lost
    branches, lines = one_tower(found if fewer else [], plan, count, text)
    begin = tuple(text.start(branch.first) for branch in branches)
    return replace(plan, inserts=(*plan.inserts, *lines), untrained=begin), (*single, *branches)


def _with_helpers_in(folder: str, whole: Plan, context: WritingContext, count: GpuCount) -> Plan:
    """The plan with the module of helpers in a folder, and where the script has to import it for its flag."""
    here = os.path.dirname(os.path.abspath(context.facts.path))
    above = context.text.start(count.above) if count.above is not None else None
    return replace(whole, helper_folder="" if folder == here else os.path.relpath(folder, here), flag_above=above)


def _nets_beside(case: Placed) -> Iterator[ast.expr]:
    """The models outside of the towers that are fed batches of all GPUs."""
    return nets_beside(case.facts, case.regions, case.steps, _grown(case), case.evaluated.calls)


def _grown(case: Placed) -> frozenset[Origin]:
    """The numbers for the batch size that grow with the number of towers."""
    return case.size.scaled if case.options.batch == "per-gpu" else frozenset()


@dataclass(frozen=True)
class _Looped:
    """The loops, and the edits of batch size, padding and visible GPUs that later edits build on.

    reading: helpers that read the length of the longest example, or an example for each tower. seen: warnings about
    visible GPUs. divided: whether numbers of steps are divided by the number of GPUs. kept: reads of the batch size
    that stay as they are.
    """

    context: WritingContext
    count: GpuCount
    scaling: Scaling
    parts: list[LoopPart]
    reading: list[str]
    seen: list[Diagnostic]
    divided: bool
    kept: frozenset[ast.AST]


def _looped(case: Placed, module: str) -> _Looped:
    """Plan the loops and the edits that they depend on; raises Faults with all refusals."""
    facts, options, regions, context = case.facts, case.options, case.regions, _writing_context(case)
    scaled = _grown(case)
    count = gpu_count(context, module, scaled, bool(module) and options.flag_elsewhere)
    found: list[Diagnostic] = []
    scaling, names = Scaling(), count.names
    own, steps = case.evaluated.reads, frozenset[ast.AST]()
    with noted(found):
        steps = intervals(case.size_reads)
        scaling, names = scale(facts, regions, Scaled(scaled, steps, own), context.text, count.for_node, count.names)
    context = context.after([*scaling.replaces, *rate_edits(facts, options, context.text, count)])
    divided = step_edits(step_numbers(facts, options, regions, case.steps, scaled), context.text)
    context = context.after(divided)
    longest, reading = longest_edits(facts, regions, context.text, context.aliases)
    context = context.after(longest)
    laid_out = grid_edits(facts, scaled, context.text)
    context = context.after(laid_out)
    with noted(found):
        shown, seen = visible_edits(facts, options, context.text, count, context.anywhere)
    examples = OwnEdits()
    with noted(found):
        examples = own_edits(facts, case.steps, regions, context.text)
    parts, faults = _loops(case, replace(context, names=names), scaling)
    found += faults
    if found:
        raise Faults(found)
    context = replace(context.after([*shown, *examples.replaces]), names=parts[-1].names)
    return _Looped(
        context=context,
        count=count,
        scaling=scaling,
        parts=parts,
        reading=[*reading, *([ROWS_OF_ONE_GPU] if laid_out else []), *examples.helpers],
        seen=seen,
        divided=bool(divided),
        kept=steps | own,
    )


def _needed(around: dict[str, bool], options: Options) -> list[str]:
    """The helpers that files need around the loops, in the order in which they are written."""
    wanted = {
        "count_gpus": around["count_gpus"],
        FEWER_STEPS: around[FEWER_STEPS],
        "name_without_tower": around["name_without_tower"],
        "without_tower": around["without_tower"],
        "check_gpus": options.fewer_gpus == "refuse",
        "enter_tower": options.one_gpu,
        "tower_device": True,
        "variable_device": around["variable_device"],
        AFTER_UPDATES: around[AFTER_UPDATES],
        "cut_variables": options.variables == "partitioned",
    }
    return [name for name in wanted if wanted[name]]


def _writing_context(case: Placed) -> WritingContext:
    tensorflow, names = case.names.fresh(*TENSORFLOW)
    module, names = names.fresh(*BUILTINS_MODULE)
    return WritingContext(
        facts=case.facts,
        options=case.options,
        names=names,
        text=SourceText(case.facts, case.sources.read),
        aliases=Aliases(case.facts, tensorflow),
        builtins=Builtins(case.facts, module),
        anywhere=case.sources.several,
    )


def _loops(case: Placed, context: WritingContext, scaling: Scaling) -> tuple[list[LoopPart], list[Diagnostic]]:
    """The loop of each group of training steps with the edits outside of it, and all refusals."""
    parts: list[LoopPart] = []
    found: list[Diagnostic] = []
    names = context.names
    taken: frozenset[ast.AST] = frozenset()
    for group in case.groups:
        tensorflow = context.tensorflow(group.region.block.body[0])
        site = LoopSite(
            facts=case.facts,
            options=case.options,
            group=group,
            names=names,
            text=context.text,
            tensorflow=tensorflow,
            fed=frozenset(fed_results(case.facts, group.region)),
            alone=case.size.alone,
        )
        with noted(found):
            parts.append(plan_loop(case, site, context.aliases, scaling, taken))
            names = parts[-1].names
        taken |= set() if group.region.forward else {step.call for step in group.steps}
    return parts, found


def _with_builtins(loop: Loop, region: Region, builtins: Builtins) -> Loop:
    """The loop, with builtins read from their module where the script binds their names to something else."""
    resets = {one.how for one in loop.border.bound if isinstance(one, Reset)}
    read = ["range", *(["list"] if resets & {"list", "iterator"} else []), *(["iter"] if "iterator" in resets else [])]
    read += ["list", "zip"] if any(m.structure and m.structure.each for m in loop.border.merges) else []
    return replace(loop, hidden=builtins.hidden(region.block.frame, read))


def _prepared(region: Region, text: SourceText) -> list[At]:
    """The statements, in the loop's function or in those that call it, that compute on whole batches."""
    callers = {region.block.frame.uid, *(frame for frame, _ in path(region.block.frame.call_site))}
    sites = [i.site for i in region.inputs if i.site and (i.op == "fed" or has(i.op, Trait.HAS_DEFAULT))]
    sites += [e.site for e in region.block.facts.effects_of(EffectKind.LONGEST) if not region.in_tower(e.site)]
    found = [next((s.stmt for s in site.chain() if s.frame.uid in callers), None) for site in sites]
    return [text.start(stmt) for stmt in found if stmt is not None]


def _several_towers(count: GpuCount, path: str) -> str:
    """The condition under which a file that others import builds towers."""
    return f"{count.at(path)} > 1"


def _never_sparse(case: Placed, module: str, helpers: list[str]) -> bool:
    """True if the helpers may leave out sparse gradients: this script has none, and no other shares them."""
    return case.options.helpers == "inline" and not module and all_dense(case.facts, case.regions, helpers)


def _of_file(facts: Facts, plan: Plan, path: str, aliases: Aliases, count: GpuCount, module: str) -> Plan:
    """The part of a plan that changes one file."""
    home = helper_home(facts.path, plan)
    named = module if not module or plan.options.helpers == "package" else helper_module(facts, path, module, home)
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
        helper_module=named,
    )

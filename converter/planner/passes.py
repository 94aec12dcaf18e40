"""Puts the plan together."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, TrainStep
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.plan import Plan
from converter.planner.batch_size.batch_size import BatchSize, find_batch_size
from converter.planner.checks.averages import check_averages
from converter.planner.checks.eligible import (
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
from converter.planner.checks.fed_size import check_fed_sizes
from converter.planner.checks.fixed_rows import check_fixed_rows
from converter.planner.checks.limits import check_endless, repetitions
from converter.planner.checks.literal_rows import check_literal_rows, check_rows_of_losses
from converter.planner.checks.lookups import check_lookups
from converter.planner.checks.row_numbers import check_numbered
from converter.planner.checks.shapeless import check_shapeless
from converter.planner.checks.work import check_work
from converter.planner.files import HELPERS, Chosen, Sources, plan_files, several_files
from converter.planner.merges.loss_kind import needs_whole_batch
from converter.planner.merges.loss_weights import loss_counts
from converter.planner.merges.summaries import summaries_in
from converter.planner.questions.statements import returns
from converter.planner.region.global_loss import global_region
from converter.planner.region.groups import grouped
from converter.planner.region.named_calls import Apart
from converter.planner.region.prepared_batches import upstream
from converter.planner.region.region import Region, batch_inputs
from converter.planner.writing.aliases import Aliases
from converter.planner.writing.findings import refuse, warn
from converter.planner.writing.free_names import Names
from converter.planner.writing.source_text import Text
from converter.source.users import User

LossPlan = Literal["try", "once", "averaged"]

def decide(
    facts: Facts, options: Options, sources: Sources, losses: LossPlan = "try"
) -> tuple[tuple[Plan, ...], tuple[Diagnostic, ...]]:
    """The plan for each file that changes, the script's first, and what its reader should know.

    losses: whether losses that are not a mean are computed once from merged results, where the options ask for that:
        "try" does so where it can be done, "once" refuses where it cannot, "averaged" leaves them to the towers.

    Raises:
        Refusal: the script cannot be converted.
        Apart: such a loss needs calls of its statement on lines of their own.
        Entrance: batches are prepared before the model.
    """
    check_endless(facts)
    check_placement(facts)
    steps = training_steps(facts)
    check_feeds(facts, steps)
    check_recursion(facts, steps)
    check_followed(facts, steps)
    repeated = list(repetitions(facts, steps))
    size = find_batch_size(facts, tuple(upstream(batch_inputs(facts, steps))), executions(facts, steps))
    if size.fixed and options.batch != "total":
        options = replace(options, batch="total", asked_batch=options.batch)
    _settle_means(facts, size)
    steps, groups = grouped(facts, steps, size.origins)
    chosen = Chosen(facts, options, steps, size, groups)
    if losses != "averaged" and (options.batch == "total" or options.loss == "global"):
        once = _with_losses_once(chosen, Text(facts, sources.read))
        if once is not None:
            try:
                return _decided(once, sources, repeated)
            except Refusal:
                if losses == "once":
                    raise
    return _decided(chosen, sources, repeated)


def _with_losses_once(chosen: Chosen, text: Text) -> Chosen | None:
    """The same with loops whose losses are computed once, after them; None where no loop needs that, or none can.

    Raises:
        Apart: calls must stand on lines of their own for that.
    """
    groups, calls = [], []
    tensorflow = Aliases(chosen.facts, Names(*chosen.facts.walked.values())).tensorflow("")
    for steps, region in chosen.groups:
        counts = {} if region.forward else loss_counts(region, steps, text, tensorflow)
        if any(needs_whole_batch(step.loss, counts) for step in steps):
            inputs = batch_inputs(chosen.facts, steps)
            with suppress(Refusal):
                try:
                    region = global_region(chosen.facts, steps, inputs, chosen.size.origins)
                except Apart as apart:
                    calls += apart.calls
        groups.append((steps, region))
    if calls:
        raise Apart(calls)
    return replace(chosen, groups=groups) if any(region.exact for _, region in groups) else None


def _decided(
    chosen: Chosen, sources: Sources, repeated: list[Diagnostic]
) -> tuple[tuple[Plan, ...], tuple[Diagnostic, ...]]:
    """The plans, and what their reader should know, of a script whose loops are placed."""
    facts, options, steps, size = chosen.facts, chosen.options, chosen.steps, chosen.size
    regions = [region for _, region in chosen.groups]
    check_work(facts, steps, regions)
    check_state(facts, steps, regions)
    check_reach(facts, steps, regions)
    check_beside(facts, steps, size)
    check_share(steps, facts, batch_inputs(facts, steps), size)
    check_shapes(facts, steps, size)
    check_fed_sizes(facts, steps, regions, size, options.batch == "per-gpu")
    if options.batch == "per-gpu":
        check_fixed_rows(facts, regions, size)
        for mine, region in chosen.groups:
            if region.exact:
                check_rows_of_losses(facts, mine, region, size)
    else:
        check_literal_rows(facts, regions, size)
    check_contents(facts, regions)
    check_defaults(facts, regions)
    check_lookups(facts, regions)
    check_data(facts, regions)
    check_shapeless(facts, steps, options.shared)
    check_averages(facts, regions)
    in_towers = [step for mine, region in chosen.groups for step in mine if not region.exact]
    numbered = check_numbered(facts, in_towers, options.batch == "total")
    plans, warnings = plan_files(chosen, sources, "")
    users = _other_scripts(facts, steps, plans, sources)
    _check_other_scripts(facts, regions, users)
    if users and not options.one_gpu:
        chosen = replace(chosen, options=replace(options, one_gpu=True))
        plans, warnings = plan_files(chosen, sources, "")
    if len(plans) > 1:
        if not sources.several:
            raise several_files(facts, plans)
        names = Names(*facts.walked.values())
        while True:
            module = names.fresh(HELPERS)
            plans, warnings = plan_files(chosen, sources, module)
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
    chosen = {e.name: e.node for e in facts.effects_of(EffectKind.CHOSEN_MODULE)}
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


def _settle_means(facts: Facts, size: BatchSize) -> None:
    """A sum over the examples that is divided by the batch size is their mean."""
    keys = {o.key for o in size.origins}
    for tensor in facts.tensors:
        if tensor.batch.how == "sum" and any(o.key in keys for o in tensor.batch.per):
            tensor.batch = replace(tensor.batch, how="mean", per=frozenset())

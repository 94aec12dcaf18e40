"""The passes of the planner, in their order: each takes what is known after the one before, and adds to it.

After each pass the checks of its stage (`rules.checks`) run on its result. If they find errors, planning ends there
with all of them; but once the loops are placed, the files are planned anyway, so that their refusals are reported as
well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from converter.analysis.facts import Facts
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.plan import Plan
from converter.planner.batch_size.means import size_for
from converter.planner.cases import Placed, Planned, Selected, Shared, Sources, Started, WithBatchSize
from converter.planner.checking import findings, in_order
from converter.planner.files import plan_files
from converter.planner.host.padding import lengths_to_read
from converter.planner.outcome import Faults, Refused, Reread
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.averaged_variables import held_together
from converter.planner.region.executions import StepGroup
from converter.planner.region.groups import Placing, grouped
from converter.planner.region.inputs import batch_inputs
from converter.planner.region.region import Region
from converter.planner.searches import searches_of
from converter.planner.steps import is_run, training_steps
from converter.planner.towers.global_loss.global_region import global_region
from converter.planner.towers.global_loss.named_calls import CallsOnOwnLines, Named
from converter.planner.towers.merges.loss_kind import needs_whole_batch
from converter.planner.towers.merges.loss_weights import loss_counts
from converter.planner.towers.merges.merging import MIXED
from converter.planner.wording import message_for
from converter.planner.writing.aliases import TENSORFLOW, Aliases, helper_home
from converter.planner.writing.free_names import names_in
from converter.planner.writing.source_text import SourceText
from converter.runtime.whole import TOLD
from converter.source.project.users import User

LossPlan = Literal["try", "once", "averaged"]

HELPERS = "tower_helpers"  # the module that carries the helpers of several files


@dataclass(frozen=True)
class Decided:
    """The plan for each file that changes, the script's first, and what the reader of the conversion should know."""

    plans: tuple[Plan, ...]
    findings: tuple[Diagnostic, ...]


def decide(
    facts: Facts, options: Options, sources: Sources, losses: LossPlan = "try", rereads: bool = True
) -> Decided | Refused | Reread | CallsOnOwnLines:
    """The plans of a script, or why there are none.

    rereads: whether another reading may take batches that the script prepares for its inputs.

    losses: whether losses that are not a mean are computed once from merged results, where the options ask for that:
        "try" does so where it can be done, "once" refuses where it cannot, "averaged" leaves them to the towers.
    """
    script = Started(facts, options, sources, names_in(*facts.walked.values()))
    measured = _run(script, MEASURING)
    made = _decided(measured, losses, rereads)
    if not isinstance(made, Refused):
        return made
    return _in_later_loops(measured, losses) or _with_met_inputs(measured, losses, made) or made


def _with_met_inputs(
    measured: tuple[Started, list[Diagnostic]] | Refused | Reread, losses: LossPlan, refused: Refused
) -> Decided | None:
    """The plans of a script that was refused for values of the towers which need further inputs: these are cut, too."""
    if not any(MIXED in finding.message for finding in refused.findings):
        return None
    tried = (_finished_at(_then(measured, passes), losses) for passes in (MEETING, MEETING_HANDING))
    return next((made for made in tried if isinstance(made, Decided)), None)


def _decided(
    measured: tuple[Started, list[Diagnostic]] | Refused | Reread, losses: LossPlan, rereads: bool
) -> Decided | Refused | Reread | CallsOnOwnLines:
    """The plans of a script whose batch size is known, or why there are none; arguments as of `decide`."""
    placed = _then(measured, PLACING)
    if isinstance(placed, Reread) and not rereads:
        placed = Refused((placed.otherwise,))
    elsewhere = not isinstance(placed, (Refused, Reread)) and _in_other_files(placed[0])
    if not elsewhere:
        made = _finished_at(placed, losses)
        if not isinstance(made, Refused):
            return made
    handed = _then(measured, HANDING)
    if isinstance(handed, Refused) and isinstance(placed, Refused) and _only_for_inputs(placed, handed):
        return handed
    if isinstance(handed, (Refused, Reread)) or not (isinstance(placed, Refused) or _hands_inputs(handed[0])):
        return _finished_at(placed, losses) if elsewhere else made
    handing = _finished_at(handed, losses)
    if elsewhere and not (isinstance(handing, Decided) and len(handing.plans) == 1):
        made = _finished_at(placed, losses)
        return _nearer(handing, made) if isinstance(made, Refused) else made
    return handing


def _in_later_loops(measured: tuple[Started, list[Diagnostic]] | Refused | Reread, losses: LossPlan) -> Decided | None:
    """The plans of a script in which each tower computes its loss in a later loop; None where that does not help.

    It is for scripts that could not be planned with a loss of merged results, which needs no second loop.
    """
    for passes, later in ((PLACING, CHAINING), (HANDING, CHAINING_HANDING)):
        placed = _then(measured, passes)
        if isinstance(placed, (Refused, Reread)) or not _ends_before_loss(placed[0]):
            continue
        made = _finished_at(_then(measured, later), losses)
        if isinstance(made, Decided):
            return made
    return None


def _ends_before_loss(case: Started) -> bool:
    """Whether towers end in front of the loss, which is computed from their merged results."""
    assert isinstance(case, Placed)
    return any(region.forward and not region.exact for region in case.regions)


def _nearer(
    handing: Decided | Refused | Reread | CallsOnOwnLines, placed: Refused
) -> Decided | Refused | Reread | CallsOnOwnLines:
    """The one of two outcomes to report: of two refusals the one with fewer faults, if alike the plainer `placed`."""
    alike = isinstance(handing, Refused) and len(placed.findings) <= len(handing.findings)
    return placed if alike else handing


def is_further(handed: Refused, made: Refused) -> bool:
    """Whether a script whose towers are handed inputs is refused for less than it is with another reading."""
    return (handed.placed and not made.placed) or _only_for_inputs(made, handed)


def _only_for_inputs(placed: Refused, handed: Refused) -> bool:
    """Whether a script is refused for inputs that its model makes, and with them handed in for something else.

    That is what its user has to change: the towers would be handed these inputs then.
    """
    message = message_for(PlanFault.INPUT_BY_STATEMENT_OF_MODEL)
    inside = message.code, message.advice
    first, then = ({(finding.code, finding.hint) for finding in refused.findings} for refused in (placed, handed))
    return first == {inside} and inside not in then


def _in_other_files(case: Started) -> bool:
    """Whether loops stand in other files than the script, from which other scripts may build a model too."""
    assert isinstance(case, Placed)
    return any(case.facts.path_of(region.block.body[0]) for region in case.regions)


def _hands_inputs(case: Started) -> bool:
    """Whether statements of some towers make placeholders."""
    assert isinstance(case, Placed)
    return any(region.handed for region in case.regions)


def _finished_at(
    placed: tuple[Started, list[Diagnostic]] | Refused | Reread, losses: LossPlan
) -> Decided | Refused | Reread | CallsOnOwnLines:
    """The plans once it is known where the loops stand."""
    if isinstance(placed, (Refused, Reread)):
        return placed
    case, found = placed
    assert isinstance(case, Placed)
    facts = case.facts
    if losses != "averaged" and (case.options.batch == "total" or case.options.loss == "global"):
        once = losses_once(case)
        if isinstance(once, CallsOnOwnLines):
            return once
        if once is not None:
            made = lengths_to_read(facts, once.regions) or _finished(once, found)
            if losses == "once" or isinstance(made, Decided):
                return made
    return lengths_to_read(facts, case.regions) or _finished(case, found)


def _finished(case: Placed, found: list[Diagnostic]) -> Decided | Refused | Reread:
    """The plans of a script whose loops are placed."""
    made = _run(case, PLANNING, found)
    if isinstance(made, (Refused, Reread)):
        return made
    done, found = made
    assert isinstance(done, Shared)
    return Decided(done.plans, in_order(done.facts.path, [*found, *done.size.warnings, *done.noted]))


def _run(
    case: Started, passes: Sequence[Pass], before: Sequence[Diagnostic] = ()
) -> tuple[Started, list[Diagnostic]] | Refused | Reread:
    """The case after these passes, with the findings so far; the checks for the last case run before the next pass."""
    found = list(before)
    for step in passes:
        found += findings(case)
        errors = [finding for finding in found if finding.severity == "error"]
        made = step.run(case) if step.after_errors or not errors else Refused(())
        if isinstance(made, Reread):
            return made
        if isinstance(made, Refused) or errors:
            more = made.findings if isinstance(made, Refused) else ()
            found_all = in_order(case.facts.path, [*errors, *_elsewhere(more, errors)])
            return Refused(found_all, placed=isinstance(case, Placed))
        case = made
    return case, found


def _then(
    before: tuple[Started, list[Diagnostic]] | Refused | Reread, passes: Sequence[Pass]
) -> tuple[Started, list[Diagnostic]] | Refused | Reread:
    """The case after more passes, where those before them have not ended it."""
    return before if isinstance(before, (Refused, Reread)) else _run(before[0], passes, before[1])


def _elsewhere(more: Sequence[Diagnostic], errors: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Faults in lines without a known error: a second message for a line would say the same in other words."""
    lines = {(error.path, error.line) for error in errors}
    return [fault for fault in more if (fault.path, fault.line) not in lines]


def select(case: Started) -> Selected:
    """The training steps of the script."""
    steps, unbatched = training_steps(case.facts)
    searches = searches_of(case.facts, steps, unbatched)
    steps, unbatched = (tuple(s for s in each if s not in searches) for each in (steps, unbatched))
    return Selected(**_fields(case), steps=steps, unbatched=unbatched, searches=searches)


def measure(case: Selected) -> WithBatchSize:
    """The batch size, and options as the script allows them.

    Where the batch size cannot grow with the number of GPUs, the towers share it.
    """
    size = size_for(case.facts, case.steps)
    options = held_together(case.options, case.steps)
    if options.batch != "total":
        size = replace(size, warnings=(*size.warnings, *size.kept))
        options = replace(options, batch="total", asked_batch=options.batch) if size.fixed else options
    return WithBatchSize(**{**_fields(case), "options": options}, size=size)


def place(
    case: WithBatchSize, handing: bool = False, chained: bool = False, met: bool = False
) -> Placed | Refused | Reread:
    """Find where the loops stand, and which statements go before them, into them and after them.

    handing: whether statements of the towers may make placeholders, of which each tower is handed its rows.
    chained: whether the loss is computed by each tower, in a later loop, where merged results would do.
    met: whether batches are cut, too, that only other values of the towers need.
    """
    once = case.options.batch == "total" or case.options.loss == "global"
    groups = grouped(case.facts, case.steps, case.size.origins, Placing(handing, once, chained, met))
    if isinstance(groups, (Refused, Reread)):
        return groups
    steps = tuple(step for group in groups for step in group.steps)
    loops = [one for group in groups for one in (*(StepGroup([], region) for region in group.region.ahead), group)]
    return Placed(**{**_fields(case), "steps": steps}, groups=tuple(loops))


def losses_once(case: Placed) -> Placed | CallsOnOwnLines | None:
    """The case with loops whose losses are computed once, after them; None if no loop needs that, or none can.

    Apart if calls must stand on lines of their own for that.
    """
    groups: list[StepGroup] = []
    calls: list[Named] = []
    text = SourceText(case.facts, case.sources.read)
    tensorflow = Aliases(case.facts, case.names.unused(*TENSORFLOW)).tensorflow("")
    for group in case.groups:
        steps, region = group.steps, group.region
        counts = {} if region.forward else loss_counts(region, [step.loss for step in steps], text, tensorflow)
        if any(needs_whole_batch(step.loss, counts) for step in steps):
            made = global_region(case.facts, steps, batch_inputs(steps), case.size.origins)
            calls += made.calls if isinstance(made, CallsOnOwnLines) else ()
            region = made if isinstance(made, Region) else region
        groups.append(StepGroup(steps, region))
    if calls:
        return CallsOnOwnLines(tuple(calls))
    return replace(case, groups=tuple(groups)) if any(group.region.exact for group in groups) else None


def plan(case: Placed, module: str = "") -> Planned | Refused:
    """The plans of all files that change; `module` carries the helpers if it is given, else the script does."""
    try:
        return plan_files(case, module)
    except Faults as faults:
        return Refused(faults.findings)
    except Refusal as refusal:
        return Refused((refusal.diagnostic,))


def plan_first(case: Placed) -> Planned | Refused:
    """The plans, with a module of helpers where it is seen that there will be one: loops stand in another file."""
    several = case.options.helpers != "inline" or (case.sources.several and _in_other_files(case))
    return plan(case, case.names.unused(HELPERS) if several else "")


def share(case: Planned) -> Shared | Refused:
    """The plans again with regard to other files: scripts that import a changed file go on using one GPU.

    Where several files change, they share a module of helpers; a single one has a module where the options say so.
    """
    users, options = _other_scripts(case), case.options
    made: Planned | Refused = case
    if users and not options.one_gpu:
        options = replace(options, one_gpu=True)
    if users and not options.flag_elsewhere:  # a second definition of the option would stop such a script
        files = [path for path in case.facts.modules if path]
        options = replace(options, flag_elsewhere=case.sources.mention(files, ["num_gpus"]))
    if not options.merge_all and (_is_called_by_others(case) or any(user.trains for user in users)):
        options = replace(options, merge_all=_others_may_read(case))
    names, kind = case.names, case.options.helpers
    if options != case.options:
        made = replace(case, options=options, module="")
        made = made if _takes_a_module(made, kind) else plan(made)  # with the module it is planned once more
    elif case.module and not _takes_a_module(case, kind):
        made = plan(case)
    while isinstance(made, Planned) and _takes_a_module(made, kind):
        module, names = names.fresh(HELPERS)
        made = made if made.module == module else plan(made, module)
        if isinstance(made, Planned) and kind != "package":
            made = _with_helpers_found(made, users, module)
        if kind == "package" or (isinstance(made, Planned) and not _is_taken(made, module, kind)):
            break
    return made if isinstance(made, Refused) else Shared(**_fields(_with_ways(made, users)), users=users)


def _takes_a_module(case: Planned, kind: str) -> bool:
    """Whether the helpers stand in a module of their own; kind: where the options want them."""
    return kind != "inline" or (len(case.plans) > 1 and case.sources.several)


def _with_helpers_found(case: Planned, users: Sequence[User], module: str) -> Planned:
    """The plans with the module of helpers where other scripts look for it, too.

    If some do not look beside the script, it goes into the folder in which the script itself, and all of them, find the
    changed files: a folder that each has put on its path.
    """
    here, home = os.path.dirname(os.path.abspath(case.facts.path)), helper_home(case.facts.path, case.plans[0])
    if all(home in user.folders for user in users) or case.plans[0].helper_module.startswith("."):
        return case
    changed = {os.path.abspath(one.path) for one in case.plans if one.path}
    imports = [(found, stmt) for found, stmt in case.facts.found.values() if not found.above]
    top = {found.folder for found, stmt in imports if found.path in changed and stmt in case.facts.tree.body}
    others = [folder for folder in sorted(top) if all(folder in user.folders for user in users)]
    if not others:
        return case
    there = os.path.relpath(others[0], here)
    return replace(case, plans=tuple(replace(one, helper_folder=there, helper_module=module) for one in case.plans))


def _with_ways(case: Planned, users: Sequence[User]) -> Planned:
    """The plans, with the way to the module of helpers in changed files that, run themselves, do not look there."""
    script, home = case.plans[0], helper_home(case.facts.path, case.plans[0])
    lost = {user.path for user in users if home not in user.folders}
    if not script.helper_module or script.helper_module.startswith("."):
        return case
    plans = [script]
    for one in case.plans[1:]:
        path = os.path.abspath(one.path)
        plans.append(replace(one, helper_path=os.path.relpath(home, os.path.dirname(path)) if path in lost else ""))
    return replace(case, plans=tuple(plans))


def _is_taken(case: Planned, module: str, kind: str) -> bool:
    """Whether another file has the place of the module of helpers."""
    script = case.plans[0]
    return case.sources.taken(os.path.join(script.helper_folder, module), script.define if kind == "inline" else TOLD)


@dataclass(frozen=True)
class Pass:
    """One pass; `name` says what is known after it.

    after_errors: whether it runs even after errors, to report its own as well.
    """

    name: str
    run: Callable[[Any], Started | Refused | Reread]
    after_errors: bool = False


def finish(case: Shared) -> Shared:
    """No change: this pass exists so that the checks of the pass before it run."""
    return case


# For any target: what a script trains, and on what.
MEASURING = (Pass("the training steps", select), Pass("the batch size", measure))
PLACING = (Pass("where the loops stand", place),)
# The same for a script that cannot be converted unless the towers are handed placeholders that their statements make.
HANDING = (Pass("where the loops stand", partial(place, handing=True)),)
# The same for a script of which the loss cannot be computed from merged results.
CHAINING = (Pass("where the loops stand", partial(place, chained=True)),)
CHAINING_HANDING = (Pass("where the loops stand", partial(place, handing=True, chained=True)),)
# The same for a script whose towers compute metrics with inputs that the losses do not need.
MEETING = (Pass("where the loops stand", partial(place, met=True)),)
MEETING_HANDING = (Pass("where the loops stand", partial(place, handing=True, met=True)),)
# Loops whose losses are computed once are tried first, where the options ask for that (`losses_once`).
PLANNING = (
    Pass("what changes in each file", plan_first, after_errors=True),
    Pass("what that means for other scripts", share),
    Pass("all of it", finish),
)


def _fields(case: Started) -> dict[str, Any]:
    """The fields of a case, to make the case of the next stage with."""
    return dict(vars(case))


def _other_scripts(case: Planned) -> tuple[Any, ...]:
    """Other scripts that import what changes; none where the script itself trains only when another one calls it."""
    return tuple(case.sources.users(_changed(case))) if any(map(is_run, case.steps)) else ()


def _others_may_read(case: Planned) -> bool:
    """Whether other files of the project may read an attribute that nothing in the script itself reads."""
    dropped = {text.rpartition(".")[2] for plan in case.plans for loop in plan.loops for text in loop.dropped}
    return bool(dropped) and case.sources.mention(_changed(case), dropped)


def _is_called_by_others(case: Planned) -> bool:
    return not all(is_run(step) for step in case.steps)


def _changed(case: Planned) -> list[str]:
    return [os.path.abspath(plan.path or case.facts.path) for plan in case.plans]

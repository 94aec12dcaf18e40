"""What trains, and which expressions follow the batch size: known from the facts and the plan for towers."""

from __future__ import annotations

import os

from converter.analysis import read_facts
from converter.analysis.facts import Decisions, Facts
from converter.analysis.walk import Known
from converter.dataclass import dataclass
from converter.options import Options
from converter.plan import Loop, Merge, Plan, Replace
from converter.planner.cases import alone
from converter.planner.outcome import Refused, Reread
from converter.planner.passes import Decided, decide
from converter.source.python2 import is_view
from converter.targets.passes import Case

OUTSIDE = "TMG259"
BATCH_SIZE = "TMG110"
# What towers change beside that: a cluster has its own optimizer, session and number of workers.
REPLACED = {"TMG101", "TMG102", "TMG111", "TMG112"}


@dataclass(frozen=True)
class Read(Case):
    """A script that towers could train; facts and plan are those of towers."""

    facts: Facts | None = None
    plan: Plan | None = None

    @property
    def known(self) -> tuple[Facts, Plan]:
        """Both, after the first pass."""
        assert self.facts is not None and self.plan is not None
        return self.facts, self.plan


def reading(case: Case) -> Case:
    """Reads the script and plans it for towers: what these refuse, a cluster refuses too."""
    script = case.script
    facts, made = _planned(case)
    if isinstance(made, Refused):
        script.findings.extend(made.findings)
        return case
    script.findings.extend(finding for finding in made.findings if finding.severity == "warning")
    plan = made.plans[0]
    if len(made.plans) > 1:
        other = os.path.basename(made.plans[1].path)
        script.say(script.tree.body[0], OUTSIDE, f"the training reaches into {other}", "put the training into one file")
    for message, hint in _limits(plan):
        script.say(facts.train_steps[0].call, OUTSIDE, message, hint)
    return Read(script, case.options, case.width, facts=facts, plan=plan)


def _planned(case: Case) -> tuple[Facts, Decided | Refused]:
    script = case.script
    sources = alone(script.text)
    inputs: Decisions = {}
    options = Options(batch=case.options.batch, shared=case.options.shared, batch_axes=case.options.batch_axes)
    facts = read_facts(script.path, script.tree, options, {}, before=Known(python2=is_view(script.text)))
    while True:
        made = decide(facts, options, sources, "averaged")
        if not isinstance(made, Reread):
            assert isinstance(made, Decided | Refused)
            return facts, made
        if made.decisions.keys() <= inputs.keys():
            return facts, Refused((made.otherwise,))
        inputs = {**inputs, **made.decisions}
        facts = read_facts(script.path, script.tree, options, {}, facts.project, Known(inputs))


def sizes(plan: Plan) -> list[Replace]:
    """The expressions that follow the batch size."""
    return [replaced for replaced in plan.replaces if replaced.why == BATCH_SIZE]


def _limits(plan: Plan) -> list[tuple[str, str]]:
    """The parts of a plan for towers that workers cannot do, as message and advice."""
    found = []
    others = {r.why for r in plan.replaces} | {i.why for i in plan.inserts}
    for why in sorted(others - REPLACED - {BATCH_SIZE}):
        found.append((f"towers change more of this script ({why})", f"see tf-multigpu explain {why}; use towers"))
    if len(plan.loops) != 1:
        return [*found, ("several losses are trained", "train one loss with one optimizer")]
    loop = plan.loops[0]
    if len(loop.shards) != 1 or loop.nests or loop.regroups or loop.resets:
        found.append(("the batch is not a plain list of placeholders", "feed a placeholder for each array"))
    elif loop.rebinds:
        found.append(
            (f"the model reads the size of the whole batch: {loop.rebinds[0].place}", "read tf.shape(x)[0] instead")
        )
    return [*found, *_of_shards(loop)]


def _of_shards(loop: Loop) -> list[tuple[str, str]]:
    found = []
    for shard in loop.shards:
        if shard.static or shard.data or shard.drawn or shard.sparse or any(shard.axes):
            found.append(("the batch is not cut along the first axis of placeholders", "declare them with [None, ...]"))
    if any(_is_weighted(merge) for merge in loop.merges):
        found.append(("the loss is not a mean over the examples", "train it with towers, or write it as a mean"))
    return found


def _is_weighted(merge: Merge) -> bool:
    return merge.loss and (merge.how != "mean" or bool(merge.count))

"""How the batches of a script are dealt to workers: by its facts, and by the plan for towers where there is one."""

from __future__ import annotations

from dataclasses import replace

from converter.analysis import read_facts, read_further
from converter.analysis.facts import Decisions, Facts, RunCall
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import Input
from converter.analysis.walk import Known
from converter.dataclass import dataclass
from converter.options import Options
from converter.plan import Loop, Plan, Replace
from converter.plan.border import Mean
from converter.planner.cases import single_file
from converter.planner.outcome import Refused, after_readings
from converter.planner.passes import Decided, decide
from converter.source import read
from converter.source.python2 import is_view
from converter.targets.passes import Case

BATCH_SIZE = "TMG110"
ELSEWHERE = "TMG221"  # another file must change with the script
ALREADY = ("TMG216", "TMG217")  # towers, or several processes, of the script's own
# What the plan for towers changes for the towers alone; a process of its own has its session, its devices, one graph.
OF_TOWERS = {
    *("TMG101", "TMG102", "TMG104", "TMG105", "TMG106", "TMG107", "TMG109", "TMG111", "TMG112", BATCH_SIZE),
    *("TMG118", "TMG121", "TMG122", "TMG123", "TMG128", "TMG129", "TMG137", "TMG142"),
}


# Warnings about the loss, and about what counts by the size of a batch: they hold for workers as for towers.
OF_BATCHES = {
    *("TMG301", "TMG302", "TMG305", "TMG338", "TMG341", "TMG344", "TMG345", "TMG386", "TMG387", "TMG388", "TMG395"),
    "TMG399",
}


@dataclass(frozen=True)
class ReadFacts(Case):
    """A script whose facts are known.

    sizes: the expressions that follow the batch size, where each worker takes its rows of a batch for all; empty with
    `by_runs`. by_runs: each N-th run of a training step makes a step, of the last N batches. by_rows: whether a batch
    counts by its rows then. why: why batches are dealt whole. graph: whether Keras alone trains, which needs a graph.
    """

    sizes: tuple[Replace, ...] = ()
    num_gpus: str = ""
    by_runs: bool = False
    by_rows: bool = False
    why: str = ""
    graph: bool = False


def reading(case: Case) -> Case:
    """Reads the script; batches are cut by rows where the plan for towers cuts them so, else dealt whole."""
    facts, made = _planned(case)
    if isinstance(made, Refused):
        case.script.findings.extend(finding for finding in made.findings if finding.code in ALREADY)
    if case.options.shard == "files":
        if case.options.batch == "total":
            case.script.finding(case.script.tree.body[0], "TMG259 own_files")
        return ReadFacts(case.script, case.options, case.width)
    why = _why_refused(made) if isinstance(made, Refused) else _why_whole(facts, made.plans)
    if not why:
        assert isinstance(made, Decided)
        plan = made.plans[0]
        sizes = tuple(replaced for replaced in plan.replaces if replaced.why == BATCH_SIZE)
        if sizes or case.options.batch == "total":
            case.script.findings.extend(finding for finding in made.findings if finding.code in OF_BATCHES)
            return ReadFacts(case.script, case.options, case.width, sizes=sizes, num_gpus=plan.num_gpus)
        why = "the size of its batch is not found"
    if case.options.batch == "total":
        case.script.finding(case.script.tree.body[0], "TMG259 shared", why=why)
    by_rows = all(_are_rows(run) for run in facts.runs if run.feeds) and any(run.feeds for run in facts.runs)
    return ReadFacts(case.script, case.options, case.width, by_runs=True, by_rows=by_rows, why=why)


def _planned(case: Case) -> tuple[Facts, Decided | Refused]:
    script = case.script
    sources = replace(single_file(script.text), read=lambda path: read(path).text if path else script.text)
    options = Options(batch=case.options.batch, shared=case.options.shared, batch_axes=case.options.batch_axes)
    facts = read_facts(script.path, script.tree, options, {}, before=Known(python2=is_view(script.text)))
    readings = [facts]

    def again(inputs: Decisions) -> None:
        readings.append(read_further(readings[-1], inputs, options))

    made = after_readings(lambda: decide(readings[-1], options, sources, "averaged"), again)
    assert isinstance(made, Decided | Refused)
    return readings[-1], made


def _why_refused(made: Refused) -> str:
    if any(finding.code == ELSEWHERE for finding in made.findings):
        return "other files would have to follow the size of its batch"
    return "its batches are not understood"


def _why_whole(facts: Facts, plans: tuple[Plan, ...]) -> str:
    """Why batches cannot be cut by rows; "" where they can."""
    plan = plans[0]
    others = {r.why for r in plan.replaces} | {i.why for i in plan.inserts if i.why == BATCH_SIZE}
    if len(plans) > 1:
        return "the training reaches into other files"
    if others - OF_TOWERS or any(insert.why == BATCH_SIZE for insert in plan.inserts):
        return "towers change more of the script than its batch size"
    if not all(_is_plain(loop) for loop in plan.loops):
        return "its graph is built for one size of batch, or the batch is no list of arrays with a row for each example"
    if any(merge.loss and not isinstance(merge.how, Mean) for loop in plan.loops for merge in loop.border.merges):
        return "its loss is no mean over the rows of a batch"
    return "" if all(_are_rows(run) for run in facts.runs) else "what is fed is not seen to hold a row for each example"


def _is_plain(loop: Loop) -> bool:
    """True if all inputs of a loop are cut along their first axis, and the graph reads no size of a batch."""
    shards = loop.border.shards
    fed = all(shard.rows.known == "running" and shard.helper != "shard_sparse" for shard in shards)
    along = any(one.axis for cut in loop.border.cuts for one in cut.inputs)
    return fed and not along and not loop.border.bound


def _are_rows(run: RunCall) -> bool:
    """True if all that a run feeds are numbers, or arrays with a row for each example: no sparse tensors."""
    fed = [value for value, _ in run.feeds]
    inputs = all(isinstance(value, Input) and (not value.dims or _is_batch(value)) for value in fed)
    return inputs and not any(map(is_sparse, fed))


def _is_batch(value: Input) -> bool:
    return value.batch.kind == "example" and value.batch.axis == 0

"""Compares a script with its conversion for a cluster: N workers, all on this machine.

The workers run first and note their rows of each step, the chief the variables too. The original takes the rows of all
workers, in N batches, and steps with the mean of their gradients: from there on the figures are those of towers.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from converter.verify.checks.figures import Facts, listing
from converter.verify.checks.initial import check_initial
from converter.verify.checks.stream import OWN_FILES, check_data
from converter.verify.checks.structure import (
    check_batch,
    check_between,
    check_checkpoint,
    check_train_ops,
    check_variables,
)
from converter.verify.checks.training import (
    another_rate,
    check_gradients,
    check_loss,
    check_sparse,
    check_update,
    check_weights,
    unless_meant,
)
from converter.verify.data import CheckResult, Progress, Report
from converter.verify.judge import ComparisonSettings, concluded, shown, variable_rows
from converter.verify.launch.tasks import Task, config_of, local_hosts, tasks
from converter.verify.processes.answer import Stopped, expect
from converter.verify.processes.child_process import Child, Event, environment, how_started
from converter.verify.processes.runner import Runner
from converter.verify.runs.protocol import Jobs, Protocol, Tell, ledger_of, versions_of

ORIGINAL, WORKER = "cluster original", "cluster worker"
LOOK = 0.2  # seconds for one task's answer, until the next one is asked
SEED = 0  # of Python's and NumPy's generators, as the workers' (runtime/cluster.py)
_OF_WHOLE_RUNS = ("data of evaluations", "an epoch's end")  # which the entry on later steps names
_UNCHECKED = {
    "later steps": "the first were compared, not an epoch's end, evaluations, the script's end",
    "results": "what a step gives beside the training, merged from all workers",
    "restarts": "going on from a checkpoint after a task has ended",
    "hosts": "all workers ran on this machine, on its CPU",
}


def compare_workers(jobs: Jobs, asked: ComparisonSettings, runner: Runner, tell: Tell) -> Report:
    """Runs as many workers as there are GPUs, and the original; jobs: of worker and original."""
    tell(Progress("starting TensorFlow", 0, 2))
    settled = environment(asked.gpus)
    settled["CUDA_VISIBLE_DEVICES"] = ""
    hosts = local_hosts(asked.gpus)
    own = {task: _job(jobs[WORKER], task) for task in tasks(hosts)}
    with runner.begin({**jobs[ORIGINAL], "seed": SEED}, settled) as single, ExitStack() as stack:
        children = {
            task: stack.enter_context(runner.begin(job, {**settled, "TF_CONFIG": config_of(task, hosts)}))
            for task, job in own.items()
        }
        started = expect(single, "started")
        mine = expect(single, "ready")
        tell(Progress("the conversion trains", 0, 2))
        found = recorded(children)
        tell(Progress("the original trains", 1, 2))
        single.send(records=[own[task]["record"] for task in sorted(found)])
        replayed = expect(single, "replayed")
        how = how_started([single, *children.values()])
    return judged(mine, [found[task] for task in sorted(found)], replayed, asked, versions_of(started), how)


PROTOCOL = Protocol(
    conversion=WORKER,
    original=ORIGINAL,
    trains="the workers of a cluster",
    compare=compare_workers,
    no_others="--also is for towers and strategies, not for the workers of a cluster",
)


def _job(job: Mapping[str, Any], task: Task) -> dict[str, Any]:
    role = f"{WORKER} {task.number}"
    work = Path(job["work"])
    own = {"record": str(work / f"{role}.record"), "log": str(work / f"{role}.log")}
    title = f"{task.name} of the converted script"
    return {**job, **own, "role": role, "title": title, "network": True, "chief": task == Task(0)}


def recorded(children: Mapping[Task, Child]) -> dict[Task, Event]:
    """The last event of each worker. All tasks are asked in turn: where one has failed the others wait for ever."""
    found: dict[Task, Event] = {}
    for child in children.values():
        expect(child, "started")
    while len(found) < len(children):
        for task in children.keys() - found.keys():
            event = children[task].event(LOOK)
            if event["event"] == "late":
                continue
            found[task] = expect(children[task], "recorded", event)
    return found


def judged(
    mine: Facts,
    found: list[Event],
    replayed: Facts,
    asked: ComparisonSettings,
    versions: tuple[tuple[str, str], ...],
    how: str,
) -> Report:
    """The report; mine: the original's "ready" event, found: the workers' last events, replayed: the original's."""
    theirs = found[0]["facts"]
    steps = replayed["steps"]
    done = [step for step in steps if step["order"] and not step.get("diverged")]
    if not done:
        raise Stopped("the original's gradients are not finite: there is nothing to compare with")
    why = another_rate(done, asked.rate, asked.gpus, ())
    said = (OWN_FILES,) if asked.shard == "files" else ()  # then workers take other examples than the original
    checks = [
        check_variables(mine, theirs),
        *check_initial(mine["initial"], found[0]["first"]["initial"]),
        check_train_ops(mine, theirs, steps),
        check_batch(steps, asked.gpus, asked.batch),
        _shares(replayed, asked),
        *(check for check in check_data(replayed["data"], asked.batches, said) if check.name not in _OF_WHOLE_RUNS),
        check_gradients(done, asked.batch),
        check_sparse(done),
        check_loss(done),
        unless_meant(mine, why, check_update(done, mine, theirs)),
        unless_meant(mine, why, check_weights(replayed["trajectory"], replayed["walked"], replayed["spread"])),
        check_between(done),
        check_checkpoint("checkpoint of the chief, read by the original", replayed["first"].get("restored", {})),
        _files(found),
    ]
    drawn = {"randomness": "what steps draw, as dropout, is held still"} if mine["held"] else {}
    return concluded(
        checks,
        shown(f"{asked.gpus} workers take", done),
        asked.gpus,
        asked.batch,
        len(done),
        variables=variable_rows(mine, done, replayed["trajectory"]),
        versions=versions,
        neutralised=tuple(sorted(mine["held"].items())),
        ledger=ledger_of(checks, asked.batch, "for each worker", (), {**drawn, **_UNCHECKED}),
        processes=how,
    )


def _shares(replayed: Facts, asked: ComparisonSettings) -> CheckResult:
    """Checks that workers take the same steps and gradients, each on its rows, whose numbers differ by at most one.

    Batches that are dealt whole may have other sizes in a step that takes the last batch of an epoch.
    """
    taken = set(replayed["taken"])
    if len(taken) > 1:
        return CheckResult("workers", "failed", f"the workers take different numbers of steps: {sorted(taken)}")
    if not replayed["alike"]:
        return CheckResult("workers", "failed", "the workers apply different gradients to their variables")
    whole = max(step.get("own_rows") or 0 for step in replayed["steps"]) if asked.batch == "per-gpu" else 0
    # not where they are batches of the original, of `whole` rows, with a shorter one among them
    apart = (share for share in replayed["shares"] if max(share) - min(share) > 1)
    uneven = next((share for share in apart if not max(share) == whole > min(share)), None)
    if uneven:
        rows = listing([str(count) for count in uneven], len(uneven))
        return CheckResult("workers", "failed", f"the workers' parts of a batch differ by more than a row: {rows}")
    first = replayed["shares"][0]
    rows = f"{max(first)}" if max(first) == min(first) else f"{min(first)} or {max(first)}"
    return CheckResult("workers", "passed", f"{len(first)} take {taken.pop()} steps together, each on {rows} rows")


def _files(found: list[Event]) -> CheckResult:
    """Checkpoints and event files are the chief's alone."""
    name = "files"
    for place, event in enumerate(found[1:], 1):
        if event["written"]:
            return CheckResult(name, "failed", f"worker {place} writes {listing(event['written'])}, too")
    if not found[0]["written"]:
        return CheckResult(name, "skipped", "no checkpoint and no event file was written in the compared steps")
    return CheckResult(name, "passed", f"the chief alone writes {listing(found[0]['written'])}")

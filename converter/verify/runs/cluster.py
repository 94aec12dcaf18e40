"""Compares a script with its conversion for a cluster: N workers, all on this machine.

The workers run first and note their rows of each step, the chief the variables too. The original takes the rows of all
workers, in N batches, and steps with the mean of their gradients: from there on the figures are those of towers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from converter.verify.checks.figures import Facts, listing, number
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
from converter.verify.data import BatchMode, CheckResult, LedgerLine, Progress, Report, VariableRow
from converter.verify.judge import ComparisonSettings
from converter.verify.launch.tasks import Task, config_of, local_hosts, tasks
from converter.verify.processes.answer import Stopped, expect
from converter.verify.processes.child_process import Child, Event, Limits, environment, how_started
from converter.verify.processes.interpreters import Interpreters

ORIGINAL, WORKER = "cluster original", "cluster worker"
LOOK = 0.2  # seconds for one task's answer, until the next one is asked
SEED = 0  # of Python's and NumPy's generators, as the workers' (runtime/cluster.py)
_OF_WHOLE_RUNS = ("data of evaluations", "an epoch's end")  # which the entry on later steps names


def compare_workers(
    jobs: Mapping[str, dict[str, Any]],
    asked: ComparisonSettings,
    pool: Interpreters,
    python: str,
    limits: Limits,
    tell: Callable[[Progress], None],
) -> Report:
    """Runs as many workers as there are GPUs, and the original; jobs: of worker and original."""
    tell(Progress("starting TensorFlow", 0, 2))
    settled = environment(asked.gpus)
    settled["CUDA_VISIBLE_DEVICES"] = ""
    original = {**jobs[ORIGINAL], "seed": SEED}
    with Child(pool, python, original, settled, limits) as single, ExitStack() as stack:
        children = {}
        for task, told in _tasks(asked.gpus):
            own = {**settled, "TF_CONFIG": told}
            children[task] = stack.enter_context(Child(pool, python, _job(jobs[WORKER], task), own, limits))
        started = expect(single, "started")
        mine = expect(single, "ready")
        tell(Progress("the conversion trains", 0, 2))
        found = recorded(children)
        tell(Progress("the original trains", 1, 2))
        single.send(records=[_job(jobs[WORKER], task)["record"] for task in sorted(found)])
        replayed = expect(single, "replayed")
        how = how_started([single, *children.values()])
    versions = (("TensorFlow", started["tensorflow"]), ("Python", started["python"]))
    return judged(mine, [found[task] for task in sorted(found)], replayed, asked, versions, how)


def _tasks(workers: int) -> list[tuple[Task, str]]:
    """The workers of a cluster on this machine, each with its TF_CONFIG."""
    hosts = local_hosts(workers)
    return [(task, config_of(task, hosts)) for task in tasks(hosts)]


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
    checks = [
        check_variables(mine, theirs),
        *check_initial(mine["initial"], found[0]["first"]["initial"]),
        check_train_ops(mine, theirs, steps),
        check_batch(steps, asked.gpus, asked.batch),
        _shares(replayed, asked),
        *_data(replayed["data"], asked),
        check_gradients(done, asked.batch),
        check_sparse(done),
        check_loss(done),
        unless_meant(mine, why, check_update(done, mine, theirs)),
        unless_meant(mine, why, check_weights(replayed["trajectory"], len(done), replayed.get("spread"))),
        check_between(done),
        check_checkpoint("checkpoint of the chief, read by the original", replayed["first"].get("restored", {})),
        _files(found),
    ]
    failed = list(dict.fromkeys(check.detail for check in checks if check.status == "failed"))
    plural = "" if len(done) == 1 else "s"
    shown = f"{asked.gpus} workers take the original's {len(done)} step{plural}, with the mean of the gradients"
    return Report(
        verdict="failed" if failed else "passed",
        reason="; ".join(failed[:3]) if failed else shown,
        gpus=asked.gpus,
        batch=asked.batch,
        steps=len(done),
        checks=tuple(checks),
        variables=_rows(mine, done, replayed["trajectory"]),
        versions=versions,
        neutralised=tuple(sorted(mine["held"].items())),
        ledger=_ledger(checks, mine, asked.batch),
        processes=how,
    )


def _data(found: Facts, asked: ComparisonSettings) -> list[CheckResult]:
    """The examples of all workers; workers with files of their own take others than the original."""
    said = (OWN_FILES,) if asked.shard == "files" else ()
    return [check for check in check_data(found, asked.batches, said) if check.name not in _OF_WHOLE_RUNS]


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
    uneven = next((s for s in replayed["shares"] if max(s) - min(s) > 1 and not _are_batches(s, whole)), None)
    if uneven:
        rows = listing([str(count) for count in uneven], len(uneven))
        return CheckResult("workers", "failed", f"the workers' parts of a batch differ by more than a row: {rows}")
    first = replayed["shares"][0]
    rows = f"{max(first)}" if max(first) == min(first) else f"{min(first)} or {max(first)}"
    return CheckResult("workers", "passed", f"{len(first)} take {taken.pop()} steps together, each on {rows} rows")


def _are_batches(share: list[int], whole: int) -> bool:
    """True if the workers' parts are batches of the original, of `whole` rows, with a shorter one among them."""
    return max(share) == whole and min(share) < whole


def _files(found: list[Event]) -> CheckResult:
    """Checkpoints and event files are the chief's alone."""
    name = "files"
    for place, event in enumerate(found[1:], 1):
        if event["written"]:
            return CheckResult(name, "failed", f"worker {place} writes {listing(event['written'])}, too")
    if not found[0]["written"]:
        return CheckResult(name, "skipped", "no checkpoint and no event file was written in the compared steps")
    return CheckResult(name, "passed", f"the chief alone writes {listing(found[0]['written'])}")


def _rows(mine: Facts, done: list[Facts], trajectory: Mapping[str, Any]) -> tuple[VariableRow, ...]:
    rows = []
    for row in mine["variables"]:
        name = row["name"]
        gradient, update = (
            max((number(step[part][name]) for step in done if name in step.get(part, {})), default=None)
            for part in ("gradients", "update")
        )
        way = trajectory.get(name)
        weight = None if way is None else number(way)
        shape = "x".join(str(size) for size in row["shape"] or ()) or "scalar"
        rows.append(
            VariableRow(
                name=name,
                shape=shape,
                dtype=row["dtype"],
                trainable=row["trainable"],
                gradient=gradient,
                update=update,
                weight=weight,
            )
        )
    return tuple(rows)


def _ledger(checks: list[CheckResult], mine: Facts, batch: BatchMode) -> tuple[LedgerLine, ...]:
    entries = [check.entry() for check in checks]
    if batch == "per-gpu":
        entries.append(LedgerLine("differs", "batch", "a step takes one batch for each worker"))
    if mine["held"]:
        entries.append(LedgerLine("unchecked", "randomness", "what steps draw, as dropout, is held still"))
    entries += [
        LedgerLine(
            "unchecked", "later steps", "the first were compared, not an epoch's end, evaluations, the script's end"
        ),
        LedgerLine("unchecked", "results", "what a step gives beside the training, merged from all workers"),
        LedgerLine("unchecked", "restarts", "going on from a checkpoint after a task has ended"),
        LedgerLine("unchecked", "hosts", "all workers ran on this machine, on its CPU"),
    ]
    return tuple(entries)

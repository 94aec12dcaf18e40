"""Compares a PyTorch script with its conversion for DistributedDataParallel, on CPU processes that gloo connects.

The conversion's processes run first and note the batches that each takes; the original takes the same batches, and
steps with the mean of the gradients of the processes' batches (`--batch total`: on the batches put together).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from converter.verify.data import BatchMode, CheckResult, LedgerLine, Progress, Report, VariableRow
from converter.verify.judge import ComparisonSettings
from converter.verify.processes.answer import Stopped, expect
from converter.verify.processes.child_process import Child, Event, Limits, environment
from converter.verify.processes.interpreters import Interpreters
from converter.verify.processes.ports import free_ports

ORIGINAL, PROCESS = "ddp original", "ddp process"
TOLERANCE = 1e-3  # of the way that a parameter has gone; sums in another order came to 1e-5 at most
_ALONE = "processes that talk to each other are not forked"
# Where PyTorch fails that finds no GPU: in the module that starts CUDA, or reading values that lie on one.
_NO_GPU = re.compile(r"[/\\]torch[/\\]cuda[/\\]|torch\.cuda\.is_available\(\) is False")
_LINE = re.compile(r'File "([^"]+)", line (\d+), in ')
Facts = dict[str, Any]


def compare_processes(
    jobs: Mapping[str, dict[str, Any]],
    asked: ComparisonSettings,
    pool: Interpreters,
    python: str,
    limits: Limits,
    tell: Callable[[Progress], None],
) -> Report:
    """Runs the conversion in as many processes as there are GPUs, then the original; jobs: of the two roles."""
    [port] = free_ports(1)
    records = [str(Path(jobs[PROCESS]["work"]) / f"rank-{rank}.record") for rank in range(asked.gpus)]
    tell(Progress("starting PyTorch", 0, 2))

    def original() -> Child:
        settled = _environment(asked.gpus)
        pool.give_up(python, settled, _ALONE)
        return Child(pool, python, jobs[ORIGINAL], settled, limits)

    with ExitStack() as stack:
        children = []
        for rank, record in enumerate(records):
            job = {**jobs[PROCESS], "role": f"{PROCESS} {rank}", "record": record}
            job["log"] = str(Path(job["work"]) / f"rank-{rank}.log")
            settled = _environment(asked.gpus, RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=asked.gpus, MASTER_PORT=port)
            pool.give_up(python, settled, _ALONE)
            children.append(stack.enter_context(Child(pool, python, job, settled, limits)))
        started = [expect(child, "started") for child in children][0]
        tell(Progress("the conversion trains", 0, 2))
        held = sum(_trained(child, original)["held"] for child in children)
    tell(Progress("the original trains", 1, 2))
    with original() as single:
        expect(single, "started")
        single.send(records=records)
        mine = expect(single, "trained")
    versions = (("PyTorch", started["torch"]), ("Python", started["python"]))
    return judged(mine["facts"], asked.gpus, asked.batch, versions, held + mine["held"])


def _trained(process: Child, original: Callable[[], Child]) -> Event:
    """The last event of a process of the conversion; original: begins the original, to see whether it fails, too."""
    event = process.event()
    if event["event"] == "ended" and event["message"]:
        with original() as single:
            expect(single, "started")
            single.send(records=[])
            _fails_too(single, single.event(), event)
    return expect(process, "trained", event)


def _fails_too(single: Child, event: Event, conversion: Event) -> None:
    """Raises `Stopped` if the original fails by itself, too: its conversion has nothing to be like."""
    if event["event"] != "ended" or not event["message"]:
        return
    log = event["trace"] or single.tail()
    if all(_NO_GPU.search(one["trace"] + one["message"]) for one in (event, conversion)):
        path, line = _script_line(event["trace"])
        raise Stopped(
            f"both scripts ask for a GPU{f' ({path}, line {line})' if path else ''}, and a proof runs them on the "
            "CPU: write device = torch.device('cuda' if torch.cuda.is_available() else 'cpu'), and .to(device) in "
            "place of .cuda(), then convert again",
            log,
        )
    reason = f"{single.title} fails by itself: {event['message']}"
    raise Stopped(f"{reason}; the converted script fails, too: {conversion['message']}", log)


def _script_line(trace: str) -> tuple[str, str]:
    """The script's own last line in a traceback, where paths of the script's folder are relative; "" if none is."""
    lines = [(path, line) for path, line in _LINE.findall(trace) if not Path(path).is_absolute()]
    return lines[-1] if lines else ("", "")


def _environment(gpus: int, **of_process: int) -> dict[str, str]:
    settled = environment(gpus)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_PORT"):
        settled.pop(name, None)
    settled.update(
        CUDA_VISIBLE_DEVICES="", MASTER_ADDR="127.0.0.1", OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo", TQDM_DISABLE="1"
    )
    settled.update({name: str(value) for name, value in of_process.items()})
    return settled


def judged(facts: Facts, gpus: int, batch: BatchMode, versions: tuple[tuple[str, str], ...], held: int) -> Report:
    """The report, from what the original's process has compared (child/tmgprobe/ddp/compare.py)."""
    rows = facts["rows"]
    if not all(row.get("finite", True) for row in rows):
        raise Stopped("the original's weights are not finite: there is nothing to compare with")
    if facts["norm"] and batch == "total":
        raise Stopped(
            "batch normalisation takes its statistics from the examples of one process: with --batch total the weights "
            "differ from the original's by design"
        )
    checks = [
        _parameters(rows),
        _steps(facts),
        _gradients(facts),
        _weights(facts),
        _together(facts),
        _settings(facts),
        _shares(facts, gpus),
        _reshuffled(facts),
        _batch(facts, gpus, batch),
        _evaluation(facts),
        _saved(facts),
    ]
    failed = [check for check in checks if check.status == "failed"]
    taken = "its batches" if batch == "total" else f"{gpus} batches at a time"
    shown = f"{gpus} processes take the original's {facts['steps']} steps on {taken}"
    return Report(
        verdict="failed" if failed else "passed",
        reason="; ".join(check.detail for check in failed) if failed else shown,
        gpus=gpus,
        batch=batch,
        steps=facts["steps"],
        checks=tuple(checks),
        variables=tuple(map(VariableRow.of_weights, rows)),
        versions=versions,
        neutralised=(("dropout", held),) if held else (),
        ledger=_ledger(checks, facts, batch, held),
        processes="each script has its own import of PyTorch",
    )


def _check(name: str, good: bool, right: str, wrong: str) -> CheckResult:
    return CheckResult(name, "passed" if good else "failed", right if good else wrong)


def _parameters(rows: list[dict[str, Any]]) -> CheckResult:
    other = [row["name"] for row in rows if row["error"] is None]
    right = f"{len(rows)} with the same names and shapes in all processes"
    return _check("parameters", not other, right, f"{other[0] if other else ''} is another in the conversion")


def _steps(facts: Facts) -> CheckResult:
    taken = set(facts["taken"])
    good = taken == {facts["steps"]}
    return _check("steps", good, f"{facts['steps']} in each process", f"the processes take {sorted(taken)} steps")


def _gradients(facts: Facts) -> CheckResult:
    error = float(facts["gradients"])
    detail = "the mean of the original's" if error <= TOLERANCE else "the applied gradients differ from the original's"
    return CheckResult("gradients", "passed" if error <= TOLERANCE else "failed", detail, error, TOLERANCE)


def _weights(facts: Facts) -> CheckResult:
    rows = [row for row in facts["rows"] if row["error"] is not None]
    worst = max(rows, key=lambda row: float(row["error"]), default=None)
    if worst is None:
        return CheckResult("weights", "failed", "no parameter can be compared")
    error = float(worst["error"])
    detail = f"{worst['name']} differs" if error > TOLERANCE else f"the same after each of {facts['steps']} steps"
    return CheckResult("weights", "failed" if error > TOLERANCE else "passed", detail, error, TOLERANCE)


def _together(facts: Facts) -> CheckResult:
    apart = float(facts["apart"])
    detail = "the same in all processes after each step" if not apart else "the processes' weights differ"
    return CheckResult("processes", "failed" if apart else "passed", detail, apart, 0.0)


def _settings(facts: Facts) -> CheckResult:
    good = all(facts["settings"])
    right = "learning rate and other settings of the optimizer are the original's"
    return _check("optimizer", good, right, "the optimizer has other settings than the original's")


def _shares(facts: Facts, gpus: int) -> CheckResult:
    shares = facts["shares"]
    wrong = ""
    for number, share in enumerate(shares):
        if share is None:
            wrong = "the processes do not share the training data: there is no DistributedSampler"
        elif share["missing"] >= gpus:
            wrong = f"epoch {number + 1} leaves out {share['missing']} examples"
        elif share["repeated"] >= gpus or not share["even"]:
            wrong = f"in epoch {number + 1} processes take the same examples ({share['repeated']} are repeated)"
        if wrong:
            break
    repeated = max((share["repeated"] for share in shares if share), default=0)
    padded = f"; {repeated} are taken twice, so that all shares have one size" if repeated else ""
    return _check("shares", not wrong, f"each example goes to one process{padded}", wrong)


def _reshuffled(facts: Facts) -> CheckResult:
    shares, own = facts["shares"], facts["own"]
    if any(share is None for share in shares):
        return CheckResult("shuffling", "skipped", "the order of the examples is not seen")
    shuffled = {share["shuffled"] for share in shares}
    if shuffled != {own["shuffled"]}:
        return CheckResult(
            "shuffling", "failed", f"the original {'shuffles' if own['shuffled'] else 'does not shuffle'} its data"
        )
    if not own["shuffled"]:
        return CheckResult("shuffling", "passed", "neither script shuffles")
    if len(shares) < 2:
        return CheckResult("shuffling", "skipped", "there is one epoch only")
    again = any(share["again"] for share in shares[1:])
    return _check("shuffling", not again, "each epoch has another order", "the epochs have the same order (set_epoch)")


def _batch(facts: Facts, gpus: int, batch: BatchMode) -> CheckResult:
    size = facts["own"]["size"]
    expected = size // gpus if batch == "total" else size
    found = {one["size"] for each in facts["training"] for one in each}
    right = f"{expected} examples for each process"
    return _check("batch", found == {expected}, right, f"processes take batches of {sorted(found)}, not {expected}")


def _evaluation(facts: Facts) -> CheckResult:
    own, first, *others = facts["evaluations"]
    if not own and not first:
        return CheckResult("evaluation", "skipped", "nothing is evaluated by a DataLoader")
    if any(others):
        return CheckResult("evaluation", "failed", "other processes than rank 0 evaluate")
    if [one[:3] for one in own[:2]] != [one[:3] for one in first[:2]]:
        return CheckResult(
            "evaluation", "failed", "rank 0 evaluates on other examples than the original, or at another time"
        )
    return CheckResult(
        "evaluation", "passed", f"rank 0 evaluates on all of the {own[0][2]} examples, when the original does"
    )


def _saved(facts: Facts) -> CheckResult:
    own, first, *others = (_files(saved) for saved in facts["saved"])
    if not own and not first:
        return CheckResult("checkpoints", "skipped", "nothing is saved by torch.save")
    if any(others):
        return CheckResult("checkpoints", "failed", "other processes than rank 0 save")
    for name in sorted(own.keys() & first.keys()):
        if own[name] != first[name]:
            key = min(set(map(str, first[name])) ^ set(map(str, own[name])))
            return CheckResult("checkpoints", "failed", f"{name} has other keys than the original's: {key}")
    lost = sorted(own.keys() - first.keys())
    if lost and first:
        return CheckResult("checkpoints", "skipped", f"{lost[0]} was not saved in the shortened run")
    right = f"rank 0 saves {', '.join(sorted(own))} with the original's keys"
    return _check("checkpoints", bool(own) and bool(first), right, "not both scripts save")


def _files(saved: list[Any]) -> dict[str, list[Any]]:
    return dict(saved)


def _ledger(checks: list[CheckResult], facts: Facts, batch: BatchMode, held: int) -> tuple[LedgerLine, ...]:
    entries = [check.entry() for check in checks]
    if batch == "per-gpu":
        entries.append(LedgerLine("differs", "batch", "a step takes one batch of each process"))
    entries.append(LedgerLine("differs", "order", "the examples of an epoch come in the order of DistributedSampler"))
    if facts["norm"]:
        text = "statistics are those of each process's examples; rank 0's moving averages are evaluated and saved"
        entries.append(LedgerLine("differs", "batch normalisation", text))
    if not facts["same_begin"]:
        text = "both scripts are compared from the conversion's; with the random state of the proof they draw others"
        entries.append(LedgerLine("unchecked", "initial weights", text))
    if held:
        entries.append(LedgerLine("unchecked", "dropout", "held still"))
    entries += [
        LedgerLine("unchecked", "later steps", "epochs end after the compared steps, later ones after one"),
        LedgerLine("unchecked", "figures", "what is printed, and the results of evaluations"),
        LedgerLine("unchecked", "files", "what is written otherwise than by torch.save"),
        LedgerLine("unchecked", "GPUs", "the processes run on the CPU, connected by gloo in place of NCCL"),
    ]
    return tuple(entries)

"""Compares a PyTorch script with its conversion for DistributedDataParallel, on CPU processes that gloo connects.

The conversion's processes run first and note the batches that each takes; the original takes the same batches, and
steps with the mean of the gradients of the processes' batches (`--batch total`: on the batches put together).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from converter.verify.checks.figures import check_that, check_within
from converter.verify.data import BatchMode, CheckResult, LedgerLine, Progress, Report, VariableRow
from converter.verify.judge import ComparisonSettings, concluded
from converter.verify.launch.tasks import free_ports
from converter.verify.processes.answer import Stopped, expect, fails_too
from converter.verify.processes.child_process import Child, Event, environment
from converter.verify.processes.runner import Runner
from converter.verify.runs.protocol import Jobs, Protocol, Tell, ledger_of, versions_of

ORIGINAL, PROCESS = "ddp original", "ddp process"
TOLERANCE = 1e-3  # of the way that a parameter has gone; sums in another order came to 1e-5 at most
_ALONE = "processes that talk to each other are not forked"
# Where PyTorch fails that finds no GPU: in the module that starts CUDA, or reading values that lie on one.
_NO_GPU = re.compile(r"[/\\]torch[/\\]cuda[/\\]|torch\.cuda\.is_available\(\) is False")
_LINE = re.compile(r'File "([^"]+)", line (\d+), in ')
# What checks say where they pass, and where they fail.
_SAID = {
    "gradients": ("the mean of the original's", "the applied gradients differ from the original's"),
    "processes": ("the same in all processes after each step", "the processes' weights differ"),
    "optimizer": (
        "learning rate and other settings of the optimizer are the original's",
        "the optimizer has other settings than the original's",
    ),
}
Facts = dict[str, Any]


def compare_processes(jobs: Jobs, asked: ComparisonSettings, runner: Runner, tell: Tell) -> Report:
    """Runs the conversion in as many processes as there are GPUs, then the original; jobs: of the two roles."""
    [port] = free_ports(1)
    work = Path(jobs[PROCESS]["work"])
    records = [str(work / f"rank-{rank}.record") for rank in range(asked.gpus)]
    tell(Progress("starting PyTorch", 0, 2))

    def begin(job: Mapping[str, Any], **of_process: int) -> Child:
        settled = _environment(asked.gpus, **of_process)
        runner.pool.give_up(runner.python, settled, _ALONE)
        return runner.begin(job, settled)

    def original() -> Child:
        return begin(jobs[ORIGINAL])

    with ExitStack() as stack:
        children = []
        for rank, record in enumerate(records):
            own = {"role": f"{PROCESS} {rank}", "record": record, "log": str(work / f"rank-{rank}.log")}
            child = begin({**jobs[PROCESS], **own}, RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=asked.gpus, MASTER_PORT=port)
            children.append(stack.enter_context(child))
        started = [expect(child, "started") for child in children][0]
        tell(Progress("the conversion trains", 0, 2))
        held = sum(_trained(child, original)["held"] for child in children)
    tell(Progress("the original trains", 1, 2))
    with original() as single:
        expect(single, "started")
        single.send(records=records)
        mine = expect(single, "trained")
    return judged(mine["facts"], asked.gpus, asked.batch, versions_of(started), held + mine["held"])


PROTOCOL = Protocol(
    conversion=PROCESS,
    original=ORIGINAL,
    trains="DistributedDataParallel",
    compare=compare_processes,
    no_others="--also is for scripts that TensorFlow runs, not for PyTorch's",
)


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
    fails_too(single, event, conversion, "")


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
    other = [row["name"] for row in rows if row["error"] is None]
    right = f"{len(rows)} with the same names and shapes in all processes"
    taken, steps = set(facts["taken"]), facts["steps"]
    checks = [
        check_that("parameters", not other, right, f"{other[0] if other else ''} is another in the conversion"),
        check_that("steps", taken == {steps}, f"{steps} in each process", f"the processes take {sorted(taken)} steps"),
        check_within("gradients", float(facts["gradients"]), TOLERANCE, *_SAID["gradients"]),
        _weights(facts),
        check_within("processes", float(facts["apart"]), 0.0, *_SAID["processes"]),
        check_that("optimizer", all(facts["settings"]), *_SAID["optimizer"]),
        _shares(facts, gpus),
        _reshuffled(facts),
        _batch(facts, gpus, batch),
        _evaluation(facts),
        _saved(facts),
    ]
    on = "its batches" if batch == "total" else f"{gpus} batches at a time"
    return concluded(
        checks,
        f"{gpus} processes take the original's {steps} steps on {on}",
        gpus,
        batch,
        steps,
        variables=tuple(map(VariableRow.of_weights, rows)),
        versions=versions,
        neutralised=(("dropout", held),) if held else (),
        ledger=ledger_of(checks, batch, "of each process", list(_differences(facts)), _unchecked(facts, held)),
        processes="each script has its own import of PyTorch",
    )


def _weights(facts: Facts) -> CheckResult:
    rows = [row for row in facts["rows"] if row["error"] is not None]
    worst = max(rows, key=lambda row: float(row["error"]), default=None)
    if worst is None:
        return CheckResult("weights", "failed", "no parameter can be compared")
    right = f"the same after each of {facts['steps']} steps"
    return check_within("weights", float(worst["error"]), TOLERANCE, right, f"{worst['name']} differs")


def _shares(facts: Facts, gpus: int) -> CheckResult:
    shares = facts["shares"]
    wrong = next(filter(None, (_unshared(epoch, share, gpus) for epoch, share in enumerate(shares, 1))), "")
    repeated = max((share["repeated"] for share in shares if share), default=0)
    padded = f"; {repeated} are taken twice, so that all shares have one size" if repeated else ""
    return check_that("shares", not wrong, f"each example goes to one process{padded}", wrong)


def _unshared(epoch: int, share: Facts | None, gpus: int) -> str:
    """How the processes of one epoch do not share its examples; "" if they do."""
    if share is None:
        return "the processes do not share the training data: there is no DistributedSampler"
    if share["missing"] >= gpus:
        return f"epoch {epoch} leaves out {share['missing']} examples"
    if share["repeated"] >= gpus or not share["even"]:
        return f"in epoch {epoch} processes take the same examples ({share['repeated']} are repeated)"
    return ""


def _reshuffled(facts: Facts) -> CheckResult:
    name, shares, shuffles = "shuffling", facts["shares"], facts["own"]["shuffled"]
    if any(share is None for share in shares):
        return CheckResult(name, "skipped", "the order of the examples is not seen")
    if {share["shuffled"] for share in shares} != {shuffles}:
        return CheckResult(name, "failed", f"the original {'shuffles' if shuffles else 'does not shuffle'} its data")
    if not shuffles:
        return CheckResult(name, "passed", "neither script shuffles")
    if len(shares) < 2:
        return CheckResult(name, "skipped", "there is one epoch only")
    again = any(share["again"] for share in shares[1:])
    return check_that(name, not again, "each epoch has another order", "the epochs have the same order (set_epoch)")


def _batch(facts: Facts, gpus: int, batch: BatchMode) -> CheckResult:
    size = facts["own"]["size"]
    expected = size // gpus if batch == "total" else size
    found = {one["size"] for each in facts["training"] for one in each}
    right = f"{expected} examples for each process"
    return check_that("batch", found == {expected}, right, f"processes take batches of {sorted(found)}, not {expected}")


def _evaluation(facts: Facts) -> CheckResult:
    name = "evaluation"
    own, first, *others = facts["evaluations"]
    if not own and not first:
        return CheckResult(name, "skipped", "nothing is evaluated by a DataLoader")
    if any(others):
        return CheckResult(name, "failed", "other processes than rank 0 evaluate")
    if [one[:3] for one in own[:2]] != [one[:3] for one in first[:2]]:
        detail = "rank 0 evaluates on other examples than the original, or at another time"
        return CheckResult(name, "failed", detail)
    return CheckResult(name, "passed", f"rank 0 evaluates on all of the {own[0][2]} examples, when the original does")


def _saved(facts: Facts) -> CheckResult:
    name = "checkpoints"
    own, first, *others = map(dict, facts["saved"])
    if not own and not first:
        return CheckResult(name, "skipped", "nothing is saved by torch.save")
    if any(others):
        return CheckResult(name, "failed", "other processes than rank 0 save")
    for file in sorted(own.keys() & first.keys()):
        if own[file] != first[file]:
            key = min(set(map(str, first[file])) ^ set(map(str, own[file])))
            return CheckResult(name, "failed", f"{file} has other keys than the original's: {key}")
    lost = sorted(own.keys() - first.keys())
    if lost and first:
        return CheckResult(name, "skipped", f"{lost[0]} was not saved in the shortened run")
    right = f"rank 0 saves {', '.join(sorted(own))} with the original's keys"
    return check_that(name, own and first, right, "not both scripts save")


def _differences(facts: Facts) -> Iterator[LedgerLine]:
    yield LedgerLine("differs", "order", "the examples of an epoch come in the order of DistributedSampler")
    if facts["norm"]:
        text = "statistics are those of each process's examples; rank 0's moving averages are evaluated and saved"
        yield LedgerLine("differs", "batch normalisation", text)


def _unchecked(facts: Facts, held: int) -> dict[str, str]:
    drawn = "both scripts are compared from the conversion's; with the random state of the proof they draw others"
    return {
        **({} if facts["same_begin"] else {"initial weights": drawn}),
        **({"dropout": "held still"} if held else {}),
        "later steps": "epochs end after the compared steps, later ones after one",
        "figures": "what is printed, and the results of evaluations",
        "files": "what is written otherwise than by torch.save",
        "GPUs": "the processes run on the CPU, connected by gloo in place of NCCL",
    }

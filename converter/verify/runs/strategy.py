"""Compares a script that trains under tf.distribute.MirroredStrategy with its original.

The original steps with the mean of the gradients of N of its batches (`--batch total`: on one batch), the conversion
on the same examples under its strategy, from the same weights. The weights stay the same: docs/verify.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from converter.verify.checks.figures import check_that, listing, number, worst_of
from converter.verify.checks.training import ends_away
from converter.verify.data import BatchMode, CheckResult, LedgerLine, Progress, Report, VariableRow
from converter.verify.judge import ComparisonSettings, concluded
from converter.verify.processes.answer import Stopped, expect
from converter.verify.processes.child_process import Event, environment, how_started
from converter.verify.processes.runner import Runner
from converter.verify.runs.protocol import Jobs, Protocol, Tell, ledger_of, versions_of

ORIGINAL, CONVERSION = "strategy original", "strategy conversion"
NO_PROOF = "there is no proof of multi_gpu_model: the package keras asks for real GPUs, which virtual devices are not"
TOLERANCE = 1e-3  # of the way that a variable has gone; sums in another order came to 1e-5 at most
_UNCHECKED = {
    "evaluation": "what the script computes after its first training",
    "hooks and callbacks": "those of the first training are left out",
    "files": "what the scripts write outside of their folders",
    "session": "the devices are virtual ones of the CPU",
}
# What checks say where they pass, and where they fail.
_ROWS = ("each step takes as many examples as it should", "a step takes another number of examples")
_FED = (
    "the conversion's input gives the original's examples, in their order",
    "the conversion's input gives other examples than the original's, or another order",
)
Row = dict[str, Any]


def compare_strategies(jobs: Jobs, asked: ComparisonSettings, runner: Runner, tell: Tell) -> Report:
    """Runs both scripts, the original first; jobs: those of the two roles of this module."""
    if "multi_gpu_model(" in Path(jobs[CONVERSION]["script"]).read_text(encoding="utf-8", errors="replace"):
        raise Stopped(NO_PROOF)
    settled = environment(asked.gpus)
    settled.pop("TF_USE_LEGACY_KERAS")  # the Keras that the script would have
    tell(Progress("starting TensorFlow", 0, 2))
    with runner.begin(jobs[ORIGINAL], settled) as single, runner.begin(jobs[CONVERSION], settled) as multi:
        started = expect(single, "started")
        expect(multi, "started")
        tell(Progress("the original trains", 0, 2))
        mine = expect(single, "trained")
        tell(Progress("the conversion trains", 1, 2))
        multi.send(record=jobs[ORIGINAL]["record"])
        theirs = expect(multi, "trained")
        # errors above the tolerance are held against how far the original ends from itself
        known = [row for row in theirs["rows"] if row["error"] is not None]
        far = [row for row in known if TOLERANCE < number(row["error"]) < float("inf")]
        single.send(errors={row["name"]: {kind: number(row[kind]) for kind in ("error", "usual")} for row in far})
        theirs = {**theirs, "rows": _with_spread(theirs["rows"], expect(single, "tried")["spread"])}
        report = _judged(started, mine, theirs, asked.gpus, asked.batch)
        return replace(report, processes=how_started([single, multi]))


PROTOCOL = Protocol(
    conversion=CONVERSION,
    original=ORIGINAL,
    trains="tf.distribute.MirroredStrategy",
    compare=compare_strategies,
)


def _with_spread(rows: list[Row], spread: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The variables, each with how far the original ends from itself if that is a tenth of the error or more."""
    found = []
    for row in rows:
        moved = spread.get(row["name"])
        moves = moved and all(number(moved[kind]) >= number(row[kind]) / 10 for kind in ("error", "usual"))
        found.append({**row, "spread": number(moved["error"]) if moved and moves else None})
    return found


def _judged(started: Event, mine: Event, theirs: Event, gpus: int, batch: BatchMode) -> Report:
    rows, steps, facts = theirs["rows"], mine["steps"], theirs["facts"]
    if not all(row["finite"] for row in rows):
        raise Stopped("the original's weights are not finite: there is nothing to compare with")
    weights = _weights(rows, steps)
    norm = [row["name"] for row in rows if "moving_mean" in row["name"] or "moving_variance" in row["name"]]
    if norm and weights.status == "failed" and batch == "total":
        raise Stopped(
            f"batch normalisation takes its statistics from one GPU's examples ({norm[0]}): by design the "
            "weights differ from those of one GPU"
        )
    replicas = f"{facts['replicas']} replicas train, {gpus} are asked for"
    checks = [
        check_that("replicas", facts["replicas"] == gpus, replicas, replicas),
        check_that("batch", facts["rows"], *_ROWS),
        CheckResult("data", "skipped", "the original draws its examples at random")
        if mine["facts"].get("drawn")
        else check_that("data", facts["same"], *_FED),
        _variables(rows, mine["kind"]),
        _placement(theirs["work"], gpus),
        weights,
    ]
    taken = "its batches" if batch == "total" else f"{gpus} batches at a time"
    unseen = weights.status == "skipped"
    held = mine["held"] + theirs["held"]
    still = {"dropout": "held still"} if mine["held"] else {}
    variables = [{**row, "error": None if row["spread"] is not None else row["error"]} for row in rows]
    report = concluded(
        checks,
        weights.detail if unseen else f"{gpus} replicas take the original's {steps} steps on {taken}",
        gpus,
        batch,
        steps,
        variables=tuple(map(VariableRow.of_weights, variables)),
        versions=versions_of(started),
        neutralised=(("dropout", held),) if held else (),
        ledger=ledger_of(checks, batch, "for each GPU", _left_out(rows), {**_UNCHECKED, **still}),
    )
    return replace(report, verdict="not comparable") if unseen and report.verdict == "passed" else report


def _placement(work: Mapping[str, int], gpus: int) -> CheckResult:
    """Checks that each device computes the model.

    work: the number of operations that do most of its work, by device. The first may have some more of them, for what
    is computed once; a device that only holds variables has none, or a few.
    """
    shown = ", ".join(f"{count} on {device or 'no device in particular'}" for device, count in sorted(work.items()))
    placed = [count for device, count in work.items() if device]
    if not work:
        return CheckResult("placement", "skipped", "the model has no matrix product, convolution or lookup to look at")
    detail = f"matrix products, convolutions and lookups: {shown}"
    if len(placed) == gpus and 2 * min(placed) >= max(placed):
        return CheckResult("placement", "passed", detail)
    return CheckResult("placement", "failed", f"the devices do not share the work; {detail}")


def _weights(rows: list[Row], steps: int) -> CheckResult:
    """The weights after each step are the original's, but for those that the original itself does not reach again."""
    left = [row for row in rows if row["spread"] is not None]
    compared = {row["name"]: row["error"] for row in rows if row["error"] is not None and row["spread"] is None}
    name, worst = worst_of(compared)
    if worst > TOLERANCE:
        return CheckResult("weights", "failed", f"{name} differs", worst, TOLERANCE)
    why = ends_away(max((row["spread"] for row in left), default=0.0))
    if left and not any(row["moved"] for row in rows if row["name"] in compared and "global_step" not in row["name"]):
        return CheckResult("weights", "skipped", f"{why}; nothing else is compared")
    without = f"; {len(left)} left out: {why}" if left else ""
    return CheckResult("weights", "passed", f"the same after each of {steps} steps{without}", worst, TOLERANCE)


def _variables(rows: list[dict[str, Any]], kind: str) -> CheckResult:
    lost = [row["name"] for row in rows if not row["converted"]]
    new = [row["name"] for row in rows if not row["original"]]
    other = [row["name"] for row in rows if row["original"] and row["converted"] and row["error"] is None]
    for names, what in ((lost, "is missing"), (new, "is new"), (other, "has another shape")):
        if names:
            return CheckResult("variables", "failed", f"{names[0]} {what} in the conversion")
    read = "; the conversion reads the original's checkpoint" if kind == "Estimator" else ""
    return CheckResult("variables", "passed", f"{len(rows)} with the same names and shapes{read}")


def _left_out(rows: list[Row]) -> list[LedgerLine]:
    """The line on weights that are not compared, as the original itself does not reach them again."""
    left = {row["name"]: row["spread"] for row in rows if row["spread"] is not None}
    if not left:
        return []
    detail = f"left out where {ends_away(max(left.values()))}: {listing(left)}"
    return [LedgerLine("unchecked", "weights", detail, float(len(left)))]

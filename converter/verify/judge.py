"""Makes the verdict from the figures. Pure: no processes, no TensorFlow; of numbers it only takes the worst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import takewhile
from typing import Any

from converter.dataclass import dataclass
from converter.verify.checks.beyond_steps import check_beside, check_end
from converter.verify.checks.fetches import check_fetches
from converter.verify.checks.figures import Facts, listing, number
from converter.verify.checks.initial import check_initial
from converter.verify.checks.lines import PlannedLines, check_lines
from converter.verify.checks.slices import check_slices, wholes_in
from converter.verify.checks.stream import check_data
from converter.verify.checks.structure import (
    check_batch,
    check_between,
    check_checkpoint,
    check_collections,
    check_draws,
    check_placement,
    check_train_ops,
    check_variables,
    check_writes,
    own_counters,
    without_counters,
)
from converter.verify.checks.training import (
    another_rate,
    check_changes,
    check_gradients,
    check_loss,
    check_sparse,
    check_uneven,
    check_update,
    check_weights,
    unless_meant,
)
from converter.verify.data import (
    ALL_STEPS,
    BatchMode,
    Box,
    BoxEdge,
    CheckResult,
    DeviceRow,
    DeviceSpan,
    LossRow,
    Report,
    StepTrace,
    VariableRow,
)
from converter.verify.processes.machine import CPU, Devices

_COUNTED = "{} counts the conversion's steps, and the original has no such variable: its checkpoints lack it"
# What steps name -> what a note says of it.
_NAMED = {
    "noise": "gradients that are zero but for rounding",
    "less_exact": "gradients that float32 adds up less exactly over the original's whole batch than over parts of it, "
    "and that the towers have as exactly",
    "alone": "inputs of the original that the conversion does not have",
}


@dataclass(frozen=True)
class ComparisonSettings:
    """What is compared: settings with nothing left open.

    rate: how the conversion scales the learning rate. target: what trains on several GPUs. loss: what it was to do
    with a loss that is no mean over the examples ("towers", "global").
    shard: whether each worker of a cluster reads its own part of the files ("files") or all prepare all ("rows").
    by_values: {what is done beside the steps: where the original decides by a value of a run whether to}.
    apart: paths that both scripts change, for which they run one after the other; none: at the same time.
    devices: what the towers of the compared runs are on.
    sizes: how many examples steps of the conversion's whole run have, where both runs come to an epoch's end and the
    original's batches are all of one size; else none.
    """

    gpus: int
    batch: BatchMode
    steps: int
    rate: str = "none"
    target: str = "towers"
    apart: tuple[str, ...] = ()
    loss: str = "towers"
    shard: str = "rows"
    by_values: Mapping[str, str] = field(default_factory=dict)
    devices: Devices = CPU
    sizes: tuple[int, ...] = ()

    @property
    def batches(self) -> int:
        """How many batches of the original a step of the conversion takes."""
        return 1 if self.batch == "total" else self.gpus


def judge(
    mine: Facts,
    theirs: Facts,
    recorded: Facts,
    replayed: Facts,
    asked: ComparisonSettings,
    planned: PlannedLines | None = None,
) -> Report:
    """Makes the report.

    planned: where the conversion puts the lines of the original, None where nobody asks.
    mine, theirs: the "ready" events of the original and the conversion; recorded, replayed: the
    events with which they ended (child/tmgprobe/roles/record.py, child/tmgprobe/roles/replay.py).
    """
    counters, plan = own_counters(mine, theirs), planned or PlannedLines()
    theirs = without_counters(theirs, counters)
    counted = tuple(map(_COUNTED.format, counters))
    figures, first, on_host = replayed["steps"], recorded["first"], bool(replayed["first"].get("on_host"))
    ordered = [step for step in figures if step["order"]]
    done = list(takewhile(lambda step: not step.get("diverged"), ordered))
    empty = any(step.get("empty") for step in ordered[len(done) : len(done) + 1])
    own = "the original's gradients are not finite"
    ended = "the conversion is fed a batch without examples" if empty else own
    if ordered and not done:
        reason = f"{ended}: there is nothing to compare with"
        return Report("not comparable", reason, asked.gpus, asked.batch, 0, notes=counted)
    stopped = f"{ended} in step {len(done) + 1}" if len(done) < len(ordered) else ""
    lines, more_notes = check_lines(plan, replayed["first"].get("lines"))
    checks = [
        check_variables(mine, theirs),
        *check_initial(mine["initial"], first["initial"]),
        check_train_ops(mine, theirs, figures),
        check_batch([step for step in figures if not step.get("empty")], asked.gpus, asked.batch, plan.said),
        *check_data(replayed["data"], asked.batches, plan.said),
        *check_beside(
            mine={**replayed["diary"], "by values": asked.by_values},
            theirs={**recorded["diary"], "shorter": plan.shorter},
            steps=len(figures),
            towers=asked.batches,
            by_one=any(step.get("own_rows") == 1 for step in figures),
            epoch=replayed["data"].get("epoch"),
        ),
        *check_end(recorded, replayed),
        *(_of_steps((mine, theirs, recorded, replayed), done, stopped, asked, plan) if done else ()),
        check_placement(first.get("devices"), asked.gpus, first.get("work"), first.get("on_gpus", False), on_host),
        check_collections(mine, theirs),
        *check_slices(theirs, wholes_in(mine, theirs), asked.gpus),
        *([lines] if planned is not None else ()),
    ]
    return concluded(
        checks,
        shown("one tower takes" if asked.gpus == 1 else f"{asked.gpus} towers take", done),
        asked.gpus,
        asked.batch,
        len(done),
        variables=variable_rows(mine, done, replayed["trajectory"]),
        devices=_devices(first.get("devices"), first.get("work")),
        neutralised=tuple(sorted((Counter[str](mine["held"]) + Counter[str](theirs["held"])).items())),
        notes=(*_notes(replayed, figures, asked.steps, asked.batch), *(more_notes if planned else ()), *counted),
    )


def _of_steps(
    events: tuple[Facts, Facts, Facts, Facts],
    done: list[Facts],
    stopped: str,
    asked: ComparisonSettings,
    plan: PlannedLines,
) -> list[CheckResult]:
    """What the compared steps computed and left, and uneven batches and checkpoints, which the proof tries itself.

    events: as of `judge`. stopped: why not all steps could be compared, "" where they were.
    """
    mine, theirs, recorded, replayed = events
    first, why = replayed["first"], another_rate(done, asked.rate, asked.batches, plan.said)
    weights = unless_meant(mine, why, check_weights(replayed["trajectory"], replayed["walked"], replayed["spread"]))
    return [
        check_gradients(done, asked.batch, plan.once, asked.loss == "global"),
        *check_changes(done),
        check_sparse(done),
        check_loss(done),
        *check_fetches(done, replayed.get("asides", ()), asked.rate, first, replayed["data"].get("epoch")),
        unless_meant(mine, why, check_update(done, mine, theirs, first.get("turned"))),
        CheckResult("weights", "skipped", stopped) if stopped else weights,
        check_writes(mine, theirs),
        check_between(done, replayed["changed"] if replayed["as_far"] else None, replayed["data"].get("epoch")),
        check_draws(mine, theirs, first.get("drawn")),
        *check_uneven(first.get("uneven", {}), asked.gpus, asked.batch, asked.sizes),
        check_checkpoint("checkpoint of the conversion, read by the original", first.get("restored", {})),
        check_checkpoint("checkpoint of the original, read by the conversion", recorded["first"]["restored"]),
    ]


def unlike(mine: Facts, theirs: Facts, gpus: int, batch: BatchMode) -> Report | None:
    """The report for scripts whose inputs or variables do not fit each other, so that no values can be exchanged."""
    if own := _own_inputs(mine, theirs, gpus):
        reason = f"the conversion feeds each tower by inputs of its own ({own}), to which no batch of the original fits"
        return Report("not comparable", reason, gpus, batch, 0)
    other = {row["name"]: row for row in theirs["variables"]}
    pairs = [(row, other[row["name"]]) for row in mine["variables"] if row["name"] in other]
    if all(own[part] == their[part] for own, their in pairs for part in ("shape", "dtype")):
        return None
    check = check_variables(mine, theirs)
    return Report(verdict="failed", reason=check.detail, gpus=gpus, batch=batch, steps=0, checks=(check,))


def _own_inputs(mine: Facts, theirs: Facts, gpus: int) -> str:
    """The placeholders that exist once per tower, N for each of the original's; "" if there are none.

    Those of which a later tower has a copy of the first tower's are known: each counts as one of the original's.
    """
    ours, others = ([row for row in facts["inputs"] if not row["source"]] for facts in (mine, theirs))
    known = any(row.get("each") for row in others)
    if gpus < 2 or not ours or known or len(others) != gpus * len(ours):
        return ""
    rows = [Counter(tuple(row["shape"][1:]) for row in one if row["shape"]) for one in (ours, others)]
    several = Counter({shape: count * gpus for shape, count in rows[0].items()})
    return listing(row["name"] for row in others) if rows[0] and several == rows[1] else ""


def shown(takers: str, done: list[Facts]) -> str:
    """What steps have shown in which no check failed; takers: `2 towers take`."""
    plural = "" if len(done) == 1 else "s"
    return f"{takers} the original's {len(done)} step{plural}, with the mean of the gradients"


def concluded(
    checks: Sequence[CheckResult], shown: str, gpus: int, batch: BatchMode, steps: int, **more: Any
) -> Report:
    """The report of a comparison: failed for what the first checks say that failed; else it has shown something."""
    failed = list(dict.fromkeys(check.detail for check in checks if check.status == "failed"))
    return Report(
        verdict="failed" if failed else "passed",
        reason="; ".join(failed[:3]) or shown,
        gpus=gpus,
        batch=batch,
        steps=steps,
        checks=tuple(checks),
        **more,
    )


def _devices(devices: Mapping[str, list[int]] | None, work: Mapping[str, int] | None) -> tuple[DeviceRow, ...]:
    total = sum((work or {}).values())
    return tuple(
        DeviceRow(device, forward, gradient, work.get(device, 0) / total if work and total else None)
        for device, (forward, gradient) in sorted((devices or {}).items())
    )


def variable_rows(mine: Facts, done: list[Facts], trajectory: Mapping[str, Any]) -> tuple[VariableRow, ...]:
    """The original's variables with the worst errors of the compared steps; trajectory: errors of all steps."""

    def worst(part: str, name: str) -> float | None:
        return max((number(step[part][name]) for step in done if name in step.get(part, {})), default=None)

    return tuple(
        VariableRow(
            name=row["name"],
            shape="unknown" if row["shape"] is None else "x".join(map(str, row["shape"])) or "scalar",
            dtype=row["dtype"],
            trainable=row["trainable"],
            gradient=worst("gradients", row["name"]),
            update=worst("update", row["name"]),
            weight=None if trajectory.get(row["name"]) is None else number(trajectory[row["name"]]),
        )
        for row in mine["variables"]
    )


def _notes(replayed: Facts, figures: list[Facts], steps: int, batch: BatchMode) -> tuple[str, ...]:
    notes = []
    if len(figures) < steps < ALL_STEPS:
        notes.append(f"the scripts took only {len(figures)} of {steps} training steps")
    kinds = {step.get("kind") for step in figures if step.get("reference") not in ("whole", "once")}
    if kinds & {"other", "coupled sum"}:
        notes.append("the loss is not a mean over examples: N towers differ from one GPU with the big batch")
    if kinds & {"sum", "coupled sum"} and batch == "per-gpu":
        notes.append("the loss is a sum over examples: the towers' sums are averaged")
    for key, words in _NAMED.items():
        if names := sorted({name for step in figures for name in step.get(key, ())}):
            notes.append(f"{words}: {listing(names)}")
    for kind, count in sorted(replayed.get("not_held", {}).items()):
        notes.append(f"{count} {kind} operations inside functions (as in Dataset.map) could not be held still")
    return tuple(notes)


def step_trace(found: Facts | None) -> StepTrace | None:
    """The step that child/tmgprobe/session/timeline.py traced; None if nothing was traced."""
    if not found or not found["boxes"]:
        return None
    return StepTrace(
        tuple(Box(*row) for row in found["boxes"]),
        tuple(BoxEdge(*row) for row in found["edges"]),
        tuple(DeviceSpan(*row) for row in found["spans"]),
        tuple(sorted(found["variables"].items())),
    )


def losses(replayed: Facts) -> tuple[LossRow, ...]:
    """The losses of both scripts, step by step; none where one of them could not be read."""
    found = [step.get("curve") for step in replayed["steps"] if step["order"]]
    if not all(found):
        return ()
    return tuple(LossRow(float(original), float(converted)) for converted, original, _ in found)

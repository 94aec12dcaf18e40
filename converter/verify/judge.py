"""From figures to a verdict. Pure: no processes, no TensorFlow, no numbers computed but their worst."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from converter.verify.data import BatchMode, Check, DeviceRow, Report, Status, VariableRow

Facts = Mapping[str, Any]

GRADIENT = 1e-4
LOSS = 1e-5
UPDATE = 1e-4
WEIGHT = 1e-3

# what the comparison found the wrong gradients to be equal to -> what that means
FAULTS = {
    "summed": "the gradients are summed over the towers, not averaged",
    "plain sum": "the gradients are summed over the towers, not averaged",
    "divided twice": "the gradients are divided by the number of towers twice",
    "unweighted": "the towers are averaged with equal weights, whatever the sizes of their shards",
    "divided by all towers": "the towers are averaged with weights 1/N, whatever the sizes of their shards",
    "first shard": "every tower computes on the same shard (the first)",
    "first shard times its share": "only the first tower's gradient is applied",
    "whole batch": "the gradient is that of the whole batch, not the mean of the towers'",
    "changed before averaging": "each tower's gradients are clipped before the averaging, not after",
    "weight decay": "a term proportional to the weights (weight decay) is counted another number of times",
}


def judge(
    mine: Facts,
    theirs: Facts,
    recorded: Facts,
    replayed: Facts,
    gpus: int,
    batch: BatchMode,
    steps: int,
    rate: str = "none",
) -> Report:
    """Makes the report.

    mine, theirs: the "ready" events of the original and the conversion; recorded, replayed: the
    events with which they ended (child/tmgprobe_record.py, child/tmgprobe_replay.py).
    """
    figures = replayed["steps"]
    first, done = replayed["first"], [step for step in figures if step["order"]]
    checks = [
        _variables(mine, theirs),
        _train_ops(mine, theirs, figures),
        _batch(figures, gpus, batch),
    ]
    if done:
        checks += [
            _gradients(done, batch),
            _sparse(done),
            _loss(done),
            _unless_meant(mine, rate, _update(done, mine, theirs, gpus)),
            _unless_meant(mine, rate, _weights(replayed["trajectory"], len(done), replayed.get("spread"))),
            _writes(mine, theirs),
            *_uneven(first.get("uneven", {}), gpus, batch),
            _checkpoint("checkpoint of the conversion, read by the original", first.get("restored", {})),
            _checkpoint("checkpoint of the original, read by the conversion", recorded["first"]["restored"]),
        ]
    devices = recorded["first"].get("devices")
    checks += [_placement(devices, gpus), _collections(mine, theirs)]
    failed = [check for check in checks if check.status == "failed"]
    held = {
        kind: mine["held"].get(kind, 0) + theirs["held"].get(kind, 0)
        for kind in sorted({*mine["held"], *theirs["held"]})
    }
    return Report(
        verdict="failed" if failed else "passed",
        reason=(
            "; ".join(dict.fromkeys(check.detail for check in failed[:3])) if failed else _shown(done, gpus)
        ),
        gpus=gpus,
        batch=batch,
        steps=len(done),
        checks=tuple(checks),
        variables=_rows(mine, done, replayed["trajectory"]),
        devices=tuple(DeviceRow(device, *counts) for device, counts in sorted((devices or {}).items())),
        neutralised=tuple(held.items()),
        notes=_notes(replayed, figures, steps, batch),
    )


def unlike(mine: Facts, theirs: Facts, gpus: int, batch: BatchMode) -> Report | None:
    """The report when variables of one name differ in shape or type, so that no values can be exchanged."""
    other = {row["name"]: row for row in theirs["variables"]}
    pairs = [(row, other[row["name"]]) for row in mine["variables"] if row["name"] in other]
    if all(own[part] == their[part] for own, their in pairs for part in ("shape", "dtype")):
        return None
    check = _variables(mine, theirs)
    return Report("failed", check.detail, gpus, batch, 0, (check,))


def _shown(done: list[Facts], gpus: int) -> str:
    towers = "one tower takes" if gpus == 1 else f"{gpus} towers take"
    plural = "" if len(done) == 1 else "s"
    return f"{towers} the original's {len(done)} step{plural}, with the mean of the gradients"


def number(value: Any) -> float:
    """A figure from JSON, where infinity and NaN are strings."""
    return float(value)


def _finite(value: Any) -> bool:
    return number(value) - number(value) == 0


def _worst(values: Mapping[str, Any]) -> tuple[str, float]:
    """The largest figure and whose it is; NaN counts as the largest."""
    return max(
        ((name, number(value)) for name, value in values.items() if value is not None),
        key=lambda pair: (pair[1] != pair[1], pair[1]),
        default=("", 0.0),
    )


def _status(good: bool) -> Status:
    return "passed" if good else "failed"


def _listing(names: Iterable[str], limit: int = 3) -> str:
    names = list(names)
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def _variables(mine: Facts, theirs: Facts) -> Check:
    name = "variables"
    own = {row["name"]: row for row in mine["variables"]}
    other = {row["name"]: row for row in theirs["variables"]}
    missing, extra = (
        sorted(set(rows) - set(others), key=lambda key: (not rows[key]["trainable"], key))
        for rows, others in ((own, other), (other, own))
    )
    for key, row in sorted(own.items(), key=lambda pair: (not pair[1]["trainable"], pair[0])):
        for part in ("shape", "dtype", "trainable"):
            if key in other and row[part] != other[key][part]:
                return Check(name, "failed", f"{key} has {part} {other[key][part]} instead of {row[part]}")
    if extra and not missing:
        return Check(
            name, "failed", "the towers do not share variables: the conversion also has " + _listing(extra)
        )
    if missing:
        lead = "variable names changed" if extra else "variables are missing"
        also = f"; instead it has {_listing(extra)}" if extra else ""
        return Check(name, "failed", f"{lead}: the conversion lacks {_listing(missing)}{also}")
    return Check(name, "passed", f"{len(own)} with the same names, shapes and types")


def _train_ops(mine: Facts, theirs: Facts, figures: list[Facts]) -> Check:
    name = "train op"
    if theirs["applies"] > mine["applies"]:
        return Check(
            name,
            "failed",
            f"a step applies gradients {theirs['applies']} times, the original's "
            f"{mine['applies']}: the optimizer's step is run more than once",
        )
    for number_of, step in enumerate(figures, 1):
        own, other = step["triggered"]
        if own != other:
            return Check(
                name,
                "failed",
                f"step {number_of} runs train op {other}, the original's {own} "
                "(in their order of creation)",
            )
    return Check(
        name,
        "passed",
        (
            f"applies gradients {mine['applies']} times a step"
            if mine["applies"] > 1
            else "applies gradients once a step"
        ),
    )


def _batch(figures: list[Facts], gpus: int, batch: BatchMode) -> Check:
    name = "batch"
    for number_of, step in enumerate(figures, 1):
        rows, own = step["rows"], step["own_rows"]
        if rows is None or own is None:
            return Check(name, "skipped", "no input with a batch axis was found")
        wanted = own if batch == "total" else own * gpus
        if rows != wanted:
            how = f"{own} as in the original" if batch == "total" else f"{gpus} x {own}"
            return Check(
                name, "failed", f"step {number_of} takes {rows} examples instead of {wanted} ({how})"
            )
    each = figures[0]["rows"]
    return Check(name, "passed", f"{each} examples a step, {figures[0]['own_rows']} in the original")


_AVERAGED = ("divided twice", "unweighted", "divided by all towers")


def _named(found: Facts, batch: BatchMode) -> str:
    """What the gradients are equal to, as a fault; the closest match, if any."""
    matches = found["matches"]
    if not matches:
        return ""
    if batch == "total" and found["kind"] == "sum" and any(match[0] in _AVERAGED for match in matches):
        return "the loss is a sum over examples: with --batch total the towers are to be added, not averaged"
    best = min(matches, key=lambda match: abs(number(match[1])) if match[0] != "weight decay" else 1.0)[0]
    if best in FAULTS:
        return FAULTS[best]
    if best.startswith("shard"):
        return f"only tower {best.split()[1]}'s shard is used"
    return str(best)


def _gradients(done: list[Facts], batch: BatchMode) -> Check:
    name = "gradients"
    for number_of, step in enumerate(done, 1):
        who, worst = _worst(step["gradients"])
        if not step["finite"]:
            return Check(name, "failed", f"step {number_of}: a gradient is not finite", worst, GRADIENT)
        if not worst <= GRADIENT:
            fault = _named(step, batch)
            return Check(
                name, "failed", f"{fault or 'they differ'} (step {number_of}, {who})", worst, GRADIENT
            )
    used = {step["reference"] for step in done}
    what = (
        "the original's on the whole batch"
        if used == {"whole"}
        else "the mean of the original's on the shards"
    )
    worst = max(_worst(step["gradients"])[1] for step in done)
    return Check(name, "passed", f"equal to {what}", worst, GRADIENT)


def _sparse(done: list[Facts]) -> Check:
    name = "sparse gradients"
    for step in done:
        for who, (theirs, _) in sorted(step["sparse"].items()):
            change = "dense gradient of {} became sparse" if theirs else "sparse gradient of {} became dense"
            return Check(name, "failed", "the " + change.format(who))
    return Check(name, "passed", "sparse where the original's are")


def _loss(done: list[Facts]) -> Check:
    compared = [step["loss"] for step in done if step["loss"]]
    if not compared:
        return Check("loss", "skipped", "no loss that both scripts have as a scalar")
    compared = [loss for loss in compared if math.isfinite(number(loss[1]))]
    if not compared:
        return Check("loss", "skipped", "the original's own loss is not finite: its training diverges")
    errors = [abs(number(a) - number(b)) / max(abs(number(b)), 1e-6) for a, b, _ in compared]
    worst = max(errors, key=lambda value: (value != value, value))
    if worst <= LOSS:
        return Check("loss", "passed", f"{number(compared[-1][0]):.6g} at the last step", worst, LOSS)
    theirs, own, how = next(loss for loss, error in zip(compared, errors, strict=True) if error is worst)
    if worst != worst:
        return Check("loss", "failed", f"{theirs} instead of {own}", worst, LOSS)
    if how == "towers":
        return Check(
            "loss", "skipped", "not fetched by the script, and the towers' losses carry other weights"
        )
    return Check("loss", "failed", f"{number(theirs):.6g} instead of {number(own):.6g}", worst, LOSS)


def _update(done: list[Facts], mine: Facts, theirs: Facts, gpus: int) -> Check:
    name = "update"
    trained = {row["name"] for row in mine["variables"] if row["trainable"]}
    for number_of, step in enumerate(done, 1):
        who, worst = _worst(step["update"])
        if worst <= UPDATE:
            continue
        for counter, (counted, own) in step["counted"].items():
            if counted != own:
                return Check(
                    name,
                    "failed",
                    f"{counter} is counted up by {counted} instead of {own} in one step",
                    worst,
                    UPDATE,
                )
        wrong = [key for key, value in step["update"].items() if not number(value) <= UPDATE]
        more = [key for key in wrong if _count(theirs, key) > _count(mine, key)]
        if more and not trained & set(more):
            return Check(
                name,
                "failed",
                f"the update ops of all towers run: {_listing(more)} advances "
                f"{_count(theirs, more[0])} times in one step",
                worst,
                UPDATE,
            )
        if more:
            return Check(
                name,
                "failed",
                f"the optimizer's step runs {_count(theirs, more[0])} times ({who})",
                worst,
                UPDATE,
            )
        return Check(
            name,
            "failed",
            f"from the same gradients {_listing(wrong)} comes to another value " f"(step {number_of})",
            worst,
            UPDATE,
        )
    worst = max(_worst(step["update"])[1] for step in done)
    return Check(name, "passed", "the same gradients lead to the same values of all variables", worst, UPDATE)


def _unless_meant(mine: Facts, rate: str, check: Check) -> Check:
    """A check of weights, skipped where other weights than the original's are no fault.

    So it is where the learning rate was to be scaled, and where updates that the original's own run
    leaves in no order give other weights each time: there the gradients of a step are compared before
    any of its updates; what these make of them is not.
    """
    trained = {row["name"] for row in mine["variables"] if row["trainable"]}
    racing = mine["applies"] > 1 or any(_count(mine, name) > 1 for name in trained)
    if check.status == "failed" and rate != "none":
        return Check(check.name, "skipped", f"the learning rate is another one on purpose (--scale-lr {rate})")
    if check.status != "failed" or not racing:
        return check
    return Check(check.name, "skipped", "several updates race in one run of the original; it differs from itself")


def _count(facts: Facts, variable: str) -> int:
    return int(facts["writes"].get(variable.split(":")[0], 0))


def _weights(trajectory: Mapping[str, Any], steps: int, spread: float | None) -> Check:
    who, worst = _worst(trajectory)
    left = sum(value is None for value in trajectory.values())
    without = f"; {left} whose gradients are only rounding are left out" if left else ""
    if worst <= WEIGHT:
        return Check("weights", "passed", f"the same after {steps} steps{without}", worst, WEIGHT)
    if spread is not None and spread >= worst / 10:
        why = f"the original itself ends {spread:.0e} away when only the last places of its weights change"
        return Check("weights", "skipped", f"{why}; gradients and update are compared step by step")
    return Check("weights", "failed", f"{who} has moved elsewhere after {steps} steps", worst, WEIGHT)


def _writes(mine: Facts, theirs: Facts) -> Check:
    name = "writes"
    for variable in sorted({*mine["writes"], *theirs["writes"]}):
        own, other = _count(mine, variable), _count(theirs, variable)
        if own != other:
            return Check(name, "failed", f"{variable} is written {other} times in one step instead of {own}")
    return Check(name, "passed", "each variable is written as often as in the original")


def _uneven(uneven: Mapping[str, Facts], gpus: int, batch: BatchMode) -> list[Check]:
    checks = []
    for size in sorted(uneven, key=int, reverse=True):
        found = uneven[size]
        few = int(size) < gpus
        name = "fewer examples than towers" if few else "uneven batch"
        lead = f"{size} examples on {gpus} towers"
        if "skipped" in found:
            checks.append(Check(name, "skipped", f"{lead}: {found['skipped']}"))
        elif "failed" in found:
            why = (
                "the conversion has a fixed batch size"
                if found["failed"] == "static shape"
                else found["failed"]
            )
            checks.append(Check(name, "failed", f"{lead}: {why}"))
        else:
            who, worst = _worst(found["gradients"])
            loss = found["loss"]
            if loss and _finite(loss[1]) and not _finite(loss[0]):
                checks.append(Check(name, "failed", f"{lead}: the loss is {loss[0]}, not finite"))
            elif not found["finite"]:
                checks.append(Check(name, "failed", f"{lead}: a gradient is not finite", worst, GRADIENT))
            elif worst <= GRADIENT:
                checks.append(Check(name, "passed", f"{lead}: the exact weighted gradients", worst, GRADIENT))
            else:
                fault = _named(found, batch) or f"the gradient of {who} differs"
                checks.append(Check(name, "failed", f"{lead}: {fault}", worst, GRADIENT))
    return checks


def _checkpoint(name: str, found: Facts) -> Check:
    if not found:
        return Check(name, "skipped", "the script ended too early")
    if "error" in found:
        return Check(name, "failed", f"cannot be restored: {found['error']}")
    if found["wrong"]:
        return Check(name, "failed", f"other values in {_listing(found['wrong'])}")
    return Check(name, "passed", f"{found['variables']} variables restored")


def _placement(devices: Mapping[str, list[int]] | None, gpus: int) -> Check:
    name = "placement"
    if devices is None:
        return Check(name, "skipped", "the script traces its own runs")
    busy = {device for device, (forward, backward) in devices.items() if forward and backward}
    if gpus == 1:
        busy = set(devices)
        return Check(name, _status(len(busy) == 1), f"computes on {_listing(sorted(busy)) or 'no device'}")
    wanted = {f"cpu:{gpu + 1}" for gpu in range(gpus)}
    idle = sorted(wanted - busy)
    if idle:
        on = _listing(sorted(busy)) or "none"
        if len(busy) == 1:
            return Check(name, "failed", f"all towers compute on one device ({on})")
        return Check(name, "failed", f"no tower computes on {_listing(idle)} (devices with work: {on})")
    return Check(name, "passed", f"forward and backward operations on {len(wanted)} devices")


# of these, every tower has its own for good reason
_PER_TOWER = ("cond_context", "while_context", "while_contexts")


def _collections(mine: Facts, theirs: Facts) -> Check:
    name = "collections"
    for key in sorted({*mine["collections"], *theirs["collections"]}):
        own, other = mine["collections"].get(key, 0), theirs["collections"].get(key, 0)
        if own != other and key not in _PER_TOWER and not key.startswith("_"):
            return Check(name, "failed", f"the collection {key!r} holds {other} entries instead of {own}")
    return Check(name, "passed", "as many entries as in the original")


def _rows(mine: Facts, done: list[Facts], trajectory: Mapping[str, Any]) -> tuple[VariableRow, ...]:
    rows = []
    for row in mine["variables"]:
        name = row["name"]
        gradients = [number(step["gradients"][name]) for step in done if name in step["gradients"]]
        updates = [number(step["update"][name]) for step in done if name in step.get("update", {})]
        weight = trajectory.get(name)
        shape = (
            "unknown" if row["shape"] is None else "x".join(str(size) for size in row["shape"]) or "scalar"
        )
        rows.append(
            VariableRow(
                name,
                shape,
                row["dtype"],
                row["trainable"],
                max(gradients) if gradients else None,
                max(updates) if updates else None,
                None if weight is None else number(weight),
            )
        )
    return tuple(rows)


def _notes(replayed: Facts, figures: list[Facts], steps: int, batch: BatchMode) -> tuple[str, ...]:
    notes = []
    if len(figures) < steps:
        notes.append(f"the scripts took only {len(figures)} of {steps} training steps")
    kinds = {step.get("kind") for step in figures}
    if "other" in kinds:
        notes.append("the loss is not a mean over examples: N towers differ from one GPU with the big batch")
    if "sum" in kinds and batch == "per-gpu":
        notes.append("the loss is a sum over examples: the towers' sums are averaged")
    if any(step.get("noise") for step in figures):
        names = sorted({name for step in figures for name in step.get("noise", ())})
        notes.append(f"gradients that are zero but for rounding: {_listing(names)}")
    for kind, count in sorted(replayed.get("not_held", {}).items()):
        notes.append(
            f"{count} {kind} operations inside functions (as in Dataset.map) could not be held still"
        )
    alone = sorted({name for step in figures for name in step.get("alone", ())})
    if alone:
        notes.append(f"inputs of the original that the conversion does not have: {_listing(alone)}")
    return tuple(notes)

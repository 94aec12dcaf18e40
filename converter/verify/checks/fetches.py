"""The check of what the scripts fetch: from the rows of child/tmgprobe/reference/merge.py to a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from converter.verify.checks.figures import listing
from converter.verify.data import CheckResult

TOLERANCE = 1e-4

Row = Mapping[str, Any]

_NAME = "fetches"
TURNED = "step 1, its examples in another order"
_READ = {
    "planned": "put together as the conversion plans it",
    "whole": "on the whole batch",
    "rows": "made of the shards' rows",
    "loss": "computed from the rows that the shards' losses are made of",
    "padded": "made of the shards' rows, with zeros behind those of a tower that has fewer time steps",
    "means": "with the mean of the shards' losses",
    "grown": "divided by the size of the batch, as in each tower",
    "repeated": "repeated for each tower (the batch is in their shape only)",
    "shown": "beside summaries that are only shown, and are the first tower's",
    "mean of shown": "beside summaries that are only shown, and are the mean of the towers'",
    "first tower": "computed from what the first tower writes",
    "one tower": "as summaries of one tower, which their tags name",
}
_FAULTS = {
    "divided": "the whole divided by the number of towers: a mean where there should be a sum",
    "multiplied": "the whole times the number of towers: a sum where there should be a mean",
    "order": "the same numbers in another order",
}


def check_fetches(
    steps: Iterable[Row],
    asides: Iterable[Row],
    rate: str,
    first: Mapping[str, Any] | None = None,
    epoch: Sequence[int] | None = None,
) -> list[CheckResult]:
    """No check where the scripts fetch nothing but operations.

    steps: the figures of the training steps; asides: those of runs without a train op; rate: how the
    learning rate follows the number of towers, which makes values differ on purpose. first: the figures of the first
    step, with other examples too. epoch: how many steps of the conversion, and of the original, an epoch has, if one
    has ended.
    """
    first = first or {}
    rows = [*_rows(steps, asides, first, epoch)]
    if not rows:
        return []
    for when, row in rows:
        if fault := _fault(row):
            if rate != "none":
                detail = f"the learning rate is another one on purpose (--scale-lr {rate})"
                return [CheckResult(_NAME, "skipped", detail)]
            error = float(row["error"]) if "error" in row else None
            return [CheckResult(_NAME, "failed", f"{fault} ({when})", error, TOLERANCE)]
    same = [row for _, row in rows if row["status"] == "same"]
    left = _left_out([row for _, row in rows])
    if first.get("turned") == {}:
        left = "; ".join(filter(None, (left, "compared with the examples in the script's own order only")))
    if not same:
        return [CheckResult(_NAME, "skipped", left)]
    worst = max(float(row["error"]) for row in same)
    return [CheckResult(_NAME, "passed", _read(same) + (f"; {left}" if left else ""), worst, TOLERANCE)]


def _rows(
    steps: Iterable[Row], asides: Iterable[Row], first: Mapping[str, Any], epoch: Sequence[int] | None
) -> Iterator[tuple[str, Row]]:
    """All figures, each with the run that it is of."""
    runs = [(f"step {number}", step.get("fetches", ())) for number, step in enumerate(steps, 1)]
    runs += [(_when(run["steps"]), [_of_epoch(row, run["steps"], epoch) for row in run["rows"]]) for run in asides]
    runs.append((TURNED, (first.get("turned") or {}).get("fetches", ())))
    uneven = first.get("uneven", {}).items()
    runs += [(f"step 1, with {size} of its examples", found.get("fetches", ())) for size, found in uneven]
    return ((when, row) for when, rows in runs for row in rows)


def _of_epoch(row: Row, steps: int | None, epoch: Sequence[int] | None) -> Row:
    """The figures of a value; of one without examples in it that only differs as another epoch begins there.

    A script may set a rate by the number of its epoch: after as many steps the conversion may be in a later one.
    """
    if not steps or not epoch or epoch[0] == epoch[1] or any(steps % length for length in epoch):
        return row
    return {**row, "status": "other epoch"} if row["status"] == "differs" and row.get("free") else row


def _when(steps: int | None) -> str:
    if steps is None:
        return "a run after the last step"
    return f"a run after step {steps}" if steps else "a run before the first step"


def _fault(row: Row) -> str | None:
    """What is wrong with one value, if anything."""
    name, status = row["name"], row["status"]
    if status == "lost":
        return f"{name} has a value in the original, and none in the conversion"
    if status == "twice":
        return f"the summary {row['part']!r} is written twice"
    if status == "other tags":
        lacks, has = row["missing"], row["added"]
        words = [f"{lead} {', '.join(tags[:3])}" for lead, tags in (("lack", lacks), ("also have", has)) if tags]
        return f"the summaries {' and '.join(words)}"
    if status == "draws":
        return f"{name} draws random numbers where the original draws none, as dropout does that stays on"
    if status != "differs":
        return None
    what = f"the summary {row['part']!r}" if row["part"] else name
    fault = row["fault"] or ""
    if fault.startswith("tower"):
        fault = f"the value of {fault} only"
    if fault == "another way":
        own, others = (_READ.get(how, how) for how in row["how"])
        fault = f"in its other runs it is the original's {own}, in this one {others}"
    fault = _FAULTS.get(fault, fault)
    return f"{what} {row['words']}" + (f": {fault}" if fault else "")


def _read(same: list[Row]) -> str:
    """How many values were compared, and which reading of the original's they equal; a summary may equal two."""
    used = [how for row in same for how in row["how"]]
    each = [f"{used.count(how)} {words}" for how, words in _READ.items() if how in used]
    free = sorted({row["name"] for row in same if not row.get("claimed", True)})
    more = {
        "the number behind the tag of {} is another": _tags(same, "renamed"),
        "not compared, as the original takes no tower's share: {}": _tags(same, "left"),
        "not compared, as threads fill queues at their own pace: {}": _tags(same, "waiting"),
        "no plan says how {} are put together, so that any of these ways counts": listing(free),
    }
    values = "1 value" if len(same) == 1 else f"{len(same)} values"
    told = [f"{values} equal to the original's: {', '.join(each)}"]
    return "; ".join(told + [words.format(which) for words, which in more.items() if which])


def _tags(same: list[Row], kind: str) -> str:
    return ", ".join(sorted({tag for row in same for tag in row.get(kind, ())})[:3])


def _left_out(rows: list[Row]) -> str:
    """The values that were not compared, and why."""
    reasons = {
        "unsteady": "change in the original too if only the last digits of its weights change",
        "not apart": "are computed after the update, or only with it",
        "not taken": "the original does not have on the recorded batch",
        "own batch": "are the batch itself, which has another size in each script",
        "shown": "are only shown: the first tower's, or the mean of the towers'",
        "waiting": "count what waits in a queue, which threads fill at their own pace",
        "another": "are of a run behind the last step where the conversion makes another one",
        "other fetches": "runs fetch another number of values",
        "other epoch": "are set where an epoch begins, which has another number in each script after as many steps",
    }
    found = [(sum(row["status"] == status for row in rows), why) for status, why in reasons.items()]
    form = sorted({row["name"] for row in rows if row["status"] == "form"})
    only = [f"compared by their form only, as the original takes no batch as large: {listing(form)}"] if form else []
    return "; ".join([*(f"{count} {why}" for count, why in found if count), *only])

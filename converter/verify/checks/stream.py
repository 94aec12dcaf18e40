"""The check of the data that the conversion is fed, made from the figures of child/tmgprobe/reference/stream.py."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from converter.verify.checks.figures import listing, number
from converter.verify.data import CheckResult

Row = Mapping[str, Any]

STREAMS = "TMG344"  # the warning of a conversion whose data is cut into as many rows as a batch has
ASIDE = "TMG395"  # and of one that sets aside as many rows as a batch has
WHOLE = "TMG345"  # of one that evaluates, or trains, on whole batches only, which are larger now
BUFFER = "TMG348"  # of one that draws batches from what it collects, and waits for the rows of a larger one
DRAWS = frozenset(("TMG347", BUFFER))  # of one that draws other random numbers for larger batches
COLLECTED = frozenset(("TMG311", BUFFER))  # of one whose examples come from what the model does
OWN_FILES = "--shard files"  # stands among the codes for a cluster whose workers read files of their own
_NAME = "data"
_FAULTS = {
    "twice": "each tower is fed the same examples",
    "reversed": "the original's examples come in reverse",
    "order": "the original's examples come in another order",
    "others": "none of the original's examples are fed",
    "state": "what a run gave to the script is not fed to the next step, as it is in the original",
    "size": "a step does not take as many rows as so many steps of the original",
    "": "other examples than the original's are fed",
}

_OF_EVALUATIONS = {
    "training": "a run without a train op is fed the training batch, the original's is not",
    "smaller": "runs without a train op are each fed fewer examples than the original's",
    "part": "a run without a train op is fed {counts}",
    "order": "the examples come in another order",
    "parted": "{rows} examples get what belongs to others of them",
}
_LEFT_OPEN = {
    "drawn": "drawn at random by the original",
    "shared": "each script's runs take what comes next of the data that its steps read",
}


def check_data(found: Mapping[str, Any], towers: int, said: Collection[str] = ()) -> list[CheckResult]:
    """Training steps, and runs without a train op, take the data that the original feeds.

    found: `fed`, `evaluated`, and `ended`, whether the end of an epoch of the original was among them. towers: how
    many of the original's batches make one of the conversion's. said: codes of the warnings with which the
    script was converted: two of them tell that the examples of a step are others.
    """
    status = "drawn otherwise" if not DRAWS.isdisjoint(said) else ""
    status = "cut" if STREAMS in said else "set aside" if ASIDE in said else status
    status = "own files" if OWN_FILES in said else status
    # examples may be others, as the batch size cuts the data, or draws it
    anew = ("", "order", "others") if status else ()
    open_ = [row["status"] == "differs" and row["fault"] in anew for row in found["fed"]]
    rows = [{**row, "status": status} if other else row for row, other in zip(found["fed"], open_, strict=True)]
    for row in rows:
        if row["status"] == "differs":
            return [CheckResult(_NAME, "failed", _fault(row))]
    checks = [*_same(rows, towers, found["ended"]), *_unknown(rows)]
    return [
        *(checks or [CheckResult(_NAME, "skipped", "nothing is fed, and no data set is read")]),
        *_evaluated(found, said),
    ]


def _evaluated(found: Mapping[str, Any], said: Collection[str]) -> list[CheckResult]:
    """Runs without a train op that are fed examples, as evaluations are."""
    name, every = "data of evaluations", [(run, _meant(run, said)) for run in found["evaluated"]]
    runs = [run for run, why in every if not why]
    for run in runs:
        if run["status"] == "differs":
            return [CheckResult(name, "failed", f"{_evaluation_fault(run)} ({listing(run['inputs'])})")]
    by_status = {status: [run for run in runs if run["status"] == status] for status in ("same", "drawn", "shared")}
    same = len(by_status["same"])
    right = "what the original's runs are fed" if same == 1 else f"{same} kinds of runs are fed what the original's are"
    left = [
        ("; ".join(listing(run["inputs"]) for run in by_status[status]), why) for status, why in _LEFT_OPEN.items()
    ] + [(listing(run["inputs"]), why) for run, why in every if why]
    checks = [CheckResult(name, "passed", right)] if same else []
    checks += [CheckResult(name, "skipped", f"{inputs}: {why}") for inputs, why in left if inputs]
    if not every:
        detail = "no run without a train op was fed examples in the compared steps (--steps all goes on to the end)"
        checks.append(CheckResult(name, "skipped", detail))
    return checks


def _evaluation_fault(run: Row) -> str:
    """What is wrong with the examples of a run without a train op."""
    if run["fault"] == "setting":
        return f"{run['input']} is fed {run['value'] or 'nothing'} instead of {run['own'] or 'nothing'}"
    counts = f"{run['rows']} of the original's {run['own_rows']} examples"
    if run["rows"] >= run["own_rows"]:
        counts = "some of the original's examples again and again, and others never"
    words = _OF_EVALUATIONS.get(run["fault"], _FAULTS[""])
    return words.format(counts=counts, rows=run["rows"])


def _meant(run: Row, said: Collection[str]) -> str:
    """Why an evaluation takes other examples by design, as the conversion has warned; empty if it should not."""
    if run["status"] != "differs":
        return ""
    if STREAMS in said and run["fault"] in ("part", "order", "others"):
        return f"other examples, as the batch size cuts the data into rows ({STREAMS})"
    if WHOLE in said and run["fault"] == "part":
        counts = f"{run['rows']} of the original's {run['own_rows']} examples"
        return f"{counts}, as only whole batches are taken, which are larger ({WHOLE})"
    return ""


def _fault(row: Row) -> str:
    if row["fault"] != "setting":
        return f"{_FAULTS[row['fault']]} ({row['input']}, step {row['step']})"
    value, own = (
        ", ".join(f"{number(one):.6g}" for one in given) if isinstance(given, list) else "other numbers"
        for given in (row["value"], row["own"])
    )
    return f"{row['input']} is fed {value} instead of {own} (step {row['step']})"


def _same(rows: list[Row], towers: int, ended: bool) -> list[CheckResult]:
    same = [row for row in rows if row["status"] in ("same", "in turn")]
    settings = sum(row["status"] == "setting" for row in rows)
    if not same and not settings:
        return []
    count = max((row["rows"] for row in same), default=0)
    what = f"{count} examples are the original's, in order" if same else ""
    if same and towers > 1:
        what += f": {towers} of its batches in each"
    if any(row["status"] == "in turn" for row in same):
        what += "; the train ops take turns at them, so that each gets others than in the original"
    if settings:
        what += ("; " if what else "") + f"{settings} other input{'s' if settings > 1 else ''} as in the original"
    left_out = max((row["left_out"] for row in same), default=0)
    if left_out:
        what += f"; {left_out} at an epoch's end are left out, fewer than a batch"
    checks = [CheckResult(_NAME, "passed", what)]
    if same and not ended:
        what = "it was not reached in the compared steps (--epochs 1 goes on to it)"
        checks.append(CheckResult("an epoch's end", "skipped", what))
    return checks


def _unknown(rows: list[Row]) -> list[CheckResult]:
    whys = {
        "drawn": "drawn at random by the original, and in another order (--epochs 1 compares an epoch's examples)",
        "grouped": "put together by length, so that larger batches come in another order"
        " (--epochs 1 compares an epoch's examples)",
        "shared": "the original's examples in each step; which of several reads of one iterator takes which is open",
        "values": "other numbers, as a state goes from step to step, or they are computed from each batch",
        "cut": f"other examples, as the batch size cuts the data into rows ({STREAMS})",
        "set aside": f"other examples, as many as a batch has are set aside ({ASIDE})",
        "drawn otherwise": f"other examples, as larger batches are drawn otherwise ({', '.join(sorted(DRAWS))}; "
        "--epochs 1 compares an epoch's examples)",
        "own files": f"other examples, as each worker reads its own part of the files ({OWN_FILES})",
        "absent": "sparse, or not fed by both",
    }
    found = [(why, [row["input"] for row in rows if row["status"] == status]) for status, why in whys.items()]
    return [CheckResult(_NAME, "skipped", f"{listing(names)}: {why}") for why, names in found if names]

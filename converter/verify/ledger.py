"""Sums up a verification: what is the same, what differs by design and by how much, what was not checked.

Pure, like the judge: every line is computed from the checks, the figures of the run and the header of the
conversion, and appears only where it applies.
"""

from __future__ import annotations

from collections.abc import Iterator

from converter.verify.checks.figures import Facts, listing, number
from converter.verify.checks.stream import ASIDE, DRAWS, STREAMS
from converter.verify.checks.training import UPDATE, goes_another_way
from converter.verify.data import ALL_STEPS, CheckResult, ConversionOrigin, Fate, LedgerLine, Report

BESIDE = ("savers", "summaries", "printed values")
# checks that belong together in the ledger
TOPICS = (
    ("gradients", ("gradients", "sparse gradients", "changed gradients")),
    ("any size of batch", ("uneven batch", "fewer examples than towers")),
    ("loss", ("loss",)),
    ("update", ("update", "train op", "writes", "between the steps")),
    ("weights", ("weights",)),
    ("names", ("variables", "collections")),
    ("initial values", ("initial values",)),
    ("data", ("data", "data of evaluations", "seeds", "draws of the towers")),
    ("savers, summaries, prints", BESIDE),
    (
        "checkpoints",
        ("checkpoint of the conversion, read by the original", "checkpoint of the original, read by the conversion"),
    ),
    ("placement", ("placement",)),
    ("lines of the towers", ("traced lines",)),
    ("session config", ("session config",)),
    (
        "whole runs",
        ("whole run", "data, whole run", "examples, whole run", "learning rate, whole run", "resets, whole run"),
    ),
    (
        "evaluations of whole runs",
        ("data of evaluations, whole run", "evaluations, whole run", "after training, whole run"),
    ),
    ("what whole runs save, write and print", tuple(f"{name}, whole run" for name in BESIDE)),
)
NUMBERS = "other numbers of towers"
# warnings of a conversion that say how it differs; the others leave something to decide
DIFFERENCES = ("TMG301", "TMG302", "TMG322", STREAMS, ASIDE, *sorted(DRAWS))

# figures of a step that tell of schedules, and what they give
RATES = {"rates": "learning rate", "model_rates": "schedule in the model"}


def ledger(report: Report, mine: Facts, theirs: Facts, replayed: Facts, rate: str) -> tuple[LedgerLine, ...]:
    """The ledger of one run.

    mine, theirs, replayed: the events that the judge takes; rate: what the header says of the learning rate.
    """
    steps = [step for step in replayed["steps"] if step["order"] and not step.get("empty")]
    lines = [*_same(report.checks), *_step(steps), *_schedule(report, mine), *_rate(rate, steps, report.gpus)]
    lines += [*_slices(report, theirs), *_loss(steps, mine), *_moving(report, steps, mine), *_randomness(mine, theirs)]
    open_ = [*_constants(report, steps, mine), *_unchecked(report, replayed, steps)]
    return (*lines, *of_checks(report.checks), *open_)


def of_checks(checks: tuple[CheckResult, ...]) -> Iterator[LedgerLine]:
    """The checks that have failed, and those that were skipped."""
    for check in checks:
        if check.status == "failed":
            yield LedgerLine("wrong", check.name, check.detail, check.figure, check.tolerance)
    yield from (LedgerLine("unchecked", check.name, check.detail) for check in checks if check.status == "skipped")


def _same(checks: tuple[CheckResult, ...]) -> Iterator[LedgerLine]:
    """The topics of which some check has passed, with the worst error in it.

    Where another check of the topic has failed, those that passed stand under their own names.
    """
    failed = {check.name for check in checks if check.status == "failed"}
    for topic, names in TOPICS:
        if not failed.isdisjoint(names):
            yield from (c.entry() for c in checks if c.name in names and c.status == "passed" and c.name not in failed)
            continue
        passed = [check for check in checks if check.name in names and check.status == "passed"]
        figures = [(check.figure, check.tolerance) for check in passed if check.figure is not None]
        figure, tolerance = max(figures, default=(None, None))
        if passed:
            yield LedgerLine("same", topic, "; ".join(dict.fromkeys(c.detail for c in passed)), figure, tolerance)


def _slices(report: Report, theirs: Facts) -> Iterator[LedgerLine]:
    """Variables that the graph holds in slices, where the original has them whole."""
    cut = [check.detail for check in report.checks if check.name == "slices" and check.status == "passed"]
    for detail in cut:
        first = min(theirs["slices"], default="")
        held = f"{detail}; the graph holds {first} and on, checkpoints the whole"
        yield LedgerLine("differs", "variables in slices", held)


def _step(steps: list[Facts]) -> Iterator[LedgerLine]:
    counted = [(step["rows"], step["own_rows"]) for step in steps if step["rows"] and step["own_rows"]]
    rows, own = (max(sizes) for sizes in zip(*counted, strict=True)) if counted else (0, 0)
    if rows != own:
        detail = f"takes {rows} examples, the original's {own}: an epoch has {own / rows:.3g} of the steps"
        yield LedgerLine("differs", "one step", detail, rows / own)


def _schedule(report: Report, mine: Facts) -> Iterator[LedgerLine]:
    if mine.get("schedules") and report.batch == "per-gpu" and report.gpus > 1:
        counters = listing(mine["schedules"])
        detail = f"the update depends on {counters}, a count of steps that stand for {report.gpus} each"
        yield LedgerLine("differs", "schedule", detail, float(report.gpus))


def _constants(report: Report, steps: list[Facts], mine: Facts) -> Iterator[LedgerLine]:
    """A schedule whose constants are the original's: they may count batches all the same.

    Where others were found, their rates lie between the original's after as many steps and after as many examples.
    """
    tried = [found for step in steps for found in step.get("constants", ())]
    others = [pair for found in tried if not found["count"] for pair in found["others"]]
    followed = any(rates is not None and rates["meant"] for step in steps for rates in map(step.get, RATES))
    apart = [found for found in tried if found["model"] and found["count"]]
    detail = ""
    if apart:
        detail = f"from other constants a value of a schedule in the model is {goes_another_way(apart[0])}"
    elif others:
        (theirs, own), *_ = others
        given, wanted = (listing(f"{number(one):.6g}" for one in each) for each in (theirs, own))
        detail = f"{given} instead of {wanted}, which is neither the same nor follows the batch"
    elif any(found["otherwise"] for found in tried):
        detail = "the rate is computed otherwise than in the original, and is the same in the compared steps"
    elif mine.get("schedules") and report.batch == "per-gpu" and report.gpus > 1 and not followed and not tried:
        detail = "they are the original's; one that counts batches (decay_steps of an epoch) must follow the batch"
    if detail:
        detail += " (--epochs 1, or --steps all, compares the rates at the end)"
        yield LedgerLine("unchecked", "schedule constants", detail)


def _rate(rate: str, steps: list[Facts], gpus: int) -> Iterator[LedgerLine]:
    for key, what in RATES.items():
        met = ((number_of, step[key]) for number_of, step in enumerate(steps, 1) if step.get(key) is not None)
        number_of, rates = next(((number_of, rates) for number_of, rates in met if rates["meant"]), (0, None))
        if rates is not None:
            theirs, own, later = (number(rates[one]) for one in ("theirs", "own", "later"))
            detail = (
                f"its schedule counts batches, {gpus} of which are one step: in step {number_of} the rate is "
                f"{theirs:.6g}, the original's {own:.6g}, and {later:.6g} after as many examples"
            )
            yield LedgerLine("differs", what, detail, theirs / own if own else None)
    paces = [number(step["pace"]) for step in steps if step.get("pace") is not None]
    if rate != "none" and paces:
        detail = f"--scale-lr {rate}: from the same gradients an update goes {paces[0]:.3g} times as far"
        yield LedgerLine("differs", "learning rate", detail, paces[0])


def _loss(steps: list[Facts], mine: Facts) -> Iterator[LedgerLine]:
    """A loss whose gradient on the whole batch differs from the mean of its gradients on the shards."""
    apart = max((number(step["apart"]) for step in steps if step.get("apart") is not None), default=None)
    kinds = {step.get("kind") for step in steps}
    used = {step["reference"] for step in steps}
    if apart is None or used <= {"whole", "once"}:
        return
    if kinds & {"other", "coupled sum"}:
        followed = _followed(steps, mine)
        no_mean = "it is not a mean over the examples"
        why = "each tower takes the statistics of its own examples" if followed else no_mean
    elif "sum" in kinds:
        why = "it is a sum over examples, and the towers' are averaged"
    else:
        return
    detail = f"{why}: the gradient on the whole batch is {_size(apart)} of its size away"
    yield LedgerLine("differs", "loss", detail, apart)


def _followed(steps: list[Facts], mine: Facts) -> dict[str, float]:
    """Untrained variables that follow the first tower, and by how much the whole batch would change them."""
    trained = {row["name"] for row in mine["variables"] if row["trainable"]}
    slots = {name.split(":")[0] for name in trained}
    found: dict[str, float] = {}
    for step in steps:
        for name, (first, whole) in step.get("by_feed", {}).items():
            own = any(name.startswith(slot + "/") for slot in slots)
            if name not in trained and not own and number(first) <= UPDATE < number(whole):
                found[name] = max(found.get(name, 0.0), number(whole))
    return found


def _moving(report: Report, steps: list[Facts], mine: Facts) -> Iterator[LedgerLine]:
    followed = _followed(steps, mine)
    if followed and report.gpus > 1:
        worst = max(followed.values())
        detail = (
            f"{listing(followed)} follow the first tower's examples: with those of all towers they would be "
            f"{_size(worst)} of an update's size away"
        )
        yield LedgerLine("differs", "moving averages", detail, worst)


def _size(share: float) -> str:
    return f"{share:.1e}" if share < 0.01 else f"{share:.0%}"


def _randomness(mine: Facts, theirs: Facts) -> Iterator[LedgerLine]:
    own, other = mine.get("drawn", {}), theirs.get("drawn", {})
    for kind in sorted({*own, *other}):
        count, towers = own.get(kind, 0), other.get(kind, 0)
        detail = f"{towers} operations of a step draw numbers, {count} in the original; held still here in both"
        yield LedgerLine("differs", kind, detail, float(towers))
    again = {tuple(seeds): count for *seeds, count in mine.get("seeded", ())}
    for *seeds, towers in theirs.get("seeded", ()):
        if towers > again.get(tuple(seeds), towers):
            detail = f"{towers} {seeds[0]} have the original's seed ({seeds[2]}): the towers draw the same numbers"
            yield LedgerLine("differs", "equal draws", detail, float(towers))


def of_later_steps(compared: int, recorded: Facts, replayed: Facts, asked: int) -> Iterator[LedgerLine]:
    """The steps behind the compared ones; if there are none, all steps are the same.

    compared, asked: how many steps were compared, and were to be; recorded, replayed: the last events of both scripts.
    """
    if unrun := recorded["unrun"]:
        detail = f"{listing(unrun)} never ran in the compared steps (--steps N, or all)"
        yield LedgerLine("unchecked", "train ops", detail, float(len(unrun)))
    cut, taken, figure = recorded["cut"], recorded["steps"], float(compared)
    cut = replayed["other"] or ("time" if replayed["late"] else "differ" if compared < taken else cut)
    if not cut and asked >= ALL_STEPS:
        yield LedgerLine("same", "all steps", f"the run with these arguments takes {compared}, and each was compared")
    elif asked < ALL_STEPS:
        of = f" of the {asked} asked for" if compared < asked else ""
        yield LedgerLine(
            "unchecked", "later steps", f"the first {compared}{of} were compared (--steps N, or all)", figure
        )
    else:
        why = {
            "time": ": the time for them was up (--timeout)",
            "memory": ": so many fill the memory that is kept for them",
            "asked": f": more than {ALL_STEPS} are not compared",
            "differ": f" of {taken}",
            "turn": ": where an epoch begins the train ops take turns anew, after fewer steps than in the original",
            "model": ": a model in another graph is trained next, at another step in each script",
        }[cut]
        ended = any(run["steps"] is None for run in replayed.get("asides", ()))
        runs = "; of later runs without a train op " + ("only those after the last step" if ended else "none")
        yield LedgerLine("unchecked", "later steps", f"the first {compared} were compared{why}{runs}", figure)


def _unchecked(report: Report, replayed: Facts, steps: list[Facts]) -> Iterator[LedgerLine]:
    left = [row.name for row in report.variables if row.trainable and row.gradient is not None and row.weight is None]
    if left and any(check.name == "weights" for check in report.checks):
        detail = f"left out where gradients are only rounding: {listing(left)}"
        yield LedgerLine("unchecked", "weights", detail, float(len(left)))
    uneven = replayed.get("first", {}).get("uneven", {})
    kinds = len({repr(step.get("triggered")) for step in steps})
    if uneven and kinds > 1:
        detail = f"tried with the train ops of the first step alone, of {kinds} kinds of steps"
        yield LedgerLine("unchecked", "uneven batch", detail, float(kinds - 1))
    yield from _unsteady([*steps, *uneven.values()])
    for kind, count in sorted(replayed.get("not_held", {}).items()):
        detail = f"{count} {kind} operations inside functions (as in Dataset.map) could not be held still"
        yield LedgerLine("unchecked", "randomness", detail, float(count))
    alone = sorted({name for step in steps for name in step.get("alone", ())})
    if alone:
        yield LedgerLine("unchecked", "inputs", f"the conversion does not have {listing(alone)}")
    if report.devices:
        if all(row.device.startswith("cpu") for row in report.devices):
            names = listing([row.device for row in report.devices], len(report.devices))
            unrun = f"the towers ran on {names}; kernels, memory and links of GPUs did not run"
            yield LedgerLine("unchecked", "GPUs", unrun)
        others = f"{report.gpus} towers were run: what holds for another number shows with --gpus"
        yield LedgerLine("unchecked", NUMBERS, others)


def _unsteady(compared: list[Facts]) -> Iterator[LedgerLine]:
    """Gradients that rounding moves more than the tolerance, where they differ by no more than that."""
    found: dict[str, float] = {}
    for figures in compared:
        for name, error in figures.get("unsteady", {}).items():
            found[name] = max(found.get(name, 0.0), number(error))
    if found:
        worst = max(found.values())
        detail = (
            f"{listing(found)} compared to {worst:.0e} only: rounding alone moves the original's own by a tenth of "
            "that or more, as large numbers nearly cancel there"
        )
        yield LedgerLine("unchecked", "precision of gradients", detail, worst)


def of_origin(origin: ConversionOrigin) -> Iterator[LedgerLine]:
    """The warnings of the conversion, and what its header does not tell about how it was made."""
    for finding in origin.findings:
        if finding.severity == "warning":
            fate: Fate = "differs" if finding.code in DIFFERENCES else "unchecked"
            yield LedgerLine(fate, finding.code, f"{finding.where}: {finding.message}")
    if origin.header is None:
        yield LedgerLine("unchecked", "header", "the converted script has no header that says how it was made")
    elif not origin.same_source:
        yield LedgerLine("unchecked", "header", "the converted script was made from another text than this original")
    elif not origin.rewritten:
        detail = "the converted script is not what this version writes: edited since, or written by another one"
        yield LedgerLine("unchecked", "header", detail)


def of_outside(original: Facts, converted: Facts) -> Iterator[LedgerLine]:
    """What the scripts did outside of their copied folders, where nothing is compared."""
    sides = [(name, event.get("outside", {})) for name, event in (("original", original), ("conversion", converted))]
    written = [
        f"the {name} writes {listing(found['paths'], 6)}" + (f" and {found['more']} more" if found["more"] else "")
        for name, found in sides
        if found.get("paths")
    ]
    if written:
        detail = f"{'; '.join(written)}: not copies, and not compared"
        yield LedgerLine("unchecked", "files outside of the scripts' folders", detail)
    forks = [(name, found["forks"]) for name, found in sides if found.get("forks")]
    if forks:
        counts = ", ".join(f"the {name} {count}" for name, count in forks)
        yield LedgerLine("unchecked", "processes", f"forked by {counts}: what they compute is not seen")

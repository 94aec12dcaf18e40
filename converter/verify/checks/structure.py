"""The checks of what the scripts build: variables, train ops, batches, checkpoints, devices, collections."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from converter.verify.checks.figures import Facts, listing, writes_of
from converter.verify.data import BatchMode, CheckResult

TOWER = re.compile(r"^tower_0/")
SHUFFLED = "TMG347"  # the warning of a conversion that puts whole batches into a random order
SEARCH = "TMG379"  # and of one that leaves a step on one GPU, which trains variables of its own

# collections of which every tower has its own entries for good reason
_PER_TOWER = ("cond_context", "while_context", "while_contexts")


def check_variables(mine: Facts, theirs: Facts) -> CheckResult:
    """The same names, shapes and types of variables in both."""
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
                return CheckResult(name, "failed", f"{key} has {part} {other[key][part]} instead of {row[part]}")
    if extra and not missing:
        copied = any(_is_copy(other[key], own) for key in extra)
        lead = "the towers do not share variables: the conversion also has " if copied else "the original lacks "
        return CheckResult(name, "failed", lead + listing(extra))
    if missing:
        lead = "variable names changed" if extra else "variables are missing"
        also = f"; instead it has {listing(extra)}" if extra else ""
        return CheckResult(name, "failed", f"{lead}: the conversion lacks {listing(missing)}{also}")
    return CheckResult(name, "passed", f"{len(own)} with the same names, shapes and types")


def _is_copy(row: Facts, own: Mapping[str, Facts]) -> bool:
    """True if the original has a variable like it: `dense/kernel` for `dense_1/kernel` or `tower_1/dense/kernel`."""
    kind = [row[part] for part in ("shape", "dtype", "trainable")]
    alike = (other for other in own.values() if [other[part] for part in ("shape", "dtype", "trainable")] == kind)
    return any(_last_part(other["name"]) == _last_part(row["name"]) for other in alike)


def _last_part(name: str) -> str:
    """`kernel` of `dense/kernel_1:0`."""
    return re.sub(r"(_\d+)?(:\d+)?$", "", name.rpartition("/")[2])


def own_counters(mine: Facts, theirs: Facts) -> list[str]:
    """The variables in which the conversion alone counts its steps: towers written by hand often add a global_step."""
    known = {row["name"] for row in mine["variables"]}
    return sorted(set(theirs.get("counters", ())) - known)


def without_counters(theirs: Facts, counters: Collection[str]) -> Facts:
    """The facts of the conversion as they would be without some variables that count steps."""
    if not counters:
        return theirs
    held = [key for name in counters for key in theirs["counters"][name]]
    written = {name.partition(":")[0] for name in counters}
    collections = {key: number - held.count(key) for key, number in theirs["collections"].items()}
    return {
        **theirs,
        "variables": [row for row in theirs["variables"] if row["name"] not in counters],
        "writes": {name: times for name, times in theirs["writes"].items() if name not in written},
        "collections": {key: number for key, number in collections.items() if number or key not in held},
    }


def check_train_ops(mine: Facts, theirs: Facts, figures: list[Facts]) -> CheckResult:
    """The same train ops run, and each once, in every step."""
    name, own, other = "train op", mine["applies"], theirs["applies"]
    if other > own:
        detail = f"a step applies gradients {other} times, the original's {own}: the optimizer's step is run more than"
        return CheckResult(name, "failed", f"{detail} once")
    for number_of, step in enumerate(figures, 1):
        ran, wanted = step["triggered"][1], step["triggered"][0]
        if ran != wanted:
            detail = f"step {number_of} runs train op {ran}, the original's {wanted} (in their order of creation)"
            return CheckResult(name, "failed", detail)
    return CheckResult(name, "passed", f"applies gradients {f'{own} times' if own > 1 else 'once'} a step")


def check_batch(figures: list[Facts], gpus: int, batch: BatchMode, said: Collection[str] = ()) -> CheckResult:
    """The first step takes the whole global batch; later ones may end an epoch, but not two in a row.

    Steps that run other train ops are counted apart: of a GAN both kinds end an epoch, one after the other.
    A step that nothing is fed draws its batch: the random numbers are counted.

    said: codes of the warnings with which the script was converted: one of them tells that batches are put into
    a random order, so that the one which ends the data may come in any step; another that a step is no tower's.
    """
    name, counted, drawn = "batch", dict[str, None](), ""
    kinds: dict[str, list[tuple[int, Facts]]] = {}  # the steps, each with its number, by the train ops that they run
    for number_of, step in enumerate(figures, 1):
        kinds.setdefault(repr(step.get("triggered")), []).append((number_of, step))
    searches = [numbered for numbered in kinds.values() if SEARCH in said and _stay_as_they_are(numbered)]
    beside = searches if len(searches) < len(kinds) else []  # train ops whose batches grow
    for numbered in (numbered for numbered in kinds.values() if numbered not in beside):
        ordered = _largest_first(numbered) if SHUFFLED in said and batch == "per-gpu" else numbered
        fed = [each for each in ordered if None not in (each[1]["rows"], each[1]["own_rows"])]
        for number_of, step in (each for each in ordered if each not in fed):
            numbers, theirs = step.get("drawn", (None, None))
            if numbers is None or theirs is None:
                return CheckResult(name, "skipped", "no input with a batch axis was found")
            wanted = numbers if batch == "total" else numbers * gpus
            if theirs != wanted:
                detail = f"step {number_of} draws {theirs} random numbers instead of {wanted}"
                return CheckResult(name, "failed", detail)
            drawn = f"{theirs} random numbers drawn in a step without inputs, {numbers} in the original"
        if fault := _of_another_size(fed, gpus, batch, SHUFFLED in said):
            return CheckResult(name, "failed", fault)
        for _, step in fed[:1]:
            counted[f"{step['rows']} examples a step, {step['own_rows']} in the original"] = None
    return CheckResult(name, "passed", "; ".join([*counted, *([drawn] if drawn else [])]))


def _of_another_size(numbered: list[tuple[int, Facts]], gpus: int, batch: BatchMode, shuffled: bool) -> str:
    """Which step of one kind takes another number of examples than it should; "" if none does."""
    ended, full = True, numbered[0][1]["own_rows"] * gpus if numbered else 0
    for number_of, step in numbered:
        rows, own = step["rows"], step["own_rows"]
        wanted = own if batch == "total" else full
        ends = rows < wanted and not ended and batch == "per-gpu"
        ended = ends and not shuffled
        if rows != wanted and not ends:
            how = f"{own} as in the original" if batch == "total" else f"{gpus} x {full // gpus}"
            return f"step {number_of} takes {rows} examples instead of {wanted} ({how})"
    return ""


def _stay_as_they_are(numbered: list[tuple[int, Facts]]) -> bool:
    """Whether steps take as many examples as the original's."""
    return all(step["rows"] is not None and step["rows"] == step["own_rows"] for _, step in numbered)


def _largest_first(figures: list[tuple[int, Facts]]) -> list[tuple[int, Facts]]:
    """The steps with the largest batches of both scripts first, as if no batch that ends the data had come before."""
    counted = [(number_of, step) for number_of, step in figures if None not in (step["rows"], step["own_rows"])]
    own = max((step["own_rows"] for _, step in counted), default=0)
    ordered = sorted(counted, key=lambda each: -each[1]["rows"])
    others = [each for each in figures if each not in counted]
    return [*((number_of, {**step, "own_rows": own}) for number_of, step in ordered), *others]


def check_writes(mine: Facts, theirs: Facts) -> CheckResult:
    """No variable is written more or less often in a step."""
    name = "writes"
    for variable in sorted({*mine["writes"], *theirs["writes"]}):
        own, other = writes_of(mine, variable), writes_of(theirs, variable)
        if own != other:
            return CheckResult(name, "failed", f"{variable} is written {other} times in one step instead of {own}")
    return CheckResult(name, "passed", "each variable is written as often as in the original")


def check_between(
    figures: list[Facts], changed: Mapping[str, Sequence[int]] | None = None, epoch: Sequence[int] | None = None
) -> CheckResult:
    """Between two steps the same variables change: none is initialised anew, or restored, on one side.

    changed: what the original changes between its steps, each with how many steps came before; None if nothing is
    known of that. epoch: how many steps of the conversion, and of the original, an epoch has, if one has ended.
    Other variables than the trained ones, such as a counter, an optimizer's slots or a rate that is set where an
    epoch begins, may change between other steps than in the original: what it changes only where its epochs begin
    changes where those of the conversion begin.
    """
    name = "between the steps"
    by_epoch = _changed_by_epoch(changed or {}, epoch)
    begins = {count for count in range(1, len(figures)) if epoch and count % epoch[0] == 0}
    for count, step in enumerate(figures):
        where = f"between the steps {count} and {count + 1}"
        theirs, own, others = step.get("between", ((), (), ()))
        theirs = theirs or [variable for variable in others if changed is not None and variable not in changed]
        if theirs:
            return CheckResult(name, "failed", f"{listing(theirs)} is changed {where}, the original leaves it as it is")
        if own:
            return CheckResult(name, "failed", f"{listing(own)} is not changed {where}, as it is in the original")
        if late := [variable for variable in others if variable in by_epoch and count not in begins]:
            detail = f"{listing(late)} is changed {where}, in the original only where an epoch begins"
            return CheckResult(name, "failed", detail)
        lacking = [variable for variable, always in by_epoch.items() if always and variable not in others]
        if lacking and count in begins:
            detail = f"{listing(lacking)} is not changed {where}, where an epoch begins, as it is in the original"
            return CheckResult(name, "failed", detail)
    return CheckResult(name, "passed", "variables change where they change in the original")


def _changed_by_epoch(changed: Mapping[str, Sequence[int]], epoch: Sequence[int] | None) -> dict[str, bool]:
    """The variables that the original changes only where its epochs begin, each with whether it does so at each."""
    if not epoch:
        return {}
    last = max((count for counts in changed.values() for count in counts), default=0)
    begins = set(range(epoch[1], last + 1, epoch[1]))
    return {variable: begins <= set(counts) for variable, counts in sorted(changed.items()) if set(counts) <= begins}


def check_draws(mine: Facts, theirs: Facts, drawn: Sequence[int] | None = None) -> CheckResult:
    """The towers draw numbers of their own: a seed that the original does not give makes them draw the same.

    drawn: how many random numbers the conversion draws in a step, and the original on the same examples at least.
    """
    name = "draws of the towers"
    if drawn is not None and drawn[0] < drawn[1]:
        detail = f"a step draws {drawn[0]} random numbers, the original {drawn[1]} for the same examples"
        return CheckResult(name, "failed", f"{detail}: examples share what each of them draws there")
    own = {(kind, *seeds) for kind, *seeds, _ in mine.get("seeded", ())}
    for kind, *seeds, count in theirs.get("seeded", ()):
        if count > 1 and (kind, *seeds) not in own:
            detail = f"{count} operations {kind} draw the same numbers, as they have one seed ({seeds[1]})"
            return CheckResult(name, "failed", f"{detail}, which the original does not give")
    return CheckResult(name, "passed", "no seeds of operations but the original's")


def check_checkpoint(name: str, found: Facts) -> CheckResult:
    """A checkpoint that one script saved was restored by the other."""
    if not found:
        return CheckResult(name, "skipped", "the script ended too early")
    if "error" in found:
        return CheckResult(name, "failed", f"cannot be restored: {found['error']}")
    if found["wrong"]:
        return CheckResult(name, "failed", f"other values in {listing(found['wrong'])}")
    return CheckResult(name, "passed", f"{found['variables']} variables restored")


def check_placement(
    devices: Mapping[str, list[int]] | None,
    gpus: int,
    work: Mapping[str, int] | None = None,
    on_gpus: bool = False,
    on_host: bool = False,
) -> CheckResult:
    """Forward and backward operations on each tower's device: a GPU, or a virtual one of the CPU behind `cpu:0`.

    on_host: whether the original itself places some of them on the CPU, where they stay.
    """
    name = "placement"
    if devices is None:
        return CheckResult(name, "skipped", "the script traces its own runs")
    busy = {device for device, (forward, backward) in devices.items() if forward and backward}
    if gpus == 1:  # a loss of the whole batch, which is behind the tower, has no device: on the machine the first GPU
        elsewhere = set(devices) - busy - ({"cpu:0"} if on_host else set())
        split = not busy or bool(elsewhere)
        on = f"computes on {listing(sorted(devices)) or 'no device'}"
        return CheckResult(name, "failed" if split else "passed", on)
    wanted = {f"gpu:{gpu}" if on_gpus else f"cpu:{gpu + 1}" for gpu in range(gpus)}
    idle = sorted(wanted - busy)
    if idle:
        on = listing(sorted(busy)) or "none"
        if len(busy) == 1:
            return CheckResult(name, "failed", f"all towers compute on one device ({on})")
        return CheckResult(name, "failed", f"no tower computes on {listing(idle)} (devices with work: {on})")
    detail = f"forward and backward operations on {len(wanted)} devices"
    if work and sum(work.values()):
        shares = [work.get(device, 0) / sum(work.values()) for device in wanted]
        least, most = f"{min(shares):.0%}", f"{max(shares):.0%}"
        each = least if least == most else f"{least} to {most}"
        detail += f", each with {each} of the floating point operations"
    return CheckResult(name, "passed", detail)


def check_collections(mine: Facts, theirs: Facts) -> CheckResult:
    """Each of the graph's collections has as many entries as the original's.

    One that the model names after its name scope has that of the first tower, in its name, too. Whoever asks for it by
    the original's name finds nothing.
    """
    name, moved = "collections", []
    for key in sorted({*mine["collections"], *theirs["collections"]}):
        own, other = mine["collections"].get(key, 0), theirs["collections"].get(key, 0)
        if own == other or key in _PER_TOWER or key.startswith("_"):
            continue
        first = _of_first_tower(key, theirs)
        if first and own == theirs["collections"][first] and key not in theirs.get("asked", ()):
            moved.append(f"{key!r} is {first!r} here")
        elif _of_first_tower(plain := TOWER.sub("", key), theirs) != key or not mine["collections"].get(plain):
            return CheckResult(name, "failed", f"the collection {key!r} holds {other} entries instead of {own}")
    if moved:
        detail = f"{listing(moved)}: a script that loads this graph finds it by that name only"
        return CheckResult(name, "skipped", detail)
    return CheckResult(name, "passed", "as many entries as in the original")


def _of_first_tower(key: str, theirs: Facts) -> str:
    """The collection that stands for one of the original's which the conversion does not have; empty if none does."""
    found = [other for other in theirs["collections"] if other != key and TOWER.sub("", other) == key]
    return found[0] if len(found) == 1 and key not in theirs["collections"] else ""

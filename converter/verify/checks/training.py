"""The checks of training: gradients, loss, update and weights, and an uneven batch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from converter.plan.decisions import RATE_OF_BATCH_SIZE
from converter.verify.checks.fetches import TURNED
from converter.verify.checks.figures import Facts, finite, listing, number, worst_of, writes_of
from converter.verify.data import BatchMode, CheckResult, Status

GRADIENT = 1e-4
LOSS = 1e-5
ROUNDED = 8 * 2.0**-23  # what is left of the summands of a loss in float32, where these cancel
UPDATE = 1e-4
WEIGHT = 1e-3
GROWN_ALIKE = 1e-3  # how far the growth of an update may be from that of the batch

# what the wrong gradients were found to equal -> the fault that this shows
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
    "weight decay": "a term proportional to the weights (weight decay) is not counted once",
}
_AVERAGED = ("divided twice", "unweighted", "divided by all towers")


def check_gradients(done: list[Facts], batch: BatchMode, once: bool = False, added: bool = False) -> CheckResult:
    """The gradients applied in every step equal the reference, computed by the original.

    once: the conversion computes its loss once, of the whole batch, and so must have the gradient of that.
    added: it was to add the towers' sums (--loss global), as --batch total does.
    """
    name = "gradients"
    for number_of, step in enumerate(done, 1) if once else ():
        if step["reference"] not in ("whole", "once") and step["kind"] in ("other", "coupled sum", "sum"):
            detail = "they are those of each tower's own loss, which was to be computed once of the whole batch"
            return CheckResult(name, "failed", f"{detail} (step {number_of})", None, GRADIENT)
    for number_of, step in enumerate(done, 1):
        who, worst = worst_of(step["gradients"])
        if not step["finite"]:
            return CheckResult(name, "failed", f"step {number_of}: a gradient is not finite", worst, GRADIENT)
        if not worst <= GRADIENT:
            fault = _named(step, "--batch total" if batch == "total" else "--loss global" if added else "")
            return CheckResult(name, "failed", f"{fault or 'they differ'} (step {number_of}, {who})", worst, GRADIENT)
    worst = max(worst_of(step["gradients"])[1] for step in done)
    return CheckResult(name, "passed", f"equal to {_reference(done)}", worst, GRADIENT)


def _reference(done: list[Facts]) -> str:
    """What of the original the gradients of all steps equal."""
    used = {step["reference"] for step in done}
    if used == {"whole"}:
        return "the original's on the whole batch"
    if used <= {"whole", "once"}:
        return "the original's for its loss on the rows that the shards give, taken back through each shard"
    if all(step["rows"] is None for step in done):
        return "the original's, which nothing with a batch axis goes into"
    if "counted" in used:
        return "the original's on the shards, each counted with what the loss is divided by there"
    return "the mean of the original's on the shards"


def check_changes(done: list[Facts]) -> list[CheckResult]:
    """Where the script changes its gradients before it applies them, that it changes those of the conversion alike.

    Clipping may leave all gradients of the compared steps as they are. Then a first step of each train op is compared
    once more, with losses that are so much larger that it acts.
    """
    kinds: dict[str, list[Facts]] = {}
    for step in done:
        if step.get("idle") is not None:
            kinds.setdefault(repr(step["triggered"]), []).append(step)
    idle = [steps for steps in kinds.values() if all(step["idle"] for step in steps)]
    if not idle:
        return []
    name, names = "changed gradients", listing([each for steps in idle for each in steps[0]["idle"]], 2)
    what = "clipping, or what else the script does to its gradients before it applies them,"
    left = f"{what} left them as they are in the compared steps ({names})"
    louder = [steps[0].get("louder") for steps in idle]
    worst = 0.0
    for found in louder:
        who, error = worst_of(found["gradients"]) if found else ("", 0.0)
        worst = max(worst, error)
        if found and not error <= GRADIENT:
            fault = _named(found, "") or f"the gradient of {who} differs"
            detail = f"{fault} (where it acts: with losses a million times as large)"
            return [CheckResult(name, "failed", detail, error, GRADIENT)]
    if not all(louder):
        return [CheckResult(name, "skipped", left)]
    return [CheckResult(name, "passed", f"{left}; with losses a million times as large it acts alike", worst, GRADIENT)]


def _named(found: Facts, adding: str) -> str:
    """The fault whose gradients are closest to these, if any is close.

    adding: the option by which the towers' sums are to be added, if there is one.
    """
    matches = found["matches"]
    if not matches:
        return ""
    if adding and found["kind"] in ("sum", "coupled sum") and any(match[0] in _AVERAGED for match in matches):
        return f"the loss is a sum over examples: with {adding} the towers are to be added, not averaged"
    best = min(matches, key=lambda match: abs(number(match[1])) if match[0] != "weight decay" else 1.0)[0]
    if best in FAULTS:
        return FAULTS[best]
    if best.startswith("shard"):
        return f"only tower {best.split()[1]}'s shard is used"
    return str(best)


def check_sparse(done: list[Facts]) -> CheckResult:
    """What is sparse stays sparse."""
    name = "sparse gradients"
    for step in done:
        for who, (theirs, _) in sorted(step["sparse"].items()):
            change = "dense gradient of {} became sparse" if theirs else "sparse gradient of {} became dense"
            return CheckResult(name, "failed", "the " + change.format(who))
    return CheckResult(name, "passed", "sparse where the original's are")


def check_loss(done: list[Facts]) -> CheckResult:
    """The loss of every step, where both scripts have it as one number."""
    found = [step for step in done if step["loss"]]
    if not found:
        return CheckResult("loss", "skipped", "no loss that both scripts have as a scalar")
    found = [step for step in found if finite(step["loss"][1])]
    if not found:
        return CheckResult("loss", "skipped", "the original's own loss is not finite: its training diverges")
    errors = [_loss_error(step) for step in found]
    worst = max(errors, key=lambda value: (value != value, value))
    if worst <= LOSS:
        return CheckResult("loss", "passed", f"{number(found[-1]['loss'][0]):.6g} at the last step", worst, LOSS)
    theirs, own, how = next(step["loss"] for step, error in zip(found, errors, strict=True) if error is worst)
    if worst != worst:
        return CheckResult("loss", "failed", f"{theirs} instead of {own}", worst, LOSS)
    if how == "towers":
        return CheckResult("loss", "skipped", "not fetched by the script, and the towers' losses carry other weights")
    return CheckResult("loss", "failed", f"{number(theirs):.6g} instead of {number(own):.6g}", worst, LOSS)


def _loss_error(step: Facts) -> float:
    """The relative error of a step's loss.

    A loss near zero is measured against 1e-6, and one whose summands nearly cancel against what these round to.
    """
    theirs, own = number(step["loss"][0]), number(step["loss"][1])
    summands = step.get("summands")
    rounding = 0.0 if summands is None else ROUNDED * number(summands)
    return abs(theirs - own) / max(abs(own), 1e-6, rounding / LOSS)


def check_update(done: list[Facts], mine: Facts, theirs: Facts, turned: Facts | None = None) -> CheckResult:
    """The same gradients lead to the same values of all variables.

    One that is not trained and that the original itself writes several times in one run, as a model that is
    built twice does with its moving averages, gets another value each time: nothing orders these writes.
    turned: the figures of the first step with its examples in another order.
    """
    name = "update"
    steps = [(f"step {place}", step) for place, step in enumerate(done, 1)]
    steps += [(TURNED, turned)] if turned and "update" in turned else []
    trained = {row["name"] for row in mine["variables"] if row["trainable"]}
    racing: dict[str, None] = {}
    for when, step in steps:
        wrong = [key for key, value in step["update"].items() if not number(value) <= UPDATE]
        raced = [k for k in wrong if k not in trained and writes_of(theirs, k) == writes_of(mine, k) > 1]
        other = (_other_rate(step) or _other_count(step)) if wrong else ""
        if not other:
            racing.update(dict.fromkeys(raced))
            wrong = [key for key in wrong if key not in raced]
        if wrong:
            who, worst = worst_of({key: step["update"][key] for key in wrong})
            detail = other.format(when=when) or _unlike_update(mine, theirs, trained, wrong, who)
            detail = detail or f"from the same gradients {listing(wrong)} gets another value ({when})"
            return CheckResult(name, "failed", detail, worst, UPDATE)
    if later := next(filter(None, map(_later_rate, done)), ""):
        return CheckResult(name, "failed", later)
    worst = max(worst_of({k: v for k, v in step["update"].items() if k not in racing})[1] for _, step in steps)
    detail = "the same gradients lead to the same values of all variables"
    if racing:
        detail += f" but {listing(racing)}, which the original writes several times in one run, in no order"
    return CheckResult(name, "passed", detail, worst, UPDATE)


def _other_count(step: Facts) -> str:
    """Which variable a step counts up by another number than the original's; or ""."""
    for counter, (counted, own) in step["counted"].items():
        if counted != own:
            return f"{counter} is counted up by {counted} instead of {own} in one step"
    return ""


def _other_rate(step: Facts) -> str:
    """Which learning rate, or number that the model takes, comes from another schedule than the original's; or "".

    With {when} for the step's name.
    """
    for key, name in (("rates", "learning rate"), ("model_rates", "value of a schedule in the model")):
        rates = step.get(key)
        if rates is not None and not rates["meant"]:
            return f"the {name} is {number(rates['theirs']):.6g} instead of {number(rates['own']):.6g} ({{when}})"
    return ""


def _unlike_update(mine: Facts, theirs: Facts, trained: set[str], wrong: list[str], who: str) -> str:
    """Why variables get another value, where the conversion writes some of them more often; empty if it does not."""
    more = [key for key in wrong if writes_of(theirs, key) > writes_of(mine, key)]
    if not more:
        return ""
    times = writes_of(theirs, more[0])
    if trained & set(more):
        return f"the optimizer's step runs {times} times ({who})"
    return f"the update ops of all towers run: {listing(more)} advances {times} times in one step"


def _later_rate(step: Facts) -> str:
    """Which learning rate of other constants than the original's goes another way after the compared steps; or ""."""
    found = next((one for one in step.get("constants", ()) if one["count"] and not one["model"]), None)
    return f"from other constants than the original's the learning rate is {goes_another_way(found)}" if found else ""


def goes_another_way(found: Facts) -> str:
    """Where a schedule of other constants leaves the original's; found: of child/tmgprobe/graph/rates.py."""
    own = f"the original's is {number(found['own']):.6g} at the nearest"
    given = f"{number(found['theirs']):.6g} after {found['count']} steps"
    return f"{given}; after as many steps, as many examples and in between {own}"


def another_rate(steps: list[Facts], rate: str, towers: int, said: Collection[str]) -> str:
    """Why updates go another way than the original's on purpose; "" if they should not.

    rate: how the conversion scales the learning rate; said: the codes of the warnings with which it was made. A rate
    that is computed from the batch size makes each update go as many times as far as there are batches in a step, or
    by the root of that number, or less far by one of them.
    """
    if rate != "none":
        return f"--scale-lr {rate}"
    paces = [number(step["pace"]) for step in steps if step.get("pace") is not None]
    if towers == 1 or RATE_OF_BATCH_SIZE not in said or not paces:
        return ""
    for factor in (towers, 1 / towers, towers**0.5, towers**-0.5):
        if all(abs(pace / factor - 1) <= GROWN_ALIKE for pace in paces):
            return f"{RATE_OF_BATCH_SIZE}: {factor:.3g} times the original's, as it is computed from the batch size"
    return ""


def unless_meant(mine: Facts, why: str, check: CheckResult) -> CheckResult:
    """The check of the weights; skipped if weights may differ from the original's without a fault.

    So it is where the learning rate is another one on purpose (why, see `another_rate`), and where updates that the
    original's own run leaves in no order give other weights each time: there the gradients of a step are compared
    before any of its updates; what these make of them is not.
    """
    if check.status == "failed" and why:
        return CheckResult(check.name, "skipped", f"the learning rate is another one on purpose ({why})")
    if check.status != "failed" or not mine["races"]:
        return check
    return CheckResult(check.name, "skipped", "several updates race in one run of the original; it differs from itself")


def check_weights(trajectory: Mapping[str, Any], steps: int, spread: float | None) -> CheckResult:
    """The weights after all steps are the original's."""
    who, worst = worst_of(trajectory)
    left = sum(value is None for value in trajectory.values())
    without = f"; {left} whose gradients are only rounding are left out" if left else ""
    if worst <= WEIGHT:
        return CheckResult("weights", "passed", f"the same after {steps} steps{without}", worst, WEIGHT)
    if spread is not None and spread >= worst / 10:
        return CheckResult("weights", "skipped", f"{ends_away(spread)}; gradients and update are compared step by step")
    return CheckResult("weights", "failed", f"{who} differs after {steps} steps", worst, WEIGHT)


def ends_away(spread: float) -> str:
    """How far rounding alone takes the original; see child/tmgprobe/values/spread.py."""
    return f"the original itself ends {spread:.0e} away if only the last digits of its weights change"


def check_uneven(
    uneven: Mapping[str, Facts], gpus: int, batch: BatchMode, sizes: Sequence[int] = ()
) -> list[CheckResult]:
    """Batches that do not divide by the number of towers, and batches with fewer examples than towers.

    sizes: as of judge.Asked; an error is left open where they all divide by the number of towers.
    """
    if not uneven and gpus > 1:
        return [
            CheckResult(
                "uneven batch", "skipped", "not tried: no batch of several examples goes into a training step itself"
            )
        ]
    even = sizes if all(size and size % gpus == 0 for size in sizes) else ()
    largest_first = sorted(uneven, key=int, reverse=True)
    return [_of_size(int(size), uneven[size], gpus, batch, even) for size in largest_first]


def _of_size(size: int, found: Facts, gpus: int, batch: BatchMode, even: Sequence[int]) -> CheckResult:
    """The check of a batch with so many examples; even: how many steps of a whole run have, if no such batch comes."""
    name = "fewer examples than towers" if size < gpus else "uneven batch"

    def said(status: Status, what: str, error: float | None = None) -> CheckResult:
        lead = f"{size} {'example' if size == 1 else 'examples'} on {gpus} towers"
        return CheckResult(name, status, f"{lead}: {what}", error, None if error is None else GRADIENT)

    if "skipped" in found:
        return said("skipped", found["skipped"])
    if "failed" in found:
        why = "the conversion has a fixed batch size" if found["failed"] == "static shape" else found["failed"]
        seen = f"{why}; no step of the whole run has such a batch: all have {' or '.join(map(str, even))} examples"
        return said("skipped", seen) if even else said("failed", why)
    who, worst = worst_of(found["gradients"])
    theirs, own = (found["loss"] or (0.0, 0.0))[:2]
    if finite(own) and not finite(theirs):
        return said("failed", f"the loss is {theirs}, not finite")
    if not found["finite"] and not finite(own):
        return said("skipped", f"the original's own loss on these is {own}")
    if not found["finite"] and found.get("diverged"):
        return said("skipped", "the original's own gradients on these are not finite")
    if not found["finite"]:
        return said("failed", "a gradient is not finite", worst)
    if worst <= GRADIENT:
        return said("passed", "the exact weighted gradients", worst)
    return said("failed", _named(found, batch) or f"the gradient of {who} differs", worst)

"""Whole runs of both scripts: their processes, and the checks of what they show (child/tmgprobe/roles/to_end.py).

The steps of two whole runs are not compared one by one, as N towers take other ones; what is compared is how many
there are, on which examples, and what each script does beside them: the epochs of the original stay its epochs.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.verify.checks.beyond_steps import NUMBER, NUMBERED, check_printed_in_order
from converter.verify.checks.figures import Facts, listing
from converter.verify.checks.stream import BUFFER, COLLECTED, DRAWS, WHOLE, check_data
from converter.verify.data import CheckResult, Report, Status
from converter.verify.judge import ComparisonSettings
from converter.verify.processes.answer import Stopped, expect
from converter.verify.processes.child_process import MemoryIsUp, TimeIsUp, environment
from converter.verify.processes.layout import Copy
from converter.verify.processes.runner import Job, Runner
from converter.verify.runs.converted_alone import with_check
from converter.verify.runs.stopping import early_stop

SHARE = 0.7  # of the time that is left, for both scripts, which run at the same time

_NAME = "whole run"
_UNFED = "no run without a train op is fed examples; how often others run is not compared"
_APART = "the two runs did not come equally far, so that each was seen with other evaluations (--timeout)"
MOVED = 1e-3  # of its logarithm: a rate that moves less stays
FARTHER = 1.2  # so many times the original's way, or more: the rate is changed more often, not some steps later


@dataclass(frozen=True)
class Ran:
    """The result of two whole runs.

    mine, theirs: how each script ran; compared: what went in; problem: why there is nothing of all that.
    stop: where the original ends its training by a value of the run (stopping.py).
    late: how far both came where one of them did not end in time; then all else is of the first epoch.
    """

    mine: Facts | None = None
    theirs: Facts | None = None
    compared: Facts | None = None
    problem: str = ""
    stop: str = ""
    late: str = ""


def whole_job(like: Job, copy: Copy, args: Iterable[str], seen: Facts, epochs: int) -> dict[str, Any]:
    """The job of a whole run, beside that of the compared steps of the same script, in which so much was `seen`."""
    inputs: Facts = seen["inputs"]
    theirs, folder = like["role"] == "record", Path(like["work"])
    work = folder / ("whole_converted" if theirs else "whole_original")
    work.mkdir(exist_ok=True)
    mine = {kind: [[own, [own], *rest] for own, _, *rest in all_] for kind, all_ in inputs.items()}
    return {
        **like,
        "role": "whole",
        "theirs": theirs,
        **copy.job(args, work),
        "inputs": inputs if theirs else mine,
        "epochs": epochs,
        "computed": [row["input"] for row in seen["data"]["fed"] if row["status"] == "values"],
        "record": str(folder / "whole.json"),
        "epoch record": str(folder / "epoch.json"),
        "again": str(folder / "own.json"),
    }


def run_whole(jobs: tuple[Job, Job], runner: Runner, asked: ComparisonSettings) -> Ran:
    """Runs the conversion's and the original's jobs side by side; apart, one after the other."""
    seconds = max(1.0, SHARE * (runner.limits.deadline - time.monotonic())) / (2 if asked.apart else 1)
    theirs, mine = ({**one, "seconds": seconds} for one in jobs)
    settled = environment(asked.gpus, asked.devices)
    try:
        with ExitStack() as running:
            single = None if asked.apart else running.enter_context(runner.begin(mine, settled))
            multi = running.enter_context(runner.begin(theirs, settled))
            expect(multi, "started")
            ran_theirs = expect(multi, "ran")
            single = single or running.enter_context(runner.begin(mine, settled))
            expect(single, "started")
            ran_mine = expect(single, "ran")
            in_time = "time" not in (ran_mine["ended"], ran_theirs["ended"])
            both = ran_mine["epoch"] and ran_theirs["epoch"]  # have ended their first epoch
            late = "" if in_time or not both else _seen_steps(ran_mine, ran_theirs)
            single.send(record=theirs["epoch record" if late else "record"], epoch=bool(late))
            compared = expect(single, "compared")
            if late:
                ran_mine, ran_theirs = ran_mine["epoch"], ran_theirs["epoch"]
            ran = Ran(ran_mine, ran_theirs, compared, stop=early_stop(Path(mine["script"])), late=late)
        return _unless_resumed(ran, asked.apart)
    except (TimeIsUp, MemoryIsUp):
        return Ran(problem="no time or memory is left for it (--timeout, --memory)")
    except Stopped as problem:
        return Ran(problem=problem.reason)


def _seen_steps(mine: Facts, theirs: Facts) -> str:
    return f"{theirs['steps']} steps of the conversion and {mine['steps']} of the original were seen (--timeout)"


def _unless_resumed(ran: Ran, paths: Sequence[str]) -> Ran:
    """No result if one run has restored a file that another one may have left."""
    diaries = [facts.get("diary", {}) for facts in (ran.mine, ran.theirs) if facts]
    notes = [note for diary in diaries for note in diary.get("notes", {}).get("restored", ())]
    found = [note["file"] for note in notes if any(str(note["file"]).startswith(path) for path in paths)]
    if not found:
        return ran
    return Ran(problem=f"what one run saves another one restores ({listing(found, 1)})")


def sizes_of_steps(ran: Ran) -> tuple[int, ...]:
    """How many examples steps of the conversion have, see judge.Asked."""
    ends = {facts["ended"] for facts in (ran.mine, ran.theirs) if facts is not None}
    if ran.compared is None or not ends <= {"end", "epochs"} or any(row["short"] for row in ran.compared["sets"]):
        return ()
    return tuple(sorted({size for row in ran.compared["sets"] for size in row["sizes"]}))


def with_whole(report: Report, ran: Ran, towers: int, said: Collection[str]) -> Report:
    """The report with the checks of the whole runs, which reach what lies after the compared steps."""
    found = check_whole(ran, towers, said)
    if any(check.status == "passed" for check in found):
        left = ("an epoch's end", "data of evaluations", "beside the steps")
        kept = (check for check in report.checks if check.status != "skipped" or check.name not in left)
        report = replace(report, checks=tuple(kept))
    return reduce(with_check, found, report)


def check_whole(ran: Ran, towers: int, said: Collection[str] = ()) -> list[CheckResult]:
    """The checks of two whole runs.

    towers: how many of the original's batches make one of the conversion's. said: codes of the warnings with which the
    script was converted.
    """
    mine, theirs, compared = ran.mine, ran.theirs, ran.compared
    if mine is None or theirs is None or compared is None:
        return [CheckResult(_NAME, "skipped", ran.problem)]
    in_time = "time" not in (mine["ended"], theirs["ended"])
    late = CheckResult(_NAME, "skipped", f"it takes too long: {_seen_steps(mine, theirs)}")
    steps = _steps(mine, theirs, compared, towers, said) if in_time else late
    if instead := _failure(mine, theirs) or _otherwise_long(ran, mine, theirs, compared, steps, towers):
        return [instead]
    checks = [steps, *_fed(compared, in_time, towers, said)]
    if in_time:
        checks += [*_ends(mine, compared, ran.late), *_sets(compared, towers, said), *_rates(mine, theirs, towers)]
        checks += [*_paces(mine, theirs, compared, towers), *_resets(mine, theirs, compared, towers)]
        checks += _set_otherwise(mine, theirs)
        checks += _checks_after_training(mine, theirs, compared, towers, said)
    return checks


def _failure(mine: Facts, theirs: Facts) -> CheckResult | None:
    """The only check of runs of which one fails: no fault of the conversion where the original does."""
    wrong, original = (facts["ended"].startswith("error") for facts in (theirs, mine))
    if not wrong and not original:
        return None
    who, facts = ("the original", mine) if original else ("the conversion", theirs)
    detail = f"{who} ends after step {facts['steps']}: {facts['ended'][7:]}"
    return CheckResult(_NAME, "skipped" if original else "failed", detail)


def _otherwise_long(
    ran: Ran, mine: Facts, theirs: Facts, compared: Facts, steps: CheckResult, towers: int
) -> CheckResult | None:
    """The only check of runs that end after other numbers of steps for a reason of their own; steps: that of these."""
    if ran.stop and steps.status == "failed":
        why = f"{ran.stop} ends the training by a value, which each run reaches when it does"
        return replace(steps, status="skipped", detail=f"{steps.detail}; {why}")
    # whether the original is fed fewer examples than an epoch of the conversion has, by a batch of it or more
    rows = compared["sets"]
    before = rows and all(0 < row["own_rows"] <= row["rows"] - towers * row["batch"] for row in rows)
    if theirs["ended"] != "epochs" or mine["ended"] != "end" or not before:
        return None
    detail = (
        f"the original ends after {mine['steps']} steps, before it has seen the data once, and the conversion was "
        f"stopped after {theirs['steps']} steps, when it had (--steps all runs both to their ends)"
    )
    return CheckResult(_NAME, "skipped", detail)


def _fed(compared: Facts, in_time: bool, towers: int, said: Collection[str]) -> Iterator[CheckResult]:
    """The checks of what goes into the steps and into the runs between them."""
    name = "data of evaluations, whole run"
    left = _UNFED if not compared["evaluated"] else "" if in_time else _APART
    for check in check_data({**compared, "ended": True}, towers, said):
        if not _drawn(check) and not (left and _renamed(check).name == name):
            yield _renamed(check)
    if left:
        yield CheckResult(name, "skipped", left)


def _drawn(check: CheckResult) -> bool:
    """Whether a check only says that the order is drawn: of whole runs the sets of examples are compared."""
    words = ("drawn at random", "drawn otherwise")
    return check.name == "data" and check.status == "skipped" and any(word in check.detail for word in words)


def _renamed(check: CheckResult) -> CheckResult:
    return CheckResult(f"{check.name}, whole run", check.status, check.detail)


def _steps(mine: Facts, theirs: Facts, compared: Facts, towers: int, said: Collection[str]) -> CheckResult:
    """A whole run takes as many examples as the original's, or as many steps; one tower takes as many of both."""
    words, open_ = [], False
    in_turn = any(row["status"] == "in turn" for row in compared["fed"])
    one = towers == 1 and (compared["repeats"] or not (compared["again"] or COLLECTED.intersection(said)))
    for row in compared["sets"]:
        steps, own, fed, wanted = row["steps"], row["own_steps"], row["rows"], row["own_rows"]
        detail = f"{steps} steps on {fed} examples, the original's {own} on {wanted}"
        if one:  # each batch is one of the original's
            alike = (steps, fed) == (own, wanted)
        elif not wanted:
            alike = steps in (own, -(-own // towers))
        elif fed == wanted or steps == own:
            alike = True
        elif BUFFER in said and 0 < own - steps <= (towers - 1) * row["batch"]:
            detail, alike, open_ = f"{detail}: it waits until there are as many rows as it draws ({BUFFER})", True, True
        elif in_turn and abs(steps - own / towers) <= mine["epochs"]:
            alike, detail = True, f"{detail}: train ops take turns at the batches of an epoch"
        else:
            epochs = max(1, mine["epochs"], round(wanted / max(1, row["different"])))
            alike = not row["short"] and 0 < wanted - fed < epochs * towers * row["batch"]
            detail += ": what is left of an epoch and is no whole batch is left out"
            if alike and wanted - fed >= row["different"]:
                detail, open_ = f"{detail} in each epoch, or else a whole epoch is lacking", True
        if not alike:
            return CheckResult(_NAME, "failed", f"takes {detail}: neither as many examples nor as many steps")
        words.append(detail)
    if not words:
        return CheckResult(_NAME, "skipped", "the two scripts have no train op in common")
    return CheckResult(_NAME, "skipped" if open_ else "passed", "; ".join(words))


def _ends(mine: Facts, compared: Facts, late: str) -> Iterator[CheckResult]:
    """The check of epochs' ends: examples that are left out there, and everything after the last one.

    late: how far the runs came where they did not end in time.
    """
    left = [row["own_rows"] - row["rows"] for row in compared["sets"] if row["steps"] != row["own_steps"]]
    if max(left, default=0) > 0:
        detail = (
            f"{max(left)} examples of the original are not taken, less than a batch: right where a batch goes on into "
            "the next epoch or only whole ones are taken (n // batch_size), wrong where what is left is taken, too "
            "(--gpus 1 tells)"
        )
        yield CheckResult("an epoch's end, whole run", "skipped", detail)
    if mine["ended"] == "epochs":
        later = "later epochs, the number of steps in all and what comes after training"
        why = f": it takes too long: {late}" if late else " (--steps all goes on to it)"
        yield CheckResult("after the epochs", "skipped", later + why)


def _sets(compared: Facts, towers: int, said: Collection[str]) -> list[CheckResult]:
    """If the original draws the order of the examples or each batch at random, their sets are compared.

    Only a set that the original has by itself: what it collects while it runs is another one in each of its runs.
    """
    name = "examples, whole run"
    anew = not DRAWS.isdisjoint(said)
    drawn = any(row["status"] == "drawn" or (anew and row["status"] == "differs") for row in compared["fed"])

    for row in compared["sets"] if drawn else ():
        for one in (*row.get("alone", ()), row):
            found = _set(one, row["batch"], compared, towers, said)
            if found and (one is row or found[0] == "failed"):
                return [CheckResult(name, *found)]
    return [CheckResult(name, "passed", "the same set of examples, in an order that is drawn at random")] * drawn


def _set(row: Facts, batch: int, compared: Facts, towers: int, said: Collection[str]) -> tuple[Status, str] | None:
    """How a set of examples is another one than the original's, and the status of the check; None where it is not.

    row: of all inputs of a train op together, or of one alone. batch: the largest of the original's.
    """
    lost, new, often = row["lost"], row["new"], row["own_rows"] / max(1, row["different"])
    unseen = max(4 * math.exp(-often) * row["different"], 2 * row["once"])  # by chance
    expected = unseen + 3 if often > 1 else math.inf
    what = f"{row['input']} " if "input" in row else ""
    if max(new, lost) > expected and (why := _collected(compared, said, expected)):
        return "skipped", why
    if row["unshuffled"]:
        order = "taken in one order again and again, in the original in another one each time"
        return "failed", f"{what}is {order}" if what else f"are {order}"
    if new > expected:
        return "failed", f"{what}is fed {new} examples that the original is never fed"
    codes = sorted(DRAWS.intersection(said))
    if codes and 0 < lost < towers * batch and not new:
        detail = f"{lost} examples, fewer than a batch of all towers, are never fed: whole batches are drawn"
        return "skipped", f"{detail}, which are larger ({listing(codes)})"
    if lost > expected:
        return "failed", f"{what}is never fed {lost} of the original's {row['different']} examples"
    if new or lost:
        return "skipped", "each batch is drawn at random: which examples are drawn is left to chance"
    return None


def _collected(compared: Facts, said: Collection[str], expected: float) -> str:
    """Why the examples of the original are no set that another run has, too; "" where they may be one.

    expected: how many examples chance alone may leave out of one of two runs.
    """
    if compared["again"] > expected:
        often = f"{compared['again']} examples of one run of the original are not among those of another one"
        return f"{often}: which there are depends on the run"
    found = sorted(COLLECTED.intersection(said))
    return f"which examples there are depends on what the model does in a run ({listing(found)})" if found else ""


def _rates(mine: Facts, theirs: Facts, towers: int) -> Iterator[CheckResult]:
    """Compares the learning rates that schedules, or the script, reach from the first step to the last one of each run.

    A schedule that counts batches has to follow the global batch; one that counts steps has not. Which of them it is
    meant to be nobody can tell from a run, so a rate that does not come as far fails nothing; nor does one that comes
    farther, as a script may change its rate by what it evaluates.
    """
    name = "learning rate, whole run"
    if len(mine["rates"]) < 2 or len(theirs["rates"]) < 2:
        return
    words = []
    if len({len(rates) for rates in (*mine["rates"], *theirs["rates"])}) > 1:
        return  # steps of several train ops, which take other rates
    for own, other in zip(zip(*mine["rates"], strict=True), zip(*theirs["rates"], strict=True), strict=True):
        if not all(rate > 0 for rate in (*own, *other)) or abs(math.log(own[1] / own[0])) < MOVED:
            continue
        words.append(f"ends at {other[1]:.4g}, the original's at {own[1]:.4g}")
        if abs(math.log(other[1] / own[1])) < MOVED:  # from wherever it began: the first step of a warm-up stands for N
            continue
        way = math.log(other[1] / other[0]) / math.log(own[1] / own[0])
        other_way = way > FARTHER or (towers == 1 and way < 1 / FARTHER)
        means = "wrong, unless values of a run decide when it changes" if other_way else ""
        if towers > 1 and way < (1 + 1 / towers) / 2:
            means = "right if its schedule counts steps, wrong if it counts batches (decay_steps of an epoch)"
        if means:
            yield CheckResult(name, "skipped", f"{words[-1]}: {means}")
            return
    if words:
        yield CheckResult(name, "passed", "; ".join(words))


def _paces(mine: Facts, theirs: Facts, compared: Facts, towers: int) -> Iterator[CheckResult]:
    """Compares how often runs without a train op are made, where both scripts make them after as many steps each time.

    What is made after so many steps stays so; what is made after so many batches, as once an epoch, follows the batch.
    """
    own, other = (_pace(facts) for facts in (mine, theirs))
    if not own or not other:
        return
    name, detail = "evaluations, whole run", f"after each {other} steps, in the original after each {own}"
    epochs = [own * row["batch"] / max(1, row["different"]) for row in compared["sets"]]
    if own == other or any(round(count) and abs(count - round(count)) * own < count for count in epochs):
        yield CheckResult(name, "passed", detail)
    elif abs(other - own / towers) < 1:
        yield CheckResult(name, "skipped", f"{detail}: right if it counts batches, wrong if it counts steps")
    else:
        yield CheckResult(name, "failed", f"runs without a train op are made {detail}")


def _resets(mine: Facts, theirs: Facts, compared: Facts, towers: int) -> Iterator[CheckResult]:
    """Compares how often local variables are set anew, as the counts of tf.metrics are where an epoch ends.

    Their names end in numbers where a name was taken, which may be others in the two graphs: mean_1/total.
    """
    name = "resets, whole run"
    notes = [facts["diary"]["notes"].get("reset", ()) for facts in (mine, theirs)]
    epochs = (compared["epoch"] or (0, 0))[::-1]
    by_epoch = all(
        steps and note["steps"] % steps == 0 for each, steps in zip(notes, epochs, strict=True) for note in each
    )
    own, other = (
        Counter(tuple(sorted(NUMBERED.sub("", one) for one in note["variables"])) for note in each) for each in notes
    )
    for variables, wanted in sorted(own.items()):
        count, what = other[variables], f"{listing(variables, 2)} set anew"
        detail = f"{what} {count} times, in the original {wanted}"
        if count < (wanted if by_epoch else max(1, wanted // towers)):
            yield CheckResult(name, "failed", detail)
            return
        if count != wanted:
            why = "right if that is done after so many batches, wrong if it is done once an epoch"
            yield CheckResult(name, "skipped", f"{detail}: {why}")
            return
    if own:
        yield CheckResult(name, "passed", f"{sum(own.values())} times local variables are set anew, as in the original")


def _set_otherwise(mine: Facts, theirs: Facts) -> Iterator[CheckResult]:
    """Says which variables that are not trained are set between the steps, as sums of gradients, more or less often."""
    own, other = (
        Counter(tuple(note["variables"]) for note in facts["diary"]["notes"].get("set", ())) for facts in (mine, theirs)
    )
    for variables in sorted(own & other):
        by_steps = own[variables] * theirs["steps"] / max(1, mine["steps"])
        if other[variables] != own[variables] and abs(other[variables] - by_steps) > 1:
            detail = f"{listing(variables, 2)} set {other[variables]} times, in the original {own[variables]}"
            yield CheckResult("resets, whole run", "skipped", f"{detail}: neither once an epoch nor by the steps")
            return


def _pace(facts: Facts) -> int:
    """The steps between two of a script's steps that are followed by runs without a train op; 0: not always as many."""
    notes = [note for note in facts["diary"]["notes"].get("run", ()) if not note["trains"] and note["numbers"]]
    times = sorted({note["steps"] for note in notes if 0 < note["steps"] < facts["steps"]})
    gaps = {later - time for time, later in pairwise(times)}
    return gaps.pop() if len(times) > 2 and len(gaps) == 1 else 0


def _checks_after_training(
    mine: Facts, theirs: Facts, compared: Facts, towers: int, said: Collection[str]
) -> Iterator[CheckResult]:
    """The checks of evaluations after training, saved files, summaries and printed lines of a whole run."""
    yield from _runs_at_end(compared, towers, said)
    for kind, name, key in (("saved", "savers, whole run", "keys"), ("summary", "summaries, whole run", "tags")):
        yield from _of_notes(mine["diary"], theirs["diary"], kind, name, key)
    yield from _printed_lines(mine, theirs)
    rows = min((row["batch"] for row in compared["sets"]), default=0)
    yield from map(_renamed, check_printed_in_order(mine["diary"], theirs["diary"], towers, rows == 1))


def _runs_at_end(compared: Facts, towers: int, said: Collection[str]) -> Iterator[CheckResult]:
    """Whether runs follow the last step in the conversion where they do in the original."""
    name = "after training, whole run"
    own, other = compared["after"]
    if own and not other:
        detail = f"{own} runs of the original after its last step are lacking"
        if meant := own < towers and WHOLE in said:
            detail += f": fewer than a batch of all towers, and only whole ones are taken ({WHOLE})"
        yield CheckResult(name, "skipped" if meant else "failed", detail)
    elif own:
        yield CheckResult(name, "passed", f"{other} runs after the last step, {own} in the original")


def _of_notes(mine: Facts, theirs: Facts, kind: str, name: str, key: str) -> Iterator[CheckResult]:
    """Compares which names or tags both scripts save or summarise, and under which step numbers."""
    notes = [diary["notes"].get(kind, []) for diary in (mine, theirs)]
    own, other = ({repr(note[key]): note for note in each} for each in notes)
    unused = {repr(sorted(keys)) for keys in mine["savers"]} if kind == "saved" and not notes[0] else set()
    both = own | other
    apart = sorted(own.keys() ^ other.keys())
    by_figures = [one for one in apart if repr(sorted(both[one][key])) in unused]
    if by_figures:
        detail = "the original's saver of the same names was not used: it may depend on the figures of a run"
        yield CheckResult(name, "skipped", detail)
    for one in (one for one in apart if one not in by_figures):
        what = "lacks" if one in own else "has, other than the original,"
        yield CheckResult(name, "failed", f"{what} {listing(both[one][key])}")
        return
    fault = next(filter(None, (_numbers(own[one], other[one], notes, one, key) for one in own)), "")
    if fault:
        yield CheckResult(name, "failed", fault)
    elif notes[0]:
        yield CheckResult(name, "passed", f"{len(notes[1])} of the same kinds as the original's {len(notes[0])}")


def _printed_lines(mine: Facts, theirs: Facts) -> Iterator[CheckResult]:
    """Says which kinds of lines the conversion does not print, or how often neither epochs nor steps explain."""
    name = "printed lines, whole run"
    lines = [facts["diary"]["notes"].get("printed", ()) for facts in (mine, theirs)]
    own, other = (Counter(NUMBER.sub("#", note["line"]) for note in each) for each in lines)
    if lacking := sorted(set(own) - set(other)):
        yield CheckResult(name, "skipped", f"the conversion prints no line like {listing(lacking, 1)!r}")
    for form in sorted(set(own) & set(other)):
        by_steps = own[form] * theirs["steps"] / max(1, mine["steps"])
        if other[form] != own[form] and abs(other[form] - by_steps) > 1:
            detail = f"a line like {form!r} is printed {other[form]} times, in the original {own[form]}"
            yield CheckResult(name, "skipped", f"{detail}: neither once an epoch nor by the steps")
            return


def _numbers(own: Facts, other: Facts, notes: list[list[Any]], kind: str, key: str) -> str:
    """Faults in the step numbers of one kind of notes: they must count steps where the original's do."""
    mine, theirs = ([note for note in each if repr(note[key]) == kind] for each in notes)
    unnumbered = [[note["number"] is None for note in each] for each in (mine, theirs)]
    if all(unnumbered[0]) != all(unnumbered[1]):
        return (
            f"{listing(theirs[-1][key])} has {'no' if all(unnumbered[1]) else 'a'} step number, unlike the original's"
        )
    if any(map(any, unnumbered)):
        return ""
    last, first = theirs[-1], mine[-1]
    if len(mine) < 2 or len(theirs) < 2:
        counts = first["number"] == first["steps"] and last["number"] not in (last["steps"], first["number"])
        return _no_count(last, key) if counts else ""
    apart, others = ({note["number"] - note["steps"] for note in each} for each in (mine, theirs))
    if len(apart) > 1 or others == apart:
        return ""
    if len(others) == 1 and max(*apart, *others) < 0:  # steps of a model that was trained before do not count
        return ""
    return _no_count(last, key)


def _no_count(note: Facts, key: str) -> str:
    return f"{listing(note[key])} after step {note['steps']} has the step {note['number']}, which is no count of steps"

"""The checks of what a script does beside its steps: seeds, savers, summaries, printed values.

From the notes of child/tmgprobe/session/diary.py to verdicts. A note says how many training steps came before it;
what the conversion does after k steps is compared with what the original does after k of the recorded steps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from converter.verify.checks.figures import Facts, listing, number
from converter.verify.data import CheckResult

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])")
SHOWN = re.compile(r"/(image|audio)/\d+$")  # one of the images or sounds of a batch
# a name that was taken already: loss_1; how much a queue holds: fraction_of_32_full
NUMBERED = re.compile(r"_\d+(?=/|$)|(?<=/fraction_of)_\d+(?=_full)|(?<=/fraction_over)_\d+_of_\d+(?=_full)")
_DONE = {"saved": "saved", "restored": "restored", "summary": "written as a summary"}
RUNS = 8  # a printed line may show values of so many runs before it
COUNTED = 5  # steps of the original in which a number that counts them does so; in fewer any number may by chance

Note = Mapping[str, Any]


def check_beside(
    mine: Facts, theirs: Facts, steps: int, towers: int, by_one: bool = False, epoch: Sequence[int] | None = None
) -> list[CheckResult]:
    """The checks of seeds, savers, summaries and printed values.

    mine, theirs: the diaries of the original and of the conversion. steps: the number of compared steps. towers: how
    many batches of the original one step of the conversion takes. by_one: whether a batch of the original is one
    example, so that numbers of steps may be numbers of examples. epoch: how many steps of the conversion, and of the
    original, an epoch has, if one has ended in the compared steps.

    theirs["shorter"]: whether the conversion's epochs have fewer steps, so that what comes at an epoch's end that was
    not recognised comes after as many examples.
    mine["by values"]: {kind of note: where the original's text decides by a value of a run whether there is one}.
    """
    both = _Notes(mine, theirs, steps=steps, towers=towers, by_one=by_one, epoch=epoch)
    checks = [check_seeds(mine, theirs, towers), *check_savers(both), *check_summaries(both), *check_printed(both)]
    seen = {check.name for check in checks}
    silent = [name for name in ("savers", "summaries", "printed values") if name not in seen]
    if silent:
        words = {"savers": "saved", "summaries": "written as a summary", "printed values": "printed"}
        what = f"nothing was {' or '.join(words[name] for name in silent)} in the first {steps} steps"
        checks.append(CheckResult("beside the steps", "skipped", f"{what} (--steps all goes on to the end)"))
    done = {note["kind"] for diary in (mine, theirs) for note in diary["notes"].get("elsewhere", ())} - {"run"}
    if done:
        what = "what other threads than the main one save, summarise or print comes after a step that chance decides"
        checks.append(CheckResult("beside the steps", "skipped", what))
    return checks


class _Notes:
    """The notes of both scripts from before the last compared step."""

    def __init__(
        self, mine: Facts, theirs: Facts, steps: int, towers: int, by_one: bool, epoch: Sequence[int] | None
    ) -> None:
        self.by_values: Mapping[str, str] = mine.get("by values", {})
        self.mine, self.theirs, self.steps, self.towers, self.by_one = mine, theirs, steps, towers, by_one
        self.epoch = epoch or (0, 0)
        self.shorter = theirs.get("shorter", False) and not epoch and towers > 1

    def left(self, name: str, kind: str) -> Iterator[CheckResult]:
        """What to say where the original decides by a value of a run whether there is a note of a kind."""
        if place := self.by_values.get(kind):
            detail = f"{place} decides by a value of a run what is {_DONE[kind]}: when it is, is not compared"
            yield CheckResult(name, "skipped", detail)

    def epochs(self, kind: str, same: str) -> dict[str, Sequence[int]]:
        """{words: steps of the conversion, steps of the original} in the epochs in which such notes come once.

        Where examples are drawn anew for each batch the data tell of no epoch. A script that counts its epochs by the
        batch size does what ends them at steady distances: every 13 steps of 2 batches instead of every 27 of one.
        """
        found: dict[str, Sequence[int]] = {}
        theirs = steady_distances(self.other(kind), same) if self.shorter else {}
        for words, own in steady_distances(self.own(kind), same).items():
            fewer = theirs.get(words, 0)
            if fewer in (own // self.towers, -(-own // self.towers)) and fewer:
                found[words] = fewer, own
        return found

    def of_epoch(self, steps: int, epoch: Sequence[int]) -> int | None:
        """After how many steps the original is as many steps behind an epoch's end; None before the first end."""
        theirs, own = epoch
        return steps // theirs * own + steps % theirs if theirs and steps >= theirs else None

    def own(self, kind: str) -> list[Note]:
        """The original's notes of one kind, also from after the compared steps."""
        return list(self.mine["notes"].get(kind, ()))

    def other(self, kind: str) -> list[Note]:
        """The conversion's notes of one kind."""
        return [note for note in self.theirs["notes"].get(kind, ()) if note["steps"] < self.steps]

    def savers(self, diary: Facts) -> Counter[tuple[str, ...]]:
        """The names that the savers of a script write, for those made before the last compared step."""
        made = diary.get("savers made", [0] * len(diary["savers"]))
        return Counter(tuple(keys) for keys, at in zip(diary["savers"], made, strict=True) if at < self.steps)

    def pairs(self, kind: str, same: str) -> Iterator[tuple[Note, Note | None]]:
        """Pairs each note of the conversion with the original's of as many steps and an equal `same`, in order.

        What comes at the end of an epoch, or some steps behind it, may come there in the original, after other steps;
        where none was recognised, as each epoch's examples are changed anew, after as many examples.
        """
        epochs = self.epochs(kind, same)
        waiting: dict[Any, list[Note]] = {}
        for note in self.own(kind):
            waiting.setdefault((note["steps"], _words(note, same)), []).append(note)
        for note in self.other(kind):
            words = _words(note, same)
            found = waiting.get((note["steps"], words))
            end = self.of_epoch(note["steps"], epochs.get(words, self.epoch))
            ends = None if end is None else waiting.get((end, words))
            if ends and not (found and note["number"] == found[0]["number"]):
                found = ends if not found or _at_epochs_end(note, ends[0]) else found
            if not found and self.shorter and note["steps"]:
                end = note["steps"] * self.towers
                found = waiting.get((end, words))
            if not found and end is not None and end >= self.mine["steps"]:
                continue  # the original was not seen so far
            yield note, found.pop(0) if found else None

    def lacking(self, kind: str, same: str) -> list[Note]:
        """The original's notes from before the last compared step that the conversion does not have."""
        found = [match for _, match in self.pairs(kind, same)]
        early = [note for note in self.own(kind) if note["steps"] < self.steps]
        return [note for note in early if not any(note is match for match in found)]

    def fewer_evaluations(self) -> Counter[int]:
        """How many runs without a train op the conversion makes less after so many steps, of evaluations in batches.

        Batches that are N times as large are N times fewer, and what is written of each is written as much less often.
        Runs that give no number may read the data, example by example, and are as many as before.
        """
        few: Counter[int] = Counter()
        for numbered in (False, True):
            own, other = (
                Counter(note["steps"] for note in notes if not note["trains"] and (note["numbers"] or not numbered))
                for notes in (self.own("run"), self.other("run"))
            )
            few |= Counter({n: own[n] - other[n] for n in own if other[n] * self.towers >= own[n] > 1})
        return few


def steady_distances(notes: Iterable[Note], same: str) -> dict[str, int]:
    """How many steps lie between each two notes with the same words; none of which these are not always as many."""
    steps: dict[str, list[int]] = {}
    for note in notes:
        steps.setdefault(_words(note, same), []).append(note["steps"])
    apart = {words: {b - a for a, b in zip(at, at[1:], strict=False)} for words, at in steps.items()}
    return {words: found.pop() for words, found in apart.items() if len(found) == 1}


def _words(note: Note, same: str) -> str:
    """What two notes have in common; the tags of a summary without the numbers that TensorFlow gives to taken names.

    A scope that the towers open is not open at the top, and its name is not taken there: `loss` and not `loss_1`.
    The queue of a larger batch may hold more, which TensorFlow puts into the tag of its summary. Of a larger batch
    more images are shown, up to the number that the summary asks for.
    """
    if same != "tags":
        return repr(note[same])
    return repr(sorted(NUMBERED.sub("", tag) for tag in {SHOWN.sub(r"/\1", tag) for tag in note[same]}))


def _at_epochs_end(note: Note, match: Note) -> bool:
    """Whether two numbers mean the same at the end of an epoch: they count epochs or examples, or a script's steps."""
    theirs, own = note["number"], match["number"]
    counts = None not in (theirs, own) and number(theirs) - note["steps"] == number(own) - match["steps"]
    return counts or bool(theirs == own)


def _when(note: Note) -> str:
    return f"after step {note['steps']}" if note["steps"] else "before the first step"


def check_seeds(mine: Facts, theirs: Facts, towers: int) -> CheckResult:
    """The seeds of generators, of the graph and of its shuffling operations are the same, and how far these shuffle.

    A buffer may grow with the batch, where the script computes it from the batch size.
    """
    name = "seeds"
    own, other = (Counter(map(tuple, diary["seeds"])) for diary in (mine, theirs))
    more, fewer = (sorted(counted.elements()) for counted in (other - own, own - other))
    for (what, value), (_, wanted) in zip(more, fewer, strict=False):
        return CheckResult(name, "failed", f"{what} is given the seed {value} instead of {wanted}")
    for what, value in fewer:
        return CheckResult(name, "failed", f"{what} is not given the seed {value}")
    if mine["graph seed"] != theirs["graph seed"]:
        return CheckResult(
            name, "failed", f"the graph has the seed {theirs['graph seed']} instead of {mine['graph seed']}"
        )
    if mine["shuffling"] != theirs["shuffling"]:
        drawn, wanted = (listing(map(_shuffle, diary["shuffling"])) or "nothing" for diary in (theirs, mine))
        return CheckResult(name, "failed", f"data are shuffled by {drawn} instead of {wanted}")
    for size, wanted in zip(theirs.get("buffers", ()), mine.get("buffers", ()), strict=False):
        if size and wanted and size not in (wanted, wanted * towers):
            return CheckResult(
                name, "failed", f"a data set is shuffled in a buffer of {size} examples instead of {wanted}"
            )
    count = sum(own.values()) + (mine["graph seed"] is not None) + sum(bool(seeds) for _, seeds in mine["shuffling"])
    detail = f"{count} seed{'s' if count > 1 else ''} as in the original" if count else "neither script sets a seed"
    return CheckResult(name, "passed", detail)


def _shuffle(shuffling: Sequence[Any]) -> str:
    kind, seeds = shuffling
    return f"{kind} ({', '.join(map(str, seeds))})" if seeds else str(kind)


def check_savers(both: _Notes) -> Iterator[CheckResult]:
    """The script's own savers write the same names; files are saved and restored at the same steps."""
    name = "savers"
    own, other = (Counter(map(tuple, diary["savers"])) for diary in (both.mine, both.theirs))
    if sum(own.values()) != sum(other.values()):  # one of both may have gone on to what follows the training
        own, other = both.savers(both.mine), both.savers(both.theirs)
    if sum(own.values()) != sum(other.values()):
        yield CheckResult(name, "failed", f"makes {sum(other.values())} savers instead of {sum(own.values())}")
        return
    for keys, wanted in zip(sorted((other - own).elements()), sorted((own - other).elements()), strict=False):
        yield CheckResult(name, "failed", f"a saver {_unlike(keys, wanted)}")
        return
    if len(own) == len(other) and (unlike := _kept_otherwise(both)):
        yield CheckResult(name, "failed", unlike)
        return
    compared = [kind for kind in ("saved", "restored") if kind not in both.by_values]
    for kind in ("saved", "restored"):
        yield from both.left(name, kind)
    if fault := next((fault for kind in compared for fault in _unlike_files(both, kind)), ""):
        yield CheckResult(name, "failed", fault)
        return
    files = sum(len(both.other(kind)) for kind in compared)
    paired = [pair for kind in compared for pair in both.pairs(kind, "keys")]
    later = sum(match is not None and match["steps"] > note["steps"] for note, match in paired)
    if own or files:
        made = f"{sum(own.values())} with the names that the original's write" if own else "none of its own yet"
        made += f"; {files} files as the original's" if files else ""
        yield CheckResult(name, "passed", made + (f", {later} of them after as many examples" if later else ""))


def _unlike_files(both: _Notes, kind: str) -> Iterator[str]:
    """How the files that are saved, or restored, are not the original's."""
    for note, match in both.pairs(kind, "keys"):
        done = f"{note['file']} is {kind} {_when(note)}"
        if match is None:
            yield f"{done}, not so in the original"
        elif _file(note) != _file(match):
            yield f"{done} instead of {match['file']}"
        elif not _counts_alike(both, kind, "keys", note, match):
            yield _another_number(note, match, f"the file {kind}")
    yield from (f"{note['file']} is not {kind} {_when(note)}" for note in both.lacking(kind, "keys"))


def _kept_otherwise(both: _Notes) -> str:
    """How the savers keep other files than the original's; "" if as many are made and they keep the same."""
    own, other = (diary.get("kept", []) for diary in (both.mine, both.theirs))
    if len(own) != len(other):
        return ""
    for (count, hours), (wanted, wanted_hours) in zip(other, own, strict=True):
        if count != wanted:
            return f"a saver keeps {count or 'all'} files instead of {wanted or 'all'}"
        if hours != wanted_hours:
            return f"a saver keeps a file for good each {hours:g} hours instead of {wanted_hours:g}"
    return ""


def _unlike(keys: Sequence[str], wanted: Sequence[str]) -> str:
    lacks, has = sorted(set(wanted) - set(keys)), sorted(set(keys) - set(wanted))
    words = [f"does not write {listing(lacks)}"] if lacks else []
    return " and ".join(words + ([f"also writes {listing(has)}"] if has else []))


def _file(note: Note) -> str:
    """A file's name without a time or the number of a run."""
    return re.sub(r"\d+", "#", str(note["file"]).replace("\\", "/").rsplit("/", 1)[-1])


def _another_number(note: Note, match: Note, what: str) -> str:
    return f"{what} {_when(note)} has the step {note['number']} instead of {match['number']}"


def _counts_alike(both: _Notes, kind: str, same: str, note: Note, match: Note) -> bool:
    """True if a step number is the original's after as many steps or, if it counts examples, after as many examples."""
    if note["number"] == match["number"]:
        return True
    if note["number"] is None or match["number"] is None:
        return False
    if note["steps"] != match["steps"]:
        return _at_epochs_end(note, match)
    numbers = {one["steps"]: one["number"] for one in both.own(kind) if _words(one, same) == _words(note, same)}
    ways = {
        value - numbers[steps - 1]
        for steps, value in numbers.items()
        if value is not None and numbers.get(steps - 1) is not None
    }
    if ways == {1}:
        return False
    first = min(note["steps"], 1)
    later = numbers.get(first + (note["steps"] - first) * both.towers)
    return later is None and not ways or later == note["number"] or note["number"] == match["number"] * both.towers


def check_summaries(both: _Notes) -> Iterator[CheckResult]:
    """The same summaries are written, with the same tags and step numbers."""
    name = "summaries"
    yield from both.left(name, "summary")
    if "summary" in both.by_values:
        return
    if fault := next(_unlike_summaries(both), ""):
        yield CheckResult(name, "failed", fault)
    elif count := len(both.other("summary")):
        yield CheckResult(name, "passed", f"{count} written with the original's tags and step numbers")


def _unlike_summaries(both: _Notes) -> Iterator[str]:
    """How the summaries that are written are not the original's."""
    for note, match in both.pairs("summary", "tags"):
        if match is None:
            yield f"{listing(note['tags'])} is written {_when(note)}, not so in the original"
        elif not _counts_alike(both, "summary", "tags", note, match):
            yield _another_number(note, match, f"the summary {listing(note['tags'])}")
    lacking = both.lacking("summary", "tags")
    written = {(note["steps"], _words(note, "tags")) for note in both.other("summary")}
    few, less = both.fewer_evaluations(), Counter((note["steps"], _words(note, "tags")) for note in lacking)
    for note in lacking:
        kind = note["steps"], _words(note, "tags")
        if kind not in written or less[kind] > few[note["steps"]]:
            yield f"{listing(note['tags'])} is not written {_when(note)}"


def check_printed(both: _Notes) -> Iterator[CheckResult]:
    """A printed number that shows a fetched value in the original shows the same value in the conversion."""
    pairs, rest, left = _paired(both.own("printed"), both.other("printed"), lambda note: (note["steps"], _form(note)))
    fault = "" if both.by_one else _miscounted(pairs, [note for note in rest if note["steps"] <= COUNTED])
    return _printed(pairs, left, (both.own("run"), both.other("run")), both.towers, fault)


def check_printed_in_order(mine: Facts, theirs: Facts, towers: int, by_one: bool) -> Iterator[CheckResult]:
    """The same check for whole runs: lines of one form are paired in their order."""
    own, other = (diary["notes"] for diary in (mine, theirs))
    pairs, rest, _ = _paired(own.get("printed", ()), other.get("printed", ()), _form)
    fault = "" if by_one else _miscounted(pairs, rest)
    return _printed(pairs, 0, (own.get("run", []), other.get("run", [])), towers, fault)


def _paired(
    own: Sequence[Note], other: Sequence[Note], key: Callable[[Note], Any]
) -> tuple[list[tuple[Note, Note]], list[Note], int]:
    """Notes with the same key, in their order; the original's that are left, and how many of the other's are."""
    waiting: dict[Any, list[Note]] = {}
    for note in own:
        waiting.setdefault(key(note), []).append(note)
    pairs = [(waiting[key(note)].pop(0), note) for note in other if waiting.get(key(note))]
    return pairs, [*chain(*waiting.values())], len(other) - len(pairs)


def _miscounted(pairs: list[tuple[Note, Note]], rest: Iterable[Note] = ()) -> str:
    """The fault where the original prints how many steps it has taken, and the conversion another number.

    rest: lines of the original without a partner, which count the steps as well where its others do: not where a
    second model is trained, and they begin at 0 again.
    """
    further: dict[tuple[str, int], set[int]] = {}
    for note in rest:
        for place, text in enumerate(NUMBER.findall(note["line"])):
            further.setdefault((_form(note), place), set()).add(int(text) - note["steps"] if text.isdigit() else -1)
    counts: dict[tuple[str, int], list[tuple[int, Note, str, str]]] = {}
    for match, note in pairs:
        for place, texts in enumerate(zip(NUMBER.findall(match["line"]), NUMBER.findall(note["line"]), strict=True)):
            counts.setdefault((_form(match), place), []).append((match["steps"], note, *texts))
    for key, found in counts.items():
        if len({steps for steps, *_ in found}) < 2 or not all(re.fullmatch(r"\d+", text) for *_, text, _ in found):
            continue
        apart = {int(text) - steps for steps, _, text, _ in found} | further.get(key, set())
        for _, note, _, text in found if len(apart) == 1 else ():
            if not text.isdigit() or int(text) - note["steps"] not in apart:
                return f"prints {text} {_when(note)}, where the original prints how many steps it has taken"
    return ""


def _form(note: Note) -> str:
    return NUMBER.sub("#", str(note["line"]))


def _printed(
    pairs: list[tuple[Note, Note]], left: int, notes: tuple[list[Note], list[Note]], towers: int, fault: str
) -> Iterator[CheckResult]:
    """Compares pairs of printed lines, one of each script.

    left: how many lines have no partner; notes: of the runs of both scripts; fault: what is wrong with all of them.
    """
    name, shown = "printed values", 0
    if fault := fault or _miscopied(pairs, notes, towers):
        yield CheckResult(name, "failed", fault)
        return
    for match, note in pairs:
        runs = _runs(notes[0], match), _runs(notes[1], note)
        for text, wanted in zip(NUMBER.findall(note["line"]), NUMBER.findall(match["line"]), strict=True):
            how = _shows(text, wanted, runs, towers)
            if how is not None and how != 1.0:
                yield CheckResult(
                    name, "failed", f"prints {text} {_when(note)}, which is {how:g} times the value fetched"
                )
                return
            shown, left = shown + (how is not None), left + (how is None and text != wanted)
    if shown:
        yield CheckResult(name, "passed", f"{shown} are the values that the runs fetched")
    if left:
        yield CheckResult(name, "skipped", f"{left} are not values of a run (counts, sums, averages of several)")


def _miscopied(pairs: list[tuple[Note, Note]], notes: tuple[list[Note], list[Note]], towers: int) -> str:
    """The fault where lines of the original print a whole number that a run gave, and the conversion a multiple of its.

    A whole number may be like a value by chance, in one line: it counts where several lines print different ones, each
    the value at one place of what one of the runs before it gave.
    """
    rows: dict[tuple[str, int], list[tuple[str, str, Note, dict[Any, float], dict[Any, float]]]] = {}
    for match, note in pairs:
        values = (_by_place(_runs(notes[0], match)), _by_place(_runs(notes[1], note)))
        for place, texts in enumerate(zip(NUMBER.findall(match["line"]), NUMBER.findall(note["line"]), strict=True)):
            if all(text.isdigit() for text in texts):
                rows.setdefault((_form(match), place), []).append((*texts, note, *values))
    for found in rows.values():
        for where in found[0][3] if len({wanted for wanted, *_ in found}) > 1 else ():
            if any(own.get(where) != int(wanted) for wanted, _, _, own, _ in found):
                continue
            for _, text, note, _, other in found:
                for how in (towers, 1 / towers):
                    if other.get(where) and int(text) == other[where] * how != other[where]:
                        return f"prints {text} {_when(note)}, which is {how:g} times the value fetched"
    return ""


def _by_place(runs: list[list[float]]) -> dict[tuple[int, int], float]:
    """{(number of the run, place in it): value}."""
    return {(run, place): value for run, values in enumerate(runs) for place, value in enumerate(values)}


def _runs(runs: list[Note], line: Note) -> list[list[float]]:
    """The values that the last runs before a line fetched, the latest first."""
    before = [run for run in runs if run["order"] < line["order"] and run["steps"] >= line["steps"] - 1]
    return [[number(value) for value in run["numbers"]] for run in before[::-1][:RUNS]]


def _shows(text: str, wanted: str, runs: tuple[list[list[float]], list[list[float]]], towers: int) -> float | None:
    """A printed number over the fetched value that the original shows there; None if it shows none."""
    if not re.search(r"[.eE]", wanted):
        return None
    found = []
    for own, other in zip(*runs, strict=False):
        for value, theirs in zip(own, other, strict=True) if len(own) == len(other) else ():
            for factor in (1.0, 100.0):
                if value and _rounded(wanted, value * factor):
                    if _rounded(text, theirs * factor):
                        return 1.0
                    found += [ratio for ratio in (towers, 1 / towers) if _rounded(text, theirs * factor * ratio)]
    digits = len(re.sub(r"^[-+0.]*|\D", "", wanted))
    # the same text in both is another number that is like a value by chance, such as a learning rate of 0.1000
    return float(found[0]) if found and digits > 1 and text != wanted else None


def _rounded(text: str, value: float) -> bool:
    """True if a printed text may be this value after rounding."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return abs(float(text) - value) <= 0.51 * 10.0**-digits + 1e-6 * abs(value)


def check_end(recorded: Facts, replayed: Facts) -> list[CheckResult]:
    """If a script failed within the compared steps, the other one must have failed, too; no check if neither did.

    recorded, replayed: the last events of the conversion and of the original: the number of `steps` taken, and of those
    `skipped` behind them, the `error` that ended the script, and for the original how many `further` steps it took
    behind the recorded ones.
    """
    name = "end of the script"
    theirs, mine = recorded["error"], replayed["error"]
    after, own = recorded["steps"] + recorded["skipped"], len(replayed["steps"]) + replayed["further"]
    if theirs and mine:
        both = f"the conversion ends with an error after step {after} ({theirs}), and so does the original ({mine})"
        return [CheckResult(name, "skipped", both)]
    if theirs:
        detail = (
            f"the conversion fails after step {after}: {theirs}; the original, after {_steps_in_words(own)}, does not"
        )
        return [CheckResult(name, "failed", detail)]
    if mine:
        detail = f"the original fails after {_steps_in_words(own)}, which the conversion does not: {mine}"
        return [CheckResult(name, "skipped", detail)]
    return []


def _steps_in_words(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"

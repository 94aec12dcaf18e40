"""The decisions of a conversion, one line each: for the user, and shortened for the file's header."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.plan import Loop, Plan, Replace
from converter.plan.border import OWN, Border, CutEach, CutInput, CutOptional, Drawn, Sum

LOSS_ONCE = "TMG167"  # the rule of losses that are computed once, from merged values
EVALUATION = "evaluation"  # the decision about models that stand outside of the towers
STEP_NUMBERS = "TMG119"  # the rule of --scale-steps
BATCH_SIZE = "TMG110"  # the rule that scales batch sizes
RATE_OF_BATCH_SIZE = "TMG341"  # the warning of a learning rate that is computed from them
COUNTED_BY_ANOTHER = "TMG399"  # the warning of steps that are counted by another number than the batch size
_LINE_END = re.compile(r"\r\n|\n|\r")
_VARIABLES = {
    "cpu": "on the CPU",
    "gpu:0": "on the first GPU",
    "balanced": "whole ones spread over the GPUs",
    "partitioned": "large ones cut into a slice for each GPU, the others spread over the GPUs",
}
_MOST = 6  # names or places in a line


@dataclass(frozen=True)
class Decision:
    """One thing that was decided.

    topic: what about, in a word or two. text: the decision, as a sentence part. brief: the same for the header,
    with its topic; "" for what the header does not say.
    """

    topic: str
    text: str
    brief: str = ""


@dataclass(frozen=True)
class Command:
    """A command that a user runs with a converted file.

    purpose: what it does, in a word. line: for a shell, with names in capitals for what the user fills in.
    """

    purpose: str
    line: str


@dataclass(frozen=True)
class NamedFile:
    """One file of a conversion: its name as it is shown, and its text."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines, without their ends."""
        return _LINE_END.split(self.text)


def decisions_of(
    plans: Sequence[Plan], files: Mapping[str, NamedFile], codes: Collection[str] = ()
) -> tuple[Decision, ...]:
    """The decisions of one conversion, in words for the user.

    files: by the paths of their plans, and others that count steps. codes: those of its findings.
    """
    options = plans[0].options
    return (
        *_model(plans, files),
        *_inputs(plans),
        *_batch(plans, files, COUNTED_BY_ANOTHER in codes),
        *_step_numbers(plans, files),
        *_schedules(plans[0], files),
        *_loss(plans),
        *_statistics(plans[0], files),
        *_models_beside_towers(plans[0], files),
        *_evaluated(plans[0], files),
        *_untrained(plans[0], files),
        *_single_examples(plans[0], files),
        _rate(options.scale_lr, RATE_OF_BATCH_SIZE in codes),
        _variables(plans[0], files),
    )


def _variables(plan: Plan, files: Mapping[str, NamedFile]) -> Decision:
    """Where the variables lie, and which optimizers ask for that."""
    held = _VARIABLES[plan.options.variables]
    places = dict.fromkeys(f"{files[at.path].name}:{at.line}" for at in plan.averaged if at.path in files)
    why = f", where an optimizer averages them behind its update ({_listed(places)})" if places else ""
    return Decision("variables", held + why, f"variables {held}")


def _model(plans: Sequence[Plan], files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    places = []
    for plan in plans:
        for loop in plan.loops:
            lines = [at.line for at in loop.tower]
            if lines:
                where = f"line {min(lines)}" if min(lines) == max(lines) else f"lines {min(lines)} to {max(lines)}"
                places.append(f"{files[plan.path].name}, {where}")
    if places:
        yield Decision("towers", f"built of {_listed(places)}")


def _models_beside_towers(plan: Plan, files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """Models outside of the towers that evaluations feed with batches of all towers."""
    places = [f"{files[at.path].name}, line {at.line}" for at in plan.beside if at.path in files]
    if places:
        where = f"the model of {_listed(places)} stands outside of the towers"
        yield Decision(EVALUATION, f"{where}: GPU 0 computes it, on the batches of all GPUs")


def _evaluated(plan: Plan, files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """Evaluations that keep the script's batch size, as --eval-batch asks."""
    places = dict.fromkeys(f"{files[at.path].name}:{at.line}" for at in plan.evaluated if at.path in files)
    if places:
        kept = "the script's batch size"
        yield Decision("eval batch", f"{kept}, as --eval-batch asks ({_listed(places)})", f"evaluations keep {kept}")


def _untrained(plan: Plan, files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """Branches in which nothing trains, and which have one tower for that."""
    places = dict.fromkeys(f"{files[at.path].name}:{at.line}" for at in plan.untrained if at.path in files)
    if places:
        kept = "one tower and the script's batch size where nothing trains"
        yield Decision(EVALUATION, f"{kept} ({_listed(places)}), so that no more rows are left out", kept)


def _single_examples(plan: Plan, files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """Branches that set the batch size to 1, and which have one tower for that."""
    places = dict.fromkeys(f"{files[at.path].name}:{at.line}" for at in plan.single if at.path in files)
    if places:
        kept = "one tower where the batch size is set to 1"
        yield Decision("one example", f"{kept} ({_listed(places)})", kept)


def _inputs(plans: Sequence[Plan]) -> Iterator[Decision]:
    axes: dict[int, list[str]] = {}
    handed: list[str] = []
    own: list[str] = []
    loops = [loop for plan in plans for loop in plan.loops]
    for loop in loops:
        for one in _cut(loop.border):
            axes.setdefault(one.axis, []).append(one.place)
        made = own if any(shard.helper in OWN for shard in loop.border.shards) else handed
        made += _made(loop)
    drawn = any(isinstance(shard, Drawn) for loop in loops for shard in loop.border.shards)
    said = [f"{_listed(dict.fromkeys(names))} cut along axis {axis}" for axis, names in sorted(axes.items())]
    said += [f"{_listed(dict.fromkeys(own))} for each tower, each step reads an example for each"] if own else []
    said += ["batches drawn by each tower"] if drawn else []
    said += [f"{_listed(dict.fromkeys(handed))} made by the model, each tower is handed its rows"] if handed else []
    if said:
        yield Decision("inputs", "; ".join(said), "inputs " + "; ".join(said))


def _cut(border: Border) -> Iterator[CutInput | CutEach | CutOptional]:
    """What each tower gets its part of."""
    yield from (one for cut in border.cuts if cut.helper not in OWN for one in cut.inputs)
    yield from (one for one in border.bound if isinstance(one, CutEach | CutOptional))


def _made(loop: Loop) -> Iterator[str]:
    """What each tower has of its own, and what it makes and is handed its rows of."""
    yield from (one.place for cut in loop.border.cuts if cut.helper in OWN for one in cut.inputs)
    yield from (place for place, whole in loop.border.restore if whole == loop.handing.whole(place))
    yield from (place for place, _ in loop.handing.guarded)


def _batch(plans: Sequence[Plan], files: Mapping[str, NamedFile], by_another: bool) -> Iterator[Decision]:
    """The batch size, and what becomes of an epoch. by_another: another number counts its steps."""
    options = plans[0].options
    if options.batch == "total":
        kept = "the script's batch size stays the total of a step, and the towers share it"
        if options.asked_batch:
            kept = f"--batch {options.asked_batch} could not be kept, as the warnings say: {kept}"
        yield Decision("batch size", kept, "batch size as it was, shared by the towers")
        yield Decision("epochs", "as many steps as before")
        return
    edits = [(plan, edit) for plan in plans for edit in plan.replaces if edit.why == BATCH_SIZE]
    changes = [(plan, edit) for plan, edit in edits if not _stays(files[plan.path], edit)]
    inserted = [i for plan in plans for i in plan.inserts if i.why == BATCH_SIZE]
    named = {line.partition(" = ")[0] for insert in inserted for line in insert.lines}
    said = [f"{_before(files[p.path], e)} -> {_bare(e.text)}" for p, e in changes if e.text not in named]
    said += [line for insert in inserted for line in insert.lines]
    if not said:
        yield Decision("batch size", "each tower takes the script's", "batch size per tower as it was")
        return
    short = _listed(dict.fromkeys(said))
    where = sorted({f"{files[plan.path].name}:{edit.at.line}" for plan, edit in changes})
    at = f" ({_listed(where)})" if where else ""
    yield Decision("batch size", f"{short} for one step{at}", f"batch size {short}")
    if not any(edit.why == STEP_NUMBERS for plan in plans for edit in plan.replaces):
        yield _epochs(plans, files, by_another)


def _step_numbers(plans: Sequence[Plan], files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """The numbers of steps that --scale-steps divides, with their lines."""
    edits = [(files[plan.path], edit) for plan in plans for edit in plan.replaces if edit.why == STEP_NUMBERS]
    if edits:
        where = [f"{_before(file, edit)} ({file.name}:{edit.at.line})" for file, edit in edits]
        text = f"divided by the number of towers: {', '.join(where)}"
        yield Decision("steps", text, "numbers of steps divided by the number of towers")


def _schedules(plan: Plan, files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """Schedules that go on by steps, which take more examples than before."""
    places = dict.fromkeys(f"{files[at.path].name}:{at.line}" for at in plan.schedules if at.path in files)
    if places:
        text = (
            f"{_listed(list(places))} count{'s' if len(places) == 1 else ''} as many steps as before, each of which "
            f"takes {_number(plan)} times the examples; --scale-steps divide divides them"
        )
        yield Decision("schedule", text)


def _stays(file: NamedFile, edit: Replace) -> bool:
    """Whether an edit keeps a number as it was, such as the default of a flag, or an interval of steps."""
    return _bare(edit.text).startswith(f"{_before(file, edit)} // ")


def _number(plan: Plan) -> str:
    """The number of towers, in words."""
    return "N" if plan.options.num_gpus is None else str(plan.options.num_gpus)


def _epochs(plans: Sequence[Plan], files: Mapping[str, NamedFile], by_another: bool) -> Decision:
    """How the larger batch changes an epoch: it has fewer steps if the script counts them by the batch size."""
    number = _number(plans[0])
    if by_another:
        return Decision("epochs", f"as many steps as before, which take {number} times the examples")
    for at in (at for at in plans[0].counted if at.path in files):
        line = f"{files[at.path].name}:{at.line}"
        text = f"{line} counts by the batch size, so that an epoch takes 1/{number} of the steps"
        return Decision("epochs", text)
    for at in (at for at in plans[0].ended if at.path in files):
        line = f"{files[at.path].name}:{at.line}"
        return Decision("epochs", f"{line} trains until the data ends, which takes 1/{number} of the steps")
    text = (
        "no line was seen that counts steps by the batch size: if their number is fixed, they take "
        f"{number} times the examples, and as long as before; --scale-steps divide trains on as many examples"
    )
    return Decision("epochs", text)


def _bare(text: str) -> str:
    """An expression without the parentheses around it."""
    inner = text[1:-1].strip()
    with suppress(SyntaxError):
        return inner if text[:1] == "(" and ast.dump(parse_text(inner)) == ast.dump(parse_text(text)) else text
    return text


def _loss(plans: Sequence[Plan]) -> Iterator[Decision]:
    """The decision about --loss global; nothing if it was not given."""
    if plans[0].options.loss != "global":
        return
    if any(edit.why == LOSS_ONCE for plan in plans for edit in plan.replaces):
        yield Decision("loss", "computed once from the towers' merged results, as --loss global asks")
    elif any(isinstance(m.how, Sum) for plan in plans for loop in plan.loops for m in loop.border.merges if m.loss):
        yield Decision("loss", "the towers' sums are added, as --loss global asks")
    else:
        text = "the towers' losses are averaged: --loss global changes nothing here"
        yield Decision("loss", text, "--loss global changes nothing")


def _statistics(plan: Plan, files: Mapping[str, NamedFile]) -> Iterator[Decision]:
    """Statistics of the batch, such as those of a batch norm, which each GPU takes of its own examples."""
    places = dict.fromkeys(f"{files[at.path].name}:{at.line}" for at in plan.statistics if at.path in files)
    if places:
        size = "a share of the script's batch" if plan.options.batch == "total" else "as many as the script's batch has"
        yield Decision("statistics", f"of each GPU's own examples, {size} ({_listed(places)})")


def left_out(flags: Sequence[str], target: str) -> Iterator[Decision]:
    """The decision to leave options of the configuration out, as they have no effect for a target."""
    if flags:
        have = "has" if len(flags) == 1 else "have"
        yield Decision("configuration", f"{', '.join(flags)} {have} no effect for {target}")


def _rate(scale: str, of_batch_size: bool) -> Decision:
    """The decision about the learning rate."""
    if of_batch_size:
        further = {"none": "", "linear": ", and once more by --scale-lr", "sqrt": ", and by --scale-lr"}[scale]
        text = f"as the script computes it from the batch size, which grows with the number of towers{further}"
        return Decision("learning rate", text, f"learning rate {text}")
    if scale == "none":
        text = "unchanged; --scale-lr linear or sqrt would scale it with the number of towers"
        return Decision("learning rate", text, "learning rate unchanged")
    text = {"linear": "times the number of towers", "sqrt": "times the square root of the number of towers"}[scale]
    return Decision("learning rate", text, f"learning rate {text}")


def _before(file: NamedFile, edit: Replace) -> str:
    """The text that an edit replaces; of several lines only the first."""
    line = file.lines[edit.at.line - 1]
    if edit.end.line == edit.at.line:
        return line[edit.at.column : edit.end.column]
    return line[edit.at.column :].strip() + " ..."


def _listed(names: Sequence[str] | Mapping[str, object]) -> str:
    found = list(names)
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ", ".join(found[:_MOST]) + more

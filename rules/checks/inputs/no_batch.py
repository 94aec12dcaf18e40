"""No batch of examples goes into the loss."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from converter.analysis.facts import behind_losses
from converter.analysis.inputs.embedded_data import operands_beside
from converter.analysis.library import naming
from converter.analysis.traits import Trait, has
from converter.analysis.values import Bound, Class, Host, Input, Instance, Number, Sequence, Symbol, Tensor, Typed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.questions.drawn_batches import drawn_in
from converter.planner.questions.imported import CHOSEN, brought_by, convert_importing, package_behind, unseen_module
from converter.planner.questions.one_value import is_one_value
from converter.planner.region.inputs import batch_inputs
from converter.planner.wording import finding
from converter.planner.writing.findings import error

CODES = ("TMG202",)


DICTS = (("builtins", "dict"), ("collections", "OrderedDict"), ("collections", "defaultdict"))
_CALLER = "convert the script that calls it: this file changes with it (--output-dir)"
NONE = "no batch of examples goes into the loss of this training step"


@check(Selected, unless=("TMG218", "TMG241", "TMG220", "TMG233", "TMG235", "TMG216"))
def no_batch(case: Selected) -> Iterator[Diagnostic]:
    """Training steps that no batch of examples goes into."""
    facts = case.facts
    if case.unbatched:
        yield _why_no_batch(case)
    elif case.steps and facts.uncut:
        yield _uncut(case, "the loss reads arrays with a row for each example that is fed, but")
    for step in case.steps:
        if not batch_inputs([step]) and not drawn_in(step.behind):
            yield finding(facts, step.call, "TMG202 none")


@check(Selected)
def iterator_without_a_batch(case: Selected) -> Iterator[Diagnostic]:
    """Iterators that are not known to give a batch, beside inputs that are batches."""
    values = behind_losses(case.steps).values()
    for value in values if batch_inputs(case.steps) else ():
        if isinstance(value, Input) and value.op.endswith("get_next") and value.batch.kind == "free":
            yield finding(case.facts, value.node or case.steps[0].call, "TMG202 iterator")


@check(Placed)
def whole_data_set_beside(case: Placed) -> Iterator[Diagnostic]:
    """Lists in the graph that meet a whole data set which is fed: they may have a row for each example, too."""
    for entry in operands_beside(case.facts, [step.loss for step in case.steps]) if case.size.whole else ():
        shown = entry.value.label or getattr(entry.value, "call", "") or "a list"
        yield finding(case.facts, entry.key[0], "TMG202 whole_data_set", shown=shown)


def _why_no_batch(case: Selected) -> Diagnostic:
    """Why a training step has no batch."""
    facts, step = case.facts, case.unbatched[0]
    for value in step.behind.values():
        if isinstance(value, Input) and value.op == "train.dequeue":
            name = value.label or "NAME"
            return finding(facts, value.node or step.call, "TMG202 dequeued", name=name)
    outermost = list(step.site.chain())[-1].stmt
    if isinstance(outermost, (ast.FunctionDef, ast.ClassDef)):
        return error(
            facts,
            step.call,
            "TMG202",
            f"nothing here calls {outermost.name}: what goes into the loss of this step is not seen",
            convert_importing(facts, step.call, case.sources.users, _CALLER),
        )
    found = _shapeless(case) or _unbatched_iterator(case) or _of_changed_size(case)
    if found is None and facts.uncut:
        return _uncut(case, f"{NONE}, and")
    of_inputs = (_of_other_rows, _of_one_row, _of_entry)
    for reason in (*of_inputs, _from_chosen_module, _from_package, _from_op_library, _of_variables):
        found = found or reason(case)
    return found or finding(facts, step.call, "TMG202 several_models" if case.steps else "TMG202 none")


def _inputs(case: Selected) -> list[Input]:
    """The inputs behind the losses, in the order of the script."""
    return sorted((v for v in behind_losses(case.unbatched).values() if isinstance(v, Input)), key=lambda v: v.uid)


def _shapeless(case: Selected) -> Diagnostic | None:
    """Placeholders whose shapes say nothing, and of which no run shows that they are fed with a number."""
    facts = case.facts
    open_ones = [
        v
        for v in _inputs(case)
        if v.op == "placeholder"
        and v.dims is None
        and v.dtype not in ("bool", "string")
        and v.batch.kind == "free"
        and v.label not in case.options.shared
    ]
    for value in open_ones:
        fed = [given for run in facts.runs for key, given in run.feeds if key is value]
        if fed and all(map(is_one_value, fed)):
            continue
        written = next((a.place.key for a in facts.accesses_of(value) if a.write), "")
        name, others = value.label or written or "this input", len(open_ones) - 1
        more = f" (nor of {others} others)" if others else ""
        told = "is not followed" if fed else "is not seen"
        return error(
            facts,
            value.node or case.unbatched[0].call,
            "TMG202",
            f"{name} has no shape{more}, and what is fed to it {told}: nothing tells whether it holds a batch",
            "give each that holds examples its shape, with None for their number: tf.placeholder(tf.float32, [None, …])"
            + (f", or say --batch-axis {value.label}=0" if value.label else ""),
        )
    return None


def _unbatched_iterator(case: Selected) -> Diagnostic | None:
    """Iterators of datasets that no batch() is seen of."""
    for value in _inputs(case):
        if value.op.endswith("get_next") and value.batch.kind == "free":
            twice = any(isinstance(made, Typed) and "twice" in made.state for made in value.inputs)
            key = "TMG202 batched_twice" if twice else "TMG202 dataset"
            return finding(case.facts, value.node or case.unbatched[0].call, key)
    return None


def _of_changed_size(case: Selected) -> Diagnostic | None:
    """Placeholders whose number of rows is set again in a branch: `if slow: batch_size = 1`."""
    facts = case.facts
    for value in _inputs(case):
        entries = value.shape.elements if isinstance(value.shape, Sequence) else []
        rows = entries[0] if entries else None
        if not isinstance(rows, Number) or not rows.chosen or rows.linear:
            continue
        if facts.named_sizes(rows.origins):
            lines = sorted({o.line for o in rows.origins})
            where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
            return finding(
                facts,
                value.node or case.unbatched[0].call,
                "TMG202 set_again",
                name=value.label or 'this input',
                where=where,
            )
    return None


def _of_one_row(case: Selected) -> Diagnostic | None:
    """Placeholders for a single example: `[1, 28, 28]`."""
    for value in _inputs(case):
        if has(value.op, Trait.PLACEHOLDER) and value.dims and value.dims[0] == 1 and len(value.dims) > 1:
            return finding(
                case.facts, value.node or case.unbatched[0].call, "TMG202 one_row", name=value.label or 'this input'
            )
    return None


def _of_entry(case: Selected) -> Diagnostic | None:
    """Attributes that are entries of a dict: of a class below `dict`, whose entries are not followed."""
    for value in behind_losses(case.unbatched).values():
        held = value.receiver if isinstance(value, Bound) and value.function is None else None
        if not isinstance(held, Instance) or held.cls is None or not _is_dict(held.cls):
            continue
        assert isinstance(value, Bound)
        stmt = value.site.stmt if value.site is not None else case.unbatched[0].call
        read = (n for n in ast.walk(stmt) if isinstance(n, ast.Attribute) and n.attr == value.name)
        return error(
            case.facts,
            next(read, case.unbatched[0].call),
            "TMG202",
            f"the loss needs {value.name} of a {held.cls.name}, a dict whose entries are read as attributes: what the "
            "dict was given is not followed",
            f"set it as an attribute, as in NAME.{value.name} = …, or pass the tensor on under a name of its own",
        )
    return None


def _is_dict(cls: Class) -> bool:
    """Whether a class of the script is one of dicts."""
    return any(isinstance(b, Symbol) and (b.library, b.name) in DICTS for c in cls.lineage() for b in c.bases)


def _from_op_library(case: Selected) -> Diagnostic | None:
    """Operations of a library that the script loads: what they give is known to nobody but them."""
    for value in sorted(behind_losses(case.unbatched).values(), key=lambda v: v.uid):
        library = value.inputs[0] if isinstance(value, Tensor) and value.inputs else None
        if isinstance(library, Tensor) and has(library.op, Trait.LOADS_OPERATIONS):
            return finding(case.facts, getattr(value, "node", None) or case.unbatched[0].call, "TMG202 loaded_library")
    return None


def _of_variables(case: Selected) -> Diagnostic | None:
    """Losses of nothing but variables and constants: the same function in each step."""
    behind = behind_losses(case.unbatched).values()
    if any(isinstance(v, Input) or (isinstance(v, Host) and not _in_variable(v)) for v in behind):
        return None
    if drawn_in(behind_losses(case.unbatched)):
        return None
    return finding(case.facts, case.unbatched[0].call, "TMG202 variables_alone")


def _in_variable(value: Host) -> bool:
    """Whether it is no more than a part of how variables are made: a shape, an initialiser."""
    return value.node is None


def _from_chosen_module(case: Selected) -> Diagnostic | None:
    """Code of a module whose name only a run tells, and that may make the inputs, too."""
    for value in behind_losses(case.unbatched).values():
        call = brought_by(value)
        if call is not None:
            return finding(case.facts, call, "TMG202 chosen_module", advice=CHOSEN)
    return None


def _from_package(case: Selected) -> Diagnostic | None:
    """Code of a package that is not followed, and that may give the loss its batch."""
    facts = case.facts
    unfollowed: set[ast.AST] = set(facts.unfollowed)
    known = ("numpy", "builtins", *naming().modules, naming().library, *sys.stdlib_module_names)
    for value in sorted(behind_losses(case.unbatched).values(), key=lambda v: v.uid):
        package = package_behind(value) if isinstance(value, Host) and value.node in unfollowed else ""
        if not package or package in known or not isinstance(value, Host) or value.node is None:
            continue
        unseen = unseen_module(facts, value)
        return error(
            facts,
            value.node,
            "TMG202",
            f"the loss needs what this call into {package} gives, which is not followed: whether that is a batch, and "
            "of which size, is not seen",
            unseen.hint
            if unseen is not None
            else f"if {package} is a part of this project, put it beside the script, or its folder into sys.path; "
            "otherwise feed what it gives through placeholders with a batch axis",
        )
    return None


def _of_other_rows(case: Selected) -> Diagnostic | None:
    """Inputs whose shapes give plain numbers of rows that differ: none of them is known to be the batch."""
    behind = behind_losses(case.unbatched).values()
    inputs = [v for v in behind if isinstance(v, Input) and has(v.op, Trait.PLACEHOLDER) and v.dims]
    rows = {v.dims[0]: v for v in sorted(inputs, key=lambda v: v.uid) if v.dims and (v.dims[0] or 0) > 1}
    if len(rows) < 2:
        return None
    first, *others = rows.items()
    shown = ", ".join(f"{v.label or 'another input'}: {n}" for n, v in (first, *others))
    return finding(
        case.facts,
        first[1].node or case.unbatched[0].call,
        "TMG202 other_rows",
        shown=shown,
        name=first[1].label or 'NAME',
    )


def _uncut(case: Selected, lead: str) -> Diagnostic:
    """Arrays in the graph that hold the examples, and cannot be cut into shards."""
    step = (*case.steps, *case.unbatched)[0]
    return finding(case.facts, step.call, "TMG202 uncut", lead=lead, reason=case.facts.uncut)

"""Each training step takes one example."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from converter.analysis.arrays.rows import rows_of
from converter.analysis.arrays.shapes import reshaping, shape_of
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, RunCall, TrainStep, behind_losses
from converter.analysis.inputs.feeds import is_one_example, is_one_row
from converter.analysis.reasons import Why
from converter.analysis.values import Constant, Host, Input, Number, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.fed.rows import is_kept
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.own.names import function_of
from converter.planner.questions.fed_without_rows import fed_without_rows
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.questions.one_value import is_one_value
from converter.planner.region.inputs import batch_inputs, uncut_values
from converter.planner.wording import finding
from converter.planner.writing.findings import line_seen_from

CODES = ("TMG218",)


@check(Selected)
def fed_one_by_one(case: Selected) -> Iterator[Diagnostic]:
    """Training steps that take one example each: they have no batch to share among the towers."""
    if case.steps:
        yield from _without_axis(case.facts, case.steps, any_shape=False)
        yield from _of_one_row(case.facts, case.steps)
    elif case.unbatched:
        yield from _without_axis(case.facts, case.unbatched[:1], any_shape=True)
        yield from _of_one_row(case.facts, case.unbatched[:1])


@check(Selected)
def rows_of_one_example(case: Selected) -> Iterator[Diagnostic]:
    """Placeholders for one picture, `[1, None, None, 3]`, fed beside rows that belong to it, such as its boxes."""
    facts, trained = case.facts, {s.result.uid for s in case.steps}
    roots, cut = behind_losses(case.steps), {i.uid for i in batch_inputs(case.steps)}
    for run in facts.runs if cut else ():
        keys = [k for k, v in run.feeds if isinstance(k, Input) and k.uid in roots and not _is_the_same(facts, v, run)]
        beside = next((key for key in keys if key.uid in cut), None)
        for key in keys if beside is not None and run.computes(trained) else ():
            if key.batch.kind == "free" and key.dims and len(key.dims) > 2 and key.dims[0] == 1 and None in key.dims:
                yield finding(
                    facts,
                    key.node or run.call,
                    "TMG218 rows_beside",
                    name=_label(facts, key),
                    beside=_label(facts, beside),
                )


def _is_the_same(facts: Facts, value: Value, run: RunCall) -> bool:
    """Whether each step is fed the same value, or an entry of something that was there before the steps."""
    whole = value
    while isinstance(whole, Host) and whole.call == "[]" and whole.source is not None:
        whole = whole.source
    return bool(is_kept(facts, value, run) or is_kept(facts, whole, run))


def _label(facts: Facts, value: Input | None) -> str:
    """The name of an input in the script."""
    if value is None:
        return "another input"
    written = next((a.place.key for a in facts.accesses_of(value) if a.write), "")
    return value.label or written or "this input"


@check(Selected)
def in_pieces(case: Selected) -> Iterator[Diagnostic]:
    """Batches of which only the steps of a sequence, or one joined row, are left."""
    yield from uncut_values(case.facts, case.steps, {Why.STEPS: "TMG218 steps", Why.JOINED: "TMG218 joined"})


@check(Placed)
def room_for_one(case: Placed) -> Iterator[Diagnostic]:
    """Inputs with a fixed shape of one row, in a script whose batches do not grow with the number of towers."""
    for value in batch_inputs(case.steps) if case.size.fixed else ():
        rows = fixed_size(value)
        if rows is not None and rows.value == 1:
            yield finding(case.facts, value.node or case.steps[0].call, "TMG218 room_for_one")


@check(Placed)
def one_by_default(case: Placed) -> Iterator[Diagnostic]:
    """A setting for the batch size that is 1 where the user gives none, in a script whose batches do not grow."""
    keys = {origin.key for origin in case.size.origins} if case.size.fixed else set()
    if case.size.fixed:  # also where the size of what a step takes was not found, but is written in its shape
        counted = (fixed_size(value) for value in batch_inputs(case.steps))
        keys |= {origin.key for rows in counted if rows is not None for origin in rows.factors()}
    for fallback in case.facts.fallbacks:
        if fallback.setting in keys and _is_one(case.facts, fallback.node):
            yield finding(case.facts, fallback.node, "TMG218 one_by_default")


def _is_one(facts: Facts, node: ast.expr) -> bool:
    """Whether an expression is 1, or a constant that is: `default=BATCH_SIZE`."""
    if isinstance(node, ast.Constant):
        return node.value == 1
    return any(isinstance(a.value, Number) and a.value.value == 1 for a in facts.accesses_at(node))


def _without_axis(facts: Facts, steps: Sequence[TrainStep], any_shape: bool) -> Iterator[Diagnostic]:
    """Examples fed to inputs without a batch axis; `any_shape` where no input of the loss is known to have one."""
    roots = {v.uid for s in steps for v in s.behind.values() if isinstance(v, Input)}
    trained = {s.result.uid for s in steps}
    cut = batch_inputs(steps)
    lone = {(fed.run, fed.key) for fed in fed_without_rows(facts, cut)}
    rows = {*cut, *(key for run in facts.runs for key, value in run.feeds if not is_one_value(value))}
    for run in facts.runs:
        if any(not isinstance(key, Input) or key.uid in roots and _has_batch_axis(key) for key, _ in run.feeds):
            continue  # what is fed beside a batch is a value of the step: whether it has one row is asked below
        fed = [(k, v) for k, v in run.feeds if k.uid in roots]
        numbers = all(_is_number(v) if any_shape else (run, k) in lone for k, v in fed if any_shape or k in cut)
        for key, value in run.feeds:
            shapeless = isinstance(key, Input) and not key.is_own and (any_shape or not key.dims)
            rate = not getattr(key, "dims", None) and key not in rows and _is_literal(value)
            single = is_one_example(value) or (numbers and not rate and (any_shape or key in cut))
            if shapeless and key.uid in roots and single and run.computes(trained):
                yield finding(facts, run.call, "TMG218 without_axis")


def _has_batch_axis(key: Value) -> bool:
    """Whether an input has a place for several examples in its shape."""
    return isinstance(key, Input) and key.batch.kind == "example" and bool(key.dims)


def _is_literal(value: Value) -> bool:
    """Whether the same number or switch is fed in each step: a rate, not an example."""
    return isinstance(value, (Constant, Number)) and getattr(value, "value", None) is not None


def _is_number(value: Value) -> bool:
    """Whether a single number is fed: `0.5`, `xs[i]` of a list of numbers, or of data with `i` in range(len(xs))."""
    if isinstance(value, Number) or shape_of(value) == ():
        return True
    if not isinstance(value, Host) or value.call != "[]" or len(value.inputs) < 2:
        return False
    index = value.inputs[1]
    counts = [n for n in index.inputs if isinstance(n, Number)] if isinstance(index, Number) else []
    asked = [o.node for n in counts for o in n.origins if isinstance(o.node, ast.Call)]
    return any(isinstance(call.func, ast.Name) and call.func.id == "len" for call in asked)


def _of_one_row(facts: Facts, steps: Iterable[TrainStep]) -> Iterator[Diagnostic]:
    """Steps whose batches have a single row each, another one in each run; gradients that are fetched are such, too."""
    grown = {e.value.uid for e in facts.effects_of(EffectKind.MUTATION) if e.value is not None}
    batches = [
        (run, key, value, is_one_row(value, key.batch.axis, grown) and not _is_sized(facts, run, value))
        for run in facts.runs
        for key, value in run.feeds
        if isinstance(key, Input) and key.batch.kind == "example"
    ]
    if not any(single for *_, single in batches):
        return
    trained, roots = {s.result.uid for s in steps}, behind_losses(steps)
    runs = {run for run, *_ in batches if run.computes(trained)}
    fed = [(run, value, single) for run, key, value, single in batches if run in runs and key.uid in roots]
    parts = [(run, value) for run, value, single in fed if single and _is_part(value)]
    alone = [(run, value) for run, value, _ in fed] if all(single for *_, single in fed) else parts
    if alone and not all(is_kept(facts, value, run) for run, value, _ in fed):
        run, value = alone[0]
        at = getattr(value, "node", None) or run.call
        beside = set(ast.walk(run.call))
        fed_in = "" if at in beside else f", which {line_seen_from(facts, at, run.call)} feeds,"
        yield finding(facts, at, "TMG218 one_row", fed_in=fed_in)


def _is_sized(facts: Facts, run: RunCall, value: Value) -> bool:
    """Whether an array has as many rows as a setting for the batch size says, which may be 1 where it is not given.

    One that gets rows at written places alone, `rows[0] = picture`, would have none at further places; another picture
    that is reshaped to `[batch_size, 28, 28]` has too few entries for that.
    """
    if not _is_counted(facts, run, value):
        return False
    arrays = [array for array in needed([value]).values() if _is_counted(facts, run, array)]
    if not any((shape_of(array) or (None,))[0] == 1 for array in arrays):
        return False  # parts of data that has a single row
    sources = (reshaping(array)[0] for array in arrays)
    if any(source is not None and not _is_counted(facts, run, source) for source in sources):
        return False
    written = {access.node for array in arrays for access in facts.item_writes(array)}
    return not any(isinstance(node, ast.Subscript) and _fills_written_places(facts, node) for node in written)


def _is_counted(facts: Facts, run: RunCall, value: Value) -> bool:
    """Whether a number that the script names as a batch size counts the rows of an array."""
    rows = rows_of(facts, value, run.site)
    return rows is not None and bool(facts.named_sizes(rows.factors()))


def _fills_written_places(facts: Facts, filled: ast.Subscript) -> bool:
    """Whether a function fills an array at no other places than `rows[0]`, `rows[0, :]`, however many rows it has."""
    name = ast.unparse(filled.value)
    inside = (node for node in ast.walk(function_of(facts, filled)) if isinstance(node, ast.Subscript))
    stores = [node for node in inside if not isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == name]
    first = (n.slice.elts[0] if isinstance(n.slice, ast.Tuple) and n.slice.elts else n.slice for n in stores)
    return all(isinstance(place, ast.Constant) and isinstance(place.value, int) for place in first)


def _is_part(value: Value) -> bool:
    """Whether rows of a data set are fed: those of one input, and so of all, are as many as it has."""
    node = getattr(value, "node", None)
    first = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(first.elts[0] if isinstance(first, ast.Tuple) and first.elts else first, ast.Slice)

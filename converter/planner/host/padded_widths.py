"""Inputs as wide as the longest sequence of their batch, and whether a model's loss depends on that width.

    longest = max(len(s) for s in batch)
    rows = [s + [0] * (longest - len(s)) for s in batch]

One batch of N times the size is padded to the longest of all its sequences, and so are those that would have stood in
a narrower batch of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from converter.analysis.arrays.rows import PADS, rows_of
from converter.analysis.arrays.shapes import COMPUTES, LARGEST, TAKES_SHAPE
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.traits import Argument, Trait, has, positions
from converter.analysis.values import (
    Host,
    Input,
    Instance,
    Mapping,
    Number,
    Origin,
    Sequence,
    Site,
    Tensor,
    Typed,
    Value,
    grows_with,
    needed,
)


def padded_inputs(facts: Facts, steps: Iterable[TrainStep], scaled: Set[Origin]) -> dict[Input, ast.AST]:
    """Inputs of a training step that are padded to the longest of their batch, each with the call that does so."""
    found: dict[Input, ast.AST] = {}
    for step in steps:
        for value in step.behind.values():
            pads = _pipeline_pads(value) if isinstance(value, Input) and value.batch.kind == "example" else None
            if pads is not None and isinstance(value, Input):
                found.setdefault(value, pads)
    for run in facts.runs_of(steps):
        for key, value in run.feeds:
            if isinstance(key, Input) and key.batch.kind == "example" and key not in found:
                node = next(_padded(facts, value, scaled), None)
                if node is not None:
                    found[key] = node
    return found


# -- how wide the batches are ----------------------------------------------------------------------


def _pipeline_pads(value: Input) -> ast.AST | None:
    """The call by which a pipeline or a queue pads each batch to its longest example."""
    if has(value.op, Trait.FROM_QUEUE):
        told = {k.arg: k.value for k in value.node.keywords} if isinstance(value.node, ast.Call) else {}
        pads, of_one_size = told.get("dynamic_pad"), value.dims is not None and None not in value.dims[1:]
        return value.node if isinstance(pads, ast.Constant) and pads.value is True and not of_one_size else None
    for made in needed(value.inputs).values():
        if not isinstance(made, Typed) or not isinstance(made.node, ast.Call):
            continue
        if has(made.name, Trait.PADS_BATCHES) and not _is_constant(_shapes_given(made)):
            return made.node
    return None


def _shapes_given(made: Typed) -> Value | None:
    """The shapes that the examples of a batch are padded to."""
    given = made.kwargs.get("padded_shapes")
    if given is not None or not has(made.name, Trait.TAKES_PADDED_SHAPES):
        return given
    return made.args[1] if len(made.args) > 1 else None


def _is_constant(shapes: Value | None) -> bool:
    """Whether all lengths are written out: `[None]` and -1 mean the longest of the batch, and so may other code."""
    if isinstance(shapes, Typed) and shapes.args:  # tf.TensorShape([10])
        shapes = shapes.args[0]
    if isinstance(shapes, Number):
        return shapes.value is None or shapes.value >= 0
    if isinstance(shapes, Mapping):
        return all(_is_constant(shape) for _, shape in shapes.pairs)
    return isinstance(shapes, Sequence) and not shapes.many and all(map(_is_constant, shapes.elements))


def _padded(facts: Facts, value: Value, scaled: Set[Origin]) -> Iterator[ast.AST]:
    """The calls that say how wide a fed value is, where that is the longest of its batch."""
    seen: set[tuple[int, bool]] = set()
    todo = [(value, False)]
    while todo:
        one, width = todo.pop()
        if (one.uid, width) in seen:
            continue
        seen.add((one.uid, width))
        node, called = _call_of(one)
        if node is not None and (width and _is_largest(called, node) or _pads_itself(called, node)):
            if _is_of_batch(facts, one, node, scaled):
                yield node
            continue
        if width and isinstance(one, Number) and one.chosen:
            yield from _longest_so_far(facts, one, scaled)
        todo += _parts(facts, one, called, width)


def _call_of(value: Value) -> tuple[ast.Call | None, str]:
    """The call that gives a value, and the last part of the name of what is called."""
    if not isinstance(value, (Host, Tensor)):
        return None, ""
    name = value.call if isinstance(value, Host) else value.op
    return value.node if isinstance(value.node, ast.Call) else None, name.rpartition(".")[2]


def _longest_so_far(facts: Facts, value: Number, scaled: Set[Origin]) -> Iterator[ast.AST]:
    """`if len(row) > longest: longest = len(row)`: lengths of rows of a batch, of which a width is one."""
    for length in (v for v in value.inputs if isinstance(v, Number) and len(v.inputs) == 1):
        if length.site is not None and any(_counts_rows(facts, *one, scaled) for one in _loops(facts, length.site)):
            yield from (origin.node for origin in length.origins if isinstance(origin.node, ast.Call))


def _loops(facts: Facts, site: Site) -> Iterator[tuple[Value, Site]]:
    """The iterables of the loops around a statement, in the frame that executes it."""
    yield from ((facts.turned[s], s) for s in site.chain() if s.frame is site.frame and s in facts.turned)


def _counts_rows(facts: Facts, value: Value, site: Site, scaled: Set[Origin]) -> bool:
    """Whether a value has as many rows as a batch, where it is read."""
    rows = rows_of(facts, value, site)
    return rows is not None and bool(rows.factors() & scaled)


def _is_largest(called: str, node: ast.Call) -> bool:
    """Whether a call gives the largest of several numbers, and is no bound such as `max(n, 0)`."""
    bound = len(node.args) > 1 and any(isinstance(arg, ast.Constant) for arg in node.args)
    return called in LARGEST and not bound and not any(keyword.arg == "axis" for keyword in node.keywords)


def _pads_itself(called: str, node: ast.Call) -> bool:
    """Whether a call pads to the longest of what it is given."""
    return called == PADS and len(node.args) < 2 and not any(k.arg in (None, "maxlen") for k in node.keywords)


def _parts(facts: Facts, value: Value, called: str, width: bool) -> Iterator[tuple[Value, bool]]:
    """The values from which a value is computed; True beside those that decide its width."""
    if isinstance(value, Sequence):
        over = facts.listed.get(value.uid)
        yield from ((bound, True) for bound in (facts.ranges.get(over.uid, ()) if over is not None else ()))
        yield from ((part, width) for part in value.elements)
        yield from ((more, True) for more in value.inputs if more not in value.elements)
    elif isinstance(value, Host) and called == "[]" and not width:
        whole, *keys = value.inputs
        yield whole, False
        bounds = [b for key in keys for b in (key.elements if isinstance(key, Sequence) else [key])]
        yield from ((bound, True) for bound in bounds if isinstance(bound, Host) and bound.call == "slice")
    elif isinstance(value, Host) and width:
        yield from ((part, True) for part in (value.inputs if called in COMPUTES else ()))
    elif isinstance(value, Host):
        repeated = called == "multiply" and isinstance(value.inputs[0], Sequence)  # `[0] * n`
        sized = called in TAKES_SHAPE or "pad" in called or repeated
        call = value.node if isinstance(value.node, ast.Call) else None
        given = len(call.args) + len(call.keywords) + 1 if call is not None else len(value.inputs)
        # What is put into an array later, by `x[i] = …`, stands behind the arguments: it is no size.
        yield from ((part, sized and at < given) for at, part in enumerate(value.inputs))
    elif isinstance(value, Tensor):
        yield from ((part, width or "pad" in called) for part in value.inputs)
    elif width:
        yield from ((part, True) for part in value.inputs)


def _is_of_batch(facts: Facts, value: Value, node: ast.Call, scaled: Set[Origin]) -> bool:
    """Whether a call looks at the rows of one batch, and not at those of all data."""
    site = value.site
    if site is None:
        return False
    reads = (a for inner in ast.walk(node) for a in facts.accesses_at(inner) if not a.write)
    read = [a for a in reads if a.site.frame is site.frame and not isinstance(a.value, Instance)]
    seen = (*((a.value, a.site) for a in read), *_loops(facts, site))
    if any(_counts_rows(facts, *one, scaled) for one in seen):
        return True
    return any(grows_with(v, scaled) for a in read for v in facts.behind(a.value).values())


# -- what the loss makes of it ---------------------------------------------------------------------


def depends_on_width(facts: Facts, step: TrainStep, padded: Set[Input]) -> bool:
    """Whether a loss may be another number if its inputs are padded further.

    It is where the loss is a mean over all entries, those of the padding with them; and where nothing of the model
    knows how long the sequences are.
    """
    behind = [v for v in step.behind.values() if isinstance(v, Tensor)]
    if not any(v in padded for v in behind):
        return False
    told = {v.node for v in facts.tensors if _is_told_lengths(v)}
    known = any(v.node in told or _knows_lengths(v, padded) for v in behind)
    return not known or any(_means_over_width(v, padded) for v in behind)


def _is_told_lengths(value: Tensor) -> bool:
    """Whether a recurrent net is given the lengths of its sequences."""
    place = positions(Argument.LENGTHS).get(value.op)
    if place is None or not isinstance(value.node, ast.Call):
        return False
    told = [k.value for k in value.node.keywords if k.arg == "sequence_length"] or value.node.args[place : place + 1]
    return bool(told) and not (isinstance(told[0], ast.Constant) and told[0].value is None)


def _as_fed(value: Value) -> Value:
    """The input that a value is, but for its type or its shape."""
    while isinstance(value, Tensor) and has(value.op, Trait.KEEPS_ROW_NUMBERS) and value.inputs:
        value = value.inputs[0]
    return value


def _means_over_width(value: Tensor, padded: Set[Input]) -> bool:
    """Whether a tensor is the mean of values that each entry of padded inputs has, without a mask."""
    batch = value.batch
    if batch.kind != "reduced" or batch.how != "mean" or batch.over is not None:
        return False
    taken = [v for v in value.inputs if isinstance(v, Tensor) and v.batch.kind == "example" and v.batch.over is None]
    return any(not padded.isdisjoint(v.roots) for v in taken) and all(map(_has_steps, taken))


def _has_steps(value: Tensor) -> bool:
    """Whether a tensor has entries for each step of an example, as far as its shape is known."""
    return bool(value.batch.packed) or (value.dims is not None and value.dims.count(None) > 1)


def _knows_lengths(value: Tensor, padded: Set[Input]) -> bool:
    """Whether an operation leaves the padding out, or is a mask of it."""
    if value.batch.over is not None or has(value.op, Trait.KNOWS_LENGTHS):
        return True
    tells = has(value.op, Trait.TELLS_PADDING) or has(value.op, Trait.SCALES)
    return tells and any(_as_fed(v) in padded for v in value.inputs)  # a mask that is fed, or made of the sequences

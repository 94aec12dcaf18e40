"""The model contains a number that equals the batch size."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from converter.analysis.facts import Facts, behind_losses
from converter.analysis.reasons import Why
from converter.analysis.tensors.equated import equated
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Count,
    Host,
    Input,
    Number,
    Sequence,
    Tensor,
    Told,
    Typed,
    Value,
    Variable,
    needed,
    tensors_in,
)
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.executions import StepGroup
from converter.planner.region.inputs import batch_inputs
from converter.planner.wording import finding

CODES = ("TMG254",)


EQUALS, TAKES = "TMG254 equals_batch_size", "TMG254 counts_rows"
LEAST_TOWERS = 2  # where the number of GPUs is not known before a run
OF_LAYERS = ("batch_input_shape", "batch_shape", "batch_size")  # arguments of Keras layers
BY_NUMBER = (Why.APART, Why.PART, Why.PICKED, Why.PICKED_BY_INDEX, Why.PICKED_LARGEST)  # how rows are taken
PARTS = (Why.APART, Why.PART, Why.PICKED, Why.SPLIT, Why.REVERSED)


@check(Placed, batch="total")
def as_large_as_the_batch(case: Placed) -> Iterator[Diagnostic]:
    """Numbers written in the model that are as large as the batch size, where a tower has a share of the rows."""
    facts, regions = case.facts, case.regions
    known = _values(facts, case.size) | _fixed_rows(case)
    if not known:
        return
    share = min(known) / (case.options.num_gpus or LEAST_TOWERS)
    literal = _Literal(known, {o.key for o in case.size.origins}, share)
    found: dict[ast.AST, str] = {}
    for tensor in facts.tensors:
        message = (
            _message_of_literal(tensor, literal) if any(region.in_tower(tensor.site) for region in regions) else ""
        )
        if message:
            found[tensor.node or regions[0].block.body[0]] = message
    for tensor, first, node, site in facts.set_shapes:
        rows = tensor.batch.kind == "example" and not tensor.batch.axis and literal.counts(first)
        if rows and any(region.in_tower(site) for region in regions):
            found[node] = EQUALS
    for node, key in found.items():
        yield finding(facts, node, key)


def _message_of_literal(tensor: Tensor, literal: _Literal) -> str:
    """What a plain number tells an operation of the rows of a batch: the key of a message; "" for nothing."""
    if any(literal.is_meant(length.by) for length in equated(tensor)) or _is_told_rows(tensor, literal):
        return EQUALS
    rows = any(v.batch.kind == "example" for part in tensor.inputs for v in tensors_in(part))
    taken = rows and (_takes_rows(tensor, literal) or _has_all_entries(tensor, literal))
    return TAKES if taken or _counts_rows(tensor, literal) or _loops_over_rows(tensor, literal) else ""


@check(Placed, batch="per-gpu")
def rows_of_one_batch(case: Placed) -> Iterator[Diagnostic]:
    """With --batch per-gpu a loss that is computed once takes several of the script's batches, one after the other.

    A number in it that is as large as the batch size has the rows of one of them; a part of the rows, such as the
    first half, is another one.
    """
    for group in case.groups:
        if group.region.exact:
            yield from _rows_of_losses(case, group)


def _is_told(group: StepGroup, value: Value, reader: Tensor) -> bool:
    """Whether what a tensor reads behind the towers is no part of a batch for the same reason: that is said there."""
    same = isinstance(value, Tensor) and value.batch.why is reader.batch.why
    return same and not group.region.in_tower(value.site)


def _rows_of_losses(case: Placed, group: StepGroup) -> Iterator[Diagnostic]:
    known, keys = _values(case.facts, case.size), {o.key for o in case.size.origins}
    for value in behind_losses(group.steps).values():
        if not isinstance(value, Tensor) or isinstance(value, (Input, Variable)) or group.region.in_tower(value.site):
            continue
        lists = (v.elements for v in value.inputs if isinstance(v, Sequence))
        numbers = (v for v in chain(value.inputs, *lists) if isinstance(v, Number))
        apart = value.batch.why in PARTS and not any(_is_told(group, v, value) for v in value.inputs)
        if apart or any(n.value in known and _is_apart(n, keys) for n in numbers):
            yield finding(case.facts, value.node or group.steps[0].call, "TMG254 rows_of_one_batch")


@dataclass(frozen=True)
class _Literal:
    """Numbers that are written in the model, and are as large as a batch.

    known: how large that is. keys: the places of numbers that are the batch size itself. share: how many rows a tower
    has.
    """

    known: set[float]
    keys: set[tuple[object, ...]]
    share: float

    def counts(self, value: Value) -> bool:
        """Whether a number is one of these."""
        return isinstance(value, Number) and value.value in self.known and _is_apart(value, self.keys)

    def is_plain(self, value: Value) -> bool:
        """Whether a number is written in the model and counts something, whatever its size."""
        return isinstance(value, Number) and (value.value or 0) > 0 and _is_apart(value, self.keys)

    def goes_beyond(self, value: Value) -> bool:
        """Whether a number, as the place of a row, is none of those that a tower has rows for."""
        if not isinstance(value, Number):
            return False
        if not value.origins:  # the variable of a loop: `for i in range(64)`
            return any(map(self.counts, value.inputs))
        beyond = value.value is not None and self.share <= value.value <= max(self.known)
        return beyond and _is_apart(value, self.keys)

    def is_meant(self, value: Value) -> bool:
        """Whether a length is said by one of these, or by a list of so many entries that stands in the script."""
        if not isinstance(value, Sequence):
            return self.counts(value)
        numbers = [v for v in needed([value]).values() if isinstance(v, Number)]
        own = any(o.key in self.keys for v in numbers for o in v.origins)
        return len(value.elements) in self.known and not own


def _is_told_rows(tensor: Tensor, literal: _Literal) -> bool:
    """Whether a layer of Keras that keeps a state is told how many rows a batch has."""
    layers = [v for v in tensor.inputs if isinstance(v, Typed) and getattr(v.kwargs.get("stateful"), "value", False)]
    told = [layer.kwargs[name] for layer in layers for name in OF_LAYERS if name in layer.kwargs]
    return any(literal.counts(v.elements[0] if isinstance(v, Sequence) and v.elements else v) for v in told)


def _counts_rows(tensor: Tensor, literal: _Literal) -> bool:
    """Whether the number of rows of a batch is set against a number: `tf.assert_equal(tf.shape(x)[0], 64)`."""
    counts = any(isinstance(v, Count) and not v.scaled for v in tensor.inputs)
    return counts and has(tensor.op, Trait.COMPARES) and any(map(literal.counts, tensor.inputs))


def _loops_over_rows(tensor: Tensor, literal: _Literal) -> bool:
    """Whether a loop of the graph takes one row after the other, as many as a number in its condition says."""
    taken = (t.batch.why for v in tensor.inputs for t in tensors_in(v))
    if tensor.batch.why is not Why.LOOP or not any(why in BY_NUMBER for why in taken):
        return False
    conditions = [v for v in tensor.inputs if getattr(v, "op", getattr(v, "call", "")) == "compare"]
    return any(literal.counts(v) for condition in conditions for v in condition.inputs)


def _takes_rows(tensor: Tensor, literal: _Literal) -> bool:
    """Whether rows of a batch are taken by their numbers, of which a number says how many there are, or which."""
    if tensor.batch.why not in BY_NUMBER:
        return False
    given = [v for v in tensor.inputs if not any(t.batch.kind != "free" for t in tensors_in(v))]
    if tensor.batch.why is Why.PART:
        return any(map(literal.goes_beyond, _begins(given)))
    places = [v for v in given if isinstance(v, Number)]
    arrays = [v for v in given if isinstance(v, (Tensor, Host))]
    behind = (v for v in needed(arrays).values() if isinstance(v, Number))
    return any(map(literal.goes_beyond, places)) or any(map(literal.counts, behind))


def _begins(given: Iterable[Value]) -> Iterator[Value]:
    """Where a part of the rows begins: `4` of `x[4:]`, of `tf.slice(x, [4, 0], [-1, -1])`."""
    for value in given:
        if isinstance(value, Sequence):
            yield from value.elements[:1]
            return
        if isinstance(value, Host) and isinstance(value.node, ast.Slice):
            yield from value.inputs[:1] if value.node.lower is not None else ()
            return


def _has_all_entries(tensor: Tensor, literal: _Literal) -> bool:
    """Whether plain numbers count all entries of a batch: `tf.reshape(x, [16, 5])`."""
    shape = tensor.lengths if tensor.batch.kind == "opaque" else None
    behind = {id(length) for value in tensor.inputs if isinstance(value, Tensor) for length in value.lengths or ()}
    told = [length for length in shape or () if isinstance(length, Told) and id(length) not in behind]
    return bool(told) and len(told) == len(shape or ()) and all(literal.is_plain(length.by) for length in told)


def _is_apart(number: Number, keys: set[tuple[object, ...]]) -> bool:
    origins = number.origins
    return bool(origins) and all(o.key[0] == "literal" and o.key not in keys for o in origins)


def _fixed_rows(case: Placed) -> set[float]:
    """How many rows the inputs have whose shapes fix them: `tf.placeholder(tf.float32, [8, 16])`."""
    sizes = (fixed_size(one) for one in batch_inputs(case.steps) if one.batch.kind == "example")
    return {size.value for size in sizes if size is not None and size.value is not None and size.value > 1}


def _values(facts: Facts, size: BatchSize) -> set[float]:
    """How large the batch size is, as the script has it or as its flags are by default; nothing for a single row."""
    names = {o.key[-1] for o in size.scaled if o.key[0] == "flag"}
    defaults = (flag.default for flag in facts.flags if flag.name in names)
    found: set[object] = {n.value for n in defaults if isinstance(n, ast.Constant)}
    found |= {o.node.value for o in size.scaled if isinstance(o.node, ast.Constant)}
    return {v for v in found if isinstance(v, int) and not isinstance(v, bool) and v > 1}

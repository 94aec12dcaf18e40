"""The model contains a number that equals the batch size."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.facts import Facts, behind_losses
from converter.analysis.inputs.feeds import is_zero_state
from converter.analysis.reasons import Why
from converter.analysis.tensors.places import RANGES
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Number, Sequence, Tensor, Value, Variable, needed, tensors_in
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.groups import Group
from converter.planner.writing.findings import error
from converter.rule import Rule

_LITERAL_ROWS = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
noise = tf.random_normal([{rows}, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X + noise, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size)})
"""

RULES = (
    Rule(
        code="TMG254",
        title="the model contains a number that equals the batch size",
        why="With --batch total the towers share a batch of the script's size, and the batch size means a share of it "
        "in each tower. This number is written in the model, is as large as the batch size (or as the flag for it is "
        "by default), and tells how many rows a batch is reshaped or cut to, or how many a state or another tensor has "
        "that goes with a batch: the rows of a tower are fewer. Write the batch size by its name, or read it off the "
        "batch: tf.shape(X)[0].",
        before=_LITERAL_ROWS.replace("{rows}", "64"),
        after=_LITERAL_ROWS.replace("{rows}", "batch_size"),
        options=("--batch", "total"),
        references=("docs: TMG108, the number inside the towers",),
    ),
)


PARTS = (Why.APART, Why.PART, Why.PICKED, Why.SPLIT, Why.REVERSED)


@check(Placed)
def as_large_as_the_batch(case: Placed) -> Iterator[Diagnostic]:
    """Numbers written in the model that are as large as the batch size, where a tower has a share of the rows."""
    facts, regions = case.facts, case.regions
    known = _values(facts, case.size) if case.options.batch == "total" else set()
    literal = _Literal(known, {o.key for o in case.size.origins})
    for tensor in facts.tensors if known else ():
        if not any(region.in_tower(tensor.site) for region in regions):
            continue
        rows = [v for part in tensor.inputs for v in tensors_in(part) if v.batch.kind == "example" and not v.batch.axis]
        told = has(tensor.op, Trait.TOLD_ROWS) and any(map(literal.counts, _first(tensor)))
        if rows and (told or _meets_as_many_rows(tensor, rows, literal)):
            yield error(
                facts,
                tensor.node or regions[0].block.body[0],
                "TMG254",
                "the model contains a number here that equals the batch size, but each tower has only a share of the "
                "batch",
                "write the batch size by its name",
            )


@check(Placed)
def rows_of_one_batch(case: Placed) -> Iterator[Diagnostic]:
    """With --batch per-gpu a loss that is computed once takes several of the script's batches, one after the other.

    A number in it that is as large as the batch size has the rows of one of them; a part of the rows, such as the
    first half, is another one.
    """
    if case.options.batch == "per-gpu":
        for group in case.groups:
            if group.region.exact:
                yield from _rows_of_losses(case, group)


def _rows_of_losses(case: Placed, group: Group) -> Iterator[Diagnostic]:
    known, keys = _values(case.facts, case.size), {o.key for o in case.size.origins}
    for value in behind_losses(group.steps).values():
        if not isinstance(value, Tensor) or isinstance(value, (Input, Variable)) or group.region.in_tower(value.site):
            continue
        lists = (v.elements for v in value.inputs if isinstance(v, Sequence))
        numbers = (v for v in chain(value.inputs, *lists) if isinstance(v, Number))
        if value.batch.why in PARTS or any(n.value in known and _is_apart(n, keys) for n in numbers):
            yield error(
                case.facts,
                value.node or group.steps[0].call,
                "TMG254",
                "this number counts the rows of one batch, but the loss is computed from the batches of all towers",
                "use --batch total, with which these are one batch",
            )


@dataclass(frozen=True)
class _Literal:
    """Numbers that are written in the model, and are as large as a batch.

    known: how large that is. keys: the places of numbers that are the batch size itself.
    """

    known: set[float]
    keys: set[tuple[object, ...]]

    def counts(self, value: Value) -> bool:
        """Whether a number is one of these."""
        return isinstance(value, Number) and value.value in self.known and _is_apart(value, self.keys)

    def has_as_many_rows(self, value: Value) -> bool:
        """Whether a value that is made without a batch has as many rows, as such a number says."""
        if isinstance(value, Sequence) and tuple(tensors_in(value)):  # a state of several tensors, columns of a stack
            return any(map(self.has_as_many_rows, value.elements))
        if not isinstance(value, Tensor):
            numbers = (v for v in needed([value]).values() if isinstance(v, (Host, Sequence, Number)))
            return (shape_of(value) or (None,))[0] in self.known and any(map(self.counts, numbers))
        if value.op in RANGES or (value.node is not None and is_zero_state(value.node)):
            return any(map(self.counts, value.inputs))
        if value.batch.kind != "free" or isinstance(value, Variable):
            return False
        if value.dims and value.dims[0] is not None:
            return value.dims[0] in self.known and any(map(self.counts, _first(value)))
        passes = any(has(value.op, trait) for trait in (Trait.KEEPS_ROW_NUMBERS, Trait.TOLD_WIDTH, Trait.STACKS))
        repeats = has(value.op, Trait.REPEATS) and any(map(self.counts, _first(value)))
        return repeats or (passes and any(map(self.has_as_many_rows, value.inputs[:1])))


def _meets_as_many_rows(tensor: Tensor, rows: list[Tensor], literal: _Literal) -> bool:
    """Whether an operation takes rows of the batch, and beside them others, as many as a number says."""
    made = [v for v in tensor.inputs if literal.has_as_many_rows(v)]
    if has(tensor.op, Trait.ROW_BY_ROW):
        listed = [e for v in tensor.inputs if isinstance(v, Sequence) for e in v.elements]
        made += [v for v in listed if literal.has_as_many_rows(v)]
        return any(_may_be_of_rank(v, row.rank) for v in made for row in rows)
    if has(tensor.op, Trait.TAKES_ROWS):
        return bool(made) and tensor.inputs[0] in rows
    return bool(made) and has(tensor.op, Trait.BESIDE_ROWS)


def _may_be_of_rank(value: Value, rank: int | None) -> bool:
    shape = value.dims if isinstance(value, Tensor) else shape_of(value)
    return shape is None or len(shape) == rank


def _first(tensor: Tensor) -> Iterator[Number]:
    """The first entries, and the numbers, of what shapes an operation is given: `[64, -1]`."""
    for value in tensor.inputs:
        entries = value.elements[:1] if isinstance(value, Sequence) else []
        yield from (v for v in entries if isinstance(v, Number))


def _is_apart(number: Number, keys: set[tuple[object, ...]]) -> bool:
    origins = number.origins
    return bool(origins) and all(o.key[0] == "literal" and o.key not in keys for o in origins)


def _values(facts: Facts, size: BatchSize) -> set[float]:
    """How large the batch size is, as the script has it or as its flags are by default; nothing for a single row."""
    found: set[object] = set()
    names = {o.key[-1] for o in size.scaled if o.key[0] == "flag"}
    for flag in facts.flags:
        if flag.name in names:
            given = [k.value for k in flag.call.keywords if k.arg in ("default", "default_value")]
            given += flag.call.args[1:2] if flag.style == "flags" else []
            found |= {n.value for n in given if isinstance(n, ast.Constant)}
    found |= {o.node.value for o in size.scaled if isinstance(o.node, ast.Constant)}
    return {float(v) for v in found if isinstance(v, int) and not isinstance(v, bool) and v > 1}

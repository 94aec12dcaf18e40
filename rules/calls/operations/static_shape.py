"""The static shape of a tensor: asked for, set by the script, and given to an initializer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.call import Attribute, Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.containers import iterate
from converter.analysis.python.following import not_followed
from converter.analysis.reasons import UNSEEN_CODE
from converter.analysis.rows import table
from converter.analysis.tensors import shaping
from converter.analysis.values import Batch, Constant, Count, Host, Number, Sequence, ShapeOf, Tensor, Value, tensors_in

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _listed(shape: ShapeOf) -> Sequence | None:
    """A list of the lengths of a shape; None where their number is not known."""
    return Sequence(iterate(shape, None), mutable=True) if shape.tensor.rank is not None else None


def _as_list(call: Call) -> Value:
    shape = call.receiver
    assert isinstance(shape, ShapeOf)
    return _listed(shape) or shape


def _of_rank(call: Call) -> Value:
    """The shape itself, where TensorFlow raises no error (python/framework/tensor_shape.py, 1.15)."""
    assert call.receiver is not None
    return call.receiver


def _get_shape(call: Call) -> Value:
    return ShapeOf(call.receiver) if isinstance(call.receiver, Tensor) else Host()


def _gives_rows(call: Call, tensor: Tensor, first: Value) -> bool:
    """Whether unseen code that is given a batch returns a row for each example, by the shape that the script sets."""
    rows = any(t.batch == Batch("example", 0) for v in tensor.inputs for t in tensors_in(v))
    count = isinstance(first, Count) and not first.scaled
    return rows and (count or getattr(first, "value", 0) is None or shaping.stands_for_batch(call.walk.facts, first))


def take_rows(call: Call, tensor: Tensor) -> None:
    """Believe that unseen code returned a row for each example: the call sets its rows beside those of examples."""
    if tensor.batch.why in UNSEEN_CODE:
        call.walk.effect(EffectKind.HOST_FUNCTION, tensor.batch.about, tensor, call.node)
        tensor.batch = Batch("example", 0)


def _set_shape(call: Call) -> Value:
    assert isinstance(call.receiver, Tensor)
    entries = shaping.shape_entries(call.get(0, "shape"))
    lengths = shaping.lengths_of(entries)
    if lengths is not None:
        rows = call.receiver.batch.kind == "example"  # how many is noted below
        call.receiver.lengths = tuple(int(n) if rows and isinstance(n, int) else n for n in lengths)
    if entries and _gives_rows(call, call.receiver, entries[0]):
        take_rows(call, call.receiver)
    if entries and call.walk.site is not None:
        call.walk.facts.set_shapes.append((call.receiver, entries[0], call.node, call.walk.site))
    call.walk.effect(EffectKind.MUTATION, call.name, call.receiver, call.node)
    return Constant(None)


def _initial_values(call: Call) -> Value:
    """`tf.random_normal_initializer()([2, 3])`: a tensor of that shape; any other call is that of unknown code."""
    assert isinstance(call.receiver, Tensor)
    entries = shaping.shape_entries(call.get(0, "shape"))
    named = call.receiver.op.lower().endswith("initializer") or "initializers." in call.receiver.op
    if not named or entries is None or shaping.batch_entry(call.walk.facts, entries) is not None:
        return not_followed(call, call.receiver)
    return Tensor(inputs=call.values(), lengths=shaping.lengths_of(entries), op=call.receiver.op)


def _rank(walk: Walk, shape: ShapeOf, node: ast.AST) -> Value | None:
    return Number(shape.tensor.rank) if shape.tensor.rank is not None else None


def _dims(walk: Walk, shape: ShapeOf, node: ast.AST) -> Value | None:
    """`x.shape.dims`, and `_dims`, as Keras' backend asks for it: a list of the lengths, None without a rank."""
    return _listed(shape)


ATTRIBUTES: dict[str, Attribute] = {
    "ShapeOf.ndims": _rank,
    "ShapeOf.rank": _rank,
    "ShapeOf.dims": _dims,
    "ShapeOf._dims": _dims,
}

CALLS: dict[str, Handler] = table(
    ("Tensor.__call__", _initial_values),
    ("ShapeOf.as_list", _as_list),
    ("ShapeOf.with_rank ShapeOf.with_rank_at_least ShapeOf.with_rank_at_most", _of_rank),
    ("Tensor.get_shape Variable.get_shape Input.get_shape Variable.shape", _get_shape),
    ("Tensor.set_shape", _set_shape),
)

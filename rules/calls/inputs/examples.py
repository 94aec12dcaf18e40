"""tf.Example records: each feature is a tensor of its own; features of variable length are sparse."""

from __future__ import annotations

import ast

from converter.analysis.call import Call, Handler
from converter.analysis.rows import table
from converter.analysis.tensors import shaping
from converter.analysis.tensors.sparse import ELEMENT
from converter.analysis.traits import Trait, has
from converter.analysis.values import FREE, Input, Lengths, Mapping, Sequence, Tensor, Typed, Value

SPARSE = ("VarLenFeature", "SparseFeature")


def _parse(call: Call) -> Value:
    """One record, or a batch of them, as a dict of its features."""
    records, spec = call.tensor(0, "serialized"), call.get(1, "features")
    if not isinstance(spec, Mapping):
        return call.gives(records.batch)
    return Mapping([(key, _feature(call, records, kind)) for key, kind in spec.pairs])


def _feature(call: Call, records: Tensor, kind: Value) -> Tensor:
    name = kind.name.rpartition(".")[2] if isinstance(kind, Typed) else ""
    rows = (None,) if records.batch.kind == "example" and not call.name.endswith("single_example") else ()
    once = rows and isinstance(records, Input) and (has(records.op, Trait.READS_RECORDS) or _is_beside(records, call))
    batch = records.batch if rows else FREE
    if name in SPARSE:
        return _whole(ELEMENT, None, records) if once else Tensor(batch, (records,), None, ELEMENT)
    shape = (kind.args[0] if kind.args else kind.kwargs.get("shape")) if isinstance(kind, Typed) else None
    dims = shaping.lengths_of(shaping.shape_entries(shape)) if name == "FixedLenFeature" else None
    shown = None if dims is None else (*rows, *dims)
    return _whole(call.name, shown, records) if once else Tensor(batch, (records,), shown, call.name)


def _whole(op: str, dims: Lengths, records: Tensor) -> Input:
    """A feature that is parsed once, for all towers."""
    made = Input(op, dims, None, "")
    made.shard(0)
    made.inputs = (records,)
    return made


def _is_beside(records: Input, call: Call) -> bool:
    """Whether the records are read in the expression, or in the function, that parses them."""
    function = call.walk.frame.node
    around = call.node if isinstance(function, ast.Module) else function
    return any(node is records.node for node in ast.walk(around))


def _bucket(call: Call) -> Value:
    """tf.contrib.training.bucket_by_sequence_length: a queue of batches of similar lengths, and these lengths."""
    from rules.calls.inputs.dataset import from_queue, note_sizes

    size = call.get(2, "batch_size")
    note_sizes(call, size)
    tensors = call.get(1, "tensors")
    if isinstance(tensors, Mapping):
        made: Value = Mapping([(key, from_queue(call, e, size)) for key, e in tensors.pairs])
    elif isinstance(tensors, Sequence):
        made = Sequence([from_queue(call, e, size) for e in tensors.elements], mutable=True)
    else:
        made = from_queue(call, tensors, size)
    return Sequence([from_queue(call, call.get(0, "input_length"), size), made])


NAMES = ("parse_single_example", "parse_example", "io.parse_single_example", "io.parse_example")

CALLS: dict[str, Handler] = table(
    (NAMES, _parse),
    ("contrib.training.bucket_by_sequence_length", _bucket),
)

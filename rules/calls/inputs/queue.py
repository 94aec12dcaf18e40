"""Queues that a script makes itself: their outputs are cut into shards."""

from __future__ import annotations

from collections.abc import Callable

from converter.analysis.call import Call, Handler
from converter.analysis.rows import below, makes, table, together, unbatched
from converter.analysis.tensors import shaping
from converter.analysis.tensors.windows import sized
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    FREE,
    Batch,
    Constant,
    Input,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Typed,
    Value,
)
from rules.calls.inputs.dataset import note_sizes

COUNTED = "train.range_input_producer.dequeue"  # the operation that gives the index of a step
DTYPES = {"FIFOQueue": 1, "PaddingFIFOQueue": 1, "PriorityQueue": 1, "RandomShuffleQueue": 2}  # index of `dtypes`


def _queue(call: Call) -> Value:
    queue = call.typed("Queue")
    at = DTYPES[call.name.rpartition(".")[2]]
    dtypes, shapes, names = call.get(at, "dtypes", "types"), call.get(at + 1, "shapes"), call.get(at + 2, "names")
    for key, value in (("dtypes", dtypes), ("shapes", shapes), ("names", names)):
        if isinstance(value, Sequence):
            queue.state[key] = value
    return queue


def _prefetch_queue(call: Call) -> Value:
    """Slim's `prefetch_queue(tensors)`: a queue that holds whole batches, with a runner that fills it."""
    queue, put = call.typed("Queue"), call.get(0, "tensors")
    if isinstance(put, Mapping):
        pairs = sorted(put.pairs, key=lambda pair: str(getattr(pair[0], "value", "")))
        queue.state["names"] = Sequence([key for key, _ in pairs])
        put = Sequence([value for _, value in pairs])
    tensors = put if isinstance(put, Sequence) else Sequence([put] if put else [])
    queue.state["dtypes"] = queue.state["Queue.enqueue"] = tensors
    queue.state["filled"] = Sequence([Tensor(FREE, call.values(), op="Queue.enqueue")], mutable=True)
    return queue


def _enqueue(call: Call) -> Value:
    """`q.enqueue(batch)`: the queue holds whole batches if the enqueued tensors have a batch axis."""
    made = Tensor(FREE, call.values(), op=call.name)
    if isinstance(call.receiver, Typed):
        put = call.get(0, "vals")
        if isinstance(put, Mapping):
            put = Sequence([value for _, value in put.pairs])
        call.receiver.state[call.name] = put if isinstance(put, Sequence) else Sequence([put] if put else [])
        filled = call.receiver.state.setdefault("filled", Sequence([], mutable=True))
        assert isinstance(filled, Sequence)
        filled.elements.append(made)
    return made


def _component_shape(queue: Typed, place: int) -> list[Value] | None:
    shapes = queue.state.get("shapes")
    if not isinstance(shapes, Sequence):
        return None
    if shapes.elements and not isinstance(shapes.elements[0], Sequence):
        return shaping.shape_entries(shapes)  # of a queue with one component
    return shaping.shape_entries(shapes.elements[place]) if place < len(shapes.elements) else None


def _components(call: Call, make: Callable[[Call, Typed, int], Input]) -> Value:
    """The dequeued value: one tensor, a list, or a dict if the queue names its components."""
    queue = call.receiver
    assert isinstance(queue, Typed)
    dtypes, names = queue.state.get("dtypes"), queue.state.get("names")
    count = len(dtypes.elements) if isinstance(dtypes, Sequence) else 1
    made: list[Value] = [make(call, queue, place) for place in range(count)]
    for value in made:
        value.inputs = (*call.values(), *queue.state["filled"].parts()) if "filled" in queue.state else value.inputs
    if isinstance(names, Sequence):
        return Mapping(list(zip(names.elements, made, strict=False)))
    return Sequence(made, mutable=True) if count > 1 else made[0]


def _dequeue_many(call: Call) -> Value:
    """`q.dequeue_many(n)` puts n examples together."""
    size = call.get(0, "n")
    note_sizes(call, size)

    def make(call: Call, queue: Typed, place: int) -> Input:
        dims = shaping.lengths_of(_component_shape(queue, place))
        fixed = isinstance(size, Number) and call.name.endswith("_many")
        made = Input(
            "train.dequeue_many",
            None if dims is None else (None, *dims),
            Sequence([size]) if fixed and size is not None else None,
            "",
        )
        made.shard(0)
        return made

    return _components(call, make)


def _set_shape(call: Call) -> Value:
    if isinstance(call.receiver, Input):
        sized(call.receiver, call.get(0, "shape"))
        if entries := shaping.shape_entries(call.get(0, "shape")):
            _measure(call.receiver, entries)
            _note_rows(call, call.receiver, entries)
    return Constant(None)


def _measure(value: Input, entries: list[Value]) -> None:
    """What comes out of a pipeline without a shape, as of a function of Python, has the one that it is given."""
    lengths = shaping.lengths_of(entries)
    if value.lengths is None and lengths and not value.ambiguous and value.batch == Batch("example", 0):
        value.lengths = (None, *lengths[1:])


def _note_rows(call: Call, value: Input, entries: list[Value]) -> None:
    """A placeholder that is given a plain number of rows takes no others, as if that stood in its own shape."""
    if call.walk.site is not None:
        call.walk.facts.set_shapes.append((value, entries[0], call.node, call.walk.site))
    plain = isinstance(entries[0], Number) and shaping.batch_entry(call.walk.facts, entries) is None
    if plain and has(value.op, Trait.PLACEHOLDER):
        value.shape = Sequence(entries)


def _dequeue(call: Call) -> Value:
    """`q.dequeue()` gives back one element as it was enqueued: a batch if batches were enqueued."""

    def make(call: Call, queue: Typed, place: int) -> Input:
        entries, put = _component_shape(queue, place), queue.state.get("Queue.enqueue")
        element = put.elements[place] if isinstance(put, Sequence) and place < len(put.elements) else None
        rows = element.batch if isinstance(element, Tensor) and element.batch.kind == "example" else None
        dims = element.lengths if isinstance(element, Tensor) and entries is None else shaping.lengths_of(entries)
        made = Input("train.dequeue", dims, Sequence(entries) if entries is not None else None, "")
        axis = rows.axis if rows is not None and not rows.packed else shaping.batch_entry(call.walk.facts, entries)
        if axis is None:
            made.ambiguous = True
            return made
        made.shard(axis)
        entry = entries[axis] if entries and len(entries) > axis else None
        if isinstance(entry, Number) and entry.factors():
            call.walk.facts.batch_sizes.append((entry, call.name, call.node))
        return made

    return _components(call, make)


READERS = ("TFRecordReader", "TextLineReader", "FixedLengthRecordReader", "WholeFileReader", "IdentityReader")


def _read_up_to(call: Call) -> Value:
    """`reader.read_up_to(queue, n)`: the keys and the values of n records, or of the last ones of a file."""
    note_sizes(call, call.get(1, "num_records"))
    made = [Input(call.name, (None,), None, "") for _ in range(2)]
    for value in made:
        value.shard(0)
        value.inputs = tuple(call.values())
    return Sequence(made)


TRAITS: dict[Trait, str] = {
    Trait.FROM_QUEUE: "train.* Queue.* Reader.*",
    Trait.ENQUEUES: "Queue.enqueue*",
    Trait.READS_RECORDS: "Reader.read_up_to",
    Trait.DEQUEUES: "train.dequeue*",
    Trait.COUNTS_STEPS: "train.range_input_producer.dequeue",
}

CALLS: dict[str, Handler] = table(
    (below(("", "queue."), DTYPES), _queue),
    (
        "contrib.slim.prefetch_queue.prefetch_queue contrib.slim.data.prefetch_queue.prefetch_queue",
        _prefetch_queue,
    ),
    ("Queue.enqueue Queue.enqueue_many", _enqueue),
    ("Queue.dequeue_many Queue.dequeue_up_to", _dequeue_many),
    ("Queue.dequeue", _dequeue),
    (READERS, makes("Reader")),
    ("Reader.read", together(unbatched(()), unbatched(()))),
    ("Reader.read_up_to", _read_up_to),
    ("train.range_input_producer", makes("Counter")),  # a queue of the step indices of an epoch
    ("Counter.dequeue", unbatched((), COUNTED)),
    ("Input.set_shape", _set_shape),
)

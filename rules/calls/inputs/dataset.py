"""tf.data pipelines: the batch size grows with the number of GPUs; what the iterator gives is sharded."""

from __future__ import annotations

from dataclasses import replace

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Mapped
from converter.analysis.python.following import follow
from converter.analysis.rows import below, makes, table, unbatched
from converter.analysis.tensors import shaping
from converter.analysis.tensors.sparse import ELEMENT, is_sparse
from converter.analysis.tensors.spreading import dims_of
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    FREE,
    Batch,
    Bound,
    Constant,
    Function,
    Host,
    Input,
    Mapping,
    Number,
    Partial,
    Sequence,
    Tensor,
    Typed,
    Value,
    is_none,
)


def _source(call: Call) -> Value:
    dataset = call.typed("Dataset")
    first = call.get(0, "tensors")
    if isinstance(first, Mapping) or (isinstance(first, Sequence) and not first.mutable):
        dataset.state["structure"] = _tensors(first)
    return dataset


def _csv(call: Call) -> Value:
    """A data set of lines, of which each is a tuple: an entry for each column's default."""
    dataset, defaults = call.typed("Dataset"), call.get(1, "record_defaults")
    if isinstance(defaults, Sequence):
        dataset.state["structure"] = Sequence([Host() for _ in defaults.elements], many=defaults.many)
    return dataset


def _tensors(structure: Value) -> Value:
    """The structure of a data set's elements: of tuples and dicts, in which each list is one tensor.

    Of a dict some of whose keys only a run tells nothing is known.
    tensorflow/python/data/util/nest.py (1.15). The list that a function returns is taken for a tuple all the same.
    """
    if isinstance(structure, Mapping):
        told = all(isinstance(key, Constant) for key, _ in structure.pairs)
        return Mapping([(key, _component(part)) for key, part in structure.pairs]) if told else Host()
    if isinstance(structure, Sequence):
        return Sequence([_component(part) for part in structure.elements], structure.mutable)
    return structure


def _component(part: Value) -> Value:
    return Host() if isinstance(part, Sequence) and part.mutable else _tensors(part)


def _from_generator(call: Call) -> Value:
    """`Dataset.from_generator`: gives whole batches if all of its shapes begin with the batch size."""
    dataset = call.typed("Dataset")
    generator, given = call.get(0, "generator"), call.get(3, "args")
    if isinstance(generator, (Function, Partial, Bound)):
        made = follow(call, generator, list(given.elements) if isinstance(given, Sequence) else [])
        call.walk.facts.yielded[dataset.uid] = dataset.state["yields"] = made
    types, shapes = call.get(1, "output_types"), call.get(2, "output_shapes")
    if isinstance(types, Sequence):
        dataset.state["structure"] = types
    if shapes is not None:
        dataset.state["element shapes"] = shapes
    several = isinstance(types, Sequence) and isinstance(shapes, Sequence)
    entries = [_entries(shape) for shape in (shapes.parts() if several and shapes is not None else [shapes])]
    size = entries[0][0] if entries and entries[0] else None
    if isinstance(size, Number) and all(shaping.batch_entry(call.walk.facts, shape) == 0 for shape in entries):
        call.walk.facts.batch_sizes.append((size, "Dataset.from_generator", call.node))
        dataset.state.update(batched=Constant(True), shapes=Sequence([Sequence(shape or ()) for shape in entries]))
    return dataset


def _entries(shape: Value | None) -> list[Value] | None:
    """The entries of a list or tuple, or of a TensorShape made of one."""
    if isinstance(shape, Typed):
        shape = next((v for v in shape.inputs if isinstance(v, Sequence)), None)
    return shaping.shape_entries(shape)


def _zip(call: Call) -> Value:
    """Several data sets side by side: batches where each of them gives batches."""
    dataset, given = _source(call), call.get(0, "datasets")
    assert isinstance(dataset, Typed)
    if isinstance(given, Mapping):
        dataset.state["structure"] = Mapping([(key, _of_one(part)) for key, part in given.pairs])
    elif isinstance(given, Sequence):
        dataset.state["structure"] = Sequence([_of_one(part) for part in given.elements])
    sets = [part for part in given.parts() if isinstance(part, Typed)] if given is not None else []
    if sets and all("batched" in d.state for d in sets):
        dataset.state["batched"] = Constant(True)
        dataset.state.update((key, d.state[key]) for d in sets for key in ("size", "whole") if key in d.state)
    return dataset


def _of_one(part: Value) -> Value:
    """The structure of the elements of one of the data sets that are put side by side."""
    return part.state.get("structure", Host()) if isinstance(part, Typed) else part


def _chain(call: Call) -> Typed:
    dataset = call.typed("Dataset")
    receiver = call.receiver
    if isinstance(receiver, Typed):
        dataset.state.update(receiver.state)
    dataset.inputs = (*dataset.inputs, *call.values())
    return dataset


def _part(call: Call) -> Value:
    """`take`, `skip` and `shard`: some of the elements, which are batches behind `batch`."""
    count = call.get(0, "count", "num_shards")
    size = call.receiver.state.get("size") if isinstance(call.receiver, Typed) else None
    if isinstance(count, Number) and isinstance(size, Number) and not count.origins & size.origins:
        call.walk.effect(EffectKind.BATCHES_COUNTED, call.name.rpartition(".")[2], size, call.node)
    dataset = _chain(call)
    if call.name == "Dataset.take":
        dataset.state.pop("endless", None)
    return dataset


def _sampled(call: Call) -> Value:
    """Elements of several data sets, which are alike: batches where each of the sets gives batches."""
    sets = call.get(0, "datasets")
    parts = [one for one in sets.elements if isinstance(one, Typed)] if isinstance(sets, Sequence) else []
    dataset = call.typed("Dataset")
    for part in parts[:1]:
        dataset.state.update(part.state)
    if not all("batched" in part.state for part in parts):
        dataset.state.pop("batched", None)
    dataset.inputs = tuple(call.values())
    return dataset


def _batch(call: Call) -> Value:
    size = call.get(0, "batch_size")
    dataset = _chain(call)
    if dataset.state.pop("window", None) is None:
        note_sizes(call, size, "Dataset.batch")
    if _gives_batches(call.receiver):
        _batched_again(call, dataset, size)
    else:
        dataset.state["batched"] = Constant(True)
    if "structure" in dataset.state:
        dataset.state["structure"] = _of_rows(dataset.state["structure"])
    if size is not None:
        dataset.state["size"] = size
    told = call.get(1, "drop_remainder") if call.name == "Dataset.batch" else call.kwargs.get("drop_remainder")
    drops = call.name.endswith("_and_drop_remainder") or getattr(told, "value", False) is True
    if size is not None and drops and "endless" not in dataset.state:
        dataset.state["whole"] = size
    given = call.get(1, "padded_shapes") if has(call.name, Trait.TAKES_PADDED_SHAPES) else None
    elements, structure = given or dataset.state.pop("element shapes", None), dataset.state.get("structure")
    if elements is not None and isinstance(structure, Sequence):
        dataset.state["shapes"] = _of_batches(structure, elements)
    return dataset


def _batched_again(call: Call, dataset: Typed, size: Value | None) -> None:
    """Batches of batches: those inside are the examples, unless their number of rows alone is named as a batch size."""
    inner, facts = dataset.state.get("size"), call.walk.facts
    inside = inner.origins if isinstance(inner, Number) else frozenset()
    named = facts.named_sizes(size.origins) if isinstance(size, Number) else set()
    if facts.named_sizes(inside) and not named - inside:
        del dataset.state["batched"]
        dataset.state["twice"] = Constant(True)
    for key in ("shapes", "whole"):
        dataset.state.pop(key, None)
    facts.regrouped[dataset.uid] = tuple(call.args) + tuple(call.kwargs.values())


def _of_batches(structure: Value, shapes: Value | None) -> Value:
    """The shapes of batches from those of their elements, in the structure that both have; None for one unknown."""
    if isinstance(structure, Sequence):
        known = shapes.elements if isinstance(shapes, Sequence) else []
        alike = len(known) == len(structure.elements)
        each: list[Value | None] = [*known] if alike else [None] * len(structure.elements)
        return Sequence([_of_batches(part, shape) for part, shape in zip(structure.elements, each, strict=True)])
    entries = _entries(shapes)
    return Constant(None) if entries is None else Sequence([Constant(None), *entries])


def _repeat(call: Call) -> Value:
    dataset, times = _chain(call), call.get(0, "count")
    if is_none(times) or getattr(times, "value", None) == -1:
        dataset.state["endless"] = Constant(True)
    return dataset


def note_sizes(call: Call, size: Value | None, why: str = "") -> None:
    """Notes the batch size of a call, also one that is fed; bucketing has several."""
    for one in size.elements if isinstance(size, Sequence) else [size]:
        if isinstance(one, (Number, Host, Input)):
            call.walk.facts.batch_sizes.append((one, why or call.name, call.node))


def mapped(call: Call) -> Value:
    """`Dataset.map`: what the function makes of an element, which behind `batch` is a whole batch."""
    function = call.get(0, "map_func")
    dataset = _chain(call)
    for key in ("shapes", "element shapes", "yields"):
        dataset.state.pop(key, None)
    if function is not None:
        made = _applied(call, function)
        dataset.state.pop("structure", None)
        if isinstance(made, (Sequence, Mapping, Tensor)):
            dataset.state["structure"] = _tensors(made)
    return dataset


def _filtered(call: Call) -> Value:
    """`Dataset.filter`: behind `batch` it keeps or leaves out whole batches."""
    predicate = call.get(0, "predicate")
    if predicate is not None:
        _applied(call, predicate)
    return _chain(call)


def _flattened(call: Call) -> Value:
    """`flat_map`, `interleave`: the elements of the data sets that a function makes of each element."""
    function = call.get(0, "map_func")
    made = _applied(call, function) if function is not None else None
    dataset = _chain(call)
    for key in ("batched", "size", "whole", "structure", "shapes", "element shapes", "yields"):
        dataset.state.pop(key, None)
    flat = [made] if isinstance(made, Typed) and made.kind == "Dataset" else []
    for one in flat:
        dataset.state.update({key: value for key, value in one.state.items() if key != "endless"})
    if _gives_batches(call.receiver):
        call.walk.facts.regrouped[dataset.uid] = tuple(flat)
    dataset.inputs = (*dataset.inputs, *flat)
    return dataset


def _gives_batches(dataset: Value | None) -> bool:
    return isinstance(dataset, Typed) and "batched" in dataset.state


def _unbatched(call: Call) -> Value:
    """`Dataset.unbatch`: the rows of batches, one after the other, however large the batches were."""
    dataset = _chain(call)
    for key in ("batched", "size", "whole", "shapes"):
        dataset.state.pop(key, None)
    if "structure" in dataset.state:
        dataset.state["structure"] = _of_rows(dataset.state["structure"])
    call.walk.facts.regrouped[dataset.uid] = ()
    return dataset


def _of_rows(structure: Value) -> Value:
    """The structure of single elements of which batches are made, or in place of that of batches."""
    if isinstance(structure, Sequence):
        return Sequence([_of_rows(part) for part in structure.elements], structure.mutable)
    if isinstance(structure, Mapping):
        return Mapping([(key, _of_rows(part)) for key, part in structure.pairs])
    return Tensor(op=ELEMENT if is_sparse(structure) else "element")


def _windows(call: Call) -> Value:
    """`Dataset.window`: elements that are data sets themselves, one for each component."""
    dataset = _chain(call)
    structure = dataset.state.get("structure")
    parts = structure.elements if isinstance(structure, Sequence) else [structure]
    each = [_window(call, part) for part in parts]
    dataset.state["structure"] = Sequence(each) if isinstance(structure, Sequence) else each[0]
    return dataset


def _window(call: Call, part: Value | None) -> Typed:
    """One component of a window: a data set of its own, whose rows are batched to one example."""
    made = call.typed("Dataset")
    made.state["window"] = Constant(True)
    if part is not None:
        made.state["structure"] = part
    return made


def _applied(call: Call, function: Value) -> Value:
    """What a function makes of an element of the call's data set; noted, as that may depend on a batch as a whole."""
    state = call.receiver.state if isinstance(call.receiver, Typed) else {}
    given = elements_of(state)
    made = follow(call, function, given)
    size = state.get("size", Host()) if "batched" in state else None
    call.walk.facts.mapped.append(Mapped(size, tuple(given), made, call.node))
    return made


def elements_of(state: dict[str, Value]) -> list[Value]:
    """What a function of a data set is given: the tensors of one element."""
    structure = state.get("structure")
    element = _element(structure if structure is not None else Host(), "batched" in state)
    return list(element.elements) if isinstance(element, Sequence) else [element]


def _element(structure: Value, batched: bool) -> Value:
    """One element of a data set: a tensor in place of each part of its structure."""
    if isinstance(structure, Sequence):
        return Sequence([_element(part, batched) for part in structure.elements], structure.mutable)
    if isinstance(structure, Mapping):
        return Mapping([(key, _element(part, batched)) for key, part in structure.pairs])
    if isinstance(structure, Typed) and structure.kind == "Dataset":
        return structure
    op = ELEMENT if is_sparse(structure) else "element"
    if not batched:
        return Tensor(op=op)
    known = structure if isinstance(structure, Tensor) and structure.batch.kind == "example" else None
    return Tensor(known.batch, (), known.lengths, op) if known is not None else Tensor(Batch("example"), op=op)


def _apply(call: Call) -> Value:
    """`Dataset.apply(transformation)`: what the transformation makes of the data set."""
    given = call.get(0, "transformation_func")
    if isinstance(given, Typed) and given.kind == "Transformation":
        called = replace(call, name=given.name, args=given.args, kwargs=given.kwargs)
        if given.name.endswith("map_and_batch"):
            called = replace(called, receiver=mapped(called))
            size = called.get(1, "batch_size")
            return _batch(replace(called, args=[], kwargs={"batch_size": size} if size is not None else {}))
        if given.name.endswith("bucket_by_sequence_length"):
            size = called.get(2, "bucket_batch_sizes")
            return _batch(replace(called, args=[], kwargs={"batch_size": size} if size is not None else {}))
        if given.name.endswith("group_by_window"):
            return _grouped(called)
        if given.name.endswith("unbatch"):
            return _unbatched(called)
        return _batch(called)
    if isinstance(given, (Function, Partial)) and call.receiver is not None:
        made = follow(call, given, [call.receiver])
        return made if isinstance(made, Typed) and made.kind == "Dataset" else _chain(call)
    return _chain(call)


def _grouped(call: Call) -> Value:
    """`group_by_window`: what a function of the script makes of each window, which is a data set of like elements.

    A batch is never larger than its window, so the window is a batch size too: both grow with the number of GPUs.
    """
    key, reduced = call.get(0, "key_func"), call.get(1, "reduce_func")
    state = call.receiver.state if isinstance(call.receiver, Typed) else {}
    if key is not None:
        follow(call, key, elements_of(state))
    function, window = call.get(3, "window_size_func"), call.get(2, "window_size")
    if not is_none(function) and function is not None:
        window = follow(call, function, [Host()])
    made = follow(call, reduced, [Host(), _chain(call)]) if reduced is not None else Host()
    if not isinstance(made, Typed) or made.kind != "Dataset":
        return _chain(call)
    if "batched" in made.state and not isinstance(window, Number):
        del made.state["batched"]  # it is not known that the windows grow with the batches
    elif "batched" in made.state:
        note_sizes(call, window)
    return made


def _iterator(call: Call) -> Value:
    """`dataset.make_one_shot_iterator()`, and `tf.data.make_one_shot_iterator(dataset)`, its name from 1.13 on."""
    iterator = call.typed("Iterator")
    dataset = call.receiver or call.get(0, "dataset")
    iterator.inputs = tuple(call.values())
    if isinstance(dataset, Typed):
        iterator.state.update(dataset.state)
    return iterator


def _from_structure(call: Call) -> Value:
    """An iterator that is bound to its data sets later: it gives batches if the script batches any data set."""
    iterator = call.typed("Iterator")
    iterator.inputs = tuple(call.values())
    types = call.get(0 if call.name.endswith("structure") else 1, "output_types")
    if isinstance(types, Bound) and isinstance(types.receiver, Typed):
        iterator.state.update(types.receiver.state)  # of `dataset.output_types`
    elif isinstance(types, Sequence) and not types.mutable:
        iterator.state["structure"] = types
    if any(why == "Dataset.batch" for _, why, _ in call.walk.facts.batch_sizes):
        iterator.state["batched"] = Constant(True)
    return iterator


def _initializer(call: Call) -> Value:
    """`iterator.make_initializer(dataset)`: from then on the iterator gives that data set's batches."""
    made = Tensor(FREE, call.values(), op="make_initializer")
    if isinstance(call.receiver, Typed):
        held = call.receiver.state.setdefault("initializers", Sequence([], mutable=True))
        assert isinstance(held, Sequence)
        held.elements.append(made)
    return made


def _queue_batch(call: Call) -> Value:
    """tf.train.batch and its like: the queue gives whole batches."""
    size = call.get(1, "batch_size")
    note_sizes(call, size)
    tensors = call.get(0, "tensors", "tensor_list", "tensors_list")
    if call.name.endswith("_join") and isinstance(tensors, Sequence) and tensors.elements:
        tensors = tensors.elements[0]  # one list of tensors for each thread
    if isinstance(tensors, Mapping):
        return Mapping([(key, from_queue(call, element, size)) for key, element in tensors.pairs])
    if isinstance(tensors, Sequence) and len(tensors.elements) > 1:
        made = [from_queue(call, element, size) for element in tensors.elements]
        return Sequence(made, mutable=True, many=tensors.many).like(tensors)
    one = tensors.elements[0] if isinstance(tensors, Sequence) and tensors.elements else tensors
    return from_queue(call, one, size)  # of a list of one tensor too (tensorflow/python/training/input.py, 1.15)


def from_queue(call: Call, element: Value | None, size: Value | None) -> Input:
    """A queue's output for one of its tensors: a batch, of a fixed size unless smaller batches are allowed."""
    single = getattr(call.kwargs.get("enqueue_many"), "value", False) is False
    dims = (None, *element.dims) if single and isinstance(element, Tensor) and element.dims is not None else None
    smaller = call.kwargs.get("allow_smaller_final_batch")
    fixed = isinstance(size, Number) and getattr(smaller, "value", False) is False
    made = Input(call.name, dims, Sequence([size]) if fixed and size is not None else None, "")
    made.shard(0)
    made.inputs = tuple(call.values())
    return made


def _slices(call: Call) -> Value:
    """tf.train.slice_input_producer: one example at a time, as one slice of each tensor that it is given."""
    tensors = call.get(0, "tensor_list")
    wholes = tensors.elements if isinstance(tensors, Sequence) else [Host()]
    shapes = [dims_of(whole, whole) if isinstance(whole, Tensor) else shape_of(whole) for whole in wholes]
    return Sequence([call.gives(FREE, shape and shape[1:]) for shape in shapes], mutable=True)


CHAINS = "shuffle prefetch cache enumerate zip concatenate with_options"

QUEUES = ("train.batch", "train.shuffle_batch", "train.batch_join", "train.shuffle_batch_join")

BATCHING = (
    "map_and_batch bucket_by_sequence_length group_by_window batch_and_drop_remainder padded_batch_and_drop_remainder "
    "dense_to_sparse_batch unbatch"
)

TRAITS: dict[Trait, str] = {
    Trait.COUNTS_BATCHES: "take skip",
    Trait.DATA_SET: "data.* contrib.data.*",
    Trait.MAKES_ITERATOR: "make_one_shot_iterator make_initializable_iterator",
    Trait.TAKES_VARIABLES: "apply",
    Trait.TAKES_VARIABLE: "apply",
    Trait.FROM_DATA_SET: "Dataset* Iterator* data.*",
    Trait.GIVES_BATCHES: "Dataset.batch Dataset.padded_batch *map_and_batch *_and_drop_remainder " + " ".join(QUEUES),
    Trait.GIVES_HANDLE: "string_handle",
    Trait.TAKES_HANDLE: "*from_string_handle",
    Trait.READS_FILES: (
        "data.TFRecordDataset data.TextLineDataset data.FixedLengthRecordDataset data.Dataset.list_files "
        "contrib.data.TFRecordDataset contrib.data.TextLineDataset train.string_input_producer "
        "contrib.data.FixedLengthRecordDataset contrib.data.CsvDataset data.experimental.CsvDataset"
    ),
    Trait.LISTS_FILES: "data.Dataset.list_files",
    Trait.PADS_BATCHES: ("Dataset.padded_batch *.bucket_by_sequence_length *.padded_batch_and_drop_remainder"),
    Trait.TAKES_EPOCHS: "string_input_producer input_producer slice_input_producer",
    Trait.TAKES_PADDED_SHAPES: "Dataset.padded_batch *.padded_batch_and_drop_remainder",
}

CALLS: dict[str, Handler] = table(
    (below("data. contrib.data.", "Dataset.from_tensor_slices TFRecordDataset TextLineDataset"), _source),
    (below("data.Dataset.", "from_tensors range list_files"), _source),
    ("data.FixedLengthRecordDataset contrib.data.FixedLengthRecordDataset data.experimental.SqlDataset", _source),
    (below("contrib.data. data.experimental.", "CsvDataset"), _csv),
    ("data.Dataset.from_generator", _from_generator),
    ("data.Dataset.zip", _zip),
    (below("Dataset.", CHAINS), _chain),
    ("Dataset.take Dataset.skip Dataset.shard", _part),
    (below("contrib.data. data.experimental.", "sample_from_datasets choose_from_datasets"), _sampled),
    ("Dataset.repeat", _repeat),
    ("Dataset.batch Dataset.padded_batch", _batch),
    (below("contrib.data. data.experimental.", BATCHING), makes("Transformation")),
    ("Dataset.apply", _apply),
    ("Dataset.group_by_window", _grouped),
    ("Dataset.map", mapped),
    ("Dataset.filter", _filtered),
    ("Dataset.flat_map Dataset.interleave", _flattened),
    ("Dataset.unbatch", _unbatched),
    ("Dataset.window", _windows),
    (below("Dataset. data.", "make_one_shot_iterator make_initializable_iterator"), _iterator),
    ("data.Iterator.from_structure data.Iterator.from_string_handle", _from_structure),
    ("Iterator.make_initializer", _initializer),
    ("Iterator.string_handle", unbatched((), "string_handle")),
    ("train.slice_input_producer", _slices),
    (QUEUES, _queue_batch),
)

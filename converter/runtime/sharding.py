"""Cutting a batch into one shard for each tower."""
import contextlib

import tensorflow as tf

NUM_GPUS = 2


def shard_bounds(total, gpu):
    """Return where tower `gpu`'s rows begin and end in a batch of `total` rows, a number or a scalar tensor.

    The towers' rows are consecutive, and their numbers differ by at most one.
    """
    return (total * gpu + NUM_GPUS - 1) // NUM_GPUS, (total * (gpu + 1) + NUM_GPUS - 1) // NUM_GPUS


def shard(tensors, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its rows, and its weight (rows / all rows).

    A tower without rows gets one row with weight 0, so that no mean is taken over nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = tf.shape(tensors[0])[0]
        begin, end = shard_bounds(total, gpu)
        rows = end - begin
        first = tf.minimum(begin, total - 1)
        last = first + tf.maximum(rows, 1)
        weight = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
        return [t[first:last] for t in tensors], rows, weight


def shard_along(tensors, axes, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its examples, and its weight (examples / all).

    `axes` has the batch axis of each tensor. A tower without examples gets one with weight 0, so that no mean is taken
    over nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = tf.shape(tensors[0])[axes[0]]
        begin, end = shard_bounds(total, gpu)
        rows = end - begin
        first = tf.minimum(begin, total - 1)
        part = slice(first, first + tf.maximum(rows, 1))
        weight = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
        return [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)], rows, weight


def shard_sparse(tensors, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its rows, and its weight (rows / all rows).

    Some of the tensors are sparse. A tower without rows gets one row with weight 0, so that no mean is taken over
    nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        lead = tensors[0]
        total = tf.cast(lead.dense_shape[0], tf.int32) if isinstance(lead, tf.SparseTensor) else tf.shape(lead)[0]
        begin, end = shard_bounds(total, gpu)
        rows = end - begin
        first, count = tf.minimum(begin, total - 1), tf.maximum(rows, 1)
        shards = [
            sparse_rows(t, first, count) if isinstance(t, tf.SparseTensor) else t[first : first + count]
            for t in tensors
        ]
        return shards, rows, tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def sparse_rows(tensor, first, count):
    """Return `count` rows of a sparse tensor from row `first` on; its static shape stays known but for the rows."""
    shape, known = tensor.dense_shape, tensor.get_shape()
    rest = tf.zeros_like(shape[1:])
    start = tf.concat([[tf.cast(first, tf.int64)], rest], 0)
    part = tf.sparse_slice(tensor, start, tf.concat([[tf.cast(count, tf.int64)], shape[1:]], 0))
    if known.ndims is None:
        return part
    sizes = [tf.constant(size, tf.int64) if size else shape[axis] for axis, size in enumerate(known.as_list())]
    return tf.SparseTensor(part.indices, part.values, tf.stack([tf.cast(count, tf.int64)] + sizes[1:]))


def whole_batch(tensor):
    """Return the whole batch of a tower's shard, or of a shard and a constant (`n + 1`); else the tensor itself."""
    op, scopes = tensor.op, tensor.op.name.split('/')[-3:-1]
    if len(scopes) == 2 and scopes[0][:6] == 'tower_' and scopes[1][:5] == 'shard':
        return op.inputs[0]
    moved = op.type in ('Add', 'AddV2', 'Sub') and op.inputs[1].op.type == 'Const'
    if not moved and op.type not in ('Cast', 'Identity'):
        return tensor
    whole = whole_batch(op.inputs[0])
    if whole is op.inputs[0]:
        return tensor
    constant = tf.cast(op.inputs[1], whole.dtype) if moved else 0
    return whole - constant if op.type == 'Sub' else whole + constant if moved else whole


def rows_of_one_gpu(rows):
    """Return as many of a result's rows as one GPU's batch has, for a grid that has no place for more."""
    return rows[: len(rows) // NUM_GPUS]


def pad_steps(decode):
    """Return a `dynamic_decode` that pads its outputs to the longest sequence of the whole batch, as on one GPU.

    A tower's shard alone may have shorter sequences.
    """

    def decode_padded(decoder, output_time_major=False, *args, **kwargs):
        outputs, state, lengths = decode(decoder, output_time_major, *args, **kwargs)
        helper = getattr(decoder, '_helper', None)  # a beam search has none
        given = getattr(helper, '_sequence_length', None)  # none where it ends by itself
        if given is None:
            return outputs, state, lengths
        axis = 0 if output_time_major else 1
        steps = tf.cast(tf.reduce_max(whole_batch(given)), tf.int32)
        wide = []
        for tensor in outputs:
            rest = steps - tf.shape(tensor)[axis]
            wide.append(tf.pad(tensor, [[0, rest if i == axis else 0] for i in range(tensor.get_shape().ndims)]))
            wide[-1].set_shape(tensor.get_shape())
        return type(outputs)(*wide), state, lengths

    return decode_padded


def concat_steps(parts, axis):
    """Concatenate the towers' parts along their batch axis; those with fewer time steps are padded with zeros."""
    shapes = [tf.shape(part) for part in parts]
    largest = tf.reduce_max(tf.stack(shapes), 0)
    known = [set(sizes) for sizes in zip(*[part.get_shape().as_list() for part in parts])]
    wide = []
    for part, shape in zip(parts, shapes):
        rest = tf.unstack(largest - shape, num=len(known))
        wide.append(tf.pad(part, [[0, 0 if i == axis else size] for i, size in enumerate(rest)]))
        wide[-1].set_shape([None if i == axis or len(sizes) > 1 else min(sizes) for i, sizes in enumerate(known)])
    return tf.concat(wide, axis)


def shard_size(total, gpu):
    """Return the number of rows that tower `gpu` computes on in a batch of `total` rows, at least 1."""
    begin, end = shard_bounds(total, gpu)
    return max(end - begin, 1)


def shard_drawn(total, gpu):
    """Return how many rows of a batch of `total` rows tower `gpu` draws itself, and its weight (rows / all rows)."""
    begin, end = shard_bounds(total, gpu)
    return end - begin, (end - begin) / float(total)


def shard_static(tensors, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its rows, and its weight (rows / all rows).

    The batch has a static size, and so has each part.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[0])
        begin, end = shard_bounds(total, gpu)
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, NUM_GPUS))
        return [t[begin:end] for t in tensors], end - begin, (end - begin) / float(total)


def shard_static_along(tensors, axes, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its examples, and its weight (examples / all).

    `axes` has the batch axis of each tensor. The batch has a static size, and so has each part.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[axes[0]])
        begin, end = shard_bounds(total, gpu)
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, NUM_GPUS))
        part = slice(begin, end)
        shards = [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)]
        return shards, end - begin, (end - begin) / float(total)


def shard_data(data, gpu):
    """Return tower `gpu`'s part of a data set, the number of its rows, and its weight (rows / all rows).

    `data` has arrays, lists and constant tensors. A tower without rows gets one row with weight 0, so that no mean is
    taken over nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d) for d in data]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s rows cannot be cut together' % sizes)
        begin, end = shard_bounds(sizes[0], gpu)
        first = min(begin, sizes[0] - 1)
        return [d[first : max(end, first + 1)] for d in data], end - begin, (end - begin) / float(sizes[0])


def shard_data_along(data, axes, gpu):
    """Return tower `gpu`'s part of a data set, the number of its examples, and its weight (examples / all).

    `data` has arrays, lists and constant tensors, `axes` the batch axis of each. A tower without examples gets one with
    weight 0, so that no mean is taken over nothing.
    """

    def size(d, axis):
        return size(d[0], axis - 1) if axis else int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d)

    def cut(d, axis, part):
        if isinstance(d, (list, tuple)) and axis:
            return [cut(row, axis - 1, part) for row in d]
        return d[(slice(None),) * axis + (part,)] if axis else d[part]

    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [size(d, axis) for d, axis in zip(data, axes)]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s examples cannot be cut together' % sizes)
        begin, end = shard_bounds(sizes[0], gpu)
        first = min(begin, sizes[0] - 1)
        part = slice(first, max(end, first + 1))
        return [cut(d, axis, part) for d, axis in zip(data, axes)], end - begin, (end - begin) / float(sizes[0])


class TowerInputs(object):
    """Gives each tower its rows of the placeholders that the model makes.

    Tower 0 makes each placeholder outside of its scopes, for the whole batch and with its name on one GPU; each tower
    gets its rows of it. Every tower gets the whole of a placeholder without dimensions. `axes` has the exceptions, by
    the placeholder's name: the batch axis, or None if it is not cut. `size` is the number of examples in a whole batch,
    for a model whose shapes contain the number of a tower's examples.
    """

    def __init__(self, axes=None, size=None):
        self.axes, self.size = axes or {}, size
        self.graph = tf.get_default_graph()
        self.outer = self.entered = self.graph.get_name_scope()
        self.made = []
        self.parts = []  # of the current tower: its part, the placeholder, the part's rows and weight

    def make(self, function, axis, first, shape, name):
        """Make a placeholder for the whole batch, outside of the tower's scopes and device."""
        if axis is not None and self.size and tf.TensorShape(shape).as_list()[axis] is not None:
            shape = [self.size if i == axis else size for i, size in enumerate(tf.TensorShape(shape).as_list())]
        inner = self.graph.get_name_scope()[len(self.entered):].strip('/')
        scope = '/'.join(part for part in (self.outer, inner) if part)
        with tf.control_dependencies(None), tf.device(None), tf.name_scope(scope + '/' if scope else None):
            return function(first, shape, name)

    def part(self, whole, axis, gpu):
        """Cut tower `gpu`'s rows out of a placeholder."""
        cut = shard_along if whole.get_shape().as_list()[axis] is None else shard_static_along
        (part,), rows, weight = cut([whole], [axis], gpu)
        self.parts.append((part, whole, rows, weight))
        return part

    @contextlib.contextmanager
    def tower(self, gpu):
        """Replace tf.placeholder and tf.placeholder_with_default while tower `gpu` is built."""
        made, self.parts, self.entered = iter(list(self.made)), [], self.graph.get_name_scope()

        def replaced(function):
            def placeholder(dtype=None, shape=None, name=None, input=None):
                axis = self.axes.get(name, 0 if tf.TensorShape(shape).ndims else None)
                first = dtype if input is None else input
                whole = next(made) if gpu else self.make(function, axis, first, shape, name)
                self.made += [] if gpu else [whole]
                return whole if axis is None else self.part(whole, axis, gpu)
            return placeholder

        own = tf.placeholder, tf.placeholder_with_default
        tf.placeholder, tf.placeholder_with_default = [replaced(function) for function in own]
        try:
            yield
        finally:
            tf.placeholder, tf.placeholder_with_default = own

    def whole(self, tensor):
        """Return the placeholder that the last tower's part was cut from; any other value unchanged."""
        return ([whole for part, whole, _, _ in self.parts if part is tensor] or [tensor])[0]

    def share(self, part):
        """Return the number of rows in the current tower's part, and its weight (rows / all rows)."""
        return [(rows, weight) for known, _, rows, weight in self.parts if known is part][0]


class OwnInputs(TowerInputs):
    """As TowerInputs, for a model that is given one example: each tower gets a placeholder of its own for it.

    The first tower gets the placeholder itself. `axes` has the exceptions, by the placeholder's name: None for what all
    towers are fed alike, 0 for an example without dimensions.
    """

    def part(self, whole, axis, gpu):
        """Return tower `gpu`'s own placeholder."""
        (own,), rows, weight = own_inputs([whole], gpu)
        self.parts.append((own, whole, rows, weight))
        return own


class OfTowers(object):
    """What a reader of examples gave for each tower. An item of it, or a part, holds that item or part of each."""

    def __init__(self, values):
        self.values = list(values)

    def __getitem__(self, key):
        return OfTowers(value[key] for value in self.values)

    def __iter__(self):
        return iter([OfTowers(parts) for parts in zip(*self.values)])


def read_for_towers(reader, *args, **kwargs):
    """Call a reader of examples once for each tower, one call after the other."""
    return OfTowers(reader(*args, **kwargs) for _ in range(NUM_GPUS))


def feed_for_towers(feed_dict):
    """Return a feed_dict in which each tower's placeholder is fed what the reader gave for that tower."""
    fed = {}
    for key, value in feed_dict.items():
        fed.update(zip(key.of_towers, value.values) if isinstance(value, OfTowers) else [(key, value)])
    return fed


def own_inputs(placeholders, gpu):
    """Return tower `gpu`'s own placeholders, None in place of a number of rows, and the tower's weight.

    The first tower has the script's placeholders. Later towers have copies, which feed_for_towers() feeds. A run that
    feeds the script's placeholders alone gives all towers the same example: their mean is what one tower computes.
    """
    with tf.device('/cpu:0'), tf.name_scope('own_inputs'):
        for first in placeholders:
            first.of_towers = getattr(first, 'of_towers', None) or [first]
            first.of_towers += [tf.identity(first) for _ in range(gpu + 1 - len(first.of_towers))]
        return [first.of_towers[gpu] for first in placeholders], None, 1.0 / NUM_GPUS


def own_batches(tensors, gpu):
    """Return tower `gpu`'s own batches from the script's queue or iterator, None, and the tower's weight.

    The first tower has the script's tensors. For each later tower, the operation that takes a batch is made once more;
    it takes the next batch, after the tower before it took its own.
    """
    with tf.device('/cpu:0'), tf.name_scope('own_batches'):
        for op in [tensor.op for tensor in tensors]:
            if op.type not in TAKES:
                raise ValueError('%r is not what a queue, an iterator or a reader gave' % op.name)
            op.of_towers = getattr(op, 'of_towers', None) or [op]
            while len(op.of_towers) <= gpu:
                op.of_towers.append(take_again(op, op.of_towers[-1]))
    own = [tensor.op.of_towers[gpu].outputs[tensor.value_index] for tensor in tensors]
    for tensor, first in zip(own, tensors):
        tensor.set_shape(first.get_shape())
    return own, None, 1.0 / NUM_GPUS


TAKES = ('IteratorGetNext', 'QueueDequeueV2', 'QueueDequeueManyV2', 'QueueDequeueUpToV2', 'ReaderReadV2')


def take_again(op, before):
    """Make an operation that takes a batch once more, to be run after `before`."""
    kinds = [output.dtype for output in op.outputs]
    settings = dict((key, op.node_def.attr[key]) for key in op.node_def.attr if not key.startswith('_'))
    with tf.control_dependencies([before]):
        return op.graph.create_op(op.type, list(op.inputs), kinds, name=op.name.split('/')[-1], attrs=settings)


def map_structure(function, *structures):
    """Call a function with the corresponding tensors of lists, tuples or dicts; return its results in the same nest."""
    first = structures[0]
    if isinstance(first, dict):
        return type(first)((key, map_structure(function, *[s[key] for s in structures])) for key in first)
    if isinstance(first, (list, tuple)):
        parts = [map_structure(function, *column) for column in zip(*structures)]
        return type(first)(*parts) if hasattr(first, '_fields') else type(first)(parts)
    return function(*structures)


def merge_fed(parts, name=None):
    """Concatenate the towers' parts of a tensor that the script feeds later; feed_towers() then feeds each part.

    `parts` has, for each tower, its tensor, the number of its rows, and its weight.
    """
    merged = tf.identity(tf.concat([part[:rows] for part, rows, _ in parts], 0), name=name)
    merged.tower_parts = parts
    return merged


def merge_shown(parts, name=None):
    """Merge a value that is only printed or logged, by its form.

    `parts` has, for each tower, its tensor, the number of its rows, and its weight. A tensor whose static shape has one
    entry for each row is concatenated, a number is averaged by rows; of anything else the first tower's is taken.
    Each tensor of a list, tuple or dict is merged by itself; `name` is then a function that gives its name.
    """
    values = [value for value, _, _ in parts]
    if isinstance(values[0], (list, tuple, dict)):
        return map_structure(lambda *of: merge_shown([(t,) + part[1:] for t, part in zip(of, parts)], name), *values)
    if not isinstance(values[0], tf.Tensor):
        return values[0]
    name = name(values[-1]) if callable(name) else name
    shapes = [value.get_shape() for value in values]
    alike = all(shape.ndims and shape[1:].is_fully_defined() and shape[1:] == shapes[0][1:] for shape in shapes)
    if alike and all(isinstance(rows, int) and value.get_shape().as_list()[0] == rows for value, rows, _ in parts):
        merged = tf.concat(values, 0)
    elif values[0].dtype.is_floating and all(shape.ndims == 0 for shape in shapes):
        merged = tf.add_n([value * tf.cast(weight, value.dtype) for value, _, weight in parts])
    else:
        merged = values[0]
    merged = tf.identity(merged, name=name)
    merged.only_shown = True
    return merged


def feed_towers(feed_dict):
    """Return a feed_dict in which a value for a tensor of merge_fed() is split into one feed for each tower."""
    fed = dict(feed_dict)
    for key, value in feed_dict.items():
        total = len(value) if hasattr(key, 'tower_parts') else 0
        for gpu, (part, rows, weight) in enumerate(getattr(key, 'tower_parts', [])):
            begin, end = shard_bounds(total, gpu)
            first = min(begin, total - 1)
            fed[part] = value[first : max(end, first + 1)]
            if not isinstance(rows, int):  # tensors: computed from other inputs, which may not be fed
                fed[rows], fed[weight] = end - begin, (end - begin) / float(total)
    return fed
